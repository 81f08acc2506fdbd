//! Free bandwidth: background tasks served by the tips that requests leave
//! unused (CMU-CS-03-125, section 5.1).
//!
//! Wherever the sled passes for a request, as many blocks of the class under
//! the tips as the power allows are accessed at the same time. This changes no
//! request and delays none; the data of a task wait in the device until the bus
//! is idle. Only a task with a `tail` requests passes of its own, when little is
//! left: see [`BackgroundDrain`](crate::devices::mems::background_drain::BackgroundDrain).
//!
//! In reading order:
//!
//! * `kinds`: the kinds of tasks, by their effects on blocks.
//! * `due_blocks`: the blocks that a task has still to access.
//! * `task`: one task, with its keys and progress.
//! * `free_tips`: the mechanism that serves tasks with unused tips.

mod due_blocks;
mod free_tips;
mod kinds;
mod task;

pub use free_tips::FreeTips;
pub use kinds::{Effect, KINDS, TaskKind, Touch};
pub use task::{Order, TaskSpec};

use super::{MediaAddress, Parallel};
use crate::model::{Background, PassRequest, TaskProgress};
use sledsim_base::error::Result;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use task::{AccessSource, Task};

/// The background tasks of a sled, in order of precedence.
///
/// A block that one of them reads counts for every task that needs a read of it.
#[derive(Clone, Debug)]
pub struct BackgroundTasks {
    parallel: Parallel,
    tasks: Vec<Task>,
    /// Number of requests of the load that have begun.
    requests: u64,
    /// Squares in use in the current pass, 64 to a word.
    used: Vec<u64>,
    /// Number of squares in use by resource.
    in_use: Vec<u32>,
    /// Blocks that tasks have read in the last pass.
    read: Vec<u64>,
}

/// Squares that a request uses in a pass.
#[derive(Clone, Copy, Debug)]
pub struct Used<'a> {
    /// Cylinder of the sled.
    pub cylinder: u32,
    /// First block; the others follow it under the next tips.
    pub lbn: u64,
    /// All blocks, if they do not follow each other.
    pub lbns: &'a [u64],
    /// Number of blocks, at most as many as can be accessed at once.
    pub blocks: u32,
    /// The operation of the request.
    pub op: Op,
    /// Whether the request was made for a task.
    pub for_task: bool,
}

impl BackgroundTasks {
    /// Creates the tasks of a device in their initial state.
    ///
    /// # Errors
    /// A task larger than the device.
    pub fn new(parallel: Parallel, tasks: &[TaskSpec]) -> Result<Self> {
        let tasks = tasks.iter().map(|spec| Task::new(spec, &parallel));
        Ok(Self {
            tasks: tasks.collect::<Result<_>>()?,
            requests: 0,
            used: vec![0; parallel.squares().div_ceil(64) as usize],
            in_use: vec![
                0;
                parallel.groups.as_ref().map_or(0, |groups| groups.resources() as usize)
            ],
            read: Vec::new(),
            parallel,
        })
    }

    /// Whether any of them has a tail, for which it requests passes of its own.
    pub fn has_tail(&self) -> bool {
        self.tasks.iter().any(Task::has_tail)
    }

    /// Number of blocks that tasks have read or written.
    pub fn accessed(&self) -> u64 {
        self.tasks.iter().map(Task::accessed).sum()
    }

    /// The blocks that tasks have read in the last pass, beside those of its request.
    pub(crate) fn read(&self) -> &[u64] {
        &self.read
    }

    /// Takes note that the blocks of a square miss tip sectors anew.
    pub(crate) fn struck(&mut self, square: u32) {
        for task in &mut self.tasks {
            task.struck(square, &self.parallel);
        }
    }

    /// Counts a request of the load that begins.
    pub(crate) fn request_begins(&mut self) {
        self.requests += 1;
    }

    /// Lets the tasks access blocks in a pass over `used` that ended at `at`.
    pub(crate) fn pass(&mut self, at: Nanos, used: &Used<'_>) {
        let first = self.parallel.spot(used.lbn);
        self.read.clear();
        self.used.fill(0);
        self.in_use.fill(0);
        let touch = match (used.op, used.for_task) {
            (Op::Read, _) => Touch::Read,
            (_, true) => Touch::Rewrite,
            (_, false) => Touch::Write,
        };
        let by = if used.for_task { AccessSource::Active } else { AccessSource::Foreground };
        if used.for_task
            && let Some(asker) = self.tasks.iter_mut().find(|task| task.wants_own_pass())
        {
            asker.count_own(AccessSource::Active);
        }
        for index in 0..used.blocks {
            let spot = match used.lbns.get(index as usize) {
                Some(lbn) => self.parallel.spot(*lbn),
                None => MediaAddress { square: first.square + index, ..first },
            };
            self.occupy(spot.square);
            for task in &mut self.tasks {
                task.touched(&spot, touch, by, &self.parallel);
            }
        }
        let first = MediaAddress { cylinder: used.cylinder, ..first };
        let mut left = self.parallel.parallelism() - used.blocks;
        let by = if used.for_task { AccessSource::Active } else { AccessSource::Free };
        let reach = self.parallel.micropositioning.at(at);
        for index in 0..self.tasks.len() {
            for touch in [Touch::Rewrite, Touch::Read] {
                left = self.take(index, touch, &first, reach, left, by);
            }
        }
        for task in &mut self.tasks {
            task.pass_ended(at, self.requests);
        }
    }

