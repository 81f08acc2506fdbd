//! Jobs, which are host requests or parts of rebuilds: how they begin, wait and
//! end.

use super::Array;
use crate::compose::arrays::locks::HeldLocks;
use crate::compose::arrays::{LOST, Level, TokenMap, tokens_of};
use crate::model::CompletionSink;
use sledsim_base::request::{Extent, Extents, Op, Request, lbns};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;

/// A request to a child.
pub(super) struct Sent {
    pub(super) job: usize,
    pub(super) child: usize,
    pub(super) slot: usize,
    /// The extents of a read, if contents are kept.
    pub(super) extents: Extents,
}

/// The step that a job is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The reads that precede a write.
    Before,
    /// The request itself.
    Main,
}

/// What a job serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobOwner {
    Host,
    /// The rebuild of a slot onto a child, up to an address.
    Rebuild {
        slot: usize,
        child: usize,
        to: u64,
    },
}

/// A host request, or a part of a rebuild.
pub(super) struct Job {
    pub(super) owner: JobOwner,
    pub(super) request: Request,
    pub(super) row: Row,
    pub(super) step: Step,
    /// The time up to which the row's parts are counted.
    pub(super) since: Nanos,
    pub(super) has_started: bool,
    /// Requests to children that this step waits for, and whether one of them
    /// failed.
    pub(super) left: u32,
    pub(super) broken: bool,
    /// Whether its last step is over.
    pub(super) is_over: bool,
    pub(super) locks: Option<HeldLocks>,
    /// How many earlier jobs hold locks that it needs.
    pub(super) waits: usize,
    pub(super) new: TokenMap,
    pub(super) old: TokenMap,
}

impl<L: Level> Array<L> {
    /// Creates a job; returns its number.
    pub(super) fn begin(&mut self, owner: JobOwner, request: Request, new: TokenMap) -> usize {
        let mut row = Row::of(&request, self.device);
        row.queue_depth = self.host_requests;
        let reads_first = request.op == Op::Write;
        self.jobs.insert(Job {
            owner,
            row,
            step: if reads_first { Step::Before } else { Step::Main },
            since: request.arrival,
            request,
            has_started: false,
            left: 0,
            broken: false,
            is_over: false,
            locks: None,
            waits: 0,
            new,
            old: TokenMap::new(),
        })
    }

    /// Locks `ranges` for a job, which becomes ready when it has all of them.
    pub(super) fn lock(&mut self, number: usize, shared: bool, ranges: &[(u64, u64)]) {
        let (held, waits) = self.locks.request(number, shared, ranges.iter().copied());
        let job = &mut self.jobs[number];
        job.locks = Some(held);
        job.waits = waits;
        if waits == 0 {
            self.ready.push_back(number);
        }
    }

    /// Locks the blocks of a host request.
    pub(super) fn lock_extents(&mut self, number: usize, shared: bool, extents: &[Extent]) {
        let level = &self.level;
        let ranges: smallvec::SmallVec<[(u64, u64); 1]> =
            extents.iter().map(|extent| level.lock_range(*extent)).collect();
        self.lock(number, shared, &ranges);
    }

    /// Continues all ready jobs.
    pub(super) fn run_ready(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        while let Some(number) = self.ready.pop_front() {
            self.continue_job(number, at, sink);
        }
    }

    /// Ends a job.
    pub(super) fn finish(
        &mut self,
        number: usize,
        at: Nanos,
        status: Status,
        sink: &mut dyn CompletionSink,
    ) {
        let mut job = self.jobs.remove(number);
        if let Some(held) = job.locks.take() {
            let (jobs, ready) = (&mut self.jobs, &mut self.ready);
            self.locks.release(&held, |waiting| {
                let job = &mut jobs[waiting];
                job.waits -= 1;
                if job.waits == 0 {
                    ready.push_back(waiting);
                }
            });
        }
        if let JobOwner::Rebuild { slot, child, to } = job.owner {
            return self.end_part(slot, child, to, at, status);
        }
        let row = &mut job.row;
        row.completion = at;
        row.status = status;
        if !job.has_started {
            row.start = at;
        }
        if status == Status::Error {
            self.counts.lost_requests += 1;
        } else if row.op == Op::Read
            && let Some(content_state) = &mut self.content_state
        {
            let level = &self.level;
            let token = |lbn| {
                let (slot, address) = level.place(lbn);
                level.recover(slot, address, &mut tokens_of(&job.old)).unwrap_or(LOST)
            };
            let tokens = lbns(&job.request.extents).map(token).collect();
            content_state.returned.insert(row.id, tokens);
        }
        self.host_requests -= 1;
        if self.host_requests == 0 {
            self.idle_since = at;
        }
        sink.done(row);
    }
}
