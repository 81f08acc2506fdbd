//! Layouts: where logical blocks live on a device.
//!
//! Contract: a layout is a bijection of the blocks of a device onto
//! themselves. [`Layout::map`] tells it run by run, [`Layout::logical`] is its
//! inverse. What does not divide evenly goes where the file says, and is never
//! lost. Nothing is allocated by either.
//!
//! [`ResolvedLayout`] is a layout that was read from its keys and fits its device;
//! [`ResolvedLayout::around`] puts it around the model of the device. A layout that
//! follows cylinders or rows goes onto a single sled or disk; one that needs
//! no geometry goes onto composites too, as one space.

mod bands;
mod bipartite;
mod columnar;
mod cylinders;
mod organ_pipe;
mod popularity;
mod rectangles;
mod remapped;
mod reshuffle;
mod segments;
mod simple;
mod subregioned;

pub use organ_pipe::OrganPipe;
pub use remapped::RemappedModel;
pub use reshuffle::{Reshuffle, Reshuffling};
pub use simple::Simple;

use crate::devices::disk::spec::DiskSpec;
use crate::devices::mems::spec::Mems;
use crate::model::Model;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::{Keys, did_you_mean};
use sledsim_base::progress::Progress;
use sledsim_base::registry::{Named, Registry};
use sledsim_base::request::Extent;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// A bijection of logical blocks onto the blocks of a device.
pub trait Layout: Debug + Send + Sync {
    /// Where logical block `lbn` lives, and how many logical blocks from it on
    /// (at least one) live side by side in this order.
    fn map(&self, lbn: u64) -> Run;

    /// The logical block that lives in block `block` of the device.
    fn logical(&self, block: u64) -> u64;

    /// The parts in logical order, if there are any: together all blocks.
    fn parts(&self) -> Vec<Part> {
        Vec::new()
    }
}

/// Blocks of a device that lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first, as the device counts.
    pub lbn: u64,
    /// How many.
    pub blocks: u64,
}

/// A part of the logical space, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its first logical block.
    pub first_lbn: u64,
    /// How many blocks it has.
    pub blocks: u64,
    /// Its cylinders.
    pub cylinders: Range<u32>,
    /// Its physical rows, where it does not have all.
    pub rows: Option<Range<u32>>,
    /// The class of data it is for, where there are any.
    pub class: Option<&'static str>,
}

/// The device that a layout is for, and what reading the layout takes beside its
/// keys.
pub struct Site<'a> {
    /// The device's name.
    pub name: &'a str,
    /// Its kind.
    pub kind: &'static str,
    /// Logical blocks that it offers.
    pub blocks: u64,
    /// Whether any part of it has positions that a request waits for.
    pub has_positions: bool,
    /// The sled, if it is one.
    pub mems: Option<&'a Mems>,
    /// The disk, if it is one.
    pub disk: Option<&'a DiskSpec>,
    /// Opens the traces that layouts name.
    pub traces: &'a dyn Traces,
    /// Called now and then while a file is read; its error ends the reading.
    pub check: &'a mut dyn FnMut(Progress) -> Result<()>,
}

/// Opens traces.
pub trait Traces {
    /// The trace that the table `trace` of a layout names; finishes its keys.
    ///
    /// # Errors
    /// Whatever is wrong with a key.
    fn open(&self, keys: Keys) -> Result<Box<dyn Accesses>>;
}

/// Requests of which a layout counts the places.
pub trait Accesses: Debug {
    /// The file, as the table names it.
    fn file(&self) -> &str;

    /// Calls `visit` with each extent of each request, as they lie on a device of
    /// so many blocks. `check` is called now and then; its error ends the
    /// reading.
    ///
    /// # Errors
    /// The file cannot be read, a record is bad, or `check`'s.
    fn each(
        &self,
        blocks: u64,
        check: &mut dyn FnMut(Progress) -> Result<()>,
        visit: &mut dyn FnMut(Extent),
    ) -> Result<()>;
}

