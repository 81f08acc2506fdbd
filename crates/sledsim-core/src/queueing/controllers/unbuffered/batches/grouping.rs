//! Grouping: ready commands that need the same passes form a batch.

use super::Batches;
use crate::model::BatchPlanner;
use crate::model::mechanism::Mechanism;
use crate::queueing::controllers::unbuffered::Station;
use crate::queueing::schedulers::Waiting;
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;
use std::collections::VecDeque;

/// Working memory of [`Station::form_groups`].
#[derive(Debug, Default)]
pub(super) struct Grouping {
    ready: Vec<Waiting>,
    taken: Vec<bool>,
    /// Row and cylinder of each command's first block, and its index in `ready`.
    index: Vec<(u32, u32, usize)>,
    near: Vec<usize>,
    extents: Vec<Extent>,
    group: Vec<usize>,
}

impl<M: Mechanism> Station<M> {
    /// If the first command has waited for the window by `at`, pushes all ready
    /// commands to the scheduler, in groups.
    pub(in crate::queueing::controllers::unbuffered) fn form_groups(&mut self, at: Nanos) {
        let due = |first: &Waiting| first.ready + self.window <= at;
        let Some(planner) = self.mechanism.batches() else {
            return;
        };
        if !self.incoming.front().is_some_and(due) {
            return;
        }
        let batches = &mut self.batches;
        (batches.grouping).take_ready(&mut self.incoming, at, planner);
        for leader in 0..batches.grouping.ready.len() {
            if std::mem::replace(&mut batches.grouping.taken[leader], true) {
                continue;
            }
            batches.grouping.find_group(leader, at, planner);
            self.in_batches += batches.grouping.group.len() - 1;
            let next = batches.take_group();
            self.scheduler.push(next, self.mechanism.positions());
            self.waiting += 1;
        }
    }
}

impl Batches {
    /// Makes the request for the group found last.
    fn take_group(&mut self) -> Waiting {
        let (Grouping { ready, group, .. }, store) = (&mut self.grouping, &mut self.store);
        if let [only] = group[..] {
            return std::mem::take(&mut ready[only]);
        }
        let slot = store.take_slot();
        for &member in &*group {
            store.slots[slot].push(std::mem::take(&mut ready[member]));
        }
        store.combine(slot)
    }
}

impl Grouping {
    /// Takes the commands that are ready at `at`, and records their rows and
    /// cylinders.
    fn take_ready(
        &mut self,
        incoming: &mut VecDeque<Waiting>,
        at: Nanos,
        planner: &dyn BatchPlanner,
    ) {
        let Self { ready, index, .. } = self;
        ready.clear();
        index.clear();
        while incoming.front().is_some_and(|w| w.ready <= at) {
            if let Some(waiting) = incoming.pop_front() {
                let (row, cylinder) = planner.row_of(waiting.request.lbn());
                index.push((row, cylinder, ready.len()));
                ready.push(waiting);
            }
        }
        index.sort_unstable();
        self.taken.clear();
        self.taken.resize(ready.len(), false);
    }

    /// Finds the commands to serve with `leader`: those that need no further pass,
    /// in the order of arrival.
    fn find_group(&mut self, leader: usize, at: Nanos, planner: &dyn BatchPlanner) {
        let request = &self.ready[leader].request;
        self.extents.clear();
        self.extents.extend_from_slice(&request.extents);
        let mut blocks = u64::from(request.blocks());
        let passes = planner.passes(at, &self.extents);
        let most = passes as u64 * u64::from(planner.parallelism());
        self.near.clear();
        if blocks < most {
            self.find_near(at, planner);
        }
        self.group.clear();
        self.group.push(leader);
        for &other in &self.near {
            let request = &self.ready[other].request;
            let more = blocks + u64::from(request.blocks());
            if self.taken[other] || more > most {
                continue;
            }
            let before = self.extents.len();
            self.extents.extend_from_slice(&request.extents);
            if planner.passes(at, &self.extents) == passes {
                self.taken[other] = true;
                self.group.push(other);
                blocks = more;
            } else {
                self.extents.truncate(before);
            }
        }
    }

    /// Finds the commands whose first block is within reach of the passes planned
    /// last.
    fn find_near(&mut self, at: Nanos, planner: &dyn BatchPlanner) {
        let Self { index, near, .. } = self;
        planner.reaches(at, &mut |row, low, high| {
            let (from, until) = ((row, low, 0), (row, high, usize::MAX));
            let places = index.partition_point(|place| *place < from)
                ..index.partition_point(|place| *place <= until);
            near.extend(index[places].iter().map(|place| place.2));
        });
        near.sort_unstable();
        near.dedup();
    }
}
