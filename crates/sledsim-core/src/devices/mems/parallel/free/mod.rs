//! Free bandwidth: background tasks that live off the tips which requests leave
//! unused (CMU-CS-03-125, section 5.1).
//!
//! Wherever the sled passes for a request, as many blocks of the class under
//! the tips as the power allows are accessed at the same time. No request is
//! served any later or otherwise for it; what a task reads waits in the device
//! until the bus is idle. Only a task with a `tail` asks for passes of its own,
//! when little is left: see [`BackgroundDrain`](crate::devices::mems::background_drain::ActiveTail).

mod due;
mod free_tips;
mod kinds;
mod task;

pub use free_tips::FreeTips;
pub use kinds::{Effect, KINDS, TaskKind, Touch};
pub use task::{Order, TaskSpec};

use super::{MediaAddress, Parallel};
use crate::model::{Background, Wanted};
use serde_json::Value;
use sledsim_base::error::Result;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use task::{By, Task};

/// The background tasks of a sled, in the order of their precedence.
///
/// A block that one of them reads counts for all to which a read is of use.
#[derive(Clone, Debug)]
pub struct BackgroundTasks {
    parallel: Parallel,
    tasks: Vec<Task>,
    /// Requests of the load that have begun.
    requests: u64,
    /// Squares under the tips of the pass that are in use, 64 to a word.
    used: Vec<u64>,
    /// Squares in use of each resource that squares share.
    in_use: Vec<u32>,
}

/// Squares that a request uses in a pass.
#[derive(Clone, Copy, Debug)]
pub struct Used<'a> {
    /// Where the sled is.
    pub cylinder: u32,
    /// First block; the others are under the tips after its.
    pub lbn: u64,
    /// All blocks, where they are not.
    pub lbns: &'a [u64],
    /// How many, at most as many as can be accessed at once.
    pub blocks: u32,
    /// What the request does with them.
    pub op: Op,
    /// Whether a task asked for them.
    pub for_task: bool,
}

impl BackgroundTasks {
    /// Tasks for a device, at their start.
    ///
    /// # Errors
    /// A task that is larger than the device.
    pub fn new(parallel: Parallel, tasks: &[TaskSpec]) -> Result<Self> {
        let tasks = tasks.iter().map(|spec| Task::new(spec, &parallel));
        Ok(Self {
            tasks: tasks.collect::<Result<_>>()?,
            requests: 0,
            used: vec![0; parallel.squares().div_ceil(64) as usize],
            in_use: vec![
                0;
                parallel
                    .groups
                    .as_ref()
                    .map_or(0, |groups| groups.resources() as usize)
            ],
            parallel,
        })
    }

    /// Whether any of them will ask for passes of its own in the end.
    #[must_use]
    pub fn has_tail(&self) -> bool {
        self.tasks.iter().any(Task::has_tail)
    }

    /// Blocks that tasks read or wrote.
    #[must_use]
    pub fn accessed(&self) -> u64 {
        self.tasks.iter().map(Task::accessed).sum()
    }

    /// A request of the load begins.
    pub(crate) fn begins(&mut self) {
        self.requests += 1;
    }

    /// The sled has passed over `used` and was done at `at`: the tasks have
    /// taken what they could.
    pub(crate) fn pass(&mut self, at: Nanos, used: &Used<'_>) {
        let first = self.parallel.spot(used.lbn);
        self.used.fill(0);
        self.in_use.fill(0);
        let touch = match (used.op, used.for_task) {
            (Op::Read, _) => Touch::Read,
            (_, true) => Touch::Rewrite,
            (_, false) => Touch::Write,
        };
        let by = if used.for_task {
            By::Active
        } else {
            By::Foreground
        };
        if used.for_task
            && let Some(asker) = self.tasks.iter_mut().find(|task| task.wants_own_pass())
        {
            asker.took(By::Active);
        }
        for index in 0..used.blocks {
            let spot = match used.lbns.get(index as usize) {
                Some(lbn) => self.parallel.spot(*lbn),
                None => MediaAddress {
                    square: first.square + index,
                    ..first
                },
            };
            self.occupy(spot.square);
            for task in &mut self.tasks {
                task.touched(&spot, touch, by, &self.parallel);
            }
        }
        let first = MediaAddress {
            cylinder: used.cylinder,
            ..first
        };
        let mut left = self.parallel.parallelism() - used.blocks;
        let by = if used.for_task { By::Active } else { By::Free };
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

    /// Lets a task take up to `left` blocks within reach of `at`; how many are
    /// left then.
    fn take(
        &mut self,
        index: usize,
        touch: Touch,
        at: &MediaAddress,
        reach: u32,
        mut left: u32,
        by: By,
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
                    for cylinder in below
                        .into_iter()
                        .chain((distance > 0 && above <= last).then_some(above))
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

    /// As [`BackgroundTasks::take`], from one cylinder.
    fn take_from(
        &mut self,
        index: usize,
        touch: Touch,
        at: MediaAddress,
        mut left: u32,
        by: By,
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
                if !self.bears(square) {
                    continue;
                }
                // What it may hold could have come to an end.
                if self.tasks[index]
                    .wants(touch, at.cylinder, at.row)
                    .is_none()
                {
                    return left;
                }
                left -= 1;
                self.occupy(square);
                let spot = MediaAddress { square, ..at };
                for task in &mut self.tasks {
                    task.touched(&spot, touch, by, &self.parallel);
                }
                self.tasks[index].took(by);
            }
        }
        left
    }

    /// Whether the resource of a square bears one more.
    fn bears(&self, square: u32) -> bool {
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
    fn to_json(&self) -> Vec<Value> {
        self.tasks.iter().map(Task::to_json).collect()
    }

    fn ends_run(&self) -> bool {
        self.tasks.iter().any(Task::ends_run)
    }

    fn wants_own_pass(&self) -> bool {
        self.tasks.iter().any(Task::wants_own_pass)
    }

    /// Of the rows with blocks that the first impatient task wants in the
    /// nearest cylinder, the one that the sled is positioned for soonest.
    fn wanted(&self, cylinder: u32, estimate: &dyn Fn(&Wanted) -> Nanos) -> Option<Wanted> {
        let (spots, touch) = (self.tasks.iter()).find_map(|task| task.impatient_for(cylinder))?;
        let op = if touch == Touch::Read {
            Op::Read
        } else {
            Op::Write
        };
        let wanted = spots.map(|spot| Wanted {
            lbn: self.parallel.lbn(&spot),
            op,
        });
        wanted.min_by_key(|wanted| estimate(wanted))
    }
}
