//! Replay of a trace without times: one outstanding request, with the think
//! times of the trace.

use super::batches::Batches;
use super::{Ahead, ArrivalFacts, Arrivals};
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;

/// The next request or batch arrives one recorded think time after the
/// completion of the one before.
pub struct OneByOne {
    batches: Batches,
    /// The next arrival, if the request before is complete.
    due: Option<Nanos>,
    /// From the completion of the outstanding request to the next arrival.
    think: Nanos,
}

impl OneByOne {
    /// Reads the first request.
    pub fn new(ahead: &mut Ahead) -> Result<Self> {
        ahead.advance()?;
        Ok(Self { batches: Batches::default(), due: Some(Nanos::ZERO), think: Nanos::ZERO })
    }
}

impl Arrivals for OneByOne {
    #[inline]
    fn due(&mut self, ahead: &mut Ahead) -> Result<Option<Nanos>> {
        let due = self.batches.due().or(self.due);
        Ok(ahead.current().and(due))
    }

    fn sent(&mut self, id: u64, at: Nanos, ahead: &mut Ahead) -> Result<()> {
        if let Some(placed) = ahead.current()
            && self.batches.take(id, &placed.record, at)
        {
            self.due = None;
            self.think = ahead.feed.scaled(placed.record.think.unwrap_or_default());
        }
        ahead.advance().map(drop)
    }

    #[inline]
    fn completed(&mut self, id: u64, at: Nanos) {
        if self.batches.completes_group(id) {
            self.due = Some(Nanos(at.0.saturating_add(self.think.0)));
        }
    }

    fn facts(&self) -> Option<ArrivalFacts> {
        Some(ArrivalFacts::Depth { queue_depth: 1, think_ms: None })
    }
}
