//! MODE SENSE, MODE SELECT (SPC-4, sections 6.11 to 6.14; block descriptors: SBC-3, section
//! 6.4.2).

use super::mode_pages::{ModePage, PAGES};
use crate::scsi::bytes::{be16, put, truncated};
use crate::scsi::sense::{Key, Sense};
use crate::scsi::table::{Call, Entry, Handler};
use crate::scsi::unit::{LogicalUnit, UnitSettings};
use sledsim_base::units::BLOCK_BYTES;

const LLBAA: u8 = 1 << 4;
const DBD: u8 = 1 << 3;
const PF: u8 = 1 << 4;

pub(super) static COMMANDS: [Entry; 4] = [
    Entry::new(0x1a, &[0x1a, DBD, 255, 255, 255, 0], Handler::Now(mode_sense)),
    Entry::new(
        0x5a,
        &[0x5a, LLBAA | DBD, 255, 255, 0, 0, 0, 255, 255, 0],
        Handler::Now(mode_sense),
    ),
    // Pages cannot be saved: SP is refused.
    Entry::new(0x15, &[0x15, PF, 0, 0, 255, 0], Handler::Now(mode_select)).takes(data_out),
    Entry::new(0x55, &[0x55, PF, 0, 0, 0, 0, 0, 255, 255, 0], Handler::Now(mode_select))
        .takes(data_out),
];

/// SAVING PARAMETERS NOT SUPPORTED.
const NO_SAVING: Sense = Sense::of(Key::IllegalRequest, (0x39, 0x00));

/// The page code of all pages.
const ALL_PAGES: u8 = 0x3f;
/// The subpage code of all subpages.
const ALL_SUBPAGES: u8 = 0xff;

/// Write-protected.
const WP: u8 = 1 << 7;
/// DPO and FUA are supported.
const DPOFUA: u8 = 1 << 4;
/// The block descriptor is a long one.
const LONGLBA: u8 = 1 << 0;

/// Whether the command is one of 6 bytes, and its parameter list or allocation length.
fn length(cdb: &[u8]) -> (bool, u16) {
    match cdb[0] >> 5 {
        0 => (true, u16::from(cdb[4])),
        _ => (false, be16(cdb, 7)),
    }
}

fn data_out(cdb: &[u8]) -> u64 {
    u64::from(length(cdb).1)
}

fn mode_sense(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    let (is_short, allocation) = length(call.cdb);
    let is_long_block = !is_short && call.cdb[1] & LLBAA != 0;
    let pages = pages(call)?;
    let block = match call.cdb[1] & DBD {
        0 => block_descriptor(call.unit, is_long_block),
        _ => Vec::new(),
    };
    let device_specific = match call.unit.export.is_read_only() {
        true => WP | DPOFUA,
        false => DPOFUA,
    };
    // The length does not count its own bytes.
    let mut data = match is_short {
        true => {
            let all = 3 + block.len() + pages.len();
            vec![all as u8, 0, device_specific, block.len() as u8]
        }
        false => {
            let [high, low] = ((6 + block.len() + pages.len()) as u16).to_be_bytes();
            let long = if is_long_block { LONGLBA } else { 0 };
            vec![high, low, 0, device_specific, long, 0, 0, block.len() as u8]
        }
    };
    data.extend(block);
    data.extend(pages);
    Ok(truncated(data, u32::from(allocation)))
}

/// The pages that MODE SENSE asks for.
fn pages(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    let (code, subpage) = (call.cdb[2] & ALL_PAGES, call.cdb[3]);
    let unit = call.unit;
    let is_chosen = |page: &&ModePage| code == ALL_PAGES || code == page.code;
    let existing = PAGES.iter().filter(|page| (page.exists)(unit));
    let chosen: Vec<_> = existing.filter(is_chosen).collect();
    if chosen.is_empty() {
        return Err(Sense::invalid_field(2));
    }
    if subpage != 0 && subpage != ALL_SUBPAGES {
        return Err(Sense::invalid_field(3));
    }
    let settings = unit.settings();
    let values = |page: &ModePage| match call.cdb[2] >> 6 {
        0 => Ok(page.values(unit, &settings)),
        1 => Ok(page.mask()),
        2 => Ok(page.values(unit, &UnitSettings::default())),
        _ => Err(NO_SAVING),
    };
    let pages: Result<Vec<_>, _> = chosen.into_iter().map(values).collect();
    Ok(pages?.concat())
}

