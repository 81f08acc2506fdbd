//! Arrivals at the times of the trace.

use super::{Ahead, Arrivals, Placed};
use serde_json::Value;
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;
use sledsim_core::model::plain_requests::Plain;

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
    fn next<'a>(&'a self, ahead: &'a Ahead) -> Option<&'a Placed> {
        ahead.current()
    }

    fn upcoming<'a>(&self, ahead: &'a Ahead) -> &'a [Plain] {
        ahead.plain()
    }

    #[inline]
    fn sent(&mut self, _id: u64, _at: Nanos, ahead: &mut Ahead) -> Result<()> {
        ahead.advance().map(drop)
    }

    fn completed(&mut self, _id: u64, _at: Nanos) {}

    fn is_open(&self) -> bool {
        true
    }

    fn state(&self, _facts: &mut Value) {}
}
