//! Holds what the lock of a timeline protects: the model and its requests in flight.

use super::in_flight::InFlight;
use super::reply::CompletionObserver;
use sledsim_base::units::Nanos;
use sledsim_core::model::Model;
use sledsim_run::panics::{catch_panic, internal_error};
use std::sync::Arc;

/// The model, its requests in flight, and how far the clock thread has come.
pub(super) struct State {
    /// The model, or why the device has failed.
    pub(super) model: Result<Box<dyn Model>, String>,
    pub(super) in_flight: InFlight,
    /// Events up to this time have been handled. The next request arrives after it.
    pub(super) decided: Nanos,
    /// The next time at which the clock thread checks.
    pub(super) watched: Nanos,
    /// Whether the device has power.
    pub(super) powered: bool,
    /// Whether the clock thread sleeps until it is notified or an event is near.
    pub(super) asleep: bool,
    /// Whether the clock thread is to end.
    pub(super) stopped: bool,
    /// Number of requests so far: the id of the next one.
    pub(super) ids: u64,
}

impl State {
    /// A device with power, at time zero.
    pub(super) fn new(mut model: Box<dyn Model>, observer: Arc<dyn CompletionObserver>) -> Self {
        let keeps = model.contents().is_some();
        Self {
            model: Ok(model),
            in_flight: InFlight::new(observer, keeps),
            decided: Nanos::ZERO,
            watched: Nanos::ZERO,
            powered: true,
            asleep: false,
            stopped: false,
            ids: 0,
        }
    }

    /// Calls the model, unless it has panicked. If it does now, the device fails: all
    /// requests in flight are I/O errors.
    pub(super) fn call<T>(
        &mut self,
        act: impl FnOnce(&mut dyn Model, &mut InFlight) -> T,
    ) -> Option<T> {
        let model = self.model.as_mut().ok()?;
        let done = catch_panic(|| act(&mut **model, &mut self.in_flight));
        if let Err(panic) = &done {
            let why = format!("the device has failed; {}", internal_error(panic));
            let model = std::mem::replace(&mut self.model, Err(why));
            let _ = catch_panic(|| drop(model));
            self.in_flight.fail(self.decided);
        }
        done.ok()
    }

    /// `now`, or the first instant after the events that have been handled.
    pub(super) fn after_decided(&self, now: Nanos) -> Nanos {
        now.max(self.decided + Nanos(1))
    }

    /// Calls the model for all events before `until`.
    pub(super) fn run_before(&mut self, until: Nanos) {
        while let Some(at) = self.next_event().filter(|at| *at < until) {
            // A model may ask to be woken at a time already passed.
            self.decided = at.max(self.decided);
            let at = self.decided - self.in_flight.zero;
            self.call(|model, in_flight| model.wake(at, in_flight));
        }
    }

    /// Drops the contents that the model keeps for reads: clients get those of the store.
    pub(super) fn forget_reads(&mut self) {
        if self.in_flight.read.is_empty() {
            return;
        }
        self.call(|model, in_flight| {
            if let Some(contents) = model.contents() {
                in_flight.read.drain(..).for_each(|id| drop(contents.take_read_data(id)));
            }
        });
    }

    /// The time of the model's next event, if there is one and the device has power.
    fn next_event(&mut self) -> Option<Nanos> {
        let at = self.call(|model, _| model.next_event()).flatten();
        Some(at.filter(|_| self.powered)? + self.in_flight.zero)
    }

    /// The time of the next event: one of the model, or a completion.
    pub(super) fn next(&mut self) -> Nanos {
        let wake = self.next_event().unwrap_or(Nanos::MAX);
        wake.min(self.in_flight.first().unwrap_or(Nanos::MAX))
    }
}
