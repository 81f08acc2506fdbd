//! Ghost lists: evicted keys that are remembered.

use super::Directory;
use super::lists::Lists;
use smallvec::SmallVec;

/// `N` lists of keys in the order of insertion, each key in at most one;
/// together they have a fixed capacity.
#[derive(Debug)]
pub(super) struct Ghosts<const N: usize> {
    lists: Lists<N>,
    directory: Directory,
    /// By number.
    keys: Vec<u64>,
    /// Unused numbers.
    free: Vec<u32>,
}

impl<const N: usize> Ghosts<N> {
    /// Empty lists with room for `most` keys.
    pub fn new(most: u32) -> Self {
        Self {
            lists: Lists::new(most),
            directory: Directory::with_capacity(most as usize),
            keys: vec![0; most as usize],
            free: (0..most).rev().collect(),
        }
    }

    /// How many are in `list`.
    pub fn len(&self, list: usize) -> u32 {
        self.lists.len(list)
    }

    /// Whether there is room for no more.
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Reads what looking up `keys`, and then forgetting the oldest of each list, reads
    /// first, for all at the same time.
    pub fn fetch(&self, keys: &[u64]) {
        self.directory.fetch(keys);
        for list in 0..N {
            let oldest = self.lists.iter(list).take(keys.len());
            let key = |number: u32| self.keys[number as usize];
            let keys: SmallVec<[u64; 32]> = oldest.map(key).collect();
            self.directory.fetch(&keys);
        }
    }

    /// The list that `key` is in.
    pub fn list_of(&self, key: u64) -> Option<usize> {
        let number = self.directory.get(key)?;
        Some(self.lists.list_of(number))
    }

    /// Forgets `key`; the list that it was in.
    pub fn forget(&mut self, key: u64) -> Option<usize> {
        let number = self.directory.remove(key)?;
        let list = self.lists.list_of(number);
        self.lists.take(number);
        self.free.push(number);
        Some(list)
    }

    /// Forgets the oldest in `list`, if there is any.
    pub fn forget_oldest(&mut self, list: usize) -> Option<u64> {
        let oldest = self.lists.oldest(list)?;
        let key = self.keys[oldest as usize];
        self.forget(key);
        Some(key)
    }

    /// Adds `key`, which is in no list, to `list`; does nothing if there is no
    /// room.
    pub fn remember(&mut self, list: usize, key: u64) {
        let Some(number) = self.free.pop() else {
            return;
        };
        self.keys[number as usize] = key;
        self.directory.insert(key, number);
        self.lists.push(list, number);
    }
}
