//! Announced completions, kept until they are due.

use sledsim_base::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Completions in the order of their times, those of one instant in the order of
/// their announcement.
pub struct CompletionQueue<T> {
    due: BinaryHeap<Reverse<(Nanos, u64, T)>>,
    announced: u64,
}

impl<T: Ord> Default for CompletionQueue<T> {
    fn default() -> Self {
        Self {
            due: BinaryHeap::new(),
            announced: 0,
        }
    }
}

impl<T: Ord> CompletionQueue<T> {
    /// Adds the completion of `item`, due at `at`.
    #[inline]
    pub fn push(&mut self, at: Nanos, item: T) {
        self.due.push(Reverse((at, self.announced, item)));
        self.announced += 1;
    }

    /// The next completion and when it is due.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> Option<(Nanos, &T)> {
        (self.due.peek()).map(|Reverse((at, _, item))| (*at, item))
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
        let Reverse((at, _, item)) = self.due.pop()?;
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
        self.due.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }
}
