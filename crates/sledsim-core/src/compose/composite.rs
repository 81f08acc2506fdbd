//! The events of a model made of models.

use super::Children;
use crate::model::contents::Contents;
use crate::model::mechanism::Mechanism;
use crate::model::{Background, CompletionSink, Model, Report};
use sledsim_base::request::Request;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// A model with [`Children`], and at most one timer of its own. Each is a [`Model`].
///
/// At one instant, completions of children come first, then the timer, then
/// wakes of children.
pub trait Composite: Send {
    /// Its children.
    fn children(&self) -> &Children;

    /// Its children, mutable.
    fn children_mut(&mut self) -> &mut Children;

    /// As [`Model::blocks`].
    fn blocks(&self) -> u64;

    /// As [`Model::submit`].
    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink);

    /// Child number `child` completed the request of `row`.
    fn child_done(&mut self, child: usize, row: &Row, sink: &mut dyn CompletionSink);

    /// When its timer is due.
    fn timer(&self) -> Option<Nanos> {
        None
    }

    /// Handles the timer, which is due at `at`.
    fn timer_due(&mut self, _at: Nanos, _sink: &mut dyn CompletionSink) {}

    /// Whether wakes of children precede the timer.
    fn children_first(&self) -> bool {
        false
    }

    /// As [`Model::mechanism`].
    fn mechanism(&self) -> Option<&dyn Mechanism> {
        None
    }

    /// As [`Model::background`].
    fn background(&self) -> Option<&dyn Background> {
        None
    }

    /// As [`Model::contents`].
    fn contents(&mut self) -> Option<&mut dyn Contents> {
        None
    }

    /// As [`Model::report`].
    fn report(&self, until: Nanos, reports: &mut Vec<Report>);
}

impl<C: Composite> Model for C {
    fn blocks(&self) -> u64 {
        Composite::blocks(self)
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        Composite::submit(self, request, sink);
    }

    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        let due = due(self, self.timer());
        (due != Nanos::MAX).then_some(due)
    }

    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        let timer = self.timer();
        happen(self, at, timer, sink);
    }

    fn advance(&mut self, until: Nanos, inclusive: bool, sink: &mut dyn CompletionSink) {
        loop {
            let timer = self.timer();
            let at = due(self, timer);
            if at == Nanos::MAX || at > until || (at == until && !inclusive) {
                return;
            }
            happen(self, at, timer, sink);
        }
    }

    fn servers(&self) -> u64 {
        self.children().servers()
    }

    fn mechanism(&self) -> Option<&dyn Mechanism> {
        Composite::mechanism(self)
    }

    fn background(&self) -> Option<&dyn Background> {
        Composite::background(self)
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        Composite::contents(self)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        Composite::report(self, until, reports);
    }
}

/// Returns the time of the next event of a composite whose timer is due at `timer`, or
/// [`Nanos::MAX`] for no event.
#[inline]
fn due<C: Composite>(composite: &C, timer: Option<Nanos>) -> Nanos {
    let child = composite.children().due();
    timer.map_or(child, |timer| timer.min(child))
}

/// Does the event of a composite that is due at `at`.
#[inline]
fn happen<C: Composite>(
    composite: &mut C,
    at: Nanos,
    timer: Option<Nanos>,
    sink: &mut dyn CompletionSink,
) {
    let children = composite.children();
    let completes = children.completes_next();
    let is_timer =
        timer == Some(at) && (children.due() != at || !(completes || composite.children_first()));
    if is_timer {
        composite.timer_due(at, sink);
    } else if !completes {
        composite.children_mut().wake_next(at, sink);
    } else {
        let done = composite.children_mut().next_completed();
        composite.child_done(done.child, &done.row, sink);
        composite.children_mut().reuse(done);
    }
}
