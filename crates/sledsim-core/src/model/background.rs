//! Background tasks: work of a device that uses the capacity left over by
//! requests.

use serde::Serialize;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// The background tasks of a device.
pub trait Background: Send {
    /// The tasks and their progress.
    fn tasks(&self) -> Vec<TaskProgress>;

    /// Whether a task is complete whose end allows the run to end.
    fn ends_run(&self) -> bool;

    /// Whether any task needs passes of its own now.
    fn wants_own_pass(&self) -> bool;

    /// The block for which the first overdue task requests a pass while the
    /// mechanism is at `cylinder`: the one with the least `estimate`.
    fn next_pass(
        &self,
        cylinder: u32,
        estimate: &dyn Fn(&PassRequest) -> Nanos,
    ) -> Option<PassRequest>;
}

/// A task and its progress.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TaskProgress {
    /// Its name.
    pub task: &'static str,
    /// The order in which it takes blocks.
    pub order: &'static str,
    /// Its first block.
    pub first_lbn: u64,
    /// How many blocks it has.
    pub blocks: u64,
    /// At which share of blocks left it requests passes of its own.
    pub tail: f64,
    /// Blocks done.
    pub done_blocks: u64,
    /// Of them, those that requests accessed.
    pub foreground_blocks: u64,
    /// Those accessed by tips that requests left over.
    pub free_blocks: u64,
    /// Those accessed in passes of its own.
    pub active_blocks: u64,
    /// Blocks that were due again.
    pub again_blocks: u64,
    /// Whether it is complete.
    pub complete: bool,
    /// When each percent of the blocks was done, from 0 to 100.
    pub percent: Percents,
}

/// What had happened when each percent of a task was done; `None` for those that are not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Percents {
    /// The time.
    pub time_s: Vec<Option<f64>>,
    /// Requests served.
    pub requests: Vec<Option<u64>>,
    /// Blocks accessed by tips that requests left over.
    pub free_blocks: Vec<Option<u64>>,
}

/// A block for which a task requests a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassRequest {
    /// The block.
    pub lbn: u64,
    /// Whether to read or to write it.
    pub op: Op,
}
