//! Shortest positioning time first.

use super::cylinders::Cylinders;
use super::{Scheduler, SchedulerEntry, Waiting};
use crate::model::mechanism::Positions;
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// Serves the request with the shortest positioning time, by the mechanism's
/// state at the instant of the pick (CMU-CS-00-136, section 4.1). Ties go to
/// the one pushed first.
///
/// The search goes outwards from the current cylinder and ends where the
/// mechanism's lower bound rules out anything better. It picks the same request
/// as an exhaustive search.
#[derive(Debug, Default)]
pub struct Sptf {
    waiting: Cylinders,
}

impl Sptf {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.queue().is_empty()
    }
}

/// Its registration.
pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "sptf",
    needs_positions: true,
    moves_to_edges: false,
    read: |_| Ok(Arc::new(|| Box::<Sptf>::default())),
};

impl Scheduler for Sptf {
    fn push(&mut self, waiting: Waiting, positions: &dyn Positions) {
        self.waiting.push(waiting, positions);
    }

    fn pop(&mut self, at: Nanos, positions: &dyn Positions) -> Option<Waiting> {
        let slot = soonest(&self.waiting, at, positions)?;
        Some(self.waiting.take(slot))
    }
}

/// The slot with the shortest positioning time at `at`; of equals the one pushed first.
#[inline]
pub(super) fn soonest(waiting: &Cylinders, at: Nanos, positions: &dyn Positions) -> Option<u32> {
    let mut best: Option<(Nanos, u64, u32)> = None;
    let mut limit = Nanos::MAX;
    let mut outwards = waiting.outwards(at, positions);
    // A tie counts: that request may have been pushed earlier.
    while let Some((_, slot)) = outwards.next(limit) {
        let time = waiting.estimate(slot, at, positions, limit);
        if time <= limit {
            let key = (time, waiting.queue().sequence(slot), slot);
            best = Some(best.map_or(key, |least| least.min(key)));
            limit = time;
        }
    }
    best.map(|(_, _, slot)| slot)
}
