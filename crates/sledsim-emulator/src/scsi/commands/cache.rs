//! SYNCHRONIZE CACHE, PRE-FETCH (SBC-3, sections 5.26 and 5.27, 5.8 and 5.9).

use super::blocks::{Fields, command, submit_without_data};
use crate::command::CommandKind;
use crate::scsi::responder::Responder;
use crate::scsi::table::{Call, Entry, Handler};
use crate::scsi::unit::MAXIMUM_BLOCKS;
use sledsim_base::units::BLOCK_BYTES;

/// Bit 1 of byte 1: the status does not wait until it is done.
const IMMEDIATE: u8 = 1 << 1;

#[rustfmt::skip]
pub(super) static COMMANDS: [Entry; 4] = [
    Entry::new(
        0x35,
        &[0x35, IMMEDIATE, 255, 255, 255, 255, 31, 255, 255, 0],
        Handler::Later(synchronize),
    ),
    Entry::new(
        0x91,
        &[0x91, IMMEDIATE, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Handler::Later(synchronize),
    ),
    Entry::new(
        0x34,
        &[0x34, IMMEDIATE, 255, 255, 255, 255, 31, 255, 255, 0],
        Handler::Later(prefetch),
    ),
    Entry::new(
        0x90,
        &[0x90, IMMEDIATE, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Handler::Later(prefetch),
    ),
];

/// Flushes the whole export, also for some of its blocks.
fn synchronize(call: &Call<'_>, responder: Responder) {
    let fields = Fields::of(call.cdb);
    let range = call.unit.must_have(fields.lbn, fields.blocks);
    let flush = range.map(|()| command(call, CommandKind::Flush, 0));
    submit_without_data(call, flush, is_immediate(call), responder);
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
    submit_without_data(call, read, is_immediate(call), responder);
}

fn is_immediate(call: &Call<'_>) -> bool {
    call.cdb[1] & IMMEDIATE != 0
}
