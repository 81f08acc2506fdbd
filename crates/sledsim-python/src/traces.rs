//! Traces: information, conversion and generation. The interpreter is released
//! meanwhile, with checks for signals and progress.

use crate::boundary::{detached, json_text};
use crate::check::Check;
use crate::device::Device;
use crate::error::to_python;
use crate::simulation::Load;
use pyo3::prelude::*;
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::Keys;
use sledsim_base::units::Nanos;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::formats;
use sledsim_experiments::generate::{Target, generate};
use sledsim_experiments::info;
use sledsim_experiments::load::Load as CoreLoad;
use sledsim_experiments::replay::BLK_ACTIONS;
use sledsim_traces::{ConvertSpec, Format, GivenUnits, InfoSpec, Options, Reading, Sample};
use std::path::{Path, PathBuf};

/// How to read a trace, as in the Python functions.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReadArguments {
    format: Option<String>,
    columns: Option<String>,
    time_unit: Option<String>,
    place_unit: Option<String>,
    length_unit: Option<String>,
    sort_ms: Option<f64>,
    blk_action: Option<String>,
    drop_glitches: bool,
}

/// The longest time accepted, in s: 285 years.
const LONGEST_S: f64 = 9e9;

/// Looks up `name` in `choices`; `what` names the argument.
fn choice_named<T: Copy>(
    what: &str,
    name: Option<String>,
    choices: &[(&str, T)],
) -> Result<Option<T>> {
    let Some(name) = name else {
        return Ok(None);
    };
    let found = choices.iter().find(|(known, _)| *known == name);
    let found = found.map(|(_, choice)| Some(*choice));
    found.ok_or_else(|| {
        let known: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        let known = known.join(", ");
        Error::Key(format!("unknown {what} '{name}': must be one of {known}"))
    })
}

fn reading(given: ReadArguments) -> Result<(Option<Format>, Options, Nanos)> {
    let format = choice_named("format", given.format, &formats::all().readers.choices())?;
    let sort = time("sort", given.sort_ms.map(|ms| ms * 1e-3))?;
    Ok((
        format,
        Options {
            formats: formats::all(),
            columns: given.columns,
            units: GivenUnits::read(|key| {
                Ok(match key {
                    "time_unit" => given.time_unit.clone(),
                    "place_unit" => given.place_unit.clone(),
                    _ => given.length_unit.clone(),
                })
            })?,
            blk_action: choice_named("blk_action", given.blk_action, &BLK_ACTIONS)?,
            drop_glitches: given.drop_glitches,
        },
        sort.unwrap_or_default(),
    ))
}

/// Checks a time in s.
fn time(name: &str, seconds: Option<f64>) -> Result<Option<Nanos>> {
    let Some(seconds) = seconds else {
        return Ok(None);
    };
    if (0.0..=LONGEST_S).contains(&seconds) {
        return Ok(Some(Nanos::from_s(seconds)));
    }
    Err(Error::argument(name, format!("{name} = {seconds} s: must be from 0 to {LONGEST_S:e} s")))
}

/// The level of detail of trace information, as in the Python functions.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct InfoArguments {
    quick: bool,
    interleave_blocks: Option<u64>,
    max_units: Option<usize>,
    picture: bool,
}

impl InfoArguments {
    fn at(self, path: &Path) -> InfoSpec {
        let spec = InfoSpec::new(path);
        InfoSpec {
            quick: self.quick,
            interleave_blocks: self.interleave_blocks,
            picture: self.picture,
            max_units: self.max_units.unwrap_or(spec.max_units),
            ..spec
        }
    }
}

/// Information about a trace, as JSON.
#[pyfunction]
#[pyo3(signature = (path, given, look, progress))]
pub(crate) fn trace_info(
    py: Python<'_>,
    path: PathBuf,
    given: ReadArguments,
    look: InfoArguments,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (format, options, sort) = reading(given).map_err(to_python)?;
    let spec = InfoSpec { format, options, sort, ..look.at(&path) };
    let mut check = Check::new(progress.as_ref());
    let info =
        detached(py, Some(&path), || spec.read(&mut |at: Reading| check.report(at.bytes, at.of)));
    match info {
        Ok(info) => Ok(json_text(&info)),
        Err(error) => Err(check.exception(error)),
    }
}

