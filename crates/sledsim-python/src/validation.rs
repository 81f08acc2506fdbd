//! Validations. The interpreter is released while one runs.

use crate::boundary::{detached, json_text};
use crate::check::Check;
use crate::device::Device;
use crate::error::to_python;
use crate::rows::Rows;
use crate::simulation::Load;
use pyo3::prelude::*;
use sledsim_base::error::Error;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::validation;
use sledsim_experiments::validation::{Direction, Part};
use std::path::PathBuf;

/// The results of a validation.
#[derive(Debug)]
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Validation {
    validation: validation::Validation,
}

#[pymethods]
impl Validation {
    /// The results, as JSON.
    fn document(&self) -> String {
        json_text(&self.validation.document)
    }

    /// A row per request compared.
    fn rows(&self) -> Option<Rows> {
        Rows::new(vec![self.validation.rows.clone()])
    }

    /// Measured and simulated times in ms, each sorted.
    fn sorted_ms(&self, part: &str, kind: &str) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let parts = Part::ALL.map(Part::name);
        let kinds = Direction::ALL.map(Direction::name);
        let part = index("part", part, &parts)?;
        let kind = index("op", kind, &kinds)?;
        Ok(self.validation.comparisons[part][kind].sorted_ms())
    }

    /// Writes the rows to a Parquet file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let rows = &self.validation.rows;
        let written = detached(py, Some(&path), || validation::write_table(rows, &path));
        written.map_err(to_python)
    }
}

fn index(what: &str, name: &str, names: &[&str]) -> PyResult<usize> {
    let index = names.iter().position(|known| *known == name);
    index.ok_or_else(|| {
        let known = names.join(", ");
        to_python(Error::argument(what, format!("{what} = '{name}': must be one of {known}")))
    })
}

/// Replays a trace and compares measured with simulated times.
#[pyfunction]
#[pyo3(signature = (device, load, scheduler, progress))]
pub(crate) fn validate(
    py: Python<'_>,
    device: &Device,
    load: &Load,
    scheduler: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Validation> {
    let scheduler = SchedulerSpec::named(scheduler).map_err(to_python)?;
    let mut check = Check::new(progress.as_ref());
    let (device, load) = (&device.device, &load.load);
    let result = detached(py, load.file(), || {
        validation::validate(device, load, scheduler, &mut |at| {
            check.report(at.completed, at.expected())
        })
    });
    match result {
        Ok(validation) => Ok(Validation { validation }),
        Err(error) => Err(check.exception(error)),
    }
}
