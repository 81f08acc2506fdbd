//! A model under the real clock.
//!
//! Requests get their arrival as they come, and the model is called in just
//! the order in which the engine of the simulator would call it: whatever was
//! due earlier first, with the instant it was due at, however late that is. So
//! a simulation of the same arrivals gives the same completions to the bit, and
//! what reality adds is one number per request: how much later than its
//! completion it was answered, its lateness.

mod clock;

pub use clock::Clock;

use crate::errno::Errno;
use rustc_hash::FxBuildHasher;
use sledsim_base::request::Request;
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::model::Background;
use sledsim_core::model::links::Links;
use sledsim_core::model::{CompletionQueue, CompletionSink, Model, Report};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What a client is told: the bytes of a read, nothing for anything else, or
/// why it failed.
pub type Answer = Result<Vec<u8>, Errno>;

/// Where the answer to one request goes.
pub trait Reply: Send {
    /// Sends it. Called once, by whichever thread finds it due; it must not
    /// wait for the client.
    fn send(self: Box<Self>, answer: Answer);

    /// As [`Reply::send`], for who wants to know what happened to the request,
    /// and how much later than its completion it is answered, in model time.
    fn tell(self: Box<Self>, row: &Row, lateness: Nanos, answer: Answer) {
        let _ = (row, lateness);
        self.send(answer);
    }
}

/// Who is told of what happened; must not wait.
pub trait CompletionObserver: Send + Sync {
    /// A request is answered, so much later (in model time) than its completion.
    fn answered(&self, row: &Row, lateness: Nanos);

    /// A child of a composite completed a request of its own.
    fn note(&self, row: &Row);
}

/// The clock spins for so long before an instant: a sleeping thread wakes that
/// much too late at worst, or nearly.
const SPIN: Duration = Duration::from_micros(60);

/// A request under way.
#[derive(Default)]
struct Pending {
    /// What the model said, once it has.
    row: Option<Row>,
    /// What to answer, once the bytes are there.
    answer: Option<(Box<dyn Reply>, Answer)>,
}

/// A request that is due and has its answer.
struct Ready {
    row: Row,
    reply: Box<dyn Reply>,
    answer: Answer,
}

/// The requests under way, and their announced completions.
struct UnderWay {
    pending: HashMap<u64, Pending, FxBuildHasher>,
    /// The ids of the requests.
    completions: CompletionQueue<u64>,
    witness: Arc<dyn CompletionObserver>,
}

impl CompletionSink for UnderWay {
    fn done(&mut self, row: &Row) {
        self.completions.push(row.completion, row.id);
        self.pending.entry(row.id).or_default().row = Some(*row);
    }

    fn note(&mut self, row: &Row) {
        self.witness.note(row);
    }
}

impl UnderWay {
    /// The request if it has both its completion, which has come, and its
    /// answer.
    fn take(&mut self, id: u64, now: Nanos) -> Option<Ready> {
        let Entry::Occupied(entry) = self.pending.entry(id) else {
            return None;
        };
        let pending = entry.get();
        if pending.answer.is_none() || pending.row.is_none_or(|row| row.completion > now) {
            return None;
        }
        let pending = entry.remove();
        let (row, (reply, answer)) = (pending.row?, pending.answer?);
        Some(Ready { row, reply, answer })
    }

    /// The first announced completion whose request is still under way.
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
    under_way: UnderWay,
    /// What was decided up to here is decided: nothing arrives so early.
    decided: Nanos,
    /// When the clock thread looks next.
    watched: Nanos,
    asleep: bool,
    stopped: bool,
    ids: u64,
}

impl State {
    /// Calls the model for all that was due before `until`.
    fn run_before(&mut self, until: Nanos) {
        while let Some(at) = self.model.wake_at().filter(|at| *at < until) {
            // A model may ask to be woken for what was due before it was told.
            let at = at.max(self.decided);
            self.model.wake(at, &mut self.under_way);
            self.decided = at;
        }
    }

    /// When there is something to do.
    fn next(&mut self) -> Nanos {
        let wake = self.model.wake_at().unwrap_or(Nanos::MAX);
        wake.min(self.under_way.first().unwrap_or(Nanos::MAX))
    }
}

struct Shared {
    clock: Clock,
    state: Mutex<State>,
    changed: Condvar,
    /// Tells a spinning clock thread to look again.
    poke: AtomicBool,
    witness: Arc<dyn CompletionObserver>,
    /// Requests that are due and that the witness does not know of yet. It grows
    /// under the lock of the state.
    unrecorded: AtomicUsize,
}

