//! The RPC server: a front end of the emulator.
//!
//! Every connection has one thread, which reads its calls and submits batches to
//! an [`sledsim_emulator::export::Export`]; it also sends the answers, which the
//! thread of the timeline finds due. A client that violates the protocol, sends
//! too much or does not read affects no other client.
//!
//! In reading order:
//!
//! * `state`: the state that connections share.
//! * `accept`: accepts clients.
//! * `opening`: checks that a client speaks HTTP/2.
//! * `connection`: one connection.
//! * `inbound`: limits the size of messages.
//! * `limiter`: limits batches in flight.
//! * `permits`: holds the permits of an answer until it is sent.
//! * `session`: what the calls of a connection share: its batches and their answers.
//! * `streamed`: the call `Batches`.
//! * `service`: the calls.

mod accept;
mod connection;
mod inbound;
mod limiter;
mod opening;
mod permits;
mod service;
mod session;
mod state;
mod streamed;

pub use accept::RpcServer;

use sledsim_emulator::listen::Admission;

/// Settings of an RPC server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which clients may connect.
    pub admission: Admission,
    /// The most unanswered batches of a connection; no more are begun.
    pub max_outstanding: usize,
    /// The most bytes of data in them; at least as many as in one batch.
    pub max_outstanding_bytes: usize,
    /// The most bytes of data that a batch may write and read.
    pub max_batch_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            admission: Admission::default(),
            max_outstanding: 128,
            max_outstanding_bytes: 64 << 20,
            max_batch_bytes: 32 << 20,
        }
    }
}

/// The kinds of client errors.
const CLIENT_ERRORS: [&str; 6] = [TOO_MANY, ACCEPT, TIMEOUT, TLS, PROTOCOL, VANISHED];
const TOO_MANY: &str = "too_many_clients";
const ACCEPT: &str = "failed_accepts";
const TIMEOUT: &str = "timeouts";
const TLS: &str = "tls_failures";
const PROTOCOL: &str = "protocol_errors";
const VANISHED: &str = "disconnects_mid_request";
