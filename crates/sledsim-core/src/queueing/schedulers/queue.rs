//! The requests that a scheduler holds: found by slot, in no order.

use super::Waiting;
use slab::Slab;

/// Requests by slot. A slot is used again when its request has left, so that
/// nothing is allocated once the queue has had its greatest length.
#[derive(Debug, Default)]
pub(super) struct Queue {
    slots: Slab<Slot>,
    /// How many were ever pushed.
    pushed: u64,
}

/// A request, and its place in the order of pushing.
#[derive(Debug)]
struct Slot {
    waiting: Waiting,
    sequence: u64,
}

impl Queue {
    /// Takes a request; its slot.
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

    /// How many were pushed before it.
    pub fn sequence(&self, slot: u32) -> u64 {
        self.slots[slot as usize].sequence
    }

    /// Lets the request in a slot go.
    pub fn take(&mut self, slot: u32) -> Waiting {
        self.slots.remove(slot as usize).waiting
    }
}
