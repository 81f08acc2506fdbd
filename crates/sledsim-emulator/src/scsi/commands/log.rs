//! LOG SENSE (SPC-4, section 6.8; pages: section 7.3).
//!
//! The page of faults, 30h, is the vendor's. It has one counter of 8 bytes for each of
//! [`FAULTS`], from parameter code 0001h on, if the store of the export knows of faults.

use crate::scsi::bytes::{be16, truncated};
use crate::scsi::sense::Sense;
use crate::scsi::table::{Call, Entry, Handler};
use crate::scsi::unit::LogicalUnit;
use serde_json::Value;

pub(super) static COMMANDS: [Entry; 1] = [Entry::new(
    0x4d,
    // Of the page controls only those of current values: bit 7 is for default ones.
    &[0x4d, 0, 0x7f, 255, 0, 255, 255, 255, 255, 0],
    Handler::Now(log_sense),
)];

/// Supported pages.
const SUPPORTED: u8 = 0x00;
/// Informational exceptions.
const EXCEPTIONS: u8 = 0x2f;
/// Faults of the medium.
const FAULTS_PAGE: u8 = 0x30;
/// The subpage with all pages and subpages.
const ALL_SUBPAGES: u8 = 0xff;

/// SPF: the page has a subpage code.
const SPF: u8 = 1 << 6;
/// DS: the parameters cannot be saved.
const DS: u8 = 1 << 7;

/// The counters of the page of faults, by parameter code.
const FAULTS: [&str; 8] = [
    "tips_failed",
    "tips_replaced",
    "spares_left",
    "blocks_at_risk",
    "blocks_lost",
    "blocks_given_up",
    "tip_sectors_rebuilt",
    "blocks_recovered",
];

/// A parameter: its code, its control byte and its value.
type Parameter = (u16, u8, Vec<u8>);

fn log_sense(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    let (page, subpage) = (call.cdb[2] & 0x3f, call.cdb[3]);
    let pointer = be16(call.cdb, 5);
    let data = match (page, subpage) {
        (SUPPORTED, 0 | ALL_SUBPAGES) if pointer != 0 => return Err(Sense::invalid_field(5)),
        (SUPPORTED, 0) => with_header(SUPPORTED, 0, &pages(call.unit)),
        (SUPPORTED, ALL_SUBPAGES) => {
            let mut list = vec![SUPPORTED, 0, SUPPORTED, ALL_SUBPAGES];
            for page in &pages(call.unit)[1..] {
                list.extend([*page, 0]);
            }
            with_header(SPF | SUPPORTED, ALL_SUBPAGES, &list)
        }
        (_, 0) => {
            let all = parameters(call.unit, page).ok_or(Sense::invalid_field(2))?;
            let from: Vec<_> = all.iter().filter(|each| each.0 >= pointer).collect();
            if from.is_empty() {
                return Err(Sense::invalid_field(5));
            }
            let encoded = from.into_iter().flat_map(encoded);
            with_header(DS | page, 0, &encoded.collect::<Vec<_>>())
        }
        _ => {
            let known = pages(call.unit).contains(&page);
            return Err(Sense::invalid_field(if known { 3 } else { 2 }));
        }
    };
    Ok(truncated(data, u32::from(be16(call.cdb, 7))))
}

/// The codes of all pages.
fn pages(unit: &LogicalUnit) -> Vec<u8> {
    let mut pages = vec![SUPPORTED, EXCEPTIONS];
    if unit.export.store().faults().is_some() {
        pages.push(FAULTS_PAGE);
    }
    pages
}

/// The parameters of a page, if there is one of this code.
fn parameters(unit: &LogicalUnit, page: u8) -> Option<Vec<Parameter>> {
    match page {
        // No exception; no thermometer and no threshold of one. A list in binary format.
        EXCEPTIONS => Some(vec![(0x0000, 0x03, vec![0, 0, 0xff, 0xff])]),
        FAULTS_PAGE => {
            let faults = unit.export.store().faults()?;
            let count = |key| faults.get(key).and_then(Value::as_u64).unwrap_or_default();
            let counts = FAULTS.map(|key| count(key).to_be_bytes().to_vec());
            // Data counters.
            let counters = (1..).zip(counts).map(|(code, value)| (code, 0x02, value));
            Some(counters.collect())
        }
        _ => None,
    }
}

fn encoded((code, control, value): &Parameter) -> Vec<u8> {
    let [high, low] = code.to_be_bytes();
    let mut bytes = vec![high, low, *control, value.len() as u8];
    bytes.extend_from_slice(value);
    bytes
}

fn with_header(page: u8, subpage: u8, contents: &[u8]) -> Vec<u8> {
    let [high, low] = (contents.len() as u16).to_be_bytes();
    let mut data = vec![page, subpage, high, low];
    data.extend_from_slice(contents);
    data
}
