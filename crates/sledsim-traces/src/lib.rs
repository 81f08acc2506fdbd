//! sledsim-traces: requests recorded elsewhere, read, described and converted.
//!
//! Text and binary formats; nothing here simulates. A format is one file with
//! a [`Reader`] in `formats/`, and one line in [`FORMATS`]; other crates add
//! theirs by a [`Formats`] of their own.
//!
//! In reading order: `input` opens a file and decompresses it, `supply` lets a
//! pipe be read twice, `formats` read records, `detect` finds the format,
//! `records` and `order` watch what was read; `info` describes a trace,
//! `convert` makes another of it with one of the `writers`.

mod bytes;
pub mod columns;
mod commas;
pub mod convert;
mod detect;
pub mod devices;
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
pub mod records;
mod sorted;
mod supply;
pub mod writers;
mod zstd;

pub use convert::{ConvertSpec, Sample};
pub use formats::FORMATS;
pub use info::{InfoSpec, trace_info};
pub use input::{Compression, Input, SoFar};
pub use progress::Reading;
pub use supply::{MOST_KEPT_BYTES, STANDARD_INPUT, Supply, Whole};

use detect::Found;
use glitches::Steady;
use sledsim_base::error::{Error, Result};
use sledsim_base::registry::{Named, Registry};
use sledsim_base::request::Op;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::path::Path;
use writers::{WRITERS, WriteFormat};

/// One request of a trace, as the file has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Arrival on the clock of the file.
    pub time: Nanos,
    /// The device it went to: its number in the file, or a number of the
    /// reader's where the file has names ([`Reader::device_name`]).
    pub device: u32,
    /// What it did.
    pub op: Op,
    /// First byte. `offset + bytes` is at most [`END_BYTES`].
    pub offset: u64,
    /// How many bytes: at least one, but for [`Op::Flush`], which has none.
    pub bytes: u64,
    /// From arrival to completion, as measured by whoever recorded it.
    pub response: Option<Nanos>,
    /// From this completion to the next arrival, in traces of closed loops.
    pub think: Option<Nanos>,
    /// From arrival to the start of its service, the first part of `response`,
    /// as measured.
    pub queue: Option<Nanos>,
    /// From its completion to when whoever asked saw it, in recordings.
    pub lateness: Option<Nanos>,
    /// Whether the next one of its device is of the same batch.
    pub linked: bool,
}

/// The latest time read, 285 years: what follows needs room.
pub const LATEST_NS: u64 = 9_000_000_000_000_000_000;

/// One past the last byte a trace may name.
pub const END_BYTES: u64 = 1 << 63;

impl Record {
    /// The blocks it touches, widened outward where it does not begin or end
    /// on a block: first block, and one past the last.
    #[inline]
    #[must_use]
    pub fn blocks(&self) -> (u64, u64) {
        let end = (self.offset + self.bytes).div_ceil(BLOCK_BYTES);
        (self.offset / BLOCK_BYTES, end)
    }

    /// Whether it begins and ends on blocks of 512 bytes.
    #[inline]
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        (self.offset | self.bytes).is_multiple_of(BLOCK_BYTES)
    }
}

/// Reads one format, record by record: memory does not grow with the file,
/// and nothing is allocated per record.
///
/// What a reader promises:
/// - records come in the order of the file (their times may fall: whoever
///   uses them checks or sorts);
/// - times are converted exactly, or rounded to the nearest nanosecond;
/// - a bad record ends the reading with an error that names the line (the
///   byte, in binary formats), the field, what was found and what is allowed;
///   nothing is skipped or guessed in silence.
pub trait Reader: Send {
    /// The next record, `None` at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read, or the record is bad.
    fn next(&mut self) -> Result<Option<Record>>;

    /// An error about the record read last.
    fn refuse(&self, problem: String) -> Error;

    /// What the file calls a device, where it has names rather than numbers.
    fn device_name(&self, _device: u32) -> Option<&str> {
        None
    }

    /// Whether its devices are streams of requests to one device, which share
    /// its addresses.
    fn is_of_streams(&self) -> bool {
        false
    }

    /// How many lines or records so far were, by the rules of the format, no
    /// requests: events of other kinds, messages, files opened and closed.
    fn not_requests(&self) -> u64 {
        0
    }

