//! Which child stands in which slot, and what it holds there.

use std::collections::VecDeque;

/// The slots of an array, its spares, and who has failed.
pub(crate) struct Members {
    slots: Vec<Slot>,
    spares: VecDeque<usize>,
    /// Slots without a child, in the order in which they lost theirs.
    empty: VecDeque<usize>,
    failed: Vec<bool>,
    /// Requests that each child has.
    loads: Vec<u32>,
    /// Whether every slot holds everything.
    whole: bool,
}

struct Slot {
    child: Option<usize>,
    /// The addresses it holds end here.
    valid: u64,
}

impl Members {
    /// So many slots with a child each, and so many spares after them.
    pub(crate) fn new(slots: usize, spares: usize) -> Self {
        let slot = |child| Slot {
            child: Some(child),
            valid: u64::MAX,
        };
        Self {
            slots: (0..slots).map(slot).collect(),
            spares: (slots..slots + spares).collect(),
            empty: VecDeque::new(),
            failed: vec![false; slots + spares],
            loads: vec![0; slots + spares],
            whole: true,
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

    /// Whether a slot holds what belongs at an address.
    pub(crate) fn has(&self, slot: usize, address: u64) -> bool {
        address < self.valid(slot)
    }

    /// Where the addresses end that a slot holds.
    pub(crate) fn valid(&self, slot: usize) -> u64 {
        self.slots[slot].valid
    }

    /// The slots that do not hold what belongs at an address, one bit each.
    pub(crate) fn missing(&self, address: u64) -> u64 {
        if self.whole {
            return 0;
        }
        let missing = |slot: &usize| !self.has(*slot, address);
        (0..self.slots.len())
            .filter(missing)
            .fold(0, |mask, slot| mask | 1 << slot)
    }

    /// Whether a child has failed.
    pub(crate) fn has_failed(&self, child: usize) -> bool {
        self.failed[child]
    }

    /// How many children have failed.
    pub(crate) fn failures(&self) -> u64 {
        self.failed.iter().filter(|failed| **failed).count() as u64
    }

    /// A child fails, a spare perhaps.
    pub(crate) fn fail(&mut self, child: usize) {
        self.failed[child] = true;
        self.spares.retain(|spare| *spare != child);
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if slot.child == Some(child) {
                *slot = Slot {
                    child: None,
                    valid: 0,
                };
                self.empty.push_back(index);
                self.whole = false;
            }
        }
    }

    /// Puts a spare in the slot that was lost first: which, and where.
    pub(crate) fn replace(&mut self) -> Option<(usize, usize)> {
        if self.empty.is_empty() || self.spares.is_empty() {
            return None;
        }
        let (slot, child) = (self.empty.pop_front()?, self.spares.pop_front()?);
        self.slots[slot].child = Some(child);
        Some((slot, child))
    }

    /// A slot holds what belongs below an address; everything, at `u64::MAX`.
    pub(crate) fn rebuilt(&mut self, slot: usize, to: u64) {
        self.slots[slot].valid = to;
        self.whole = self.slots.iter().all(|slot| slot.valid == u64::MAX);
    }

    /// Requests that a child has.
    pub(crate) fn load(&self, child: usize) -> u32 {
        self.loads[child]
    }

    /// A child was given a request.
    pub(crate) fn gave(&mut self, child: usize) {
        self.loads[child] += 1;
    }

    /// A child has a request no more.
    pub(crate) fn got(&mut self, child: usize) {
        self.loads[child] -= 1;
    }

    /// No child has a request any more.
    pub(crate) fn forget(&mut self) {
        self.loads.fill(0);
    }

    /// Addresses below `end` by the slots that are missing there.
    pub(crate) fn ranges(&self, end: u64) -> impl Iterator<Item = (u64, u64, u64)> {
        let mut cuts: Vec<u64> = self.slots.iter().map(|slot| slot.valid.min(end)).collect();
        cuts.extend([0, end]);
        cuts.sort_unstable();
        cuts.dedup();
        let ranges: Vec<_> = (cuts.windows(2))
            .map(|cut| (cut[0], cut[1], self.missing(cut[0])))
            .collect();
        ranges.into_iter()
    }
}
