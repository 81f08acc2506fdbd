//! SCAN: from edge to edge.

use super::look::{Look, goes_down};
use super::{Scheduler, SchedulerEntry, Waiting, Way};
use crate::model::mechanism::Positions;
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// As [`Look`], but the mechanism goes on to the first or last LBN of the device before it
/// turns (Denning, "Effects of Scheduling on File Memory Operations", 1967; Silberschatz,
/// Galvin and Gagne, "Operating System Concepts"). The request after the turn is chosen when
/// the way to the edge begins.
#[derive(Debug, Default)]
pub struct Scan {
    sweep: Look,
    way: Way,
}

/// Its registration.
pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "scan",
    needs_positions: false,
    moves_to_edges: true,
    read: |keys| {
        let goes_down = goes_down(keys)?;
        Ok(Arc::new(move || Box::new(Scan { sweep: Look::new(goes_down), way: Way::new() })))
    },
};

impl Scheduler for Scan {
    fn push(&mut self, waiting: Waiting, _positions: &dyn Positions) {
        self.sweep.add(waiting);
    }

    fn pop(&mut self, _at: Nanos, positions: &dyn Positions) -> Option<Waiting> {
        self.way.clear();
        let (waiting, turned) = self.sweep.next()?;
        if turned {
            // It came from the other direction.
            self.way.push(if self.sweep.goes_down() { positions.blocks() - 1 } else { 0 });
        }
        Some(waiting)
    }

    fn way(&self) -> &[u64] {
        &self.way
    }
}
