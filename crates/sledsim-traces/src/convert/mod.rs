//! Converts traces: merges, cuts, samples, scales and writes them.
//!
//! In reading order:
//! - `merge`: several traces as one, by time.
//! - `select`: the records to take.
//! - `devices`: device numbers of several traces in one.
//! - `work`: the conversion, record by record.
//! - [`output`]: the file to write.

mod merge;

mod select;

mod devices;

mod work;

pub mod output;

pub use devices::DeviceSummary;
pub use select::LeftOut;
pub use work::{Conversion, InputSummary, OutputSummary};

use super::detect::ResolvedFormat;
use super::sorted::SortedRecords;
use crate::format::{Format, Options};
use crate::progress::Reading;
use crate::supply::Supply;
use merge::{Merge, MergeInput};
use sledsim_base::error::{Error, Result};
use sledsim_base::files::refuse_overwriting;
use sledsim_base::units::Nanos;
use std::path::{Path, PathBuf};

/// A conversion: inputs, output and changes, which are applied in the order of
/// the fields from `sort` on.
#[derive(Clone, Debug)]
pub struct ConvertSpec {
    /// The traces; several are merged by time.
    pub inputs: Vec<PathBuf>,
    /// The file to write.
    pub output: PathBuf,
    /// The name of its format; that of its ending if not given.
    pub to: Option<String>,
    /// The format of all inputs; recognised by their content if not given.
    pub format: Option<Format>,
    /// The options of their readers.
    pub options: Options,
    /// Sorts records that are late by up to this.
    pub sort: Nanos,
    /// Takes these devices only, by number or name; empty for all.
    pub devices: Vec<String>,
    /// Takes requests from this time on, on the common clock.
    pub from: Nanos,
    /// Takes requests before this time.
    pub until: Option<Nanos>,
    /// Takes a part of them.
    pub sample: Sample,
    /// Takes this many requests from the start.
    pub requests: Option<u64>,
    /// Makes the first request taken time zero.
    pub rebase: bool,
    /// Divides the times.
    pub time_scale: f64,
    /// Widens requests to whole blocks of 512 bytes.
    pub widen: bool,
    /// Keeps the device numbers of several traces, even if they collide.
    pub keep_devices: bool,
}

/// The sample of the requests to take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sample {
    /// All.
    #[default]
    All,
    /// The first, and then one of every n.
    Every(u64),
    /// The requests that begin in a share of the 4 KiB units, chosen by hash:
    /// the sample keeps the reuse of data.
    Places {
        /// The share, above 0 and at most 1.
        share: f64,
        /// Selects another sample.
        seed: u64,
    },
}

impl ConvertSpec {
    /// All of some traces into a file.
    pub fn new(inputs: &[PathBuf], output: &Path) -> Self {
        Self {
            inputs: inputs.to_vec(),
            output: output.to_owned(),
            to: None,
            format: None,
            options: Options::default(),
            sort: Nanos::ZERO,
            devices: Vec::new(),
            from: Nanos::ZERO,
            until: None,
            sample: Sample::All,
            requests: None,
            rebase: false,
            time_scale: 1.0,
            widen: false,
            keep_devices: false,
        }
    }

    /// Writes the file, which appears when it is complete, and returns a report.
    /// `check` is called now and then; its error ends the work and leaves no file.
    ///
    /// Times are on one clock: traces that count from the start of their
    /// recording start together and keep their times; traces with calendar
    /// times keep their distances, and their earliest request is at zero; the
    /// times of a trace without times follow from its response and think times.
    ///
    /// # Errors
    /// A file cannot be read or written, a record is bad or does not fit the
    /// format, nothing is left to write, a value is out of its range, or
    /// `check` fails.
    pub fn convert(&self, check: &mut dyn FnMut(Reading) -> Result<()>) -> Result<Conversion> {
        self.validate()?;
        refuse_overwriting(&self.output, self.inputs.iter().map(PathBuf::as_path))?;
        let merge = Merge::new(self.open(check)?, &self.inputs)?;
        let (to, writer) =
            output::create(&self.output, self.to.as_deref(), self.options.formats.writers)?;
        work::write(self, merge, to, writer, check)
    }

    /// Starts reading the inputs.
    fn open(&self, check: &mut dyn FnMut(Reading) -> Result<()>) -> Result<Vec<MergeInput>> {
        // Keep all supplies alive: a stream named twice is then refused.
        let supplies: Vec<_> = (self.inputs.iter()).map(|path| Supply::new(path)).collect();
        let mut open = |supply: &Supply| {
            let beginning = &mut || check(Reading { bytes: 0, of: None });
            let (found, input) =
                ResolvedFormat::open(supply, self.format, &self.options, beginning)?;
            let (compression, bytes) = (input.compression(), input.bytes());
            let reader = found.format.open(input, &self.options)?;
            let records = SortedRecords::new(reader, self.sort, true);
            Ok(MergeInput::new(supply, found, compression, bytes, records))
        };
        supplies.iter().map(&mut open).collect()
    }

    fn validate(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Key(problem));
        if self.inputs.is_empty() {
            return refuse("inputs: must be at least one trace".to_owned());
        }
        if let Some(until) = self.until
            && until <= self.from
        {
            let (from, until) = (self.from.s(), until.s());
            return refuse(format!("until = {until} s: must be after from = {from} s"));
        }
        match self.sample {
            Sample::Every(0) => return refuse("every = 0: must be at least 1".to_owned()),
            Sample::Places { share, .. } if !(share > 0.0 && share <= 1.0) => {
                return refuse(format!("sample = {share}: must be above 0 and at most 1"));
            }
            _ => {}
        }
        if self.requests == Some(0) {
            return refuse("requests = 0: must be at least 1".to_owned());
        }
        if !(self.time_scale >= 1e-6 && self.time_scale <= 1e12) {
            let scale = self.time_scale;
            return refuse(format!("time_scale = {scale}: must be from 1e-6 to 1e12"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
