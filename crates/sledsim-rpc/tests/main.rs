//! The integration tests of the RPC server and its client, linked once. What
//! measures its whole process is a binary of its own: see `[[test]]` in
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
