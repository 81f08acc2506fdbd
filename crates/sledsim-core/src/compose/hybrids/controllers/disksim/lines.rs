//! The lines of the cache: which blocks they hold, their locks, and their order.

use super::{Directory, Lists, Range, VecDeque};

/// Marks of blocks.
pub(super) const VALID: u8 = 1;
pub(super) const DIRTY: u8 = 2;

/// A line.
#[derive(Clone)]
pub(super) struct Line {
    /// Its number on the device; none of that number if it was not used yet.
    pub(super) number: u64,
    /// The marks of its blocks.
    pub(super) marks: Vec<u8>,
    pub(super) is_dirty: bool,
    /// The host request that has its lock alone.
    pub(super) holder: Option<usize>,
    /// Host requests that share its lock, and writes to the device, which are `None`.
    pub(super) sharers: Vec<Option<usize>>,
    /// Requests that wait for its lock, and whether they want it alone.
    pub(super) waiters: VecDeque<(usize, bool)>,
}

impl Line {
    /// The first of these blocks that has the mark or not; else their end.
    pub(super) fn next(&self, mark: u8, has: bool, of: Range<usize>) -> usize {
        let mut marks = self.marks[of.clone()].iter();
        let found = marks.position(|marks| (marks & mark != 0) == has);
        found.map_or(of.end, |at| of.start + at)
    }

    /// One past the last of these blocks that has the mark or not; else their start.
    pub(super) fn last(&self, mark: u8, has: bool, of: Range<usize>) -> usize {
        let mut marks = self.marks[of.clone()].iter();
        let found = marks.rposition(|marks| (marks & mark != 0) == has);
        found.map_or(of.start, |at| of.start + at + 1)
    }

    /// Marks blocks.
    pub(super) fn mark(&mut self, mark: u8, of: Range<usize>) {
        self.is_dirty |= mark & DIRTY != 0;
        self.marks[of].iter_mut().for_each(|marks| *marks |= mark);
    }

    /// Makes blocks clean.
    pub(super) fn clean(&mut self, of: Range<usize>) {
        self.marks[of].iter_mut().for_each(|marks| *marks &= !DIRTY);
        self.is_dirty = self.marks.iter().any(|marks| marks & DIRTY != 0);
    }

    pub(super) fn is_locked(&self) -> bool {
        self.holder.is_some() || !self.sharers.is_empty()
    }

    /// Locks it for a request, if it is free for it.
    pub(super) fn lock(&mut self, host: usize, alone: bool) -> bool {
        let is_free = self.holder.is_none() && !(alone && self.is_locked());
        match alone {
            _ if !is_free => {}
            true => self.holder = Some(host),
            false => self.sharers.push(Some(host)),
        }
        is_free
    }

    /// Locks it for the first that waits, if it is free for it.
    pub(super) fn next_waiter(&mut self) -> Option<usize> {
        let (host, alone) = *self.waiters.front()?;
        (self.lock(host, alone)).then(|| self.waiters.pop_front())?;
        Some(host)
    }
}

/// All lines, by slot.
pub(super) struct Lines {
    pub(super) all: Vec<Line>,
    directory: Directory,
    /// In the order of their last use, those not used yet before all others.
    pub(super) order: Lists<1>,
}

impl Lines {
    pub(super) fn new(lines: u64, blocks: u64) -> Self {
        let line = Line {
            number: u64::MAX,
            marks: vec![0; blocks as usize],
            is_dirty: false,
            holder: None,
            sharers: Vec::new(),
            waiters: VecDeque::new(),
        };
        let mut order = Lists::new(lines as u32);
        (0..lines as u32).for_each(|slot| order.push(0, slot));
        Self {
            all: vec![line; lines as usize],
            directory: Directory::with_capacity(lines as usize + 1),
            order,
        }
    }

    /// The slot of the line `number`.
    pub(super) fn find(&self, number: u64) -> Option<usize> {
        self.directory.get(number).map(|slot| slot as usize)
    }

    /// Puts the line `number` in the place of another, without any blocks.
    pub(super) fn assign(&mut self, slot: usize, number: u64) {
        let line = &mut self.all[slot];
        self.directory.remove(line.number);
        self.directory.insert(number, slot as u32);
        line.number = number;
        line.marks.fill(0);
    }

    /// The line used next after that of `slot`, or before all others.
    pub(super) fn next_used(&self, slot: Option<usize>) -> Option<usize> {
        let next = |slot| self.order.newer(slot as u32);
        let next = slot.map_or_else(|| self.order.oldest(0), next);
        next.map(|slot| slot as usize)
    }
}
