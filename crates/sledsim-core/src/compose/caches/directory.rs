//! Which slot a key is in.

/// The place of a key.
type Entry = (u64, u32);

/// An unused entry. Entries store their slot plus one, so that a new table is all zeros,
/// which the system hands out without writing them.
const UNUSED: Entry = (0, 0);

/// Slots by key, with a fixed capacity.
///
/// A table with open addressing: a key is at its home, or after it without an unused
/// entry in between. At most three quarters of the entries are in use, and with no more
/// keys than the capacity half of them. A lookup reads one cache line in most cases.
#[derive(Debug)]
pub struct Directory {
    /// A power of two of them.
    entries: Vec<Entry>,
    /// The shift that leaves as many upper bits as the number of an entry has.
    shift: u32,
    len: usize,
}

impl Directory {
    /// Empty, for at most `entries`.
    pub fn with_capacity(entries: usize) -> Self {
        let entries = vec![UNUSED; (2 * entries).next_power_of_two().max(4)];
        Self { shift: 64 - entries.len().ilog2(), entries, len: 0 }
    }

    /// The slot that `key` is in.
    #[inline]
    pub fn get(&self, key: u64) -> Option<u32> {
        self.entries[self.place(key)].1.checked_sub(1)
    }

    /// Puts `key` into `slot`, which is below `u32::MAX`; returns the slot it was in.
    #[inline]
    pub fn insert(&mut self, key: u64, slot: u32) -> Option<u32> {
        if self.is_full() {
            self.grow();
        }
        let place = self.place(key);
        let before = self.entries[place].1.checked_sub(1);
        self.len += usize::from(before.is_none());
        self.entries[place] = (key, slot + 1);
        before
    }

    /// Whether it has to grow before another key.
    #[inline]
    fn is_full(&self) -> bool {
        4 * self.len >= 3 * self.entries.len()
    }

    /// The slot of `key`, or the place for [`Directory::fill`], which no change may precede.
    #[inline]
    pub(in crate::compose) fn find(&self, key: u64) -> Result<u32, usize> {
        let place = self.place(key);
        self.entries[place].1.checked_sub(1).ok_or(place)
    }

    /// Puts `key` into `slot`, at the place where it was not found.
    #[inline]
    pub(in crate::compose) fn fill(&mut self, place: usize, key: u64, slot: u32) {
        if self.is_full() {
            self.insert(key, slot);
            return;
        }
        self.entries[place] = (key, slot + 1);
        self.len += 1;
    }

    /// Forgets `key`; returns the slot it was in.
    #[inline]
    pub fn remove(&mut self, key: u64) -> Option<u32> {
        let mut hole = self.place(key);
        let slot = self.entries[hole].1.checked_sub(1)?;
        self.len -= 1;
        let mut place = hole;
        loop {
            place = self.after(place);
            let entry = self.entries[place];
            if entry.1 == 0 {
                break;
            }
            // Moves into the hole unless its home is after the hole.
            let mask = self.entries.len() - 1;
            let from_home = place.wrapping_sub(self.home(entry.0)) & mask;
            if from_home >= place.wrapping_sub(hole) & mask {
                self.entries[hole] = entry;
                hole = place;
            }
        }
        self.entries[hole] = UNUSED;
        Some(slot)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads what looking up `keys` reads first. The processor waits for all of it at the
    /// same time, and the lookups that follow find it in its cache.
    #[inline]
    pub(super) fn fetch(&self, keys: &[u64]) {
        let read = keys.iter().fold(0, |read, key| {
            read ^ self.entries[self.home(*key)].1 // no branch that depends on it
        });
        std::hint::black_box(read);
    }

    /// The entry of `key`, or the unused one where it would be.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let mut place = self.home(key);
        loop {
            let entry = self.entries[place];
            if entry.1 == 0 || entry.0 == key {
                return place;
            }
            place = self.after(place);
        }
    }

    #[inline]
    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.entries.len() - 1)
    }

    /// Where the search for `key` begins.
    #[inline]
    fn home(&self, key: u64) -> usize {
        // Fibonacci hashing, which spreads neighbouring keys evenly.
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// Doubles the table.
    #[cold]
    fn grow(&mut self) {
        let mut grown = Self::with_capacity(self.entries.len());
        for (key, slot) in &self.entries {
            if let Some(slot) = slot.checked_sub(1) {
                grown.insert(*key, slot);
            }
        }
        *self = grown;
    }
}

#[cfg(test)]
mod tests {
    use super::Directory;
    use sledsim_base::random::Stream;
    use std::collections::BTreeMap;

    /// Random insertions and removals beside a map, up to more keys than the capacity. An
    /// entry stays unused, which ends every search.
    #[test]
    fn equals_a_map() {
        let mut random = Stream::new(1, "directory");
        for capacity in [0, 1, 2, 3, 5, 8, 40, 64] {
            let mut directory = Directory::with_capacity(capacity);
            let mut map = BTreeMap::new();
            for slot in 0..4000 {
                let most = 1 + 2 * capacity as u64;
                let key = random.below(2 * most) << [0, 2, 20, 40][random.below(4) as usize];
                match directory.find(key) {
                    Err(place) if (map.len() as u64) < most && random.chance(0.5) => {
                        directory.fill(place, key, slot);
                        assert_eq!(map.insert(key, slot), None);
                    }
                    Ok(_) if random.chance(0.5) => {
                        assert_eq!(directory.insert(key, slot), map.insert(key, slot));
                    }
                    _ => assert_eq!(directory.remove(key), map.remove(&key)),
                }
                assert!(directory.entries.iter().any(|entry| entry.1 == 0));
                assert_eq!(directory.len(), map.len());
                let other = random.below(2 * most);
                assert_eq!(directory.get(other), map.get(&other).copied());
            }
        }
    }
}
