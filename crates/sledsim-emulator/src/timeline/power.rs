//! Turns power off and on, and lets the device go inactive.

use super::Timeline;
use super::reply::Reply;
use sledsim_base::units::Nanos;
use sledsim_core::model::{CompletionQueue, Model, Rest};

/// Replies that are not sent, because power has failed. A reply may submit commands when it
/// is dropped: drop these without holding a lock that submitting takes.
#[derive(Default)]
pub struct Unanswered(pub(super) Vec<Box<dyn Reply>>);

impl Timeline {
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
    /// the clock of the timeline, and the completions since power-on; `None` if the device
    /// has failed. Also returns the replies that are not sent.
    pub fn cut<T>(
        &self,
        at: Option<Nanos>,
        fail: impl FnOnce(&mut dyn Model, Nanos, Vec<(u64, Nanos)>) -> T,
    ) -> (Option<T>, Unanswered) {
        let mut state = self.shared.state();
        let at = at.unwrap_or_else(|| self.shared.clock.now());
        let at = at.max(state.decided);
        state.run_before(at);
        state.powered = false;
        let completed = state.in_flight.completed.as_mut().map(std::mem::take);
        let done =
            state.call(|engine, _| fail(&mut *engine.model, at, completed.unwrap_or_default()));
        state.in_flight.completions = CompletionQueue::default();
        state.in_flight.read.clear();
        let pending = std::mem::take(&mut state.in_flight.pending);
        self.shared.hurry(&mut state);
        drop(state);
        let answers = pending.into_values().filter_map(|pending| pending.answer);
        let unanswered = answers.map(|(reply, _)| reply).collect();
        (done, Unanswered(unanswered))
    }

    /// Power returns now. The device is at time zero of its own clock and takes requests
    /// `ready` later. Returns the instant.
    pub fn power_on(&self, ready: Nanos) -> Nanos {
        let mut state = self.shared.state();
        let now = state.after_decided(self.shared.clock.now());
        state.in_flight.zero = now;
        state.powered = true;
        state.call(|engine, _| engine.set(ready));
        self.shared.hurry(&mut state);
        now
    }

    /// Lets the device go inactive now, until its next request.
    pub fn rest(&self) -> Rest {
        let mut state = self.shared.state();
        if !state.powered {
            return Rest::Cannot;
        }
        let now = state.after_decided(self.shared.clock.now());
        state.run_before(now);
        let at = now - state.in_flight.zero;
        let done = state.call(|engine, _| {
            let done = engine.model.rest(at);
            engine.set(at);
            done
        });
        self.shared.hurry(&mut state);
        done.unwrap_or(Rest::Cannot)
    }
}
