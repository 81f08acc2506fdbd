//! WRITE SCATTERED (SBC-4): writes to several ranges, which are
//! one batch if the device serves batches.

use super::blocks::{Accessed, DPO, FUA, command};
use super::several::submit_all;
use crate::command::{Command, CommandKind};
use crate::export::{BatchReply, CommandResult, Refusal};
use crate::scsi::bytes::{be16, be32, be64};
use crate::scsi::responder::Responder;
use crate::scsi::sense::Sense;
use crate::scsi::table::{Call, Entry, Handler, VARIABLE_LENGTH};
use crate::scsi::unit::MAXIMUM_BLOCKS;
use sledsim_base::units::BLOCK_BYTES;

const FLAGS: u8 = DPO | FUA;

/// Bytes of the head of a parameter list, and of each descriptor of a range.
const DESCRIPTOR: usize = 32;
/// The most blocks before the data.
const MAXIMUM_OFFSET: u64 = 4096;
/// The additional length of the CDB of 32 bytes, and its byte.
const ADDITIONAL: u8 = 0x18;
const ADDITIONAL_AT: u16 = 7;

#[rustfmt::skip]
pub(super) static COMMANDS: [Entry; 2] = [
    Entry::new(
        0x9f,
        &[0x9f, 0x12, FLAGS, 0, 255, 255, 0, 0, 255, 255, 255, 255, 255, 255, 31, 0],
        Handler::Later(write_scattered),
    )
    .action(0x12)
    .takes(data_out),
    Entry::new(
        VARIABLE_LENGTH,
        &[
            VARIABLE_LENGTH, 0, 0, 0, 0, 0, 31, ADDITIONAL, 0x00, 0x11, FLAGS, 0, 255, 255, 0, 0,
            255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255,
        ],
        Handler::Later(write_scattered),
    )
    .action(0x11)
    .takes(data_out),
];

/// The fields of a CDB.
struct Scattered {
    /// Where its data begin in the buffer, in blocks.
    offset: u64,
    offset_at: u16,
    /// Number of ranges.
    ranges: usize,
    /// Blocks of data.
    blocks: u64,
    blocks_at: u16,
    fua: bool,
}

impl Scattered {
    /// Decodes a CDB of 16 or of 32 bytes.
    fn of(cdb: &[u8]) -> Self {
        let (flags, offset, ranges, blocks) = match cdb[0] {
            VARIABLE_LENGTH => (10, 12, 16, 28),
            _ => (2, 4, 8, 10),
        };
        Self {
            offset: u64::from(be16(cdb, offset)),
            offset_at: offset as u16,
            ranges: usize::from(be16(cdb, ranges)),
            blocks: u64::from(be32(cdb, blocks)),
            blocks_at: blocks as u16,
            fua: cdb[flags] & FUA != 0,
        }
    }

    /// Whether there is nothing to do, which is no error.
    fn is_empty(&self) -> bool {
        self.ranges == 0 || self.blocks == 0
    }

    /// Refuses more than one command may move, and data before the descriptors end.
    fn check(&self) -> Result<(), Sense> {
        let head = (DESCRIPTOR * (1 + self.ranges)) as u64;
        let is_offset = self.offset <= MAXIMUM_OFFSET && self.offset * BLOCK_BYTES >= head;
        match () {
            () if !is_offset => Err(Sense::invalid_field(self.offset_at)),
            () if self.blocks > MAXIMUM_BLOCKS.into() => Err(Sense::invalid_field(self.blocks_at)),
            () => Ok(()),
        }
    }

    /// Bytes of the buffer.
    fn bytes(&self) -> u64 {
        (self.offset + self.blocks) * BLOCK_BYTES
    }
}

/// Bytes of data that a CDB takes; none if it is refused.
fn data_out(cdb: &[u8]) -> u64 {
    let fields = Scattered::of(cdb);
    match fields.is_empty() || fields.check().is_err() {
        true => 0,
        false => fields.bytes(),
    }
}

fn write_scattered(call: &Call<'_>, responder: Responder) {
    let writes = match writes(call) {
        Ok(writes) if writes.is_empty() => return responder.end(Ok(Vec::new())),
        Ok(writes) => writes,
        Err(sense) => return responder.end(Err(sense)),
    };
    let export = &call.unit.export;
    let refused = match export.check_batch(&writes) {
        Ok(()) => {
            let accessed = writes.iter().map(|write| Accessed::by(call.unit, write));
            let batch = Batch { accessed: accessed.collect(), responder };
            // Without power it drops the responder, which says so.
            let _ = export.submit_batch(&writes, Box::new(batch));
            return;
        }
        Err(refused) => refused,
    };
    match refused {
        Refusal::NoBatches(_) => submit_all(call.unit, &writes, responder),
        Refusal::ReadOnly(_) => responder.end(Err(Sense::WRITE_PROTECTED)),
        Refusal::NoPower(_) => responder.end(Err(Sense::NO_POWER)),
        Refusal::NotKept(_) => responder.end(Err(Sense::NO_SPACE)),
        // Ranges that overlap.
        Refusal::Invalid(_) => {
            responder.end(Err(Sense::invalid_parameter(DESCRIPTOR as u16)));
        }
    }
}

/// The writes of the ranges that have blocks, in order.
fn writes<'a>(call: &Call<'a>) -> Result<Vec<Command<'a>>, Sense> {
    let fields = Scattered::of(call.cdb);
    if call.cdb[0] == VARIABLE_LENGTH && call.cdb[usize::from(ADDITIONAL_AT)] != ADDITIONAL {
        return Err(Sense::invalid_field(ADDITIONAL_AT));
    }
    if fields.is_empty() {
        return Ok(Vec::new());
    }
    fields.check()?;
    if (call.data.len() as u64) < fields.bytes() {
        return Err(Sense::invalid_field(fields.blocks_at));
    }
    let (head, data) = call.data.split_at((fields.offset * BLOCK_BYTES) as usize);
    let descriptors = head.chunks_exact(DESCRIPTOR).skip(1).take(fields.ranges);
    let ranges: Vec<_> =
        descriptors.map(|each| (be64(each, 0), u64::from(be32(each, 8)))).collect();
    if ranges.iter().map(|(_, blocks)| blocks).sum::<u64>() != fields.blocks {
        return Err(Sense::invalid_parameter(DESCRIPTOR as u16 + 8));
    }
    let mut writes = Vec::with_capacity(ranges.len());
    let mut data = data;
    for (lbn, blocks) in ranges {
        call.unit.must_have(lbn, blocks)?;
        let (own, rest) = data.split_at((blocks * BLOCK_BYTES) as usize);
        data = rest;
        if blocks > 0 {
            let write = command(call, CommandKind::Write(own), lbn);
            let fua = fields.fua;
            writes.push(Command { fua, ..write });
        }
    }
    Ok(writes)
}

/// Ends the task of a batch.
struct Batch {
    /// The blocks of each write.
    accessed: Vec<Accessed>,
    responder: Responder,
}

impl BatchReply for Batch {
    fn send(self: Box<Self>, done: Vec<CommandResult>) {
        let mut results = self.accessed.iter().zip(done);
        let failed = results.find_map(|(accessed, done)| accessed.result(done.answer).err());
        self.responder.end(match failed {
            Some(sense) => Err(sense),
            None => Ok(Vec::new()),
        });
    }
}
