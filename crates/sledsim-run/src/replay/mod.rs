//! Replay: a trace as a source of requests.

mod accesses;
mod causes;
mod mapping;
mod paced;
mod source;

pub use accesses::TraceFiles;
pub use source::{BLK_ACTIONS, Measured, TraceSource, TraceSpec};
