//! First come, first served.

use super::{Scheduler, SchedulerEntry, Waiting};
use crate::model::mechanism::Positions;
use sledsim_base::units::Nanos;
use std::collections::VecDeque;
use std::sync::Arc;

/// Serves requests in the order in which they became ready.
#[derive(Debug, Default)]
pub struct Fcfs {
    queue: VecDeque<Waiting>,
}

/// Its registration.
pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "fcfs",
    needs_positions: false,
    moves_to_edges: false,
    read: |_| Ok(Arc::new(|| Box::<Fcfs>::default())),
};

impl Scheduler for Fcfs {
    fn push(&mut self, waiting: Waiting, _positions: &dyn Positions) {
        self.queue.push_back(waiting);
    }

    fn pop(&mut self, _at: Nanos, _positions: &dyn Positions) -> Option<Waiting> {
        self.queue.pop_front()
    }

    fn is_in_order(&self) -> bool {
        true
    }
}
