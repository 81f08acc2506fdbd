//! INQUIRY (SPC-4, section 6.6).

use super::product_data::{self, NO_UNIT, VENDOR};
use crate::scsi::bytes::{be16, put, truncated};
use crate::scsi::sense::Sense;
use crate::scsi::table::{AnyCall, Entry, Handler};

/// The version of sledsim without its last part, which would not fit.
const REVISION: &str =
    concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));

/// EVPD: asks for a page of vital product data.
const EVPD: u8 = 1 << 0;

pub(super) static COMMANDS: [Entry; 1] =
    [Entry::new(0x12, &[0x12, EVPD, 255, 255, 255, 0], Handler::Any(inquiry))];

/// Bytes of standard data.
const BYTES: usize = 96;
/// Version descriptors: SAM-5, SPC-4, SBC-3, iSCSI; no version of them is claimed.
const STANDARDS: [u16; 4] = [0x00a0, 0x0460, 0x04c0, 0x0960];

fn inquiry(call: &AnyCall<'_>) -> Result<Vec<u8>, Sense> {
    let page = call.cdb[2];
    let data = match call.cdb[1] & EVPD {
        0 if page != 0 => return Err(Sense::invalid_field(2)),
        0 => standard(call),
        _ => product_data::page(call, page)?,
    };
    Ok(truncated(data, u32::from(be16(call.cdb, 3))))
}

fn standard(call: &AnyCall<'_>) -> Vec<u8> {
    let mut data = vec![0; BYTES];
    let product = match call.unit {
        Some(unit) => unit.export.about().device.name(),
        None => {
            data[0] = NO_UNIT;
            ""
        }
    };
    data[2] = 0x06; // SPC-4
    data[3] = 0x12; // HISUP, response data format 2
    data[4] = (BYTES - 5) as u8;
    data[7] = 0x02; // CMDQUE
    put(&mut data, 8, VENDOR);
    put(&mut data, 16, &ascii::<16>(product));
    put(&mut data, 32, &ascii::<4>(REVISION));
    for (index, standard) in STANDARDS.iter().enumerate() {
        put(&mut data, 58 + 2 * index, &standard.to_be_bytes());
    }
    data
}

/// The first `N` characters of `text` in ASCII, left-aligned; others become `?`.
fn ascii<const N: usize>(text: &str) -> [u8; N] {
    let mut field = [b' '; N];
    for (byte, letter) in field.iter_mut().zip(text.chars()) {
        *byte = match letter {
            ' '..='~' => letter as u8,
            _ => b'?',
        };
    }
    field
}
