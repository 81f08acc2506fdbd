//! Traces split into parts, and the parts as one run.

use crate::boundary::{detached, json_text};
use crate::check::Check;
use crate::device::Device;
use crate::error::to_python;
use crate::rows::Rows;
use crate::simulation::{Load, Statistics};
use pyo3::prelude::*;
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::units::Nanos;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::replay::{By, PartList};
use sledsim_experiments::run;
use std::borrow::Cow;
use std::path::PathBuf;

/// The file of a trace and its keys as JSON; `None` for a generated workload.
#[pyfunction]
pub(crate) fn trace_of(load: &Load) -> Option<(PathBuf, String)> {
    let (file, keys) = (load.load.file()?, load.load.trace_keys());
    Some((file.to_owned(), json_text(&keys)))
}

/// Splits a trace into files in a folder: by volume, or by windows with a warm-up, both
/// in seconds. Returns their list as JSON. The files are written on up to `threads` threads.
#[pyfunction]
#[pyo3(signature = (load, folder, windows, threads, progress))]
pub(crate) fn partition(
    py: Python<'_>,
    load: &Load,
    folder: PathBuf,
    windows: Option<(f64, f64)>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let by = match windows {
        None => By::Volume,
        Some((length_s, warm_up_s)) => {
            By::Window { length: Nanos::from_s(length_s), warm_up: Nanos::from_s(warm_up_s) }
        }
    };
    let mut check = Check::new(progress.as_ref());
    let list = detached(py, load.load.file(), || {
        let check = &mut |at: Progress| check.report(at.completed, at.expected());
        load.load.partition(by, &folder, threads, check)
    });
    match list {
        Ok(list) => Ok(json_text(&list)),
        Err(error) => Err(check.exception(error)),
    }
}

/// Runs a part of a trace; returns its statistics, and its facts as bytes. The bounds, in
/// nanoseconds, are those of a window.
#[pyfunction]
#[pyo3(signature = (device, load, scheduler, bounds_ns, progress))]
pub(crate) fn run_part(
    py: Python<'_>,
    device: &Device,
    load: &Load,
    scheduler: &str,
    bounds_ns: Option<(u64, u64)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Statistics, Cow<'static, [u8]>)> {
    let scheduler = SchedulerSpec::named(scheduler).map_err(to_python)?;
    let bounds = bounds_ns.map(|(start, end)| (Nanos(start), Nanos(end)));
    let (device, load) = (&device.device, &load.load);
    let mut check = Check::new(progress.as_ref());
    let result = detached(py, load.file(), || {
        run::run_part(device, load, &scheduler, bounds, &mut |at| check.check(at))
    });
    match result {
        Ok((stats, facts)) => Ok((Statistics { stats }, facts.into())),
        Err(error) => Err(check.exception(error)),
    }
}

/// The results of parts, added in any order.
#[derive(Debug)]
#[pyclass(module = "sledsim._core")]
pub(crate) struct Parts {
    parts: Option<run::Parts>,
}

/// The results of all parts: JSON document, a row for each, statistics.
#[derive(IntoPyObject)]
pub(crate) struct MergedOutput {
    document: String,
    table: Option<Rows>,
    statistics: Statistics,
}

#[pymethods]
impl Parts {
    /// No parts yet.
    #[new]
    fn new(device: &Device, scheduler: &str) -> PyResult<Self> {
        let scheduler = SchedulerSpec::named(scheduler).map_err(to_python)?;
        let parts = run::Parts::new(&device.device, &scheduler).map_err(to_python)?;
        Ok(Self { parts: Some(parts) })
    }

    /// Expects the parts of a list from [`partition`].
    fn expect(&mut self, listed: &str) -> PyResult<()> {
        let list = parsed(listed).map_err(to_python)?;
        self.parts()?.expect(list);
        Ok(())
    }

    /// Adds the results of a part from [`run_part`].
    fn add(
        &mut self,
        py: Python<'_>,
        index: usize,
        statistics: &Statistics,
        facts: &[u8],
    ) -> PyResult<()> {
        let (parts, stats) = (self.parts()?, &statistics.stats);
        detached(py, None, || parts.add(index, stats, facts)).map_err(to_python)
    }

    /// Notes why a part failed.
    fn fail(&mut self, index: usize, problem: String) -> PyResult<()> {
        self.parts()?.fail(index, problem).map_err(to_python)
    }

    /// The results of all, whose rows are also written to the file `table`.
    fn finish(&mut self, table: Option<PathBuf>) -> PyResult<MergedOutput> {
        let parts = self.parts.take().ok_or_else(|| to_python(finished()))?;
        let merged = parts.finish(table.as_deref()).map_err(to_python)?;
        Ok(MergedOutput {
            document: json_text(&merged.document),
            table: Rows::new(vec![merged.table]),
            statistics: Statistics { stats: merged.stats },
        })
    }
}

impl Parts {
    fn parts(&mut self) -> PyResult<&mut run::Parts> {
        (self.parts.as_mut()).ok_or_else(|| to_python(finished()))
    }
}

fn finished() -> Error {
    Error::Key("the parts were finished before".to_owned())
}

fn parsed(text: &str) -> Result<PartList> {
    serde_json::from_str(text).map_err(|error| {
        Error::Key(match error.is_data() {
            true => "the list of parts is damaged".to_owned(),
            false => format!("is no JSON: {error}"),
        })
    })
}
