//! The names in the registries and lists of the core; Python keeps no lists of its own.

use crate::error::to_python;
use pyo3::prelude::*;
use sledsim_base::error::Error;
use sledsim_core::catalog;
use sledsim_core::compose::caches;
use sledsim_core::devices::mems::parallel::free_bandwidth::KINDS;
use sledsim_core::layouts::LAYOUTS;
use sledsim_core::queueing::schedulers;
use sledsim_core::workloads::{self, Workload};
use sledsim_experiments::scenario::SCENARIOS;
use sledsim_experiments::{formats, key_list};

/// The name of a device without the keys in parentheses behind it, and these with their
/// parentheses; empty if there are none.
#[pyfunction]
pub(crate) fn split_device_name(name: &str) -> (&str, String) {
    match catalog::split_name(name) {
        Some((base, keys)) => (base, format!("({keys})")),
        None => (name, String::new()),
    }
}

/// The names in the list `of`; a default comes first.
#[pyfunction]
pub(crate) fn names(of: &str) -> PyResult<Vec<&'static str>> {
    let shipped = |list: &[(&'static str, &str)]| list.iter().map(|(name, _)| *name).collect();
    Ok(match of {
        "background_tasks" => KINDS.names().collect(),
        "device_kinds" => catalog::Device::kinds().collect(),
        "layouts" => LAYOUTS.names().collect(),
        "policies" => caches::PolicySpec::names().collect(),
        "presets" => shipped(&catalog::PRESETS),
        "scenarios" => shipped(&SCENARIOS),
        "schedulers" => schedulers::SchedulerSpec::names().collect(),
        "trace_endings" => {
            let formats = formats::all().readers.iter();
            formats.flat_map(|format| format.endings).copied().collect()
        }
        "trace_formats" => formats::all().readers.names().collect(),
        "workload_presets" => shipped(&workloads::PRESETS),
        "workloads" => Workload::names(),
        _ => return Err(to_python(Error::Key(format!("no list of {of}")))),
    })
}

/// What has keys, with its keys, as JSON: all, or what has the name.
#[pyfunction]
#[pyo3(signature = (named = None))]
pub(crate) fn known_keys(named: Option<&str>) -> PyResult<String> {
    serde_json::to_string(&key_list::things(named))
        .map_err(|error| to_python(Error::System(error.to_string())))
}
