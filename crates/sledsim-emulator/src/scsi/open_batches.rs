//! The batches that an initiator has begun: their commands wait for the last.

use super::responder::Responder;
use crate::command::{Command, CommandKind};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A batch of a nexus: its logical unit and its group, 0 for the Link bit.
pub(super) type BatchKey = (u16, u8);

/// An access of a batch, which outlives its command.
pub(super) struct Access {
    /// Bytes of a read; 0 for a write.
    read: u64,
    /// Data of a write.
    data: Vec<u8>,
    offset: u64,
    fua: bool,
}

impl Access {
    pub(super) fn of(command: &Command<'_>) -> Self {
        let (read, data) = match command.what {
            CommandKind::Write(data) => (0, data.to_vec()),
            _ => (command.bytes(), Vec::new()),
        };
        Self { read, data, offset: command.offset, fua: command.fua }
    }

    pub(super) fn command(&self, stream: u32) -> Command<'_> {
        Command {
            what: match self.read {
                0 => CommandKind::Write(&self.data),
                bytes => CommandKind::Read(bytes),
            },
            offset: self.offset,
            fua: self.fua,
            stream,
        }
    }
}

/// A command of a batch.
pub(super) type Part = (Access, Responder);

/// The batches of a nexus that have been begun and not ended.
#[derive(Default)]
pub(super) struct OpenBatches(Mutex<BTreeMap<BatchKey, Vec<Part>>>);

impl OpenBatches {
    fn open(&self) -> MutexGuard<'_, BTreeMap<BatchKey, Vec<Part>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open().is_empty()
    }

    /// Adds a command to its batch; takes the batch out if it is the last.
    pub(super) fn add(&self, key: BatchKey, part: Part, is_last: bool) -> Option<Vec<Part>> {
        let mut batches = self.open();
        batches.entry(key).or_default().push(part);
        is_last.then(|| batches.remove(&key))?
    }

    /// Aborts a batch: the responders say so when they are dropped, without the lock.
    pub(super) fn abandon(&self, key: BatchKey) {
        let parts = self.open().remove(&key);
        drop(parts);
    }

    /// Aborts all of them.
    pub(super) fn abandon_all(&self) {
        let batches = std::mem::take(&mut *self.open());
        drop(batches);
    }
}
