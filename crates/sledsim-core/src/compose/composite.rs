//! The events of a model made of models.

use super::Children;
use crate::model::{CompletionSink, Events};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// A model with [`Children`], and at most one timer of its own.
///
/// At one instant, completions of children come first, then the timer, then
/// wakes of children.
pub trait Composite {
    /// Its children.
    fn children(&self) -> &Children;

    /// Its children, mutable.
    fn children_mut(&mut self) -> &mut Children;

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
}

impl<C: Composite> Events for C {
    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        match (self.timer(), self.children().next_at()) {
            (Some(timer), Some(child)) => Some(timer.min(child)),
            (timer, child) => timer.or(child),
        }
    }

    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        let children = self.children();
        let child_is_next =
            children.next_at() == Some(at) && (self.children_first() || children.completes_next());
        if !child_is_next && self.timer() == Some(at) {
            self.timer_due(at, sink);
        } else if !self.children().completes_next() {
            self.children_mut().wake_next(at, sink);
        } else if let Some((child, row)) = self.children_mut().next_completed() {
            self.child_done(child, &row, sink);
        }
    }
}
