//! Segmented LRU: what was asked for twice is protected from what was not
//! (Karedla, Love, Wherry, IEEE Computer 27(3), 1994).
//!
//! A key that was missed is probationary. On a hit it becomes the newest of the
//! protected ones; if these are more than their share of the slots, the least
//! recently used of them becomes the newest probationary one. Probationary
//! slots are given up first, each kind in the order of last use.

use super::Policy;
use super::lists::Lists;

const PROBATIONARY: usize = 0;
const PROTECTED: usize = 1;

/// Two lists in the order of last use.
#[derive(Debug)]
pub struct Slru {
    lists: Lists<2>,
    most_protected: u32,
}

impl Slru {
    /// For a cache of `slots` empty slots, of which the share `protected`,
    /// rounded down, may be protected.
    #[must_use]
    pub fn new(slots: u32, protected: f64) -> Self {
        Self {
            lists: Lists::new(slots),
            most_protected: (f64::from(slots) * protected) as u32,
        }
    }
}

impl Policy for Slru {
    fn insert(&mut self, slot: u32, _key: u64) {
        self.lists.push(PROBATIONARY, slot);
    }

    fn touch(&mut self, slot: u32) {
        self.lists.renew(PROTECTED, slot);
        if self.lists.len(PROTECTED) > self.most_protected
            && let Some(oldest) = self.lists.oldest(PROTECTED)
        {
            self.lists.renew(PROBATIONARY, oldest);
        }
    }

    fn evict(&mut self, _key: u64, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        let order = self.lists.iter(PROBATIONARY);
        let slot = order
            .chain(self.lists.iter(PROTECTED))
            .find(|slot| evictable(*slot))?;
        self.lists.take(slot);
        Some(slot)
    }

    fn remove(&mut self, slot: u32) {
        self.lists.take(slot);
    }
}
