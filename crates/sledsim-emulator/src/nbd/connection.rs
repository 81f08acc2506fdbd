//! A connection, as those see it who may want to end it.

use super::limiter::InFlightLimiter;
use super::tls_proxy::TlsProxy;
use rustix::fd::OwnedFd;
use rustix::net::{Shutdown, shutdown};
use rustls::ServerConfig;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// A connection to a client.
pub(super) struct Connection {
    /// A number no other connection of this server has.
    pub(super) client: u32,
    /// What is under way.
    pub(super) limiter: Arc<InFlightLimiter>,
    /// What the client's bytes come from; with TLS, behind it.
    socket: Mutex<Arc<OwnedFd>>,
    shuttle: Mutex<Option<TlsProxy>>,
}

impl Connection {
    pub(super) fn new(client: u32, socket: OwnedFd) -> Self {
        Self {
            client,
            limiter: Arc::default(),
            socket: Mutex::new(Arc::new(socket)),
            shuttle: Mutex::default(),
        }
    }

    pub(super) fn socket(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.socket.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on the client speaks TLS; what it says comes from the socket
    /// that this returns.
    pub(super) fn start_tls(&self, config: &Arc<ServerConfig>) -> io::Result<Arc<OwnedFd>> {
        let (shuttle, plain) = TlsProxy::start(self.socket(), Arc::clone(config))?;
        let plain = Arc::new(plain);
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        *socket = Arc::clone(&plain);
        drop(socket);
        *self.shuttle.lock().unwrap_or_else(PoisonError::into_inner) = Some(shuttle);
        Ok(plain)
    }

    /// Neither reads nor sends any more; what was sent still arrives.
    pub(super) fn hang_up(&self) {
        let _ = shutdown(&*self.socket(), Shutdown::Both);
    }

    /// Ends the connection; why TLS failed, if it did.
    pub(super) fn end(&self) -> Option<String> {
        self.hang_up();
        let mut shuttle = self.shuttle.lock().unwrap_or_else(PoisonError::into_inner);
        shuttle.take().and_then(TlsProxy::join)
    }
}
