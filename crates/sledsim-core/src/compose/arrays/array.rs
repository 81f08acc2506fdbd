//! What an array does with requests, failures and spares.

use super::contents::{GONE, Kept, Known};
use super::locks::{Held, Locks};
use super::members::Members;
use super::plan::Plan;
use super::spec::Repair;
use super::{Level, Lost, View};
use crate::compose::{Children, Composite};
use crate::model::contents::Contents;
use crate::model::{Answers, Events, Model, Report};
use sledsim_base::request::{Extent, Extents, Flags, Op, Request, lbns};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use std::collections::{BTreeMap, VecDeque};

/// An array of a level; see the [module](super).
///
/// A request is a job of one or two steps: before a write, what it has to read;
/// then what it reads or writes. A step is at most one request per child, a batch
/// where that is several extents, and the next begins when the last of them is
/// complete. Writes keep others from their blocks (their stripes) until they are
/// complete, and so do reads that are made of other slots, except from each
/// other. The row of a request carries the parts of the child that came last in
/// each step.
///
/// A child fails when it is told to, or when it answers with an error. What it
/// had fails at that instant: reads begin anew without it, and writes are
/// complete without it.
pub(crate) struct Array<L> {
    name: String,
    device: u16,
    pub(super) level: L,
    pub(super) children: Children,
    pub(super) members: Members,
    repair: Repair,
    locks: Locks,
    /// By number; free numbers are used again.
    jobs: Vec<Option<Job>>,
    free: Vec<usize>,
    /// Jobs that may go on.
    ready: VecDeque<usize>,
    /// Requests that children have, by id.
    sent: BTreeMap<u64, Sent>,
    next_id: u64,
    /// Requests of the host under way, and since when there are none.
    hosts: u32,
    idle_since: Nanos,
    rebuild: Option<Rebuild>,
    counts: Counts,
    plan: Plan,
    pub(super) kept: Option<Kept>,
}

/// A request to a child.
struct Sent {
    job: usize,
    child: usize,
    slot: usize,
    /// Where contents are kept, what a read is of.
    extents: Extents,
}

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// What a write has to read.
    Before,
    /// What the request is about.
    Main,
}

/// Whom a job is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    Host,
    /// The rebuild of a slot onto a child, up to an address.
    Rebuild {
        slot: usize,
        child: usize,
        to: u64,
    },
}

/// A request of the host, or a part of a rebuild.
struct Job {
    whom: For,
    request: Request,
    row: Row,
    step: Step,
    /// Up to when its time is accounted for.
    since: Nanos,
    has_started: bool,
    /// Requests to children that this step waits for, and whether one failed.
    left: u32,
    broken: bool,
    /// Whether its last step is over.
    is_over: bool,
    held: Option<Held>,
    /// Others that hold what it needs.
    waits: usize,
    new: Known,
    old: Known,
}

/// A slot that is written anew onto a spare.
#[derive(Clone, Copy)]
struct Rebuild {
    slot: usize,
    child: usize,
    began: Nanos,
    /// Up to which address it is done, and up to which it was begun.
    point: u64,
    next: u64,
    /// Whether a part is being read; if not, when the next may be.
    reading: bool,
    ready: Nanos,
    /// Whether a part is being written, and one that was read meanwhile.
    writing: bool,
    read: Option<usize>,
    /// Whether what the next part needs is gone.
    lost: bool,
}

/// What the report counts.
#[derive(Default)]
struct Counts {
    rmw: u64,
    reconstruct: u64,
    full: u64,
    degraded_reads: u64,
    reconstructed: u64,
    rebuilt: u64,
    rebuild: Nanos,
    retried: u64,
    lost_requests: u64,
}

