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

/// How a server deals with its clients.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who may connect.
    pub admission: Admission,
    /// Requests of a connection that are not answered yet; no more are read.
    pub max_outstanding: usize,
    /// Bytes in the answers to them, but for a single one that is larger.
    pub max_outstanding_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            admission: Admission::default(),
            max_outstanding: 128,
            max_outstanding_bytes: 64 << 20,
        }
    }
}
