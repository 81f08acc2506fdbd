//! Requests as a trace for Perfetto (<https://ui.perfetto.dev>).
//!
//! A device is a process, with a track for each stream and lanes below it; a
//! request is a slice with its causes inside. The guide page
//! `docs/howto/perfetto.md` describes the picture.
//!
//! In reading order:
//! - `messages`: the messages of the format.
//! - `lanes`: tracks on which slices do not overlap.
//! - `outstanding`: the number of requests under way, sorted by time.
//! - `packets`: writes tracks, slices and counters.
//! - `file`: a trace file.
//! - `convert`: rows in memory or in a file as a trace.

mod convert;
mod file;
mod lanes;
mod messages;
mod outstanding;
mod packets;

pub use convert::{Source, convert};
pub use file::{PerfettoFile, check_ending};
