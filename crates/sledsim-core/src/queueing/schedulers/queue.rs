//! The requests of a scheduler, by slot.

use super::Waiting;
use slab::Slab;

/// Requests by slot. Slots are reused, so that nothing is allocated once the
/// queue has reached its greatest length.
#[derive(Debug, Default)]
pub(super) struct Queue {
    slots: Slab<Waiting>,
    /// By slot: the sequence number of its push.
    sequences: Vec<u64>,
    /// How many were ever pushed.
    pushed: u64,
}

impl Queue {
    /// Adds a request; returns its slot.
    #[inline]
    pub fn push(&mut self, waiting: Waiting) -> u32 {
        let slot = self.slots.insert(waiting);
        match self.sequences.get_mut(slot) {
            Some(sequence) => *sequence = self.pushed,
            None => self.sequences.push(self.pushed),
        }
        self.pushed += 1;
        slot as u32
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The request in a slot.
    pub fn get(&self, slot: u32) -> &Waiting {
        &self.slots[slot as usize]
    }

    /// Sequence number of its push.
    pub fn sequence(&self, slot: u32) -> u64 {
        self.sequences[slot as usize]
    }

    /// Removes and returns the request in a slot.
    #[inline]
    pub fn take(&mut self, slot: u32) -> Waiting {
        self.slots.remove(slot as usize)
    }
}
