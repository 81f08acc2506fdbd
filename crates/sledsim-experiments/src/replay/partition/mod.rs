//! Splits a trace into parts that are simulated on their own: by volume or by
//! window of time.
//!
//! One pass over the trace writes a Parquet file for each part. Memory depends on
//! the number of parts, not on the length of the trace; a pipe will do.
//!
//! In reading order:
//! - `keys`: which keys of the replay the parts keep.
//! - `pass`: the pass over the trace.
//! - `spill`: the records of many parts in one temporary file.
//! - `spilling`: a thread that adds them while the trace is read.
//! - `files`: the files of the parts.
//! - `list`: the list of the parts.

mod files;
mod keys;
mod list;
mod pass;
mod spill;
mod spilling;

pub use list::{ListedPart, ListedWindow, PartBy, PartList, PartName, TraceOfParts};

use super::TraceSpec;
use serde_json::{Map, Value};
use sledsim_base::error::Result;
use sledsim_base::progress::Progress;
use sledsim_base::units::Nanos;
use std::path::Path;

/// The most parts.
const MOST_PARTS: usize = 1 << 20;

/// The most warm-up, in windows.
const MOST_WARM_UP: u64 = 16;

/// What a part of a trace is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The requests of one device of the trace.
    Volume,
    /// The requests that arrive within one window of time.
    Window {
        /// How long a window is, on the clock of the replay.
        length: Nanos,
        /// How long before a window its part begins. These requests are
        /// simulated and not counted.
        warm_up: Nanos,
    },
}

impl TraceSpec {
    /// Splits the trace into files in `folder` and returns their list: the keys
    /// with which each is replayed and, for each, its file, name and number of
    /// requests. `given` are the keys of the trace. `check` is called now and then.
    pub(crate) fn partition(
        &self,
        given: &Map<String, Value>,
        by: By,
        folder: &Path,
        threads: usize,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<PartList> {
        self.check_parts(given, by)?;
        let split = pass::split(self, by, folder, check)?;
        let keys = self.keys_of_parts(given, by, &split);
        files::write(split, by, keys, folder, threads, check)
    }
}
