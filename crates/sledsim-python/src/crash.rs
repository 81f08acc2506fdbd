//! Crash tests. The interpreter is released while one runs.

use crate::boundary::detached;
use crate::device::Device;
use crate::error::to_python;
use crate::simulation::{Check, Load};
use pyo3::prelude::*;
use sledsim_base::error::Error;
use sledsim_core::model::contents::Promise;
use sledsim_core::queueing::schedulers::Choice;
use sledsim_run::crash;
use sledsim_run::crash::Plan;

/// What may be said of a plan: points, seed, `requests_between`, promise, shares
/// of `fua`, flushes and failures during recovery.
type Said = (
    u64,
    u64,
    Option<u64>,
    Option<String>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
);

fn plan(said: Said) -> Result<Plan, Error> {
    let (points, seed, requests_between, promise, fua, flush, in_recovery) = said;
    let default = Plan::default();
    let known = [Promise::Completion, Promise::Flush];
    let promise = match promise {
        None => None,
        Some(name) => {
            let named = known.into_iter().find(|promise| promise.name() == name);
            let wrong = || {
                let known = known.map(Promise::name).join(" or ");
                Error::Key(format!("promise = '{name}': must be {known}"))
            };
            Some(named.ok_or_else(wrong)?)
        }
    };
    Ok(Plan {
        points,
        seed,
        requests_between,
        promise,
        fua: fua.unwrap_or(default.fua),
        flush: flush.unwrap_or(default.flush),
        in_recovery: in_recovery.unwrap_or(default.in_recovery),
        ..default
    })
}

/// Crashes a device under a load: the results, as JSON.
#[pyfunction]
#[pyo3(signature = (device, load, scheduler, said, progress))]
pub(crate) fn crash_test(
    py: Python<'_>,
    device: &Device,
    load: &Load,
    scheduler: &str,
    said: Said,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let scheduler = Choice::named(scheduler).map_err(to_python)?;
    let plan = plan(said).map_err(to_python)?;
    let mut check = Check::new(progress.as_ref());
    let (device, load) = (&device.device, &load.load);
    let result = detached(py, load.file(), || {
        crash::test(device, load, &scheduler, &plan, &mut |at| {
            check.report(at.completed, at.requests)
        })
    });
    match result {
        Ok(report) => Ok(crash::document(device, &scheduler, &plan, &report).to_string()),
        Err(error) => Err(check.exception(error)),
    }
}
