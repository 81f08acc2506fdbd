//! Crash tests. The interpreter is released while one runs.

use crate::boundary::{detached, json_text};
use crate::check::Check;
use crate::device::Device;
use crate::error::to_python;
use crate::simulation::Load;
use pyo3::prelude::*;
use sledsim_base::error::Error;
use sledsim_core::model::contents::Promise;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::crash;
use sledsim_experiments::crash::Plan;

/// Arguments of a crash test; `None` is the default.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CrashArguments {
    points: u64,
    seed: u64,
    promise: Option<String>,
    requests_between: Option<u64>,
    fua: Option<f64>,
    flush: Option<f64>,
    in_recovery: Option<f64>,
}

fn plan(given: CrashArguments) -> Result<Plan, Error> {
    let default = Plan::default();
    let known = [Promise::Completion, Promise::Flush];
    let promise = match given.promise {
        None => None,
        Some(name) => {
            let named = known.into_iter().find(|promise| promise.name() == name);
            let wrong = || {
                let known = known.map(Promise::name).join(" or ");
                Error::argument("promise", format!("promise = '{name}': must be {known}"))
            };
            Some(named.ok_or_else(wrong)?)
        }
    };
    Ok(Plan {
        points: given.points,
        seed: given.seed,
        requests_between: given.requests_between,
        promise,
        fua: given.fua.unwrap_or(default.fua),
        flush: given.flush.unwrap_or(default.flush),
        in_recovery: given.in_recovery.unwrap_or(default.in_recovery),
        ..default
    })
}

/// Runs a crash test of a device under a load; returns the results as JSON.
#[pyfunction]
#[pyo3(signature = (device, load, scheduler, given, progress))]
pub(crate) fn crash_test(
    py: Python<'_>,
    device: &Device,
    load: &Load,
    scheduler: &str,
    given: CrashArguments,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let scheduler = SchedulerSpec::named(scheduler).map_err(to_python)?;
    let plan = plan(given).map_err(to_python)?;
    let mut check = Check::new(progress.as_ref());
    let (device, load) = (&device.device, &load.load);
    let result = detached(py, load.file(), || {
        crash::test(device, load, &scheduler, &plan, &mut |at| {
            check.report(at.completed, at.requests)
        })
    });
    match result {
        Ok(report) => Ok(json_text(&crash::document(device, &scheduler, &plan, &report))),
        Err(error) => Err(check.exception(error)),
    }
}
