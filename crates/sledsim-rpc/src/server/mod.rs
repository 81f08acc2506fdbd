//! The RPC server: a front end of the emulator.
//!
//! Every connection has one thread, which reads its calls and hands batches to
//! an [`sledsim_emulator::export::Export`]; answers are found due by whichever
//! thread does, and sent by that of the connection. A client that sends nonsense,
//! too much, or reads nothing harms nobody but itself.

mod accept;
mod connection;
mod inbound;
mod limiter;
mod opening;
mod permits;
mod service;
mod streamed;

pub use accept::RpcServer;

use sledsim_emulator::listen::Admission;

/// How a server deals with its clients.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who may connect.
    pub admission: Admission,
    /// Batches of a connection that are not answered yet; no more are begun.
    pub max_outstanding: usize,
    /// Bytes of data in them; no less than in one batch.
    pub max_outstanding_bytes: usize,
    /// Bytes of data that a batch may write and read; more are refused.
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

/// Kinds of trouble with clients.
const TROUBLES: [&str; 6] = [TOO_MANY, ACCEPT, TIMEOUT, TLS, PROTOCOL, VANISHED];
const TOO_MANY: &str = "too_many_clients";
const ACCEPT: &str = "failed_accepts";
const TIMEOUT: &str = "handshake_timeouts";
const TLS: &str = "tls_failures";
const PROTOCOL: &str = "protocol_errors";
const VANISHED: &str = "disconnects_mid_request";
