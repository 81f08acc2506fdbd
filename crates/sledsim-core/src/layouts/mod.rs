//! Layouts: the location of logical blocks on a device.
//!
//! A layout is a bijection of the blocks of a device onto themselves.
//! [`Layout::map`] returns it run by run, [`Layout::logical`] is its inverse;
//! neither allocates. Each file defines where blocks go that do not divide
//! evenly; none is lost.
//!
//! [`ResolvedLayout`] is a layout that was read from its keys and fits its
//! device; [`ResolvedLayout::around`] puts it in front of the model of the
//! device. A layout that follows cylinders or rows needs a single sled or disk;
//! one that needs no geometry also fits composites, as a single address space.
//!
//! Modules in reading order:
//! - `simple`: the identity;
//! - `segments`: whole ranges of blocks in a new order;
//! - `cylinders`: the cylinders of a sled or a disk;
//! - `bands`: the division of a range into bands;
//! - `columnar`: columns of cylinders, from the centre outwards;
//! - `rectangles`: cylinders by rows of a sled, in any order;
//! - `subregioned`: a grid over cylinders and rows, from the centre outwards;
//! - `bipartite`: small data in the centre, large data from the edges inwards;
//! - `popularity`: which units of data are requested most;
//! - `organ_pipe`: the most popular data in the middle;
//! - `reshuffle`: the organ pipe with periodic reshuffles;
//! - `remapped`: a model behind a static layout.

mod simple;

mod segments;

mod cylinders;

mod bands;

mod columnar;

mod rectangles;

mod subregioned;

mod bipartite;

mod popularity;

mod organ_pipe;

mod reshuffle;

mod remapped;

pub use organ_pipe::{OrganPipe, Reshuffle};
pub use remapped::RemappedModel;
pub use reshuffle::Reshuffling;
pub use simple::Simple;

use crate::devices::disk::spec::DiskSpec;
use crate::devices::mems::spec::Mems;
use crate::model::Model;
use serde::Serialize;
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
    /// The location of logical block `lbn`, and how many logical blocks from it on
    /// (at least one) are contiguous there.
    fn map(&self, lbn: u64) -> BlockRun;

    /// The logical block at block `block` of the device.
    fn logical(&self, block: u64) -> u64;

    /// The parts in logical order, which together have all blocks; empty if there
    /// are none.
    fn parts(&self) -> Vec<Part> {
        Vec::new()
    }
}

/// Contiguous blocks of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRun {
    /// The first block, as an LBN of the device.
    pub lbn: u64,
    /// How many.
    pub blocks: u64,
}

/// A part of the logical space, and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its first logical block.
    pub first_lbn: u64,
    /// How many blocks it has.
    pub blocks: u64,
    /// Its cylinders.
    pub cylinders: Range<u32>,
    /// Its physical rows, if it does not have all.
    pub rows: Option<Range<u32>>,
    /// The class of its data, if the layout has classes.
    pub class: Option<&'static str>,
}

/// The device that a layout is for, and the services needed to read the layout.
pub struct LayoutContext<'a> {
    /// The device's name.
    pub name: &'a str,
    /// Its kind.
    pub kind: &'static str,
    /// Logical blocks that it offers.
    pub blocks: u64,
    /// Whether any part of it has positioning times.
    pub has_positions: bool,
    /// The sled, if it is one.
    pub mems: Option<&'a Mems>,
    /// The disk, if it is one.
    pub disk: Option<&'a DiskSpec>,
    /// Opens the traces that layouts name.
    pub traces: &'a dyn TraceOpener,
    /// Called periodically while a file is read; an error of it ends the reading.
    pub check: &'a mut dyn FnMut(Progress) -> Result<()>,
}

/// Opens traces.
pub trait TraceOpener {
    /// The place of a trace for readers in other folders: an absolute path or a
    /// name that is known everywhere.
    ///
    /// # Errors
    /// There is no current folder.
    fn place(&self, file: &str) -> Result<String>;

    /// Opens the trace that the table `trace` of a layout names, and finishes its
    /// keys.
    fn open(&self, keys: Keys) -> Result<Box<dyn TraceAccesses>>;
}

