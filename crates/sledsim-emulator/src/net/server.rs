//! A server of clients at sockets: accepts them and ends their connections.
//!
//! The life of a connection: the thread of the [`Listener`] accepts it, [`Places`] has room for
//! it or makes another one give way, and a thread of its own serves it by its [`Protocol`] until
//! it ends, or until [`NetServer::stop`] ends it.

use super::client_errors::{ClientErrorKind, ClientErrorStats};
use super::listener::Listener;
use super::listening::Listening;
use super::places::{GAVE_WAY, GaveWay, Places};
use super::room::Room;
use super::{Address, Admission};
use crate::front_end::FrontEnd;
use crate::power_failure::HangUp;
use rustix::fd::OwnedFd;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use std::fmt::Display;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What a server asks of a connection.
pub trait Client: HangUp + 'static {
    /// Waits until `end` at most for its requests in flight, and ends it. The server begins no
    /// more requests.
    fn finish(&self, end: Instant);
}

/// The state that the connections of a server share.
pub struct Shared<C> {
    /// Which clients may connect.
    pub admission: Admission,
    /// Errors of clients.
    pub client_errors: ClientErrorStats,
    /// The connected clients.
    pub places: Places<Arc<C>>,
    /// Memory for the data of all connections.
    pub room: Arc<Room>,
    accepted: AtomicU32,
    stopping: AtomicBool,
}

impl<C> Shared<C> {
    /// The state of a server that admits these clients and counts these errors.
    pub fn new(admission: &Admission, kinds: &[ClientErrorKind]) -> Self {
        Self {
            admission: admission.clone(),
            client_errors: ClientErrorStats::new(kinds),
            places: Places::new(admission),
            room: Arc::default(),
            accepted: AtomicU32::new(0),
            stopping: AtomicBool::new(false),
        }
    }

    /// Whether the server accepts no more requests.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Records a client error, unless the server itself ends the connections.
    pub fn note(&self, kind: ClientErrorKind, client: u32, what: &str) {
        if !self.is_stopping() {
            self.client_errors.note(client, kind, what);
        }
    }
}

/// A protocol: what a server does with its connections.
pub trait Protocol: Send + Sync + 'static {
    /// The kind of the front end in its status.
    const KIND: &'static str;

    /// A connection.
    type Connection: Client;

    /// The state that its connections share.
    fn shared(&self) -> &Shared<Self::Connection>;

    /// A connection of a client at the other end of `socket`.
    fn connect(&self, client: u32, socket: OwnedFd) -> Self::Connection;

    /// Serves a connection until it ends.
    fn serve(&self, connection: &Arc<Self::Connection>);

    /// Tells a client that has no place `why`, if the protocol can.
    fn refuse(&self, connection: Arc<Self::Connection>, why: &str) {
        let _ = (connection, why);
    }

    /// Begins no more requests: the server stops, and all connections end by `end`.
    fn stop(&self, end: Instant) {
        let _ = end;
    }
}

/// Removes a connection from the open ones on drop.
struct ConnectionGuard<P: Protocol> {
    protocol: Arc<P>,
    client: u32,
}

impl<P: Protocol> Drop for ConnectionGuard<P> {
    fn drop(&mut self) {
        self.protocol.shared().places.leave(self.client);
    }
}

/// Serves clients at one address.
pub struct NetServer<P: Protocol> {
    protocol: Arc<P>,
    uri: String,
    listener: Mutex<Option<Listener>>,
}

impl<P: Protocol> NetServer<P> {
    /// Listens at `address`; `uri` names the place for clients.
    ///
    /// # Errors
    /// An address that is unavailable or unprotected.
    pub fn listen(
        address: &Address,
        protocol: P,
        uri: impl FnOnce(&Address) -> String,
    ) -> Result<Self> {
        let protocol = Arc::new(protocol);
        let listening = Listening::at(address, &protocol.shared().admission)?;
        let uri = uri(&listening.place);
        let accepting = Arc::clone(&protocol);
        let on_accept = Box::new(move |client| accept(&accepting, client));
        let listener = Listener::open(listening, &format!("sledsim-{}", P::KIND), on_accept)
            .map_err(|error| Error::System(format!("address '{address}': {error}")))?;
        Ok(Self { protocol, uri, listener: Mutex::new(Some(listener)) })
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
            "accepted": self.protocol.shared().accepted.load(Ordering::Relaxed),
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
        let end = Instant::now() + grace;
        self.protocol.shared().stopping.store(true, Ordering::SeqCst);
        self.protocol.stop(end);
        let sessions = listener.close();
        for connection in self.protocol.shared().places.handles() {
            connection.finish(end);
        }
        for session in sessions {
            let _ = session.join();
        }
    }
}

impl<P: Protocol> FrontEnd for NetServer<P> {
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

impl<P: Protocol> Drop for NetServer<P> {
    /// Ends all connections without waiting for requests in flight.
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}

/// Serves an accepted client, if there is a place for it, in a thread that is returned.
fn accept<P: Protocol>(protocol: &Arc<P>, socket: io::Result<OwnedFd>) -> Option<JoinHandle<()>> {
    let shared = protocol.shared();
    let client = shared.accepted.load(Ordering::Relaxed);
    let failed = |why: &dyn Display| {
        shared.client_errors.note(client, ClientErrorKind::Accept, &why.to_string());
    };
    let socket = socket.inspect_err(|error| failed(error)).ok()?;
    shared.accepted.fetch_add(1, Ordering::Relaxed);
    let connection = Arc::new(protocol.connect(client, socket));
    match shared.places.take(client, Arc::clone(&connection)) {
        Ok(None) => {}
        Ok(Some(GaveWay { client, handle })) => {
            shared.client_errors.note(client, ClientErrorKind::TooMany, GAVE_WAY);
            handle.hang_up();
        }
        Err(why) => {
            shared.client_errors.note(client, ClientErrorKind::TooMany, &why);
            protocol.refuse(connection, &why);
            return None;
        }
    }
    let guard = ConnectionGuard { protocol: Arc::clone(protocol), client };
    let thread = thread::Builder::new().name(format!("sledsim-{}", P::KIND));
    let session = thread.spawn(move || guard.protocol.serve(&connection));
    session.inspect_err(|error| failed(&format!("no thread: {error}"))).ok()
}
