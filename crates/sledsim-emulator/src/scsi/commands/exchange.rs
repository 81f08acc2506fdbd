//! COMPARE AND WRITE, ORWRITE (SBC-3, sections 5.2 and 5.5).

use super::blocks::{DPO, FUA, Fields, command, data_out, submit_then, whole_blocks};
use crate::command::CommandKind;
use crate::export::{Exchange, Unchanged};
use crate::scsi::responder::Responder;
use crate::scsi::sense::Sense;
use crate::scsi::table::{Call, Entry, Handler};
use crate::scsi::unit::LogicalUnit;
use crate::timeline::{Answer, Reply};
use sledsim_base::units::BLOCK_BYTES;
use std::sync::Arc;

const FLAGS: u8 = DPO | FUA;

/// The byte of the number of blocks of COMPARE AND WRITE.
const COUNT_AT: u16 = 13;

#[rustfmt::skip]
pub(super) static COMMANDS: [Entry; 2] = [
    Entry::new(
        0x89,
        &[0x89, FLAGS, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 255, 31, 0],
        Handler::Later(compare_and_write),
    )
    .takes(|cdb| 2 * count(cdb) * BLOCK_BYTES),
    Entry::new(
        0x8b,
        &[0x8b, FLAGS, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Handler::Later(or_write),
    )
    .takes(data_out),
];

/// The number of blocks of COMPARE AND WRITE.
fn count(cdb: &[u8]) -> u64 {
    u64::from(cdb[usize::from(COUNT_AT)])
}

fn compare_and_write(call: &Call<'_>, responder: Responder) {
    let fields = Fields { blocks: count(call.cdb), blocks_at: COUNT_AT, ..Fields::of(call.cdb) };
    if let Err(sense) = fields.check(call.unit) {
        return responder.end(Err(sense));
    }
    let bytes = fields.bytes() as usize;
    if call.offered != 2 * fields.bytes() || call.data.len() < 2 * bytes {
        return responder.end(Err(Sense::invalid_field(COUNT_AT)));
    }
    let (compared, new) = (call.data[..bytes].to_vec(), call.data[bytes..2 * bytes].to_vec());
    let change = move |old: &[u8]| match first_difference(old, &compared) {
        None => Ok(new),
        Some(at) => Err(Sense::MISCOMPARE.at(at)),
    };
    exchange(call, fields.lbn, bytes as u64, change, responder);
}

fn or_write(call: &Call<'_>, responder: Responder) {
    let fields = Fields::of(call.cdb);
    if let Err(sense) = fields.check(call.unit) {
        return responder.end(Err(sense));
    }
    let data = whole_blocks(call.data).to_vec();
    let bytes = data.len() as u64;
    let change = move |old: &[u8]| Ok(old.iter().zip(&data).map(|(a, b)| a | b).collect());
    exchange(call, fields.lbn, bytes, change, responder);
}

/// The first byte at which these differ.
pub(super) fn first_difference(one: &[u8], other: &[u8]) -> Option<u64> {
    let differs = one.iter().zip(other).position(|(a, b)| a != b);
    differs.map(|at| at as u64)
}

/// Reads blocks; when that is done, writes what `change` makes of them, unless a command in
/// between changes them: these are then the blocks that it gets.
fn exchange(
    call: &Call<'_>,
    lbn: u64,
    bytes: u64,
    change: impl FnOnce(&[u8]) -> Result<Vec<u8>, Sense> + Send + 'static,
    responder: Responder,
) {
    if bytes == 0 {
        return responder.end(Ok(Vec::new()));
    }
    if call.unit.export.is_read_only() {
        return responder.end(Err(Sense::WRITE_PROTECTED));
    }
    let unit = Arc::clone(call.unit);
    let what = Exchange {
        offset: lbn * BLOCK_BYTES,
        bytes,
        fua: call.cdb[1] & FUA != 0,
        stream: call.nexus.stream,
    };
    let read = command(call, CommandKind::Read(bytes), lbn);
    submit_then(call.unit, read, responder, move |read, responder| {
        if let Err(sense) = read {
            return responder.end(Err(sense));
        }
        // One that has been aborted must not write any more.
        if responder.is_live() {
            let blocks = bytes / BLOCK_BYTES;
            let written = Written { unit, responder, lbn, blocks };
            let export = Arc::clone(&written.unit.export);
            if let Err((why, written)) = export.exchange(&what, change, written) {
                written.unchanged(why);
            }
        }
    });
}

/// Ends the task of an exchange.
struct Written {
    unit: Arc<LogicalUnit>,
    responder: Responder,
    lbn: u64,
    blocks: u64,
}

impl Written {
    fn unchanged(self, why: Unchanged<Sense>) {
        let sense = match why {
            Unchanged::Failed(errno) => self.unit.failure(errno, true, self.lbn, self.blocks),
            Unchanged::Declined(sense) => sense,
        };
        self.responder.end(Err(sense));
    }
}

impl Reply for Written {
    fn send(self: Box<Self>, answer: Answer) {
        let failed = |errno| self.unit.failure(errno, false, self.lbn, self.blocks);
        let result = answer.map_err(failed);
        self.responder.end(result);
    }
}
