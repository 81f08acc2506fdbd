//! Runs as a page shows them.

use crate::boundary::{detached, dict};
use crate::device::Device;
use crate::error::to_python;
use crate::rows::Rows;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sledsim_base::units::Nanos;
use sledsim_experiments::explore;
use sledsim_experiments::explore::columns::Columns;

type PyColumns<'py> = Vec<(String, &'static str, Bound<'py, PyBytes>)>;

fn columns<'py>(py: Python<'py>, of: &Columns) -> PyColumns<'py> {
    let column = |(name, kind, bytes): &(String, &'static str, Vec<u8>)| {
        (name.clone(), *kind, PyBytes::new(py, bytes))
    };
    of.0.iter().map(column).collect()
}

/// The columns of the rows of a run on a device, and its devices with theirs.
#[pyfunction]
pub(crate) fn explored<'py>(
    py: Python<'py>,
    rows: &Rows,
    device: &Device,
    window: (u64, usize),
    at_ns: u64,
) -> PyResult<(PyColumns<'py>, Vec<Bound<'py, PyDict>>)> {
    let window = explore::Window { from: Nanos(window.0), requests: window.1 };
    let work = || explore::explore(rows.batches(), &device.device, window, Nanos(at_ns));
    let (of_rows, devices) = detached(py, None, work).map_err(to_python)?;
    let about = |one: &explore::Explored| {
        Ok(dict!(
            py,
            one.{parent, blocks};
            name: one.name.as_str(),
            role: one.role,
            facts: one.facts.clone(),
            columns: columns(py, &one.columns),
        ))
    };
    let devices = devices.iter().map(about).collect::<PyResult<_>>()?;
    Ok((columns(py, &of_rows), devices))
}
