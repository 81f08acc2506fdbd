//! Replacement policies and hit ratios. The interpreter is released while a load is
//! counted.

use crate::boundary::{detached, dict, json_text};
use crate::check::Check;
use crate::error::to_python;
use crate::simulation::Load;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sledsim_base::error::Result;
use sledsim_core::compose::caches::{Cache as CoreCache, PolicySpec};
use sledsim_experiments::hits::HitsSpec;
use std::sync::{Mutex, PoisonError};

/// Counts the hits of each policy at each size; also returns the load as JSON.
#[pyfunction]
#[pyo3(signature = (load, segment_blocks, sizes_blocks, policies, device_blocks, progress))]
pub(crate) fn hit_ratios<'py>(
    py: Python<'py>,
    load: &Load,
    segment_blocks: u64,
    sizes_blocks: Vec<u64>,
    policies: Vec<String>,
    device_blocks: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<Bound<'py, PyDict>>, String)> {
    let policies = policies.iter().map(|label| PolicySpec::named(label));
    let spec = HitsSpec {
        segment_blocks,
        sizes_blocks,
        policies: policies.collect::<Result<_>>().map_err(to_python)?,
        device_blocks,
    };
    let mut check = Check::new(progress.as_ref());
    let load = &load.load;
    let counted = detached(py, load.file(), || {
        spec.count_with_facts(load, &mut |at| check.report(at.completed, at.expected()))
    });
    let (counted, facts) = counted.map_err(|error| check.exception(error))?;
    let hits: PyResult<_> = counted
        .iter()
        .map(|line| Ok(dict!(py, line.{requests, accesses, hits, read_accesses, read_hits})))
        .collect();
    Ok((hits?, json_text(&facts)))
}

/// A cache of keys.
#[derive(Debug)]
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Cache {
    cache: Mutex<CoreCache>,
    label: String,
}

impl Cache {
    fn with<T>(&self, work: impl FnOnce(&mut CoreCache) -> T) -> T {
        work(&mut self.cache.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl Cache {
    #[new]
    fn new(policy: &str, slots: u32) -> PyResult<Self> {
        let choice = PolicySpec::named(policy).map_err(to_python)?;
        Ok(Self {
            cache: Mutex::new(CoreCache::new(&choice, slots)),
            label: choice.label().to_owned(),
        })
    }

    #[getter]
    fn label(&self) -> &str {
        &self.label
    }

    fn access(&self, key: u64) -> bool {
        self.with(|cache| cache.access(key))
    }

    fn contains(&self, key: u64) -> bool {
        self.with(|cache| cache.contains(key))
    }

    fn __len__(&self) -> usize {
        self.with(|cache| cache.len() as usize)
    }
}
