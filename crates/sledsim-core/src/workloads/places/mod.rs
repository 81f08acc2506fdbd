//! Places: where requests go.
//!
//! A region is a sequence of *slots*, the multiples of `blocking` in it. Each
//! file defines how to choose the slot of a request of a given number of slots,
//! and guarantees: the request lies inside the region, numbers are drawn from
//! separate streams, and nothing is allocated per request.
//!
//! Modules in reading order:
//! - `uniform`: each slot is equally likely;
//! - `sequential`: streams of requests, each beginning where the one before it
//!   ended;
//! - `hot_cold`: a part of the region gets most requests;
//! - `ranked`: units of the region by rank;
//! - `zipf`: a few units of the region get most requests;
//! - `pareto`: a share of the units gets the rest of the requests, and so within it;
//! - `extents`: a working set spread over a region, for `files`, `scan`
//!   and `nurand`;
//! - `recency`: a stack of units, the last one used on top;
//! - `reuse`: popularity that moves, by the measured distances between uses;
//! - `files`: blocks of a working set by their popularity, with sequential runs;
//! - `scan`: a working set read in long runs, by one reader or several;
//! - `nurand`: pages of a database with rows chosen as in TPC-C.

mod uniform;

mod sequential;

mod hot_cold;

mod ranked;

mod zipf;

mod pareto;

mod extents;

mod recency;

mod reuse;

mod files;

mod scan;

mod nurand;

use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::registry::{Named, Registry};
use std::fmt::Debug;
use std::sync::Arc;

/// A registered rule for choosing places, which names a generator.
#[derive(Clone, Copy)]
pub(super) struct PlaceEntry {
    /// The name of the generator.
    pub name: &'static str,
    /// Reads its keys; the number is `blocking`.
    pub read: fn(&mut Keys, u32) -> Result<Arc<dyn PlaceKind>>,
}

impl Named for PlaceEntry {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// All rules; the first is the default.
pub(super) const PLACES: Registry<PlaceEntry> = Registry::new(&[
    uniform::ENTRY,
    zipf::ENTRY,
    pareto::ENTRY,
    hot_cold::ENTRY,
    sequential::ENTRY,
    files::ENTRY,
    scan::ENTRY,
    nurand::ENTRY,
]);

/// How a generator chooses places, as read from its keys. Serialized, it is every key with
/// its value in effect.
pub(super) trait PlaceKind: erased_serde::Serialize + Debug + Send + Sync {
    /// The gap inside sequential runs.
    fn interleave_kib(&self) -> f64 {
        0.0
    }

    /// Starts choosing places in `region`.
    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>>;
}

erased_serde::serialize_trait_object!(PlaceKind);

/// The region of places, and the services to choose them.
#[derive(Clone, Copy)]
pub(super) struct Region<'a> {
    /// How many slots it has.
    pub slots: u64,
    /// Blocks in a slot.
    pub blocking: u64,
    /// Makes the stream of a purpose.
    pub stream: &'a dyn Fn(&str) -> Stream,
    /// The keys, for refusals.
    pub keys: &'a Keys,
}

/// The place of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    /// The first slot.
    pub slot: u64,
    /// How many slots; fewer than requested if an extent or region ends before.
    pub units: u64,
    /// The stream it belongs to.
    pub stream: u32,
}

impl Slots {
    /// The place of a request without a stream.
    fn whole(slot: u64, units: u64) -> Self {
        Self { slot, units, stream: 0 }
    }
}

/// Chooses places.
pub(super) trait Places: Debug + Send {
    /// The place of a request of `units` slots.
    fn next(&mut self, units: u64) -> Slots;
}