    /// Lets a task access up to `left` blocks within `reach` of `at`; returns how many
    /// are left.
    fn take(
        &mut self,
        index: usize,
        touch: Touch,
        at: &MediaAddress,
        reach: u32,
        mut left: u32,
        by: AccessSource,
    ) -> u32 {
        let last = (self.parallel.geometry.cylinders - 1).min(at.cylinder.saturating_add(reach));
        let first = at.cylinder.saturating_sub(reach);
        match self.tasks[index].order() {
            Order::Lbn => {
                for cylinder in first..=last {
                    left = self.take_from(index, touch, MediaAddress { cylinder, ..*at }, left, by);
                }
            }
            Order::Nearest => {
                for distance in 0..=reach {
                    let below = at.cylinder.checked_sub(distance);
                    let above = at.cylinder + distance;
                    for cylinder in
                        below.into_iter().chain((distance > 0 && above <= last).then_some(above))
                    {
                        left = self.take_from(
                            index,
                            touch,
                            MediaAddress { cylinder, ..*at },
                            left,
                            by,
                        );
                    }
                    if left == 0 {
                        break;
                    }
                }
            }
        }
        left
    }

    /// As [`BackgroundTasks::take`], for one cylinder.
    fn take_from(
        &mut self,
        index: usize,
        touch: Touch,
        at: MediaAddress,
        mut left: u32,
        by: AccessSource,
    ) -> u32 {
        for word in 0..self.used.len() {
            if left == 0 {
                return 0;
            }
            let Some(wants) = self.tasks[index].wants(touch, at.cylinder, at.row) else {
                return left;
            };
            let mut may = wants[word] & !self.used[word];
            while may != 0 && left > 0 {
                let square = word as u32 * 64 + may.trailing_zeros();
                may &= may - 1;
                if !self.has_capacity(square) {
                    continue;
                }
                // The buffer of the task may have filled up.
                if self.tasks[index].wants(touch, at.cylinder, at.row).is_none() {
                    return left;
                }
                left -= 1;
                self.occupy(square);
                let spot = MediaAddress { square, ..at };
                if touch == Touch::Read {
                    self.read.push(self.parallel.lbn(&spot));
                }
                for task in &mut self.tasks {
                    task.touched(&spot, touch, by, &self.parallel);
                }
                self.tasks[index].count_own(by);
            }
        }
        left
    }

    /// Whether the resource of a square supports one more.
    fn has_capacity(&self, square: u32) -> bool {
        let groups = self.parallel.groups.as_ref();
        groups.is_none_or(|groups| self.in_use[groups.of(square) as usize] < groups.at_once())
    }

    fn occupy(&mut self, square: u32) {
        self.used[square as usize / 64] |= 1 << (square % 64);
        if let Some(groups) = &self.parallel.groups {
            self.in_use[groups.of(square) as usize] += 1;
        }
    }
}

impl Background for BackgroundTasks {
    fn tasks(&self) -> Vec<TaskProgress> {
        self.tasks.iter().map(Task::progress).collect()
    }

    fn ends_run(&self) -> bool {
        self.tasks.iter().any(Task::ends_run)
    }

    fn wants_own_pass(&self) -> bool {
        self.tasks.iter().any(Task::wants_own_pass)
    }

    /// Of the rows with due blocks in the nearest cylinder, for the first task in its
    /// tail, the one with the shortest positioning time.
    fn next_pass(
        &self,
        cylinder: u32,
        estimate: &dyn Fn(&PassRequest) -> Nanos,
    ) -> Option<PassRequest> {
        let (spots, touch) =
            (self.tasks.iter()).find_map(|task| task.own_pass_candidates(cylinder))?;
        let op = if touch == Touch::Read { Op::Read } else { Op::Write };
        let wanted = spots.map(|spot| PassRequest { lbn: self.parallel.lbn(&spot), op });
        wanted.min_by_key(|wanted| estimate(wanted))
    }
}
