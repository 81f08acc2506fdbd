//! Loads and runs. The interpreter is released while a simulation runs.

use crate::arguments::{keys, overrides, task};
use crate::boundary::{attempted, detached, json_text};
use crate::check::Check;
use crate::device::Device;
use crate::error::to_python;
use crate::own_scheduler::SchedulerArgument;
use crate::rows::{Reduced, Rows};
use pyo3::prelude::*;
use sledsim_base::error::{Error, Result};
use sledsim_base::files;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::load::{Load as CoreLoad, show};
use sledsim_experiments::run::{Plan, RowsTo, SeriesTo};
use sledsim_experiments::scenario::{Additions, Scenario};
use sledsim_experiments::stats::{Stats, TableFormat, series_batch};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The JSON Schema of a summary, as JSON.
#[pyfunction]
pub(crate) fn summary_schema() -> String {
    json_text(&sledsim_experiments::stats::summary_schema())
}

/// The keys of a workload preset or file, as JSON.
#[pyfunction]
pub(crate) fn workload_show(name: &str) -> PyResult<String> {
    Ok(show(name).map_err(to_python)?.to_string())
}

/// A checked load.
#[derive(Clone, Debug)]
#[pyclass(frozen, skip_from_py_object, module = "sledsim._core")]
pub(crate) struct Load {
    pub(crate) load: CoreLoad,
}

#[pymethods]
impl Load {
    /// A generated workload.
    #[staticmethod]
    fn workload(name: &str, arguments: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let load = CoreLoad::workload(name, keys(name, arguments)?).map_err(to_python)?;
        Ok(Self { load })
    }

    /// A trace to replay.
    #[staticmethod]
    fn trace(path: PathBuf, arguments: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let load = CoreLoad::trace(&path, keys("trace", arguments)?).map_err(to_python)?;
        Ok(Self { load })
    }

    /// Makes sure that a trace can be read any number of times.
    #[pyo3(signature = (progress = None))]
    fn keep(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let mut check = Check::new(progress.as_ref());
        let kept = py.detach(|| self.load.keep(&mut |at| check.check(at)));
        kept.map_err(|error| check.exception(error))
    }

    /// Its workload, or `trace`.
    #[getter]
    fn kind(&self) -> &str {
        self.load.kind()
    }

    /// The file of a trace.
    #[getter]
    fn file(&self) -> Option<&Path> {
        self.load.file()
    }

    /// Text that is equal for equal loads, but for the content of a trace.
    fn canonical(&self) -> String {
        self.load.canonical()
    }

    /// Self-contained TOML, with the place of a trace and the digest of its content.
    fn to_toml(&self, file: Option<&str>, sha256: Option<&str>) -> PyResult<String> {
        self.load.to_toml(file, sha256).map_err(to_python)
    }

    /// The load of such TOML; the caller compares the content of a trace.
    #[staticmethod]
    fn from_toml(text: &str, samples: PathBuf) -> PyResult<Self> {
        let load = CoreLoad::from_toml(text, Some(&samples)).map_err(to_python)?;
        Ok(Self { load })
    }

    /// The same load with overrides.
    fn with_overrides(&self, arguments: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let load = self.load.with_overrides(&overrides(arguments)?);
        Ok(Self { load: load.map_err(to_python)? })
    }

    /// The seed; `None` for a trace.
    #[getter]
    fn seed(&self) -> Option<u64> {
        self.load.seed()
    }

    /// The same load with `k` added to its seed.
    fn with_seed_offset(&self, k: u64) -> Self {
        Self { load: self.load.clone().with_seed_offset(k) }
    }

    /// The same load for a device, as if it had `blocks` blocks.
    fn within(&self, blocks: u64) -> Self {
        Self { load: self.load.clone().within(blocks) }
    }
}

/// The streaming statistics of a run.
#[derive(Debug)]
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Statistics {
    pub(crate) stats: Stats,
}

#[pymethods]
impl Statistics {
    /// Those of [`Statistics::to_bytes`].
    #[new]
    fn from_bytes(content: &[u8]) -> PyResult<Self> {
        let stats = Stats::from_bytes(content).map_err(to_python)?;
        Ok(Self { stats })
    }

    /// All statistics in a compact form, which other versions read, too.
    fn to_bytes(&self) -> Cow<'_, [u8]> {
        self.stats.to_bytes().into()
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> Reduced {
        (slf.get_type().unbind(), (slf.get().stats.to_bytes().into(),))
    }

    /// Whether the others are the same.
    fn equals(&self, other: &Self) -> bool {
        self.stats == other.stats
    }

    /// A distribution function: rising milliseconds, each with the share of requests
    /// that took at most that long.
    fn cdf(&self, time: &str, op: Option<&str>) -> PyResult<Vec<(f64, f64)>> {
        let op = match op {
            None => None,
            Some(name) => Some(named(name).map_err(to_python)?),
        };
        self.stats.cdf(time, op).map_err(to_python)
    }
}

fn named(name: &str) -> Result<Op> {
    let op = Op::ALL.into_iter().find(|op| op.name() == name);
    op.ok_or_else(|| {
        let known = Op::ALL.map(Op::name).join(", ");
        Error::argument("op", format!("op = '{name}': must be one of {known}"))
    })
}

