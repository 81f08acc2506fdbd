//! Runs a load on a device with power failures.

use super::Plan;
use super::oracle::Oracle;
use super::report::{Block, Report, Violation, ViolationKind};
use crate::load::{Load, LoadSource};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::random::Stream;
use sledsim_base::request::{Flags, OWN_WORK, Op, Request, lbns};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::engine::{Engine, Event, check_extents};
use sledsim_core::model::contents::Contents;
use sledsim_core::model::contents::Promise;
use sledsim_core::model::{CompletionQueue, CompletionSink, Model};
use std::collections::{BTreeSet, VecDeque};

/// The default least number of requests between two power failures.
const LEAST_BETWEEN: u64 = 16;
/// The number of reads, after a power failure, of blocks whose writes were under
/// way: the blocks most likely to change later.
const PROBES: usize = 4;
/// Power fails fewer than this many events after the last of the requests.
const EVENTS_AFTER: u64 = 12;
/// The longest time to a power failure when no event is due.
const IDLE_NS: u64 = 1_000_000_000;
/// The number of events between two calls of `check`.
const CHECK_EVERY: u64 = 1024;
/// A model that wakes this many times without any other event counts as idle.
const MOST_WAKES: u64 = 100_000;

/// As [`super::test`], of the model that `build` makes, with contents, and that
/// promises as said.
pub fn test_model(
    build: &dyn Fn() -> Result<Box<dyn Model>>,
    promise: Promise,
    load: &Load,
    plan: &Plan,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Report> {
    plan.check()?;
    load.keep(&mut |_| check(progress(&Report::default(), plan)))?;
    let promise = plan.promise.unwrap_or(promise);
    let mut crashes = Stream::new(plan.seed, "crash points");
    let mut report = Report { seed: plan.seed, ..Report::default() };
    while report.points < plan.points {
        let model = build()?;
        let blocks = model.blocks();
        let source = load.clone().with_seed_offset(report.rounds);
        let source = source.source(blocks, &mut |_| check(progress(&report, plan)))?;
        let spread = source.requests().unwrap_or(0) / plan.points;
        let between = plan.requests_between;
        let mut round = Round {
            plan,
            longest: report.recoveries.iter().max().copied(),
            between: between.unwrap_or(spread.max(LEAST_BETWEEN)),
            max_queue: load.limits.max_queue,
            blocks,
            crashes: &mut crashes,
            chance: Stream::new(plan.seed, &format!("what is left {}", report.rounds)),
            marks: Stream::new(plan.seed, &format!("marks {}", report.rounds)),
            engine: Engine::new(model),
            source,
            oracle: Oracle::new(promise),
            report: &mut report,
            announced: PendingCompletions::default(),
            zero: (Nanos::ZERO, Nanos::ZERO),
            failed_at: None,
            extra: VecDeque::new(),
            next_extra_id: OWN_WORK - 1,
            of_load: BTreeSet::new(),
        };
        round.run(check)?;
        report.rounds += 1;
        if report.writes == 0 {
            let problem = "the load writes nothing: there is nothing to lose in a crash";
            return Err(Error::Request(problem.to_owned()));
        }
    }
    report.recoveries.sort_unstable();
    Ok(report)
}

fn progress(report: &Report, plan: &Plan) -> Progress {
    Progress { completed: report.points, requests: Some(plan.points), share: None }
}

/// Announced completions: id, and whether served.
#[derive(Default)]
struct PendingCompletions(CompletionQueue<(u64, bool)>);

impl CompletionSink for PendingCompletions {
    fn done(&mut self, row: &Row) {
        debug_assert_eq!(row.parts.total(), row.completion - row.arrival);
        self.0.push(row.completion, (row.id, row.status == Status::Ok));
    }

    fn note(&mut self, _row: &Row) {}
}

/// A load on a new device, from start to end.
struct Round<'a> {
    plan: &'a Plan,
    between: u64,
    max_queue: u64,
    blocks: u64,
    crashes: &'a mut Stream,
    chance: Stream,
    marks: Stream,
    engine: Engine<Box<dyn Model>>,
    source: Box<dyn LoadSource>,
    oracle: Oracle,
    report: &'a mut Report,
    announced: PendingCompletions,
    /// One instant on the clocks of the model, which restarts when power fails, and of
    /// the load.
    zero: (Nanos, Nanos),
    /// On the clock of the load.
    failed_at: Option<Nanos>,
    /// Requests that the test submits before the next one of the load.
    extra: VecDeque<Request>,
    next_extra_id: u64,
    /// The ids of the load's outstanding requests.
    of_load: BTreeSet<u64>,
    /// The longest recovery so far.
    longest: Option<Nanos>,
}

