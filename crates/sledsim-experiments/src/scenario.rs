//! Scenarios: a device, a scheduler, a layout, background tasks and a load, as
//! data.
//!
//! ```toml
//! [device]
//! base = "g2"
//! command_overhead_ms = 0
//!
//! [scheduler]
//! name = "sptf"
//!
//! [layout]
//! name = "columnar"
//!
//! [[background]]
//! task = "scan"
//!
//! [workload]
//! kind = "random"        # or kind = "trace" with file = "..."
//! rate = 500
//! ```

use crate::completed_keys::completed;
use crate::load::Load;
use crate::replay::TraceFiles;
use sledsim_base::error::{Error, Result};
use sledsim_base::files::read_text;
use sledsim_base::keys::{Keys, did_you_mean};
use sledsim_base::progress::Progress;
use sledsim_core::catalog::{self, Device};
use sledsim_core::devices::mems::parallel::free_bandwidth::TaskSpec;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_core::workloads;
use sledsim_core::workloads::Workload;
use std::path::{Path, PathBuf, absolute};

/// A device with its layout, a scheduler and a load.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The device, with its layout and background tasks if any are given.
    pub device: Device,
    /// The scheduler of the host and of every mechanism of the device.
    pub scheduler: SchedulerSpec,
    /// The load.
    pub load: Load,
}

/// Settings that override a scenario file, or replace it.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    /// A preset or the path of a device file.
    pub device: Option<String>,
    /// A scheduler's name.
    pub scheduler: Option<String>,
    /// A layout's name.
    pub layout: Option<String>,
    /// Background tasks by name, with keys as in `scan(order=lbn)`; they replace
    /// those of the file.
    pub background: Vec<String>,
    /// A workload's name.
    pub workload: Option<String>,
    /// The path of a trace.
    pub trace: Option<String>,
    /// `key=value` as after `--set`: keys of the workload bare, others with
    /// their table (`device.idle`); values as in TOML, words without quotes.
    pub set: Vec<String>,
    /// The folder of the sample traces, which a file calls `sample:NAME`.
    pub samples: Option<PathBuf>,
}

/// The built-in scenarios, by name.
pub const SCENARIOS: [(&str, &str); 5] = [
    ("mcd-hplajw-like", include_str!("../data/scenarios/mcd-hplajw-like.toml")),
    ("mwb-cello-like", include_str!("../data/scenarios/mwb-cello-like.toml")),
    ("power-study", include_str!("../data/scenarios/power-study.toml")),
    ("tip-failures", include_str!("../data/scenarios/tip-failures.toml")),
    ("raid5-rebuild", include_str!("../data/scenarios/raid5-rebuild.toml")),
];

/// The keys of the scenario at `path`, or of a built-in one.
fn read(path: &Path) -> Result<Keys> {
    let name = path.to_string_lossy();
    let shipped = SCENARIOS.iter().find(|(shipped, _)| *shipped == name);
    if let Some((_, text)) = shipped.filter(|_| !path.exists()) {
        return Keys::parse(text, &format!("{name}.toml"));
    }
    let is_name = path.extension().is_none() && path.components().count() <= 1;
    if is_name && !path.exists() {
        return Err(Error::Key(unknown(&name)));
    }
    let read = read_text(path).map_err(|error| Error::spec(path, error));
    let keys = read.and_then(|text| Keys::parse(&text, &name));
    let is_toml = path.extension().is_some_and(|ending| ending == "toml");
    keys.map_err(|error| match is_toml || !path.is_file() {
        true => error,
        false => Error::Key(format!(
            "{error}; a scenario is a TOML file, a trace is given as --trace {name}"
        )),
    })
}

/// The message about an unknown scenario, with similar names.
fn unknown(name: &str) -> String {
    let problem = format!("unknown scenario '{name}'");
    let is_in = |names: &[(&str, &str)]| names.iter().any(|(known, _)| *known == name);
    let option = if is_in(&catalog::PRESETS) {
        "--device"
    } else if is_in(&workloads::PRESETS) || Workload::names().contains(&name) {
        "--workload"
    } else if name.starts_with("sample:") {
        "--trace"
    } else if SchedulerSpec::names().any(|known| known == name) {
        "--scheduler"
    } else {
        let hint = did_you_mean(name, SCENARIOS.iter().map(|(name, _)| *name));
        return format!("{problem}{hint}; or give the path of a .toml file");
    };
    format!("{problem}; did you mean {option} {name}?")
}