impl Shared {
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
            row.status = Status::Error; // the bytes failed, though the device did not
        }
        // First: a client that has its answer may look for the request in a recording.
        self.witness.answered(&row, late);
        self.unrecorded.fetch_sub(1, Ordering::Release);
        reply.tell(&row, late, answer);
    }

    /// Makes the clock thread look earlier than it would, if need be.
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

    /// The life of the clock thread.
    fn run(&self) {
        // One nanosecond: the default of 50 us would be added to every sleep.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        // Before whatever else wants the processor, where that is permitted.
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), -20);
        let mut ready = Vec::new();
        let mut state = self.state();
        loop {
            let now = self.clock.now();
            state.run_before(now);
            while let Some((_, id)) = state.under_way.completions.pop_through(now) {
                ready.extend(state.under_way.take(id, now));
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
            } else if left > SPIN {
                state.asleep = true;
                let waited = self.changed.wait_timeout(state, left.saturating_sub(SPIN));
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                state.asleep = false;
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
/// A request is begun, which gives it its arrival; then its bytes are moved;
/// then it is finished, with what is to be answered. It is answered when that
/// has happened and its completion has come.
pub struct Timeline {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    blocks: u64,
    links: Links,
}

impl Timeline {
    /// Starts the clock of `model`.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub fn start(
        model: Box<dyn Model>,
        speed: f64,
        witness: Arc<dyn CompletionObserver>,
    ) -> std::io::Result<Self> {
        let (blocks, links) = (model.blocks(), model.links());
        let shared = Arc::new(Shared {
            clock: Clock::start(speed),
            state: Mutex::new(State {
                model,
                under_way: UnderWay {
                    pending: HashMap::default(),
                    completions: CompletionQueue::default(),
                    witness: Arc::clone(&witness),
                },
                decided: Nanos::ZERO,
                watched: Nanos::ZERO,
                asleep: false,
                stopped: false,
                ids: 0,
            }),
            changed: Condvar::new(),
            poke: AtomicBool::new(false),
            witness,
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

    /// Logical blocks of the model.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// What the model makes of linked requests.
    #[must_use]
    pub fn links(&self) -> Links {
        self.links
    }

    /// Model time now.
    #[must_use]
    pub fn now(&self) -> Nanos {
        self.shared.clock.now()
    }

    /// How many requests are under way: begun, and unknown to the witness.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        let state = self.shared.state();
        state.under_way.pending.len() + self.shared.unrecorded.load(Ordering::Acquire)
    }

    /// A request arrives: its id and arrival are given here. Returns the id.
    #[must_use]
    pub fn begin(&self, request: Request) -> u64 {
        self.begin_all([request]).start
    }

    /// Requests arrive at one instant, and none comes in between: their ids and
    /// arrival are given here. Returns the ids, in their order.
    #[must_use]
    pub fn begin_all(&self, requests: impl IntoIterator<Item = Request>) -> Range<u64> {
        let mut state = self.shared.state();
        let now = self.shared.clock.now().max(state.decided + Nanos(1));
        state.run_before(now);
        let first = state.ids;
        let State {
            model,
            under_way,
            ids,
            ..
        } = &mut *state;
        for mut request in requests {
            request.id = *ids;
            request.arrival = now;
            under_way.pending.insert(*ids, Pending::default());
            *ids += 1;
            model.submit(request, under_way);
        }
        // What is due at this very instant; the next request arrives later.
        state.run_before(now + Nanos(1));
        state.decided = now;
        let these = first..state.ids;
        // Complete at once: nobody need be woken, it is answered when finished.
        let completions = &mut state.under_way.completions;
        while matches!(completions.peek(), Some((at, id)) if at <= now && these.contains(id)) {
            completions.pop();
        }
        self.shared.hurry(&mut state);
        these
    }

    /// The bytes of request `id` have been moved: it is answered as soon as its
    /// completion has come.
    pub fn finish(&self, id: u64, reply: Box<dyn Reply>, answer: Answer) {
        self.finish_all([(id, reply, answer)]);
    }

    /// As [`Timeline::finish`], of several requests.
    pub fn finish_all(&self, requests: impl IntoIterator<Item = (u64, Box<dyn Reply>, Answer)>) {
        let mut ready = SmallVec::<[Ready; 1]>::new();
        let mut state = self.shared.state();
        let now = self.shared.clock.now();
        // What is complete by now need not wait for the clock thread.
        state.run_before(now);
        for (id, reply, answer) in requests {
            if let Some(pending) = state.under_way.pending.get_mut(&id) {
                pending.answer = Some((reply, answer));
            }
            ready.extend(state.under_way.take(id, now));
        }
        let unrecorded = &self.shared.unrecorded;
        unrecorded.fetch_add(ready.len(), Ordering::Relaxed);
        drop(state);
        for one in ready {
            self.shared.answer(one);
        }
    }

    /// What each device did up to now, as [`Model::report`] has it.
    #[must_use]
    pub fn reports(&self) -> Vec<Report> {
        let mut reports = Vec::new();
        let state = self.shared.state();
        state.model.report(self.shared.clock.now(), &mut reports);
        reports
    }

    /// What the background tasks came to.
    #[must_use]
    pub fn background(&self) -> Vec<serde_json::Value> {
        let state = self.shared.state();
        (state.model.background()).map_or_else(Vec::new, Background::to_json)
    }

    /// Waits until nothing is under way, at most `grace`; whether that is so.
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
    /// Stops the clock; what is still under way is never answered.
    fn drop(&mut self) {
        self.shared.state().stopped = true;
        self.shared.changed.notify_one();
        self.shared.poke.store(true, Ordering::Release);
        // The last who held it may be an answer that this very thread has sent.
        let itself = thread::current().id();
        if let Some(thread) = self.thread.take().filter(|it| it.thread().id() != itself) {
            let _ = thread.join();
        }
    }
}
