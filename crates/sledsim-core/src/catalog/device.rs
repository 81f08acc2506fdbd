//! Devices by name or file: presets, bases, overrides.

use crate::compose::arrays::ArraySpec;
use crate::compose::hybrids::mcd::{Mcd, McdSpec};
use crate::compose::hybrids::mwb::{Mwb, MwbSpec};
use crate::compose::keeper::Keeper;
use crate::compose::{HostQueue, ReadCache, Stripe};
use crate::devices::disk::spec::DiskSpec;
use crate::devices::flash::{Flash, FlashModel};
use crate::devices::memory::Memory;
use crate::devices::mems::parallel::free::{BackgroundTasks, TaskSpec};
use crate::devices::mems::spec::Mems;
use crate::layouts::{Laid, Site, Traces};
use crate::model::Model;
use crate::model::contents::Promise;
use crate::power::Start;
use crate::queueing::schedulers::{Choice as SchedulerChoice, Scheduler};
use crate::queueing::station::{Batching, Interface, Station};
use serde_json::{Map, Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::json::to_json;
use sledsim_base::keys::{Keys, nearest};
use sledsim_base::progress::Progress;
use sledsim_base::units::BLOCK_BYTES;
use std::path::{Path, PathBuf};

/// The presets by name, in the order in which they are listed.
pub const PRESETS: [(&str, &str); 18] = [
    (
        "sigmetrics2000",
        include_str!("../../data/devices/sigmetrics2000.toml"),
    ),
    ("osdi2000", include_str!("../../data/devices/osdi2000.toml")),
    ("g1", include_str!("../../data/devices/g1.toml")),
    ("g2", include_str!("../../data/devices/g2.toml")),
    ("g3", include_str!("../../data/devices/g3.toml")),
    ("cmu2003", include_str!("../../data/devices/cmu2003.toml")),
    ("msst2005", include_str!("../../data/devices/msst2005.toml")),
    ("atlas10k", include_str!("../../data/devices/atlas10k.toml")),
    (
        "atlas10k-50mbps",
        include_str!("../../data/devices/atlas10k-50mbps.toml"),
    ),
    (
        "nearline20t",
        include_str!("../../data/devices/nearline20t.toml"),
    ),
    (
        "superdisk",
        include_str!("../../data/devices/superdisk.toml"),
    ),
    ("flash", include_str!("../../data/devices/flash.toml")),
    ("memory", include_str!("../../data/devices/memory.toml")),
    ("disk", include_str!("../../data/devices/disk.toml")),
    ("mwb", include_str!("../../data/devices/mwb.toml")),
    ("mcd", include_str!("../../data/devices/mcd.toml")),
    ("disk_ram", include_str!("../../data/devices/disk_ram.toml")),
    ("mems", include_str!("../../data/devices/mems.toml")),
];

/// How many bases may stand on each other; more is a circle.
const MAX_BASES: usize = 16;

/// The most children of an array, of which every set is a number.
const MAX_CHILDREN: u32 = 64;

/// The largest front of a read cache: its directory takes 1.6 GB.
const MAX_FRONT_BLOCKS: u64 = 1 << 26;

/// A device: resolved, checked, ready to be built.
#[derive(Clone, Debug)]
pub struct Device {
    name: String,
    kind: Kind,
    /// All keys as resolved, for showing.
    keys: Keys,
    /// Where its blocks live, if not where it has them.
    layout: Option<Laid>,
    /// Tasks that live off its unused tips, at their start.
    background: Option<BackgroundTasks>,
}

#[derive(Clone, Debug)]
enum Kind {
    Mems(Box<Mems>),
    Disk(Box<DiskSpec>),
    Flash(Flash),
    Memory(Memory),
    Stripe {
        unit_blocks: u64,
        children: Vec<Device>,
    },
    /// Children, then spares.
    Array {
        spec: ArraySpec,
        children: Vec<Device>,
    },
    ReadCache {
        front: Box<Device>,
        back: Box<Device>,
    },
    /// Or the cache of a controller, of which the front is memory.
    Mcd {
        spec: Box<McdSpec>,
        front: Box<Device>,
        back: Box<Device>,
    },
    Mwb {
        spec: MwbSpec,
        front: Box<Device>,
        back: Box<Device>,
    },
}

/// Reads the keys of one kind of device: its name, its keys, and the folder
/// that files are relative to.
type Read = fn(&str, &mut Keys, Option<&Path>) -> Result<Kind>;

/// The kinds of devices.
const KINDS: [(&str, Read); 11] = [
    ("mems", |_, keys, _| {
        Ok(Kind::Mems(Box::new(Mems::read(keys)?)))
    }),
    ("disk", |_, keys, _| {
        Ok(Kind::Disk(Box::new(DiskSpec::read(keys)?)))
    }),
    ("flash", |_, keys, _| Ok(Kind::Flash(Flash::read(keys)?))),
    ("memory", |_, keys, _| Ok(Kind::Memory(Memory::read(keys)?))),
    ("stripe", read_stripe),
    ("raid0", read_stripe),
    ("raid1", |name, keys, beside| {
        read_array(name, keys, beside, 2, ArraySpec::read_raid1)
    }),
    ("raid5", |name, keys, beside| {
        read_array(name, keys, beside, 3, ArraySpec::read_raid5)
    }),
    ("read_cache", read_read_cache),
    ("mcd", read_mcd),
    ("mwb", read_mwb),
];

fn read_stripe(name: &str, keys: &mut Keys, beside: Option<&Path>) -> Result<Kind> {
    let children = keys.u32("children", 1..=1000)?;
    let unit_blocks = keys.u64("unit_blocks", 1..=1 << 30)?;
    let child = table(keys, "child")?;
    let read = |index: u32, keys: Keys| Device::read(&format!("{name}.child{index}"), keys, beside);
    let first = read(0, child.clone())?;
    let in_turn = keys.opt_choice(
        "start",
        &[("together", None), ("in_turn", Some(first.start()))],
    )?;
    if in_turn
        .flatten()
        .is_some_and(|start| start == Start::default())
    {
        let must = "\"in_turn\" must come with [child.power] starts = \"off\"";
        return Err(keys.refuse("start", must));
    }
    let mut all = vec![first];
    for index in 1..children {
        let mut child = child.clone();
        if let Some(start) = in_turn.flatten() {
            let on_at_ms = start.in_turn(index).ms();
            child.set("power.on_at_ms", on_at_ms.into(), "start = \"in_turn\"")?;
        }
        all.push(read(index, child)?);
    }
    let children = all;
    let child_blocks = children[0].blocks();
    if child_blocks < unit_blocks {
        let must = format!("must be at most the {child_blocks} blocks of the child");
        return Err(keys.refuse("unit_blocks", must));
    }
    Ok(Kind::Stripe {
        unit_blocks,
        children,
    })
}

/// Reads an array of at least so many children: `children` of one `[child]`, or
/// a list `[[child]]` of devices that offer as many blocks each. Spares are
/// like the first.
fn read_array(
    name: &str,
    keys: &mut Keys,
    beside: Option<&Path>,
    least: u32,
    read: fn(&mut Keys, u32, u64) -> Result<ArraySpec>,
) -> Result<Kind> {
    let tables = if keys.has("child[0]") {
        if keys.has("children") {
            let must = "must not be given with a list [[child]], which has its own length";
            return Err(keys.refuse("children", must));
        }
        let tables = keys.take_tables("child")?;
        if !(least as usize..=MAX_CHILDREN as usize).contains(&tables.len()) {
            let must = format!("must be {least} to {MAX_CHILDREN} tables [[child]]");
            return Err(keys.refuse("child", must));
        }
        tables
    } else {
        let children = keys.u32("children", least..=MAX_CHILDREN)?;
        vec![table(keys, "child")?; children as usize]
    };
    let spare = tables[0].clone();
    let device = |part: &str, index: usize, keys: Keys| {
        Device::read(&format!("{name}.{part}{index}"), keys, beside)
    };
    let mut children = Vec::new();
    for (index, child) in tables.into_iter().enumerate() {
        let child = device("child", index, child)?;
        let (first, blocks) = (
            children.first().map_or(child.blocks(), Device::blocks),
            child.blocks(),
        );
        if blocks != first {
            let must = format!(
                "must be devices of one size: child {index} offers {blocks} blocks, child 0 {first}"
            );
            return Err(keys.refuse("child", must));
        }
        children.push(child);
    }
    let spec = read(keys, children.len() as u32, children[0].blocks())?;
    if spec.reads_nearest() && !children.iter().any(Device::has_positions) {
        let must = "asks for positioning times, and no child has any; must be another rule";
        return Err(keys.refuse("reads", must));
    }
    for index in 0..spec.spares() as usize {
        children.push(device("spare", index, spare.clone())?);
    }
    Ok(Kind::Array { spec, children })
}

/// Reads the devices `[front]` and `[back]`.
fn read_pair(
    name: &str,
    keys: &mut Keys,
    beside: Option<&Path>,
) -> Result<(Box<Device>, Box<Device>)> {
    let mut part = |part: &str| -> Result<Box<Device>> {
        let keys = table(keys, part)?;
        let device = Device::read(&format!("{name}.{part}"), keys, beside)?;
        Ok(Box::new(device))
    };
    Ok((part("front")?, part("back")?))
}

fn read_mcd(name: &str, keys: &mut Keys, beside: Option<&Path>) -> Result<Kind> {
    let (front, back) = read_pair(name, keys, beside)?;
    let spec = Box::new(McdSpec::read(keys, front.blocks(), back.blocks())?);
    Ok(Kind::Mcd { spec, front, back })
}

/// Reads the cache of a controller called `name` before `device`, its table.
fn read_controller_cache(name: &str, mut keys: Keys, device: Device) -> Result<Kind> {
    let (spec, blocks) = McdSpec::read_controller(&mut keys, device.blocks())?;
    let memory = Memory {
        blocks,
        latency: spec.buffer_latency,
        block_time: spec.buffer_block_time,
    };
    let memory = Device::of(
        &format!("{name}.controller_cache"),
        Kind::Memory(memory),
        &keys,
    );
    keys.finish()?;
    Ok(Kind::Mcd {
        spec: Box::new(spec),
        front: Box::new(memory),
        back: Box::new(device),
    })
}

fn read_read_cache(name: &str, keys: &mut Keys, beside: Option<&Path>) -> Result<Kind> {
    let (front, back) = read_pair(name, keys, beside)?;
    if front.blocks() > MAX_FRONT_BLOCKS {
        let must = format!("must offer at most {MAX_FRONT_BLOCKS} blocks");
        return Err(keys.refuse("front", must));
    }
    Ok(Kind::ReadCache { front, back })
}

fn read_mwb(name: &str, keys: &mut Keys, beside: Option<&Path>) -> Result<Kind> {
    let (front, back) = read_pair(name, keys, beside)?;
    let spec = MwbSpec::read(keys, front.blocks(), back.blocks())?;
    Ok(Kind::Mwb { spec, front, back })
}

/// An override of a key: name, value, and who asked (`--set device.idle`,
/// `argument idle`).
pub type Override = (String, toml_edit::Value, String);

impl Device {
    /// Resolves a preset name or a path to a TOML file, with overrides.
    ///
    /// # Errors
    /// An unknown name (with the nearest presets), an unreadable file, or
    /// whatever is wrong with a key.
    pub fn resolve(name: &str, overrides: &[Override]) -> Result<Self> {
        let (mut keys, folder) = load(name, None)?;
        for (key, value, origin) in overrides {
            keys.set(key, value.clone(), origin)?;
        }
        Self::read(&short_name(name), keys, folder.as_deref())
    }

    /// Resolves the keys of a device; files they name are relative to
    /// `beside`. The device is called as its base.
    ///
    /// # Errors
    /// As [`Device::resolve`].
    pub fn from_keys(keys: Keys, beside: Option<&Path>) -> Result<Self> {
        let base = keys
            .clone()
            .opt_text("base")?
            .unwrap_or_else(|| "device".into());
        Self::read(&short_name(&base), keys, beside)
    }

    /// Resolves a device called `name` from TOML that stands on its own, as
    /// [`Device::to_toml`] writes it.
    ///
    /// # Errors
    /// As [`Device::resolve`].
    pub fn from_toml(name: &str, text: &str) -> Result<Self> {
        let keys = Keys::parse(text, &format!("{name}.toml"))?;
        Self::read(name, keys, None)
    }

    fn read(name: &str, keys: Keys, beside: Option<&Path>) -> Result<Self> {
        let mut keys = with_base(keys, beside)?;
        let all = keys.clone();
        let _title = keys.text("title")?;
        let cache = keys.take_table("controller_cache");
        let read = keys.choice("kind", &KINDS)?;
        let cached = format!("{name}.device");
        let inner = if cache.is_some() { &cached } else { name };
        let kind = read(inner, &mut keys, beside)?;
        keys.finish()?;
        let device = Self::of(inner, kind, &all);
        match cache {
            None => Ok(device),
            Some(cache) => Ok(Self::of(
                name,
                read_controller_cache(name, cache, device)?,
                &all,
            )),
        }
    }

    fn of(name: &str, kind: Kind, keys: &Keys) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            keys: keys.clone(),
            layout: None,
            background: None,
        }
    }

    /// Its name: the preset's, or the file's without its ending.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kind it is of, as in its spec.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.kind {
            Kind::Mems(_) => "mems",
            Kind::Disk(_) => "disk",
            Kind::Flash(_) => "flash",
            Kind::Memory(_) => "memory",
            Kind::Stripe { .. } => "stripe",
            Kind::Array { spec, .. } => spec.kind(),
            Kind::ReadCache { .. } => "read_cache",
            Kind::Mcd { .. } => "mcd",
            Kind::Mwb { .. } => "mwb",
        }
    }

    /// The kinds there are.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        KINDS.iter().map(|(name, _)| *name)
    }

    /// When a write to it is promised to survive a power failure.
    #[must_use]
    pub fn promise(&self) -> Promise {
        let is_early = match &self.kind {
            Kind::Mems(mems) => mems
                .buffer
                .is_some_and(|buffer| buffer.write_back_segments > 0),
            Kind::Disk(disk) => disk.reports_early(),
            Kind::Flash(_) | Kind::Memory(_) => false,
            Kind::Stripe { children, .. } | Kind::Array { children, .. } => {
                return if children.iter().all(|c| c.promise() == Promise::Completion) {
                    Promise::Completion
                } else {
                    Promise::Flush
                };
            }
            // What is in the back is what survives.
            Kind::ReadCache { back, .. } => return back.promise(),
            Kind::Mcd { .. } | Kind::Mwb { .. } => false,
        };
        if is_early {
            Promise::Flush
        } else {
            Promise::Completion
        }
    }

    /// The array in it whose copies or parity a power failure can leave at odds
    /// with its data, if there is one: its name and kind.
    #[must_use]
    pub fn write_hole(&self) -> Option<(&str, &'static str)> {
        match &self.kind {
            Kind::Mems(_) | Kind::Disk(_) | Kind::Flash(_) | Kind::Memory(_) => None,
            Kind::Array { .. } => Some((&self.name, self.kind())),
            Kind::Stripe { children, .. } => children.iter().find_map(Self::write_hole),
            Kind::ReadCache { front, back }
            | Kind::Mcd { front, back, .. }
            | Kind::Mwb { front, back, .. } => front.write_hole().or_else(|| back.write_hole()),
        }
    }

    /// Whether any part of it has positions that a request waits for.
    #[must_use]
    pub fn has_positions(&self) -> bool {
        match &self.kind {
            Kind::Mems(_) | Kind::Disk(_) => true,
            Kind::Flash(_) | Kind::Memory(_) => false,
            Kind::Stripe { children, .. } | Kind::Array { children, .. } => {
                children.iter().any(Self::has_positions)
            }
            Kind::ReadCache { front, back }
            | Kind::Mcd { front, back, .. }
            | Kind::Mwb { front, back, .. } => front.has_positions() || back.has_positions(),
        }
    }

    fn is_composite(&self) -> bool {
        match self.kind {
            Kind::Mems(_) | Kind::Disk(_) | Kind::Flash(_) | Kind::Memory(_) => false,
            Kind::Stripe { .. }
            | Kind::Array { .. }
            | Kind::ReadCache { .. }
            | Kind::Mcd { .. }
            | Kind::Mwb { .. } => true,
        }
    }

    /// What a layout of it is read for. `traces` opens those that layouts name;
    /// `check` is called now and then while one is read, and its error ends that.
    #[must_use]
    pub fn site<'a>(
        &'a self,
        traces: &'a dyn Traces,
        check: &'a mut dyn FnMut(Progress) -> Result<()>,
    ) -> Site<'a> {
        Site {
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

    /// The same device with its blocks laid out.
    #[must_use]
    pub fn laid_out(self, layout: Laid) -> Self {
        Self {
            layout: Some(layout),
            ..self
        }
    }

    /// The same device with background tasks that live off its unused tips, in
    /// the order of their precedence. Their blocks are those of the device, not
    /// of a layout.
    ///
    /// # Errors
    /// A device that is no single sled, or a task larger than the device.
    pub fn with_background(self, tasks: &[TaskSpec]) -> Result<Self> {
        if tasks.is_empty() {
            return Ok(self);
        }
        let Some(mems) = self.mems() else {
            return Err(Error::Key(format!(
                "background: the device '{}' is of kind '{}'; only a single sled (kind 'mems') \
                 has tips to spare",
                self.name,
                self.kind()
            )));
        };
        mems.whole(&self.name, "background")?;
        let background = BackgroundTasks::new(mems.parallel.clone(), tasks)?;
        if background.has_tail() && mems.buffer.is_some() {
            return Err(Error::Key(format!(
                "background tail: asks the media for blocks, and '{}' has a buffer that might \
                 answer; a tail needs a device without [buffer]",
                self.name
            )));
        }
        if matches!(mems.batching, Batching::Window(_) | Batching::Adjacent) {
            return Err(Error::Key(format!(
                "background: '{}' groups commands ([batching] kind = \"window\" or \"adjacent\"), and tasks live \
                 off single requests only; they need kind = \"explicit\" or \"none\"",
                self.name
            )));
        }
        Ok(Self {
            background: Some(background),
            ..self
        })
    }

    /// The same device with `[batching] kind = "window"` and so many milliseconds,
    /// whatever its table says; `origin` is who asks for that.
    ///
    /// # Errors
    /// A device that is no single sled, one with a buffer or background tasks, or
    /// a window that its key does not allow.
    pub fn with_batch_window(self, window_ms: f64, origin: &str) -> Result<Self> {
        let Some(mems) = self.mems() else {
            return Err(Error::Key(format!(
                "{origin} = {window_ms}: the device '{}' is of kind '{}'; only a single sled (kind \
                 'mems') serves commands in batches",
                self.name,
                self.kind()
            )));
        };
        let has = match (mems.buffer, self.has_background()) {
            (Some(_), _) => "a buffer",
            (None, true) => "background tasks",
            (None, false) => "",
        };
        if !has.is_empty() {
            return Err(Error::Key(format!(
                "{origin} = {window_ms}: the device '{}' has {has}, and batches need one without",
                self.name
            )));
        }
        let mut keys = self.keys.clone();
        keys.set("batching.kind", "window".into(), origin)?;
        keys.set("batching.window_ms", window_ms.into(), origin)?;
        // Its keys name no base any more, so they need no folder.
        Ok(Self {
            layout: self.layout,
            ..Self::read(&self.name, keys, None)?
        })
    }

    /// Whether it has background tasks.
    #[must_use]
    pub fn has_background(&self) -> bool {
        self.background.is_some()
    }

    /// How it is at time zero.
    fn start(&self) -> Start {
        match &self.kind {
            Kind::Mems(mems) => mems.behaviour.start,
            Kind::Disk(disk) => disk.power.map_or_else(Start::default, |power| power.start),
            _ => Start::default(),
        }
    }

    /// Its layout, if it was laid out.
    #[must_use]
    pub fn layout(&self) -> Option<&Laid> {
        self.layout.as_ref()
    }

    /// The MEMS device, if it is one (a composite is not).
    #[must_use]
    pub fn mems(&self) -> Option<&Mems> {
        match &self.kind {
            Kind::Mems(mems) => Some(mems),
            _ => None,
        }
    }

    /// The disk, if it is one (a composite is not).
    #[must_use]
    pub fn disk(&self) -> Option<&DiskSpec> {
        match &self.kind {
            Kind::Disk(disk) => Some(disk),
            _ => None,
        }
    }

    /// Logical blocks it offers.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        match &self.kind {
            Kind::Mems(mems) => return mems.blocks(),
            Kind::Flash(flash) => return flash.blocks,
            Kind::Memory(memory) => return memory.blocks,
            Kind::Disk(disk) => return disk.drive.geometry.blocks(),
            Kind::Mcd { back, .. } | Kind::Mwb { back, .. } => return back.blocks(),
            Kind::Array { spec, .. } => return spec.blocks(),
            Kind::Stripe { .. } | Kind::ReadCache { .. } => {}
        }
        self.build(&|| SchedulerChoice::default().make()).0.blocks()
    }

    /// Builds the model, and lists the names of its devices by their number
    /// in the rows. `scheduler` makes one scheduler per mechanism.
    #[must_use]
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

    /// As [`Device::build`], with the queue of the host before it if there is
    /// one; that is then the outermost device of the rows.
    ///
    /// # Errors
    /// A scheduler that asks for positions where nothing has any.
    pub fn build_with(&self, scheduler: &SchedulerChoice) -> Result<(Box<dyn Model>, Vec<String>)> {
        self.build_hosted(scheduler, false)
    }

    /// As [`Device::build_with`], with contents in every device that is not made
    /// of others ([`Keeper`]); whether the whole keeps any is for it to say
    /// ([`Model::contents`]). Times are the same.
    ///
    /// # Errors
    /// As [`Device::build_with`].
    pub fn build_keeping(
        &self,
        scheduler: &SchedulerChoice,
    ) -> Result<(Box<dyn Model>, Vec<String>)> {
        self.build_hosted(scheduler, true)
    }

    fn build_hosted(
        &self,
        scheduler: &SchedulerChoice,
        keeping: bool,
    ) -> Result<(Box<dyn Model>, Vec<String>)> {
        let keeping = keeping.then_some(scheduler);
        let refuse = |label: &str, what: String| {
            let others = SchedulerChoice::names_without_positions().join(", ");
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
            let what = format!(
                "{}, which has more than one part or none that moves,",
                self.name
            );
            return refuse(host.label(), what);
        }
        let queue = HostQueue::new(&names[0], 0, model, host.make(), depth);
        // The host's queue, too, sees where blocks live.
        Ok((self.lay_out(Box::new(queue)), names))
    }

    fn build_into(
        &self,
        scheduler: &dyn Fn() -> Box<dyn Scheduler>,
        keeping: Option<&SchedulerChoice>,
        names: &mut Vec<String>,
    ) -> Box<dyn Model> {
        let device = names.len() as u16;
        names.push(self.name.clone());
        if let Some(choice) = keeping
            && !self.is_composite()
        {
            let (leaf, choice) = (self.clone(), choice.clone());
            let build = move || {
                let mut before = vec![String::new(); usize::from(device)];
                leaf.build_into(&|| choice.make(), None, &mut before)
            };
            return Box::new(Keeper::new(
                self.promise() == Promise::Flush,
                Box::new(build),
            ));
        }
        match &self.kind {
            Kind::Mems(mems) => {
                mems.build(&self.name, device, scheduler(), self.background.clone())
            }
            Kind::Disk(disk) => disk.build(&self.name, device, scheduler()),
            Kind::Flash(flash) => Box::new(FlashModel::new(&self.name, device, *flash)),
            Kind::Memory(memory) => Box::new(Station::new(
                &self.name,
                device,
                *memory,
                scheduler(),
                Interface::default(),
            )),
            Kind::Stripe {
                unit_blocks,
                children,
            } => {
                let children = children
                    .iter()
                    .map(|child| child.build_into(scheduler, keeping, names))
                    .collect();
                Box::new(Stripe::new(&self.name, device, children, *unit_blocks))
            }
            Kind::Array { spec, children } => {
                let children = children
                    .iter()
                    .map(|child| child.build_into(scheduler, keeping, names))
                    .collect();
                spec.build(&self.name, device, children)
            }
            Kind::ReadCache { front, back } => {
                let front = front.build_into(scheduler, keeping, names);
                let back = back.build_into(scheduler, keeping, names);
                Box::new(ReadCache::new(&self.name, device, front, back))
            }
            Kind::Mcd { spec, front, back } => {
                let front = front.build_into(scheduler, keeping, names);
                let back = back.build_into(scheduler, keeping, names);
                Box::new(Mcd::new(&self.name, device, (**spec).clone(), front, back))
            }
            Kind::Mwb { spec, front, back } => {
                let front = front.build_into(scheduler, keeping, names);
                let back = back.build_into(scheduler, keeping, names);
                Box::new(Mwb::new(&self.name, device, *spec, front, back))
            }
        }
    }

    /// Its keys as a TOML file, from which [`Device::from_toml`] makes the same
    /// device anywhere; layout and background tasks are no part of it.
    ///
    /// # Errors
    /// A part of it that is based on a file.
    pub fn to_toml(&self) -> Result<String> {
        for (key, base, ..) in self.keys.entries() {
            let is_preset = |base: &str| PRESETS.iter().any(|(preset, _)| *preset == base);
            if key.ends_with(".base") && !base.as_str().is_some_and(is_preset) {
                return Err(Error::Key(format!(
                    "device '{}': its part {key} = {base} is a file; only presets are known \
                     everywhere",
                    self.name
                )));
            }
        }
        Ok(self.keys.to_toml("base"))
    }

    /// The resolved spec: every key with its value and source, and derived
    /// quantities.
    #[must_use]
    pub fn show(&self) -> Value {
        let mut parameters = Map::new();
        for (key, value, source, origin) in self.keys.entries() {
            let entry = json!({ "value": to_json(value), "source": source, "origin": origin });
            parameters.insert(key.to_owned(), entry);
        }
        let derived = match &self.kind {
            Kind::Mems(mems) => mems.derived(),
            Kind::Disk(disk) => disk.derived(),
            Kind::Flash(flash) => flash.derived(),
            Kind::Memory(memory) => memory.derived(),
            Kind::Stripe { .. }
            | Kind::Array { .. }
            | Kind::ReadCache { .. }
            | Kind::Mcd { .. } => {
                let blocks = self.blocks();
                json!({ "blocks": blocks, "capacity_bytes": blocks * BLOCK_BYTES })
            }
            Kind::Mwb { spec, .. } => {
                let blocks = self.blocks();
                let mut derived =
                    json!({ "blocks": blocks, "capacity_bytes": blocks * BLOCK_BYTES });
                spec.derive_into(&mut derived);
                derived
            }
        };
        json!({
            "name": self.name,
            "about": self.keys.about(),
            "parameters": parameters,
            "derived": derived,
        })
    }
}

