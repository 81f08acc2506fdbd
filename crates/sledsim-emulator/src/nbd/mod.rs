//! The NBD server: exports through sockets.
//!
//! It implements the fixed newstyle of the protocol by its specification
//! (`proto.md` of the NBD project): any number of exports, simple and structured
//! replies, the metadata context `base:allocation`, TLS.
//!
//! Every connection has one thread that reads requests and submits them to an
//! [`crate::export::Export`]. The thread that finds a request due sends its
//! reply without blocking: bytes that do not fit into the socket are left to a
//! second thread of the connection. The first thread gathers the replies that it finds
//! due, while it has further requests at hand, and sends them at once. A client that
//! does not read its replies, or that violates the protocol, affects no other client.
//!
//! In reading order:
//!
//! * `accept`: the server, which accepts clients.
//! * `connection`: a connection, as its session and the server share it.
//! * `input`: buffered input from a client.
//! * `wire`: constants and fields of the protocol.
//! * `options`: encoding of options and their replies.
//! * `negotiate`: the handshake.
//! * `tls_proxy`: TLS between the client and the session.
//! * `session`: the requests of a connection.
//! * `limiter`: the limit of requests in flight.
//! * `reply`: replies to requests.
//! * `link`: the sending side of a connection.
//! * `client_error`: the kinds of client errors.
//! * `uri`: addresses as NBD URIs.

mod accept;
mod client_error;
mod connection;
mod input;
mod limiter;
mod link;
mod negotiate;
mod options;
mod reply;
mod session;
mod tls_proxy;
mod uri;
mod wire;

pub use accept::NbdServer;
pub use session::serve;

use crate::listen::Admission;
use std::time::Duration;

/// Settings of an NBD server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which clients may connect.
    pub admission: Admission,
    /// The most unanswered requests of a connection; no more are read.
    pub max_outstanding: usize,
    /// The most bytes in their answers, except for a single larger one.
    pub max_outstanding_bytes: u64,
    /// How long a connection polls for its next request before it sleeps.
    pub busy_poll: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            admission: Admission::default(),
            max_outstanding: 128,
            max_outstanding_bytes: 64 << 20,
            busy_poll: Duration::ZERO,
        }
    }
}
