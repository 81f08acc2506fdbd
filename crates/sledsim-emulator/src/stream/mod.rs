//! Servers of clients at stream sockets: what the protocols NBD and iSCSI share.
//!
//! Every connection has one thread that reads requests and submits them to an
//! [`crate::export::Export`]. The thread that finds a request due sends its
//! reply without blocking: bytes that do not fit into the socket are left to a
//! second thread of the connection. The first thread gathers the replies that it finds
//! due, while it has further requests at hand, and sends them at once. A client that
//! does not read its replies, or that violates its protocol, affects no other client.
//!
//! In reading order:
//!
//! * `settings`: settings of a server.
//! * `server`: the server, which accepts clients.
//! * `connection`: a connection, as its session and the server share it.
//! * `input`: buffered input from a client.
//! * `tls_proxy`: TLS between the client and the session.
//! * `limiter`: the limit of requests in flight.
//! * `link`: the sending side of a connection.
//! * `client_error`: the kinds of client errors.

mod client_error;
mod connection;
mod input;
mod limiter;
mod link;
mod server;
mod settings;
mod tls_proxy;

pub(crate) use client_error::ClientErrorKind;
pub(crate) use connection::Connection;
pub(crate) use input::{End, Input, cut_short};
pub(crate) use link::{Frame, Header, Link};
pub use server::{Protocol, Shared, StreamServer};
pub use settings::Settings;
