//! One background task: its keys, its remaining blocks and its progress.

use super::due_blocks::DueBlocks;
use super::kinds::{Effect, KINDS, TaskKind, Touch};
use crate::devices::mems::parallel::{MediaAddress, Parallel};
use crate::model::{Percents, TaskProgress};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys;
use sledsim_base::keys::{Keys, did_you_mean};
use sledsim_base::labels::read_label;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::ops::Range;

/// The order in which a task takes blocks within one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Nearest cylinder first, the lower one of two; then by LBN.
    #[default]
    Nearest,
    /// AccessSource LBN.
    Lbn,
}

/// The parameters of a background task.
#[derive(Clone, Debug)]
pub struct TaskSpec {
    kind: &'static TaskKind,
    order: Order,
    first_lbn: u64,
    blocks: Option<u64>,
    buffer_blocks: u64,
    tail: f64,
    ends_run: bool,
    origin: Keys,
}

impl TaskSpec {
    /// Reads a task from a label: its name, optionally with keys, as in
    /// `scan(order=lbn; tail=0.01)`.
    pub fn named(label: &str) -> Result<Self> {
        Self::read(read_label("background", "task", label)?)
    }

    /// Reads `task`, `order`, `first_lbn`, `blocks`, `buffer_mib` (of a task
    /// that rewrites), `tail` and `ends_run`.
    pub fn read(mut keys: Keys) -> Result<Self> {
        let origin = keys.clone();
        let name = keys.text("task")?;
        let known = KINDS.get(&name);
        let kind = known.ok_or_else(|| {
            let hint = did_you_mean(&name, KINDS.names());
            keys.refuse("task", format_args!("unknown background task{hint}"))
        })?;
        let orders = [("nearest", Order::Nearest), ("lbn", Order::Lbn)];
        let buffer_mib = if kind.rewrites() {
            let most = keys::Range::above(0.0).at_most(1e9);
            keys.opt_f64("buffer_mib", most)?.unwrap_or(DEFAULT_BUFFER_MIB)
        } else {
            0.0
        };
        let spec = Self {
            kind,
            order: keys.opt_choice("order", &orders)?.unwrap_or_default(),
            first_lbn: keys.opt_u64("first_lbn", 0..=i64::MAX as u64)?.unwrap_or(0),
            blocks: keys.opt_u64("blocks", 1..=i64::MAX as u64)?,
            buffer_blocks: (buffer_mib * 1024.0 * 1024.0 / BLOCK_BYTES as f64) as u64,
            tail: keys.opt_f64("tail", keys::Range::at_least(0.0).at_most(1.0))?.unwrap_or(0.0),
            ends_run: keys.opt_bool("ends_run")?.unwrap_or(false),
            origin,
        };
        keys.finish()?;
        if kind.rewrites() && spec.buffer_blocks == 0 {
            return Err(spec.origin.refuse("buffer_mib", "must hold at least one block"));
        }
        Ok(spec)
    }

    /// The keys that it was given.
    pub fn keys(&self) -> &Keys {
        &self.origin
    }

    /// The blocks of the task on a device of `device_blocks`, first and one past the
    /// last.
    ///
    /// # Errors
    /// A task larger than the device.
    pub fn range(&self, device_blocks: u64) -> Result<(u64, u64)> {
        let refuse = |key: &str| -> Error {
            let last = device_blocks - 1;
            let must = format!("the task must lie within the device's LBNs 0 to {last}");
            self.origin.refuse(key, must)
        };
        if self.first_lbn >= device_blocks {
            return Err(refuse("first_lbn"));
        }
        let rest = device_blocks - self.first_lbn;
        match self.blocks {
            Some(blocks) if blocks > rest => Err(refuse("blocks")),
            blocks => Ok((self.first_lbn, self.first_lbn + blocks.unwrap_or(rest))),
        }
    }
}

