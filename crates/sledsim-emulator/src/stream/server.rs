//! A server of clients at stream sockets: accepts them and ends their connections.

use super::client_error::{self, ClientErrorKind};
use super::connection::Connection;
use super::limiter::InFlightLimiter;
use crate::front_end::FrontEnd;
use crate::listen::{
    Address, Admission, ClientErrorStats, GAVE_WAY, GaveWay, Listener, Listening, Places, Room,
};
use rustix::fd::OwnedFd;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The state that the connections of any server share.
pub struct Shared {
    admission: Admission,
    pub(crate) client_errors: ClientErrorStats,
    pub(crate) places: Places<Arc<Connection>>,
    room: Arc<Room>,
    stopping: AtomicBool,
}

impl Shared {
    /// The state of a server that admits these clients.
    pub(crate) fn new(admission: &Admission) -> Self {
        Self {
            admission: admission.clone(),
            client_errors: client_error::none(),
            places: Places::new(admission),
            room: Arc::default(),
            stopping: AtomicBool::new(false),
        }
    }

    /// A connection of a client at the other end of `socket`.
    pub(crate) fn connection(&self, client: u32, socket: OwnedFd) -> Connection {
        let limiter = InFlightLimiter::new(&self.room);
        Connection::new(client, socket, limiter, self.admission.patience)
    }

    /// Whether the server accepts no more requests.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Records a client error, unless the server itself ends the connections.
    pub(crate) fn note(&self, kind: ClientErrorKind, client: u32, what: &str) {
        if !self.is_stopping() {
            kind.note(&self.client_errors, client, what);
        }
    }
}

/// A protocol: what a server does with its connections.
pub trait Protocol: Send + Sync + 'static {
    /// The kind of the front end in its status.
    const KIND: &'static str;

    /// The state that its connections share.
    fn shared(&self) -> &Shared;

    /// Serves a connection until it ends.
    fn serve(&self, connection: &Arc<Connection>);
}

/// Removes a connection from the open ones on drop.
struct ConnectionGuard<P: Protocol> {
    protocol: Arc<P>,
    connection: Arc<Connection>,
}

impl<P: Protocol> Drop for ConnectionGuard<P> {
    fn drop(&mut self) {
        let places = &self.protocol.shared().places;
        places.leave(self.connection.client);
    }
}

/// Serves clients at one address.
pub struct StreamServer<P: Protocol> {
    protocol: Arc<P>,
    accepted: Arc<AtomicU32>,
    uri: String,
    listener: Mutex<Option<Listener>>,
}

impl<P: Protocol> StreamServer<P> {
    /// Listens at `address`; `uri` names the place for clients.
    ///
    /// # Errors
    /// An address that is unavailable or unprotected.
    pub(crate) fn listen(
        address: &Address,
        protocol: P,
        uri: impl FnOnce(&Address) -> String,
    ) -> Result<Self> {
        let protocol = Arc::new(protocol);
        let listening = Listening::at(address, &protocol.shared().admission)?;
        let accepted = Arc::<AtomicU32>::default();
        let handler =
            AcceptHandler { protocol: Arc::clone(&protocol), accepted: Arc::clone(&accepted) };
        let uri = uri(&listening.place);
        let on_accept = Box::new(move |client| handler.on_accept(client));
        let listener = Listener::open(listening, &format!("sledsim-{}", P::KIND), on_accept)
            .map_err(|error| Error::System(format!("address '{address}': {error}")))?;
        Ok(Self { protocol, accepted, uri, listener: Mutex::new(Some(listener)) })
    }

    /// URI for clients.
    pub fn uri(&self) -> String {
        self.uri.clone()
    }

    /// Number of connected clients.
    pub fn clients(&self) -> usize {
        self.protocol.shared().places.count()
    }

    /// Its state: `kind`, `uri`, connected `clients`, `accepted` connections, and
    /// client errors as `troubles`.
    pub fn to_json(&self) -> Value {
        json!({
            "kind": P::KIND,
            "uri": self.uri,
            "clients": self.clients(),
            "accepted": self.accepted.load(Ordering::Relaxed),
            "troubles": self.protocol.shared().client_errors.to_json(),
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
        self.protocol.shared().stopping.store(true, Ordering::SeqCst);
        let sessions = listener.close();
        let end = Instant::now() + grace;
        for connection in self.protocol.shared().places.handles() {
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

impl<P: Protocol> FrontEnd for StreamServer<P> {
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

impl<P: Protocol> Drop for StreamServer<P> {
    /// Ends all connections without waiting for requests in flight.
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}

/// Serves accepted clients.
struct AcceptHandler<P> {
    protocol: Arc<P>,
    accepted: Arc<AtomicU32>,
}

impl<P: Protocol> AcceptHandler<P> {
    fn on_accept(&self, socket: io::Result<OwnedFd>) -> Option<JoinHandle<()>> {
        let shared = self.protocol.shared();
        let client_errors = &shared.client_errors;
        let socket = match socket {
            Ok(socket) => socket,
            Err(error) => {
                ClientErrorKind::Accept.note(client_errors, 0, &error.to_string());
                return None;
            }
        };
        let client = self.accepted.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(shared.connection(client, socket));
        match shared.places.take(client, Arc::clone(&connection)) {
            Ok(None) => {}
            Ok(Some(GaveWay { client, handle })) => {
                ClientErrorKind::TooMany.note(client_errors, client, GAVE_WAY);
                handle.hang_up();
            }
            Err(why) => {
                ClientErrorKind::TooMany.note(client_errors, client, &why);
                return None;
            }
        }
        let protocol = Arc::clone(&self.protocol);
        let guard = ConnectionGuard { protocol: Arc::clone(&self.protocol), connection };
        let thread = thread::Builder::new().name(format!("sledsim-{}", P::KIND));
        match thread.spawn(move || protocol.serve(&guard.connection)) {
            Ok(session) => Some(session),
            Err(error) => {
                let why = format!("no thread: {error}");
                ClientErrorKind::Accept.note(client_errors, client, &why);
                None
            }
        }
    }
}
