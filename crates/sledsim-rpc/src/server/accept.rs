//! gRPC as a protocol of the net: the server, and what it does with its connections.

use super::peer::Peer;
use super::state::ServerState;
use super::{Settings, connection, opening};
use rustix::fd::OwnedFd;
use sledsim_base::error::Result;
use sledsim_emulator::front_end::Exports;
use sledsim_emulator::net::{Address, NetServer, Protocol, Shared};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// The protocol of an RPC server, and the state that its connections share.
pub struct Rpc(Arc<ServerState>);

/// Serves exports at one address; its URI is a gRPC target: `unix:PATH` or `dns:HOST:PORT`.
pub type RpcServer = NetServer<Rpc>;

/// Listens at `address` and serves `exports`.
///
/// # Errors
/// An address that is unavailable or that `settings` do not protect; certificates that cannot
/// be used.
pub fn serve(address: &Address, exports: Arc<Exports>, settings: &Settings) -> Result<RpcServer> {
    let rpc = Rpc(Arc::new(ServerState::new(exports, settings)?));
    RpcServer::listen(address, rpc, uri)
}

/// The gRPC target of an address.
fn uri(place: &Address) -> String {
    match place {
        Address::Unix(path) => format!("unix:{}", path.display()),
        Address::Tcp(host, port) if host.contains(':') => format!("dns:[{host}]:{port}"),
        Address::Tcp(host, port) => format!("dns:{host}:{port}"),
    }
}

/// How many refused clients are kept.
const REFUSED_KEPT: usize = 8;

impl Protocol for Rpc {
    const KIND: &'static str = "rpc";
    type Connection = Peer;

    fn shared(&self) -> &Shared<Peer> {
        &self.0.shared
    }

    fn connect(&self, client: u32, socket: OwnedFd) -> Peer {
        Peer::new(client, socket)
    }

    fn serve(&self, peer: &Arc<Peer>) {
        connection::run(&self.0, peer);
    }

    fn refuse(&self, peer: Arc<Peer>, why: &str) {
        if self.0.tls.is_none()
            && let Some(socket) = peer.take_socket()
        {
            opening::refuse(&socket, why);
            let mut refused = self.0.refused.lock().unwrap_or_else(PoisonError::into_inner);
            refused.truncate(REFUSED_KEPT - 1);
            refused.push_front(socket);
        }
    }

    fn stop(&self, end: Instant) {
        self.0.stop.send_replace(Some(end));
    }
}
