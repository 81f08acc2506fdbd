//! Holds what the lock of a timeline protects: the model and its requests in flight.

use super::in_flight::InFlight;
use super::reply::CompletionObserver;
use sledsim_base::units::Nanos;
use sledsim_core::model::Model;
use std::sync::Arc;

/// The model, its requests in flight, and how far the clock thread has come.
pub(super) struct State {
    pub(super) model: Box<dyn Model>,
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
            model,
            in_flight: InFlight::new(observer, keeps),
            decided: Nanos::ZERO,
            watched: Nanos::ZERO,
            powered: true,
            asleep: false,
            stopped: false,
            ids: 0,
        }
    }

    /// `now`, or the first instant after the events that have been handled.
    pub(super) fn after_decided(&self, now: Nanos) -> Nanos {
        now.max(self.decided + Nanos(1))
    }

    /// Calls the model for all events before `until`.
    pub(super) fn run_before(&mut self, until: Nanos) {
        let zero = self.in_flight.zero;
        while let Some(at) = self.next_event().filter(|at| *at < until) {
            // A model may ask to be woken at a time already passed.
            let at = at.max(self.decided);
            self.model.wake(at - zero, &mut self.in_flight);
            self.decided = at;
        }
    }

    /// Drops the contents that the model keeps for reads: clients get those of the store.
    pub(super) fn forget_reads(&mut self) {
        let read = &mut self.in_flight.read;
        if !read.is_empty()
            && let Some(contents) = self.model.contents()
        {
            for id in read.drain(..) {
                let _ = contents.take_read_data(id);
            }
        }
    }

    /// The time of the model's next event, if there is one and the device has power.
    fn next_event(&self) -> Option<Nanos> {
        let at = self.model.next_event().filter(|_| self.powered)?;
        Some(at + self.in_flight.zero)
    }

    /// The time of the next event: one of the model, or a completion.
    pub(super) fn next(&mut self) -> Nanos {
        let wake = self.next_event().unwrap_or(Nanos::MAX);
        wake.min(self.in_flight.first().unwrap_or(Nanos::MAX))
    }
}
