//! The flushes of a store: after one has failed, none succeeds.

use super::Store;
use crate::errno::{Errno, errno_of};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Flushes a store, and remembers a failure.
///
/// A system that cannot write data back says so once, to one flush, and may
/// then take those data for written (fsync(2), "Notes"). So a success after a
/// failure says nothing of what was written before. From the first failure on
/// every flush fails, until the store is opened anew.
pub struct Flushes {
    store: Arc<dyn Store>,
    /// One at a time: no flush that runs beside a failing one may succeed.
    running: Mutex<()>,
    failed: OnceLock<String>,
}

impl Flushes {
    /// Of `store`, to which no other flush may go.
    #[must_use]
    pub fn of(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            running: Mutex::default(),
            failed: OnceLock::new(),
        }
    }

    /// Makes what was written survive a crash of the machine.
    ///
    /// # Errors
    /// The first time what the store says, then always `EIO`.
    pub fn flush(&self) -> Result<(), Errno> {
        let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if self.failed.get().is_some() {
            return Err(Errno::IO);
        }
        self.store.flush().map_err(|error| {
            let _ = self.failed.set(error.to_string());
            errno_of(&error)
        })
    }

    /// What the store said when it failed, if it has.
    #[must_use]
    pub fn failed(&self) -> Option<&str> {
        self.failed.get().map(String::as_str)
    }
}
