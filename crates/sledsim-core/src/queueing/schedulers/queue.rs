//! The requests of a scheduler, by slot.

use super::Waiting;
use slab::Slab;

/// Requests by slot. Slots are reused, so that nothing is allocated once the
/// queue has reached its greatest length.
#[derive(Debug, Default)]
pub(super) struct Queue {
    slots: Slab<Slot>,
    /// How many were ever pushed.
    pushed: u64,
}

/// A request with the sequence number of its push.
#[derive(Debug)]
struct Slot {
    waiting: Waiting,
    sequence: u64,
}

impl Queue {
    /// Adds a request; returns its slot.
    pub fn push(&mut self, waiting: Waiting) -> u32 {
        let slot = Slot {
            waiting,
            sequence: self.pushed,
        };
        self.pushed += 1;
        self.slots.insert(slot) as u32
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The request in a slot.
    pub fn get(&self, slot: u32) -> &Waiting {
        &self.slots[slot as usize].waiting
    }

    /// Sequence number of its push.
    pub fn sequence(&self, slot: u32) -> u64 {
        self.slots[slot as usize].sequence
    }

    /// Removes and returns the request in a slot.
    pub fn take(&mut self, slot: u32) -> Waiting {
        self.slots.remove(slot as usize).waiting
    }
}
