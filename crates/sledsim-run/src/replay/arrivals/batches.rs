//! The batches of a closed replay.

use sledsim_base::units::Nanos;
use sledsim_traces::Record;
use std::collections::{BTreeMap, BTreeSet};

/// Batches in a closed replay, which count as one request: the host sends their
/// commands at once, and what comes between them, and goes on when all are
/// complete.
#[derive(Debug, Default)]
pub struct Batches {
    /// Devices with a batch that is not complete.
    open: BTreeSet<u32>,
    /// When the commands since then were sent.
    arrival: Nanos,
    /// The group that each outstanding command is of, by id, and how many of
    /// each group are outstanding.
    group_of: BTreeMap<u64, u64>,
    left: BTreeMap<u64, u64>,
    group: u64,
}

impl Batches {
    /// Takes a command that was sent at `arrival`; whether it is none of the
    /// batches under way, and so one that a completion called for.
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

    /// When the next command is sent if it belongs to those before.
    pub fn due(&self) -> Option<Nanos> {
        (!self.open.is_empty()).then_some(self.arrival)
    }

    /// Whether the completion of `id` is one that the host goes on after.
    pub fn goes_on(&mut self, id: u64) -> bool {
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
