//! Announced completions, kept until they are due.

use sledsim_base::units::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Completions in the order of their times, those of one instant in the order of
/// their announcement.
///
/// Most are announced in that order, and wait in a plain queue; only the others need
/// a heap.
pub struct CompletionQueue<T> {
    /// In the order in which they are due.
    in_order: VecDeque<(Nanos, u64, T)>,
    others: BinaryHeap<Reverse<(Nanos, u64, T)>>,
    announced: u64,
}

impl<T: Ord> Default for CompletionQueue<T> {
    fn default() -> Self {
        Self { in_order: VecDeque::new(), others: BinaryHeap::new(), announced: 0 }
    }
}

impl<T: Ord> CompletionQueue<T> {
    /// Adds the completion of `item`, due at `at`.
    #[inline]
    pub fn push(&mut self, at: Nanos, item: T) {
        let due = (at, self.announced, item);
        self.announced += 1;
        match self.in_order.back() {
            Some((last, ..)) if *last > at => self.others.push(Reverse(due)),
            _ => self.in_order.push_back(due),
        }
    }

    /// Whether the next completion is among `others`.
    #[inline]
    fn is_other(&self) -> bool {
        match (self.others.peek(), self.in_order.front()) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(Reverse((at, number, _))), Some((other_at, other_number, _))) => {
                (at, number) < (other_at, other_number)
            }
        }
    }

    /// The next completion and when it is due.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> Option<(Nanos, &T)> {
        let (at, _, item) = match self.is_other() {
            true => &self.others.peek()?.0,
            false => self.in_order.front()?,
        };
        Some((*at, item))
    }

    /// When the next completion is due.
    #[inline]
    #[must_use]
    pub fn next_at(&self) -> Option<Nanos> {
        self.peek().map(|(at, _)| at)
    }

    /// Takes out the next completion, and when it is due.
    #[inline]
    pub fn pop(&mut self) -> Option<(Nanos, T)> {
        let (at, _, item) = match self.is_other() {
            true => self.others.pop()?.0,
            false => self.in_order.pop_front()?,
        };
        Some((at, item))
    }

    /// Takes out the next completion if it is due at `now` or before.
    pub fn pop_through(&mut self, now: Nanos) -> Option<(Nanos, T)> {
        self.next_at().filter(|at| *at <= now)?;
        self.pop()
    }

    /// How many completions were ever announced.
    #[inline]
    #[must_use]
    pub fn announced(&self) -> u64 {
        self.announced
    }

    /// How many wait to become due.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.in_order.len() + self.others.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.in_order.is_empty() && self.others.is_empty()
    }
}
