//! Closed replay: a constant number of outstanding requests, with one think
//! time.

use super::batches::Batches;
use super::{Ahead, ArrivalFacts, Arrivals};
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;
use sledsim_core::workloads::{Closed as Calls, ClosedSpec};

/// The next request or batch arrives one think time after a completion.
pub struct Closed {
    batches: Batches,
    calls: Calls,
    spec: ClosedSpec,
}

impl Closed {
    /// Reads the first request.
    pub fn new(spec: ClosedSpec, ahead: &mut Ahead) -> Result<Self> {
        ahead.advance()?;
        Ok(Self { batches: Batches::default(), calls: spec.start(), spec })
    }
}

impl Arrivals for Closed {
    #[inline]
    fn due(&mut self, ahead: &mut Ahead) -> Result<Option<Nanos>> {
        let due = || self.batches.due().or_else(|| self.calls.next());
        Ok(ahead.current().and_then(|_| due()))
    }

    fn sent(&mut self, id: u64, at: Nanos, ahead: &mut Ahead) -> Result<()> {
        if let Some(placed) = ahead.current()
            && self.batches.take(id, &placed.record, at)
        {
            self.calls.take();
        }
        ahead.advance().map(drop)
    }

    #[inline]
    fn completed(&mut self, id: u64, at: Nanos) {
        if self.batches.completes_group(id) {
            self.calls.completed(at);
        }
    }

    fn facts(&self) -> Option<ArrivalFacts> {
        let ClosedSpec { queue_depth, think_ms } = self.spec;
        Some(ArrivalFacts::Depth { queue_depth, think_ms: Some(think_ms) })
    }
}
