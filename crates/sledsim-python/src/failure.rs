//! The first exception of objects written in Python that the core calls.

use crate::error::SledsimError;
use pyo3::prelude::*;
use sledsim_base::error::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The first exception of objects that share it; none of them is called after it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure(Arc<(AtomicBool, Mutex<Option<PyErr>>)>);

impl Failure {
    /// Whether there is one.
    pub(crate) fn is_some(&self) -> bool {
        self.0.0.load(Ordering::Acquire)
    }

    /// Raises the exception, if there is one; later another, as what was raised holds on to
    /// the frames that it went through, and with them to the cache.
    pub(crate) fn raised(&self) -> PyResult<()> {
        if !self.is_some() {
            return Ok(());
        }
        let kept = self.kept().take();
        Err(kept.unwrap_or_else(|| {
            SledsimError::new_err(
                "the policy of the cache failed at an earlier access: make a new one",
            )
        }))
    }

    /// An error of the core if there is an exception, which [`Failure::raised`] raises.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_some() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Keeps an exception, if it is the first.
    pub(crate) fn set(&self, error: PyErr) {
        if !self.is_some() {
            *self.kept() = Some(error);
            self.0.0.store(true, Ordering::Release);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.0.1.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
