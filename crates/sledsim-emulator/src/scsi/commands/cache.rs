//! SYNCHRONIZE CACHE, PRE-FETCH (SBC-3, sections 5.26 and 5.27, 5.8 and 5.9).

use super::blocks::{Fields, command, submit_then};
use crate::command::{Command, CommandKind};
use crate::scsi::sense::Sense;
use crate::scsi::table::{Call, Entry, Run};
use crate::scsi::task::Responder;
use crate::scsi::unit::MAXIMUM_BLOCKS;
use crate::timeline::{Answer, Reply};
use sledsim_base::units::BLOCK_BYTES;

/// Bit 1 of byte 1: the status does not wait until it is done.
const IMMEDIATE: u8 = 1 << 1;

#[rustfmt::skip]
pub(super) static COMMANDS: [Entry; 4] = [
    Entry::new(
        0x35,
        &[0x35, IMMEDIATE, 255, 255, 255, 255, 31, 255, 255, 0],
        Run::Later(synchronize),
    ),
    Entry::new(
        0x91,
        &[0x91, IMMEDIATE, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Run::Later(synchronize),
    ),
    Entry::new(
        0x34,
        &[0x34, IMMEDIATE, 255, 255, 255, 255, 31, 255, 255, 0],
        Run::Later(prefetch),
    ),
    Entry::new(
        0x90,
        &[0x90, IMMEDIATE, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Run::Later(prefetch),
    ),
];

/// Flushes the whole export, also for some of its blocks.
fn synchronize(call: &Call<'_>, responder: Responder) {
    let fields = Fields::of(call.cdb);
    let range = call.unit.must_have(fields.lbn, fields.blocks);
    submit(
        call,
        range.map(|()| command(call, CommandKind::Flush, 0)),
        responder,
    );
}

/// Reads blocks, so that a cache of the device has them.
fn prefetch(call: &Call<'_>, responder: Responder) {
    let fields = Fields::of(call.cdb);
    let read = fields.check(call.unit).map(|()| {
        // None are all up to the last.
        let blocks = match fields.blocks {
            0 => (call.unit.blocks() - fields.lbn).min(u64::from(MAXIMUM_BLOCKS)),
            blocks => blocks,
        };
        command(call, CommandKind::Read(blocks * BLOCK_BYTES), fields.lbn)
    });
    submit(call, read, responder);
}

/// Submits a command whose data are not returned.
fn submit(call: &Call<'_>, command: Result<Command<'_>, Sense>, responder: Responder) {
    match command {
        Err(sense) => responder.end(Err(sense)),
        Ok(command) if call.cdb[1] & IMMEDIATE != 0 => {
            call.unit.export.submit(command, Box::new(Ignored));
            responder.end(Ok(Vec::new()));
        }
        Ok(command) => submit_then(call.unit, command, responder, |result, responder| {
            responder.end(result.map(|_| Vec::new()));
        }),
    }
}

/// The reply to a command whose task has ended.
struct Ignored;

impl Reply for Ignored {
    fn send(self: Box<Self>, _answer: Answer) {}
}
