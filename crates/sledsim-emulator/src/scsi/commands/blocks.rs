//! Fields, ranges and replies that accesses to blocks share.

use crate::command::{Command, CommandKind};
use crate::scsi::bytes::{be16, be32, be64};
use crate::scsi::responder::Responder;
use crate::scsi::sense::Sense;
use crate::scsi::table::Call;
use crate::scsi::unit::{LogicalUnit, MAXIMUM_BLOCKS};
use crate::timeline::{Answer, Reply};
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::model::contents::Promise;
use std::ops::Range;
use std::sync::Arc;

/// Bit 3 of byte 1: force unit access.
pub(super) const FUA: u8 = 1 << 3;
/// Bit 4 of byte 1: disable page out.
pub(super) const DPO: u8 = 1 << 4;

/// The fields that the CDBs of 6, 10, 12 and 16 bytes have at the same places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    /// The first block.
    pub(super) lbn: u64,
    /// Number of blocks.
    pub(super) blocks: u64,
    /// The byte of the number of blocks, for sense data.
    pub(super) blocks_at: u16,
    /// GROUP NUMBER, and the byte where it is; none in 6 bytes.
    pub(super) group: Option<(u8, u16)>,
    /// The control byte.
    pub(super) control: u8,
}

impl Fields {
    /// Decodes a CDB, as long as its operation code says (SPC-4, section 4.2.5).
    pub(super) fn of(cdb: &[u8]) -> Self {
        match cdb[0] >> 5 {
            0 => Self {
                lbn: u64::from(be32(cdb, 0) & 0x1f_ffff),
                blocks: match cdb[4] {
                    0 => 256,
                    blocks => u64::from(blocks),
                },
                blocks_at: 4,
                group: None,
                control: cdb[5],
            },
            4 => Self {
                lbn: be64(cdb, 2),
                blocks: u64::from(be32(cdb, 10)),
                blocks_at: 10,
                group: Some((cdb[14] & 0x1f, 14)),
                control: cdb[15],
            },
            5 => Self {
                lbn: u64::from(be32(cdb, 2)),
                blocks: u64::from(be32(cdb, 6)),
                blocks_at: 6,
                group: Some((cdb[10] & 0x1f, 10)),
                control: cdb[11],
            },
            _ => Self {
                lbn: u64::from(be32(cdb, 2)),
                blocks: u64::from(be16(cdb, 7)),
                blocks_at: 7,
                group: Some((cdb[6] & 0x1f, 6)),
                control: cdb[9],
            },
        }
    }

    /// Refuses blocks that the logical unit does not have, and more than one command may
    /// move.
    pub(super) fn check(&self, unit: &LogicalUnit) -> Result<(), Sense> {
        unit.must_have(self.lbn, self.blocks)?;
        match self.blocks > u64::from(MAXIMUM_BLOCKS) {
            true => Err(Sense::invalid_field(self.blocks_at)),
            false => Ok(()),
        }
    }

    /// Bytes of the blocks.
    pub(super) fn bytes(&self) -> u64 {
        self.blocks * BLOCK_BYTES
    }
}

/// Bytes of data that a CDB with [`Fields`] takes: all its blocks, none beyond what one
/// command may move (it is refused then).
pub(super) fn data_out(cdb: &[u8]) -> u64 {
    let fields = Fields::of(cdb);
    match fields.blocks > u64::from(MAXIMUM_BLOCKS) {
        true => 0,
        false => fields.bytes(),
    }
}

/// The whole blocks of `data`.
pub(super) fn whole_blocks(data: &[u8]) -> &[u8] {
    &data[..data.len() / BLOCK_BYTES as usize * BLOCK_BYTES as usize]
}

/// The command for an export: whole blocks from `lbn` on.
pub(super) fn command<'a>(call: &Call<'_>, what: CommandKind<'a>, lbn: u64) -> Command<'a> {
    Command { what, offset: lbn * BLOCK_BYTES, fua: false, stream: call.nexus.stream }
}

/// The blocks that a command of the export accesses, for its sense data.
pub(super) struct Accessed {
    unit: Arc<LogicalUnit>,
    blocks: Range<u64>,
    is_read: bool,
}

impl Accessed {
    pub(super) fn by(unit: &Arc<LogicalUnit>, command: &Command<'_>) -> Self {
        Self {
            unit: Arc::clone(unit),
            blocks: command.blocks(),
            is_read: matches!(command.what, CommandKind::Read(_)),
        }
    }

    /// The data of an answer, or its sense data.
    pub(super) fn result(&self, answer: Answer) -> Result<Vec<u8>, Sense> {
        let Range { start, end } = self.blocks;
        answer.map_err(|errno| (self.unit).failure(errno, self.is_read, start, end - start))
    }
}

/// What follows on the answer to a command of the export.
struct Continuation<F> {
    accessed: Accessed,
    responder: Responder,
    next: F,
}

impl<F: FnOnce(Result<Vec<u8>, Sense>, Responder) + Send> Reply for Continuation<F> {
    fn send(self: Box<Self>, answer: Answer) {
        (self.next)(self.accessed.result(answer), self.responder);
    }
}

/// Submits `command`; `next` gets its data, or its sense data. If it is never answered, the
/// responder says so.
pub(super) fn submit_then(
    unit: &Arc<LogicalUnit>,
    command: Command<'_>,
    responder: Responder,
    next: impl FnOnce(Result<Vec<u8>, Sense>, Responder) + Send + 'static,
) {
    let continuation = Continuation { accessed: Accessed::by(unit, &command), responder, next };
    unit.export.submit(command, Box::new(continuation));
}

/// Submits `command`; its data, or its sense data, end the task.
pub(super) fn submit(unit: &Arc<LogicalUnit>, command: Command<'_>, responder: Responder) {
    submit_then(unit, command, responder, |result, responder| {
        responder.end(result);
    });
}

/// Reads from the media: `next` gets the data, or the sense data, when what the device had
/// buffered of them is on its media (SBC-3, sections 4.15 and 5.10: FUA, and VERIFY).
pub(super) fn read_media_then(
    unit: &Arc<LogicalUnit>,
    read: Command<'_>,
    responder: Responder,
    next: impl FnOnce(Result<Vec<u8>, Sense>, Responder) + Send + 'static,
) {
    if unit.export.about().device.promise() == Promise::Completion {
        return submit_then(unit, read, responder, next);
    }
    let flush = Command { what: CommandKind::Flush, offset: 0, ..read };
    let flushing = Arc::clone(unit);
    submit_then(unit, read, responder, move |data, responder| match data {
        Ok(data) => submit_then(&flushing, flush, responder, |flushed, responder| {
            next(flushed.map(|_| data), responder);
        }),
        Err(sense) => next(Err(sense), responder),
    });
}

/// Submits a command whose data are not returned; an `immediate` one ends the task before it
/// is done.
pub(super) fn submit_without_data(
    call: &Call<'_>,
    command: Result<Command<'_>, Sense>,
    immediate: bool,
    responder: Responder,
) {
    match command {
        Err(sense) => responder.end(Err(sense)),
        Ok(command) if immediate => {
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