/// The results of a run: JSON document, rows and series if requested, statistics.
#[derive(IntoPyObject)]
pub(crate) struct RunOutput {
    document: String,
    rows: Option<Rows>,
    series: Option<Rows>,
    statistics: Statistics,
}

/// Runs a load on a device. `rows` and `series` are discarded, kept in memory, or
/// written to a file; `perfetto` is a trace of the rows. `parts` adds the requests
/// inside a composite to both.
#[pyfunction]
#[pyo3(signature = (device, load, scheduler, background, rows, series, series_ms, precision, seeds, threads, progress, perfetto = None, parts = false))]
#[allow(clippy::too_many_arguments, reason = "by keyword in Python")]
pub(crate) fn run(
    py: Python<'_>,
    device: &Device,
    load: &Load,
    scheduler: SchedulerArgument<'_>,
    background: Vec<Vec<(String, Bound<'_, PyAny>)>>,
    rows: Output,
    series: Output,
    series_ms: Option<f64>,
    precision: Option<f64>,
    seeds: u64,
    threads: usize,
    progress: Option<Py<PyAny>>,
    perfetto: Option<PathBuf>,
    parts: bool,
) -> PyResult<RunOutput> {
    let (scheduler, failure) = scheduler.spec(device.device.has_positions()).map_err(to_python)?;
    let plan = Plan {
        rows: match rows {
            Output::File(path) => RowsTo::File(path),
            Output::InMemory(true) => RowsTo::Memory,
            Output::InMemory(false) => RowsTo::Nowhere,
        },
        parts,
        series: match series {
            Output::File(path) => SeriesTo::File(path),
            Output::InMemory(true) => SeriesTo::Memory,
            Output::InMemory(false) => SeriesTo::Nowhere,
        },
        perfetto,
        window: series_ms.map(Nanos::from_ms),
        precision,
        seeds,
        threads,
        bounds: None,
    };
    let mut check = Check::new(progress.as_ref());
    let (mut device, load) = (device.device.clone(), &load.load);
    if !background.is_empty() {
        let tasks = background.into_iter().map(task).collect::<PyResult<Vec<_>>>()?;
        device = device.with_background(&tasks).map_err(to_python)?;
    }
    let result = detached(py, load.file(), || {
        sledsim_experiments::run::run(&device, load, scheduler, plan, &mut |at| {
            failure.check()?;
            check.check(at)
        })
    });
    failure.raised()?;
    match result {
        Ok(run) => Ok(RunOutput {
            document: json_text(&run.document),
            rows: Rows::new(run.batches),
            series: (run.series).and_then(|windows| Rows::new(vec![series_batch(&windows)])),
            statistics: Statistics { stats: run.stats },
        }),
        Err(error) => Err(check.exception(error)),
    }
}

/// Whether and where to keep results.
#[derive(FromPyObject)]
pub(crate) enum Output {
    InMemory(bool),
    File(PathBuf),
}

/// Resolves a scenario to (device, load, name of the scheduler).
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "by keyword in Python")]
#[pyo3(signature = (file, device, scheduler, workload, trace, settings, samples = None, layout = None, background = vec![]))]
pub(crate) fn scenario(
    file: Option<PathBuf>,
    device: Option<String>,
    scheduler: Option<String>,
    workload: Option<String>,
    trace: Option<String>,
    settings: Vec<String>,
    samples: Option<PathBuf>,
    layout: Option<String>,
    background: Vec<String>,
) -> PyResult<(Device, Load, String)> {
    let additions = Additions {
        device,
        scheduler,
        layout,
        background,
        workload,
        trace,
        set: settings,
        samples,
    };
    let mut check = Check::new(None);
    let scenario = attempted(None, || {
        Scenario::resolve_with(file.as_deref(), &additions, &mut |at| check.check(at))
    });
    let scenario = scenario.map_err(|error| check.exception(error))?;
    let load = Load { load: scenario.load };
    let scheduler = scenario.scheduler.label().to_owned();
    Ok((Device::new(scenario.device), load, scheduler))
}

/// The label of a scheduler, with its keys in order.
#[pyfunction]
pub(crate) fn scheduler_label(given: &str) -> PyResult<String> {
    let scheduler = SchedulerSpec::named(given).map_err(to_python)?;
    Ok(scheduler.label().to_owned())
}

/// Refuses an output file that is one of the inputs.
#[pyfunction]
pub(crate) fn refuse_overwriting(output: PathBuf, inputs: Vec<PathBuf>) -> PyResult<()> {
    files::refuse_overwriting(&output, inputs.iter().map(PathBuf::as_path)).map_err(to_python)
}

/// Refuses an output file whose ending is not that of a table.
#[pyfunction]
pub(crate) fn check_table_file(path: PathBuf) -> PyResult<()> {
    TableFormat::of(&path).map(drop).map_err(to_python)
}

/// Writes a temporary file and renames it to `path`.
#[pyfunction]
pub(crate) fn write_atomically(path: PathBuf, content: &[u8]) -> PyResult<()> {
    files::write_atomically(&path, content).map_err(to_python)
}
