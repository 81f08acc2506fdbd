//! Items by id: requests under way.

use rustc_hash::FxBuildHasher;
use sledsim_base::request::OWN_WORK;
use std::collections::HashMap;

/// What the completion of a request relies on.
pub(crate) const UNDER_WAY: &str = "what completes is under way";

/// Items by ids in any order, such as those of host requests.
pub(crate) type HashById<T> = HashMap<u64, T, FxBuildHasher>;

/// Items whose ids are added in increasing order and removed in any order. The mark of
/// [`OWN_WORK`] is no part of the key.
///
/// It behaves as a map sorted by id. Every access takes constant time, and memory is
/// proportional to the span from the oldest id to the newest.
pub(crate) struct ById<T> {
    /// All ids are from `first` on and below `next`.
    first: u64,
    next: u64,
    /// A power of two of places, or none; an id is at its remainder.
    items: Vec<Option<T>>,
}

impl<T> Default for ById<T> {
    fn default() -> Self {
        Self { first: 0, next: 0, items: Vec::new() }
    }
}

impl<T> ById<T> {
    /// The place of an id.
    #[inline]
    fn place(&self, id: u64) -> usize {
        id as usize & self.items.len().wrapping_sub(1)
    }

    /// The place of an id, if it is between the first and the last.
    #[inline]
    fn place_of(&self, id: u64) -> Option<usize> {
        let id = id & !OWN_WORK;
        (self.first <= id && id < self.next).then(|| self.place(id))
    }

    /// Adds an item; `id` is above all ids added before.
    #[inline]
    pub(crate) fn insert(&mut self, id: u64, item: T) {
        let id = id & !OWN_WORK;
        debug_assert!(id >= self.next, "ids increase");
        if self.first == self.next {
            self.first = id;
        }
        while id - self.first >= self.items.len() as u64 {
            self.grow();
        }
        self.next = id + 1;
        let place = self.place(id);
        self.items[place] = Some(item);
    }

    /// Doubles the number of places.
    #[cold]
    fn grow(&mut self) {
        let mut grown = Self::default();
        grown.items.resize_with((2 * self.items.len()).max(8), || None);
        for id in self.first..self.next {
            let (from, to) = (self.place(id), grown.place(id));
            if let Some(item) = self.items.get_mut(from) {
                grown.items[to] = item.take();
            }
        }
        self.items = grown.items;
    }

    /// The item with this id.
    #[inline]
    pub(crate) fn get(&self, id: u64) -> Option<&T> {
        self.items.get(self.place_of(id)?)?.as_ref()
    }

    /// Removes the item with this id and returns it.
    #[inline]
    pub(crate) fn remove(&mut self, id: u64) -> Option<T> {
        let place = self.place_of(id)?;
        let item = self.items.get_mut(place)?.take();
        while self.first < self.next && self.items[self.place(self.first)].is_none() {
            self.first += 1;
        }
        item
    }

    /// The items, in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        (self.first..self.next).filter_map(|id| Some((id, self.get(id)?)))
    }

    /// Removes all items.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.first = self.next;
    }
}

#[cfg(test)]
mod tests {
    use super::ById;
    use sledsim_base::random::Stream;
    use sledsim_base::request::OWN_WORK;
    use std::collections::BTreeMap;

    /// Random insertions and removals, also of ids that are absent, beside a map. The mark
    /// of own work makes no difference.
    #[test]
    fn equals_a_map() {
        let mut random = Stream::new(1, "by id");
        let (mut items, mut map) = (ById::default(), BTreeMap::new());
        let mut id = 0;
        for step in 0..20_000 {
            if random.chance(0.5) {
                id += 1 + random.below(3) * random.below(2);
                items.insert(id | (OWN_WORK * random.below(2)), step);
                map.insert(id, step);
            }
            let other = id.saturating_sub(random.below(12));
            let marked = other | (OWN_WORK * random.below(2));
            assert_eq!(items.get(marked), map.get(&other));
            assert_eq!(items.remove(marked), map.remove(&other));
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
