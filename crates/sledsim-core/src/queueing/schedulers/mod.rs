//! Schedulers: pick the next request of a queue.
//!
//! Modules in reading order:
//! - `spec`: schedulers by name, with their keys;
//! - `fcfs`: first come, first served;
//! - `number_set`: a set of small numbers, searched for the nearest one;
//! - `queue`: waiting requests by slot;
//! - `by_lbn`: waiting requests by LBN;
//! - `sstf_lbn`: shortest seek time first, by distance in LBNs;
//! - `c_look`: cyclical LOOK;
//! - `look`: LOOK;
//! - `c_scan`, `scan`: as these two, but from edge to edge;
//! - `fscan`: LOOK over what waited when a sweep began;
//! - `cylinders`: waiting requests by cylinder;
//! - `sptf`: shortest positioning time first;
//! - `ages`: waiting requests by age;
//! - `rpo`: the order inside a drive of today;
//! - `deadline`: batches of reads and of writes, as in Linux;
//! - `aged_sptf`: SPTF with a credit for waiting;
//! - `zone_sptf`: SPTF zone by zone.

mod spec;

mod fcfs;

mod number_set;

mod queue;

mod by_lbn;

mod sstf_lbn;

mod c_look;

mod look;

mod c_scan;

mod scan;

mod fscan;

mod cylinders;

mod sptf;

mod ages;

mod deadline;

mod rpo;

mod aged_sptf;

mod zone_sptf;

pub use aged_sptf::AgedSptf;
pub use c_look::CLook;
pub use c_scan::CScan;
pub use deadline::Deadline;
pub use fcfs::Fcfs;
pub use fscan::Fscan;
pub use look::Look;
pub(crate) use rpo::Rpo;
pub use scan::Scan;
pub use spec::SchedulerSpec;
pub use sptf::Sptf;
pub use sstf_lbn::SstfLbn;
pub use zone_sptf::ZoneSptf;

use crate::model::mechanism::{Mechanism, Positions};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::registry::{Named, Registry};
use sledsim_base::request::Request;
use sledsim_base::units::Nanos;
use smallvec::SmallVec;
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

    /// The LBNs to whose cylinders the mechanism moves, in turn, before it serves the
    /// request that was popped last; none for most schedulers.
    fn way(&self) -> &[u64] {
        &[]
    }

    /// Whether it picks requests in the order in which they were pushed, so that a
    /// queue does as well.
    fn is_in_order(&self) -> bool {
        false
    }
}

/// The LBNs of [`Scheduler::way`].
type Way = SmallVec<[u64; 2]>;

/// Pops the request to serve at `at`, and sends the mechanism on the way to it.
pub(crate) fn pick(
    scheduler: &mut dyn Scheduler,
    at: Nanos,
    mechanism: &mut impl Mechanism,
) -> Option<Waiting> {
    let picked = scheduler.pop(at, mechanism.positions());
    for lbn in scheduler.way() {
        mechanism.pass_by(*lbn);
    }
    picked
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
    /// Whether it moves the mechanism where no request is: a host cannot.
    pub moves_to_edges: bool,
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
    look::ENTRY,
    c_scan::ENTRY,
    scan::ENTRY,
    fscan::ENTRY,
    deadline::ENTRY,
    sptf::ENTRY,
    aged_sptf::ENTRY,
    zone_sptf::ENTRY,
]);
