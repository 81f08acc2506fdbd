//! Schedulers: pick the next request of a queue.
//!
//! Modules in reading order:
//! - `spec`: schedulers by name, with their keys;
//! - `fcfs`: first come, first served;
//! - `queue`: waiting requests by slot;
//! - `by_lbn`: waiting requests by LBN;
//! - `sstf_lbn`: shortest seek time first, by distance in LBNs;
//! - `c_look`: cyclical LOOK;
//! - `cylinders`: waiting requests by cylinder;
//! - `sptf`: shortest positioning time first;
//! - `ages`: waiting requests by age;
//! - `aged_sptf`: SPTF with a credit for waiting;
//! - `zone_sptf`: SPTF zone by zone.

mod spec;

mod fcfs;

mod queue;

mod by_lbn;

mod sstf_lbn;

mod c_look;

mod cylinders;

mod sptf;

mod ages;

mod aged_sptf;

mod zone_sptf;

pub use aged_sptf::AgedSptf;
pub use c_look::CLook;
pub use fcfs::Fcfs;
pub use spec::SchedulerSpec;
pub use sptf::Sptf;
pub use sstf_lbn::SstfLbn;
pub use zone_sptf::ZoneSptf;

use crate::model::mechanism::Positions;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::registry::{Named, Registry};
use sledsim_base::request::Request;
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// A request waiting for the positions.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// The request.
    pub request: Request,
    /// Requests ahead of it in the device when it arrived.
    pub queue_depth: u32,
    /// When it may be served: arrival, bus wait and command overhead passed.
    pub ready: Nanos,
    /// Writes: when its last byte has crossed the bus to the device.
    pub data_in: Nanos,
}

/// Holds the waiting requests and picks the next one.
///
/// Everything pushed is ready at the instant of the next `pop`; picks depend
/// only on what was pushed and on the mechanism's state. Ties go to the
/// request that was pushed first.
pub trait Scheduler: Send {
    /// Takes a waiting request.
    fn push(&mut self, waiting: Waiting, positions: &dyn Positions);

    /// Removes and returns the request to serve at `at`.
    fn pop(&mut self, at: Nanos, positions: &dyn Positions) -> Option<Waiting>;

    /// Whether it picks requests in the order in which they were pushed, so that a
    /// queue does as well.
    fn is_in_order(&self) -> bool {
        false
    }
}

/// Makes a scheduler with an empty queue.
pub type Make = Arc<dyn Fn() -> Box<dyn Scheduler> + Send + Sync>;

/// A registered scheduler.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerEntry {
    /// Its name.
    pub name: &'static str,
    /// Whether it asks the mechanism for positioning times.
    pub needs_positions: bool,
    /// Reads its keys and returns a constructor.
    pub read: fn(&mut Keys) -> Result<Make>,
}

impl Named for SchedulerEntry {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// All schedulers; the first is the default.
pub const SCHEDULERS: Registry<SchedulerEntry> = Registry::new(&[
    fcfs::ENTRY,
    sstf_lbn::ENTRY,
    c_look::ENTRY,
    sptf::ENTRY,
    aged_sptf::ENTRY,
    zone_sptf::ENTRY,
]);
