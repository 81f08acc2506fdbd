//! Shortest positioning time first, zone by zone.

use super::sptf::Sptf;
use super::{Scheduler, SchedulerEntry, Waiting};
use crate::model::mechanism::Positions;
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// Divides the LBNs into zones and serves one zone by [`Sptf`] until nothing
/// waits there, then the next zone that has requests, cyclically (Hong, Brandt,
/// Long, Miller, Glocer, Peterson: zone-based SPTF for MEMS-based storage,
/// MASCOTS 2003). All zones have the same number of LBNs.
#[derive(Debug)]
pub struct ZoneSptf {
    zones: Vec<Sptf>,
    current: usize,
}

impl ZoneSptf {
    /// Divides the LBNs into `zones` zones, at least 1.
    pub fn new(zones: usize) -> Self {
        Self { zones: (0..zones).map(|_| Sptf::default()).collect(), current: 0 }
    }
}

const DEFAULT_ZONES: u32 = 5;

/// Its registration.
pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "zone_sptf",
    needs_positions: true,
    moves_to_edges: false,
    read: |keys| {
        let zones = keys.opt_u32("zones", 1..=10_000)?.unwrap_or(DEFAULT_ZONES);
        Ok(Arc::new(move || Box::new(ZoneSptf::new(zones as usize))))
    },
};

impl Scheduler for ZoneSptf {
    fn push(&mut self, waiting: Waiting, positions: &dyn Positions) {
        let lbn = u128::from(waiting.request.lbn());
        let zone = lbn * self.zones.len() as u128 / u128::from(positions.blocks());
        self.zones[zone as usize].push(waiting, positions);
    }

    fn pop(&mut self, at: Nanos, positions: &dyn Positions) -> Option<Waiting> {
        let count = self.zones.len();
        let mut from_here = (0..count).map(|step| (self.current + step) % count);
        self.current = from_here.find(|zone| !self.zones[*zone].is_empty())?;
        self.zones[self.current].pop(at, positions)
    }
}
