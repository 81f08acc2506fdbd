//! Loads: a workload or a trace, with the limits of its run.

use crate::load_facts::{GeneratedFacts, LoadFacts};
use crate::replay::{By, Measured, PartList, TraceSource, TraceSpec, trace_path};
use crate::stats::WarmUp;
use serde_json::{Map, Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::{Entries, Keys, Serialized};
use sledsim_base::progress::Progress;
use sledsim_core::catalog::Override;
use sledsim_core::engine::Limits;
use sledsim_core::model::source::Source;
use sledsim_core::workloads::{Generator, Mix, PostMark, Workload, is_path, resolve};
use sledsim_traces::objects::Objects;
use std::path::Path;

/// The kind of loads that are traces.
const TRACE: &str = "trace";

/// A load whose keys were checked, not yet mapped to a device.
#[derive(Clone, Debug)]
pub struct Load {
    kind: LoadKind,
    pub(crate) limits: Limits,
    pub(crate) warm_up: WarmUp,
    /// The most blocks of the device to use.
    within: Option<u64>,
    /// The name of the preset or file.
    preset: Option<String>,
    /// The keys it was given, merged with those of a preset or file.
    given: Keys,
}

#[derive(Clone, Debug)]
enum LoadKind {
    Workload(Workload),
    Trace(Box<TraceSpec>),
}

impl Load {
    /// Reads the workload called `name` from `keys` and finishes them: a
    /// generator, or a preset or the path of a TOML file that `keys` override.
    ///
    /// # Errors
    /// An unknown name, an unreadable file, or any error in a key.
    pub fn workload(name: &str, keys: Keys) -> Result<Self> {
        let (name, mut keys, preset) = resolve(name, keys)?;
        let given = keys.clone();
        let limits = limits(&mut keys)?;
        let warm_up = WarmUp::read(&mut keys)?;
        let kind = LoadKind::Workload(Workload::read(&name, &mut keys)?);
        keys.finish()?;
        Ok(Self { kind, limits, warm_up, within: None, preset, given: settings(given) })
    }

    /// Reads how to replay the trace at `path` from `keys` and finishes them.
    pub fn trace(path: &Path, mut keys: Keys) -> Result<Self> {
        let given = keys.clone();
        let limits = limits(&mut keys)?;
        let warm_up = WarmUp::read(&mut keys)?;
        let kind = LoadKind::Trace(Box::new(TraceSpec::read(path, &mut keys)?));
        keys.finish()?;
        Ok(Self { kind, limits, warm_up, within: None, preset: None, given: settings(given) })
    }

    /// Reads the load of the table `[workload]` of a scenario: its `kind` is a
    /// workload, by default `random`, or `trace` with a `file`. Paths are relative to
    /// the folder `beside`, sample traces are in `samples`.
    pub fn read(mut keys: Keys, beside: Option<&Path>, samples: Option<&Path>) -> Result<Self> {
        let file = keys.opt_text("file")?;
        let kind = keys.opt_text("kind")?;
        match (kind.as_deref().unwrap_or("random"), file) {
            (TRACE, Some(file)) => {
                let path = trace_path(&keys, &file, beside, samples)?;
                Self::trace(&path, keys)
            }
            (TRACE, None) => Err(keys.refuse("file", "missing; must be the path of a trace")),
            (_, Some(_)) => Err(keys.refuse("file", "must come with kind = \"trace\" only")),
            (workload, None) => {
                // The file's paths are relative to it, the caller's are not.
                let beside = beside.filter(|_| is_path(workload));
                let path = beside.map(|folder| folder.join(workload));
                let path = path.as_deref().map(Path::to_string_lossy);
                Self::workload(path.as_deref().unwrap_or(workload), keys)
            }
        }
    }

    /// The same load with other values of some keys.
    pub fn with_overrides(&self, overrides: &[Override]) -> Result<Self> {
        let mut keys = self.given.clone();
        for (key, value, origin) in overrides {
            keys.set(key, value.clone(), origin)?;
        }
        let changed = match &self.kind {
            LoadKind::Workload(_) => Self::workload(self.kind(), keys)?,
            LoadKind::Trace(spec) => {
                let mut changed = Self::trace(spec.path(), keys)?;
                if let LoadKind::Trace(other) = &mut changed.kind {
                    other.read_as(spec);
                }
                changed
            }
        };
        Ok(Self { within: self.within, preset: self.preset.clone(), ..changed })
    }

    /// Its workload, or `trace`.
    pub fn kind(&self) -> &str {
        match &self.kind {
            LoadKind::Workload(workload) => workload.name(),
            LoadKind::Trace(_) => TRACE,
        }
    }

    /// Text that is equal for equal loads: the kind, the preset, the given keys, and
    /// how many blocks it is limited to. The file of a trace and its content are not
    /// in it, nor are keys at their defaults that were not given.
    pub fn canonical(&self) -> String {
        let mut lines = vec![format!("kind = {:?}", self.kind())];
        lines.extend((self.preset.iter()).map(|preset| format!("preset = {preset:?}")));
        lines.extend((self.within.iter()).map(|blocks| format!("within_blocks = {blocks}")));
        lines.extend(self.given.canonical(&[]));
        if let Some(parts) = self.given.clone().take_table("part") {
            lines.push(format!("parts = {:?}", parts.names()));
        }
        lines.join("\n") + "\n"
    }

    /// Self-contained TOML, from which [`Load::from_toml`] makes an equal load: the
    /// table `[workload]` of a scenario, with the keys `preset` and `within_blocks`
    /// where it has these. Of a trace, `file` is its place and `sha256` the digest of
    /// its content.
    pub fn to_toml(&self, file: Option<&str>, sha256: Option<&str>) -> Result<String> {
        let mut head = Keys::empty("load");
        let blocks = self.within.map(|blocks| (blocks as i64).into());
        let entries = [
            ("kind", Some(self.kind().into())),
            ("preset", self.preset.as_deref().map(Into::into)),
            ("within_blocks", blocks),
            ("file", file.map(Into::into)),
            ("sha256", sha256.map(Into::into)),
        ];
        for (key, value) in entries {
            if let Some(value) = value {
                head.set(key, value, "load")?;
            }
        }
        Ok(self.given.clone().over(head).to_toml(""))
    }

    /// Reads a load from TOML, as [`Load::to_toml`] writes it; sample traces are in
    /// `samples`. The caller compares the content of a trace with `sha256`.
    pub fn from_toml(text: &str, samples: Option<&Path>) -> Result<Self> {
        let mut keys = Keys::parse(text, "load.toml")?;
        let preset = keys.opt_text("preset")?;
        let within = keys.opt_u64("within_blocks", 1..=i64::MAX as u64)?;
        if keys.opt_text("sha256")?.is_some() && !keys.has("file") {
            return Err(keys.refuse("sha256", "must come with the file of a trace only"));
        }
        for key in ["preset", "within_blocks", "sha256"] {
            keys.forget(key);
        }
        let load = Self::read(keys, None, samples)?;
        Ok(Self { within, preset: preset.or(load.preset), ..load })
    }

    /// The seed; `None` for a trace, which has none.
    pub fn seed(&self) -> Option<u64> {
        match &self.kind {
            LoadKind::Workload(workload) => Some(workload.seed()),
            LoadKind::Trace(_) => None,
        }
    }

    /// The file of a trace.
    pub fn file(&self) -> Option<&Path> {
        match &self.kind {
            LoadKind::Workload(_) => None,
            LoadKind::Trace(spec) => Some(spec.path()),
        }
    }

    /// The keys of a trace as they were given.
    pub fn trace_keys(&self) -> Map<String, Value> {
        let given = self.given.entries();
        given.map(|(key, value, ..)| (key, json!(Serialized(value)))).collect()
    }

    /// The gap inside its sequential runs; of a mix, the largest of its parts.
    pub(crate) fn interleave_kib(&self) -> f64 {
        match &self.kind {
            LoadKind::Workload(workload) => workload.interleave_kib(),
            LoadKind::Trace(_) => 0.0,
        }
    }

    /// Whether it needs the number of blocks of the device.
    pub(crate) fn needs_blocks(&self) -> bool {
        match &self.kind {
            LoadKind::Workload(_) => true,
            LoadKind::Trace(spec) => spec.needs_blocks(),
        }
    }

    /// The same load with `k` added to its seed; a trace is unchanged.
    pub fn with_seed_offset(mut self, k: u64) -> Self {
        if let LoadKind::Workload(workload) = &mut self.kind
            && k > 0
        {
            *workload = workload.with_seed_offset(k);
            let mut seeds = vec![("seed".to_owned(), workload.seed())];
            for (key, value, ..) in self.given.entries() {
                let is_of_part = key.starts_with("part.") && key.ends_with(".seed");
                if let Some(seed) = value.as_integer().filter(|_| is_of_part) {
                    seeds.push((key, (seed as u64).wrapping_add(k)));
                }
            }
            for (key, seed) in seeds {
                // A number is no table, which alone is refused.
                let _ = self.given.set(&key, (seed as i64).into(), "seed");
            }
        }
        self
    }

    /// The same load with `most` requests, if it is generated and has no number
    /// of requests; returns whether that is the case.
    pub fn with_default_requests(mut self, most: u64) -> (Self, bool) {
        let goes_on = match &mut self.kind {
            LoadKind::Workload(workload) => workload.extend_to(most),
            LoadKind::Trace(_) => false,
        };
        (self, goes_on)
    }

    /// The same load, limited to the first `blocks` blocks of the device.
    pub fn within(mut self, blocks: u64) -> Self {
        self.within = Some(blocks);
        self
    }

    /// Makes the load and its clones usable for any number of runs: a trace
    /// that can be read once only (a pipe) is copied to a temporary file.
    /// `check` is called now and then; its error ends the copying.
    pub fn keep(&self, check: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()> {
        match &self.kind {
            LoadKind::Workload(_) => Ok(()),
            LoadKind::Trace(spec) => spec.keep(check),
        }
    }

    /// Splits a trace into files in `folder`, one for each volume or window, and
    /// returns their list. The files are written on up to `threads` threads, on one
    /// for each processor if 0.
    ///
    /// # Errors
    /// A generated load, a trace that cannot be read, a key that does not go with
    /// parts, a file that cannot be written, or `check`'s.
    pub fn partition(
        &self,
        by: By,
        folder: &Path,
        threads: usize,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<PartList> {
        match &self.kind {
            LoadKind::Trace(spec) => spec.partition(&self.trace_keys(), by, folder, threads, check),
            LoadKind::Workload(_) => Err(Error::Key(
                "a generated workload has no volumes: sledsim trace generate writes it as a trace"
                    .to_owned(),
            )),
        }
    }

    /// The same load, keeping the measured times of a trace.
    pub fn with_measured_times(mut self) -> Self {
        if let LoadKind::Trace(spec) = &mut self.kind {
            spec.keep_measured = true;
        }
        self
    }

    /// The accesses to objects and how many are read at most, if it is a trace of such.
    ///
    /// # Errors
    /// A trace that cannot be read, a key that has no effect on accesses, or `check`'s.
    pub(crate) fn objects(
        &self,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<Option<(Objects, u64)>> {
        let LoadKind::Trace(spec) = &self.kind else {
            return Ok(None);
        };
        let Some(objects) = spec.objects(check)? else {
            return Ok(None);
        };
        const TAKEN: [&str; 4] = ["trace_format", "requests", "warm_up_requests", "warm_up_s"];
        match self.given.entries().find(|(key, ..)| !TAKEN.contains(&key.as_str())) {
            Some((key, ..)) => Err(Error::argument(
                &key,
                format!(
                    "{key}: has no effect on accesses to objects (oracle_general), only {} have",
                    TAKEN.join(", ")
                ),
            )),
            None => Ok(Some((objects, spec.requests.unwrap_or(u64::MAX)))),
        }
    }

    /// Every key of the running load with its effective value.
    pub(crate) fn facts(&self, running: &dyn LoadSource) -> LoadFacts {
        let mut facts = running.facts();
        if let LoadFacts::Generated(generated) = &mut facts {
            generated.preset.clone_from(&self.preset);
        }
        facts
    }

    pub(crate) fn source(
        &self,
        device_blocks: u64,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<Box<dyn LoadSource>> {
        let device_blocks = device_blocks.min(self.within.unwrap_or(u64::MAX));
        Ok(match &self.kind {
            LoadKind::Workload(Workload::Generator(spec)) => Box::new(spec.source(device_blocks)?),
            LoadKind::Workload(Workload::Mix(spec)) => Box::new(spec.source(device_blocks)?),
            LoadKind::Workload(Workload::PostMark(spec)) => Box::new(spec.source(device_blocks)?),
            LoadKind::Trace(spec) => Box::new(spec.source(device_blocks, check)?),
        })
    }
}

/// The keys of a load without those that name it.
fn settings(mut keys: Keys) -> Keys {
    for key in ["title", "base", "kind", "file"] {
        keys.forget(key);
    }
    keys
}

fn limits(keys: &mut Keys) -> Result<Limits> {
    let max_queue = keys.opt_u64("max_queue", 1..=u64::from(u32::MAX))?;
    Ok(max_queue.map_or_else(Limits::default, |max_queue| Limits { max_queue }))
}

/// The source of a running load.
pub(crate) trait LoadSource: Source {
    /// Every key with its effective value, and the counts so far.
    fn facts(&self) -> LoadFacts;

    /// Whether some requests arrive at times independent of completions.
    fn is_open(&self) -> bool;

    /// Whether the order of requests depends on completion times.
    fn needs_times(&self) -> bool {
        false
    }

    /// The measured times of a trace's requests.
    fn take_measured(&mut self) -> Vec<Measured> {
        Vec::new()
    }
}

impl LoadSource for Generator {
    fn facts(&self) -> LoadFacts {
        LoadFacts::Generated(GeneratedFacts {
            keys: json!(self.spec()),
            shortened: Some(self.shortened()),
            preset: None,
        })
    }

    fn is_open(&self) -> bool {
        !self.is_closed()
    }
}

impl LoadSource for Mix {
    fn facts(&self) -> LoadFacts {
        LoadFacts::Generated(GeneratedFacts { keys: json!(self), shortened: None, preset: None })
    }

    fn is_open(&self) -> bool {
        self.has_open_parts()
    }

    fn needs_times(&self) -> bool {
        self.has_closed_parts()
    }
}

impl LoadSource for PostMark {
    fn facts(&self) -> LoadFacts {
        LoadFacts::Generated(GeneratedFacts { keys: json!(self), shortened: None, preset: None })
    }

    fn is_open(&self) -> bool {
        false
    }
}

impl LoadSource for TraceSource {
    fn facts(&self) -> LoadFacts {
        LoadFacts::Trace(Box::new(self.facts()))
    }

    fn is_open(&self) -> bool {
        self.is_open()
    }

    fn take_measured(&mut self) -> Vec<Measured> {
        self.take_measured()
    }
}

/// The workload called `name`, a preset or the path of a file: every key with
/// its value, source and origin.
pub fn show(name: &str) -> Result<Value> {
    let (_, keys, Some(preset)) = resolve(name, Keys::empty(name))? else {
        return Err(Error::Key(format!(
            "workload '{name}': is a generator, not a file; the page on workloads has its keys"
        )));
    };
    Load::workload(name, Keys::empty(name))?;
    Ok(json!({
        "name": preset,
        "about": keys.about(),
        "parameters": Entries(&keys),
    }))
}
