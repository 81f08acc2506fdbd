//! The contract of background tasks: work of a device's own that lives off
//! what requests leave unused.

use serde_json::Value;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// The background tasks of a device.
pub trait Background: Send {
    /// The tasks and how far they came, as in the summary.
    fn to_json(&self) -> Vec<Value>;

    /// Whether a task has come to its end with which the run may end.
    fn ends_run(&self) -> bool;

    /// Whether any of them asks for passes of its own now.
    fn wants_own_pass(&self) -> bool;

    /// The block that the first impatient task asks a pass for while the
    /// mechanism is at a cylinder: of those it could ask for, the one that
    /// `estimate` says is reached soonest.
    fn wanted(&self, cylinder: u32, estimate: &dyn Fn(&Wanted) -> Nanos) -> Option<Wanted>;
}

/// A block that a task asks a pass for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The block.
    pub lbn: u64,
    /// What is to be done with it.
    pub op: Op,
}
