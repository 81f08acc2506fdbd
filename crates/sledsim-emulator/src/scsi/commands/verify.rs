//! VERIFY, WRITE AND VERIFY (SBC-3, sections 5.29 to 5.31 and 5.37 to 5.39).

use super::blocks::{DPO, Fields, command, data_out, read_media_then, submit_then, whole_blocks};
use super::exchange::first_difference;
use crate::command::{Command, CommandKind};
use crate::scsi::responder::Responder;
use crate::scsi::sense::Sense;
use crate::scsi::table::{Call, Entry, Handler};
use sledsim_base::units::BLOCK_BYTES;
use std::sync::Arc;

/// Bits 2 and 1 of byte 1: what data are compared with.
const BYTCHK: u8 = 0b11 << 1;
/// With data of the initiator, as many as the blocks.
const WITH_ALL: u8 = 0b01 << 1;
/// With one block of the initiator.
const WITH_ONE: u8 = 0b11 << 1;

const VERIFY: u8 = DPO | BYTCHK;
const WRITE: u8 = DPO | WITH_ALL;

#[rustfmt::skip]
pub(super) static COMMANDS: [Entry; 6] = [
    Entry::new(0x2f, &[0x2f, VERIFY, 255, 255, 255, 255, 31, 255, 255, 0], Handler::Later(verify))
        .takes(verified_data),
    Entry::new(
        0xaf,
        &[0xaf, VERIFY, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Handler::Later(verify),
    )
    .takes(verified_data),
    Entry::new(
        0x8f,
        &[0x8f, VERIFY, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Handler::Later(verify),
    )
    .takes(verified_data),
    Entry::new(
        0x2e,
        &[0x2e, WRITE, 255, 255, 255, 255, 31, 255, 255, 0],
        Handler::Later(write_and_verify),
    )
    .takes(data_out),
    Entry::new(
        0xae,
        &[0xae, WRITE, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Handler::Later(write_and_verify),
    )
    .takes(data_out),
    Entry::new(
        0x8e,
        &[0x8e, WRITE, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Handler::Later(write_and_verify),
    )
    .takes(data_out),
];

/// Bytes of data that VERIFY takes.
fn verified_data(cdb: &[u8]) -> u64 {
    match cdb[1] & BYTCHK {
        WITH_ALL => data_out(cdb),
        WITH_ONE => data_out(cdb).min(BLOCK_BYTES),
        _ => 0,
    }
}

fn verify(call: &Call<'_>, responder: Responder) {
    let fields = Fields::of(call.cdb);
    if let Err(sense) = fields.check(call.unit) {
        return responder.end(Err(sense));
    }
    let data = whole_blocks(call.data);
    let (bytes, data) = match call.cdb[1] & BYTCHK {
        0 => (fields.bytes(), None),
        WITH_ALL => (data.len() as u64, Some(data.to_vec())),
        // One block must be there, unless there is nothing to compare.
        WITH_ONE if fields.blocks == 0 || !data.is_empty() => (fields.bytes(), Some(data.to_vec())),
        _ => return responder.end(Err(Sense::invalid_field(1))),
    };
    let read = command(call, CommandKind::Read(bytes), fields.lbn);
    read_media_then(call.unit, read, responder, move |read, responder| {
        responder.end(compare(read, data.as_deref()));
    });
}

fn write_and_verify(call: &Call<'_>, responder: Responder) {
    let fields = Fields::of(call.cdb);
    if let Err(sense) = fields.check(call.unit) {
        return responder.end(Err(sense));
    }
    let data = whole_blocks(call.data);
    // The medium is read, so that the data must be there before.
    let write = Command { fua: true, ..command(call, CommandKind::Write(data), fields.lbn) };
    let read = CommandKind::Read(data.len() as u64);
    let read = Command { what: read, fua: false, ..write };
    let compared = (call.cdb[1] & BYTCHK == WITH_ALL).then(|| data.to_vec());
    let unit = Arc::clone(call.unit);
    submit_then(call.unit, write, responder, move |written, responder| match written {
        Ok(_) => submit_then(&unit, read, responder, move |read, responder| {
            responder.end(compare(read, compared.as_deref()));
        }),
        Err(sense) => responder.end(Err(sense)),
    });
}

/// Compares blocks that were read with `data`, again and again if these are fewer. Returns
/// no data.
fn compare(read: Result<Vec<u8>, Sense>, data: Option<&[u8]>) -> Result<Vec<u8>, Sense> {
    let read = read?;
    let Some(data) = data.filter(|data| !data.is_empty()) else {
        return Ok(Vec::new());
    };
    let mut pieces = (0u64..).step_by(data.len()).zip(read.chunks(data.len()));
    let found = pieces.find_map(|(from, piece)| Some(from + first_difference(piece, data)?));
    match found {
        Some(at) => Err(Sense::MISCOMPARE.at(at)),
        None => Ok(Vec::new()),
    }
}