    /// How many requests so far moved no data, and were passed over as the
    /// format allows.
    fn empty(&self) -> u64 {
        0
    }

    /// Why there are no requests, if it knows more than that.
    fn why_none(&self) -> Option<String> {
        None
    }

    /// How many requests so far were dropped because their clock jumped, and
    /// the first of them.
    fn glitches(&self) -> (u64, Option<&str>) {
        (0, None)
    }

    /// How many bytes of the (uncompressed) trace were read so far.
    fn bytes_read(&self) -> u64;
}

/// What a file's times count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The start of the recording, as far as one can tell: times are kept.
    Start,
    /// The calendar: the first record is taken as time zero.
    Calendar,
    /// There are no times: records follow each other's completion.
    Closed,
}

/// A trace format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name in keys and results.
    pub name: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// Endings of file names (without a dot) that decide where the content
    /// fits several formats.
    pub endings: &'static [&'static str],
    /// What its times count from.
    pub clock: Clock,
    /// Whether [`Options::columns`] say what its columns are.
    pub by_columns: bool,
    /// Whether [`Options::blk_action`] says which of its events are requests.
    pub by_action: bool,
    /// Starts reading.
    pub open: fn(Input, &Options) -> Result<Box<dyn Reader>>,
}

impl Named for Format {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// The formats that there are.
#[derive(Clone, Copy, Debug)]
pub struct Formats {
    /// Those that can be read.
    pub readers: Registry<Format>,
    /// Those that can be written.
    pub writers: Registry<WriteFormat>,
}

impl Default for Formats {
    fn default() -> Self {
        Self {
            readers: FORMATS,
            writers: WRITERS,
        }
    }
}

/// How traces are read: the formats, and what a file does not say.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The formats that there are.
    pub formats: Formats,
    /// Generic CSV and Parquet: which column is what, in which unit, as in
    /// `time=ts:us, offset=lba:512B, bytes=len:B, op=type:0/1, device=vol`.
    pub columns: Option<String>,
    /// `blkparse`: which events are the requests; queued ([`BlkAction::Queue`])
    /// unless said.
    pub blk_action: Option<BlkAction>,
    /// Drops single requests whose time is more than a minute above or below
    /// the times of both their neighbours, and counts them.
    pub drop_glitches: bool,
}

/// The event of the block layer that makes a request of a `blkparse` trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlkAction {
    /// Q: it entered the block layer.
    #[default]
    Queue,
    /// D: it was issued to the device, merged with others perhaps.
    Issue,
    /// C: it was completed by the device.
    Complete,
}

/// What decided the format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    /// Whoever asked for it.
    Key,
    /// The content fits no other.
    Content,
    /// The content fits several, and one of them is plausible.
    Plausibility,
    /// The content fits several equally well; the ending of the name decided.
    Ending,
}

impl ChosenBy {
    /// The name used in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Key => "trace_format",
            Self::Content => "content",
            Self::Plausibility => "plausibility",
            Self::Ending => "ending",
        }
    }
}

impl Format {
    /// Starts reading `input` as this format.
    ///
    /// # Errors
    /// The file cannot be read, its header is bad, or an option has no effect.
    pub fn open(&self, input: Input, options: &Options) -> Result<Box<dyn Reader>> {
        if options.drop_glitches && self.clock == Clock::Closed {
            let name = self.name;
            return Err(Error::Key(format!(
                "glitches: has no effect with trace_format = \"{name}\", which has no times of \
                 arrival"
            )));
        }
        let reader = (self.open)(input, options)?;
        Ok(match options.drop_glitches {
            true => Box::new(Steady::new(reader)),
            false => reader,
        })
    }

    /// Opens the trace at `path` (`-` is standard input): in `format` if it is
    /// given, else in the one its content fits.
    ///
    /// # Errors
    /// The file cannot be read, or no format or several fit.
    pub fn detect(path: &Path, format: Option<Self>, options: &Options) -> Result<(Self, Input)> {
        let (found, input) = Found::of(&Supply::new(path), format, options, &mut || Ok(()))?;
        Ok((found.format, input))
    }
}
