//! Least recently used: evicts the slot whose last use is longest ago.

use super::lists::Lists;
use super::{Policy, PolicyEntry, PolicySpec};

/// Slots in the order of their last use.
#[derive(Debug)]
pub struct Lru(Lists<1>);

impl Lru {
    /// For a cache of `slots` empty slots.
    #[must_use]
    pub fn new(slots: u32) -> Self {
        Self(Lists::new(slots))
    }
}

/// Its registration.
pub(super) const ENTRY: PolicyEntry = PolicyEntry {
    name: "lru",
    read: |_| Ok(spec()),
};

/// The policy, which has no keys.
pub(super) fn spec() -> PolicySpec {
    PolicySpec::new(ENTRY.name, &[], |slots| Box::new(Lru::new(slots)))
}

impl Policy for Lru {
    fn insert(&mut self, slot: u32, _key: u64) {
        self.0.push(0, slot);
    }

    fn touch(&mut self, slot: u32) {
        self.0.renew(0, slot);
    }

    fn evict(&mut self, _key: u64, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        let slot = self.0.iter(0).find(|slot| evictable(*slot))?;
        self.0.take(slot);
        Some(slot)
    }

    fn fetch(&self, hits: &[u32], misses: &[u64], next: &mut Vec<u32>) {
        self.0.fetch(hits);
        self.0.add_oldest(0, misses.len(), next);
    }

    fn remove(&mut self, slot: u32) {
        self.0.take(slot);
    }
}
