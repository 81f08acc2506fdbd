//! Holds what the lock of a timeline protects: the model and its requests in flight.

use super::in_flight::InFlight;
use super::reply::CompletionObserver;
use sledsim_base::units::Nanos;
use sledsim_core::engine::Engine;
use sledsim_core::model::Model;
use sledsim_experiments::panics::{catch_panic, internal_error};
use std::sync::Arc;

/// The model, its requests in flight, and how far the clock thread has come.
pub(super) struct TimelineState {
    /// The engine of the model, or why the device has failed.
    pub(super) engine: Result<Engine<Box<dyn Model>>, String>,
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

impl TimelineState {
    /// A device with power, at time zero.
    pub(super) fn new(mut model: Box<dyn Model>, observer: Arc<dyn CompletionObserver>) -> Self {
        let keeps = model.contents().is_some();
        Self {
            engine: Ok(Engine::new(model)),
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
        act: impl FnOnce(&mut Engine<Box<dyn Model>>, &mut InFlight) -> T,
    ) -> Option<T> {
        let engine = self.engine.as_mut().ok()?;
        let done = catch_panic(|| act(engine, &mut self.in_flight));
        self.decided = self.decided.max(engine.now() + self.in_flight.zero);
        if let Err(panic) = &done {
            let why = format!("the device has failed; {}", internal_error(panic));
            let engine = std::mem::replace(&mut self.engine, Err(why));
            let _ = catch_panic(|| drop(engine));
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
        if self.powered {
            let until = until.since(self.in_flight.zero);
            self.call(|engine, in_flight| engine.wake_before(until, in_flight));
        }
    }

    /// Drops the contents that the model keeps for reads: clients get those of the store.
    pub(super) fn forget_reads(&mut self) {
        if self.in_flight.read.is_empty() {
            return;
        }
        self.call(|engine, in_flight| {
            if let Some(contents) = engine.model.contents() {
                in_flight.read.drain(..).for_each(|id| drop(contents.take_read_data(id)));
            }
        });
    }

    /// The time of the next event: one of the model, if it has power, or a completion.
    pub(super) fn next(&mut self) -> Nanos {
        let wake = match &self.engine {
            Ok(engine) if self.powered => engine.next_event(Nanos::MAX, Nanos::MAX),
            _ => Nanos::MAX,
        };
        let wake = Nanos(wake.0.saturating_add(self.in_flight.zero.0));
        wake.min(self.in_flight.first().unwrap_or(Nanos::MAX))
    }
}
