//! sledsim-traces: reads, describes and converts block traces.
//!
//! Text and binary formats; nothing here simulates. A format is one file with
//! a [`Reader`] in `formats/`, and one line in [`FORMATS`]; other crates add
//! formats by a [`Formats`] of their own.
//!
//! In reading order:
//! - `record`: one request of a trace.
//! - `reader`: the trait of all format readers.
//! - `format`: the description of a format, and the options of reading.
//! - `supply`: opens a file or a stream; keeps a stream to read it again.
//! - `shared_file`: one file read at several positions.
//! - `input`: decompresses and counts the bytes of a trace.
//! - `zstd`: Zstandard with several frames and checksums.
//! - `scaled`: exact multiplication of numbers by their unit.
//! - [`units`]: the units of numbers in text.
//! - [`lines`]: the lines of a text trace.
//! - `bytes`: the records of a binary trace.
//! - `eights`: eight bytes of text at a time.
//! - `number`: exact numbers from text.
//! - `dates`: calendar dates.
//! - `names`: names of devices, numbered.
//! - [`devices`]: device columns with numbers or names.
//! - `commas`: the frame of all formats with commas.
//! - [`columns`]: the key `columns` of generic CSV and Parquet.
//! - `formats`: the readers, one file per format.
//! - `containers`: kinds of files that are no traces.
//! - `unit_doubts`: whether other units make more sense.
//! - [`frames`]: the files of traces in memory.
//! - `plausible`: whether a reading of a trace is plausible.
//! - `detect`: recognises the format.
//! - [`sorter`]: sorts items within a window.
//! - `completions`: requests by arrival, from records by completion.
//! - `glitches`: drops single records whose clock jumped.
//! - [`order`]: checks the order of times.
//! - `sorted`: records sorted within a window.
//! - [`records`]: the records of the selected devices.
//! - [`objects`]: the accesses of a cache trace.
//! - `progress`: the progress of a reading.
//! - [`info`]: statistics of a trace.
//! - [`writers`]: the writers, one file per format.
//! - [`convert`]: converts, merges, cuts and samples traces.

mod record;

mod reader;

mod format;

mod supply;

mod shared_file;

mod input;

mod xz;
mod zstd;

mod scaled;

pub mod units;

pub mod lines;

mod bytes;

mod eights;

mod number;

mod dates;

mod names;

pub mod devices;

mod commas;

pub mod columns;

mod formats;

mod containers;

mod unit_doubts;

pub mod frames;

mod plausible;

mod detect;

pub mod sorter;

mod completions;

mod glitches;

pub mod order;

mod sorted;

pub mod records;

pub mod objects;

mod progress;

pub mod info;

pub mod writers;

pub mod convert;

pub use convert::{Conversion, ConvertSpec, Sample};
pub use detect::{ChosenBy, TraceFile};
pub use format::{BlkAction, Clock, Format, Formats, Options};
pub use formats::FORMATS;
pub use info::{InfoSpec, TraceInfo, trace_info};
pub use input::{Compression, Input, ReadCounter};
pub use progress::Reading;
pub use reader::Reader;
pub use record::{END_BYTES, LATEST_NS, Record};
pub use shared_file::SharedFile;
pub use supply::{MOST_KEPT_BYTES, STANDARD_INPUT, Supply};
pub use unit_doubts::{Trust, UnitDoubt};
pub use units::GivenUnits;
