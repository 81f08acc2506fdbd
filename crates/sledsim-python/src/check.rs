//! Signals and progress during long calls of the core.

use crate::error::to_python;
use pyo3::prelude::*;
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use std::time::{Duration, Instant};

/// Interval of checks for signals and of progress reports.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// Calls back into Python from time to time: signals first, then progress.
pub(crate) struct Check<'a> {
    progress: Option<&'a Py<PyAny>>,
    last: Instant,
    /// The exception that Python raised, if any.
    raised: Option<PyErr>,
}

impl<'a> Check<'a> {
    pub(crate) fn new(progress: Option<&'a Py<PyAny>>) -> Self {
        Self { progress, last: Instant::now(), raised: None }
    }

    pub(crate) fn check(&mut self, progress: Progress) -> Result<()> {
        self.report(progress.completed, progress.requests)
    }

    /// Reports that `done` of `of` is done.
    pub(crate) fn report(&mut self, done: u64, of: Option<u64>) -> Result<()> {
        if self.last.elapsed() < CHECK_EVERY {
            return Ok(());
        }
        self.last = Instant::now();
        let called = Python::attach(|py| {
            py.check_signals()?;
            if let Some(callback) = self.progress {
                callback.call1(py, (done, of))?;
            }
            Ok(())
        });
        called.map_err(|raised| {
            self.raised = Some(raised);
            Error::Interrupted
        })
    }

    /// The exception of a failed call: the one Python raised, or the core's error.
    pub(crate) fn exception(self, error: Error) -> PyErr {
        self.raised.unwrap_or_else(|| to_python(error))
    }
}
