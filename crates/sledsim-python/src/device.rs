//! Devices: specs, and access to their calculators.

use crate::arguments::{keys, overrides, task};
use crate::boundary::{detached, json_text};
use crate::check::Check;
use crate::disk::Disk;
use crate::error::to_python;
use crate::layouts::Layout;
use crate::sled::Sled;
use pyo3::prelude::*;
use sledsim_base::error::Result;
use sledsim_base::progress::Progress;
use sledsim_core::catalog;
use sledsim_core::devices::disk::seek;
use sledsim_core::layouts::ResolvedLayout;
use sledsim_experiments::completed_keys::{device_from_toml, device_to_toml, device_with};
use sledsim_experiments::replay::TraceFiles;
use std::path::{Path, PathBuf};

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
        Ok(Self::new(catalog::Device::resolve(name, &overrides).map_err(to_python)?))
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

    /// The same device with the layout of these keys.
    fn with_layout(
        &self,
        py: Python<'_>,
        arguments: Vec<(String, Bound<'_, PyAny>)>,
        samples: PathBuf,
    ) -> PyResult<Self> {
        let keys = keys("layout", arguments)?;
        reading(py, &samples, |traces, check| {
            let laid = ResolvedLayout::read(keys, &mut self.device.site(traces, check))?;
            Ok(self.device.clone().with_layout(laid))
        })
    }

    /// Its layout, if it has one.
    fn layout(&self) -> Option<Layout> {
        let laid = self.device.layout()?.clone();
        Some(Layout::new(laid, self.blocks))
    }

    /// The same device with these background tasks, in place of its own.
    fn with_background(&self, tasks: Vec<Vec<(String, Bound<'_, PyAny>)>>) -> PyResult<Self> {
        let tasks = tasks.into_iter().map(task).collect::<PyResult<Vec<_>>>()?;
        let device = self.device.clone().with_background(&tasks);
        Ok(Self::new(device.map_err(to_python)?))
    }

    /// Text that is equal for equal devices, but for the content of the trace that
    /// the layout was read from.
    fn canonical(&self) -> String {
        self.device.canonical()
    }

    /// The trace that the layout was read from, if any.
    fn layout_trace(&self) -> Option<&str> {
        self.device.layout()?.trace()
    }

    /// Self-contained TOML, with the digest of the trace of the layout.
    fn to_toml(&self, sha256: Option<&str>) -> PyResult<String> {
        device_to_toml(&self.device, sha256).map_err(to_python)
    }

    /// The device of such TOML; the caller compares the content of the trace.
    #[staticmethod]
    fn from_toml(py: Python<'_>, text: &str, name: &str, samples: PathBuf) -> PyResult<Self> {
        reading(py, &samples, |traces, check| device_from_toml(name, text, traces, check))
    }

    /// The same device with overrides; its layout is read again.
    fn with_overrides(
        &self,
        py: Python<'_>,
        arguments: Vec<(String, Bound<'_, PyAny>)>,
        samples: PathBuf,
    ) -> PyResult<Self> {
        let overrides = overrides(arguments)?;
        reading(py, &samples, |traces, check| device_with(&self.device, &overrides, traces, check))
    }

    /// The resolved spec as JSON.
    fn show(&self) -> String {
        json_text(&self.device.show())
    }
}

/// The device that `read` makes, which may read a trace for its layout.
fn reading(
    py: Python<'_>,
    samples: &Path,
    read: impl FnOnce(
        &TraceFiles<'_>,
        &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<catalog::Device>
    + Send,
) -> PyResult<Device> {
    let mut check = Check::new(None);
    let traces = TraceFiles { beside: None, samples: Some(samples) };
    let made =
        detached(py, None, || read(&traces, &mut |at| check.report(at.completed, at.expected())));
    made.map(Device::new).map_err(|error| check.exception(error))
}

/// The non-decreasing times in ms with the least absolute deviations from `times_ms`.
#[pyfunction]
pub(crate) fn rising(times_ms: Vec<f64>) -> Vec<f64> {
    seek::rising(&times_ms)
}
