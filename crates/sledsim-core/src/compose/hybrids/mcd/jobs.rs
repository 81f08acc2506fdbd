//! Host requests, operations on segments and child requests under way.

use crate::compose::by_id::ById;
use sledsim_base::request::Extents;
use sledsim_base::row::{Parts, Row};
use sledsim_base::units::Nanos;

/// A host request.
pub(super) struct HostRequest {
    /// Its row so far.
    pub(super) row: Row,
    /// Pieces that are not complete.
    pub(super) left: u32,
    /// The time up to which its row's parts are counted.
    accounted: Nanos,
    has_started: bool,
    /// Start and transfer time of the last service from memory.
    memory_service: (Nanos, Nanos),
    /// Whether it is a read of a stream.
    pub(super) streams: bool,
}

impl HostRequest {
    /// The request of `row`.
    #[inline]
    pub(super) fn new(row: Row, streams: bool) -> Self {
        Self {
            row,
            left: 0,
            accounted: row.arrival,
            has_started: false,
            memory_service: (Nanos::MAX, Nanos::ZERO),
            streams,
        }
    }

    fn start(&mut self, at: Nanos) {
        if !self.has_started {
            self.has_started = true;
            self.row.start = at.max(self.row.arrival);
        }
    }

    /// Accounts for the time of a child's request that it waited for.
    ///
    /// Requests one after another add up; of concurrent ones, the parts are those
    /// of the last to complete.
    #[inline]
    pub(super) fn account(&mut self, child: &Row) {
        self.start(child.start);
        if child.completion <= self.accounted {
            return;
        }
        let row = &mut self.row;
        if child.arrival >= self.accounted {
            row.parts.queue += child.arrival - self.accounted;
            row.parts = row.parts + child.parts;
        } else if child.arrival >= row.arrival {
            let before = Parts { queue: child.arrival - row.arrival, ..Parts::default() };
            row.parts = before + child.parts;
        } else {
            row.parts.queue += child.completion - self.accounted;
        }
        self.accounted = child.completion;
    }

    /// Accounts for service from memory at `at`.
    pub(super) fn serve(&mut self, at: Nanos, latency: Nanos, transfer: Nanos) {
        self.start(at);
        let end = at + latency + transfer;
        if end <= self.accounted {
            return;
        }
        let parts = &mut self.row.parts;
        if at == self.memory_service.0 {
            // Another piece at the same instant with a longer transfer.
            parts.other = parts.other - latency;
            parts.transfer = parts.transfer - self.memory_service.1;
            self.accounted = at;
        } else if at < self.accounted {
            *parts = Parts { queue: at - self.row.arrival, ..Parts::default() };
            self.accounted = at;
        }
        self.memory_service = (at, transfer);
        parts.queue += at - self.accounted;
        parts.other += latency;
        parts.transfer += transfer;
        self.accounted = end;
    }

    /// Its row, once all pieces are complete.
    pub(super) fn complete(&mut self) -> &Row {
        self.row.completion = self.accounted;
        &self.row
    }
}

/// The part of a host request that lies in one segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The host request.
    pub(super) host_request: usize,
    pub(super) segment: u64,
    /// First block in the segment.
    pub(super) from: u32,
    pub(super) blocks: u32,
    /// First block in the request.
    pub(super) at: u32,
}

/// A piece that is being read or written in the front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) slot: u32,
    pub(super) piece: Piece,
    /// Whether it makes blocks of the slot valid.
    pub(super) grows: bool,
}

/// The kind of an operation on segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Operation {
    /// Takes slots for writes.
    #[default]
    Take,
    /// Reads them from the back into the front.
    Fill,
    /// Waits until its slot is idle.
    Wait,
    /// Writes them to the back, and evicts the one at index `victim`.
    Destage { victim: Option<usize> },
}

/// An operation on a run of segments.
#[derive(Default)]
pub(super) struct Op {
    pub(super) kind: Operation,
    /// The first segment, and how many.
    pub(super) first: u64,
    pub(super) count: u32,
    /// Slots assigned so far.
    pub(super) slots: Vec<u32>,
    /// Whether the data are in the segment buffer.
    pub(super) is_buffered: bool,
    /// Whether their write to the back is deferred.
    pub(super) is_deferred: bool,
    /// Blocks of the back that it transfers.
    pub(super) moved: Extents,
    /// Pieces that wait for it.
    pub(super) waiting: Vec<Piece>,
}

impl Op {
    /// Makes it an operation on these segments, without slots.
    #[inline]
    pub(super) fn set(&mut self, kind: Operation, first: u64, count: u32) {
        self.kind = kind;
        self.first = first;
        self.count = count;
        self.slots.clear();
        self.is_buffered = false;
        self.is_deferred = false;
        self.moved.clear();
        self.waiting.clear();
    }

    /// One past its last segment.
    pub(super) fn end(&self) -> u64 {
        self.first + u64::from(self.count)
    }

    /// Whether it transfers all of these blocks of the back.
    pub(super) fn moves(&self, lbn: u64, blocks: u32) -> bool {
        let end = lbn + u64::from(blocks);
        (self.moved.iter()).any(|extent| extent.lbn <= lbn && end <= extent.end())
    }
}

/// A request to a child.
#[derive(Debug)]
pub(super) enum Job {
    /// Host data from or to the front.
    Access(usize, Vec<Placed>),
    /// Host data from the back, not cached.
    Bypass(usize, Vec<Piece>),
    /// An operation reads the back: into the buffer.
    Fetched(usize),
    /// Writes the front: from the buffer.
    Filled(usize),
    /// Reads the front: into the buffer.
    VictimRead(usize),
    /// Writes the back: from the buffer.
    Destaged(usize),
    /// Part of a recovery.
    Recovered,
}

/// The requests to children, by id.
#[derive(Default)]
pub(super) struct Jobs {
    next_id: u64,
    jobs: ById<Job>,
    /// The lists of accesses and of reads that bypass the front.
    pub(super) placed: Lists<Placed>,
    pub(super) pieces: Lists<Piece>,
}

impl Jobs {
    /// Adds the job of a request and returns the number of that.
    #[inline]
    pub(super) fn add(&mut self, job: Job) -> u64 {
        let number = self.next_id;
        self.jobs.insert(number, job);
        self.next_id += 1;
        number
    }

    /// Takes out the job of a request that a child has completed.
    #[inline]
    pub(super) fn remove(&mut self, id: u64) -> Job {
        self.jobs.remove(id).expect("a child completes what it was sent")
    }
}

/// Lists whose memory is used again.
pub(super) struct Lists<T>(Vec<Vec<T>>);

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Lists<T> {
    /// A list of these items.
    #[inline]
    pub(super) fn list(&mut self, items: &[T]) -> Vec<T> {
        let mut list = self.0.pop().unwrap_or_default();
        list.extend_from_slice(items);
        list
    }

    /// Takes back the memory of a list.
    #[inline]
    pub(super) fn reuse(&mut self, mut list: Vec<T>) {
        list.clear();
        self.0.push(list);
    }
}