impl<L: Level> Array<L> {
    /// An array called `name` over `children`, of which the last `spares` stand
    /// by.
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
            jobs: Vec::new(),
            free: Vec::new(),
            ready: VecDeque::new(),
            sent: BTreeMap::new(),
            next_id: 0,
            hosts: 0,
            idle_since: Nanos::ZERO,
            rebuild: None,
            counts: Counts::default(),
            plan: Plan::default(),
            kept: keeps.then(Kept::default),
        };
        while array
            .repair
            .failures
            .front()
            .is_some_and(|failure| failure.0 == Nanos::ZERO)
        {
            array.next_failure(Nanos::ZERO);
        }
        array
    }

    /// Forgets what is under way: power failed at `at`, and the clock begins
    /// anew.
    pub(super) fn begin_anew(&mut self, at: Nanos) {
        self.locks = Locks::default();
        self.jobs.clear();
        self.free.clear();
        self.ready.clear();
        self.sent.clear();
        self.members.forget();
        self.hosts = 0;
        self.idle_since = Nanos::ZERO;
        for failure in &mut self.repair.failures {
            failure.0 = failure.0.since(at);
        }
        if let Some(rebuild) = &mut self.rebuild {
            (rebuild.began, rebuild.ready) = (Nanos::ZERO, Nanos::ZERO);
            (rebuild.reading, rebuild.writing, rebuild.read) = (false, false, None);
            rebuild.next = rebuild.point;
        }
        self.kept = self.kept.is_some().then(Kept::default);
    }

    fn rebuild_at(&self) -> Option<Nanos> {
        let is_begun = |rebuild: &Rebuild| rebuild.next == self.level.child_blocks();
        let rebuild = self
            .rebuild
            .filter(|rebuild| !rebuild.reading && !is_begun(rebuild))?;
        let idle = (self.hosts == 0).then(|| self.idle_since + self.repair.idle_after);
        let at_least = self.repair.pace(rebuild.next);
        let due = at_least.map(|after| rebuild.began + after);
        let begin = [idle, due].into_iter().flatten().min()?;
        Some(begin.max(rebuild.ready))
    }

    /// The next child fails that is to fail.
    fn next_failure(&mut self, at: Nanos) {
        if let Some((_, child)) = self.repair.failures.pop_front() {
            self.fail(child, at);
        }
    }

    /// A child fails, and all that it has.
    fn fail(&mut self, child: usize, at: Nanos) {
        if self.members.has_failed(child) {
            return;
        }
        self.members.fail(child);
        if let Some(rebuild) = self.rebuild.filter(|rebuild| rebuild.child == child) {
            self.rebuild = None;
            self.ready.extend(rebuild.read);
        }
        self.next_rebuild(at);
        let had: Vec<u64> = (self.sent.iter())
            .filter(|(_, sent)| sent.child == child)
            .map(|(id, _)| *id)
            .collect();
        for id in had {
            let Some(sent) = self.sent.remove(&id) else {
                continue;
            };
            self.members.got(child);
            if let Some(job) = &mut self.jobs[sent.job] {
                job.left -= 1;
                job.broken = true;
                if job.left == 0 {
                    self.step_over(sent.job, at, None);
                }
            }
        }
    }

    /// A spare takes the place of what was lost first, if there are both.
    fn next_rebuild(&mut self, at: Nanos) {
        if self.rebuild.is_some() {
            return;
        }
        if let Some((slot, child)) = self.members.replace() {
            let ready = at + self.repair.after;
            self.rebuild = Some(Rebuild {
                slot,
                child,
                began: ready,
                point: 0,
                next: 0,
                reading: false,
                ready,
                writing: false,
                read: None,
                lost: false,
            });
        }
    }

    /// Begins the next part of the rebuild: it is read while the one before it is
    /// written.
    fn rebuild_part(&mut self, at: Nanos) {
        let Some(rebuild) = &mut self.rebuild else {
            return;
        };
        let end = self.level.child_blocks();
        let (slot, child, from) = (rebuild.slot, rebuild.child, rebuild.next);
        let to = end.min(from + self.repair.unit_blocks);
        (rebuild.reading, rebuild.next) = (true, to);
        let mut request = Request::new(0, at, Op::Write, from, (to - from) as u32);
        // What a later power failure takes from a volatile buffer, nobody would
        // miss.
        request.flags.fua = true;
        let held = self.level.held_at(from, to);
        let whom = For::Rebuild { slot, child, to };
        let number = self.begin(whom, request, Known::new());
        self.hold(number, false, &[held]);
    }

    /// A job of a number that is free.
    fn begin(&mut self, whom: For, request: Request, new: Known) -> usize {
        let mut row = Row::of(&request, self.device);
        row.queue_depth = self.hosts;
        let reads_first = request.op == Op::Write;
        let job = Job {
            whom,
            row,
            step: if reads_first {
                Step::Before
            } else {
                Step::Main
            },
            since: request.arrival,
            request,
            has_started: false,
            left: 0,
            broken: false,
            is_over: false,
            held: None,
            waits: 0,
            new,
            old: Known::new(),
        };
        match self.free.pop() {
            Some(number) => {
                self.jobs[number] = Some(job);
                number
            }
            None => {
                self.jobs.push(Some(job));
                self.jobs.len() - 1
            }
        }
    }

    /// Keeps others from `ranges`; the job is ready when nobody keeps it from
    /// them.
    fn hold(&mut self, number: usize, shared: bool, ranges: &[(u64, u64)]) {
        let (held, waits) = self.locks.ask(number, shared, ranges.iter().copied());
        if let Some(job) = &mut self.jobs[number] {
            job.held = Some(held);
            job.waits = waits;
            if waits == 0 {
                self.ready.push_back(number);
            }
        }
    }

    /// Keeps others from the blocks of a request of the host.
    fn hold_extents(&mut self, number: usize, shared: bool, extents: &[Extent]) {
        let level = &self.level;
        let ranges: smallvec::SmallVec<[(u64, u64); 1]> =
            extents.iter().map(|extent| level.held(*extent)).collect();
        self.hold(number, shared, &ranges);
    }

    /// Goes on with all jobs that may.
    fn work(&mut self, at: Nanos, answers: &mut dyn Answers) {
        while let Some(number) = self.ready.pop_front() {
            if let Some(job) = self.jobs[number].take() {
                self.go_on(number, job, at, answers);
            }
        }
    }

    /// Sends what the next step of a job asks for.
    fn go_on(&mut self, number: usize, mut job: Job, at: Nanos, answers: &mut dyn Answers) {
        job.row.parts.queue += at - job.since;
        job.since = at;
        if job.is_over {
            // What is not written where it belongs can be made of others, or not.
            let is_lost = job.broken && self.plan_step(&job, at).is_err();
            let status = [Status::Ok, Status::Error][usize::from(is_lost)];
            return self.finish(number, job, at, status, answers);
        }
        loop {
            self.plan.clear();
            match self.plan_step(&job, at) {
                Err(Lost) => return self.finish(number, job, at, Status::Error, answers),
                Ok(made) if made > 0 => {
                    if job.held.is_none() {
                        // The others must not change meanwhile.
                        let extents = job.request.extents.clone();
                        self.jobs[number] = Some(job);
                        return self.hold_extents(number, true, &extents);
                    }
                    self.counts.degraded_reads += 1;
                    self.counts.reconstructed += made;
                }
                Ok(_) => {}
            }
            job.broken = false;
            self.send(number, &mut job, at, answers);
            if job.left > 0 {
                self.jobs[number] = Some(job);
                return;
            }
            match job.step {
                Step::Before => job.step = Step::Main,
                Step::Main => return self.finish(number, job, at, Status::Ok, answers),
            }
        }
    }

    /// Plans the next step of a job; tells how many blocks are made of others.
    fn plan_step(&mut self, job: &Job, at: Nanos) -> Result<u64, Lost> {
        let (members, plan, request) = (&self.members, &mut self.plan, &job.request);
        if let For::Rebuild { slot, child, to } = job.whom {
            if members.child(slot) != Some(child) {
                return Err(Lost);
            }
            match job.step {
                Step::Before => {
                    self.level.rebuild(slot, request.lbn(), to, members, plan)?;
                }
                Step::Main => plan.add(slot, request.lbn(), to),
            }
            return Ok(0);
        }
        match (request.op, job.step) {
            (Op::Read, _) => {
                let view = View {
                    members,
                    children: &self.children,
                    at,
                    request,
                };
                return self.level.read(&view, plan);
            }
            (Op::Write, Step::Before) => {
                let ways = self.level.before_write(&request.extents, members, plan)?;
                if job.row.retries == 0 {
                    self.counts.rmw += ways.rmw;
                    self.counts.reconstruct += ways.reconstruct;
                    self.counts.full += ways.full;
                }
            }
            (Op::Write | Op::Trim, _) => self.level.write(&request.extents, members, plan)?,
            (Op::Flush, _) => {
                let child = |slot: &usize| members.child(*slot).is_some();
                if !(0..members.len()).any(|slot| child(&slot)) {
                    return Err(Lost);
                }
            }
        }
        Ok(0)
    }

    /// Sends what is planned.
    fn send(&mut self, number: usize, job: &mut Job, at: Nanos, answers: &mut dyn Answers) {
        if job.request.op == Op::Flush {
            for slot in 0..self.members.len() {
                self.send_part(number, job, slot, Extents::new(), at, answers);
            }
        }
        while let Some((slot, extents)) = self.plan.take() {
            self.send_part(number, job, slot, extents, at, answers);
        }
    }

    /// Sends a part of a step to the child in a slot.
    fn send_part(
        &mut self,
        number: usize,
        job: &mut Job,
        slot: usize,
        extents: Extents,
        at: Nanos,
        answers: &mut dyn Answers,
    ) {
        let Some(child) = self.members.child(slot) else {
            return;
        };
        let request = &job.request;
        let (op, flags) = match job.step {
            Step::Before => (Op::Read, Flags::default()),
            Step::Main => (request.op, request.flags),
        };
        let mut sent = Sent {
            job: number,
            child,
            slot,
            extents: Extents::new(),
        };
        if self.kept.is_some()
            && let Some(contents) = self.children.contents(child)
        {
            match op {
                Op::Read => sent.extents.clone_from(&extents),
                Op::Write => {
                    let level = &self.level;
                    let token = |address| match job.whom {
                        For::Host => level.written(slot, address, &job.new, &job.old),
                        For::Rebuild { .. } => level.recover(slot, address, &job.old),
                    };
                    let tokens: Vec<u64> = lbns(&extents)
                        .map(|address| token(address).unwrap_or(GONE))
                        .collect();
                    contents.hold(&tokens);
                }
                Op::Flush | Op::Trim => {}
            }
        }
        let id = self.next_id;
        self.next_id += 1;
        let part = Request {
            id,
            parent: (job.whom == For::Host).then_some(request.id),
            arrival: at,
            op,
            flags,
            stream: request.stream,
            extents,
        };
        self.sent.insert(id, sent);
        self.members.gave(child);
        job.left += 1;
        self.children.submit(child, part, answers);
    }

    /// All that a step waited for has come, last what `last` tells of, or has
    /// failed.
    fn step_over(&mut self, number: usize, at: Nanos, last: Option<&Row>) {
        let Some(job) = &mut self.jobs[number] else {
            return;
        };
        // What was to be read is read anew, without what has failed.
        let again = job.broken && (job.step == Step::Before || job.request.op == Op::Read);
        match last {
            Some(last) if !again => {
                if !job.has_started {
                    job.has_started = true;
                    job.row.start = last.start;
                }
                job.row.parts = job.row.parts + last.parts;
            }
            _ => job.row.parts.retry += at - job.since,
        }
        job.since = at;
        if again {
            job.row.retries += 1;
            self.counts.retried += 1;
            job.old.clear();
        }
        match job.step {
            _ if again => {}
            Step::Before => {
                job.step = Step::Main;
                if let For::Rebuild { child, .. } = job.whom
                    && let Some(rebuild) = self.rebuild.as_mut().filter(|of| of.child == child)
                {
                    rebuild.read = Some(number);
                    return self.write_part(at);
                }
            }
            Step::Main => job.is_over = true,
        }
        self.ready.push_back(number);
    }

    /// Writes the part of the rebuild that was read, after the one before it; the
    /// next may be read meanwhile.
    fn write_part(&mut self, at: Nanos) {
        if let Some(rebuild) = self.rebuild.as_mut().filter(|rebuild| !rebuild.writing)
            && let Some(number) = rebuild.read.take()
        {
            (rebuild.writing, rebuild.reading, rebuild.ready) = (true, false, at);
            self.ready.push_back(number);
        }
    }

    /// A job has come to its end.
    fn finish(
        &mut self,
        number: usize,
        mut job: Job,
        at: Nanos,
        status: Status,
        answers: &mut dyn Answers,
    ) {
        if let Some(held) = job.held.take() {
            let (jobs, ready) = (&mut self.jobs, &mut self.ready);
            self.locks.release(&held, |waiting| {
                if let Some(job) = &mut jobs[waiting] {
                    job.waits -= 1;
                    if job.waits == 0 {
                        ready.push_back(waiting);
                    }
                }
            });
        }
        self.free.push(number);
        if let For::Rebuild { slot, child, to } = job.whom {
            return self.part_over(slot, child, to, at, status);
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
            && let Some(kept) = &mut self.kept
        {
            let level = &self.level;
            let token = |lbn| {
                let (slot, address) = level.place(lbn);
                level.recover(slot, address, &job.old).unwrap_or(GONE)
            };
            let tokens = lbns(&job.request.extents).map(token).collect();
            kept.returned.insert(row.id, tokens);
        }
        self.hosts -= 1;
        if self.hosts == 0 {
            self.idle_since = at;
        }
        answers.done(row);
    }

    /// A part of the rebuild of a slot onto a child is over.
    fn part_over(&mut self, slot: usize, child: usize, to: u64, at: Nanos, status: Status) {
        let Some(rebuild) = &mut self.rebuild else {
            return;
        };
        if rebuild.child != child {
            return;
        }
        if status == Status::Error {
            // What is being written will be there; nothing comes after it.
            rebuild.lost = true;
            if !rebuild.writing {
                self.rebuild = None;
                self.next_rebuild(at);
            }
            return;
        }
        self.counts.rebuilt += to - rebuild.point;
        (rebuild.point, rebuild.writing) = (to, false);
        if to < self.level.child_blocks() {
            let is_lost = rebuild.lost;
            self.members.rebuilt(slot, to);
            if !is_lost {
                return self.write_part(at);
            }
            self.rebuild = None;
            return self.next_rebuild(at);
        }
        self.counts.rebuild += at - rebuild.began;
        self.members.rebuilt(slot, u64::MAX);
        self.rebuild = None;
        self.next_rebuild(at);
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let counts = &self.counts;
        let ranges = self.members.ranges(self.level.child_blocks());
        let lost: u64 = ranges
            .map(|(from, to, missing)| self.level.lost(from, to, missing))
            .sum();
        let mut named = Vec::new();
        if self.level.has_parity() {
            named.extend([
                ("rmw", counts.rmw),
                ("reconstruct_writes", counts.reconstruct),
                ("full_stripe_writes", counts.full),
                ("degraded_reads", counts.degraded_reads),
                ("reconstructed_blocks", counts.reconstructed),
            ]);
        }
        named.extend([
            ("retried_requests", counts.retried),
            ("failed_children", self.members.failures()),
            ("rebuilt_blocks", counts.rebuilt),
            ("rebuild_ns", counts.rebuild.0),
            ("lost", u64::from(lost > 0)),
            ("lost_blocks", lost),
            ("lost_requests", counts.lost_requests),
        ]);
        named
    }

    /// The new tokens of a write, by their places.
    fn tokens(&mut self, request: &Request) -> Known {
        let Some(kept) = self.kept.as_mut().filter(|_| request.op == Op::Write) else {
            return Known::new();
        };
        let held = std::mem::take(&mut kept.held);
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

    fn child_done(&mut self, _child: usize, row: &Row, answers: &mut dyn Answers) {
        let at = row.completion;
        // What is not there was lost with its child.
        let Some(sent) = self.sent.get(&row.id) else {
            return;
        };
        if row.status == Status::Error {
            self.fail(sent.child, at);
            return self.work(at, answers);
        }
        let Some(sent) = self.sent.remove(&row.id) else {
            return;
        };
        self.members.got(sent.child);
        let Some(job) = &mut self.jobs[sent.job] else {
            return;
        };
        job.left -= 1;
        job.row.passes += row.passes;
        job.row.retries += row.retries;
        job.row.energy_nj += row.energy_nj;
        if !sent.extents.is_empty()
            && let Some(contents) = self.children.contents(sent.child)
        {
            let places = lbns(&sent.extents).map(|address| (sent.slot, address));
            job.old.extend(places.zip(contents.returned(row.id)));
        }
        if job.left == 0 {
            self.step_over(sent.job, at, Some(row));
        }
        self.work(at, answers);
    }

    /// When a child fails next, or the next part of a rebuild begins, if the host
    /// does nothing before.
    fn timer(&self) -> Option<Nanos> {
        let failure = self.repair.failures.front().map(|failure| failure.0);
        let both = [failure, self.rebuild_at()];
        both.into_iter().flatten().min()
    }

    fn timer_due(&mut self, at: Nanos, answers: &mut dyn Answers) {
        let failures = self.repair.failures.front();
        if failures.is_some_and(|failure| failure.0 == at) {
            self.next_failure(at);
        } else {
            self.rebuild_part(at);
        }
        self.work(at, answers);
    }
}

impl<L: Level> Model for Array<L> {
    fn blocks(&self) -> u64 {
        self.level.blocks()
    }

    fn servers(&self) -> u64 {
        self.children.servers()
    }

    fn submit(&mut self, request: Request, answers: &mut dyn Answers) {
        let at = request.arrival;
        self.advance(at, false, answers);
        let new = self.tokens(&request);
        let changes =
            request.op == Op::Write || (request.op == Op::Trim && !self.level.has_parity());
        let is_over = request.op == Op::Trim && !changes;
        let extents = changes.then(|| request.extents.clone());
        let number = self.begin(For::Host, request, new);
        self.hosts += 1;
        if let Some(extents) = extents {
            self.hold_extents(number, false, &extents);
        } else if is_over {
            if let Some(job) = self.jobs[number].take() {
                self.finish(number, job, at, Status::Ok, answers);
            }
        } else {
            self.ready.push_back(number);
        }
        self.work(at, answers);
    }

    fn wake(&mut self, now: Nanos, answers: &mut dyn Answers) {
        self.advance(now, true, answers);
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.next_event()
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        self.kept.is_some().then_some(self as &mut dyn Contents)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.children
            .report(&self.name, self.counts(), until, reports);
    }
}
