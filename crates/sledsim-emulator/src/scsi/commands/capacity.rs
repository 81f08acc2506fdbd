//! READ CAPACITY (SBC-3, sections 5.15 and 5.16).
//!
//! With PMI, the answer is the last block before a substantial delay: the last of the track
//! of a sled (CMU-CS-03-125, section 3.4), the last one of other devices.

use super::parallel;
use crate::scsi::bytes::{be32, be64, put, truncated};
use crate::scsi::sense::Sense;
use crate::scsi::table::{Call, Entry, Handler};
use sledsim_base::units::BLOCK_BYTES;

/// Partial medium indicator.
const PMI: u8 = 1 << 0;

pub(super) static COMMANDS: [Entry; 2] = [
    Entry::new(0x25, &[0x25, 0, 255, 255, 255, 255, 0, 0, PMI, 0], Handler::Now(short)),
    Entry::new(
        0x9e,
        &[0x9e, 0x10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, PMI, 0],
        Handler::Now(long),
    )
    .action(0x10),
];

fn short(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    let last = last(call, u64::from(be32(call.cdb, 2)), call.cdb[8])?;
    let last = u32::try_from(last).unwrap_or(u32::MAX);
    let mut data = vec![0; 8];
    put(&mut data, 0, &last.to_be_bytes());
    put(&mut data, 4, &(BLOCK_BYTES as u32).to_be_bytes());
    Ok(data)
}

fn long(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    let last = last(call, be64(call.cdb, 2), call.cdb[14])?;
    let mut data = vec![0; 32];
    put(&mut data, 0, &last.to_be_bytes());
    put(&mut data, 8, &(BLOCK_BYTES as u32).to_be_bytes());
    data[14] = 0xc0; // LBPME, LBPRZ
    Ok(truncated(data, be32(call.cdb, 10)))
}

/// The last block; with PMI, the last one that follows `lbn` without delay.
fn last(call: &Call<'_>, lbn: u64, flags: u8) -> Result<u64, Sense> {
    call.unit.must_be_ready()?;
    let end = call.unit.blocks().saturating_sub(1);
    if flags & PMI == 0 {
        return match lbn {
            0 => Ok(end),
            _ => Err(Sense::invalid_field(2)),
        };
    }
    if lbn > end {
        return Err(Sense::OUT_OF_RANGE);
    }
    match parallel::interface(call.unit) {
        Some(sled) => sled.boundaries(lbn).map(|(_, last)| last).map_err(|_| Sense::OUT_OF_RANGE),
        None => Ok(end),
    }
}
