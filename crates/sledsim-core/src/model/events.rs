//! A model as a sequence of events.

use super::CompletionSink;
use sledsim_base::units::Nanos;

/// A model that knows its next event. [`Events::advance`] is the loop over
/// them.
pub trait Events {
    /// When the next event is due, unless a request changes that before.
    fn next_event(&self) -> Option<Nanos>;

    /// Does the next event, which is due at `at`.
    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink);

    /// Does all events that are due before `until`, and those at `until` too if
    /// `inclusive`.
    #[inline]
    fn advance(&mut self, until: Nanos, inclusive: bool, sink: &mut dyn CompletionSink) {
        while let Some(at) = self.next_event()
            && (at < until || (at == until && inclusive))
        {
            self.happen(at, sink);
        }
    }
}
