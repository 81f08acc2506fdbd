//! A model made of models, and what happens in it.

use super::Children;
use crate::model::{CompletionSink, Events};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// A model with [`Children`], and at most one timer of its own.
///
/// Of one instant come the completions of children, then the timer, and then what
/// the children do themselves.
pub trait Composite {
    /// Its children.
    fn children(&self) -> &Children;

    /// Its children, to be changed.
    fn children_mut(&mut self) -> &mut Children;

    /// Child number `child` completed the request of `row`.
    fn child_done(&mut self, child: usize, row: &Row, sink: &mut dyn CompletionSink);

    /// When it next does something of its own.
    fn timer(&self) -> Option<Nanos> {
        None
    }

    /// Does what its timer was set for; `at` is that instant.
    fn timer_due(&mut self, _at: Nanos, _answers: &mut dyn CompletionSink) {}

    /// Whether what children do comes before the timer.
    fn children_first(&self) -> bool {
        false
    }
}

impl<C: Composite> Events for C {
    fn next_event(&self) -> Option<Nanos> {
        let both = [self.timer(), self.children().next_at()];
        both.into_iter().flatten().min()
    }

    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        let children = self.children();
        let is_childs = children.next_completion() == Some(at)
            || (self.children_first() && children.next_at() == Some(at));
        if !is_childs && self.timer() == Some(at) {
            self.timer_due(at, sink);
        } else if let Some(Some((child, row))) = self.children_mut().step(at, true, sink) {
            self.child_done(child, &row, sink);
        }
    }
}
