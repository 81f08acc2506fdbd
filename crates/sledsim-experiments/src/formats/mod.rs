//! Trace formats including Parquet.
//!
//! In reading order:
//! - `parquet`: reads any Parquet file.
//! - `recording`: sorts the rows of runs and recordings by arrival.
//! - `writer`: writes traces as Parquet.

mod parquet;
mod recording;
mod writer;

pub(crate) use parquet::{BAD, NULL, numbers, text};

use sledsim_base::error::Result;
use sledsim_base::registry::Registry;
use sledsim_traces::writers::{WRITERS, WriteFormat, Writer};
use sledsim_traces::{Clock, FORMATS, Format, Formats, Options};
use std::path::Path;

/// All formats of traces.
pub fn all() -> Formats {
    Formats {
        readers: Registry::over(&FORMATS, &[READER]),
        writers: Registry::over(&WRITERS, &[WRITER]),
    }
}

/// Options under which all formats are known.
pub fn options() -> Options {
    Options { formats: all(), ..Options::default() }
}

/// Starts the Parquet file of a part of a trace. It is not synced: there are
/// thousands of them, which can be made again.
pub(crate) fn part_writer(path: &Path) -> Result<Box<dyn Writer>> {
    Ok(Box::new(writer::Parquet::create_unsynced(path)?))
}

const READER: Format = Format {
    name: "parquet",
    about: "any Parquet, its columns named by the key columns; sledsim's own needs no key",
    endings: &["parquet", "pq"],
    clock: Clock::Start,
    by_columns: true,
    units: None,
    by_action: false,
    open: |input, options| recording::open(&input, options),
};

const WRITER: WriteFormat = WriteFormat {
    name: "parquet",
    about: "sledsim's Parquet: holds everything",
    endings: &["parquet", "pq"],
    create: |path| Ok(Box::new(writer::Parquet::create(path)?)),
};
