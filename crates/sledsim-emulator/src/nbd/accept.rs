//! The NBD server: accepts clients and ends their connections.

use super::Settings;
use super::client_error::ClientErrorKind;
use super::connection::Connection;
use super::session::{self, ServerState};
use super::uri::uri;
use crate::front_end::{Exports, FrontEnd};
use crate::listen::{Address, Listener, Listening};
use rustix::fd::OwnedFd;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The open connections.
#[derive(Default)]
struct Clients {
    here: Mutex<BTreeMap<u32, Arc<Connection>>>,
    accepted: AtomicU32,
}

impl Clients {
    fn here(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<Connection>>> {
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a connection from the open ones on drop.
struct ConnectionGuard {
    clients: Arc<Clients>,
    connection: Arc<Connection>,
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.clients.here().remove(&self.connection.client);
    }
}

/// Serves exports at one address.
pub struct NbdServer {
    shared: Arc<ServerState>,
    clients: Arc<Clients>,
    uri: String,
    listener: Mutex<Option<Listener>>,
}

impl NbdServer {
    /// Listens at `address` and serves `exports`.
    ///
    /// # Errors
    /// An address that is unavailable or that `settings` do not protect; certificates
    /// that cannot be used.
    pub fn start(address: &Address, exports: Arc<Exports>, settings: &Settings) -> Result<Self> {
        let shared = Arc::new(ServerState::new(exports, settings)?);
        let listening = Listening::at(address, &settings.admission)?;
        let clients = Arc::new(Clients::default());
        let handler = AcceptHandler {
            shared: Arc::clone(&shared),
            clients: Arc::clone(&clients),
        };
        let uri = uri(&listening.place, settings.admission.tls.is_some());
        let on_accept = Box::new(move |client| handler.on_accept(client));
        let listener = Listener::open(listening, "sledsim-nbd-acc", on_accept)
            .map_err(|error| Error::System(format!("address '{address}': {error}")))?;
        Ok(Self {
            shared,
            clients,
            uri,
            listener: Mutex::new(Some(listener)),
        })
    }

    /// URI for clients, as `nbd://HOST:PORT` or the like; the name of an export can be
    /// appended to the path.
    #[must_use]
    pub fn uri(&self) -> String {
        self.uri.clone()
    }

    /// Number of connected clients.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.clients.here().len()
    }

    /// Its state: `kind`, `uri`, connected `clients`, `accepted` connections, and
    /// client errors as `troubles`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "kind": "nbd",
            "uri": self.uri,
            "clients": self.clients(),
            "accepted": self.clients.accepted.load(Ordering::Relaxed),
            "troubles": self.shared.client_errors.to_json(),
        })
    }

    /// Accepts no more clients and refuses new requests; waits at most `grace` until
    /// requests in flight are answered; then ends all connections. A second call does
    /// nothing.
    pub fn stop(&self, grace: Duration) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(listener) = listener.take() else {
            return;
        };
        self.shared.stopping.store(true, Ordering::SeqCst);
        let sessions = listener.close();
        let end = Instant::now() + grace;
        let here: Vec<_> = self.clients.here().values().cloned().collect();
        for connection in here {
            let left = end.saturating_duration_since(Instant::now());
            let _ = connection.limiter.idle(left);
            connection.limiter.close();
            connection.hang_up();
        }
        for session in sessions {
            let _ = session.join();
        }
    }
}

impl FrontEnd for NbdServer {
    fn to_json(&self) -> Value {
        Self::to_json(self)
    }

    fn is_alive(&self) -> bool {
        true
    }

    fn stop(&mut self, grace: Duration) {
        Self::stop(self, grace);
    }
}

impl Drop for NbdServer {
    /// Ends all connections without waiting for requests in flight.
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}

/// Serves accepted clients.
struct AcceptHandler {
    shared: Arc<ServerState>,
    clients: Arc<Clients>,
}

impl AcceptHandler {
    fn on_accept(&self, socket: io::Result<OwnedFd>) -> Option<JoinHandle<()>> {
        let client_errors = &self.shared.client_errors;
        let socket = match socket {
            Ok(socket) => socket,
            Err(error) => {
                ClientErrorKind::Accept.note(client_errors, 0, &error.to_string());
                return None;
            }
        };
        let client = self.clients.accepted.fetch_add(1, Ordering::Relaxed);
        let mut here = self.clients.here();
        if let Some(why) = self.shared.settings.admission.refusal(here.len()) {
            ClientErrorKind::TooMany.note(client_errors, client, &why);
            return None;
        }
        let connection = Arc::new(Connection::new(client, socket));
        here.insert(client, Arc::clone(&connection));
        drop(here);
        let shared = Arc::clone(&self.shared);
        let guard = ConnectionGuard {
            clients: Arc::clone(&self.clients),
            connection,
        };
        let thread = thread::Builder::new().name("sledsim-nbd".into());
        match thread.spawn(move || session::run(&shared, &guard.connection)) {
            Ok(session) => Some(session),
            Err(error) => {
                let why = format!("no thread: {error}");
                ClientErrorKind::Accept.note(client_errors, client, &why);
                None
            }
        }
    }
}
