//! Announced completions, kept until they are due.

use sledsim_base::units::Nanos;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// How many completions a new one may precede in the list.
const NEAR: usize = 64;

/// Completions in the order of their times, those of one instant in the order of
/// their announcement.
///
/// Most are announced almost in that order, and wait in a list; only the others need
/// a heap. Nothing is allocated once both have reached their greatest lengths.
pub struct CompletionQueue<T> {
    /// In the order in which they are due.
    list: VecDeque<Due<T>>,
    others: BinaryHeap<Due<T>>,
    announced: u64,
    /// When the first is due: [`CompletionQueue::due`].
    due: Nanos,
}

/// A completion; the greatest is due first.
struct Due<T> {
    at: Nanos,
    /// The number of its announcement.
    number: u64,
    item: T,
}

impl<T> Ord for Due<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl<T> PartialOrd for Due<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Due<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Due<T> {}

impl<T> Default for CompletionQueue<T> {
    fn default() -> Self {
        Self { list: VecDeque::new(), others: BinaryHeap::new(), announced: 0, due: Nanos::MAX }
    }
}

impl<T> CompletionQueue<T> {
    /// Adds the completion of `item`, due at `at`.
    #[inline]
    pub fn push(&mut self, at: Nanos, item: T) {
        let due = Due { at, number: self.announced, item };
        self.announced += 1;
        self.due = self.due.min(at);
        match self.list.back() {
            Some(last) if last.at > at => self.push_early(due),
            _ => self.list.push_back(due),
        }
    }

    /// Adds a completion that is due before the last of the list.
    #[inline(never)]
    fn push_early(&mut self, due: Due<T>) {
        let list = &mut self.list;
        if list.len() <= NEAR || list[list.len() - NEAR].at <= due.at {
            list.insert(list.partition_point(|other| other.at <= due.at), due);
        } else {
            self.others.push(due);
        }
    }

    /// Whether the next completion is among `others`.
    #[inline]
    fn is_other(&self) -> bool {
        let Some(other) = self.others.peek() else {
            return false;
        };
        self.list.front().is_none_or(|first| first < other)
    }

    /// The next completion and when it is due.
    #[inline]
    pub fn peek(&self) -> Option<(Nanos, &T)> {
        let due = if self.is_other() { self.others.peek() } else { self.list.front() };
        due.map(|due| (due.at, &due.item))
    }

    /// When the next completion is due; [`Nanos::MAX`] for never.
    #[inline]
    pub fn due(&self) -> Nanos {
        self.due
    }

    /// Takes out the next completion, and when it is due.
    #[inline]
    pub fn pop(&mut self) -> Option<(Nanos, T)> {
        let due = if self.is_other() { self.others.pop() } else { self.list.pop_front() };
        self.due = self.peek().map_or(Nanos::MAX, |(at, _)| at);
        due.map(|due| (due.at, due.item))
    }

    /// Takes out the next completion if it is due at `now` or before.
    pub fn pop_through(&mut self, now: Nanos) -> Option<(Nanos, T)> {
        if self.due <= now { self.pop() } else { None }
    }

    /// How many completions were ever announced.
    #[inline]
    pub fn announced(&self) -> u64 {
        self.announced
    }

    /// How many wait to become due.
    #[inline]
    pub fn len(&self) -> usize {
        self.list.len() + self.others.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::CompletionQueue;
    use sledsim_base::random::Stream;
    use sledsim_base::units::Nanos;

    /// Random announcements, in almost the order of their times and in any order, beside a
    /// list that is searched for the first.
    #[test]
    fn completions_come_in_order() {
        for spread in [12, 300] {
            let mut random = Stream::new(1, "announced");
            let (mut queue, mut list) = (CompletionQueue::default(), Vec::new());
            let mut among_others = 0;
            for id in 0..20_000 {
                if random.chance(0.5) {
                    let at = Nanos(id / 8 + random.below(spread));
                    queue.push(at, id);
                    list.push((at, id));
                }
                let first = list.iter().copied().min();
                assert_eq!(queue.peek().map(|(at, id)| (at, *id)), first);
                assert_eq!(queue.len(), list.len());
                among_others += queue.others.len();
                let now = Nanos(id / 8 + random.below(12));
                let due = first.filter(|first| first.0 <= now);
                assert_eq!(queue.pop_through(now), due);
                list.retain(|other| Some(*other) != due);
            }
            assert_eq!(among_others > 0, spread > 12);
        }
    }
}
