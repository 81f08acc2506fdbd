//! A model under the real clock.
//!
//! Requests get their arrival times as they come, and the model is called in
//! exactly the order in which the simulator's engine would call it: earlier
//! events first, each with the time it was due, however late it is handled. So
//! a simulation of the same arrivals gives bit-identical completions. Real time
//! adds one number per request, its lateness: the time from its completion to
//! its answer.
//!
//! `clock` converts between model time and real time; `margin` estimates how late the
//! system wakes up a sleeping thread.

mod clock;
mod margin;

pub use clock::Clock;
use margin::Margin;

use crate::errno::Errno;
use rustc_hash::FxBuildHasher;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::model::Background;
use sledsim_core::model::links::Links;
use sledsim_core::model::{CompletionQueue, CompletionSink, Model, Report, Rest};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The answer to a client: the data of a read, empty for other requests, or the error.
pub type Answer = Result<Vec<u8>, Errno>;

/// Receives the answer to one request.
pub trait Reply: Send {
    /// Sends the answer. Called once, by the thread that finds it due; must not block
    /// on the client.
    fn send(self: Box<Self>, answer: Answer);

    /// As [`Reply::send`], with the row of the request and its lateness in model time.
    fn tell(self: Box<Self>, row: &Row, lateness: Nanos, answer: Answer) {
        let _ = (row, lateness);
        self.send(answer);
    }
}

/// Observes completions; must not block.
pub trait CompletionObserver: Send + Sync {
    /// Called when a request is answered, `lateness` (in model time) after its
    /// completion.
    fn answered(&self, row: &Row, lateness: Nanos);

    /// Called when the device has decided on a request, before any later decision;
    /// holds the lock of the timeline.
    fn decided(&self, row: &Row) {
        let _ = row;
    }

    /// Called when a child of a composite completes a request of its own.
    fn note(&self, row: &Row);
}

/// A request in flight.
#[derive(Default)]
struct Pending {
    /// Its row, once the model has completed it.
    row: Option<Row>,
    /// Its answer, once its data have been moved.
    answer: Option<(Box<dyn Reply>, Answer)>,
}

/// Replies that are not sent, because power has failed. A reply may submit commands when it
/// is dropped: that must be done without a lock that these take.
#[derive(Default)]
pub struct Unanswered(Vec<Box<dyn Reply>>);

/// A request that is due and has its answer.
struct Ready {
    row: Row,
    reply: Box<dyn Reply>,
    answer: Answer,
}

/// The requests in flight, and their announced completions.
struct InFlight {
    pending: HashMap<u64, Pending, FxBuildHasher>,
    /// Ids of requests by completion time.
    completions: CompletionQueue<u64>,
    observer: Arc<dyn CompletionObserver>,
    /// Zero of the model's clock on that of the timeline: when power came on last.
    zero: Nanos,
    /// Whether the model keeps contents.
    keeps: bool,
    /// Ids and completions of requests since then, if they are kept.
    completed: Option<Vec<(u64, Nanos)>>,
    /// Reads that are due, whose contents the model still keeps.
    read: Vec<u64>,
}

impl CompletionSink for InFlight {
    fn done(&mut self, row: &Row) {
        let row = self.on_timeline(row);
        self.observer.decided(&row);
        self.completions.push(row.completion, row.id);
        self.pending.entry(row.id).or_default().row = Some(row);
        if let Some(completed) = &mut self.completed {
            completed.push((row.id, row.completion));
        }
    }

    fn note(&mut self, row: &Row) {
        self.observer.note(&self.on_timeline(row));
    }
}

impl InFlight {
    /// The row with the times of the timeline.
    fn on_timeline(&self, row: &Row) -> Row {
        Row {
            arrival: row.arrival + self.zero,
            start: row.start + self.zero,
            completion: row.completion + self.zero,
            ..*row
        }
    }

    /// Removes the request if its completion time has passed and its answer is there.
    fn take(&mut self, id: u64, now: Nanos) -> Option<Ready> {
        let Entry::Occupied(entry) = self.pending.entry(id) else {
            return None;
        };
        let pending = entry.get();
        if pending.answer.is_none() || pending.row.is_none_or(|row| row.completion > now) {
            return None;
        }
        let pending = entry.remove();
        if self.keeps && pending.row.is_some_and(|row| row.op == Op::Read) {
            self.read.push(id);
        }
        let (row, (reply, answer)) = (pending.row?, pending.answer?);
        Some(Ready { row, reply, answer })
    }

    /// The first announced completion of a request still in flight.
    fn first(&mut self) -> Option<Nanos> {
        while let Some((at, id)) = self.completions.peek() {
            if self.pending.contains_key(id) {
                return Some(at);
            }
            self.completions.pop();
        }
        None
    }
}

