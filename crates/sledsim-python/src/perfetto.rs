//! Rows as a trace for Perfetto.

use crate::boundary::detached;
use crate::check::Check;
use crate::error::to_python;
use crate::rows::Rows;
use pyo3::prelude::*;
use sledsim_experiments::perfetto::{Source, check_ending, convert};
use std::path::PathBuf;

/// Refuses a file whose ending is not that of a trace for Perfetto.
#[pyfunction]
pub(crate) fn check_perfetto_file(path: PathBuf) -> PyResult<()> {
    check_ending(&path).map_err(to_python)
}

/// Writes the rows of a Parquet file as a trace; how many there are.
#[pyfunction]
#[pyo3(signature = (rows, path, progress = None))]
pub(crate) fn perfetto_of_file(
    py: Python<'_>,
    rows: PathBuf,
    path: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let mut check = Check::new(progress.as_ref());
    let written = detached(py, Some(&rows), || {
        convert(Source::File(&rows), &path, &mut |at| check.check(at))
    });
    written.map_err(|error| check.exception(error))
}

/// Writes rows in memory as a trace, with the power of a series.
#[pyfunction]
#[pyo3(signature = (rows, series, path))]
pub(crate) fn perfetto_of_rows(
    py: Python<'_>,
    rows: &Rows,
    series: Option<&Rows>,
    path: PathBuf,
) -> PyResult<u64> {
    let source =
        Source::Memory { rows: rows.batches(), series: series.map_or(&[][..], Rows::batches) };
    let mut check = Check::new(None);
    let written = detached(py, None, || convert(source, &path, &mut |at| check.check(at)));
    written.map_err(|error| check.exception(error))
}
