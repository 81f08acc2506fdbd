//! Loads and runs. The interpreter is released while a simulation runs.

use crate::device::{Device, overrides};
use crate::error::to_python;
use crate::rows::Rows;
use pyo3::prelude::*;
use sledsim_core::engine::Progress;
use sledsim_core::error::{Error, Result};
use sledsim_core::keys::Keys;
use sledsim_core::load::Load as CoreLoad;
use sledsim_core::run::RowsTo;
use sledsim_core::scenario::{Additions, Scenario};
use sledsim_core::schedulers::Choice;
use sledsim_core::{stats, traces};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often a run looks for signals and reports progress.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// A checked load.
#[derive(Clone, Debug)]
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Load {
    load: CoreLoad,
}

fn keys(what: &str, arguments: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Keys> {
    let mut keys = Keys::empty(what);
    for (key, value, origin) in overrides(arguments)? {
        keys.set(&key, value, &origin).map_err(to_python)?;
    }
    Ok(keys)
}

#[pymethods]
impl Load {
    /// A generated workload.
    #[staticmethod]
    fn workload(name: &str, arguments: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let load = CoreLoad::workload(name, keys(name, arguments)?).map_err(to_python)?;
        Ok(Self { load })
    }

    /// A trace to be replayed.
    #[staticmethod]
    fn trace(path: PathBuf, arguments: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let load = CoreLoad::trace(&path, keys("trace", arguments)?).map_err(to_python)?;
        Ok(Self { load })
    }
}

/// Calls back into Python now and then: signals first, then progress.
struct Check<'a> {
    progress: Option<&'a Py<PyAny>>,
    last: Instant,
    /// What Python raised, if it did.
    raised: Option<PyErr>,
}

impl<'a> Check<'a> {
    fn new(progress: Option<&'a Py<PyAny>>) -> Self {
        Self {
            progress,
            last: Instant::now(),
            raised: None,
        }
    }

    fn check(&mut self, progress: Progress) -> Result<()> {
        if self.last.elapsed() < CHECK_EVERY {
            return Ok(());
        }
        self.last = Instant::now();
        let called = Python::attach(|py| {
            py.check_signals()?;
            if let Some(callback) = self.progress {
                callback.call1(py, (progress.completed, progress.requests))?;
            }
            Ok(())
        });
        called.map_err(|raised| {
            self.raised = Some(raised);
            Error::Interrupted
        })
    }

    /// The exception of a failed call: what Python raised, or the core's.
    fn exception(self, error: Error) -> PyErr {
        self.raised.unwrap_or_else(|| to_python(error))
    }
}

/// Runs a load on a device: (JSON document, rows in memory if asked for).
#[pyfunction]
#[pyo3(signature = (device, load, scheduler, rows, parquet, progress))]
pub(crate) fn run(
    py: Python<'_>,
    device: &Device,
    load: &Load,
    scheduler: &str,
    rows: bool,
    parquet: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Option<Rows>)> {
    let scheduler = Choice::named(scheduler).map_err(to_python)?;
    let rows_to = match parquet {
        Some(path) => RowsTo::Parquet(path),
        None if rows => RowsTo::Memory,
        None => RowsTo::Nowhere,
    };
    let mut check = Check::new(progress.as_ref());
    let (device, load) = (&device.device, &load.load);
    let result = py.detach(|| {
        sledsim_core::run::run(device, load, scheduler, &rows_to, &mut |at| check.check(at))
    });
    match result {
        Ok(run) => Ok((run.document.to_string(), Rows::new(run.batches))),
        Err(error) => Err(check.exception(error)),
    }
}

/// Resolves a scenario: (device, load, scheduler's name).
#[pyfunction]
#[pyo3(signature = (file, device, scheduler, workload, trace, settings))]
pub(crate) fn scenario(
    file: Option<PathBuf>,
    device: Option<String>,
    scheduler: Option<String>,
    workload: Option<String>,
    trace: Option<String>,
    settings: Vec<String>,
) -> PyResult<(Device, Load, &'static str)> {
    let additions = Additions {
        device,
        scheduler,
        workload,
        trace,
        set: settings,
    };
    let scenario = Scenario::resolve(file.as_deref(), &additions).map_err(to_python)?;
    let load = Load {
        load: scenario.load,
    };
    Ok((Device::new(scenario.device), load, scenario.scheduler.name))
}

/// What is in a trace, as JSON.
#[pyfunction]
pub(crate) fn trace_info(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let info = py.detach(|| traces::trace_info(&path, traces::Format::default()));
    Ok(info.map_err(to_python)?.to_string())
}

/// Writes a file beside its place and moves it there.
#[pyfunction]
pub(crate) fn write_atomically(path: PathBuf, content: &[u8]) -> PyResult<()> {
    stats::write_atomically(&path, content).map_err(to_python)
}
