//! A model under the real clock.
//!
//! Requests get their arrival times as they come, and the model is called in
//! exactly the order in which the simulator's engine would call it: earlier
//! events first, each with the time it was due, however late it is handled. So
//! a simulation of the same arrivals gives bit-identical completions. Real time
//! adds one number per request, its lateness: the time from its completion to
//! its answer.
//!
//! In reading order:
//!
//! * `clock`: model time and real time.
//! * `reply`: the answer to a request, and who observes completions.
//! * `in_flight`: the requests in flight.
//! * `state`: the model and its requests in flight, under one lock.
//! * `margin`: how late the system wakes up a sleeping thread.
//! * `clock_thread`: the thread that calls the model at its events.
//! * `power`: power off, on, and inactivity.

mod clock;
mod clock_thread;
mod in_flight;
mod margin;
mod power;
mod reply;
mod state;

pub use clock::Clock;
pub use power::Unanswered;
pub use reply::{Answer, CompletionObserver, Reply};

use clock_thread::TimelineCore;
use in_flight::{Pending, Ready};
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::model::links::Links;
use sledsim_core::model::{Background, Model, Report, TaskProgress};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

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

/// Prepares a model that keeps contents for a write whose contents are of no interest:
/// each of its blocks gets the token of a block never written.
pub(crate) fn unmarked(request: &Request, model: &mut dyn Model) {
    if request.op == Op::Write
        && let Some(contents) = model.contents()
    {
        contents.stage_write(&vec![0; request.blocks() as usize]);
    }
}

/// An event within this time of a request's arrival is left to the thread that submits the
/// request, which moves its data and finishes it meanwhile: waking the clock thread takes
/// longer.
const LEFT_TO_FINISH: Duration = Duration::from_micros(10);

impl Timeline {
    /// Starts the clock of `model`.
    pub fn start(
        model: Box<dyn Model>,
        speed: f64,
        observer: Arc<dyn CompletionObserver>,
    ) -> std::io::Result<Self> {
        let (blocks, links) = (model.blocks(), model.links());
        let shared = Arc::new(TimelineCore::new(model, speed, observer));
        let runs = Arc::clone(&shared);
        let thread =
            thread::Builder::new().name("sledsim-clock".into()).spawn(move || runs.run())?;
        Ok(Self { shared, thread: Some(thread), blocks, links })
    }

    /// Number of logical blocks.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// How the model handles linked requests.
    pub fn links(&self) -> Links {
        self.links
    }

    /// Model time now.
    pub fn now(&self) -> Nanos {
        self.shared.clock.now()
    }

    /// Number of requests in flight: begun, and not yet reported to the observer.
    pub fn outstanding(&self) -> usize {
        let state = self.shared.state();
        state.in_flight.pending.len() + self.shared.unrecorded.load(Ordering::Acquire)
    }

    /// Submits a request, assigning its id and arrival. Returns the id.
    pub fn begin(&self, request: Request) -> u64 {
        self.begin_all([request], unmarked).start
    }

    /// Submits requests at one instant with no other in between, assigning ids and
    /// arrival. Each is to be finished: an event within 10 us waits for that. Returns the
    /// ids, in order. `before` is called with each request, its arrival that of the timeline,
    /// and the model, before the request is submitted.
    pub fn begin_all(
        &self,
        requests: impl IntoIterator<Item = Request>,
        mut before: impl FnMut(&Request, &mut dyn Model),
    ) -> Range<u64> {
        let mut state = self.shared.state();
        let now = state.after_decided(self.shared.clock.now());
        state.run_before(now);
        state.forget_reads();
        let first = state.ids;
        for mut request in requests {
            request.id = state.ids;
            request.arrival = now;
            state.in_flight.pending.insert(request.id, Pending::of(&request));
            state.ids += 1;
            let taken = state.call(|engine, in_flight| {
                before(&request, &mut *engine.model);
                request.arrival = now - in_flight.zero;
                engine.submit(request, in_flight);
            });
            if taken.is_none() {
                state.in_flight.fail(now);
            }
        }
        // Handle the events at this very instant; the next request arrives later.
        state.run_before(now + Nanos(1));
        state.decided = now;
        let next = state.next();
        if self.shared.clock.left(next) > LEFT_TO_FINISH {
            self.shared.hurry_to(&mut state, next);
        }
        first..state.ids
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
        self.shared.hurry(&mut state);
        let unrecorded = &self.shared.unrecorded;
        unrecorded.fetch_add(ready.len(), Ordering::Relaxed);
        drop(state);
        drop(unanswered);
        for one in ready {
            self.shared.answer(one);
        }
    }

    /// When its clock started, in ns of the monotonic clock of the system.
    pub fn clock_start_ns(&self) -> u64 {
        self.shared.clock.start_ns()
    }

    /// Real time left until `at`; zero if it has passed.
    pub fn left(&self, at: Nanos) -> Duration {
        self.shared.clock.left(at)
    }

    /// Reports of each device up to now, as by [`Model::report`].
    pub fn reports(&self) -> Vec<Report> {
        let mut reports = Vec::new();
        let mut state = self.shared.state();
        let until = self.shared.clock.now().since(state.in_flight.zero);
        state.call(|engine, _| engine.model.report(until, &mut reports));
        reports
    }

    /// Progress of the background tasks.
    pub fn background(&self) -> Vec<TaskProgress> {
        let mut state = self.shared.state();
        let tasks = state.call(|engine, _| engine.model.background().map(Background::tasks));
        tasks.flatten().unwrap_or_default()
    }

    /// Why the device has failed, if its model has panicked.
    pub fn failed(&self) -> Option<String> {
        self.shared.state().engine.as_ref().err().cloned()
    }

    /// Waits at most `grace` until no request is in flight; returns whether that is so.
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
        self.shared.stop();
        // The last reference may be held by an answer sent by this very thread.
        let itself = thread::current().id();
        if let Some(thread) = self.thread.take().filter(|it| it.thread().id() != itself) {
            let _ = thread.join();
        }
    }
}
