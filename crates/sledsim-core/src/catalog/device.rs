//! Devices by name or file, with overrides.

use super::Override;
use super::all_keys::AllKeys;
use super::kinds::KINDS;
use super::missing::with_all_missing;
use super::presets::{load, short_name, with_base};
use crate::compose::HostQueue;
use crate::compose::content_tracker::ContentTracker;
use crate::compose::hybrids::controllers::{self, Controller};
use crate::compose::media_record::PowerFailure;
use crate::devices::disk::spec::DiskSpec;
use crate::devices::kind::{Child, Children, DeviceKind, KindEntry};
use crate::devices::mems::faults::TipFeed;
use crate::devices::mems::kind::SledKind;
use crate::devices::mems::parallel::free_bandwidth::TaskSpec;
use crate::devices::mems::spec::Mems;
use crate::layouts::{LayoutContext, ResolvedLayout, TraceOpener};
use crate::model::Model;
use crate::model::contents::Promise;
use crate::model::torn_blocks::TornBlocks;
use crate::queueing::schedulers::{Scheduler, SchedulerSpec};
use serde::Serialize;
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::{Entries, Keys};
use sledsim_base::progress::Progress;
use sledsim_base::registry::Registry;
use sledsim_base::units::Nanos;
use std::any::Any;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// How the contents of a device are kept.
#[derive(Clone, Copy)]
enum Keeping<'a> {
    /// As a host may assume them by what it was promised.
    Promised(&'a SchedulerSpec),
    /// As they are on the media.
    OnMedia(&'a SchedulerSpec, &'a TornBlocks),
}

/// A device whose keys are resolved and checked, ready to be built.
#[derive(Clone, Debug)]
pub struct Device {
    name: String,
    kind: Arc<dyn DeviceKind>,
    /// The kinds that it and its children may be of.
    pub(super) known: Registry<KindEntry>,
    /// Its children; of an array, the spares come last.
    children: Vec<Device>,
    /// All resolved keys, for display.
    keys: Keys,
    /// The same with those of its children, for comparisons and TOML.
    pub(super) values: Arc<AllKeys>,
    /// The layout of its blocks, unless it is the identity.
    layout: Option<ResolvedLayout>,
    /// Its background tasks, in the order of their priority.
    background: Vec<TaskSpec>,
}

/// Reads the children of the device called `name`.
struct Parts<'a> {
    known: Registry<KindEntry>,
    name: &'a str,
    /// The folder that paths are relative to.
    beside: Option<&'a Path>,
    read: Vec<Device>,
}

impl Children for Parts<'_> {
    fn add(&mut self, part: &str, keys: Keys) -> Result<Child> {
        let device = Device::read(self.known, &format!("{}.{part}", self.name), keys, self.beside)?;
        let child = Child {
            kind: Arc::clone(&device.kind),
            blocks: device.blocks(),
            has_positions: device.has_positions(),
            start: device.kind.start(),
        };
        self.read.push(device);
        Ok(child)
    }
}

impl Device {
    /// Resolves a preset name or a path to a TOML file, with overrides.
    ///
    /// # Errors
    /// An unknown name (with the nearest presets), an unreadable file, or an
    /// invalid key.
    pub fn resolve(name: &str, overrides: &[Override]) -> Result<Self> {
        let (mut keys, folder) = load(name, None)?;
        for (key, value, origin) in overrides {
            keys.set(key, value.clone(), origin)?;
        }
        Self::read(KINDS, &short_name(name), keys, folder.as_deref())
    }

    /// Resolves the keys of a device; paths in them are relative to `beside`. The
    /// device has the name of its base.
    pub fn from_keys(keys: Keys, beside: Option<&Path>) -> Result<Self> {
        Self::from_registry(KINDS, keys, beside)
    }

    /// As [`Device::from_keys`], of the kinds `known`: [`KINDS`], or a registry extended by
    /// another program.
    pub fn from_registry(
        known: Registry<KindEntry>,
        keys: Keys,
        beside: Option<&Path>,
    ) -> Result<Self> {
        let base = keys.clone().opt_text("base")?.unwrap_or_else(|| "device".into());
        Self::read(known, &short_name(&base), keys, beside)
    }

    /// As [`Device::from_keys`], called `name`, of keys that name no files.
    pub fn from_named_keys(name: &str, keys: Keys) -> Result<Self> {
        Self::read(KINDS, name, keys, None)
    }

