//! Devices: specs, and access to their calculators.

use crate::arguments::overrides;
use crate::disk::Disk;
use crate::error::to_python;
use crate::sled::Sled;
use pyo3::prelude::*;
use sledsim_core::catalog;
use sledsim_core::devices::disk::seek;

/// A resolved device.
#[derive(Debug)]
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Device {
    pub(crate) device: catalog::Device,
    blocks: u64,
}

impl Device {
    pub(crate) fn new(device: catalog::Device) -> Self {
        let blocks = device.blocks();
        Self { device, blocks }
    }
}

#[pymethods]
impl Device {
    /// Resolves a preset name or a TOML file with overrides.
    #[new]
    fn resolve(name: &str, arguments: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let overrides = overrides(arguments)?;
        Ok(Self::new(
            catalog::Device::resolve(name, &overrides).map_err(to_python)?,
        ))
    }

    #[getter]
    fn name(&self) -> &str {
        self.device.name()
    }

    #[getter]
    fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The calculator of a sled; `None` for other devices and composites.
    fn sled(&self) -> Option<Sled> {
        self.device.mems().map(Sled::new)
    }

    /// The calculator of a disk; `None` for other devices and composites.
    fn disk(&self) -> Option<Disk> {
        self.device.disk().map(Disk::new)
    }

    /// Whether it consists of other devices.
    #[getter]
    fn is_composite(&self) -> bool {
        !self.device.children().is_empty()
    }

    /// The same device with requests batched by a time window.
    fn with_batch_window(&self, window_ms: f64, origin: &str) -> PyResult<Self> {
        let device = self.device.clone().with_batch_window(window_ms, origin);
        Ok(Self::new(device.map_err(to_python)?))
    }

    /// The resolved spec as JSON.
    fn show(&self) -> String {
        self.device.show().to_string()
    }
}

/// The non-decreasing times in ms with the least absolute deviations from `times_ms`.
#[pyfunction]
pub(crate) fn rising(times_ms: Vec<f64>) -> Vec<f64> {
    seek::rising(&times_ms)
}
