//! Studies of tip failures. The interpreter is released while one runs.

use crate::boundary::detached;
use crate::error::to_python;
use crate::simulation::Check;
use pyo3::prelude::*;
use sledsim_base::error::Error;
use sledsim_core::devices::mems::faults::{Code, OutOfSpares, Study, TipFailures};

/// Tips, data tips, ECC tips, spare tips, failed tips and trials, and the seed.
type Said = ((u32, u32, u32, u32, u32, u32), u64);

/// Squares, spare tips and the share of data of a new device.
type New = (u32, u32, f64);

/// Probability of a loss, share lost, capacity and spare tips left.
type Curves = (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>);

fn plan(said: Said, out_of_spares: &str) -> Result<TipFailures, Error> {
    let ((tips, data, ecc, spares, failed, trials), seed) = said;
    Ok(TipFailures {
        tips,
        spares,
        code: Code {
            data,
            ecc,
            vertical: true,
        },
        out_of_spares: match out_of_spares {
            "tolerance" => OutOfSpares::Tolerance,
            "capacity" => OutOfSpares::Capacity,
            other => {
                return Err(Error::Key(format!(
                    "out_of_spares = '{other}': must be tolerance or capacity"
                )));
            }
        },
        failed,
        trials,
        seed,
    })
}

/// Lets tips fail in many devices.
#[pyfunction]
#[pyo3(signature = (said, out_of_spares, progress))]
pub(crate) fn tip_failures(
    py: Python<'_>,
    said: Said,
    out_of_spares: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(New, Curves)> {
    let plan = plan(said, out_of_spares).map_err(to_python)?;
    let mut check = Check::new(progress.as_ref());
    let of = Some(u64::from(plan.trials));
    let result = detached(py, None, || {
        sledsim_core::devices::mems::faults::tip_failures(&plan, &mut |done| check.report(done, of))
    });
    match result {
        Ok(Study {
            squares,
            spares,
            data_share,
            loss_probability,
            lost_share,
            capacity_share,
            spares_left,
        }) => Ok((
            (squares, spares, data_share),
            (loss_probability, lost_share, capacity_share, spares_left),
        )),
        Err(error) => Err(check.exception(error)),
    }
}
