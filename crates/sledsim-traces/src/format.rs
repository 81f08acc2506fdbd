//! The description of a format, and the options of reading.

use crate::input::Input;
use crate::reader::Reader;
use crate::unit_doubts::Trust;
use crate::units::{GivenUnits, OwnUnits};
use crate::writers::WriteFormat;
use sledsim_base::error::Result;
use sledsim_base::registry::{Named, Registry};

/// The origin of a file's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The start of the recording (assumed): times are kept.
    Start,
    /// A calendar date: the first record becomes time zero.
    Calendar,
    /// No times: each request follows the completion of the one before.
    Closed,
}

/// A trace format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name in keys and results.
    pub name: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// Endings of file names (without a dot), which decide if the content fits
    /// several formats.
    pub endings: &'static [&'static str],
    /// The origin of its times.
    pub clock: Clock,
    /// Whether [`Options::columns`] describes its columns.
    pub by_columns: bool,
    /// The units of its numbers, in place of which [`Options::units`] names others, and
    /// whether a file tells that it has them.
    pub units: Option<(OwnUnits, Trust)>,
    /// Whether [`Options::blk_action`] selects the events that are requests.
    pub by_action: bool,
    /// Starts reading.
    pub open: fn(Input, &Options) -> Result<Box<dyn Reader>>,
}

impl Named for Format {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// All known formats.
#[derive(Clone, Copy, Debug)]
pub struct Formats {
    /// The formats that can be read.
    pub readers: Registry<Format>,
    /// The formats that can be written.
    pub writers: Registry<WriteFormat>,
}

/// Options of reading: the formats, and facts that a file does not contain.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// All known formats.
    pub formats: Formats,
    /// Generic CSV and Parquet: the role and unit of each column, as in
    /// `time=ts:us, offset=lba:512B, bytes=len:B, op=type:0/1, device=vol`.
    pub columns: Option<String>,
    /// Text: the units of the numbers, where they are not the format's own.
    pub units: GivenUnits,
    /// `blkparse`: the events that are requests; [`BlkAction::Queue`] by
    /// default.
    pub blk_action: Option<BlkAction>,
    /// Drops single requests whose time is more than a minute above or below
    /// the times of both their neighbours, and counts them.
    pub drop_glitches: bool,
}

/// The block-layer event that is a request of a `blkparse` trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlkAction {
    /// Q: it entered the block layer.
    #[default]
    Queue,
    /// D: it was issued to the device, possibly merged with others.
    Issue,
    /// C: it was completed by the device.
    Complete,
}