/// A preset's name, or a file's without folder and ending.
fn short_name(name: &str) -> String {
    let stem = Path::new(name).file_stem();
    stem.map_or_else(
        || name.to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

fn table(keys: &mut Keys, name: &str) -> Result<Keys> {
    let missing = keys.refuse(name, "missing table; must hold a device of its own");
    keys.take_table(name).ok_or(missing)
}

/// Reads a preset, or the TOML file at `name` (relative to `beside`), and
/// tells the folder of the file.
fn load(name: &str, beside: Option<&Path>) -> Result<(Keys, Option<PathBuf>)> {
    if let Some((_, text)) = PRESETS.iter().find(|(preset, _)| *preset == name) {
        return Ok((Keys::parse(text, &format!("{name}.toml"))?, None));
    }
    let path = beside.map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
    if name.ends_with(".toml") || name.contains('/') || path.is_file() {
        let text = std::fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
        let keys = Keys::parse(&text, &path.to_string_lossy())?;
        return Ok((keys, path.parent().map(Path::to_owned)));
    }
    let near = nearest(name, PRESETS.iter().map(|(preset, _)| *preset));
    let hint = if near.is_empty() {
        let all: Vec<_> = PRESETS.iter().map(|(preset, _)| *preset).collect();
        format!(
            "presets are {}; or give the path of a .toml file",
            all.join(", ")
        )
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    Err(Error::Key(format!("unknown device '{name}': {hint}")))
}

/// Lays `keys` over the bases they name.
fn with_base(keys: Keys, beside: Option<&Path>) -> Result<Keys> {
    let mut layers = vec![keys];
    let mut folder = beside.map(Path::to_owned);
    while let Some(base) = layers[layers.len() - 1].clone().opt_text("base")? {
        if layers.len() > MAX_BASES {
            return Err(layers[0].refuse("base", "the bases form a circle"));
        }
        let (keys, next) = load(&base, folder.as_deref())?;
        layers.push(keys);
        folder = next;
    }
    let mut resolved = layers
        .into_iter()
        .rev()
        .reduce(|base, layer| layer.over(base));
    if let Some(keys) = &mut resolved {
        keys.opt_text("base")?;
    }
    Ok(resolved.unwrap_or_else(|| Keys::empty("device")))
}
