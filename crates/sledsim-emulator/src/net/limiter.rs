//! Limits the requests of a connection in flight.

use super::room::{LOOK, Room, Share};
use super::settings::Limits;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Counts the requests of a connection from when they are read until their replies are
/// passed to the system, and blocks their reader while there are too many.
#[derive(Debug)]
pub struct InFlightLimiter {
    limits: Limits,
    requests: AtomicUsize,
    pub(crate) share: Share,
    closed: AtomicBool,
    waiters: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

impl InFlightLimiter {
    /// Admits requests while there is room for the data of all connections, too.
    pub fn new(limits: Limits, room: &Arc<Room>) -> Self {
        Self {
            limits,
            requests: AtomicUsize::new(0),
            share: Share::new(room),
            closed: AtomicBool::new(false),
            waiters: AtomicUsize::new(0),
            lock: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Admits a request with `size` bytes in its answer, if there are fewer than the limits
    /// allow in flight, or none, and there is room for its bytes.
    pub fn try_enter(&self, size: u64) -> bool {
        let is_taken = self.is_within(size) && self.share.try_take(size);
        self.requests.fetch_add(usize::from(is_taken), SeqCst);
        is_taken
    }

    /// As [`InFlightLimiter::try_enter`], but waits until the request is admitted. Calls
    /// `release` before it waits. Returns false if the limiter was closed. Called by one thread
    /// only.
    pub(crate) fn enter(&self, size: u64, release: impl Fn()) -> bool {
        if self.try_enter(size) {
            return !self.closed.load(SeqCst);
        }
        release();
        let mut is_taken = false;
        while !is_taken && !self.closed.load(SeqCst) {
            // Others make room without waking this one.
            let is_within = self.wait(LOOK, || self.is_within(size));
            is_taken = is_within && self.share.try_take(size);
            self.share.wait(is_within && !is_taken);
            if is_within && !is_taken {
                thread::sleep(LOOK);
            }
        }
        self.share.wait(false);
        if !is_taken {
            self.share.take(size);
        }
        self.requests.fetch_add(1, SeqCst);
        !self.closed.load(SeqCst)
    }

    /// Whether [`InFlightLimiter::enter`] would admit a request without waiting.
    pub(crate) fn fits(&self, size: u64) -> bool {
        self.is_within(size) && self.share.has_room(size)
    }

    /// Whether one more request is within the limits of the connection itself.
    pub fn is_within(&self, size: u64) -> bool {
        let inside = self.requests.load(SeqCst);
        let bytes = self.share.bytes() + size;
        inside == 0 || (inside < self.limits.requests && bytes <= self.limits.bytes)
    }

    /// Releases a request admitted with `size` bytes.
    pub fn leave(&self, size: u64) {
        self.share.give_back(size);
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
        self.wait(patience, || self.requests.load(SeqCst) == 0)
    }

    /// Number of requests in flight.
    pub fn requests(&self) -> usize {
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

    fn wait(&self, patience: Duration, come: impl Fn() -> bool) -> bool {
        if come() {
            return true;
        }
        let end = Instant::now() + patience;
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiters.fetch_add(1, SeqCst);
        let done = loop {
            if come() || self.closed.load(SeqCst) {
                break true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break false;
            }
            let waited = self.changed.wait_timeout(guard, left);
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        self.waiters.fetch_sub(1, SeqCst);
        done
    }
}