    pub(super) fn read(
        known: Registry<KindEntry>,
        name: &str,
        keys: Keys,
        beside: Option<&Path>,
    ) -> Result<Self> {
        let (keys, has_file) = with_base(keys, beside)?;
        match Self::read_resolved(known, name, keys.clone(), has_file, beside) {
            Err(Error::Missing(missing)) => Err(with_all_missing(*missing, keys, |keys| {
                Self::read_resolved(known, name, keys, has_file, beside).map(drop)
            })),
            read => read,
        }
    }

    /// Reads keys that are merged with those of their base.
    fn read_resolved(
        known: Registry<KindEntry>,
        name: &str,
        mut keys: Keys,
        has_file: bool,
        beside: Option<&Path>,
    ) -> Result<Self> {
        let all = keys.clone();
        keys.opt_text("title")?;
        let cache = keys.take_table("controller_cache");
        let kind = keys.choice("kind", &known.choices())?;
        let cached = format!("{name}.device");
        let inner = if cache.is_some() { &cached } else { name };
        let mut parts = Parts { known, name: inner, beside, read: Vec::new() };
        let kind = (kind.read)(&mut keys, &mut parts)?;
        keys.finish()?;
        let of_parts: Vec<&AllKeys> = parts.read.iter().map(|part| &*part.values).collect();
        let values = Arc::new(AllKeys::new(&all, has_file, &of_parts));
        let device = Self {
            name: inner.to_owned(),
            kind,
            known,
            children: parts.read,
            keys: all,
            values,
            layout: None,
            background: Vec::new(),
        };
        match cache {
            None => Ok(device),
            Some(cache) => device.behind_cache(name, cache),
        }
    }

    /// Puts the controller cache of the keys `cache` in front of this device; the
    /// result is called `name`.
    fn behind_cache(self, name: &str, mut cache: Keys) -> Result<Self> {
        let Controller { kind, memory } = controllers::read(&mut cache, self.blocks())?;
        let front = memory.map(|memory| Self {
            name: format!("{name}.controller_cache"),
            kind: Arc::new(memory),
            known: self.known,
            children: Vec::new(),
            values: Arc::new(AllKeys::new(&cache, false, &[])),
            keys: cache.clone(),
            layout: None,
            background: Vec::new(),
        });
        cache.finish()?;
        Ok(Self {
            name: name.to_owned(),
            kind,
            known: self.known,
            keys: self.keys.clone(),
            values: Arc::clone(&self.values),
            layout: None,
            background: Vec::new(),
            children: front.into_iter().chain([self]).collect(),
        })
    }

