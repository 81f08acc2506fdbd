//! sledsim-rpc: the parallel interface of a sled (CMU-CS-03-125, section 3.4)
//! for other programs, as gRPC.
//!
//! `proto/sledsim.proto` defines and documents the interface. In reading order:
//!
//! * [`v1`]: the messages and calls, generated from it.
//! * `codec`: encodes and decodes messages.
//! * [`server`]: a front end of the emulator.
//! * [`client`]: a blocking client for Rust and Python.
//!
//! gRPC is HTTP/2 with a few headers: hyper makes the connections, tonic the
//! codec and the generated code; the rest of tonic is not used. Every connection
//! of a server has a thread of its own, with its own runtime.
//!
//! Linux only, as the emulator.

pub mod client;
mod codec;
pub mod server;

/// The messages and calls of the interface, as generated.
#[allow(
    missing_docs,
    unused_qualifications,
    clippy::all,
    clippy::allow_attributes_without_reason,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::uninlined_format_args,
    clippy::unnested_or_patterns,
    reason = "generated; the comments are those of the .proto"
)]
#[rustfmt::skip]
pub mod v1;
