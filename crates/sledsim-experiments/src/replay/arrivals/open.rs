//! Arrivals at the times of the trace.

use super::{Ahead, ArrivalFacts, Arrivals};
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;

/// Each request arrives at its time in the trace.
pub struct OpenReplay;

impl OpenReplay {
    /// Reads the first request.
    pub fn new(ahead: &mut Ahead) -> Result<Self> {
        ahead.advance()?;
        Ok(Self)
    }
}

impl Arrivals for OpenReplay {
    #[inline]
    fn due(&mut self, ahead: &mut Ahead) -> Result<Option<Nanos>> {
        Ok(ahead.current().map(|next| next.arrival))
    }

    #[inline]
    fn sent(&mut self, _id: u64, _at: Nanos, ahead: &mut Ahead) -> Result<()> {
        ahead.advance().map(drop)
    }

    fn completed(&mut self, _id: u64, _at: Nanos) {}

    fn is_open(&self) -> bool {
        true
    }

    fn facts(&self) -> Option<ArrivalFacts> {
        None
    }
}
