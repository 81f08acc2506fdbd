//! A client, as its connection and the server that may end it share it.

use rustix::fd::OwnedFd;
use sledsim_emulator::net::Client;
use sledsim_emulator::power_failure::HangUp;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

/// An accepted client.
pub struct Peer {
    /// Its number, unique in this server.
    pub(super) client: u32,
    socket: Mutex<Option<OwnedFd>>,
    /// Notified when it gives way to a new client.
    pub(super) gives_way: Notify,
}

impl Peer {
    pub(super) fn new(client: u32, socket: OwnedFd) -> Self {
        Self { client, socket: Mutex::new(Some(socket)), gives_way: Notify::new() }
    }

    /// Takes its socket, which it has once.
    pub(super) fn take_socket(&self) -> Option<OwnedFd> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl HangUp for Peer {
    fn hang_up(&self) {
        self.gives_way.notify_one();
    }
}

impl Client for Peer {
    /// Its connection ends by itself, see [`super::state::ServerState::stop`].
    fn finish(&self, _end: Instant) {}
}
