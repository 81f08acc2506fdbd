//! Queues in front of a mechanism.
//!
//! Modules in reading order:
//! - `schedulers`: pick the next request of a queue;
//! - `controllers`: a mechanism with its queue, command overhead, bus and buffer.

pub mod schedulers;

pub mod controllers;