impl Site<'_> {
    /// The error that the device cannot have the layout `name`, which needs
    /// `needs`.
    fn cannot(&self, keys: &Keys, name: &str, needs: &str) -> Error {
        let (device, kind) = (self.name, self.kind);
        keys.refuse(
            "name",
            format_args!("'{name}' needs {needs}; the device '{device}' is of kind '{kind}'"),
        )
    }
}

/// A layout as read from its keys: the keys in effect, and what they make.
#[derive(Clone, Debug)]
pub struct LayoutSpec {
    keys: Value,
    layout: Arc<dyn Layout>,
    reshuffle: Option<(Arc<OrganPipe>, Reshuffle)>,
}

impl LayoutSpec {
    /// One that stays as it is, with its keys in effect.
    pub fn new(keys: Value, layout: impl Layout + 'static) -> Self {
        Self {
            keys,
            layout: Arc::new(layout),
            reshuffle: None,
        }
    }
}

/// A layout, registered.
#[derive(Clone, Copy, Debug)]
pub struct LayoutEntry {
    /// Its name.
    pub name: &'static str,
    /// Reads its keys, for a device.
    pub read: fn(&mut Keys, &mut Site<'_>) -> Result<LayoutSpec>,
}

impl Named for LayoutEntry {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// All layouts; the first is the default.
pub const LAYOUTS: Registry<LayoutEntry> = Registry::new(&[
    simple::ENTRY,
    organ_pipe::ENTRY,
    columnar::ENTRY,
    subregioned::ENTRY,
    bipartite::ENTRY,
]);

/// A layout laid on a device.
#[derive(Clone, Debug)]
pub struct ResolvedLayout {
    name: &'static str,
    spec: LayoutSpec,
}

impl ResolvedLayout {
    /// Reads the layout from `keys`, which are finished, for the device of
    /// `site`.
    ///
    /// # Errors
    /// An unknown name, whatever is wrong with a key, a layout that the device
    /// cannot have, or a bad trace.
    pub fn read(keys: Keys, site: &mut Site<'_>) -> Result<Self> {
        Self::among(LAYOUTS, keys, site)
    }

    /// As [`ResolvedLayout::read`], of the layouts in `known`: [`LAYOUTS`], and those of a
    /// program of its own.
    ///
    /// # Errors
    /// As [`ResolvedLayout::read`].
    pub fn among(
        known: Registry<LayoutEntry>,
        mut keys: Keys,
        site: &mut Site<'_>,
    ) -> Result<Self> {
        let name = keys.opt_text("name")?;
        let name = name.as_deref().unwrap_or(simple::ENTRY.name);
        let Some(&LayoutEntry { name, read }) = known.get(name) else {
            let hint = did_you_mean(name, known.names());
            return Err(keys.refuse("name", format_args!("unknown layout{hint}")));
        };
        if let Some(mems) = site.mems.filter(|_| name != simple::ENTRY.name) {
            mems.whole(site.name, &format!("layout {name}"))?;
        }
        let spec = read(&mut keys, site)?;
        keys.finish()?;
        Ok(Self { name, spec })
    }

    /// Its name and the keys in effect, as in the results.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut facts = json!({ "name": self.name });
        if let (Some(facts), Some(keys)) = (facts.as_object_mut(), self.spec.keys.as_object()) {
            facts.extend(keys.clone());
        }
        facts
    }

    /// The map; where it is reshuffled, as it is at first.
    #[must_use]
    pub fn layout(&self) -> &dyn Layout {
        &*self.spec.layout
    }

    /// Puts the layout around the model of its device.
    #[must_use]
    pub fn around(&self, model: Box<dyn Model>) -> Box<dyn Model> {
        match &self.spec.reshuffle {
            Some((pipe, rule)) => Box::new(Reshuffling::new(model, (**pipe).clone(), *rule)),
            None if self.name == simple::ENTRY.name => model,
            None => Box::new(RemappedModel::new(model, Arc::clone(&self.spec.layout))),
        }
    }
}