/// `key` and `value` of each `key=value`.
fn settings(set: &[String]) -> Result<Vec<(&str, &str)>> {
    let split = |setting: &String| {
        Error::Key(format!(
            "--set {setting}: must be of the form key=value, joined by '=' without spaces, as in \
             --set rate=500"
        ))
    };
    let pairs = set.iter().map(|setting| match setting.split_once('=') {
        Some((key, value)) => Ok((key.trim(), value.trim())),
        None => Err(split(setting)),
    });
    pairs.collect()
}

/// The tables of a scenario.
const TABLES: [&str; 5] = ["device", "scheduler", "layout", "background", "workload"];

impl Scenario {
    /// Resolves the scenario at `file` (or of that name among [`SCENARIOS`]), if
    /// any, with `additions`.
    ///
    /// # Errors
    /// An unreadable file, or any error in a key.
    pub fn resolve(file: Option<&Path>, additions: &Additions) -> Result<Self> {
        Self::resolve_with(file, additions, &mut |_| Ok(()))
    }

    /// As [`Scenario::resolve`]; `check` is called now and then while a layout
    /// reads a trace, and its error ends that.
    pub fn resolve_with(
        file: Option<&Path>,
        additions: &Additions,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<Self> {
        let set = settings(&additions.set)?;
        let mut keys = match file {
            None => Keys::empty("scenario"),
            Some(path) => read(path)?,
        };
        let beside = file.and_then(Path::parent);
        if let Some(device) = &additions.device {
            // The file's paths are relative to it, the caller's are not.
            let path = Path::new(device);
            let base = if path.is_file() {
                let path = absolute(path).map_err(|error| Error::spec(path, error))?;
                path.to_string_lossy().into_owned()
            } else {
                device.clone()
            };
            keys.set("device.base", base.into(), "--device")?;
        }
        for (key, value) in set {
            let table = key.split(['.', '[']).next().unwrap_or_default();
            let known = key.contains('.') && TABLES.contains(&table);
            let full = if known { key.to_owned() } else { format!("workload.{key}") };
            keys.set_text(&full, value, &format!("--set {key}"))?;
        }
        if let Some(scheduler) = &additions.scheduler {
            for (key, value) in SchedulerSpec::keys_of(scheduler)? {
                keys.set(&format!("scheduler.{key}"), value, "--scheduler")?;
            }
        }
        if let Some(layout) = &additions.layout {
            keys.set("layout.name", layout.as_str().into(), "--layout")?;
        }

        let device = keys.take_table("device");
        let scheduler = keys.take_table("scheduler").unwrap_or_else(|| Keys::empty("scheduler"));
        let workload = keys.take_table("workload").unwrap_or_else(|| Keys::empty("workload"));
        let layout = keys.take_table("layout");
        let background = keys.take_tables("background")?;
        keys.finish()?;
        let device = device.ok_or_else(|| {
            Error::Key("no device: give --device NAME, or a scenario with a [device] table".into())
        })?;
        let device = Device::from_keys(device, beside)?;
        let tasks = if additions.background.is_empty() {
            let tasks = background.into_iter().map(TaskSpec::read);
            tasks.collect::<Result<Vec<_>>>()
        } else {
            let named = additions.background.iter();
            named.map(|label| TaskSpec::named(label)).collect()
        };
        let traces = TraceFiles { beside, samples: additions.samples.as_deref() };
        let device = completed(device, layout, &tasks?, &traces, check)?;
        let load = load(workload, additions, beside);
        Ok(Self {
            load: load.map_err(|error| with_device_hint(error, &device))?,
            device,
            scheduler: SchedulerSpec::read(scheduler)?,
        })
    }
}

/// Adds a hint to the error about an unknown key of the load if the device has
/// that key.
fn with_device_hint(error: Error, device: &Device) -> Error {
    let Error::UnknownKey { origin, key, hint } = error else {
        return error;
    };
    let bare = key.strip_prefix("workload.").unwrap_or(&key);
    let hint = match device.resolved_keys().entries().any(|(key, ..)| key == bare) {
        true => format!("; did you mean 'device.{bare}'?"),
        false => hint,
    };
    Error::UnknownKey { origin, key, hint }
}

/// The load: the caller's trace or workload, else the file's, else `random`.
fn load(mut keys: Keys, additions: &Additions, beside: Option<&Path>) -> Result<Load> {
    for replaced in ["file", "kind"] {
        keys.opt_text(replaced)?;
    }
    match (&additions.trace, &additions.workload) {
        (Some(_), Some(_)) => {
            Err(Error::Key("--trace and --workload: give one of them".to_owned()))
        }
        (Some(trace), None) => Load::trace(Path::new(trace), keys),
        (None, Some(workload)) => Load::workload(workload, keys),
        (None, None) => Load::read(keys, beside, additions.samples.as_deref()),
    }
}
