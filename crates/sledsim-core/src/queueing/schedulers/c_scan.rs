//! C-SCAN: from edge to edge in one direction.

use super::c_look::CLook;
use super::{Scheduler, SchedulerEntry, Waiting, Way};
use crate::model::mechanism::Positions;
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// As [`CLook`], but the mechanism goes on to the last LBN of the device and from there to
/// the first before it begins again (Seaman, Lind and Wilson, IBM Systems Journal 1966;
/// Silberschatz, Galvin and Gagne, "Operating System Concepts"). The request after the
/// return is chosen when the way to the edge begins.
#[derive(Debug, Default)]
pub struct CScan {
    sweep: CLook,
    way: Way,
    /// Whether a request was taken.
    began: bool,
}

/// Its registration.
pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "c_scan",
    needs_positions: false,
    moves_to_edges: true,
    read: |_| Ok(Arc::new(|| Box::<CScan>::default())),
};

impl Scheduler for CScan {
    fn push(&mut self, waiting: Waiting, positions: &dyn Positions) {
        self.sweep.push(waiting, positions);
    }

    fn pop(&mut self, _at: Nanos, positions: &dyn Positions) -> Option<Waiting> {
        self.way.clear();
        let (waiting, returned) = self.sweep.next()?;
        if returned && self.began {
            self.way.extend_from_slice(&[positions.blocks() - 1, 0]);
        }
        self.began = true;
        Some(waiting)
    }

    fn way(&self) -> &[u64] {
        &self.way
    }
}
