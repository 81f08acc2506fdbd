//! Settings of a server of clients at stream sockets.

use super::Admission;
use std::time::Duration;

/// Which clients may connect, and how much a server does for each of them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which clients may connect.
    pub admission: Admission,
    /// The most unanswered requests of a connection; no more are admitted.
    pub max_outstanding: usize,
    /// The most bytes in their answers, except for a single larger one. An iSCSI target
    /// also asks an initiator for at most this many bytes at once.
    pub max_outstanding_bytes: u64,
    /// How long a connection polls for its next request before it sleeps.
    pub busy_poll: Duration,
}

/// How much a server does for a connection.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most unanswered requests.
    pub requests: usize,
    /// The most bytes in their answers, except for a single larger one.
    pub bytes: u64,
    /// How long it polls for its next request before it sleeps.
    pub busy_poll: Duration,
}

impl Settings {
    /// The limits of a connection.
    pub fn limits(&self) -> Limits {
        Limits {
            requests: self.max_outstanding,
            bytes: self.max_outstanding_bytes,
            busy_poll: self.busy_poll,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            admission: Admission::default(),
            max_outstanding: 128,
            max_outstanding_bytes: 64 << 20,
            busy_poll: Duration::ZERO,
        }
    }
}
