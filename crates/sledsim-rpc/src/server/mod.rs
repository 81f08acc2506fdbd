//! The RPC server: a front end of the emulator.
//!
//! Every connection has one thread, which reads its calls and submits batches to
//! an [`sledsim_emulator::export::Export`]; it also sends the answers, which the
//! thread of the timeline finds due. A client that violates the protocol, sends
//! too much or does not read affects no other client.
//!
//! In reading order:
//!
//! * `peer`: a client.
//! * `state`: the state that connections share.
//! * `accept`: the server, and what it does with its connections.
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
mod peer;
mod permits;
mod service;
mod session;
mod state;
mod streamed;

pub use accept::{Rpc, RpcServer, serve};

use sledsim_emulator::net;

/// Settings of an RPC server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Those of any server, whose requests are batches.
    pub net: net::Settings,
    /// The most bytes of data that a batch may write and read; no more than may be outstanding.
    pub max_batch_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { net: net::Settings::default(), max_batch_bytes: 32 << 20 }
    }
}
