//! Places: where requests go.
//!
//! A region is a row of *slots*, the multiples of `blocking` in it. Each file
//! says how a slot is chosen for a request that takes so many of them. What a
//! file promises: the request lies inside the region, numbers are drawn from
//! streams of its own, and nothing is allocated per request.

mod extents;
mod files;
mod hot_cold;
mod nurand;
mod scan;
mod sequential;
mod uniform;
mod zipf;

use serde_json::Value;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::registry::{Named, Registry};
use std::fmt::Debug;
use std::sync::Arc;

/// A way to choose places, registered: it names a generator.
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

/// All of them; the first is the default.
pub(super) const PLACES: Registry<PlaceEntry> = Registry::new(&[
    uniform::ENTRY,
    zipf::ENTRY,
    hot_cold::ENTRY,
    sequential::ENTRY,
    files::ENTRY,
    scan::ENTRY,
    nurand::ENTRY,
]);

/// How a generator chooses places, as read from its keys.
pub(super) trait PlaceKind: Debug + Send + Sync {
    /// Adds every key with its value in effect.
    fn to_json(&self, facts: &mut Value);

    /// Starts to choose places in `region`.
    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>>;
}

/// What places are chosen in, and with.
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

/// Where a request goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    /// The first slot.
    pub slot: u64,
    /// How many slots: fewer than asked for where something ends before.
    pub units: u64,
    /// The stream it belongs to.
    pub stream: u32,
}

impl Slots {
    /// The place of a request of no particular stream.
    fn whole(slot: u64, units: u64) -> Self {
        Self {
            slot,
            units,
            stream: 0,
        }
    }
}

/// Chooses places.
pub(super) trait Places: Debug + Send {
    /// The place of a request of `units` slots.
    fn next(&mut self, units: u64) -> Slots;
}