/// Default buffer of a task that rewrites.
const DEFAULT_BUFFER_MIB: f64 = 64.0;

/// The origin of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessSource {
    /// The load.
    Foreground,
    /// A task, with unused tips of a request.
    Free,
    /// A task, in a pass of its own.
    Active,
}

/// A task in progress.
#[derive(Clone, Debug)]
pub(super) struct Task {
    spec: TaskSpec,
    range: Range<u64>,
    /// Blocks still to access, except those held to be written again.
    due: DueBlocks,
    /// Blocks held to be written again.
    held: Option<DueBlocks>,
    /// Blocks done because the load accessed them.
    foreground_blocks: u64,
    /// Blocks that the task accessed itself: with unused tips of requests, and in
    /// passes of its own.
    free_blocks: u64,
    active_blocks: u64,
    /// Number of times a done block became due again.
    again: u64,
    percent: Percent,
}

/// When each percent was first reached, with the counters at that time.
#[derive(Clone, Debug)]
struct Percent {
    reached: Vec<Reached>,
    /// Number of done blocks at which the next percent is reached.
    next: u64,
}

#[derive(Clone, Copy, Debug)]
struct Reached {
    at: Nanos,
    requests: u64,
    free_blocks: u64,
}

impl Task {
    /// Creates the task in its initial state.
    ///
    /// # Errors
    /// A task larger than the device.
    pub fn new(spec: &TaskSpec, parallel: &Parallel) -> Result<Self> {
        let (first, end) = spec.range(parallel.geometry.blocks())?;
        let mut due = DueBlocks::none(parallel);
        for lbn in first..end {
            due.set(&parallel.spot(lbn), true);
        }
        let start = Reached { at: Nanos::ZERO, requests: 0, free_blocks: 0 };
        Ok(Self {
            spec: spec.clone(),
            range: first..end,
            due,
            held: spec.kind.rewrites().then(|| DueBlocks::none(parallel)),
            foreground_blocks: 0,
            free_blocks: 0,
            active_blocks: 0,
            again: 0,
            percent: Percent { reached: vec![start], next: (end - first).div_ceil(100) },
        })
    }

