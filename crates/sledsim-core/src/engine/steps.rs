//! A model and its virtual clock, stepped from event to event.

use crate::model::{CompletionSink, Model};
use sledsim_base::request::Request;
use sledsim_base::units::Nanos;
use std::ops::DerefMut;

/// The kinds of events. Of those at one instant the first kind comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An announced completion is due: a closed load responds with an arrival.
    Completion,
    /// A request arrives: [`Engine::submit`].
    Arrival,
    /// The model has an event: [`Engine::wake`]. It decides knowing all arrivals.
    Wake,
}

impl Event {
    /// The event at `now`, the time of the next.
    #[inline(always)] // as next_event
    pub fn at(now: Nanos, completion: Nanos, arrival: Nanos) -> Self {
        match now {
            _ if now == completion => Self::Completion,
            _ if now == arrival => Self::Arrival,
            _ => Self::Wake,
        }
    }
}

/// A model, by a pointer to it, and its clock. All hosts of models step one: runs, crash
/// tests, tables, and the emulator, which waits for the real time of each event.
///
/// The host keeps the completions that are announced to its sink, and knows the next
/// arrival; so it asks which event comes next, and has it happen.
#[derive(Debug)]
pub struct Engine<M> {
    /// The model.
    pub model: M,
    /// The time that the clock has reached.
    now: Nanos,
    /// When the next event of the model is due; [`Nanos::MAX`] for never.
    wake: Nanos,
}

impl<M: DerefMut<Target: Model>> Engine<M> {
    /// A model at time zero.
    pub fn new(model: M) -> Self {
        let wake = model.next_event().unwrap_or(Nanos::MAX);
        Self { model, now: Nanos::ZERO, wake }
    }

    /// The time that the clock has reached: no event before it is to come.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// When the next event is due, if the next completion and the next arrival are due at
    /// these times; [`Nanos::MAX`] for never. A model may ask for an event at a time already
    /// passed.
    #[inline(always)] // hot: once an event
    pub fn next_event(&self, completion: Nanos, arrival: Nanos) -> Nanos {
        completion.min(arrival).min(self.wake)
    }

    /// Submits a request, which does not arrive before [`Engine::now`].
    #[inline(always)] // as next_event
    pub fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        self.now = request.arrival;
        self.model.submit(request, sink);
        self.wake = self.model.next_event().unwrap_or(Nanos::MAX);
    }

    /// Has the event of the model happen that is due at `at`.
    #[inline(always)] // as next_event
    pub fn wake(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        self.now = self.now.max(at);
        while self.wake <= at {
            self.model.happen(self.wake, sink);
            self.wake = self.model.next_event().unwrap_or(Nanos::MAX);
        }
    }

    /// Has all events of the model happen that are due before `until`.
    pub fn wake_before(&mut self, until: Nanos, sink: &mut dyn CompletionSink) {
        while self.wake < until {
            self.wake(self.wake, sink);
        }
    }

    /// Sets the clock: the host did something at this time, or the clock begins anew.
    pub fn set(&mut self, now: Nanos) {
        self.now = now;
        self.wake = self.model.next_event().unwrap_or(Nanos::MAX);
    }
}
