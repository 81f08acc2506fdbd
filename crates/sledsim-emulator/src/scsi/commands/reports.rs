//! REPORT LUNS, REPORT SUPPORTED OPERATION CODES, REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS
//! (SPC-4, sections 6.33, 6.35 and 6.36).

use super::parallel;
use crate::scsi::bytes::{be16, be32, put, truncated};
use crate::scsi::sense::Sense;
use crate::scsi::table::{AnyCall, Call, Entry, Handler};
use crate::scsi::unit::LogicalUnit;

/// RCTD: asks for the timeouts of commands.
const RCTD: u8 = 1 << 7;
/// REPD: asks for the long form of the task management functions.
const REPD: u8 = 1 << 7;

pub(super) static COMMANDS: [Entry; 3] = [
    Entry::new(0xa0, &[0xa0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 0, 0], Handler::Any(report_luns)),
    Entry::new(
        0xa3,
        &[0xa3, 0x0c, RCTD | 7, 255, 255, 255, 255, 255, 255, 255, 0, 0],
        Handler::Now(operation_codes),
    )
    .action(0x0c),
    Entry::new(
        0xa3,
        &[0xa3, 0x0d, REPD, 0, 0, 0, 255, 255, 255, 255, 0, 0],
        Handler::Now(task_management),
    )
    .action(0x0d),
];

fn report_luns(call: &AnyCall<'_>) -> Result<Vec<u8>, Sense> {
    let allocation = be32(call.cdb, 6);
    let units = match call.cdb[2] {
        _ if allocation < 16 => return Err(Sense::invalid_field(6)),
        0x00 | 0x02 => call.device.units.as_slice(),
        0x01 => &[], // well known ones
        _ => return Err(Sense::invalid_field(2)),
    };
    let mut data = (units.len() as u32 * 8).to_be_bytes().to_vec();
    data.extend([0; 4]);
    for unit in units {
        data.extend(address(unit.number).to_be_bytes());
    }
    Ok(truncated(data, allocation))
}

/// The address of a logical unit: by the peripheral method if it fits, else by the flat one.
fn address(number: u16) -> u64 {
    let first = match number {
        0..0x100 => number,
        _ => 0x4000 | number,
    };
    u64::from(first) << 48
}

fn operation_codes(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    let (opcode, action) = (call.cdb[3], be16(call.cdb, 4));
    let timeouts = call.cdb[2] & RCTD != 0;
    let with_opcode = || commands(call.unit).filter(|entry| entry.opcode == opcode);
    let has_actions = with_opcode().any(|entry| entry.service_action.is_some());
    let is_known = with_opcode().next().is_some();
    let data = match call.cdb[2] & 7 {
        0b000 => all_commands(call.unit, timeouts),
        0b001 if has_actions => return Err(Sense::invalid_field(2)),
        0b001 => one_command(with_opcode().next(), timeouts),
        0b010 if is_known && !has_actions => return Err(Sense::invalid_field(2)),
        0b010 | 0b011 => {
            let found = with_opcode().find(|entry| entry.service_action.unwrap_or(0) == action);
            one_command(found, timeouts)
        }
        _ => return Err(Sense::invalid_field(2)),
    };
    Ok(truncated(data, be32(call.cdb, 6)))
}

/// The commands of a logical unit.
fn commands(unit: &LogicalUnit) -> impl Iterator<Item = &'static Entry> {
    let is_sled = parallel::interface(unit).is_some();
    super::all().filter(move |entry| is_sled || entry.opcode != parallel::OPCODE)
}

/// A descriptor of timeouts, none of which is known.
fn no_timeouts() -> [u8; 12] {
    let mut bytes = [0; 12];
    put(&mut bytes, 0, &10_u16.to_be_bytes());
    bytes
}

fn all_commands(unit: &LogicalUnit, timeouts: bool) -> Vec<u8> {
    let mut data = vec![0; 4];
    for entry in commands(unit) {
        let [high, low] = entry.service_action.unwrap_or(0).to_be_bytes();
        let servactv = u8::from(entry.service_action.is_some());
        let flags = servactv | (u8::from(timeouts) << 1);
        data.extend([entry.opcode, 0, high, low, 0, flags]);
        data.extend((entry.usage.len() as u16).to_be_bytes());
        if timeouts {
            data.extend(no_timeouts());
        }
    }
    let bytes = data.len() as u32 - 4;
    put(&mut data, 0, &bytes.to_be_bytes());
    data
}

fn one_command(entry: Option<&Entry>, timeouts: bool) -> Vec<u8> {
    let Some(entry) = entry else {
        return vec![0, 0b001, 0, 0];
    };
    let [high, low] = (entry.usage.len() as u16).to_be_bytes();
    let mut data = vec![0, 0b011 | (u8::from(timeouts) << 7), high, low];
    data.extend_from_slice(entry.usage);
    if timeouts {
        data.extend(no_timeouts());
    }
    data
}

fn task_management(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    // ABORT TASK, ABORT TASK SET, CLEAR TASK SET, LOGICAL UNIT RESET, TARGET RESET.
    let mut data = vec![0xda, 0, 0, 0];
    if call.cdb[2] & REPD != 0 {
        data[3] = 12;
        data.resize(16, 0);
    }
    Ok(truncated(data, be32(call.cdb, 6)))
}
