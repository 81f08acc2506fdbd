//! The contract of a kind of device: what its keys make.
//!
//! Adding a kind means adding a file with a [`DeviceKind`] and a [`KindEntry`],
//! and its line in [`crate::catalog::KINDS`].

use crate::model::Model;
use crate::model::contents::Promise;
use crate::power::PowerOn;
use crate::queueing::schedulers::Scheduler;
use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::registry::Named;
use sledsim_base::units::BLOCK_BYTES;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A device as read from its keys: checked, ready to be built. Its children, if
/// it is made of any, are read and built for it.
pub trait DeviceKind: Any + Debug + Send + Sync {
    /// The kind, as in the spec.
    fn kind(&self) -> &'static str;

    /// Logical blocks it offers.
    fn blocks(&self) -> u64;

    /// Quantities that follow from the spec, with units in their names.
    fn derived(&self) -> Value {
        let blocks = self.blocks();
        json!({ "blocks": blocks, "capacity_bytes": blocks * BLOCK_BYTES })
    }

    /// Whether it has positions of its own that a request waits for.
    fn has_positions(&self) -> bool {
        false
    }

    /// How it is at time zero.
    fn start(&self) -> PowerOn {
        PowerOn::default()
    }

    /// When a write to it is promised to survive a power failure, if to its
    /// children it is as `children` say.
    fn promise(&self, children: &[Promise]) -> Promise;

    /// Whether a power failure can leave its copies or its parity at odds with
    /// its data.
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

/// What a kind reads its children with.
pub trait Children {
    /// Reads the next child, called `part` in the tree, from its keys.
    ///
    /// # Errors
    /// Whatever is wrong with a key.
    fn add(&mut self, part: &str, keys: Keys) -> Result<Child>;
}

/// What a kind must know of a child.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// Logical blocks it offers.
    pub blocks: u64,
    /// Whether any part of it has positions that a request waits for.
    pub has_positions: bool,
    /// How it is at time zero.
    pub start: PowerOn,
}

/// A kind, registered.
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

/// Takes the table of a device out of the keys of one that it is part of.
///
/// # Errors
/// It is not there.
pub fn table(keys: &mut Keys, name: &str) -> Result<Keys> {
    let missing = keys.refuse(name, "missing table; must hold a device of its own");
    keys.take_table(name).ok_or(missing)
}

/// The models of the two children that [`read_pair`] read.
///
/// # Panics
/// If there are not two.
#[must_use]
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
/// One is missing, or whatever is wrong with its keys.
pub fn read_pair(keys: &mut Keys, children: &mut dyn Children) -> Result<(Child, Child)> {
    let mut part = |name: &str| {
        let keys = table(keys, name)?;
        children.add(name, keys)
    };
    Ok((part("front")?, part("back")?))
}
