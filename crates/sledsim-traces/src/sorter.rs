//! Sorts the items of a file by time within a window.

use slab::Slab;
use sledsim_base::error::Error;
use sledsim_base::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// The most items that are held to be sorted.
pub const MOST_HELD: usize = 1 << 20;

/// Sorts items that come out of order, and reads no further than needed.
///
/// The earliest item is handed out once the latest time so far is at least the window after its
/// own. So items come in order if none is late by more than the window. One that is still comes,
/// out of order: whether that is an error is for the caller to say as it reads.
///
/// Items of one time keep the order of the file, or have one by [`insert`](Self::insert); those
/// must be late by less than the window.
pub struct Sorter<T> {
    window: Nanos,
    /// The number of items held from which on the earliest waits no longer.
    most: usize,
    /// Time, rank and place in `items` of those held.
    held: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    items: Slab<T>,
    /// The number of items so far.
    count: u64,
    /// The latest time so far.
    latest: Nanos,
    ended: bool,
}

impl<T> Sorter<T> {
    /// Sorts within `window`; while `most` items are held, the earliest waits no longer.
    pub fn new(window: Nanos, most: usize) -> Self {
        Self {
            window,
            most,
            held: BinaryHeap::new(),
            items: Slab::new(),
            count: 0,
            latest: Nanos::ZERO,
            ended: false,
        }
    }

    /// The next item in order, `None` at the end. `read` adds the next item of the file, and
    /// returns the time by which the file is ordered, as a rule that of the item; after `None`,
    /// at the end, it is not called again.
    #[inline]
    pub fn next(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<Option<Nanos>, Error>,
    ) -> Result<Option<T>, Error> {
        loop {
            let due = self.due();
            if due.is_some() || self.ended {
                return Ok(due);
            }
            match read(self)? {
                Some(time) => self.latest = self.latest.max(time),
                None => self.ended = true,
            }
        }
    }

    /// The earliest item, if none still to come can precede it.
    fn due(&mut self) -> Option<T> {
        let until = match self.ended || self.items.len() >= self.most {
            true => u64::MAX,
            false => self.latest.0.checked_sub(self.window.0)?,
        };
        let first = self.held.peek_mut().filter(|first| first.0.0.0 <= until)?;
        let Reverse((.., item)) = PeekMut::pop(first);
        Some(self.items.remove(item))
    }

    /// Adds an item, behind those of its time.
    ///
    /// # Errors
    /// [`MOST_HELD`] are held.
    pub fn push(&mut self, time: Nanos, item: T) -> Result<(), String> {
        if self.items.len() == MOST_HELD {
            return Err(format!(
                "more than {MOST_HELD} requests within sort_ms (--sort): it must be less"
            ));
        }
        self.insert(time, self.count, item);
        Ok(())
    }

    /// Adds an item without limit; items of one time are ordered by `rank`.
    pub fn insert(&mut self, time: Nanos, rank: u64, item: T) {
        self.count += 1;
        self.held.push(Reverse((time, rank, self.items.insert(item))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The places in `times` in the order of handing out, each with the number of items read.
    fn handed_out(times: &[u64], window: u64, most: usize) -> Vec<(usize, usize)> {
        let mut sorter = Sorter::new(Nanos(window), most);
        let (mut read, mut found) = (0, Vec::new());
        loop {
            let next = sorter.next(|sorter| {
                let Some(time) = times.get(read).copied().map(Nanos) else {
                    return Ok(None);
                };
                sorter.push(time, read).unwrap();
                read += 1;
                Ok(Some(time))
            });
            match next.unwrap() {
                Some(item) => found.push((item, read)),
                None => return found,
            }
        }
    }

    proptest! {
        #[test]
        fn items_come_in_order_and_none_is_read_too_early(
            steps in prop::collection::vec((0_u64..4, 0_u64..6), 0..40),
            window in 0_u64..8,
        ) {
            let mut level = 0;
            let late = |(step, late): (u64, u64)| { level += step; level.saturating_sub(late) };
            let times: Vec<u64> = steps.into_iter().map(late).collect();
            let latest = |read: usize| times[..read].iter().max().copied().unwrap_or_default();
            let found = handed_out(&times, window, usize::MAX);
            let order: Vec<usize> = found.iter().map(|found| found.0).collect();
            let mut sorted: Vec<usize> = (0..times.len()).collect();
            sorted.sort_by_key(|&item| times[item]);
            if (0..times.len()).all(|item| latest(item) <= times[item] + window) {
                prop_assert_eq!(&order, &sorted);
            }
            let mut all = order;
            all.sort_unstable();
            prop_assert_eq!(all, (0..times.len()).collect::<Vec<_>>());
            let mut before = 0;
            for (item, read) in found {
                let due = |read: &usize| latest(*read) >= times[item] + window;
                let least = (item + 1..times.len()).find(due).unwrap_or(times.len());
                prop_assert_eq!(read, least.max(before), "item {}", item);
                before = read;
            }
        }

        /// While three are held, the earliest of them is the next.
        #[test]
        fn the_earliest_does_not_wait_for_long_if_many_are_held(
            times in prop::collection::vec(0_u64..9, 0..40),
        ) {
            let (found, mut held) = (handed_out(&times, 100, 3), Vec::new());
            let mut found = found.into_iter().map(|(item, _)| item);
            for item in 0..times.len() {
                held.push(item);
                if held.len() == 3 {
                    let first = (0..3).min_by_key(|&at| (times[held[at]], held[at])).unwrap();
                    prop_assert_eq!(found.next(), Some(held.remove(first)));
                }
            }
            held.sort_by_key(|&item| (times[item], item));
            prop_assert_eq!(found.collect::<Vec<_>>(), held);
        }
    }
}
