//! FSCAN: sweeps over what waited when they began.

use super::look::{Look, goes_down};
use super::{Scheduler, SchedulerEntry, Waiting};
use crate::model::mechanism::Positions;
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// As [`Look`], but a sweep serves only what waited when it began; what comes meanwhile is
/// for the next (Coffman, Klimko and Ryan, "Analysis of Scanning Policies for Reducing Disk
/// Seek Times", SIAM Journal on Computing 1972). No stream of requests near the arm can hold
/// others up.
#[derive(Debug, Default)]
pub struct Fscan {
    sweep: Look,
    /// Requests of the next sweep, in the order of pushing.
    later: Vec<Waiting>,
}

/// Its registration.
pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "fscan",
    needs_positions: false,
    moves_to_edges: false,
    read: |keys| {
        let goes_down = goes_down(keys)?;
        Ok(Arc::new(move || Box::new(Fscan { sweep: Look::new(goes_down), later: Vec::new() })))
    },
};

impl Scheduler for Fscan {
    fn push(&mut self, waiting: Waiting, _positions: &dyn Positions) {
        self.later.push(waiting);
    }

    fn pop(&mut self, _at: Nanos, _positions: &dyn Positions) -> Option<Waiting> {
        if self.sweep.is_empty() {
            self.later.drain(..).for_each(|waiting| self.sweep.add(waiting));
        }
        self.sweep.next().map(|(waiting, _)| waiting)
    }
}
