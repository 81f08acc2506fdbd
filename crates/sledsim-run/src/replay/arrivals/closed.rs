//! Closed replay: a constant number of outstanding requests, with one think
//! time.

use super::batches::Batches;
use super::{Arrivals, Feed, Placed};
use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;
use sledsim_core::workloads::{Closed as Calls, ClosedSpec};

/// The next request or batch arrives one think time after a completion.
pub struct Closed {
    next: Option<Placed>,
    batches: Batches,
    calls: Calls,
    spec: ClosedSpec,
}

impl Closed {
    /// Reads the first request.
    pub fn new(spec: ClosedSpec, feed: &mut Feed) -> Result<Self> {
        Ok(Self {
            next: feed.fetch()?,
            batches: Batches::default(),
            calls: spec.start(),
            spec,
        })
    }
}

impl Arrivals for Closed {
    #[inline]
    fn due(&mut self, _feed: &mut Feed) -> Result<Option<Nanos>> {
        let due = || self.batches.due().or_else(|| self.calls.next());
        Ok(self.next.as_ref().and_then(|_| due()))
    }

    fn next(&self) -> Option<&Placed> {
        self.next.as_ref()
    }

    fn sent(&mut self, id: u64, at: Nanos, feed: &mut Feed) -> Result<()> {
        if let Some(placed) = &self.next
            && self.batches.take(id, &placed.record, at)
        {
            self.calls.take();
        }
        self.next = feed.fetch()?;
        Ok(())
    }

    #[inline]
    fn completed(&mut self, id: u64, at: Nanos) {
        if self.batches.completes_group(id) {
            self.calls.completed(at);
        }
    }

    fn state(&self, facts: &mut Value) {
        facts["queue_depth"] = json!(self.spec.queue_depth);
        facts["think_ms"] = json!(self.spec.think_ms);
    }
}
