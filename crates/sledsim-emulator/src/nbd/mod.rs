//! The NBD server: exports through sockets.
//!
//! It speaks the fixed newstyle of the protocol as its specification (`proto.md`
//! of the NBD project) has it: any number of exports, simple and structured
//! replies, the metadata context `base:allocation`, TLS.
//!
//! Every connection has one thread that reads requests and hands them to an
//! [`crate::export::Export`]. Replies are sent by whichever thread finds them
//! due, without waiting: what does not fit into the socket is left to a second
//! thread of the connection. A client that does not read its replies, or that
//! sends nonsense, harms nobody but itself.

mod accept;
mod connection;
mod gate;
mod input;
mod link;
mod negotiate;
mod options;
mod reply;
mod session;
mod shuttle;
mod trouble;
mod uri;
mod wire;

pub use crate::listen::{Address, TlsSpec, Troubles};
pub use accept::NbdServer;
pub use session::serve;

use std::time::Duration;

/// How a server deals with its clients.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// TLS, if it is offered.
    pub tls: Option<TlsSpec>,
    /// Whether clients beyond this machine may come without a certificate.
    pub allow_unauthenticated: bool,
    /// What a client may take.
    pub limits: Limits,
}

/// What clients may take.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at once; more are closed.
    pub max_clients: usize,
    /// Requests of a connection that are not answered yet; no more are read.
    pub max_outstanding: usize,
    /// Bytes in the answers to them, but for a single one that is larger.
    pub max_outstanding_bytes: u64,
    /// How long the handshake may take, and how long an answer may wait for a
    /// client that has said goodbye to read it.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_clients: 64,
            max_outstanding: 128,
            max_outstanding_bytes: 64 << 20,
            patience: Duration::from_secs(10),
        }
    }
}
