//! The RPC server and its client.

mod batches;
mod interface;
mod served;
mod tables;
