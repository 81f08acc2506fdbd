//! Replay: a trace as a source of requests.

mod accesses;
mod arrivals;
mod dependency_inference;
mod dependency_replay;
mod feed;
mod mapping;
mod path;
mod source;
mod spec;

pub use accesses::TraceFiles;
pub(crate) use path::trace_path;
pub use source::{Measured, TraceSource};
pub use spec::{BLK_ACTIONS, TraceSpec};
