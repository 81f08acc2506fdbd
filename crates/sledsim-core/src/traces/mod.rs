//! Traces: requests recorded elsewhere, replayed here.
//!
//! Adding a format means adding one file with a `Reader` and one line to
//! `FORMATS`.

mod disksim_ascii;
mod info;
mod lines;
mod number;
mod source;

pub use info::trace_info;
pub use source::{TraceSource, TraceSpec};

use crate::error::{Error, Result};
use crate::request::Op;
use crate::units::Nanos;
use lines::Lines;
use std::path::Path;

/// One request of a trace, as the file has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Arrival on the clock of the file.
    pub time: Nanos,
    /// The device it went to, as the file names it.
    pub device: u32,
    /// First block, in units of 512 bytes.
    pub lbn: u64,
    /// How many blocks, at least one; `lbn + blocks` does not overflow.
    pub blocks: u32,
    /// What it did.
    pub op: Op,
}

/// Reads one format, record by record: memory does not grow with the file,
/// and nothing is allocated per record.
///
/// What a reader promises:
/// - records come in the order of the file, and their times never fall;
/// - times and sizes are converted exactly, or rounded to the nearest
///   nanosecond and up to whole blocks;
/// - a bad record ends the reading with an error that names the line (the
///   record, in binary formats), the field, what was found and what is
///   allowed; nothing is skipped or guessed in silence.
trait Reader: Send {
    /// The next record, `None` at the end of the file.
    fn next(&mut self) -> Result<Option<Record>>;

    /// An error about the record read last.
    fn refuse(&self, problem: String) -> Error;

    /// How the file is compressed: `none` or `gzip`.
    fn compression(&self) -> &'static str;
}

/// A trace format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name in keys and results.
    pub name: &'static str,
    open: fn(&Path) -> Result<Box<dyn Reader>>,
}

/// All formats; the first is the default.
const FORMATS: [Format; 1] = [Format {
    name: "disksim_ascii",
    open: |path| {
        Ok(Box::new(disksim_ascii::DisksimAscii::new(Lines::open(
            path,
        )?)))
    },
}];

impl Default for Format {
    fn default() -> Self {
        FORMATS[0]
    }
}

impl Format {
    /// Names and formats, as [`crate::keys::Keys::choice`] takes them.
    #[must_use]
    pub fn choices() -> [(&'static str, Self); FORMATS.len()] {
        FORMATS.map(|format| (format.name, format))
    }
}
