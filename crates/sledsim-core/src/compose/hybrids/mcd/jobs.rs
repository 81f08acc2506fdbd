//! What is under way: host requests, operations on segments, child requests.

use sledsim_base::request::Extents;
use sledsim_base::row::{Parts, Row};
use sledsim_base::units::Nanos;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Things under way, by a number that is used again.
pub(super) struct Slab<T> {
    places: Vec<Option<T>>,
    unused: Vec<u32>,
}

impl<T> Slab<T> {
    pub(super) fn new() -> Self {
        Self {
            places: Vec::new(),
            unused: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn insert(&mut self, thing: T) -> u32 {
        match self.unused.pop() {
            Some(place) => {
                self.places[place as usize] = Some(thing);
                place
            }
            None => {
                self.places.push(Some(thing));
                self.places.len() as u32 - 1
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, place: u32) -> Option<&T> {
        self.places.get(place as usize)?.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        self.places.get_mut(place as usize)?.as_mut()
    }

    #[inline]
    pub(super) fn remove(&mut self, place: u32) -> Option<T> {
        let thing = self.places.get_mut(place as usize)?.take();
        if thing.is_some() {
            self.unused.push(place);
        }
        thing
    }

    pub(super) fn len(&self) -> usize {
        self.places.len() - self.unused.len()
    }
}

/// A host request.
pub(super) struct HostRequest {
    /// Its row so far.
    pub(super) row: Row,
    /// Pieces that are not done.
    pub(super) left: u32,
    /// Up to when its row accounts for its time.
    accounted: Nanos,
    has_started: bool,
    /// When memory last began to serve it, and how long it transfers.
    served: (Nanos, Nanos),
    /// A read that goes on from where many before it ended.
    pub(super) streams: bool,
}

impl HostRequest {
    pub(super) fn new(row: Row) -> Self {
        Self {
            accounted: row.arrival,
            row,
            left: 0,
            has_started: false,
            served: (Nanos::MAX, Nanos::ZERO),
            streams: false,
        }
    }

    fn start(&mut self, at: Nanos) {
        if !self.has_started {
            self.has_started = true;
            self.row.start = at.max(self.row.arrival);
        }
    }

    /// A child's request was made for it.
    #[inline]
    pub(super) fn charge(&mut self, child: &Row) {
        self.row.passes += child.passes;
        self.row.retries += child.retries;
        self.row.energy_nj += child.energy_nj;
        if child.status != sledsim_base::row::Status::Ok {
            self.row.status = child.status;
        }
    }

    /// It waited for a child's request, which is complete.
    ///
    /// What waited goes on where the last ended; of several at once the last
    /// says where the time went.
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
            let before = Parts {
                queue: child.arrival - row.arrival,
                ..Parts::default()
            };
            row.parts = before + child.parts;
        } else {
            row.parts.queue += child.completion - self.accounted;
        }
        self.accounted = child.completion;
    }

    /// It was served from memory at `at`.
    pub(super) fn serve(&mut self, at: Nanos, latency: Nanos, transfer: Nanos) {
        self.start(at);
        let end = at + latency + transfer;
        if end <= self.accounted {
            return;
        }
        let parts = &mut self.row.parts;
        if at == self.served.0 {
            // Another piece at the same instant, which takes longer.
            parts.other = parts.other - latency;
            parts.transfer = parts.transfer - self.served.1;
            self.accounted = at;
        } else if at < self.accounted {
            *parts = Parts {
                queue: at - self.row.arrival,
                ..Parts::default()
            };
            self.accounted = at;
        }
        self.served = (at, transfer);
        parts.queue += at - self.accounted;
        parts.other += latency;
        parts.transfer += transfer;
        self.accounted = end;
    }

    /// Its row, with everything done.
    pub(super) fn done(mut self) -> Row {
        self.row.completion = self.accounted;
        self.row
    }
}

/// The part of a host request that lies in one segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The host request.
    pub(super) open: u32,
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
    /// It makes blocks of the slot valid.
    pub(super) grows: bool,
}

/// What an operation does with its segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Takes slots for writes.
    Take,
    /// Reads them from the back into the front.
    Fill,
    /// Waits until nothing goes on in its slot.
    Wait,
    /// Writes them to the back; the slot at `victim` is given up for it.
    Destage { victim: Option<usize> },
}

/// An operation on a run of segments.
pub(super) struct Op {
    pub(super) what: Operation,
    /// The first segment, and how many.
    pub(super) first: u64,
    pub(super) count: u32,
    /// Their slots, as far as it has them.
    pub(super) slots: SmallVec<[u32; 4]>,
    /// The data are in the segment buffer.
    pub(super) is_buffered: bool,
    /// They may stay there for a while.
    pub(super) is_late: bool,
    /// Blocks of the back that are moved.
    pub(super) moved: Extents,
    /// Pieces that wait for it.
    pub(super) waiting: SmallVec<[Piece; 2]>,
}

impl Op {
    pub(super) fn new(what: Operation, first: u64, count: u32) -> Self {
        Self {
            what,
            first,
            count,
            slots: SmallVec::new(),
            is_buffered: false,
            is_late: false,
            moved: Extents::new(),
            waiting: SmallVec::new(),
        }
    }

    /// One past its last segment.
    pub(super) fn end(&self) -> u64 {
        self.first + u64::from(self.count)
    }

    /// Whether all of these blocks of the back are among those it moves.
    pub(super) fn moves(&self, lbn: u64, blocks: u32) -> bool {
        let end = lbn + u64::from(blocks);
        (self.moved.iter()).any(|extent| extent.lbn <= lbn && end <= extent.end())
    }
}

/// A request to a child.
#[derive(Debug)]
pub(super) enum Job {
    /// Host data from or to the front.
    Access(u32, SmallVec<[Placed; 1]>),
    /// Host data from the back, not cached.
    Pass(u32, SmallVec<[Piece; 1]>),
    /// An operation reads the back: into the buffer.
    Fetched(u32),
    /// Writes the front: from the buffer.
    Filled(u32),
    /// Reads the front: into the buffer.
    VictimRead(u32),
    /// Writes the back: from the buffer.
    Destaged(u32),
    /// Part of a recovery.
    Recovered,
}

/// The requests to children, by id: ids count up.
pub(super) struct Jobs {
    first: u64,
    jobs: VecDeque<Option<Job>>,
}

impl Jobs {
    pub(super) fn new() -> Self {
        Self {
            first: 0,
            jobs: VecDeque::new(),
        }
    }

    /// The id of a request.
    #[inline]
    pub(super) fn add(&mut self, job: Job) -> u64 {
        self.jobs.push_back(Some(job));
        self.first + self.jobs.len() as u64 - 1
    }

    #[inline]
    pub(super) fn remove(&mut self, id: u64) -> Option<Job> {
        let index = id.checked_sub(self.first)?;
        let job = self.jobs.get_mut(index as usize)?.take();
        while let Some(None) = self.jobs.front() {
            self.jobs.pop_front();
            self.first += 1;
        }
        job
    }
}
