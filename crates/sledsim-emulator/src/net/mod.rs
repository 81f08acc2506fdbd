//! The one place with sockets: listening, admission, TLS, limits, sending, closing.
//!
//! A [`NetServer`] accepts clients and gives each a thread, in which its [`Protocol`] serves it.
//! NBD and iSCSI read requests there and submit them to an [`crate::export::Export`]. The thread
//! that finds a request due sends its reply without blocking: bytes that do not fit into the
//! socket are left to a second thread of the connection. gRPC runs its library in that thread. A
//! client that does not read its replies, or that violates its protocol, affects no other client.
//!
//! In reading order:
//!
//! * `address`: addresses to listen at.
//! * `private_file`: files that hold secrets.
//! * `pem`: items of PEM files.
//! * `identity`: a certificate with its private key.
//! * `tls`: certificates.
//! * `admission`: which clients may connect, and how many.
//! * `settings`: settings of a server.
//! * `listening`: sockets that listen.
//! * `listener`: accepts clients in a thread of its own.
//! * `client_errors`: kinds and counts of client errors.
//! * `places`: the places of clients; silent ones give way.
//! * `room`: memory for the data of all connections.
//! * `server`: the server, from accepting a connection to its end.
//! * `end`: why a connection ends.
//! * `limiter`: the limit of requests in flight.
//! * `socket`: the socket of a client, plain or with TLS.
//! * `connection`: a connection, as its session and the server share it.
//! * `input`: buffered input from a client.
//! * `link`: the sending side of a connection.
//! * `life`: the life of a connection, from its first byte to its last.

mod address;
mod admission;
mod client_errors;
mod connection;
mod end;
mod identity;
mod input;
mod life;
mod limiter;
mod link;
mod listener;
mod listening;
mod pem;
mod places;
mod private_file;
pub mod room;
mod server;
mod settings;
mod socket;
mod tls;

pub use address::Address;
pub use admission::Admission;
pub use client_errors::{ClientErrorKind, ClientErrorStats};
pub use connection::Connection;
pub use identity::Identity;
pub use limiter::InFlightLimiter;
pub use pem::pem_items;
pub use private_file::open_private;
pub use room::{Room, Share};
pub use server::{Client, NetServer, Protocol, Shared};
pub use settings::{Limits, Settings};
pub use tls::TlsSpec;

pub(crate) use end::{End, cut_short};
pub(crate) use input::Input;
pub(crate) use life::Conversation;
pub(crate) use link::{Frame, Header, Link};
