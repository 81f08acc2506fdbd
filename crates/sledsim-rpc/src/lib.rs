//! sledsim-rpc: the parallel interface of a sled (CMU-CS-03-125, section 3.4)
//! for other programs, as gRPC.
//!
//! `proto/sledsim.proto` is the interface and its reference. [`server`] has
//! exports of the emulator served so, next to its other front ends; [`client`]
//! is for programs in Rust, and for Python.
//!
//! gRPC is HTTP/2 with a few headers: connections are hyper's, codec and the
//! generated code tonic's, and the rest of tonic is not needed. Every connection
//! has a thread of its own, with a runtime that knows nothing else.
//!
//! Linux only, as the emulator.

pub mod client;
mod codec;
mod interface;
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
