//! Signals and progress while the core is at work.

use crate::error::to_python;
use pyo3::prelude::*;
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use std::time::{Duration, Instant};

/// How often a run looks for signals and reports progress.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// Calls back into Python now and then: signals first, then progress.
pub(crate) struct Check<'a> {
    progress: Option<&'a Py<PyAny>>,
    last: Instant,
    /// What Python raised, if it did.
    raised: Option<PyErr>,
}

impl<'a> Check<'a> {
    pub(crate) fn new(progress: Option<&'a Py<PyAny>>) -> Self {
        Self {
            progress,
            last: Instant::now(),
            raised: None,
        }
    }

    pub(crate) fn check(&mut self, progress: Progress) -> Result<()> {
        self.report(progress.completed, progress.requests)
    }

    /// So much is done, of so much.
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

    /// The exception of a failed call: what Python raised, or the core's.
    pub(crate) fn exception(self, error: Error) -> PyErr {
        self.raised.unwrap_or_else(|| to_python(error))
    }
}
