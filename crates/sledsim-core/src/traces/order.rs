//! The order of times: never falling, or sorted within a window.

use crate::units::Nanos;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Checks that times do not fall, or fall no further than a window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    /// How far a time may lie before the latest one so far.
    window: Nanos,
    /// The latest time so far.
    pub latest: Nanos,
    /// How many times lay before the latest one so far.
    pub late: u64,
    /// And how far at most.
    pub latest_by: Nanos,
}

impl Order {
    /// Lets times fall by `window`, if there is one.
    pub fn new(window: Option<Nanos>) -> Self {
        Self {
            window: window.unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Takes note of the next time; an error if it lies too far back.
    #[inline]
    pub fn admit(&mut self, time: Nanos) -> Result<(), String> {
        if time >= self.latest {
            self.latest = time;
            return Ok(());
        }
        let by = self.latest - time;
        if by > self.window {
            return Err(self.too_late(time, by));
        }
        self.late += 1;
        self.latest_by = self.latest_by.max(by);
        Ok(())
    }

    #[cold]
    fn too_late(&self, time: Nanos, by: Nanos) -> String {
        let (time, latest, by) = (ms(time), ms(self.latest), ms(by));
        match self.window {
            Nanos::ZERO => format!(
                "time {time} ms is before {latest} ms, the request above: give sort_ms (--sort) \
                 of at least {by} to sort what is out of order"
            ),
            window => format!(
                "time {time} ms is {by} ms before one above, {latest} ms: sort_ms (--sort) is \
                 {}, and must be at least {by}",
                ms(window)
            ),
        }
    }
}

/// Exact milliseconds, without zeros at the end.
pub fn ms(time: Nanos) -> String {
    format!("{}.{:06}", time.0 / 1_000_000, time.0 % 1_000_000)
}

/// So many items a sorter holds at most.
pub const MOST_HELD: usize = 1 << 20;

/// Sorts items by time; those of one time keep their order.
pub struct Sorter<T> {
    held: BinaryHeap<Held<T>>,
    count: u64,
}

/// Ordered so that the earliest is the greatest.
struct Held<T> {
    key: (Nanos, u64),
    item: T,
}

impl<T> Sorter<T> {
    /// Holds nothing yet.
    pub fn new() -> Self {
        Self {
            held: BinaryHeap::new(),
            count: 0,
        }
    }

    /// Takes an item; an error if there are too many.
    pub fn push(&mut self, time: Nanos, item: T) -> Result<(), String> {
        if self.held.len() == MOST_HELD {
            return Err(format!(
                "more than {MOST_HELD} requests within sort_ms (--sort): it must be less"
            ));
        }
        let count = self.count;
        self.count += 1;
        self.insert(time, count, item);
        Ok(())
    }

    /// Takes an item that goes among those of its time by its `rank`; any
    /// number of them.
    pub fn insert(&mut self, time: Nanos, rank: u64, item: T) {
        let key = (time, rank);
        self.held.push(Held { key, item });
    }

    /// The earliest item, if its time is `until` or before.
    pub fn pop(&mut self, until: Nanos) -> Option<T> {
        let due = self.held.peek()?.key.0 <= until;
        due.then(|| self.held.pop())?.map(|held| held.item)
    }
}

impl<T> PartialEq for Held<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Held<T> {}

impl<T> PartialOrd for Held<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Held<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}
