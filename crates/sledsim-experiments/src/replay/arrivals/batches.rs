//! The batches of a closed replay.

use sledsim_base::units::Nanos;
use sledsim_traces::Record;
use std::collections::{BTreeMap, BTreeSet};

/// Batches in a closed replay, each of which counts as one request: the host
/// sends its commands (and those between them in the trace) at once, and
/// continues when all are complete.
#[derive(Debug, Default)]
pub struct Batches {
    /// Devices with an unfinished batch.
    open: BTreeSet<u32>,
    /// When the commands of these batches were sent.
    arrival: Nanos,
    /// The group of each outstanding command, by id, and the number of
    /// outstanding commands of each group.
    group_of: BTreeMap<u64, u64>,
    left: BTreeMap<u64, u64>,
    group: u64,
}

impl Batches {
    /// Takes a command sent at `arrival`; returns whether it starts a new group,
    /// and so used up a completion.
    pub fn take(&mut self, id: u64, record: &Record, arrival: Nanos) -> bool {
        let begins = self.open.is_empty();
        if begins {
            if !record.linked {
                return true;
            }
            self.group = id;
            self.arrival = arrival;
        }
        if record.linked {
            self.open.insert(record.device);
        } else {
            self.open.remove(&record.device);
        }
        self.group_of.insert(id, self.group);
        *self.left.entry(self.group).or_default() += 1;
        begins
    }

    /// The time of the next command, if it belongs to the current group.
    pub fn due(&self) -> Option<Nanos> {
        (!self.open.is_empty()).then_some(self.arrival)
    }

    /// Records the completion of `id`; returns whether its group is complete.
    pub fn completes_group(&mut self, id: u64) -> bool {
        let Some(group) = self.group_of.remove(&id) else {
            return true;
        };
        let left = self.left.entry(group).or_default();
        *left -= 1;
        let more_follow = self.group == group && !self.open.is_empty();
        let last = *left == 0 && !more_follow;
        if last {
            self.left.remove(&group);
        }
        last
    }
}
