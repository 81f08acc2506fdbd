//! Which slot a key is in.

/// The place of a key.
type Entry = (u64, u32);

/// An unused entry. Entries store their slot plus one, so that a new table is all zeros,
/// which the system hands out without writing them.
const UNUSED: Entry = (0, 0);

/// Slots by key, with a fixed capacity.
///
/// A table with open addressing: a key is at its home, or after it without an unused
/// entry in between. At most half of the entries are in use. A lookup reads one cache
/// line in most cases.
#[derive(Debug)]
pub struct Directory {
    /// A power of two of them.
    entries: Vec<Entry>,
    len: usize,
}

impl Directory {
    /// Empty, for at most `entries`.
    #[must_use]
    pub fn with_capacity(entries: usize) -> Self {
        let entries = vec![UNUSED; (2 * entries).next_power_of_two().max(2)];
        Self { entries, len: 0 }
    }

    /// The slot that `key` is in.
    #[inline]
    #[must_use]
    pub fn get(&self, key: u64) -> Option<u32> {
        self.entries[self.place(key)].1.checked_sub(1)
    }

    /// Puts `key` into `slot`, which is below `u32::MAX`; returns the slot it was in.
    #[inline]
    pub fn insert(&mut self, key: u64, slot: u32) -> Option<u32> {
        if 2 * self.len >= self.entries.len() {
            self.grow();
        }
        let place = self.place(key);
        let before = self.entries[place].1.checked_sub(1);
        self.len += usize::from(before.is_none());
        self.entries[place] = (key, slot + 1);
        before
    }

    /// The slot of `key`, or the place for [`Directory::fill`], which no change may precede.
    #[inline]
    pub(super) fn find(&self, key: u64) -> Result<u32, usize> {
        let place = self.place(key);
        self.entries[place].1.checked_sub(1).ok_or(place)
    }

    /// Puts `key` into `slot`, at the place where it was not found; the caller ensures that
    /// there are fewer keys than the capacity.
    #[inline]
    pub(super) fn fill(&mut self, place: usize, key: u64, slot: u32) {
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
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
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

    /// Where the search for `key` begins: its bits, mixed.
    #[inline]
    fn home(&self, key: u64) -> usize {
        let mixed = (key ^ key >> 32).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 32) as usize & (self.entries.len() - 1)
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