/// The reason why [`Round::run_until_failure`] returned.
enum Ended {
    /// Power fails.
    Power(Nanos),
    /// Nothing is left to do.
    Idle,
}

impl Round<'_> {
    fn run(&mut self, check: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()> {
        loop {
            let ended = self.run_until_failure(check)?;
            let at = match ended {
                Ended::Power(at) => at,
                Ended::Idle => self.engine.now() + Nanos(self.crashes.below(IDLE_NS)),
            };
            if matches!(ended, Ended::Idle) {
                let unanswered: Vec<u64> = self.oracle.open().map(|request| request.id).collect();
                for id in unanswered {
                    self.violated(ViolationKind::Unanswered(id));
                }
            }
            self.fail(at);
            check(progress(self.report, self.plan))?;
            if matches!(ended, Ended::Idle) || self.report.points == self.plan.points {
                return Ok(());
            }
        }
    }

    fn contents(&mut self) -> &mut dyn Contents {
        self.engine.model.contents().expect("it was built to keep some")
    }

    /// Converts an instant of the model's clock to the load's.
    fn load_time(&self, at: Nanos) -> Nanos {
        at.since(self.zero.0) + self.zero.1
    }

    /// Simulates until power fails.
    fn run_until_failure(
        &mut self,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<Ended> {
        let mut requests_left = self.crashes.geometric(self.between as f64);
        let mut events_left = self.crashes.below(EVENTS_AFTER);
        let (mut events, mut wakes) = (0_u64, 0);
        while wakes < MOST_WAKES {
            let completion = self.announced.0.due();
            let arrival = self.next_arrival()?.unwrap_or(Nanos::MAX);
            let at = self.engine.next_event(completion, arrival);
            if at == Nanos::MAX {
                break;
            }
            let event = Event::at(at, completion, arrival);
            if requests_left == 0 {
                if events_left == 0 {
                    // Right after an event, right before the next one, or between.
                    let gap = at.since(self.engine.now()).0;
                    let after = match self.crashes.below(4) {
                        0 => 0,
                        1 => gap,
                        _ => self.crashes.below(gap + 1),
                    };
                    return Ok(Ended::Power(self.engine.now() + Nanos(after)));
                }
                events_left -= 1;
            }
            wakes = if event == Event::Wake { wakes + 1 } else { 0 };
            match event {
                Event::Completion => self.complete(),
                Event::Arrival => {
                    self.arrive(at.max(self.engine.now()))?;
                    requests_left = requests_left.saturating_sub(1);
                }
                Event::Wake => self.engine.wake(at, &mut self.announced),
            }
            events += 1;
            if events.is_multiple_of(CHECK_EVERY) {
                check(progress(self.report, self.plan))?;
            }
        }
        Ok(Ended::Idle)
    }

    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        if !self.extra.is_empty() {
            return Ok(Some(self.engine.now()));
        }
        let arrival = self.source.next_arrival()?;
        Ok(arrival.map(|at| at.since(self.zero.1) + self.zero.0))
    }

    fn arrive(&mut self, now: Nanos) -> Result<()> {
        let mut request = match self.extra.pop_front() {
            Some(request) => request,
            None => {
                let request = self.source.take();
                self.of_load.insert(request.id);
                request
            }
        };
        request.arrival = now;
        check_extents(&request, self.blocks)?;
        if request.flags.contains(Flags::LINKED) {
            let id = request.id;
            return Err(Error::Request(format!(
                "request {id} is linked to the next one: a crash test takes no batches"
            )));
        }
        if request.op == Op::Write {
            request.flags |= Flags::FUA.when(self.marks.chance(self.plan.fua));
        }
        if request.op != Op::Flush && self.marks.chance(self.plan.flush) {
            let flush = Request { op: Op::Flush, ..Request::default() };
            self.submit_extra(flush);
        }
        let at = self.load_time(now);
        let tokens = self.oracle.begin(&request, at);
        self.report.requests += 1;
        match request.op {
            Op::Read => self.report.reads += 1,
            Op::Write => {
                self.report.writes += 1;
                self.contents().stage_write(&tokens);
            }
            Op::Flush | Op::Trim => {}
        }
        self.engine.submit(request, &mut self.announced);
        let outstanding = self.oracle.open_count();
        if outstanding > self.max_queue {
            return Err(Error::Request(format!(
                "the load outran the device: {outstanding} requests are outstanding at {at}; \
                 lower its rate, or raise max_queue"
            )));
        }
        Ok(())
    }

    /// Submits a request of the test before the next one of the load.
    fn submit_extra(&mut self, request: Request) {
        let id = self.next_extra_id;
        self.next_extra_id -= 1;
        self.extra.push_back(Request { id, ..request });
    }

    fn complete(&mut self) {
        let (at, (id, served)) = self.announced.0.pop().expect("a completion is due");
        self.engine.set(at);
        let at = self.load_time(at);
        if !served {
            self.oracle.fail(id);
        } else if let Some((begun, request)) = self.oracle.end(id, at)
            && request.op == Op::Read
        {
            self.check_read(&request, begun);
        }
        if self.of_load.remove(&id) {
            self.source.completed(id, at);
        }
    }

    /// Compares the data of a read with the allowed versions.
    fn check_read(&mut self, read: &Request, begun: u64) {
        let mut tokens = self.contents().take_read_data(read.id).into_iter();
        for lbn in lbns(&read.extents) {
            self.report.read_blocks_checked += 1;
            let found = tokens.next();
            let allowed = self.oracle.readable(lbn, begun);
            if !found.is_some_and(|token| allowed.contains(&token)) {
                let block = self.block(lbn, found, allowed);
                self.violated(ViolationKind::Returned(read.id, block));
            }
        }
    }

    /// Power fails at `at`, possibly again during the recovery; then all written
    /// blocks are checked, and the load continues.
    fn fail(&mut self, at: Nanos) {
        self.engine.set(at);
        let failed_at = self.load_time(at);
        self.failed_at = Some(failed_at);
        self.report.points += 1;
        let under_way: Vec<(Request, u64)> = (self.oracle.open())
            .filter_map(|request| Some((request.clone(), self.oracle.first_token(request.id)?)))
            .collect();
        let recovered = self.recover(at);
        self.check_all();
        for (write, first) in &under_way {
            let tokens = lbns(&write.extents).zip(*first..);
            let mut new = 0;
            for (lbn, token) in tokens {
                new += u32::from(self.contents().token(lbn) == token);
            }
            let kinds = &mut self.report.under_way;
            match new {
                0 => kinds.lost += 1,
                _ if new == write.blocks() => kinds.kept += 1,
                _ => kinds.torn += 1,
            }
        }
        self.announced = PendingCompletions::default();
        self.oracle.forget();
        self.extra.clear();
        // The host sees them fail and continues.
        for id in std::mem::take(&mut self.of_load) {
            self.source.completed(id, failed_at);
        }
        self.engine.set(recovered);
        self.zero = (recovered, failed_at);
        for (write, _) in under_way.into_iter().take(PROBES) {
            let extents = write.extents;
            self.submit_extra(Request { op: Op::Read, extents, ..Request::default() });
        }
    }

    /// Power fails and returns until a recovery completes; returns its end on
    /// the new clock.
    fn recover(&mut self, mut at: Nanos) -> Nanos {
        loop {
            let contents = self.engine.model.contents().expect("it was built to keep some");
            contents.lose_power(at, &mut self.chance);
            let until = match self.longest {
                Some(longest) if self.crashes.chance(self.plan.in_recovery) => {
                    Nanos(self.crashes.below(longest.0 + 1))
                }
                _ => Nanos::MAX,
            };
            if let Some(end) = contents.recover_until(Nanos::ZERO, until) {
                self.report.recoveries.push(end);
                self.longest = self.longest.max(Some(end));
                return end;
            }
            self.report.in_recovery += 1;
            at = until;
        }
    }

    /// Checks every block ever written.
    fn check_all(&mut self) {
        for lbn in self.oracle.written() {
            self.report.blocks_checked += 1;
            let found = self.contents().token(lbn);
            let allowed = self.oracle.may_survive(lbn);
            if !allowed.contains(&found) {
                let block = self.block(lbn, Some(found), allowed);
                self.violated(ViolationKind::Found(block));
            }
            self.oracle.found(lbn, found);
        }
    }

    fn block(&self, lbn: u64, found: Option<u64>, allowed: Vec<u64>) -> Block {
        Block {
            lbn,
            found,
            origin: found.and_then(|token| self.oracle.origin(token)),
            allowed,
            history: self.oracle.history(lbn),
        }
    }

    fn violated(&mut self, wrong: ViolationKind) {
        self.report.violations += 1;
        if self.report.shown.len() < self.plan.shown {
            self.report.shown.push(Violation {
                seed: self.plan.seed,
                round: self.report.rounds,
                point: self.report.points,
                failed_at: self.failed_at,
                at: self.load_time(self.engine.now()),
                wrong,
            });
        }
    }
}
