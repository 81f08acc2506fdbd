//! The integration tests of the RPC server and its client, linked as one binary. Tests
//! that measure their whole process are binaries of their own: see `[[test]]` in
//! Cargo.toml.

mod batches;
mod hostile;
mod interface;
mod limits;
mod random;
mod raw;
mod refusals;
mod served;
mod stopping;
mod tables;
mod tls;