struct State {
    model: Box<dyn Model>,
    in_flight: InFlight,
    /// Events up to here have been handled: later requests arrive after it.
    decided: Nanos,
    /// The next time at which the clock thread checks.
    watched: Nanos,
    /// Whether the device has power.
    powered: bool,
    asleep: bool,
    stopped: bool,
    ids: u64,
}

impl State {
    /// Calls the model for all events before `until`.
    fn run_before(&mut self, until: Nanos) {
        let zero = self.in_flight.zero;
        while let Some(at) = self.wake_at().filter(|at| *at < until) {
            // A model may ask to be woken at a time already passed.
            let at = at.max(self.decided);
            self.model.wake(at - zero, &mut self.in_flight);
            self.decided = at;
        }
    }

    /// Drops the contents that due reads returned: the data are those of the store.
    fn forget_reads(&mut self) {
        let read = &mut self.in_flight.read;
        if !read.is_empty()
            && let Some(contents) = self.model.contents()
        {
            for id in read.drain(..) {
                let _ = contents.take_read_data(id);
            }
        }
    }

    /// The time of the model's next event.
    fn wake_at(&self) -> Option<Nanos> {
        let at = self.model.wake_at().filter(|_| self.powered)?;
        Some(at + self.in_flight.zero)
    }

    /// Time of the next event.
    fn next(&mut self) -> Nanos {
        let wake = self.wake_at().unwrap_or(Nanos::MAX);
        wake.min(self.in_flight.first().unwrap_or(Nanos::MAX))
    }
}

struct TimelineCore {
    clock: Clock,
    state: Mutex<State>,
    changed: Condvar,
    /// Tells a spinning clock thread to check again.
    poke: AtomicBool,
    observer: Arc<dyn CompletionObserver>,
    /// Number of due requests not yet reported to the observer. Incremented under the
    /// lock of the state.
    unrecorded: AtomicUsize,
}

impl TimelineCore {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, ready: Ready) {
        let Ready {
            mut row,
            reply,
            answer,
        } = ready;
        let late = self.clock.now().since(row.completion);
        let answer = match row.status {
            Status::Ok => answer,
            Status::Error => Err(Errno::IO),
        };
        if answer.is_err() {
            row.status = Status::Error; // the data failed, not the device
        }
        // First: a client with its answer may look for the request in a recording.
        self.observer.answered(&row, late);
        self.unrecorded.fetch_sub(1, Ordering::Release);
        reply.tell(&row, late, answer);
    }

    /// Wakes the clock thread earlier if needed.
    fn hurry(&self, state: &mut State) {
        let next = state.next();
        if next < state.watched {
            state.watched = next;
            self.poke.store(true, Ordering::Release);
            if state.asleep {
                self.changed.notify_one();
            }
        }
    }

    /// Runs the clock thread.
    fn run(&self) {
        // One nanosecond: the default of 50 us would delay every wake-up.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        // Highest priority, if permitted.
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), -20);
        let mut ready = Vec::new();
        let mut margin = Margin::new();
        let mut state = self.state();
        loop {
            let now = self.clock.now();
            state.run_before(now);
            while let Some((_, id)) = state.in_flight.completions.pop_through(now) {
                ready.extend(state.in_flight.take(id, now));
            }
            if !ready.is_empty() {
                self.unrecorded.fetch_add(ready.len(), Ordering::Relaxed);
                drop(state);
                for one in ready.drain(..) {
                    self.answer(one);
                }
                state = self.state();
                continue;
            }
            if state.stopped {
                return;
            }
            let next = state.next();
            state.watched = next;
            self.poke.store(false, Ordering::Release);
            let left = self.clock.left(next);
            if next == Nanos::MAX {
                state.asleep = true;
                state = (self.changed.wait(state)).unwrap_or_else(PoisonError::into_inner);
                state.asleep = false;
            } else if left > margin.get() {
                state.asleep = true;
                let nap = left.saturating_sub(margin.get());
                let asleep = Instant::now();
                let waited = self.changed.wait_timeout(state, nap);
                let (back, ended) = waited.unwrap_or_else(PoisonError::into_inner);
                state = back;
                state.asleep = false;
                if ended.timed_out() {
                    margin.observe(asleep.elapsed().saturating_sub(nap));
                }
            } else {
                drop(state);
                while self.clock.now() <= next && !self.poke.load(Ordering::Acquire) {
                    std::hint::spin_loop();
                }
                state = self.state();
            }
        }
    }
}

