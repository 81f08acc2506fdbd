//! Runs the clock thread: calls the model at its events and answers requests that are due.

use super::clock::Clock;
use super::in_flight::Ready;
use super::margin::Margin;
use super::reply::CompletionObserver;
use super::state::TimelineState;
use crate::errno::Errno;
use sledsim_base::row::Status;
use sledsim_base::units::Nanos;
use sledsim_core::model::Model;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A processor that has rested for long wakes up later: the thread wakes up so long before an
/// event, and sleeps again.
const ROUSED_BEFORE: Duration = Duration::from_micros(300);

/// What the clock thread shares with the threads that submit requests.
pub(super) struct TimelineCore {
    pub(super) clock: Clock,
    state: Mutex<TimelineState>,
    /// Wakes the clock thread if it is asleep.
    changed: Condvar,
    /// Tells the clock thread to check again if it spins.
    poke: AtomicBool,
    observer: Arc<dyn CompletionObserver>,
    /// Number of due requests not yet reported to the observer. Incremented under the
    /// lock of the state.
    pub(super) unrecorded: AtomicUsize,
}

impl TimelineCore {
    /// Starts the clock; the thread has yet to be started.
    pub(super) fn new(
        model: Box<dyn Model>,
        speed: f64,
        observer: Arc<dyn CompletionObserver>,
    ) -> Self {
        Self {
            clock: Clock::start(speed),
            state: Mutex::new(TimelineState::new(model, Arc::clone(&observer))),
            changed: Condvar::new(),
            poke: AtomicBool::new(false),
            observer,
            unrecorded: AtomicUsize::new(0),
        }
    }

    /// Locks the state.
    pub(super) fn state(&self) -> MutexGuard<'_, TimelineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports a request to the observer and answers it. Called without the lock of the
    /// state: the observer and the reply may take locks of their own.
    pub(super) fn answer(&self, ready: Ready) {
        let Ready { mut row, reply, answer } = ready;
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

    /// Makes the clock thread check earlier if the next event is earlier than its next check.
    pub(super) fn hurry(&self, state: &mut TimelineState) {
        let next = state.next();
        self.hurry_to(state, next);
    }

    /// As [`TimelineCore::hurry`], where the time of the next event is known.
    pub(super) fn hurry_to(&self, state: &mut TimelineState, next: Nanos) {
        if next < state.watched {
            state.watched = next;
            self.poke.store(true, Ordering::Release);
            if state.asleep {
                self.changed.notify_one();
            }
        }
    }

    /// Tells the clock thread to end.
    pub(super) fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_one();
        self.poke.store(true, Ordering::Release);
    }

    /// Runs the clock thread until it is stopped.
    pub(super) fn run(&self) {
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
                let is_long = nap > 2 * ROUSED_BEFORE;
                let nap = if is_long { nap - ROUSED_BEFORE } else { nap };
                let asleep = Instant::now();
                let waited = self.changed.wait_timeout(state, nap);
                let (back, ended) = waited.unwrap_or_else(PoisonError::into_inner);
                state = back;
                state.asleep = false;
                if ended.timed_out() && !is_long {
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
