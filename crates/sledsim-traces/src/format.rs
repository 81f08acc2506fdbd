//! What a format is, and what a file does not say of itself.

use crate::input::Input;
use crate::reader::Reader;
use crate::writers::WriteFormat;
use sledsim_base::error::Result;
use sledsim_base::registry::{Named, Registry};

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
