//! Replay: a trace as a source of requests.
//!
//! In reading order:
//! - `spec`: the keys of a replay.
//! - `path`: the file of a trace.
//! - `source`: the replay as a source of requests.
//! - `feed`: reads, sorts and maps the records.
//! - `ahead`: reads the requests in blocks.
//! - `mapping`: maps addresses to the device.
//! - `footprint`: the touched blocks of a trace, without the gaps.
//! - `arrivals`: the modes of arrival, one file each.
//! - `facts`: what is known of a trace and its replay, for results.
//! - `partition`: splits a trace into parts.
//! - `dependency_inference`: which completion each request waited for.
//! - `dependency_replay`: closed replay along these dependencies.
//! - `accesses`: the requests of a trace for layouts.

mod accesses;
mod ahead;
mod arrivals;
mod dependency_inference;
mod dependency_replay;
mod facts;
mod feed;
mod footprint;
mod mapping;
mod partition;
mod path;
mod source;
mod spec;

pub use accesses::TraceFiles;
pub use facts::{ArrivalFacts, ReplayFacts, TraceAbout, TraceFacts};
pub use partition::{By, ListedPart, ListedWindow, PartBy, PartList, PartName, TraceOfParts};
pub(crate) use path::trace_path;
pub use source::{Measured, TraceSource};
pub(crate) use spec::NOT_BEGUN;
pub use spec::{BLK_ACTIONS, TraceSpec};