/// A model that runs in real time.
///
/// [`Timeline::begin`] gives a request its arrival; then its data are moved;
/// [`Timeline::finish`] takes its answer. The answer is sent when both it and the
/// completion are there.
pub struct Timeline {
    shared: Arc<TimelineCore>,
    thread: Option<JoinHandle<()>>,
    blocks: u64,
    links: Links,
}

/// Gives a write to a model that keeps contents the mark of data at first: these contents
/// are of no interest.
pub(crate) fn unmarked(request: &Request, model: &mut dyn Model) {
    if request.op == Op::Write
        && let Some(contents) = model.contents()
    {
        contents.stage_write(&vec![0; request.blocks() as usize]);
    }
}

impl Timeline {
    /// Starts the clock of `model`.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(
        mut model: Box<dyn Model>,
        speed: f64,
        observer: Arc<dyn CompletionObserver>,
    ) -> std::io::Result<Self> {
        let (blocks, links) = (model.blocks(), model.links());
        let keeps = model.contents().is_some();
        let shared = Arc::new(TimelineCore {
            clock: Clock::start(speed),
            state: Mutex::new(State {
                model,
                in_flight: InFlight {
                    pending: HashMap::default(),
                    completions: CompletionQueue::default(),
                    observer: Arc::clone(&observer),
                    zero: Nanos::ZERO,
                    keeps,
                    completed: None,
                    read: Vec::new(),
                },
                decided: Nanos::ZERO,
                watched: Nanos::ZERO,
                powered: true,
                asleep: false,
                stopped: false,
                ids: 0,
            }),
            changed: Condvar::new(),
            poke: AtomicBool::new(false),
            observer,
            unrecorded: AtomicUsize::new(0),
        });
        let runs = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("sledsim-clock".into())
            .spawn(move || runs.run())?;
        Ok(Self {
            shared,
            thread: Some(thread),
            blocks,
            links,
        })
    }

    /// Number of logical blocks.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// How the model handles linked requests.
    #[must_use]
    pub fn links(&self) -> Links {
        self.links
    }

    /// Model time now.
    #[must_use]
    pub fn now(&self) -> Nanos {
        self.shared.clock.now()
    }

    /// Number of requests in flight: begun, and not yet reported to the observer.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        let state = self.shared.state();
        state.in_flight.pending.len() + self.shared.unrecorded.load(Ordering::Acquire)
    }

    /// Submits a request, assigning its id and arrival. Returns the id.
    #[must_use]
    pub fn begin(&self, request: Request) -> u64 {
        self.begin_all([request], unmarked).start
    }

    /// Submits requests at one instant with no other in between, assigning ids and
    /// arrival. Returns the ids, in order. `before` is called with each request, its
    /// arrival that of the timeline, and the model, before the request is submitted.
    #[must_use]
    pub fn begin_all(
        &self,
        requests: impl IntoIterator<Item = Request>,
        mut before: impl FnMut(&Request, &mut dyn Model),
    ) -> Range<u64> {
        let mut state = self.shared.state();
        let now = self.shared.clock.now().max(state.decided + Nanos(1));
        state.run_before(now);
        state.forget_reads();
        let first = state.ids;
        let State {
            model,
            in_flight,
            ids,
            ..
        } = &mut *state;
        for mut request in requests {
            request.id = *ids;
            request.arrival = now;
            in_flight.pending.insert(*ids, Pending::default());
            *ids += 1;
            before(&request, &mut **model);
            request.arrival = now - in_flight.zero;
            model.submit(request, in_flight);
        }
        // Handle the events at this very instant; the next request arrives later.
        state.run_before(now + Nanos(1));
        state.decided = now;
        let these = first..state.ids;
        // Complete at once: `finish` answers it without the clock thread.
        let completions = &mut state.in_flight.completions;
        while matches!(completions.peek(), Some((at, id)) if at <= now && these.contains(id)) {
            completions.pop();
        }
        self.shared.hurry(&mut state);
        these
    }

    /// Sets the answer of request `id` after its data have been moved; it is sent at
    /// its completion time.
    pub fn finish(&self, id: u64, reply: Box<dyn Reply>, answer: Answer) {
        self.finish_all([(id, reply, answer)]);
    }

    /// As [`Timeline::finish`], for several requests.
    pub fn finish_all(&self, requests: impl IntoIterator<Item = (u64, Box<dyn Reply>, Answer)>) {
        let mut ready = SmallVec::<[Ready; 1]>::new();
        // Of requests that a power failure has ended; dropped without the lock.
        let mut unanswered = Unanswered::default();
        let mut state = self.shared.state();
        let now = self.shared.clock.now();
        // Requests complete by now need not wait for the clock thread.
        state.run_before(now);
        for (id, reply, answer) in requests {
            match state.in_flight.pending.get_mut(&id) {
                Some(pending) => pending.answer = Some((reply, answer)),
                None => unanswered.0.push(reply),
            }
            ready.extend(state.in_flight.take(id, now));
        }
        let unrecorded = &self.shared.unrecorded;
        unrecorded.fetch_add(ready.len(), Ordering::Relaxed);
        drop(state);
        drop(unanswered);
        for one in ready {
            self.shared.answer(one);
        }
    }

    /// Keeps the completions of requests, for [`Timeline::cut`].
    pub fn keep_completions(&self) {
        self.shared.state().in_flight.completed = Some(Vec::new());
    }

    /// Takes the completions kept so far.
    pub(crate) fn completed(&self) -> Vec<(u64, Nanos)> {
        let completed = &mut self.shared.state().in_flight.completed;
        completed.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Power fails at `at`, or now; not before the latest arrival. No request in flight is
    /// answered. `fail` gets the model after all events before that instant, the instant on
    /// the clock of the timeline, and the completions since power-on. Also returns the
    /// replies that are not sent.
    pub fn cut<T>(
        &self,
        at: Option<Nanos>,
        fail: impl FnOnce(&mut dyn Model, Nanos, Vec<(u64, Nanos)>) -> T,
    ) -> (T, Unanswered) {
        let mut state = self.shared.state();
        let at = at.unwrap_or_else(|| self.shared.clock.now());
        let at = at.max(state.decided);
        state.run_before(at);
        state.powered = false;
        let completed = state.in_flight.completed.as_mut().map(std::mem::take);
        let done = fail(&mut *state.model, at, completed.unwrap_or_default());
        state.in_flight.completions = CompletionQueue::default();
        let pending = std::mem::take(&mut state.in_flight.pending);
        self.shared.hurry(&mut state);
        drop(state);
        let answers = pending.into_values().filter_map(|pending| pending.answer);
        let unanswered = answers.map(|(reply, _)| reply).collect();
        (done, Unanswered(unanswered))
    }

    /// Power returns now. The device is at time zero of its own clock and takes requests
    /// `ready` later. Returns the instant.
    #[must_use]
    pub fn power_on(&self, ready: Nanos) -> Nanos {
        let mut state = self.shared.state();
        let now = self.shared.clock.now().max(state.decided + Nanos(1));
        state.in_flight.zero = now;
        state.decided = now + ready;
        state.powered = true;
        self.shared.hurry(&mut state);
        now
    }

    /// Lets the device go inactive now, until its next request.
    #[must_use]
    pub fn rest(&self) -> Rest {
        let mut state = self.shared.state();
        let now = self.shared.clock.now().max(state.decided + Nanos(1));
        if !state.powered || now < state.in_flight.zero {
            return Rest::Cannot;
        }
        state.run_before(now);
        let at = now - state.in_flight.zero;
        let done = state.model.rest(at);
        state.decided = now;
        self.shared.hurry(&mut state);
        done
    }

    /// When its clock started, in ns of the monotonic clock of the system.
    #[must_use]
    pub fn clock_start_ns(&self) -> u64 {
        self.shared.clock.start_ns()
    }

    /// Real time left until `at`; zero if it has passed.
    #[must_use]
    pub fn left(&self, at: Nanos) -> Duration {
        self.shared.clock.left(at)
    }

    /// Reports of each device up to now, as by [`Model::report`].
    #[must_use]
    pub fn reports(&self) -> Vec<Report> {
        let mut reports = Vec::new();
        let state = self.shared.state();
        let until = self.shared.clock.now().since(state.in_flight.zero);
        state.model.report(until, &mut reports);
        reports
    }

    /// Progress of the background tasks.
    #[must_use]
    pub fn background(&self) -> Vec<serde_json::Value> {
        let state = self.shared.state();
        (state.model.background()).map_or_else(Vec::new, Background::to_json)
    }

    /// Waits at most `grace` until no request is in flight; returns whether that is so.
    #[must_use]
    pub fn drain(&self, grace: Duration) -> bool {
        let end = Instant::now() + grace;
        while self.outstanding() > 0 {
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(Duration::from_millis(2));
        }
        true
    }
}

impl Drop for Timeline {
    /// Stops the clock; requests still in flight are never answered.
    fn drop(&mut self) {
        self.shared.state().stopped = true;
        self.shared.changed.notify_one();
        self.shared.poke.store(true, Ordering::Release);
        // The last reference may be held by an answer sent by this very thread.
        let itself = thread::current().id();
        if let Some(thread) = self.thread.take().filter(|it| it.thread().id() != itself) {
            let _ = thread.join();
        }
    }
}
