//! A connection, shared by its session and the server that may end it.

use super::limiter::InFlightLimiter;
use super::server::{Client, Shared};
use super::settings::Limits;
use super::socket::Socket;
use crate::power_failure::HangUp;
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A connection to a client of a block protocol.
pub struct Connection {
    /// Number of the client, unique in this server.
    pub(crate) client: u32,
    /// The requests in flight.
    pub(crate) limiter: Arc<InFlightLimiter>,
    /// How long its client may be silent in the middle of a message, or read nothing while
    /// others need the memory of its replies.
    pub(super) patience: Duration,
    /// How long it polls for its next request before it sleeps.
    pub(super) busy_poll: Duration,
    pub(crate) socket: Arc<Socket>,
}

impl HangUp for Connection {
    fn hang_up(&self) {
        self.socket.close();
    }
}

impl Client for Connection {
    fn finish(&self, end: Instant) {
        let _ = self.limiter.idle(end.saturating_duration_since(Instant::now()));
        self.limiter.close();
        self.socket.close();
    }
}

impl Connection {
    /// That of a client at the other end of `socket`.
    pub(crate) fn new(client: u32, socket: OwnedFd, shared: &Shared<Self>, limits: Limits) -> Self {
        Self {
            client,
            limiter: Arc::new(InFlightLimiter::new(limits, &shared.room)),
            patience: shared.admission.patience,
            busy_poll: limits.busy_poll,
            socket: Arc::new(Socket::new(socket)),
        }
    }
}
