//! The flushes of a store: after one has failed, all later ones fail.

use super::Store;
use crate::errno::{Errno, errno_of};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Flushes a store and remembers a failure.
///
/// A system that cannot write data back reports this once, to one flush, and may then
/// consider those data written (fsync(2), "Notes"). So a success after a failure proves
/// nothing about earlier writes. After the first failure every flush fails, until the
/// store is reopened.
pub struct Flushes {
    store: Arc<dyn Store>,
    /// One flush at a time: none that runs beside a failing one may succeed.
    running: Mutex<()>,
    failed: OnceLock<String>,
}

impl Flushes {
    /// Wraps `store`, which must not be flushed otherwise.
    pub fn of(store: Arc<dyn Store>) -> Self {
        Self { store, running: Mutex::default(), failed: OnceLock::new() }
    }

    /// Makes written data survive a crash of the machine.
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

    /// The error of the failed flush, if any.
    pub fn failed(&self) -> Option<&str> {
        self.failed.get().map(String::as_str)
    }
}
