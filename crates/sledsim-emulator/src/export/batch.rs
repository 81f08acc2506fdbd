//! Batches: linked commands submitted to a device at one instant.

use super::Export;
use crate::command::{Command, CommandKind};
use crate::errno::Errno;
use crate::timeline::{Answer, Reply, unmarked};
use sledsim_base::request::{Extent, Flags, Request};
use sledsim_base::row::Row;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::model::links;
use sledsim_core::model::links::Links;
use std::fmt::{self, Display, Formatter};
use std::sync::{Arc, Mutex, PoisonError};

/// The result of a command of a batch.
#[derive(Clone, Debug)]
pub struct CommandResult {
    /// Its row, as in a recording.
    pub row: Row,
    /// Time from its completion to its answer, in model time.
    pub lateness: Nanos,
    /// The data of a read, or the error.
    pub answer: Answer,
}

/// Receives the answers of a batch.
pub trait BatchReply: Send {
    /// Sends the answers, in the order of the commands, when the last one is due. Must
    /// not block on the client.
    fn send(self: Box<Self>, done: Vec<CommandResult>);
}

/// Why a batch is refused; no command of it has been executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An invalid command, or commands that cannot form one batch.
    Invalid(String),
    /// A write to an export that is read only.
    ReadOnly(String),
    /// The device serves no batches.
    NoBatches(String),
    /// The device is off.
    NoPower(String),
    /// The data cannot be kept, for lack of space.
    NotKept(String),
}

impl Display for Refusal {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(why) | Self::ReadOnly(why) | Self::NoBatches(why) => out.write_str(why),
            Self::NoPower(why) | Self::NotKept(why) => out.write_str(why),
        }
    }
}

/// Collects the answers of a batch.
struct Collector {
    left: Mutex<CollectorState>,
}

struct CollectorState {
    done: Vec<Option<CommandResult>>,
    missing: usize,
    reply: Option<Box<dyn BatchReply>>,
}

/// The reply of one command: stores its answer in the collector.
struct CommandReply {
    of: Arc<Collector>,
    index: usize,
}

impl Reply for CommandReply {
    /// Not used: batch replies are sent by `tell`, with the row.
    fn send(self: Box<Self>, answer: Answer) {
        self.tell(&Row::default(), Nanos::ZERO, answer);
    }

    fn tell(self: Box<Self>, row: &Row, lateness: Nanos, answer: Answer) {
        let mut left = self.of.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.done[self.index] = Some(CommandResult { row: *row, lateness, answer });
        left.missing -= 1;
        if left.missing > 0 {
            return;
        }
        let done = std::mem::take(&mut left.done);
        let reply = left.reply.take();
        drop(left);
        if let Some(reply) = reply {
            reply.send(done.into_iter().flatten().collect());
        }
    }
}

impl Export {
    /// Serves reads and writes of whole blocks as one batch: they arrive at one instant
    /// with no other request in between, and a device that serves batches takes them as
    /// one ([`sledsim_core::model::links`]); one that ignores links takes them as
    /// separate requests. `reply` is sent when all are due, perhaps before this
    /// returns. Errors of the store or the device are reported per command.
    ///
    /// # Errors
    /// A refused batch: no command is executed, and `reply` is dropped.
    pub fn submit_batch(
        &self,
        commands: &[Command<'_>],
        reply: Box<dyn BatchReply>,
    ) -> Result<(), Refusal> {
        self.check_batch(commands)?;
        let last = commands.len() - 1;
        let is_served = self.timeline.links() == Links::Served;
        let requests = commands.iter().enumerate().map(|(index, command)| {
            let mut request: Request = command.request();
            request.flags.set(Flags::LINKED, is_served && index < last);
            request
        });
        let reads = |command: &Command<'_>| matches!(command.what, CommandKind::Read(_));
        let changing = (!commands.iter().all(reads)).then(|| self.changing());
        let (ids, answers) = match &self.power {
            None => {
                let ids = self.timeline.begin_all(requests, unmarked);
                (ids, commands.iter().map(|command| self.access(command)).collect())
            }
            Some(power) => match power.begin(commands, requests, |command| self.access(command)) {
                Ok(begun) => begun,
                Err(refused) => {
                    drop(changing);
                    drop(refused.unanswered);
                    let name = &self.about.name;
                    return Err(match refused.errno {
                        Errno::IO => Refusal::NoPower(format!("export '{name}': power is off")),
                        errno => Refusal::NotKept(format!("export '{name}': {errno}")),
                    });
                }
            },
        };
        drop(changing);
        let collector = Arc::new(Collector {
            left: Mutex::new(CollectorState {
                done: vec![None; commands.len()],
                missing: commands.len(),
                reply: Some(reply),
            }),
        });
        let parts = commands.iter().zip(ids).zip(answers).enumerate();
        let answers: Vec<_> = parts
            .filter_map(|(index, ((command, id), answer))| {
                let of = Arc::clone(&collector);
                let part = Box::new(CommandReply { of, index });
                self.unless_synced(command, id, part, answer)
            })
            .collect();
        self.timeline.finish_all(answers);
        Ok(())
    }

    /// Refuses commands that do not form a valid batch.
    pub fn check_batch(&self, commands: &[Command<'_>]) -> Result<(), Refusal> {
        if commands.is_empty() {
            let why = "a batch must have a command at least".to_owned();
            return Err(Refusal::Invalid(why));
        }
        let mut extents = Vec::with_capacity(commands.len());
        for (index, command) in commands.iter().enumerate() {
            let refuse = |why: String| Err(Refusal::Invalid(format!("commands[{index}]: {why}")));
            let (offset, bytes) = (command.offset, command.bytes());
            if !command.op().moves_data() {
                let op = command.op().name();
                return refuse(format!("is a {op}: must be a read or a write"));
            }
            if bytes == 0 || !(offset | bytes).is_multiple_of(BLOCK_BYTES) {
                return refuse(format!(
                    "{bytes} bytes from byte {offset} on: must be whole blocks of {BLOCK_BYTES} \
                     bytes, one at least"
                ));
            }
            let (lbn, length) = (offset / BLOCK_BYTES, bytes / BLOCK_BYTES);
            if !self.contains(offset, bytes) {
                return refuse(format!(
                    "{length} blocks from LBN {lbn} on: must be within LBNs 0 to {}",
                    self.bytes / BLOCK_BYTES - 1
                ));
            }
            if self.about.read_only && !matches!(command.what, CommandKind::Read(_)) {
                return Err(Refusal::ReadOnly(format!(
                    "commands[{index}]: a write to LBN {lbn}, and export '{}' is read-only: only \
                     reads are allowed",
                    self.about.name
                )));
            }
            let Ok(length) = u32::try_from(length) else {
                return refuse(format!("{length} blocks: must be at most {}", u32::MAX));
            };
            extents.push(Extent { lbn, blocks: length });
        }
        if let Some((a, b)) = links::overlapping(&extents) {
            let last = |extent: Extent| extent.end() - 1;
            return Err(Refusal::Invalid(format!(
                "LBNs {} to {} and LBNs {} to {} are both in the batch and overlap: must be apart",
                a.lbn,
                last(a),
                b.lbn,
                last(b)
            )));
        }
        if commands.len() > 1 && self.timeline.links() == Links::Refused {
            return Err(Refusal::NoBatches(format!(
                "export '{}' serves no batches: its device, '{}' of kind '{}', is no single sled \
                 without a buffer, background tasks and a host's queue; one command at a time is \
                 allowed",
                self.about.name,
                self.about.device.name(),
                self.about.device.kind()
            )));
        }
        Ok(())
    }
}
