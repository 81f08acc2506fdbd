//! The RPC server and its client.

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