/// The block descriptor; in the short form a capacity that does not fit is the greatest.
fn block_descriptor(unit: &LogicalUnit, is_long: bool) -> Vec<u8> {
    let blocks = unit.blocks();
    let length = (BLOCK_BYTES as u32).to_be_bytes();
    let mut block = vec![0; if is_long { 16 } else { 8 }];
    if is_long {
        put(&mut block, 0, &blocks.to_be_bytes());
        put(&mut block, 12, &length);
    } else {
        let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
        put(&mut block, 0, &blocks.to_be_bytes());
        put(&mut block, 4, &length);
    }
    block
}

/// Changes settings, all or none.
fn mode_select(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    if call.cdb[1] & PF == 0 {
        return Err(Sense::invalid_field(1));
    }
    let (is_short, length) = length(call.cdb);
    // The initiator may have sent fewer.
    let list = &call.data[..call.data.len().min(usize::from(length))];
    if length == 0 {
        return Ok(Vec::new());
    }
    let first = check_header(call.unit, list, is_short)?;
    let mut taken = Ok(());
    let changed = call.unit.change(|settings| {
        let mut wanted = *settings;
        taken = take_pages(call.unit, list, first, &mut wanted);
        if taken.is_ok() {
            *settings = wanted;
        }
    });
    taken?;
    if changed {
        let others = |id| id != call.nexus.id;
        (call.device).attend(call.unit.number, Sense::MODE_CHANGED, others);
    }
    Ok(Vec::new())
}

/// Checks the header and the block descriptor of a parameter list; returns where its pages
/// begin.
fn check_header(unit: &LogicalUnit, list: &[u8], is_short: bool) -> Result<usize, Sense> {
    let header = if is_short { 4 } else { 8 };
    if list.len() < header {
        return Err(Sense::PARAMETER_LENGTH);
    }
    let (medium_type_at, length_at) = if is_short { (1, 3) } else { (2, 6) };
    if list[medium_type_at] != 0 {
        return Err(Sense::invalid_parameter(medium_type_at as u16));
    }
    if !is_short && list[4] & !LONGLBA != 0 {
        return Err(Sense::invalid_parameter(4));
    }
    let is_long_block = !is_short && list[4] & LONGLBA != 0;
    let length = match is_short {
        true => u16::from(list[3]),
        false => be16(list, 6),
    };
    let length = usize::from(length);
    if length == 0 {
        return Ok(header);
    }
    let current = block_descriptor(unit, is_long_block);
    if length != current.len() {
        return Err(Sense::invalid_parameter(length_at));
    }
    let Some(given) = list.get(header..header + length) else {
        return Err(Sense::PARAMETER_LENGTH);
    };
    // No blocks: as many as there are.
    let (blocks, rest) = given.split_at(length / 2);
    let (current_blocks, current_rest) = current.split_at(length / 2);
    if blocks != current_blocks && blocks.iter().any(|byte| *byte != 0) {
        return Err(Sense::invalid_parameter(header as u16));
    }
    match rest.iter().zip(current_rest).position(|(a, b)| a != b) {
        Some(at) => Err(Sense::invalid_parameter((header + length / 2 + at) as u16)),
        None => Ok(header + length),
    }
}

/// Takes over the pages of a parameter list from byte `at` on, into settings that the logical
/// unit does not have yet.
fn take_pages(
    unit: &LogicalUnit,
    list: &[u8],
    mut at: usize,
    settings: &mut UnitSettings,
) -> Result<(), Sense> {
    while at < list.len() {
        let invalid = |byte: usize| Sense::invalid_parameter((at + byte) as u16);
        let page = ModePage::find(unit, list[at]).ok_or(invalid(0))?;
        let length = *list.get(at + 1).ok_or(Sense::PARAMETER_LENGTH)?;
        if usize::from(length) + 2 != page.bytes {
            return Err(invalid(1));
        }
        let given = list.get(at..at + page.bytes);
        let given = given.ok_or(Sense::PARAMETER_LENGTH)?;
        page.apply(unit, settings, given).map_err(invalid)?;
        at += page.bytes;
    }
    Ok(())
}
