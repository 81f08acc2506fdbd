//! An array: its requests, failures and spares.
//!
//! Modules in reading order:
//! - `jobs`: host requests and parts of rebuilds: how they begin, wait and end;
//! - `steps`: the steps of a job;
//! - `rebuild`: failures of children, and the rebuild of a slot on a spare;
//! - `counts`: the counts of the report.

mod jobs;

mod steps;

mod rebuild;

mod contents;

mod counts;

use super::locks::Locks;
use super::members::Members;
use super::plan::Plan;
use super::repair::Repair;
use super::{Level, TokenMap};
use crate::compose::by_id::ById;
use crate::compose::{Children, Composite};
use crate::model::contents::Contents;
use crate::model::{CompletionSink, Model, Report};
use contents::ContentState;
use counts::Counts;
use jobs::{Job, JobOwner, Sent};
use rebuild::Rebuild;
use slab::Slab;
use sledsim_base::request::{Op, Request, lbns};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use std::collections::VecDeque;

/// An array of a level; see the [module](super).
///
/// A request is a job of one or two steps: the reads that precede a write, then
/// its own reads or writes. A step sends at most one request to each child, a
/// batch if it has several extents; the next step begins when the last of these
/// is complete. Writes lock their blocks (with parity, their stripes) until
/// they are complete; reads reconstructed from other slots hold shared locks.
/// The row of a request carries the parts of the child that completed last in
/// each step.
///
/// A child fails at a configured time, or when it completes a request with an
/// error. Its outstanding requests fail at that instant: reads start again
/// without it, and writes complete without it.
pub(crate) struct Array<L> {
    name: String,
    device: u16,
    pub(super) level: L,
    pub(super) children: Children,
    pub(super) members: Members,
    repair: Repair,
    locks: Locks,
    jobs: Slab<Job>,
    /// Jobs that may continue.
    ready: VecDeque<usize>,
    /// Outstanding requests to children, by id.
    sent: ById<Sent>,
    next_id: u64,
    /// Host requests under way, and since when there are none.
    host_requests: u32,
    idle_since: Nanos,
    rebuild: Option<Rebuild>,
    counts: Counts,
    plan: Plan,
    content_state: Option<ContentState>,
}

impl<L: Level> Array<L> {
    /// An array called `name` over `children`, of which the last `spares` are
    /// spares.
    pub(super) fn new(
        name: &str,
        device: u16,
        level: L,
        children: Vec<Box<dyn Model>>,
        spares: usize,
        repair: Repair,
    ) -> Self {
        let slots = children.len() - spares;
        let mut children = Children::new(children);
        let keeps = (0..children.len()).all(|index| children.contents(index).is_some());
        let mut array = Self {
            name: name.to_owned(),
            device,
            level,
            children,
            members: Members::new(slots, spares),
            repair,
            locks: Locks::default(),
            jobs: Slab::new(),
            ready: VecDeque::new(),
            sent: ById::default(),
            next_id: 0,
            host_requests: 0,
            idle_since: Nanos::ZERO,
            rebuild: None,
            counts: Counts::default(),
            plan: Plan::default(),
            content_state: keeps.then(ContentState::default),
        };
        while array.repair.failures.front().is_some_and(|failure| failure.0 == Nanos::ZERO) {
            array.next_failure(Nanos::ZERO);
        }
        array
    }

    /// Drops everything under way after a power failure at `at`; the clock restarts
    /// at 0.
    pub(super) fn reset(&mut self, at: Nanos) {
        self.locks = Locks::default();
        self.jobs.clear();
        self.ready.clear();
        self.sent.clear();
        self.members.clear_loads();
        self.host_requests = 0;
        self.idle_since = Nanos::ZERO;
        for failure in &mut self.repair.failures {
            failure.0 = failure.0.since(at);
        }
        if let Some(rebuild) = &mut self.rebuild {
            (rebuild.began, rebuild.ready) = (Nanos::ZERO, Nanos::ZERO);
            (rebuild.reading, rebuild.writing, rebuild.read) = (false, false, None);
            rebuild.next = rebuild.point;
        }
        self.content_state = self.content_state.is_some().then(ContentState::default);
    }

    /// The new tokens of a write, by slot and address.
    fn tokens(&mut self, request: &Request) -> TokenMap {
        let Some(content_state) = self.content_state.as_mut().filter(|_| request.op == Op::Write)
        else {
            return TokenMap::new();
        };
        let held = std::mem::take(&mut content_state.staged);
        let places = lbns(&request.extents).map(|lbn| self.level.place(lbn));
        places.zip(held).collect()
    }
}

impl<L: Level> Composite for Array<L> {
    fn children(&self) -> &Children {
        &self.children
    }

    fn children_mut(&mut self) -> &mut Children {
        &mut self.children
    }

    fn blocks(&self) -> u64 {
        self.level.blocks()
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        let at = request.arrival;
        self.advance(at, false, sink);
        let new = self.tokens(&request);
        let changes =
            request.op == Op::Write || (request.op == Op::Trim && !self.level.has_parity());
        let is_over = request.op == Op::Trim && !changes;
        let extents = changes.then(|| request.extents.clone());
        let number = self.begin(JobOwner::Host, request, new);
        self.host_requests += 1;
        if let Some(extents) = extents {
            self.lock_extents(number, false, &extents);
        } else if is_over {
            self.finish(number, at, Status::Ok, sink);
        } else {
            self.ready.push_back(number);
        }
        self.run_ready(at, sink);
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        self.content_state.is_some().then_some(self as &mut dyn Contents)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.children.report(&self.name, self.counts(), until, reports);
    }

    fn child_done(&mut self, child: usize, row: &Row, sink: &mut dyn CompletionSink) {
        let at = row.completion;
        if row.status == Status::Error {
            self.fail(child, at);
            return self.run_ready(at, sink);
        }
        // A request that is not listed was lost with its child.
        let Some(sent) = self.sent.remove(row.id) else {
            return;
        };
        self.members.remove_load(child);
        let job = &mut self.jobs[sent.job];
        job.left -= 1;
        job.row.add_work(row);
        if !sent.extents.is_empty()
            && let Some(contents) = self.children.contents(child)
        {
            let places = lbns(&sent.extents).map(|address| (sent.slot, address));
            job.old.extend(places.zip(contents.take_read_data(row.id)));
        }
        if job.left == 0 {
            self.end_step(sent.job, at, Some(row));
        }
        self.run_ready(at, sink);
    }

    /// When the next child fails or the next part of a rebuild begins, unless the
    /// host submits a request before.
    fn timer(&self) -> Option<Nanos> {
        let failure = self.repair.failures.front().map(|failure| failure.0);
        if self.rebuild.is_none() {
            return failure;
        }
        let both = [failure, self.rebuild_at()];
        both.into_iter().flatten().min()
    }

    fn timer_due(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        let failures = self.repair.failures.front();
        if failures.is_some_and(|failure| failure.0 == at) {
            self.next_failure(at);
        } else {
            self.rebuild_part(at);
        }
        self.run_ready(at, sink);
    }
}
