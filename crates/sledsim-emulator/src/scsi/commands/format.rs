//! FORMAT UNIT (SBC-3, section 5.3).
//!
//! Writes zeroes to all blocks, and ends when they are on the media. It takes the time of that
//! write: no model of a device has a time to format its media. Other commands are not refused
//! meanwhile.

use super::blocks::{command, submit_without_data};
use crate::command::{Command, CommandKind};
use crate::scsi::responder::Responder;
use crate::scsi::sense::Sense;
use crate::scsi::table::{Call, Entry, Handler};
use sledsim_base::units::BLOCK_BYTES;

/// Bits of byte 1 of the CDB: a long header of the parameter list, a parameter list, and the
/// format of its defects.
const LONG_LIST: u8 = 1 << 5;
const FORMAT_DATA: u8 = 1 << 4;
const DEFECTS: u8 = 0xf;

/// Bits of byte 1 of a parameter list: options are valid, those among them that change
/// nothing here, immediate.
const OPTIONS_VALID: u8 = 1 << 7;
const OPTIONS: u8 = 7 << 4;
const IMMEDIATE: u8 = 1 << 1;

pub(super) static COMMANDS: [Entry; 1] = [Entry::new(
    0x04,
    &[0x04, LONG_LIST | FORMAT_DATA | DEFECTS, 0, 0, 0, 0],
    Handler::Later(format),
)
.takes(|cdb| header_bytes(cdb) as u64)];

/// Number of bytes in the header of the parameter list; 0 without a parameter list.
fn header_bytes(cdb: &[u8]) -> usize {
    match (cdb[1] & FORMAT_DATA, cdb[1] & LONG_LIST) {
        (0, _) => 0,
        (_, 0) => 4,
        _ => 8,
    }
}

fn format(call: &Call<'_>, responder: Responder) {
    let immediate = is_immediate(call);
    let bytes = call.unit.blocks() * BLOCK_BYTES;
    let all = CommandKind::Zero { bytes, unmap: true };
    let zero = immediate.map(|_| Command { fua: true, ..command(call, all, 0) });
    submit_without_data(call, zero, immediate == Ok(true), responder);
}

/// Whether the status does not wait until the command is done.
///
/// # Errors
/// A parameter list that asks for what no device here has: protection information, other
/// defects, an initialization pattern.
fn is_immediate(call: &Call<'_>) -> Result<bool, Sense> {
    if call.unit.export.is_read_only() {
        return Err(Sense::WRITE_PROTECTED);
    }
    let header = header_bytes(call.cdb);
    if header == 0 {
        return Ok(false);
    }
    let list = call.data.get(..header).ok_or(Sense::PARAMETER_LENGTH)?;
    let options = match list[1] & OPTIONS_VALID {
        0 => 0,
        _ => OPTIONS_VALID | OPTIONS,
    };
    let refused = [list[0], list[1] & !(options | IMMEDIATE)];
    let refused = refused.iter().chain(&list[2..]);
    match refused.into_iter().position(|byte| *byte != 0) {
        Some(at) => Err(Sense::invalid_parameter(at as u16)),
        None => Ok(list[1] & IMMEDIATE != 0),
    }
}
