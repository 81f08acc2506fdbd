//! A cache without contents: which keys would hit.

use super::{Directory, Policy, PolicySpec};

/// The requests of which [`Cache::access_all`] reads ahead: enough to keep the processor's
/// memory accesses busy, and few enough for its cache.
const AHEAD: usize = 32;
/// Reading ahead costs more than it saves below so many slots, which fit into the caches of
/// the processor.
const LARGE: u32 = 1 << 17;

/// Keys in slots under a policy, for hit ratios.
pub struct Cache {
    directory: Directory,
    policy: Box<dyn Policy>,
    /// By slot.
    keys: Vec<u64>,
    slots: u32,
    /// Slots that may be evicted next; the keys in them.
    next: (Vec<u32>, Vec<u64>),
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cache({} of {} slots)", self.len(), self.slots)
    }
}

impl Cache {
    /// Empty, with `slots` slots; with 0, every access misses.
    pub fn new(spec: &PolicySpec, slots: u32) -> Self {
        Self {
            // One more key while one takes the place of another.
            directory: Directory::with_capacity(slots as usize + 1),
            policy: spec.make(slots),
            keys: Vec::with_capacity(slots as usize),
            slots,
            next: (Vec::new(), Vec::new()),
        }
    }

    /// Requests `key`; returns whether it was a hit. The key is cached afterwards.
    #[inline]
    pub fn access(&mut self, key: u64) -> bool {
        let place = match self.directory.find(key) {
            Ok(slot) => {
                self.policy.touch(slot);
                return true;
            }
            Err(place) => place,
        };
        if self.len() < self.slots {
            let slot = self.len();
            self.keys.push(key);
            self.directory.fill(place, key, slot);
            self.policy.insert(slot, key);
        } else if let Some(slot) = self.policy.evict(key, &mut |_| true) {
            let evicted = std::mem::replace(&mut self.keys[slot as usize], key);
            self.directory.fill(place, key, slot);
            self.directory.remove(evicted);
            self.policy.insert(slot, key);
        }
        false
    }

    /// Requests `keys` in turn, as [`Cache::access`], and calls `each` with the index and
    /// whether it was a hit. Large caches are faster this way.
    #[inline]
    pub fn access_all(&mut self, keys: &[u64], mut each: impl FnMut(usize, bool)) {
        let mut index = 0;
        for keys in keys.chunks(AHEAD) {
            if self.slots >= LARGE {
                self.fetch(keys);
            }
            for key in keys {
                each(index, self.access(*key));
                index += 1;
            }
        }
    }

    /// Reads what requesting `keys` will read.
    #[inline]
    fn fetch(&mut self, keys: &[u64]) {
        self.directory.fetch(keys);
        let (mut hits, mut misses) = ([0; AHEAD], [0; AHEAD]);
        let (mut hit, mut missed) = (0, 0);
        for key in keys {
            let slot = self.directory.get(*key);
            hits[hit] = slot.unwrap_or(0);
            misses[missed] = *key;
            hit += usize::from(slot.is_some());
            missed += usize::from(slot.is_none());
        }
        let (slots, evicted) = &mut self.next;
        slots.clear();
        evicted.clear();
        self.policy.fetch(&hits[..hit], &misses[..missed], slots);
        if self.keys.len() == self.slots as usize {
            evicted.extend(slots.iter().map(|slot| self.keys[*slot as usize]));
            self.directory.fetch(evicted);
        }
    }

    /// Whether `key` is cached; does not count as an access.
    pub fn contains(&self, key: u64) -> bool {
        self.directory.get(key).is_some()
    }

    /// How many keys are cached.
    pub fn len(&self) -> u32 {
        self.keys.len() as u32
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many slots there are.
    pub fn slots(&self) -> u32 {
        self.slots
    }
}
