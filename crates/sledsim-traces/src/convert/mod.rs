//! Traces into another format: merged, cut, sampled, scaled.

mod devices;
mod merge;
pub mod output;
mod select;
mod work;

use super::detect::Found;
use super::sorted::Sorted;
use crate::format::{Format, Options};
use crate::progress::Reading;
use crate::supply::Supply;
use merge::{Input, Merge};
use serde_json::Value;
use sledsim_base::error::{Error, Result};
use sledsim_base::files::refuse_overwriting;
use sledsim_base::units::Nanos;
use std::path::{Path, PathBuf};

/// What to make of which traces. What it says is done in the order of the
/// fields, from `sort` on.
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
    /// What their readers must be told.
    pub options: Options,
    /// Puts records in order that are late by up to this.
    pub sort: Nanos,
    /// Takes these devices only, by number or name; empty for all.
    pub devices: Vec<String>,
    /// Takes requests from this time on, on the common clock.
    pub from: Nanos,
    /// Takes requests before this time.
    pub until: Option<Nanos>,
    /// Takes a part of them.
    pub sample: Sample,
    /// Takes the first so many.
    pub requests: Option<u64>,
    /// Makes the first request taken time zero.
    pub rebase: bool,
    /// Divides the times.
    pub time_scale: f64,
    /// Takes in the whole of every block of 512 bytes that is touched.
    pub widen: bool,
    /// Keeps the device numbers of several traces, even if they collide.
    pub keep_devices: bool,
}

/// Which part of the requests to take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sample {
    /// All.
    #[default]
    All,
    /// The first, and every so manieth after it.
    Every(u64),
    /// A share of the 4 KiB units in which requests begin, chosen by hash:
    /// what is used again stays so.
    Places {
        /// The share, above 0 and at most 1.
        share: f64,
        /// For another choice.
        seed: u64,
    },
}

impl ConvertSpec {
    /// All of some traces into a file.
    #[must_use]
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

    /// Writes the file, which appears when it is complete, and says what was
    /// done; the page on traces describes the keys. `check` is called now and
    /// then; its error ends the work and leaves nothing behind.
    ///
    /// Times are on one clock: traces that count from the start of their
    /// recording start together and keep their times; those that have the
    /// calendar keep their distances, and the earliest request of them is at
    /// zero; one without times gets those that its response and think times
    /// make.
    ///
    /// # Errors
    /// A file cannot be read or written, a record is bad or cannot be held by
    /// the format, nothing is left to write, a value out of its range, or
    /// `check`'s.
    pub fn convert(&self, check: &mut dyn FnMut(Reading) -> Result<()>) -> Result<Value> {
        self.validate()?;
        refuse_overwriting(&self.output, self.inputs.iter().map(PathBuf::as_path))?;
        let merge = Merge::new(self.open(check)?, &self.inputs)?;
        let (to, writer) = output::create(
            &self.output,
            self.to.as_deref(),
            self.options.formats.writers,
        )?;
        work::write(self, merge, to, writer, check)
    }

    /// Starts reading the inputs.
    fn open(&self, check: &mut dyn FnMut(Reading) -> Result<()>) -> Result<Vec<Input>> {
        // One that can be read once only must be named once: all are held.
        let supplies: Vec<_> = (self.inputs.iter()).map(|path| Supply::new(path)).collect();
        let mut open = |supply: &Supply| {
            let beginning = &mut || check(Reading { bytes: 0, of: None });
            let (found, input) = Found::of(supply, self.format, &self.options, beginning)?;
            let (compression, bytes) = (input.compression(), input.bytes());
            let reader = found.format.open(input, &self.options)?;
            let records = Sorted::new(reader, self.sort, true);
            Ok(Input::new(supply, found, compression, bytes, records))
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
