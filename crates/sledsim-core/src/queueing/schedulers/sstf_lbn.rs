//! Shortest seek time first, by LBN.

use super::by_lbn::{ByLbn, Location};
use super::{Scheduler, SchedulerEntry, Waiting};
use crate::model::mechanism::Positions;
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// Serves the request whose first LBN is nearest to where the last one ended
/// (CMU-CS-00-136, section 4.1). Of two at the same distance, the one pushed
/// first.
#[derive(Debug, Default)]
pub struct SstfLbn {
    waiting: ByLbn,
}

/// Its registration.
pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "sstf_lbn",
    needs_positions: false,
    moves_to_edges: false,
    read: |_| Ok(Arc::new(|| Box::<SstfLbn>::default())),
};

impl Scheduler for SstfLbn {
    fn push(&mut self, waiting: Waiting, _positions: &dyn Positions) {
        self.waiting.push(waiting);
    }

    fn pop(&mut self, _at: Nanos, _positions: &dyn Positions) -> Option<Waiting> {
        let waiting = &self.waiting;
        let distance = |one: &Location| one.lbn.abs_diff(waiting.position());
        let nearest = match (waiting.ahead(), waiting.behind()) {
            (Some(ahead), Some(behind)) => {
                let order = (distance(&behind).cmp(&distance(&ahead)))
                    .then_with(|| waiting.sequence(&behind).cmp(&waiting.sequence(&ahead)));
                if order.is_lt() { behind } else { ahead }
            }
            (ahead, behind) => ahead.or(behind)?,
        };
        Some(self.waiting.take(nearest))
    }
}
