//! Which slot a key is in.

use rustc_hash::FxBuildHasher;
use std::collections::HashMap;

/// Slots by key, with a fixed capacity.
#[derive(Debug)]
pub struct Directory(HashMap<u64, u32, FxBuildHasher>);

impl Directory {
    /// Empty, for at most `entries`.
    #[must_use]
    pub fn with_capacity(entries: usize) -> Self {
        // With twice the capacity it rehashes in place and never grows.
        Self(HashMap::with_capacity_and_hasher(
            2 * entries,
            FxBuildHasher,
        ))
    }

    /// The slot that `key` is in.
    #[inline]
    #[must_use]
    pub fn get(&self, key: u64) -> Option<u32> {
        self.0.get(&key).copied()
    }

    /// Puts `key` into `slot`; returns the slot it was in.
    #[inline]
    pub fn insert(&mut self, key: u64, slot: u32) -> Option<u32> {
        self.0.insert(key, slot)
    }

    /// Forgets `key`; returns the slot it was in.
    #[inline]
    pub fn remove(&mut self, key: u64) -> Option<u32> {
        self.0.remove(&key)
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
