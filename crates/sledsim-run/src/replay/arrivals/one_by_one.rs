//! Replay of a trace without times: one outstanding request, with the think
//! times of the trace.

use super::batches::Batches;
use super::{Arrivals, Feed, Placed};
use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;

/// The next request or batch arrives one recorded think time after the
/// completion of the one before.
pub struct OneByOne {
    next: Option<Placed>,
    batches: Batches,
    /// The next arrival, if the request before is complete.
    due: Option<Nanos>,
    /// From the completion of the outstanding request to the next arrival.
    think: Nanos,
}

impl OneByOne {
    /// Reads the first request.
    pub fn new(feed: &mut Feed) -> Result<Self> {
        Ok(Self {
            next: feed.fetch()?,
            batches: Batches::default(),
            due: Some(Nanos::ZERO),
            think: Nanos::ZERO,
        })
    }
}

impl Arrivals for OneByOne {
    #[inline]
    fn due(&mut self, _feed: &mut Feed) -> Result<Option<Nanos>> {
        let due = self.batches.due().or(self.due);
        Ok(self.next.as_ref().and(due))
    }

    fn next(&self) -> Option<&Placed> {
        self.next.as_ref()
    }

    fn sent(&mut self, id: u64, at: Nanos, feed: &mut Feed) -> Result<()> {
        if let Some(placed) = &self.next
            && self.batches.take(id, &placed.record, at)
        {
            self.due = None;
            self.think = feed.scaled(placed.record.think.unwrap_or_default());
        }
        self.next = feed.fetch()?;
        Ok(())
    }

    #[inline]
    fn completed(&mut self, id: u64, at: Nanos) {
        if self.batches.completes_group(id) {
            self.due = Some(Nanos(at.0.saturating_add(self.think.0)));
        }
    }

    fn state(&self, facts: &mut Value) {
        facts["queue_depth"] = json!(1);
        facts["think_ms"] = Value::Null; // each request has its own
    }
}
