//! The result of a task, and who sends it.

use super::sense::{Sense, Status};
use super::task_set::Attribute;
use super::unit::LogicalUnit;
use std::sync::Arc;

/// The result of a command.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its status.
    pub status: Status,
    /// Sense data, empty unless the status is CHECK CONDITION.
    pub sense: Vec<u8>,
    /// The data for the initiator.
    pub data: Vec<u8>,
}

impl Outcome {
    pub(super) fn refused(sense: &Sense, descriptors: bool) -> Self {
        Self { status: Status::CheckCondition, sense: sense.encode(descriptors), data: Vec::new() }
    }
}

/// Receives the result of one command. It is dropped if the command is aborted.
pub trait TaskReply: Send {
    /// Sends the result. Called at most once; must not block on the initiator.
    fn send(self: Box<Self>, outcome: Outcome);
}

/// The place of a task in its task set; it leaves on drop.
pub(super) struct Place {
    pub(super) unit: Arc<LogicalUnit>,
    pub(super) number: u64,
    is_left: bool,
}

impl Place {
    /// Enters a task of a nexus.
    pub(super) fn enter(unit: Arc<LogicalUnit>, nexus: u64, attribute: Attribute) -> Self {
        Self { number: unit.tasks.enter(nexus, attribute), unit, is_left: false }
    }

    /// Whether the task has not been aborted.
    pub(super) fn is_live(&self) -> bool {
        self.unit.tasks.is_live(self.number)
    }

    /// Leaves; returns whether the status of the task is sent.
    fn leave(&mut self) -> bool {
        self.is_left = true;
        self.unit.tasks.end(self.number)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.is_left {
            let _ = self.leave();
        }
        self.unit.tasks.advance();
    }
}

/// Sends the result of a task of a logical unit, unless that has been aborted.
pub(super) struct Responder {
    /// `None` once it has been sent.
    pub(super) reply: Option<Box<dyn TaskReply>>,
    pub(super) place: Place,
}

impl Responder {
    /// Sends data with the status GOOD, or sense data.
    pub(super) fn end(mut self, result: Result<Vec<u8>, Sense>) {
        self.send(Status::Good, result);
    }

    /// Lets ORDERED tasks start before this one has ended: it waits for later commands.
    pub(super) fn hold(&self) {
        self.place.unit.tasks.hold(self.place.number);
    }

    /// Whether the task has not been aborted.
    pub(super) fn is_live(&self) -> bool {
        self.place.is_live()
    }

    /// Sends data with the status INTERMEDIATE, or sense data.
    pub(super) fn end_linked(mut self, result: Result<Vec<u8>, Sense>) {
        self.send(Status::Intermediate, result);
    }

    fn send(&mut self, status: Status, result: Result<Vec<u8>, Sense>) {
        let Some(reply) = self.reply.take().filter(|_| self.place.leave()) else {
            return;
        };
        reply.send(match result {
            Ok(data) => Outcome { status, sense: Vec::new(), data },
            Err(sense) => Outcome::refused(&sense, self.place.unit.settings().descriptor_sense),
        });
    }
}

impl Drop for Responder {
    /// A request that is never answered: power has failed, the server stops, or its batch ends.
    fn drop(&mut self) {
        self.send(Status::Good, Err(Sense::STOPPING));
    }
}
