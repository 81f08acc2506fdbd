//! A cache without contents: which keys would hit.

use super::{Directory, Policy, PolicySpec};

/// Keys in slots under a policy, for hit ratios.
pub struct Cache {
    directory: Directory,
    policy: Box<dyn Policy>,
    /// By slot.
    keys: Vec<u64>,
    slots: u32,
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cache({} of {} slots)", self.len(), self.slots)
    }
}

impl Cache {
    /// Empty, with `slots` slots; with 0, every access misses.
    #[must_use]
    pub fn new(spec: &PolicySpec, slots: u32) -> Self {
        Self {
            directory: Directory::with_capacity(slots as usize),
            policy: spec.make(slots),
            keys: Vec::with_capacity(slots as usize),
            slots,
        }
    }

    /// Requests `key`; returns whether it was a hit. The key is cached afterwards.
    #[inline]
    pub fn access(&mut self, key: u64) -> bool {
        if let Some(slot) = self.directory.get(key) {
            self.policy.touch(slot);
            return true;
        }
        let slot = if self.len() < self.slots {
            self.keys.push(key);
            self.len() - 1
        } else {
            let Some(slot) = self.policy.evict(key, &mut |_| true) else {
                return false;
            };
            let evicted = std::mem::replace(&mut self.keys[slot as usize], key);
            self.directory.remove(evicted);
            slot
        };
        self.directory.insert(key, slot);
        self.policy.insert(slot, key);
        false
    }

    /// Whether `key` is cached; does not count as an access.
    #[must_use]
    pub fn contains(&self, key: u64) -> bool {
        self.directory.get(key).is_some()
    }

    /// How many keys are cached.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.keys.len() as u32
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many slots there are.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.slots
    }
}
