//! How much of a connection is under way.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Counts the requests of a connection from when they are read until their
/// replies are with the system, and keeps their reader waiting while there are
/// too many.
#[derive(Debug, Default)]
pub(super) struct InFlightLimiter {
    requests: AtomicUsize,
    bytes: AtomicU64,
    closed: AtomicBool,
    waiters: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

impl InFlightLimiter {
    /// Lets a request with so many bytes in its answer in; waits while it would
    /// be one of more than `requests`, or its bytes of more than `bytes`, unless
    /// it is the only one. False if the gate was closed. One thread calls this.
    pub(super) fn enter(&self, size: u64, requests: usize, bytes: u64) -> bool {
        let fits = || {
            let inside = self.requests.load(SeqCst);
            inside == 0 || (inside < requests && self.bytes.load(SeqCst) + size <= bytes)
        };
        self.wait(None, fits);
        self.requests.fetch_add(1, SeqCst);
        self.bytes.fetch_add(size, SeqCst);
        !self.closed.load(SeqCst)
    }

    /// A request that entered with so many bytes is done with.
    pub(super) fn leave(&self, size: u64) {
        self.bytes.fetch_sub(size, SeqCst);
        self.requests.fetch_sub(1, SeqCst);
        self.tell();
    }

    /// Lets nobody wait any more.
    pub(super) fn close(&self) {
        self.closed.store(true, SeqCst);
        self.tell();
    }

    /// Waits until nothing is under way, at most `patience`; whether that is so,
    /// or the gate was closed.
    pub(super) fn idle(&self, patience: Duration) -> bool {
        self.wait(Some(patience), || self.requests.load(SeqCst) == 0)
    }

    /// How many requests are under way.
    pub(super) fn requests(&self) -> usize {
        self.requests.load(SeqCst)
    }

    fn tell(&self) {
        if self.waiters.load(SeqCst) > 0 {
            // Who waits has looked, and sleeps; or looks once we have let go.
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
