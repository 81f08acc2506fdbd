//! Adaptive replacement cache (Megiddo, Modha, FAST 2003, Figure 4).
//!
//! T1 holds keys requested once recently, T2 keys requested again, both in the
//! order of last use; B1 and B2 hold the keys evicted from them. A miss of a
//! key in B1 means that T1 is too small, and its target size p grows; a miss in
//! B2 makes p shrink. p is a real number, as published.
//!
//! Busy slots are skipped in the order in which repeated replacements with the
//! same p would evict. The paper assumes that all slots are in use; here, a
//! miss that finds an empty slot adapts p and trims the lists like any other,
//! and evicts nothing.

use super::ghosts::Ghosts;
use super::lists::Lists;
use super::{Policy, PolicyEntry, PolicySpec};

/// Index of T1 and of B1.
const ONCE: usize = 0;
/// Index of T2 and of B2.
const AGAIN: usize = 1;

/// T1 and T2, with the keys of B1 and B2.
#[derive(Debug)]
pub struct AdaptiveReplacement {
    /// How many slots there are: c.
    slots: u32,
    /// The target for T1: p.
    target: f64,
    lists: Lists<2>,
    /// By slot.
    keys: Vec<u64>,
    ghosts: Ghosts<2>,
    /// The key of B1 or B2 for which a slot was evicted last.
    returning: Option<u64>,
}

impl AdaptiveReplacement {
    /// For a cache of `slots` empty slots.
    pub fn new(slots: u32) -> Self {
        Self {
            slots,
            target: 0.0,
            lists: Lists::new(slots),
            keys: vec![0; slots as usize],
            ghosts: Ghosts::new(slots),
            returning: None,
        }
    }

    /// The target after a miss of a key that is in the list `ghost`.
    fn adapted(&self, ghost: Option<usize>) -> f64 {
        let [once, again] = [ONCE, AGAIN].map(|list| f64::from(self.ghosts.len(list)));
        match ghost {
            None => self.target,
            Some(ONCE) => f64::min(self.target + f64::max(again / once, 1.0), self.slots.into()),
            Some(_) => f64::max(self.target - f64::max(once / again, 1.0), 0.0),
        }
    }

    /// Makes room for one more in T1 and B1, which together hold at most c.
    fn trim(&mut self) {
        if self.lists.len(ONCE) + self.ghosts.len(ONCE) >= self.slots {
            self.ghosts.forget_oldest(ONCE);
        }
    }
}

/// Its registration.
pub(super) const ENTRY: PolicyEntry = PolicyEntry {
    name: "arc",
    read: |_| {
        Ok(PolicySpec::new(ENTRY.name, &[], |slots| Box::new(AdaptiveReplacement::new(slots))))
    },
};

impl Policy for AdaptiveReplacement {
    fn insert(&mut self, slot: u32, key: u64) {
        let returns = if self.returning == Some(key) {
            self.returning = None;
            true
        } else {
            self.target = self.adapted(self.ghosts.list_of(key));
            self.ghosts.forget(key).is_some()
        };
        if !returns {
            self.trim();
        }
        self.keys[slot as usize] = key;
        self.lists.push(if returns { AGAIN } else { ONCE }, slot);
    }

    fn touch(&mut self, slot: u32) {
        self.lists.renew(AGAIN, slot);
    }

    fn evict(&mut self, key: u64, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        let ghost = self.ghosts.list_of(key);
        let target = self.adapted(ghost);
        let mut left = f64::from(self.lists.len(ONCE));
        let mut next = [self.lists.oldest(ONCE), self.lists.oldest(AGAIN)];
        let (list, slot) = loop {
            let first = left > target || (ghost == Some(AGAIN) && left == target);
            let list = match next {
                [None, None] => return None,
                [Some(_), None] => ONCE,
                [None, Some(_)] => AGAIN,
                [Some(_), Some(_)] => usize::from(!first),
            };
            let slot = next[list]?;
            if evictable(slot) {
                break (list, slot);
            }
            next[list] = self.lists.newer(slot);
            left -= f64::from(u32::from(list == ONCE));
        };
        // If T1 holds all slots, the evicted key is not remembered.
        let all_once = ghost.is_none() && self.lists.len(ONCE) == self.slots;
        self.target = target;
        if self.ghosts.forget(key).is_some() {
            self.returning = Some(key);
        } else {
            self.trim();
        }
        self.lists.take(slot);
        if !all_once {
            // All four lists hold 2c, as all slots are in use.
            if self.ghosts.is_full() && self.ghosts.forget_oldest(AGAIN).is_none() {
                self.ghosts.forget_oldest(ONCE);
            }
            self.ghosts.remember(list, self.keys[slot as usize]);
        }
        Some(slot)
    }

    fn fetch(&self, hits: &[u32], misses: &[u64], next: &mut Vec<u32>) {
        self.lists.fetch(hits);
        for list in [ONCE, AGAIN] {
            self.lists.add_oldest(list, misses.len() / 2, next);
        }
        self.ghosts.fetch(misses);
    }

    fn remove(&mut self, slot: u32) {
        self.lists.take(slot);
    }
}
