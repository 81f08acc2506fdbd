//! A connection, shared by its session and the server that may end it.

use super::limiter::InFlightLimiter;
use super::tls_proxy::TlsProxy;
use crate::power_failure::HangUp;
use rustix::fd::OwnedFd;
use rustix::net::{Shutdown, shutdown};
use rustls::ServerConfig;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A connection to a client.
pub struct Connection {
    /// Number of the client, unique in this server.
    pub(crate) client: u32,
    /// The requests in flight.
    pub(crate) limiter: Arc<InFlightLimiter>,
    /// How long its client may be silent in the middle of a message, or read nothing while
    /// others need the memory of its replies.
    pub(crate) patience: Duration,
    /// The socket with the client's bytes; with TLS, the decrypted ones.
    socket: Mutex<Arc<OwnedFd>>,
    tls_proxy: Mutex<Option<TlsProxy>>,
}

impl HangUp for Connection {
    fn hang_up(&self) {
        Self::hang_up(self);
    }
}

impl Connection {
    pub(crate) fn new(
        client: u32,
        socket: OwnedFd,
        limiter: InFlightLimiter,
        patience: Duration,
    ) -> Self {
        Self {
            client,
            limiter: Arc::new(limiter),
            patience,
            socket: Mutex::new(Arc::new(socket)),
            tls_proxy: Mutex::default(),
        }
    }

    pub(crate) fn socket(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.socket.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Starts TLS; returns the socket with the decrypted bytes.
    pub(crate) fn start_tls(&self, config: &Arc<ServerConfig>) -> io::Result<Arc<OwnedFd>> {
        let (proxy, plain) = TlsProxy::start(self.socket(), Arc::clone(config))?;
        let plain = Arc::new(plain);
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        *socket = Arc::clone(&plain);
        drop(socket);
        *self.tls_proxy.lock().unwrap_or_else(PoisonError::into_inner) = Some(proxy);
        Ok(plain)
    }

    /// Stops reading and sending; bytes already sent still arrive.
    pub(crate) fn hang_up(&self) {
        let _ = shutdown(&*self.socket(), Shutdown::Both);
    }

    /// Ends the connection; returns the error of TLS, if any.
    pub(crate) fn end(&self) -> Option<String> {
        self.hang_up();
        let mut proxy = self.tls_proxy.lock().unwrap_or_else(PoisonError::into_inner);
        proxy.take().and_then(TlsProxy::join)
    }
}
