//! Reads and writes that form a batch, if the initiator has asked for that in the mode page
//! of the parallel interface:
//!
//! - by the Link bit, as CMU-CS-03-125, section 3.4, proposes: commands with it, up to and
//!   with the next one without it (SAM-3, section 5.4; obsolete since SAM-4);
//! - by the group number: commands with g from 1 to 15, up to and with the next one with
//!   g + 16. Group number 0 is in no batch.
//!
//! The initiator sends them without waiting for the status of each: none is executed before
//! the last has arrived. Then they are submitted as one; each returns its own data and
//! status.

use super::blocks::{Accessed, Fields};
use crate::command::Command;
use crate::export::{BatchReply, CommandResult, Refusal};
use crate::scsi::open_batches::{Access, BatchKey, Part};
use crate::scsi::responder::Responder;
use crate::scsi::sense::Sense;
use crate::scsi::table::{Call, LINK};
use crate::scsi::unit::LogicalUnit;
use std::sync::Arc;

/// Added to the group number of the last command of a batch.
const LAST: u8 = 16;

/// How a command takes part in a batch.
pub(super) struct Membership {
    key: BatchKey,
    is_last: bool,
    by_link: bool,
    /// The byte of the CDB that says so.
    at: u16,
}

/// How a command takes part in a batch, if it does.
pub(super) fn membership(unit: &LogicalUnit, fields: &Fields) -> Option<Membership> {
    let settings = unit.settings();
    if settings.batch_by_link {
        let at = fields.blocks_at.max(fields.group.map_or(0, |(_, at)| at)) + 1;
        return Some(Membership {
            key: (unit.number, 0),
            is_last: fields.control & LINK == 0,
            by_link: true,
            at,
        });
    }
    let (group, at) = fields.group.filter(|_| settings.batch_by_group)?;
    (group % LAST > 0).then_some(Membership {
        key: (unit.number, group % LAST),
        is_last: group > LAST,
        by_link: false,
        at,
    })
}

/// Adds a command to its batch; submits the batch if it is the last. A command that is
/// refused ends the batch: the other commands of it are aborted.
pub(super) fn add(
    call: &Call<'_>,
    membership: &Membership,
    command: Result<Command<'_>, Sense>,
    responder: Responder,
) {
    let key = membership.key;
    let command = match command {
        Ok(command) if command.bytes() > 0 => command,
        refused => {
            call.nexus.batches.abandon(key);
            return responder.end(match refused {
                Ok(_) => Err(Sense::invalid_field(membership.at)),
                Err(sense) => Err(sense),
            });
        }
    };
    responder.hold();
    let part = (Access::of(&command), responder);
    if let Some(mut parts) = call.nexus.batches.add(key, part, membership.is_last) {
        parts.retain(|(_, responder)| responder.is_live());
        submit(call.unit, call.nexus.stream, parts, membership);
    }
}

fn submit(unit: &Arc<LogicalUnit>, stream: u32, parts: Vec<Part>, membership: &Membership) {
    if parts.is_empty() {
        return;
    }
    let (accesses, responders): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let commands: Vec<_> = accesses.iter().map(|each| each.command(stream)).collect();
    if let Err(refusal) = unit.export.check_batch(&commands) {
        let sense = match refusal {
            Refusal::ReadOnly(_) => Sense::WRITE_PROTECTED,
            _ => Sense::invalid_field(membership.at),
        };
        for responder in responders {
            responder.end(Err(sense));
        }
        return;
    }
    let accessed = commands.iter().map(|command| Accessed::by(unit, command));
    let results =
        Results { by_link: membership.by_link, parts: accessed.zip(responders).collect() };
    // Without power it drops the responders, which say so.
    let _ = unit.export.submit_batch(&commands, Box::new(results));
}

/// Sends the results of a batch to its tasks.
struct Results {
    by_link: bool,
    /// The blocks of each command, and its task.
    parts: Vec<(Accessed, Responder)>,
}

impl BatchReply for Results {
    fn send(self: Box<Self>, done: Vec<CommandResult>) {
        let Self { by_link, parts } = *self;
        let last = parts.len() - 1;
        for (index, ((accessed, responder), done)) in parts.into_iter().zip(done).enumerate() {
            let result = accessed.result(done.answer);
            match by_link && index < last {
                true => responder.end_linked(result),
                false => responder.end(result),
            }
        }
    }
}
