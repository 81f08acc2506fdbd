//! Cyclical LOOK.

use super::by_lbn::ByLbn;
use super::{Scheduler, SchedulerEntry, Waiting};
use crate::model::mechanism::Positions;
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// Serves requests in the order of their first LBNs, and returns to the lowest
/// when none is at or after the end of the last one (CMU-CS-00-136, section
/// 4.1). Requests at one LBN are served in the order of pushing.
///
/// With `from = "start"` it goes on at the first block of the last one, as DiskSim 4.0
/// does: another request for the same blocks comes next, not a cycle later.
#[derive(Debug, Default)]
pub struct CLook {
    waiting: ByLbn,
}

/// Its registration.
pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "c_look",
    needs_positions: false,
    moves_to_edges: false,
    read: |keys| {
        let from_start =
            keys.opt_choice("from", &[("end", false), ("start", true)])?.unwrap_or(false);
        Ok(Arc::new(move || Box::new(CLook { waiting: ByLbn::new(from_start) })))
    },
};

impl CLook {
    /// The next request, and whether the sweep has returned to the lowest before it.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(Waiting, bool)> {
        let ahead = self.waiting.ahead();
        let next = ahead.or_else(|| self.waiting.first())?;
        Some((self.waiting.take(next), ahead.is_none()))
    }
}

impl Scheduler for CLook {
    fn push(&mut self, waiting: Waiting, _positions: &dyn Positions) {
        self.waiting.push(waiting);
    }

    fn pop(&mut self, _at: Nanos, _positions: &dyn Positions) -> Option<Waiting> {
        self.next().map(|(waiting, _)| waiting)
    }
}
