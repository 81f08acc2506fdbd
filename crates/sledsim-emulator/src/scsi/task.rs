//! One command, from its arrival to its status.

use super::commands;
use super::device::{Device, NexusState};
use super::responder::{Outcome, Place, Responder, TaskReply};
use super::sense::{Sense, Status};
use super::table::{AnyCall, Call, Entry, Handler};
use super::task_set::{Attribute, Start};
use super::unit::LogicalUnit;
use smallvec::SmallVec;
use std::sync::Arc;

/// Identifies a task of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskId {
    pub(super) unit: u16,
    pub(super) number: u64,
}

/// A command that has arrived and not been run.
pub struct Task {
    device: Arc<Device>,
    nexus: Arc<NexusState>,
    cdb: SmallVec<[u8; 32]>,
    /// `None` if it has no logical unit.
    place: Option<Place>,
    entry: Result<&'static Entry, Sense>,
    /// Bytes of data that the initiator offers, if it says.
    offered: Option<u64>,
}

impl Task {
    pub(super) fn begin(
        device: &Arc<Device>,
        nexus: &Arc<NexusState>,
        unit: Option<Arc<LogicalUnit>>,
        cdb: &[u8],
        attribute: Attribute,
    ) -> Self {
        let place = unit.map(|unit| Place::enter(unit, nexus.id, attribute));
        let entry = resolve(place.as_ref().map(|place| &*place.unit), nexus, cdb);
        let taken = entry.as_ref().map_or(cdb.len(), |entry| entry.usage.len());
        Self {
            device: Arc::clone(device),
            nexus: Arc::clone(nexus),
            cdb: cdb[..taken].into(),
            place,
            entry,
            offered: None,
        }
    }

    /// Notes how many bytes of data the initiator offers; otherwise it offers those with
    /// which the command is run.
    pub fn offer(&mut self, bytes: u64) {
        self.offered = Some(bytes);
    }

    /// Bytes of data that the command takes from the initiator; none if it is refused.
    pub fn data_out_bytes(&self) -> u64 {
        self.entry.as_ref().map_or(0, |entry| (entry.data_out)(&self.cdb))
    }

    /// Bytes of memory that the command may need while it is executed: for the data that it
    /// takes, and for the blocks that it reads.
    pub fn memory_bytes(&self) -> u64 {
        match self.entry {
            Ok(Entry { run: Handler::Later(_), .. }) => {
                commands::block_bytes(&self.cdb).max(self.data_out_bytes())
            }
            _ => self.data_out_bytes(),
        }
    }

    /// Whether the command has not been aborted.
    pub fn is_live(&self) -> bool {
        self.place.as_ref().is_none_or(Place::is_live)
    }

    /// Its identity, for task management; `None` if it has no logical unit.
    pub fn id(&self) -> Option<TaskId> {
        let place = self.place.as_ref()?;
        Some(TaskId { unit: place.unit.number, number: place.number })
    }

    /// Runs the command with `data` from the initiator when its attribute allows it,
    /// perhaps before this returns; `reply` gets the result.
    pub fn run(mut self, data: &[u8], reply: Box<dyn TaskReply>) {
        let Some(place) = self.place.take() else {
            return self.run_without_unit(reply);
        };
        let (unit, number) = (Arc::clone(&place.unit), place.number);
        let responder = Responder { reply: Some(reply), place };
        let start = (unit.tasks).start(number, (self, responder), |(task, responder)| {
            let data = data.to_vec();
            Box::new(move || task.execute(&data, responder))
        });
        if let Start::Now((task, responder)) = start {
            task.execute(data, responder);
        }
    }

    /// Ends the command, whose data have not arrived as they should; `reply` gets the
    /// result.
    pub fn refuse_data(mut self, reply: Box<dyn TaskReply>) {
        self.entry = Err(Sense::DATA_LOST);
        self.run(&[], reply);
    }

    fn execute(&self, data: &[u8], responder: Responder) {
        let unit = &Arc::clone(&responder.place.unit);
        let entry = match self.entry {
            Ok(entry) => entry,
            Err(sense) => return responder.end(Err(sense)),
        };
        let call = Call {
            device: &self.device,
            nexus: &self.nexus,
            unit,
            cdb: &self.cdb,
            data,
            offered: self.offered.unwrap_or(data.len() as u64),
        };
        match entry.run {
            Handler::Any(run) => responder.end(run(&AnyCall {
                device: &self.device,
                nexus: &self.nexus,
                unit: Some(unit),
                cdb: &self.cdb,
            })),
            Handler::Now(run) => responder.end(run(&call)),
            Handler::Always(run) => run(&call, responder),
            Handler::Later(run) => match unit.must_be_ready() {
                Ok(()) => run(&call, responder),
                Err(sense) => responder.end(Err(sense)),
            },
        }
    }

    /// Runs a command for an address without a logical unit.
    fn run_without_unit(self, reply: Box<dyn TaskReply>) {
        let result = match self.entry {
            Ok(Entry { run: Handler::Any(run), .. }) => run(&AnyCall {
                device: &self.device,
                nexus: &self.nexus,
                unit: None,
                cdb: &self.cdb,
            }),
            Ok(_) => Err(Sense::NO_SUCH_UNIT),
            Err(sense) => Err(sense),
        };
        reply.send(match result {
            Ok(data) => Outcome { status: Status::Good, sense: Vec::new(), data },
            Err(sense) => Outcome::refused(&sense, false),
        });
    }
}

/// Finds the entry of a command, or why it is refused: an unknown command, a missing
/// logical unit, a unit attention, an invalid CDB, in the order of SAM-5, section 5.3.3.
fn resolve(
    unit: Option<&LogicalUnit>,
    nexus: &NexusState,
    cdb: &[u8],
) -> Result<&'static Entry, Sense> {
    let found = match cdb.len() {
        0..6 => Err(Sense::NO_SUCH_COMMAND),
        _ => commands::find(cdb),
    };
    let is_any = matches!(found, Ok(Entry { run: Handler::Any(_), .. }));
    let Some(unit) = unit else {
        let entry = found.ok().filter(|_| is_any).ok_or(Sense::NO_SUCH_UNIT)?;
        entry.check(cdb, false)?;
        return Ok(entry);
    };
    if !is_any && let Some(sense) = nexus.take_attention(unit.number) {
        return Err(sense);
    }
    let entry = found?;
    entry.check(cdb, unit.settings().batch_by_link)?;
    Ok(entry)
}
