//! Background tasks: work of a device that uses the capacity left over by
//! requests.

use serde_json::Value;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// The background tasks of a device.
pub trait Background: Send {
    /// The tasks and their progress, as in the summary.
    fn to_json(&self) -> Vec<Value>;

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

/// A block for which a task requests a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassRequest {
    /// The block.
    pub lbn: u64,
    /// Whether to read or to write it.
    pub op: Op,
}
