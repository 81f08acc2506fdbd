//! Monte Carlo estimates of tip failures. The interpreter is released while one runs.

use crate::boundary::{detached, dict};
use crate::check::Check;
use crate::error::to_python;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sledsim_base::error::Error;
use sledsim_core::devices::mems::faults::{Code, OutOfSpares, TipFailures};

/// The arguments of the Python function.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TipFailureArguments {
    tips: u32,
    data_tips: u32,
    ecc_tips: u32,
    spare_tips: u32,
    failed_tips: u32,
    trials: u32,
    out_of_spares: String,
    seed: u64,
}

fn plan(given: &TipFailureArguments) -> Result<TipFailures, Error> {
    Ok(TipFailures {
        tips: given.tips,
        spares: given.spare_tips,
        code: Code { data: given.data_tips, ecc: given.ecc_tips, vertical: true },
        out_of_spares: match given.out_of_spares.as_str() {
            "tolerance" => OutOfSpares::Tolerance,
            "capacity" => OutOfSpares::Capacity,
            other => {
                return Err(Error::argument(
                    "out_of_spares",
                    format!("out_of_spares = '{other}': must be tolerance or capacity"),
                ));
            }
        },
        failed: given.failed_tips,
        trials: given.trials,
        seed: given.seed,
    })
}

/// Estimates losses by tip failures; returns the fields of the Python class besides its
/// keys.
#[pyfunction]
#[pyo3(signature = (given, progress))]
pub(crate) fn tip_failures<'py>(
    py: Python<'py>,
    given: TipFailureArguments,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let plan = plan(&given).map_err(to_python)?;
    let mut check = Check::new(progress.as_ref());
    let of = Some(u64::from(plan.trials));
    let result = detached(py, None, || {
        sledsim_core::devices::mems::faults::tip_failures(&plan, &mut |done| check.report(done, of))
    });
    match result {
        Ok(study) => Ok(dict!(
            py,
            study.{squares, data_share, loss_probability, lost_share, capacity_share};
            spare_tips: study.spares,
            spare_tips_left: study.spares_left,
        )),
        Err(error) => Err(check.exception(error)),
    }
}
