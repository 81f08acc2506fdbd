//! The RPC server: accepts clients and ends their connections.

use super::connection::{self, Peer};
use super::state::ServerState;
use super::{ACCEPT, Settings, TOO_MANY, opening};
use rustix::fd::OwnedFd;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_emulator::front_end::{Exports, FrontEnd};
use sledsim_emulator::listen::{Address, GAVE_WAY, Listener, Listening};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Serves exports at one address.
pub struct RpcServer {
    shared: Arc<ServerState>,
    uri: String,
    listener: Option<Listener>,
}

impl RpcServer {
    /// Listens at `address` and serves `exports`.
    ///
    /// # Errors
    /// An address that is unavailable or that `settings` do not protect; certificates
    /// that cannot be used.
    pub fn start(address: &Address, exports: Arc<Exports>, settings: &Settings) -> Result<Self> {
        let shared = Arc::new(ServerState::new(exports, settings)?);
        let listening = Listening::at(address, &settings.admission)?;
        let uri = uri(&listening.place);
        let mut handler = AcceptHandler {
            shared: Arc::clone(&shared),
            is_tcp: listening.is_tcp(),
            refused: VecDeque::new(),
        };
        let on_accept = Box::new(move |client| handler.on_accept(client));
        let listener = Listener::open(listening, "sledsim-rpc-acc", on_accept)
            .map_err(|error| Error::System(format!("address '{address}': {error}")))?;
        Ok(Self { shared, uri, listener: Some(listener) })
    }

    /// Address for clients, as a gRPC target: `unix:PATH` or `dns:HOST:PORT`.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Number of connected clients.
    pub fn clients(&self) -> usize {
        self.shared.places.count()
    }
}

/// The gRPC target of an address.
fn uri(place: &Address) -> String {
    match place {
        Address::Unix(path) => format!("unix:{}", path.display()),
        Address::Tcp(host, port) if host.contains(':') => format!("dns:[{host}]:{port}"),
        Address::Tcp(host, port) => format!("dns:{host}:{port}"),
    }
}

impl FrontEnd for RpcServer {
    fn to_json(&self) -> Value {
        json!({
            "kind": "rpc",
            "uri": self.uri,
            "clients": self.clients(),
            "accepted": self.shared.accepted.load(Ordering::Relaxed),
            "troubles": self.shared.client_errors.to_json(),
        })
    }

    fn is_alive(&self) -> bool {
        true
    }

    fn stop(&mut self, grace: Duration) {
        let Some(listener) = self.listener.take() else {
            return;
        };
        self.shared.stop.send_replace(Some(Instant::now() + grace));
        for session in listener.close() {
            let _ = session.join();
        }
    }
}

impl Drop for RpcServer {
    /// Ends all connections without waiting for requests in flight.
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}

/// Frees the place of a client when dropped.
struct ConnectionGuard(Arc<ServerState>, u32);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.places.leave(self.1);
    }
}

/// Serves accepted clients.
struct AcceptHandler {
    shared: Arc<ServerState>,
    is_tcp: bool,
    /// The latest clients without a place. Where the system closes a socket with unread
    /// bytes, the other side may not read the answer.
    refused: VecDeque<OwnedFd>,
}

/// How many of them are kept.
const REFUSED_KEPT: usize = 8;

impl AcceptHandler {
    fn on_accept(&mut self, socket: io::Result<OwnedFd>) -> Option<JoinHandle<()>> {
        let shared = &self.shared;
        let client = shared.accepted.load(Ordering::Relaxed);
        let failed = |error: &io::Error| {
            shared.client_errors.note(client, ACCEPT, &error.to_string());
        };
        let socket = socket.inspect_err(failed).ok()?;
        shared.accepted.fetch_add(1, Ordering::Relaxed);
        let (sender, gives_way) = oneshot::channel();
        match shared.places.take(client, sender) {
            Ok(None) => {}
            // Its connection ends with the sender.
            Ok(Some(gone)) => shared.client_errors.note(gone.client, TOO_MANY, GAVE_WAY),
            Err(why) => {
                shared.client_errors.note(client, TOO_MANY, &why);
                if shared.tls.is_none() {
                    opening::refuse(&socket, &why);
                    self.refused.truncate(REFUSED_KEPT - 1);
                    self.refused.push_front(socket);
                }
                return None;
            }
        }
        let peer =
            Peer { shared: Arc::clone(shared), client, socket, is_tcp: self.is_tcp, gives_way };
        let guard = ConnectionGuard(Arc::clone(shared), client);
        let thread = thread::Builder::new().name("sledsim-rpc".into());
        let session = thread.spawn(move || {
            connection::run(peer);
            drop(guard);
        });
        session.inspect_err(failed).ok()
    }
}
