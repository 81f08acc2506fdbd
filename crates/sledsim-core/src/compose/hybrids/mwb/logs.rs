//! The circular queue of logs.

use super::shape::Shape;
use super::table::Placed;
use sledsim_base::request::Extent;
use std::collections::VecDeque;

/// The most logs at the end of the queue without a summary on the front: a log
/// is begun only when all older logs have theirs. Recovery scans this many logs
/// for records.
pub(super) const WITHOUT_SUMMARY: u64 = 8;

/// One log in use.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Blocks used, the summary included.
    pub(super) used: u64,
    /// The extents of its records, in order.
    pub(super) placed: Vec<Placed>,
    /// Its writes under way.
    pub(super) writes: u32,
    /// Host reads under way.
    pub(super) reads: u32,
    /// Whether it takes no more records.
    pub(super) closed: bool,
    /// Whether it is closed and its summary is on the front.
    pub(super) summarised: bool,
}

/// The logs in use, the oldest first; only the last one takes records.
#[derive(Debug)]
pub(super) struct Logs {
    shape: Shape,
    /// Number of the oldest log in use, or of the next if no log is in use.
    first: u64,
    logs: VecDeque<Log>,
    /// Emptied lists of freed logs, for reuse.
    spare: Vec<Vec<Placed>>,
}

impl Logs {
    /// No logs yet, the next being number `first`.
    pub(super) fn new(shape: Shape, first: u64) -> Self {
        Self { shape, first, logs: VecDeque::new(), spare: Vec::new() }
    }

    /// Logs in use.
    pub(super) fn in_use(&self) -> u64 {
        self.logs.len() as u64
    }

    /// Whether all places are in use and the last log is closed.
    pub(super) fn are_full(&self) -> bool {
        self.in_use() == self.shape.logs() && self.logs.back().is_some_and(|log| log.closed)
    }

    /// Number of the oldest log in use.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// A log in use, by its number.
    pub(super) fn at(&mut self, number: u64) -> &mut Log {
        &mut self.logs[(number - self.first) as usize]
    }

    /// The logs in use, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Log> {
        self.logs.iter()
    }

    /// The room for data, in blocks, and for extents in the open log; begins a new
    /// log if needed. `None` if no log can be begun now.
    pub(super) fn room(&mut self) -> Option<(u64, usize)> {
        if self.logs.back().is_none_or(|log| log.closed) {
            let waits = self.in_use() >= WITHOUT_SUMMARY
                && !self.logs[self.logs.len() - WITHOUT_SUMMARY as usize].summarised;
            if waits || self.in_use() == self.shape.logs() {
                return None;
            }
            self.begin();
        }
        let log = self.logs.back()?;
        let extents = self.shape.extents() - log.placed.len() as u64;
        Some((
            self.shape.log_blocks() - log.used - 1,
            extents.min(self.shape.record_extents()) as usize,
        ))
    }

    /// Begins the next log; returns its number.
    pub(super) fn begin(&mut self) -> u64 {
        self.logs.push_back(Log {
            used: self.shape.summary_blocks(),
            placed: self.spare.pop().unwrap_or_default(),
            ..Log::default()
        });
        self.first + self.in_use() - 1
    }

    /// Appends a record that fits in the last log; returns the address of its
    /// header. Closes the log if nothing else fits.
    pub(super) fn append(&mut self, extents: &[Extent]) -> u64 {
        let number = self.first + self.in_use() - 1;
        let log = self.logs.back_mut().expect("a log has room");
        let header = self.shape.start(number) + log.used;
        let mut address = header + 1;
        for extent in extents {
            log.placed.push(Placed { lbn: extent.lbn, blocks: extent.blocks, address });
            address += u64::from(extent.blocks);
        }
        log.used += address - header;
        log.writes += 1;
        log.closed = log.used + 2 > self.shape.log_blocks()
            || log.placed.len() as u64 == self.shape.extents();
        header
    }

    /// How many of the oldest logs can be cleaned now, up to `most`.
    pub(super) fn cleanable(&self, most: u64) -> u64 {
        let oldest = self.logs.iter().take(most as usize);
        oldest.take_while(|log| log.summarised).count() as u64
    }

    /// The number of the only log in use, if it is open and can be closed now.
    pub(super) fn sole_open_log(&self) -> Option<u64> {
        let log = self.logs.front()?;
        let can_close = self.logs.len() == 1 && !log.closed && log.writes == 0;
        can_close.then_some(self.first)
    }

    /// Whether the host is reading any of the oldest `count` logs.
    pub(super) fn are_being_read(&self, count: u64) -> bool {
        let mut oldest = self.logs.iter().take(count as usize);
        oldest.any(|log| log.reads > 0)
    }

    /// Frees the oldest `count` logs.
    pub(super) fn free(&mut self, count: u64) {
        for mut log in self.logs.drain(..count as usize) {
            log.placed.clear();
            self.spare.push(log.placed);
        }
        self.first += count;
    }
}