/// Information about a load on a device of `blocks` blocks, as JSON.
#[pyfunction]
#[pyo3(signature = (load, blocks, look, progress))]
pub(crate) fn load_info(
    py: Python<'_>,
    load: &Load,
    blocks: u64,
    look: InfoArguments,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = look.at(Path::new(""));
    let mut check = Check::new(progress.as_ref());
    let info = detached(py, load.load.file(), || {
        info::load_info(&spec, &load.load, blocks, &mut |at| {
            check.report(at.completed, at.requests)
        })
    });
    match info {
        Ok(info) => Ok(json_text(&info)),
        Err(error) => Err(check.exception(error)),
    }
}

/// The selection of requests to convert, as in the Python function.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ConvertArguments {
    devices: Vec<String>,
    from_s: Option<f64>,
    until_s: Option<f64>,
    requests: Option<u64>,
    every: Option<u64>,
    sample: Option<f64>,
    seed: u64,
    rebase: bool,
    time_scale: f64,
    widen: bool,
    keep_devices: bool,
}

/// Converts traces to another format; returns a report as JSON.
#[pyfunction]
#[pyo3(signature = (inputs, output, to, given, choices, progress))]
pub(crate) fn trace_convert(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    output: PathBuf,
    to: Option<String>,
    given: ReadArguments,
    choices: ConvertArguments,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = convert_spec(&inputs, &output, to, given, choices).map_err(to_python)?;
    let mut check = Check::new(progress.as_ref());
    // With several inputs the readers name the file.
    let file = match &inputs[..] {
        [one] => Some(one.as_path()),
        _ => None,
    };
    let report =
        detached(py, file, || spec.convert(&mut |at: Reading| check.report(at.bytes, at.of)));
    match report {
        Ok(report) => Ok(json_text(&report)),
        Err(error) => Err(check.exception(error)),
    }
}

fn convert_spec(
    inputs: &[PathBuf],
    output: &Path,
    to: Option<String>,
    given: ReadArguments,
    choices: ConvertArguments,
) -> Result<ConvertSpec> {
    let (format, options, sort) = reading(given)?;
    let sample = match (choices.every, choices.sample) {
        (Some(_), Some(_)) => {
            return Err(Error::Key("every and sample: give one of them".to_owned()));
        }
        (Some(step), None) => Sample::Every(step),
        (None, Some(share)) => Sample::Places { share, seed: choices.seed },
        (None, None) => Sample::All,
    };
    Ok(ConvertSpec {
        to,
        format,
        options,
        sort,
        devices: choices.devices,
        from: time("from", choices.from_s)?.unwrap_or_default(),
        until: time("until", choices.until_s)?,
        sample,
        requests: choices.requests,
        rebase: choices.rebase,
        time_scale: choices.time_scale,
        widen: choices.widen,
        keep_devices: choices.keep_devices,
        ..ConvertSpec::new(inputs, output)
    })
}

/// Writes a workload as a trace; returns a report as JSON.
#[pyfunction]
#[pyo3(signature = (load, output, to, place, progress))]
pub(crate) fn trace_generate(
    py: Python<'_>,
    load: &Load,
    output: PathBuf,
    to: Option<String>,
    place: (Option<PyRef<'_, Device>>, String, Option<u64>),
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (device, scheduler, blocks) = place;
    let scheduler = SchedulerSpec::named(&scheduler).map_err(to_python)?;
    let place = match (device.as_deref(), blocks) {
        (Some(device), None) => Target::Device(&device.device, scheduler),
        (None, Some(blocks)) => Target::Blocks(blocks),
        _ => {
            let problem = "device or blocks: give one of them; where requests go depends on how many blocks there are";
            return Err(to_python(Error::Key(problem.to_owned())));
        }
    };
    let (load, to) = (&load.load, to.as_deref());
    let mut check = Check::new(progress.as_ref());
    let report = detached(py, Some(&output), || {
        generate(load, place, &output, to, &mut |at| check.report(at.completed, at.requests))
    });
    match report {
        Ok(report) => Ok(json_text(&report)),
        Err(error) => Err(check.exception(error)),
    }
}

/// A workload with keys given as `key=value`.
#[pyfunction]
pub(crate) fn workload_of_settings(name: &str, settings: Vec<String>) -> PyResult<Load> {
    let read = || -> Result<CoreLoad> {
        let mut keys = Keys::empty(name);
        for setting in &settings {
            let (key, value) = setting.split_once('=').ok_or_else(|| {
                Error::Key(format!("--set {setting}: must be of the form key=value"))
            })?;
            let key = key.trim();
            keys.set_text(key, value, &format!("--set {key}"))?;
        }
        CoreLoad::workload(name, keys)
    };
    let load = read().map_err(to_python)?;
    Ok(Load { load })
}
