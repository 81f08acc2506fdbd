//! Items by id: requests under way.

use rustc_hash::FxBuildHasher;
use std::collections::{HashMap, VecDeque};

/// Items by ids in any order, such as those of host requests.
pub(crate) type HashById<T> = HashMap<u64, T, FxBuildHasher>;

/// Items whose ids are added in increasing order and removed in any order.
///
/// It behaves as a map sorted by id. Every access takes constant time, and memory is
/// proportional to the span from the oldest id to the newest.
pub(crate) struct ById<T> {
    /// The id of the first entry.
    first: u64,
    /// The first entry, if there is one, is not empty.
    items: VecDeque<Option<T>>,
}

impl<T> Default for ById<T> {
    fn default() -> Self {
        Self {
            first: 0,
            items: VecDeque::new(),
        }
    }
}

impl<T> ById<T> {
    /// Adds an item; `id` is above all ids added before.
    #[inline]
    pub(crate) fn insert(&mut self, id: u64, item: T) {
        if self.items.is_empty() {
            self.first = id;
        }
        debug_assert!(id >= self.first + self.items.len() as u64, "ids increase");
        while self.first + (self.items.len() as u64) < id {
            self.items.push_back(None);
        }
        self.items.push_back(Some(item));
    }

    #[inline]
    fn index(&self, id: u64) -> Option<usize> {
        Some(id.checked_sub(self.first)? as usize)
    }

    /// The item with this id.
    #[inline]
    pub(crate) fn get(&self, id: u64) -> Option<&T> {
        self.items.get(self.index(id)?)?.as_ref()
    }

    /// Removes the item with this id and returns it.
    #[inline]
    pub(crate) fn remove(&mut self, id: u64) -> Option<T> {
        let index = self.index(id)?;
        let item = self.items.get_mut(index)?.take();
        while let Some(None) = self.items.front() {
            self.items.pop_front();
            self.first += 1;
        }
        item
    }

    /// The items, in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let items = (self.first..).zip(&self.items);
        items.filter_map(|(id, item)| Some((id, item.as_ref()?)))
    }

    /// Removes all items.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::ById;
    use sledsim_base::random::Stream;
    use std::collections::BTreeMap;

    /// Random insertions and removals, also of ids that are absent, beside a map.
    #[test]
    fn equals_a_map() {
        let mut random = Stream::new(1, "by id");
        let (mut items, mut map) = (ById::default(), BTreeMap::new());
        let mut id = 0;
        for step in 0..20_000 {
            if random.chance(0.5) {
                id += 1 + random.below(3) * random.below(2);
                items.insert(id, step);
                map.insert(id, step);
            }
            let other = id.saturating_sub(random.below(12));
            assert_eq!(items.get(other), map.get(&other));
            assert_eq!(items.remove(other), map.remove(&other));
            if random.chance(0.001) {
                items.clear();
                map.clear();
            }
            if step % 64 == 0 {
                let all: Vec<_> = map.iter().map(|(id, item)| (*id, item)).collect();
                assert_eq!(items.iter().collect::<Vec<_>>(), all);
            }
        }
    }
}
