//! sledsim-traces: requests recorded elsewhere, read, described and converted.
//!
//! Text and binary formats; nothing here simulates. A format is one file with
//! a [`Reader`] in `formats/`, and one line in [`FORMATS`]; other crates add
//! theirs by a [`Formats`] of their own.
//!
//! In reading order: `record`, `reader` and `format` are the contract; `input`
//! opens a file and decompresses it, `supply` lets a pipe be read twice,
//! `formats` read records, `detect` finds the format, `records` and `order`
//! watch what was read; `info` describes a trace, `convert` makes another of it
//! with one of the `writers`.

mod bytes;
pub mod columns;
mod commas;
pub mod convert;
mod detect;
pub mod devices;
mod format;
mod formats;
mod glitches;
mod info;
mod input;
pub mod lines;
mod names;
mod number;
pub mod order;
mod plausible;
mod progress;
mod reader;
mod record;
pub mod records;
mod sorted;
mod supply;
mod whole;
pub mod writers;
mod zstd;

pub use convert::{ConvertSpec, Sample};
pub use detect::ChosenBy;
pub use format::{BlkAction, Clock, Format, Formats, Options};
pub use formats::FORMATS;
pub use info::{InfoSpec, trace_info};
pub use input::{Compression, Input, SoFar};
pub use progress::Reading;
pub use reader::Reader;
pub use record::{END_BYTES, LATEST_NS, Record};
pub use supply::{MOST_KEPT_BYTES, STANDARD_INPUT, Supply};
pub use whole::Whole;