    /// Number of blocks of the task.
    fn blocks(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Counts a block that the task accessed itself.
    pub fn count_own(&mut self, by: AccessSource) {
        match by {
            AccessSource::Active => self.active_blocks += 1,
            _ => self.free_blocks += 1,
        }
    }

    /// Number of blocks that the task accessed itself.
    pub fn accessed(&self) -> u64 {
        self.free_blocks + self.active_blocks
    }

    /// Number of blocks still to be done.
    fn left(&self) -> u64 {
        self.due.count() + self.held.as_ref().map_or(0, DueBlocks::count)
    }

    /// Whether the task is complete; it then ignores further accesses.
    pub fn complete(&self) -> bool {
        self.left() == 0
    }

    /// Whether the task is complete and ends the run.
    pub fn ends_run(&self) -> bool {
        self.spec.ends_run && self.complete()
    }

    pub fn order(&self) -> Order {
        self.spec.order
    }

    /// The squares of a class that the task can use: blocks to rewrite, or to read.
    pub fn wants(&self, touch: Touch, cylinder: u32, row: u32) -> Option<&[u64]> {
        match (touch, &self.held) {
            (Touch::Rewrite, Some(held)) => Some(held.class(cylinder, row)),
            (Touch::Read, Some(held)) if held.count() >= self.spec.buffer_blocks => None,
            (Touch::Read, _) => Some(self.due.class(cylinder, row)),
            _ => None,
        }
    }

    /// Records an access to a block.
    pub fn touched(
        &mut self,
        spot: &MediaAddress,
        touch: Touch,
        by: AccessSource,
        parallel: &Parallel,
    ) {
        if self.complete() {
            return;
        }
        match self.spec.kind.after(touch) {
            Effect::None => {}
            Effect::Due => {
                if self.range.contains(&parallel.lbn(spot)) && self.due.set(spot, true) {
                    self.again += 1;
                }
            }
            Effect::Done => {
                let held = self.held.as_mut().is_some_and(|held| held.set(spot, false));
                if (self.due.set(spot, false) || held) && by == AccessSource::Foreground {
                    self.foreground_blocks += 1;
                }
            }
            Effect::Hold => {
                if let Some(held) = &mut self.held
                    && held.count() < self.spec.buffer_blocks
                    && self.due.set(spot, false)
                {
                    held.set(spot, true);
                }
            }
        }
    }

    /// Makes the blocks of a square due again that miss tip sectors anew, if the task
    /// seeks such blocks.
    pub fn struck(&mut self, square: u32, parallel: &Parallel) {
        if !self.spec.kind.seeks_failures() {
            return;
        }
        let geometry = parallel.geometry;
        for cylinder in 0..geometry.cylinders {
            for row in 0..geometry.rows {
                let spot = MediaAddress { cylinder, row, square };
                if self.range.contains(&parallel.lbn(&spot)) && self.due.set(&spot, true) {
                    self.again += 1;
                }
            }
        }
    }

    /// Records progress at the end of a pass; `requests` of the load have begun.
    pub fn pass_ended(&mut self, at: Nanos, requests: u64) {
        let done = self.blocks() - self.left();
        while done >= self.percent.next && self.percent.reached.len() <= 100 {
            self.percent.reached.push(Reached { at, requests, free_blocks: self.free_blocks });
            let percent = self.percent.reached.len() as u64;
            self.percent.next = (self.blocks() * percent).div_ceil(100);
        }
    }

    /// Whether so little is left that the task requests passes of its own.
    pub fn wants_own_pass(&self) -> bool {
        let left = self.left();
        left > 0 && left as f64 <= self.spec.tail * self.blocks() as f64
    }

    /// Candidate blocks for a pass of its own, one per row of the nearest cylinder, and
    /// the access to make; `None` before the tail.
    pub fn own_pass_candidates(
        &self,
        cylinder: u32,
    ) -> Option<(impl Iterator<Item = MediaAddress> + '_, Touch)> {
        if !self.wants_own_pass() {
            return None;
        }
        let held = self.held.as_ref().filter(|held| held.count() > 0);
        let (from, touch) = match held {
            Some(held) if self.due.count() == 0 || held.count() >= self.spec.buffer_blocks => {
                (held, Touch::Rewrite)
            }
            _ => (&self.due, Touch::Read),
        };
        Some((from.rows(from.nearest(cylinder)?), touch))
    }

    /// Whether the task has a tail, for which it requests passes of its own.
    pub fn has_tail(&self) -> bool {
        self.spec.tail > 0.0
    }

    /// The task and its progress.
    pub fn progress(&self) -> TaskProgress {
        let order = match self.spec.order {
            Order::Nearest => "nearest",
            Order::Lbn => "lbn",
        };
        TaskProgress {
            task: self.spec.kind.name,
            order,
            first_lbn: self.spec.first_lbn,
            blocks: self.blocks(),
            tail: self.spec.tail,
            done_blocks: self.blocks() - self.left(),
            foreground_blocks: self.foreground_blocks,
            free_blocks: self.free_blocks,
            active_blocks: self.active_blocks,
            again_blocks: self.again,
            complete: self.complete(),
            percent: Percents {
                time_s: self.at_percents(|reached| reached.at.0 as f64 / 1e9),
                requests: self.at_percents(|reached| reached.requests),
                free_blocks: self.at_percents(|reached| reached.free_blocks),
            },
        }
    }

    /// A number at each percent from 0 to 100.
    fn at_percents<T>(&self, number: impl Fn(&Reached) -> T) -> Vec<Option<T>> {
        (0..=100).map(|percent| self.percent.reached.get(percent).map(&number)).collect()
    }
}