/// The accesses of a trace, which a layout counts by location. Serialized, it is the table
/// that names the trace.
pub trait TraceAccesses: erased_serde::Serialize + Debug + Send + Sync {
    /// Calls `visit` with each extent of each request, mapped to a device of
    /// `blocks` blocks. `check` is called periodically; an error of it ends the
    /// reading.
    fn each(
        &self,
        blocks: u64,
        check: &mut dyn FnMut(Progress) -> Result<()>,
        visit: &mut dyn FnMut(Extent),
    ) -> Result<()>;
}

erased_serde::serialize_trait_object!(TraceAccesses);

impl LayoutContext<'_> {
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

/// The keys of a layout in effect, as a map.
pub trait LayoutKeys: erased_serde::Serialize + Debug + Send + Sync {}

impl<T: Serialize + Debug + Send + Sync> LayoutKeys for T {}

erased_serde::serialize_trait_object!(LayoutKeys);

/// A layout as read from its keys: the keys in effect, and the map.
#[derive(Clone, Debug, Serialize)]
pub struct LayoutSpec {
    #[serde(flatten)]
    keys: Arc<dyn LayoutKeys>,
    #[serde(skip)]
    layout: Arc<dyn Layout>,
    #[serde(skip)]
    reshuffle: Option<(Arc<OrganPipe>, Reshuffle)>,
}

impl LayoutSpec {
    /// A static layout, with its keys in effect: `()` if it has none.
    pub fn new(keys: impl LayoutKeys + 'static, layout: impl Layout + 'static) -> Self {
        Self { keys: Arc::new(keys), layout: Arc::new(layout), reshuffle: None }
    }
}

/// A registered layout.
#[derive(Clone, Copy, Debug)]
pub struct LayoutEntry {
    /// Its name.
    pub name: &'static str,
    /// Reads its keys, for a device.
    pub read: fn(&mut Keys, &mut LayoutContext<'_>) -> Result<LayoutSpec>,
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

/// The key of the trace that a layout is read from.
const TRACE: &str = "trace.file";

/// A layout resolved for a device. Serialized, it is its name and the keys in effect.
#[derive(Clone, Debug, Serialize)]
pub struct ResolvedLayout {
    name: &'static str,
    #[serde(flatten)]
    spec: LayoutSpec,
    /// The keys it was given, and its name.
    #[serde(skip)]
    given: Keys,
}

impl ResolvedLayout {
    /// Reads the layout from `keys`, which are finished, for the device of
    /// `site`.
    ///
    /// # Errors
    /// An unknown name, an invalid key, a layout that the device cannot have, or a
    /// bad trace.
    pub fn read(keys: Keys, site: &mut LayoutContext<'_>) -> Result<Self> {
        Self::from_registry(LAYOUTS, keys, site)
    }

    /// As [`ResolvedLayout::read`], but searches `known`: [`LAYOUTS`], or a
    /// registry extended by another program.
    pub fn from_registry(
        known: Registry<LayoutEntry>,
        mut keys: Keys,
        site: &mut LayoutContext<'_>,
    ) -> Result<Self> {
        let mut given = keys.clone();
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
        given.set("name", name.into(), "layout")?;
        if let Some(file) = given.opt_text(TRACE)? {
            given.set(TRACE, site.traces.place(&file)?.into(), "layout")?;
        }
        Ok(Self { name, spec, given })
    }

    /// The keys that it was given, and its name; the file of a trace as
    /// [`TraceOpener::place`] has it.
    pub fn keys(&self) -> &Keys {
        &self.given
    }

    /// The trace that it was read from, if any.
    pub fn trace(&self) -> Option<&str> {
        self.given.get(TRACE)?.as_str()
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The map; the initial one if it is reshuffled.
    pub fn layout(&self) -> &dyn Layout {
        &*self.spec.layout
    }

    /// Whether it leaves all blocks where they are.
    pub fn is_simple(&self) -> bool {
        self.name == simple::ENTRY.name
    }

    /// Puts the layout around the model of its device.
    pub fn around(&self, model: Box<dyn Model>) -> Box<dyn Model> {
        match &self.spec.reshuffle {
            Some((pipe, rule)) => Box::new(Reshuffling::new(model, (**pipe).clone(), *rule)),
            None if self.is_simple() => model,
            None => Box::new(RemappedModel::new(model, Arc::clone(&self.spec.layout))),
        }
    }
}
