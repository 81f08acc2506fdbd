//! Recorded requests with their data, and what a device holds after a power cut.

use crate::boundary::detached;
use crate::emulator::Server;
use crate::error::{SledsimError, to_python};
use crate::rows::Rows;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sledsim_base::error::Error;
use sledsim_base::units::Nanos;
use sledsim_emulator::power_failure;
use sledsim_experiments::power_failure::requests_table;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The digest of an image, as `Cut.save` returns it.
#[pyfunction]
pub(crate) fn image_digest(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    detached(py, Some(&path), || power_failure::image_digest(&path)).map_err(to_python)
}

/// A recording of requests with their data.
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct DataRecording {
    recording: power_failure::DataRecording,
}

#[pymethods]
impl DataRecording {
    /// Opens the recording in a folder.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let loaded = detached(py, Some(&folder), || power_failure::DataRecording::load(&folder));
        Ok(Self { recording: loaded.map_err(to_python)? })
    }

    /// Its description as JSON.
    fn about(&self) -> String {
        self.recording.about().to_string()
    }

    /// The requests as a table.
    fn rows(&self) -> Rows {
        Rows::of(requests_table(&self.recording.history().epochs))
    }

    /// The device after power has failed at an instant, in ns.
    fn cut(&self, py: Python<'_>, at_ns: u64) -> PyResult<Cut> {
        let cut = detached(py, None, || self.recording.cut(Nanos(at_ns)));
        Ok(Cut { cut: Mutex::new(Some(cut.map_err(to_python)?)) })
    }
}

/// A device in which power has failed; once it is served, this has nothing more to say.
#[pyclass(frozen, module = "sledsim._core")]
pub(crate) struct Cut {
    cut: Mutex<Option<power_failure::Cut>>,
}

impl Cut {
    fn lock(&self) -> MutexGuard<'_, Option<power_failure::Cut>> {
        self.cut.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, act: impl FnOnce(&power_failure::Cut) -> T) -> PyResult<T> {
        let served = || SledsimError::new_err("the device of this cut is served already");
        self.lock().as_ref().map(act).ok_or_else(served)
    }
}

#[pymethods]
impl Cut {
    /// What became of the writes, as JSON.
    fn facts(&self) -> PyResult<String> {
        self.with(|cut| cut.facts().to_string())
    }

    /// The image as bytes, equal for equal images.
    fn runs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let runs = self.with(power_failure::Cut::runs)?;
        Ok(PyBytes::new(py, &runs))
    }

    /// Number of bytes of blocks that were ever written.
    fn changed_bytes(&self) -> PyResult<u64> {
        self.with(power_failure::Cut::changed_bytes)
    }

    /// Writes the image to a new file; returns its digest.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<String> {
        let saved = detached(py, Some(&path), || match &*self.lock() {
            Some(cut) => cut.save(&path),
            None => Err(Error::Key("the device of this cut is served already".to_owned())),
        });
        saved.map_err(to_python)
    }

    /// Serves the device, which is powered on now.
    fn serve(&self, py: Python<'_>, name: &str, speed: f64) -> PyResult<Server> {
        let served = detached(py, None, || match self.lock().take() {
            Some(cut) => sledsim_emulator::server::Server::start_after(cut, name, speed),
            None => Err(Error::Key("the device of this cut is served already".to_owned())),
        });
        Ok(Server::of(served.map_err(to_python)?))
    }
}
