//! Replacement policies and hit ratios. The interpreter is released while a load is
//! counted.

use crate::boundary::{detached, dict, json_text};
use crate::check::Check;
use crate::error::{SledsimError, to_python};
use crate::failure::Failure;
use crate::policies::GivenPolicy;
use crate::simulation::Load;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sledsim_base::error::{Error, Result};
use sledsim_core::compose::caches::Cache as CoreCache;
use sledsim_experiments::hits::HitsSpec;
use std::sync::{Mutex, TryLockError};

/// Counts the hits of each policy at each size; also returns the load as JSON.
#[pyfunction]
#[pyo3(signature = (load, segment_blocks, sizes_blocks, policies, device_blocks, progress))]
pub(crate) fn hit_ratios<'py>(
    py: Python<'py>,
    load: &Load,
    segment_blocks: u64,
    sizes_blocks: Vec<u64>,
    policies: Vec<GivenPolicy>,
    device_blocks: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<Bound<'py, PyDict>>, String)> {
    let failure = Failure::default();
    let policies = policies.iter().map(|policy| policy.of_hits(&failure));
    let spec = HitsSpec {
        segment_blocks,
        sizes_blocks,
        policies: policies.collect::<Result<_>>().map_err(to_python)?,
        device_blocks,
    };
    let mut check = Check::new(progress.as_ref());
    let load = &load.load;
    let counted = detached(py, load.file(), || {
        spec.count_with_facts(load, &mut |at| match failure.is_some() {
            true => Err(Error::Interrupted),
            false => check.report(at.completed, at.expected()),
        })
    });
    failure.raised()?;
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
    failure: Failure,
    label: String,
}

impl Cache {
    /// Does not wait: what holds the cache may be waiting for the interpreter, in a method of
    /// its policy.
    fn with<T>(&self, work: impl FnOnce(&mut CoreCache) -> T) -> PyResult<T> {
        match self.cache.try_lock() {
            Ok(mut cache) => Ok(work(&mut cache)),
            Err(TryLockError::Poisoned(error)) => Ok(work(&mut error.into_inner())),
            Err(TryLockError::WouldBlock) => Err(SledsimError::new_err(
                "the cache is in use: a method of its policy, or another thread, must not use it",
            )),
        }
    }
}

#[pymethods]
impl Cache {
    #[new]
    fn new(policy: GivenPolicy, slots: u32) -> PyResult<Self> {
        let failure = Failure::default();
        let choice = policy.spec(&failure).map_err(to_python)?;
        let cache = CoreCache::new(&choice, slots);
        failure.raised()?;
        Ok(Self { cache: Mutex::new(cache), failure, label: choice.label().to_owned() })
    }

    #[getter]
    fn label(&self) -> &str {
        &self.label
    }

    fn access(&self, key: u64) -> PyResult<bool> {
        let hit = self.with(|cache| !self.failure.is_some() && cache.access(key))?;
        self.failure.raised()?;
        Ok(hit)
    }

    fn contains(&self, key: u64) -> PyResult<bool> {
        self.with(|cache| cache.contains(key))
    }

    fn __len__(&self) -> PyResult<usize> {
        self.with(|cache| cache.len() as usize)
    }
}
