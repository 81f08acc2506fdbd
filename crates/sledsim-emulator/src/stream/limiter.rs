//! Limits the requests of a connection in flight.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Counts the requests of a connection from when they are read until their replies are
/// passed to the system, and blocks their reader while there are too many.
#[derive(Debug, Default)]
pub(crate) struct InFlightLimiter {
    requests: AtomicUsize,
    bytes: AtomicU64,
    closed: AtomicBool,
    waiters: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

impl InFlightLimiter {
    /// Admits a request with `size` bytes in its answer; waits while there would be
    /// more than `requests` requests or `bytes` bytes in flight, unless it is the only
    /// one. Returns false if the limiter was closed. Called by one thread only.
    pub(crate) fn enter(&self, size: u64, requests: usize, bytes: u64) -> bool {
        self.wait(None, || self.fits(size, requests, bytes));
        self.requests.fetch_add(1, SeqCst);
        self.bytes.fetch_add(size, SeqCst);
        !self.closed.load(SeqCst)
    }

    /// Whether [`InFlightLimiter::enter`] would admit a request without waiting.
    pub(crate) fn fits(&self, size: u64, requests: usize, bytes: u64) -> bool {
        let inside = self.requests.load(SeqCst);
        inside == 0 || (inside < requests && self.bytes.load(SeqCst) + size <= bytes)
    }

    /// Releases a request admitted with `size` bytes.
    pub(crate) fn leave(&self, size: u64) {
        self.bytes.fetch_sub(size, SeqCst);
        self.requests.fetch_sub(1, SeqCst);
        self.wake_waiters();
    }

    /// Closes the limiter: no thread waits any more.
    pub(crate) fn close(&self) {
        self.closed.store(true, SeqCst);
        self.wake_waiters();
    }

    /// Waits at most `patience` until no request is in flight; returns whether that is
    /// so or the limiter was closed.
    pub(crate) fn idle(&self, patience: Duration) -> bool {
        self.wait(Some(patience), || self.requests.load(SeqCst) == 0)
    }

    /// Number of requests in flight.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(SeqCst)
    }

    fn wake_waiters(&self) {
        if self.waiters.load(SeqCst) > 0 {
            // A waiting thread checks its condition under the lock, so it is asleep by
            // now or will see the change.
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.changed.notify_all();
        }
    }

    fn wait(&self, patience: Option<Duration>, come: impl Fn() -> bool) -> bool {
        if come() {
            return true;
        }
        let end = patience.map(|patience| Instant::now() + patience);
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiters.fetch_add(1, SeqCst);
        let done = loop {
            if come() || self.closed.load(SeqCst) {
                break true;
            }
            guard = match end.map(|end| end.saturating_duration_since(Instant::now())) {
                None => (self.changed.wait(guard)).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => break false,
                Some(left) => {
                    let waited = self.changed.wait_timeout(guard, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        };
        self.waiters.fetch_sub(1, SeqCst);
        done
    }
}
