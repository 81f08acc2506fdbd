//! The plan of a run: its repetitions, and the results to keep.

use crate::load::Load;
use sledsim_base::error::{Error, Result};
use sledsim_base::files::{is_same_file, refuse_overwriting};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use std::path::{Path, PathBuf, absolute};

/// The destination of the rows. The statistics are always kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RowsTo {
    /// Nowhere.
    #[default]
    Nowhere,
    /// Into memory, as record batches.
    Memory,
    /// Into memory, as [`sledsim_base::row::Row`]s: those of the load's requests that count.
    List,
    /// Into a `.parquet` or `.csv` file, which appears when it is complete.
    File(PathBuf),
}

/// The destination of the time series.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SeriesTo {
    /// Nowhere: no series is made.
    #[default]
    Nowhere,
    /// Into memory.
    Memory,
    /// Into a file, `.csv` or `.parquet`, and into memory.
    File(PathBuf),
}

impl RowsTo {
    fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            _ => None,
        }
    }
}

impl SeriesTo {
    fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            _ => None,
        }
    }
}

/// The plan of a run: its repetitions, and the results to keep beside the
/// statistics.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Where the rows go.
    pub rows: RowsTo,
    /// Whether the requests inside a composite are in the rows and in the trace for
    /// Perfetto, too. Without it these have the requests of the host alone.
    pub parts: bool,
    /// Where the time series goes.
    pub series: SeriesTo,
    /// A trace of the requests for Perfetto, with the power of the windows of a
    /// series.
    pub perfetto: Option<PathBuf>,
    /// The length of its windows; by default chosen to have 512 to 1,024.
    pub window: Option<Nanos>,
    /// Ends the run when half the confidence interval of the mean response time
    /// is at most this share of the mean.
    pub precision: Option<f64>,
    /// The number of runs, with consecutive seeds from the load's on; 0 means 1.
    pub seeds: u64,
    /// Threads for several seeds; 0 for as many as there are processors. No
    /// result depends on it.
    pub threads: usize,
    /// Of a window of a trace, its start and end: tells how many requests are
    /// outstanding at each.
    pub bounds: Option<(Nanos, Nanos)>,
}

impl From<&RowsTo> for Plan {
    fn from(rows: &RowsTo) -> Self {
        Self { rows: rows.clone(), ..Self::default() }
    }
}

impl From<&Self> for Plan {
    fn from(plan: &Self) -> Self {
        plan.clone()
    }
}

/// The most seeds of one run.
const MOST_SEEDS: u64 = 10_000;

impl Plan {
    /// Refuses a plan that cannot be run.
    ///
    /// # Errors
    /// A value out of its range, outputs that collide, or seeds where there is
    /// to be one run.
    pub(super) fn check(&self, device: &Device, load: &Load) -> Result<()> {
        if let Some(precision) = self.precision
            && !(precision > 0.0 && precision < 1.0)
        {
            return Err(Error::argument(
                "precision",
                format!("precision = {precision}: must be above 0 and below 1 (100 %)"),
            ));
        }
        if self.window == Some(Nanos::ZERO) {
            let problem = "series_ms: must be at least 0.000001 (a nanosecond)";
            return Err(Error::Key(problem.to_owned()));
        }
        if self.window.is_some() && !self.has_series() {
            let problem = "series_ms: is the length of windows, and no series is asked for";
            return Err(Error::Key(problem.to_owned()));
        }
        self.check_outputs(load)?;
        if self.seeds > MOST_SEEDS {
            let seeds = self.seeds;
            return Err(Error::argument(
                "replications",
                format!("replications = {seeds}: must be an integer from 1 to {MOST_SEEDS}"),
            ));
        }
        if self.seeds > 1 {
            self.check_seeds(device, load)?;
        }
        let has_rows = matches!(self.rows, RowsTo::Memory | RowsTo::File(_));
        if self.parts && !has_rows && self.perfetto.is_none() {
            return Err(Error::argument(
                "parts",
                "parts = true: no rows are kept; keep rows in memory or in a file, or write a \
                 trace for Perfetto"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Whether a time series is made.
    pub(super) fn has_series(&self) -> bool {
        self.series != SeriesTo::Nowhere || self.perfetto.is_some()
    }

    /// Refuses a file that is named for two outputs, or is read.
    fn check_outputs(&self, load: &Load) -> Result<()> {
        let outputs = [
            ("the rows", self.rows.file()),
            ("the series", self.series.file()),
            ("the trace for Perfetto", self.perfetto.as_deref()),
        ];
        let outputs = outputs.map(|(what, path)| path.map(|path| (what, path)));
        let outputs: Vec<_> = outputs.into_iter().flatten().collect();
        for (place, (what, path)) in outputs.iter().enumerate() {
            let same = |other: &Path| {
                *path == other
                    || absolute(path).ok() == absolute(other).ok()
                    || is_same_file(path, other)
            };
            if let Some((other, _)) = outputs[place + 1..].iter().find(|(_, other)| same(other)) {
                return Err(Error::output(path, format!("is named for both {what} and {other}")));
            }
            refuse_overwriting(path, load.file())?;
        }
        Ok(())
    }

    /// Several runs give only one summary.
    fn check_seeds(&self, device: &Device, load: &Load) -> Result<()> {
        let seeds = self.seeds;
        if self.rows != RowsTo::Nowhere || self.parts {
            return Err(Error::argument(
                "replications",
                format!(
                    "replications = {seeds}: rows are kept of a single run only; run one seed for them"
                ),
            ));
        }
        if self.perfetto.is_some() {
            return Err(Error::argument(
                "replications",
                format!(
                    "replications = {seeds}: a trace for Perfetto is of a single run only; run one seed \
                     for it"
                ),
            ));
        }
        if self.series != SeriesTo::Nowhere {
            return Err(Error::argument(
                "replications",
                format!(
                    "replications = {seeds}: a series is of a single run only; run one seed for it"
                ),
            ));
        }
        if !device.background().is_empty() {
            return Err(Error::argument(
                "replications",
                format!(
                    "replications = {seeds}: background tasks are told of for a single run only; run one \
                 seed for them"
                ),
            ));
        }
        let Some(seed) = load.seed() else {
            return Err(Error::argument(
                "replications",
                format!("replications = {seeds}: a trace has no seed; every run of it is the same"),
            ));
        };
        if seed > i64::MAX as u64 - seeds {
            return Err(Error::argument(
                "replications",
                format!("replications = {seeds}: seeds from {seed} on must not exceed 2^63 - 1"),
            ));
        }
        Ok(())
    }
}
