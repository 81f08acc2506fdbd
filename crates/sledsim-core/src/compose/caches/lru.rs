//! Least recently used: evicts the slot whose last use is longest ago.

use super::lists::Lists;
use super::{Policy, PolicyEntry, PolicySpec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The list of the slots in the order of their last use, and of those set aside: they
/// were not evictable when their turn came.
const IN_ORDER: usize = 0;
const SET_ASIDE: usize = 1;

/// Slots in the order of their last use.
///
/// All slots set aside were used before all others, so that a search for an evictable
/// slot passes each of them once, not at every eviction.
#[derive(Debug)]
pub struct Lru {
    lists: Lists<2>,
    /// When a slot was set aside, by slot: the order of these numbers is that of use.
    numbers: Vec<u64>,
    next_number: u64,
    /// Slots set aside that may be evictable again, by their numbers. An entry is void
    /// if the slot has another number now, or is not set aside.
    again: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Lru {
    /// For a cache of `slots` empty slots.
    pub fn new(slots: u32) -> Self {
        Self {
            lists: Lists::new(slots),
            numbers: vec![0; slots as usize],
            next_number: 0,
            again: BinaryHeap::new(),
        }
    }

    /// The evictable slot used longest ago.
    fn find(&mut self, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        while let Some(Reverse((number, slot))) = self.again.pop() {
            let is_aside = self.lists.list_of(slot) == SET_ASIDE;
            if is_aside && self.numbers[slot as usize] == number && evictable(slot) {
                return Some(slot);
            }
        }
        while let Some(slot) = self.lists.oldest(IN_ORDER) {
            if evictable(slot) {
                return Some(slot);
            }
            self.lists.renew(SET_ASIDE, slot);
            self.numbers[slot as usize] = self.next_number;
            self.next_number += 1;
        }
        None
    }
}

/// Its registration.
pub(super) const ENTRY: PolicyEntry =
    PolicyEntry { name: "lru", read: |_| Ok(PolicySpec::default()) };

impl Default for PolicySpec {
    /// This policy, which has no keys.
    fn default() -> Self {
        Self::new(ENTRY.name, &[], |slots| Box::new(Lru::new(slots)))
    }
}

impl Policy for Lru {
    fn insert(&mut self, slot: u32, _key: u64) {
        self.lists.push(IN_ORDER, slot);
    }

    fn touch(&mut self, slot: u32) {
        self.lists.renew(IN_ORDER, slot);
    }

    fn evict(&mut self, _key: u64, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        let slot = self.find(evictable)?;
        self.lists.take(slot);
        Some(slot)
    }

    fn idle_again(&mut self, slot: u32) {
        if self.lists.list_of(slot) == SET_ASIDE {
            self.again.push(Reverse((self.numbers[slot as usize], slot)));
        }
    }

    fn fetch(&self, hits: &[u32], misses: &[u64], next: &mut Vec<u32>) {
        self.lists.fetch(hits);
        self.lists.add_oldest(IN_ORDER, misses.len(), next);
    }

    fn remove(&mut self, slot: u32) {
        self.lists.take(slot);
    }
}
