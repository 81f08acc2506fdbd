//! WRITE SAME (SBC-3, sections 5.43 and 5.44).

use super::blocks::{Fields, command, submit};
use crate::command::CommandKind;
use crate::scsi::responder::Responder;
use crate::scsi::sense::Sense;
use crate::scsi::table::{Call, Entry, Handler};
use sledsim_base::units::BLOCK_BYTES;

/// Bit 3 of byte 1: the blocks may be deallocated.
const UNMAP: u8 = 1 << 3;
/// Bit 0 of byte 1 in 16 bytes: there are no data, the blocks become zero.
const NO_DATA: u8 = 1 << 0;

// The bit ANCHOR is not there: nothing is anchored.
#[rustfmt::skip]
pub(super) static COMMANDS: [Entry; 2] = [
    Entry::new(0x41, &[0x41, UNMAP, 255, 255, 255, 255, 31, 255, 255, 0], Handler::Later(write_same))
        .takes(block),
    Entry::new(
        0x93,
        &[0x93, UNMAP | NO_DATA, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Handler::Later(write_same),
    )
    .takes(block),
];

/// Bytes of the block that a CDB takes.
fn block(cdb: &[u8]) -> u64 {
    match cdb[1] & NO_DATA {
        0 => BLOCK_BYTES,
        _ => 0,
    }
}

fn write_same(call: &Call<'_>, responder: Responder) {
    let fields = Fields::of(call.cdb);
    let mut repeated = Vec::new();
    match what(call, &fields, &mut repeated) {
        Ok(what) => submit(call.unit, command(call, what, fields.lbn), responder),
        Err(sense) => responder.end(Err(sense)),
    }
}

/// What it does; `repeated` gets the data of a write.
fn what<'a>(
    call: &Call<'_>,
    fields: &Fields,
    repeated: &'a mut Vec<u8>,
) -> Result<CommandKind<'a>, Sense> {
    if fields.blocks == 0 {
        return Err(Sense::invalid_field(fields.blocks_at));
    }
    fields.check(call.unit)?;
    if call.unit.export.is_read_only() {
        return Err(Sense::WRITE_PROTECTED);
    }
    let bytes = fields.bytes();
    let has = block(call.cdb) as usize;
    let Some(data) = call.data.get(..has) else {
        return Err(Sense::invalid_field(fields.blocks_at));
    };
    if data.iter().all(|byte| *byte == 0) {
        let unmap = call.cdb[1] & UNMAP != 0;
        return Ok(CommandKind::Zero { bytes, unmap });
    }
    *repeated = data.repeat(fields.blocks as usize);
    Ok(CommandKind::Write(repeated))
}
