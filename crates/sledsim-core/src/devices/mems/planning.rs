//! The plans of a sled that serves batches, or whose squares share resources.

use super::parallel::{Parallel, Planner};
use crate::model::BatchPlanner;
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;
use std::cell::RefCell;
use std::ops::Range;

/// Planning state of a sled.
#[derive(Clone, Debug)]
pub(super) struct Planning {
    pub parallel: Parallel,
    /// The largest reach of tips at any time, in cylinders.
    pub most_reach: u32,
    /// Whether squares share resources, so that every request is planned, not only
    /// batches.
    pub always: bool,
    pub planner: RefCell<Planner>,
    /// The blocks of the last service, and those of each pass.
    pub lbns: Vec<u64>,
    pub of_pass: Vec<Range<usize>>,
}

impl Planning {
    /// Without any plan yet.
    pub fn new(parallel: Parallel) -> Self {
        Self {
            most_reach: parallel.micropositioning.most(),
            always: parallel.groups.is_some(),
            parallel,
            planner: RefCell::default(),
            lbns: Vec::new(),
            of_pass: Vec::new(),
        }
    }
}

impl BatchPlanner for Planning {
    fn parallelism(&self) -> u32 {
        self.parallel.parallelism()
    }

    fn row_of(&self, lbn: u64) -> (u32, u32) {
        let spot = self.parallel.spot(lbn);
        (spot.row, spot.cylinder)
    }

    fn passes(&self, at: Nanos, extents: &[Extent]) -> usize {
        let reach = self.parallel.micropositioning.at(at);
        let mut planner = self.planner.borrow_mut();
        planner.count(&self.parallel, extents, reach)
    }

    fn reaches(&self, at: Nanos, visit: &mut dyn FnMut(u32, u32, u32)) {
        let reach = self.parallel.micropositioning.at(at);
        for pass in self.planner.borrow().passes() {
            let (low, high) = pass.window();
            visit(pass.row, low.saturating_sub(reach), high.saturating_add(reach));
        }
    }
}
