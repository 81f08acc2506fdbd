//! Arrivals at the times of the trace.

use super::{Arrivals, Feed, Placed};
use serde_json::Value;
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;

/// Each request arrives at its time in the trace.
pub struct OpenReplay {
    next: Option<Placed>,
}

impl OpenReplay {
    /// Reads the first request.
    pub fn new(feed: &mut Feed) -> Result<Self> {
        let next = feed.fetch()?;
        Ok(Self { next })
    }
}

impl Arrivals for OpenReplay {
    #[inline]
    fn due(&mut self, _feed: &mut Feed) -> Result<Option<Nanos>> {
        Ok(self.next.as_ref().map(|placed| placed.arrival))
    }

    fn next(&self) -> Option<&Placed> {
        self.next.as_ref()
    }

    fn sent(&mut self, _id: u64, _at: Nanos, feed: &mut Feed) -> Result<()> {
        self.next = feed.fetch()?;
        Ok(())
    }

    fn completed(&mut self, _id: u64, _at: Nanos) {}

    fn is_open(&self) -> bool {
        true
    }

    fn state(&self, _facts: &mut Value) {}
}
