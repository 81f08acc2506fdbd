//! Arrivals at the times of the trace.

use super::{Arrivals, Feed, Placed};
use serde_json::Value;
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;

/// Each request arrives at its time in the trace.
pub struct OpenReplay {
    next: Placed,
    /// Whether `next` is one: not at the end of the trace.
    is_due: bool,
}

impl OpenReplay {
    /// Reads the first request.
    pub fn new(feed: &mut Feed) -> Result<Self> {
        let mut next = Placed::default();
        let is_due = feed.fetch_into(&mut next)?;
        Ok(Self { next, is_due })
    }
}

impl Arrivals for OpenReplay {
    #[inline]
    fn due(&mut self, _feed: &mut Feed) -> Result<Option<Nanos>> {
        Ok(self.is_due.then_some(self.next.arrival))
    }

    fn next(&self) -> Option<&Placed> {
        self.is_due.then_some(&self.next)
    }

    fn sent(&mut self, _id: u64, _at: Nanos, feed: &mut Feed) -> Result<()> {
        self.is_due = feed.fetch_into(&mut self.next)?;
        Ok(())
    }

    fn completed(&mut self, _id: u64, _at: Nanos) {}

    fn is_open(&self) -> bool {
        true
    }

    fn state(&self, _facts: &mut Value) {}
}
