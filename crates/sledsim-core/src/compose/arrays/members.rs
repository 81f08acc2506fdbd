//! The child in each slot, and the addresses valid there.

use std::collections::VecDeque;

/// The slots of an array, its spares and failed children.
pub(crate) struct Members {
    slots: Vec<Slot>,
    spares: VecDeque<usize>,
    /// Slots without a child, in the order in which their children failed.
    empty: VecDeque<usize>,
    failed: Vec<bool>,
    /// Outstanding requests of each child.
    loads: Vec<u32>,
    /// Whether all addresses of all slots are valid.
    complete: bool,
}

struct Slot {
    child: Option<usize>,
    /// One past its last valid address.
    valid: u64,
}

impl Members {
    /// `slots` slots with a child each, and `spares` spares after them.
    pub(crate) fn new(slots: usize, spares: usize) -> Self {
        let slot = |child| Slot { child: Some(child), valid: u64::MAX };
        Self {
            slots: (0..slots).map(slot).collect(),
            spares: (slots..slots + spares).collect(),
            empty: VecDeque::new(),
            failed: vec![false; slots + spares],
            loads: vec![0; slots + spares],
            complete: true,
        }
    }

    /// How many slots there are.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The child in a slot.
    pub(crate) fn child(&self, slot: usize) -> Option<usize> {
        self.slots[slot].child
    }

    /// Whether an address of a slot is valid.
    pub(crate) fn is_valid(&self, slot: usize, address: u64) -> bool {
        address < self.valid(slot)
    }

    /// One past the last valid address of a slot.
    pub(crate) fn valid(&self, slot: usize) -> u64 {
        self.slots[slot].valid
    }

    /// The slots where an address is not valid, one bit each.
    pub(crate) fn missing(&self, address: u64) -> u64 {
        if self.complete {
            return 0;
        }
        let missing = |slot: &usize| !self.is_valid(*slot, address);
        (0..self.slots.len()).filter(missing).fold(0, |mask, slot| mask | 1 << slot)
    }

    /// Whether a child has failed.
    pub(crate) fn has_failed(&self, child: usize) -> bool {
        self.failed[child]
    }

    /// How many children have failed.
    pub(crate) fn failures(&self) -> u64 {
        self.failed.iter().filter(|failed| **failed).count() as u64
    }

    /// Marks a child, which may be a spare, as failed.
    pub(crate) fn fail(&mut self, child: usize) {
        self.failed[child] = true;
        self.spares.retain(|spare| *spare != child);
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if slot.child == Some(child) {
                *slot = Slot { child: None, valid: 0 };
                self.empty.push_back(index);
                self.complete = false;
            }
        }
    }

    /// Puts a spare in the slot that failed first; returns the slot and the child.
    pub(crate) fn replace(&mut self) -> Option<(usize, usize)> {
        if self.empty.is_empty() || self.spares.is_empty() {
            return None;
        }
        let (slot, child) = (self.empty.pop_front()?, self.spares.pop_front()?);
        self.slots[slot].child = Some(child);
        Some((slot, child))
    }

    /// Marks the addresses of a slot below `to` as valid; all of them with
    /// `u64::MAX`.
    pub(crate) fn rebuilt(&mut self, slot: usize, to: u64) {
        self.slots[slot].valid = to;
        self.complete = self.slots.iter().all(|slot| slot.valid == u64::MAX);
    }

    /// Outstanding requests of a child.
    pub(crate) fn load(&self, child: usize) -> u32 {
        self.loads[child]
    }

    /// Counts a request sent to a child.
    pub(crate) fn add_load(&mut self, child: usize) {
        self.loads[child] += 1;
    }

    /// Counts a request that a child completed or lost.
    pub(crate) fn remove_load(&mut self, child: usize) {
        self.loads[child] -= 1;
    }

    /// Sets all loads to 0.
    pub(crate) fn clear_loads(&mut self) {
        self.loads.fill(0);
    }

    /// Ranges of addresses below `end`, each with its mask of missing slots.
    pub(crate) fn ranges(&self, end: u64) -> impl Iterator<Item = (u64, u64, u64)> {
        let mut cuts: Vec<u64> = self.slots.iter().map(|slot| slot.valid.min(end)).collect();
        cuts.extend([0, end]);
        cuts.sort_unstable();
        cuts.dedup();
        let ranges: Vec<_> =
            (cuts.windows(2)).map(|cut| (cut[0], cut[1], self.missing(cut[0]))).collect();
        ranges.into_iter()
    }
}