    /// Its name: that of the preset, or of the file without its extension.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its kind, as in its spec.
    pub fn kind(&self) -> &'static str {
        self.kind.kind()
    }

    /// Its keys with those of its bases, as [`Device::show`] shows them.
    pub fn resolved_keys(&self) -> &Keys {
        &self.keys
    }

    /// The names of all kinds.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        KINDS.names()
    }

    /// Its children; of an array, the spares come last.
    pub fn children(&self) -> &[Self] {
        &self.children
    }

    /// When a write to it is guaranteed to survive a power failure.
    pub fn promise(&self) -> Promise {
        let children: Vec<_> = self.children.iter().map(Self::promise).collect();
        self.kind.promise(&children)
    }

    /// The name and kind of an array in it whose copies or parity may be
    /// inconsistent after a power failure, if there is one.
    pub fn write_hole(&self) -> Option<(&str, &'static str)> {
        if self.kind.has_write_hole() {
            return Some((&self.name, self.kind()));
        }
        self.children.iter().find_map(Self::write_hole)
    }

    /// Whether any part of it has positioning times.
    pub fn has_positions(&self) -> bool {
        self.kind.has_positions() || self.children.iter().any(Self::has_positions)
    }

    /// The site for reading a layout of this device. `traces` opens the traces that
    /// layouts name; `check` is called periodically while one is read, and an error
    /// of it ends the reading.
    pub fn site<'a>(
        &'a self,
        traces: &'a dyn TraceOpener,
        check: &'a mut dyn FnMut(Progress) -> Result<()>,
    ) -> LayoutContext<'a> {
        LayoutContext {
            name: &self.name,
            kind: self.kind(),
            blocks: self.blocks(),
            has_positions: self.has_positions(),
            mems: self.mems(),
            disk: self.disk(),
            traces,
            check,
        }
    }

    /// The same device with a layout.
    pub fn with_layout(self, layout: ResolvedLayout) -> Self {
        Self { layout: Some(layout), ..self }
    }

    /// The same device with background tasks that use its otherwise unused tips, in
    /// the order of their priority. Their blocks are those of the device, not of a
    /// layout.
    ///
    /// # Errors
    /// A device that is not a single sled, settings that exclude background tasks,
    /// or a task larger than the device.
    pub fn with_background(self, tasks: &[TaskSpec]) -> Result<Self> {
        if tasks.is_empty() {
            return Ok(self);
        }
        let Some(sled) = self.sled() else {
            return Err(Error::Key(format!(
                "background: the device '{}' is of kind '{}'; only a single sled (kind 'mems') \
                 has tips to spare",
                self.name,
                self.kind()
            )));
        };
        let kind = Arc::new(sled.with_background(&self.name, tasks)?);
        let background = tasks.to_vec();
        Ok(Self { kind, background, ..self })
    }

    /// The same device, whose models tell the feed what happens to their tips; `None`
    /// unless it is a single sled with faults.
    pub fn telling(&self) -> Option<(Self, Arc<TipFeed>)> {
        let sled = self.sled().filter(|sled| sled.spec.faults.is_some())?;
        let feed = Arc::new(TipFeed::default());
        let kind = Arc::new(SledKind { feed: Some(Arc::clone(&feed)), ..sled.clone() });
        let device = self.clone();
        Some((Self { kind, ..device }, feed))
    }

    /// The same device with `[batching] kind = "window"` of `window_ms`
    /// milliseconds, which overrides its table; `origin` names the setting in
    /// messages.
    ///
    /// # Errors
    /// A device that is not a single sled, one with a buffer or background tasks,
    /// or a window out of range.
    pub fn with_batch_window(self, window_ms: f64, origin: &str) -> Result<Self> {
        let Some(mems) = self.mems() else {
            return Err(Error::argument(
                origin,
                format!(
                    "{origin} = {window_ms}: the device '{}' is of kind '{}'; only a single sled (kind \
                 'mems') serves commands in batches",
                    self.name,
                    self.kind()
                ),
            ));
        };
        let has = match (mems.buffer, !self.background.is_empty()) {
            (Some(_), _) => "a buffer",
            (None, true) => "background tasks",
            (None, false) => "",
        };
        if !has.is_empty() {
            return Err(Error::argument(
                origin,
                format!(
                    "{origin} = {window_ms}: the device '{}' has {has}, and batches need one without",
                    self.name
                ),
            ));
        }
        let mut keys = self.keys.clone();
        keys.set("batching.kind", "window".into(), origin)?;
        keys.set("batching.window_ms", window_ms.into(), origin)?;
        // Its resolved keys name no base, so they need no folder.
        Ok(Self { layout: self.layout, ..Self::read(self.known, &self.name, keys, None)? })
    }

    /// Its background tasks, in the order of their priority.
    pub fn background(&self) -> &[TaskSpec] {
        &self.background
    }

    /// Its layout, if it has one.
    pub fn layout(&self) -> Option<&ResolvedLayout> {
        self.layout.as_ref()
    }

    fn sled(&self) -> Option<&SledKind> {
        let kind: &dyn Any = &*self.kind;
        kind.downcast_ref()
    }

    /// The MEMS sled, if it is a single one.
    pub fn mems(&self) -> Option<&Mems> {
        self.sled().map(|sled| &sled.spec)
    }

    /// The disk, if it is a single one.
    pub fn disk(&self) -> Option<&DiskSpec> {
        let kind: &dyn Any = &*self.kind;
        kind.downcast_ref()
    }

    /// Its independent ranges of LBNs, in order, each with an arm of its own; empty unless
    /// there are several. A layout mixes them.
    pub fn ranges(&self) -> Vec<Range<u64>> {
        match self.layout {
            Some(_) => Vec::new(),
            None => self.kind.ranges(),
        }
    }

    /// Logical blocks it offers.
    pub fn blocks(&self) -> u64 {
        self.kind.blocks()
    }

    /// Builds the model, and lists the names of its devices by their number
    /// in the rows. `scheduler` makes one scheduler per mechanism.
    pub fn build(
        &self,
        scheduler: &dyn Fn() -> Box<dyn Scheduler>,
    ) -> (Box<dyn Model>, Vec<String>) {
        let mut names = Vec::new();
        let model = self.build_into(scheduler, None, &mut names);
        (self.lay_out(model), names)
    }

    /// Puts the layout, if there is one, around a model of the device.
    fn lay_out(&self, model: Box<dyn Model>) -> Box<dyn Model> {
        match &self.layout {
            Some(layout) => layout.around(model),
            None => model,
        }
    }

    /// As [`Device::build`], with the host's queue in front of it if `scheduler`
    /// has one; that queue is then the outermost device of the rows.
    ///
    /// # Errors
    /// A scheduler that needs positioning times on a device without any.
    pub fn build_with(&self, scheduler: &SchedulerSpec) -> Result<(Box<dyn Model>, Vec<String>)> {
        self.build_hosted(scheduler, None)
    }

    /// As [`Device::build_with`], with contents in every device without children
    /// ([`ContentTracker`]); [`Model::contents`] tells whether the composite keeps
    /// them, too. Times are the same.
    pub fn build_keeping(
        &self,
        scheduler: &SchedulerSpec,
    ) -> Result<(Box<dyn Model>, Vec<String>)> {
        self.build_hosted(scheduler, Some(Keeping::Promised(scheduler)))
    }

    /// As [`Device::build_keeping`], with the contents of the media pass by pass: when
    /// power fails, they hold what was written by that instant, and blocks under way are
    /// torn as the device tears them. `torn` receives these.
    pub fn build_on_media(
        &self,
        scheduler: &SchedulerSpec,
        torn: &TornBlocks,
    ) -> Result<(Box<dyn Model>, Vec<String>)> {
        self.build_hosted(scheduler, Some(Keeping::OnMedia(scheduler, torn)))
    }

    /// How long it takes to start when power returns: as long as its slowest part.
    pub fn startup(&self) -> Nanos {
        let children = self.children.iter().map(Self::startup);
        children.fold(self.kind.startup(), Nanos::max)
    }

    fn build_hosted(
        &self,
        scheduler: &SchedulerSpec,
        keeping: Option<Keeping<'_>>,
    ) -> Result<(Box<dyn Model>, Vec<String>)> {
        let refuse = |label: &str, what: String| {
            let others = SchedulerSpec::names_without_positions().join(", ");
            Err(Error::Key(format!(
                "scheduler '{label}': asks for positioning times, and {what} has none; those that \
                 do without are {others}"
            )))
        };
        if scheduler.needs_positions() && !self.has_positions() {
            return refuse(scheduler.label(), self.name.clone());
        }
        let make = || scheduler.make();
        let Some((host, depth)) = scheduler.host() else {
            let mut names = Vec::new();
            let model = self.build_into(&make, keeping, &mut names);
            return Ok((self.lay_out(model), names));
        };
        let mut names = vec![format!("{}.host", self.name)];
        let model = self.build_into(&make, keeping, &mut names);
        if host.needs_positions() && model.mechanism().is_none() {
            let what = format!("{}, which has more than one part or none that moves,", self.name);
            return refuse(host.label(), what);
        }
        let queue = HostQueue::new(&names[0], 0, model, host.make(), depth);
        // The host's queue, too, uses device positions, below the layout.
        Ok((self.lay_out(Box::new(queue)), names))
    }

    fn build_into(
        &self,
        scheduler: &dyn Fn() -> Box<dyn Scheduler>,
        keeping: Option<Keeping<'_>>,
        names: &mut Vec<String>,
    ) -> Box<dyn Model> {
        let device = names.len() as u16;
        names.push(self.name.clone());
        if let Some(keeping) = keeping
            && self.children.is_empty()
        {
            let (Keeping::Promised(choice) | Keeping::OnMedia(choice, _)) = keeping;
            let (leaf, choice) = (self.clone(), choice.clone());
            let build =
                move || (leaf.kind).build(&leaf.name, device, &|| choice.make(), Vec::new());
            let is_early = self.promise() == Promise::Flush;
            let build = Box::new(build);
            return Box::new(match keeping {
                Keeping::Promised(_) => ContentTracker::new(is_early, build),
                Keeping::OnMedia(_, torn) => {
                    let failure = PowerFailure {
                        tearing: self.kind.tearing(),
                        forgets: self.kind.forgets(),
                        hold_up: self.kind.hold_up(),
                        startup: self.kind.startup(),
                        torn: torn.clone(),
                    };
                    ContentTracker::on_media(is_early, build, failure)
                }
            });
        }
        let children = self.children.iter();
        let children = children.map(|child| child.build_into(scheduler, keeping, names));
        let children = children.collect();
        self.kind.build(&self.name, device, scheduler, children)
    }

    /// The resolved spec: every key with its value and source, and derived
    /// quantities.
    pub fn show(&self) -> impl Serialize {
        #[derive(Serialize)]
        struct Spec<'a> {
            name: &'a str,
            about: &'a str,
            parameters: Entries<'a>,
            derived: Box<dyn erased_serde::Serialize>,
        }
        Spec {
            name: &self.name,
            about: self.keys.about(),
            parameters: Entries(&self.keys),
            derived: self.kind.derived(),
        }
    }
}
