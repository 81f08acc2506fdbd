//! The interface of a kind of device: reads its keys and builds its model.
//!
//! To add a kind, write a file with a [`DeviceKind`] and a [`KindEntry`], and list it
//! in [`crate::catalog::KINDS`].

use crate::idle_policy::PowerOn;
use crate::model::Model;
use crate::model::contents::Promise;
use crate::model::torn_blocks::Tearing;
use crate::queueing::schedulers::Scheduler;
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::registry::Named;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// How much a device holds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Capacity {
    /// Logical blocks.
    pub blocks: u64,
    /// Their bytes.
    pub capacity_bytes: u64,
}

impl Capacity {
    /// That of so many blocks.
    pub fn of(blocks: u64) -> Self {
        Self { blocks, capacity_bytes: blocks * BLOCK_BYTES }
    }
}

/// A device read from its keys: checked and ready to be built. The catalog reads and
/// builds its children, if it has any.
pub trait DeviceKind: Any + Debug + Send + Sync {
    /// The name of the kind, as in specs.
    fn kind(&self) -> &'static str;

    /// Number of logical blocks.
    fn blocks(&self) -> u64;

    /// Quantities derived from the spec, with units in their names.
    fn derived(&self) -> Box<dyn erased_serde::Serialize> {
        Box::new(Capacity::of(self.blocks()))
    }

    /// Whether the device has a mechanical position, so that requests wait for
    /// positioning.
    fn has_positions(&self) -> bool {
        false
    }

    /// Its independent ranges of LBNs, in order, each with an arm of its own; empty unless
    /// there are several.
    fn ranges(&self) -> Vec<Range<u64>> {
        Vec::new()
    }

    /// State at time zero.
    fn start(&self) -> PowerOn {
        PowerOn::default()
    }

    /// What becomes of a block that is being written when power fails.
    fn tearing(&self) -> Tearing {
        Tearing::Whole
    }

    /// How long passes under way go on after power has failed.
    fn hold_up(&self) -> Nanos {
        Nanos::ZERO
    }

    /// Whether all of its data are lost when power fails.
    fn forgets(&self) -> bool {
        false
    }

    /// How long it takes to start when power returns, beyond what [`Self::start`] says;
    /// zero if the spec does not say.
    fn startup(&self) -> Nanos {
        Nanos::ZERO
    }

    /// When a write is promised to survive a power failure, given the promises of its
    /// children.
    fn promise(&self, children: &[Promise]) -> Promise;

    /// Whether a power failure can leave its copies or its parity inconsistent with its
    /// data.
    fn has_write_hole(&self) -> bool {
        false
    }

    /// Builds the model. `name` and `device` mark its rows and reports;
    /// `scheduler` makes one scheduler per mechanism.
    fn build(
        &self,
        name: &str,
        device: u16,
        scheduler: &dyn Fn() -> Box<dyn Scheduler>,
        children: Vec<Box<dyn Model>>,
    ) -> Box<dyn Model>;
}

/// Reads the children of a kind.
pub trait Children {
    /// Reads the next child, called `part` in the tree, from its keys.
    fn add(&mut self, part: &str, keys: Keys) -> Result<Child>;
}

/// Properties of a child that its parent needs.
#[derive(Clone, Debug)]
pub struct Child {
    /// What it is.
    pub kind: Arc<dyn DeviceKind>,
    /// Number of logical blocks.
    pub blocks: u64,
    /// Whether any part of it has a mechanical position.
    pub has_positions: bool,
    /// State at time zero.
    pub start: PowerOn,
}

/// The registry entry of a kind.
#[derive(Clone, Copy)]
pub struct KindEntry {
    /// Its name in specs.
    pub name: &'static str,
    /// Reads a device of this kind.
    pub read: fn(&mut Keys, &mut dyn Children) -> Result<Arc<dyn DeviceKind>>,
}

impl Named for KindEntry {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// Takes the table of a child device out of its parent's keys.
pub fn table(keys: &mut Keys, name: &str) -> Result<Keys> {
    let table = keys.take_table(name);
    table.ok_or_else(|| keys.missing(name, "a table with a device of its own"))
}

/// Splits the children that [`read_pair`] read into the front and the back.
///
/// # Panics
/// If there are not exactly two.
pub fn pair(children: Vec<Box<dyn Model>>) -> (Box<dyn Model>, Box<dyn Model>) {
    let mut children = children.into_iter();
    match (children.next(), children.next(), children.next()) {
        (Some(front), Some(back), None) => (front, back),
        _ => unreachable!("a front and a back were read"),
    }
}

/// Reads the devices `[front]` and `[back]`.
///
/// # Errors
/// One is missing, or one of its keys is invalid.
pub fn read_pair(keys: &mut Keys, children: &mut dyn Children) -> Result<(Child, Child)> {
    let mut part = |name: &str| {
        let keys = table(keys, name)?;
        children.add(name, keys)
    };
    Ok((part("front")?, part("back")?))
}
