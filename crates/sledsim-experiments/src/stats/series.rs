//! Time series: throughput, outstanding requests and power, window by window.

use super::batch::described;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use sledsim_base::error::{Error, Result};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::model::{Model, Report};
use std::sync::Arc;

/// The initial length of windows if none is given.
const FIRST_WINDOW: Nanos = Nanos(1_000_000);
/// Windows are made twice as long when this number is reached.
const MOST_WINDOWS: usize = 1024;
/// The most windows of a given length.
const MOST_CHOSEN: usize = 1_000_000;

/// The totals of one window, from `start` to `end`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its beginning; events at that instant belong to the window before.
    pub start: Nanos,
    /// Its end.
    pub end: Nanos,
    /// Requests completed.
    pub requests: u64,
    /// Blocks read and written by them, errors not counted.
    pub blocks: u64,
    /// Requests outstanding, averaged over the window.
    pub outstanding: f64,
    /// Energy of all devices in joules, if it is known of all. The energy of an operation is
    /// booked when it begins.
    pub energy_j: Option<f64>,
}

impl Window {
    fn seconds(&self) -> f64 {
        self.end.since(self.start).0 as f64 / 1e9
    }

    /// The power of all devices in watts, if it is known.
    pub fn power_w(&self) -> Option<f64> {
        Some(self.energy_j? / self.seconds())
    }
}

/// A window during the run.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    requests: u64,
    blocks: u64,
    /// Time of all requests in it together, but for those that were
    /// outstanding through all of it.
    outstanding_ns: u128,
    /// How many more of the latter there are than in the window before.
    through: i64,
}

/// Collects windows from rows, in constant memory unless their length is
/// chosen.
#[derive(Clone, Debug)]
pub struct Series {
    window: u64,
    chosen: bool,
    tallies: Vec<Tally>,
    /// Energy spent up to the end of each window.
    energy_j: Vec<Option<f64>>,
    reports: Vec<Report>,
}

impl Series {
    /// Windows of this length, or as long as it takes to have 512 to 1,024 of
    /// them in the end (fewer if the run is short): 1, 2, 4, ... ms.
    pub fn new(window: Option<Nanos>) -> Self {
        Self {
            window: window.unwrap_or(FIRST_WINDOW).0.max(1),
            chosen: window.is_some(),
            tallies: Vec::new(),
            energy_j: Vec::new(),
            reports: Vec::new(),
        }
    }

    /// Records a row.
    ///
    /// # Errors
    /// More windows of the chosen length than there may be.
    pub fn record(&mut self, row: &Row) -> Result<()> {
        let last = self.window_of(row.completion)?;
        // A window includes its end.
        let completed = (row.completion.0.saturating_sub(1) / self.window) as usize;
        let first = (row.arrival.0 / self.window) as usize;
        let tally = &mut self.tallies[completed];
        tally.requests += 1;
        if row.status == Status::Ok && row.op.moves_data() {
            tally.blocks += u64::from(row.blocks);
        }
        let (arrival, completion) = (row.arrival.0, row.completion.0);
        if first == last {
            self.tallies[first].outstanding_ns += u128::from(completion - arrival);
        } else {
            let end_of_first = (first as u64 + 1) * self.window;
            self.tallies[first].outstanding_ns += u128::from(end_of_first - arrival);
            self.tallies[first + 1].through += 1;
            self.tallies[last].through -= 1;
            self.tallies[last].outstanding_ns += u128::from(completion - last as u64 * self.window);
        }
        Ok(())
    }

    /// Asks the model for its energy at the end of every window up to `now`;
    /// returns when the next one ends.
    ///
    /// # Errors
    /// More windows of the chosen length than there may be.
    pub fn tick(&mut self, now: Nanos, model: &dyn Model) -> Result<Nanos> {
        loop {
            let end = (self.energy_j.len() as u64 + 1).saturating_mul(self.window);
            if end > now.0 {
                return Ok(Nanos(end));
            }
            // Create the next window first, so that there is room for this one.
            self.window_of(Nanos(end))?;
            if (self.energy_j.len() as u64 + 1).saturating_mul(self.window) == end {
                self.reports.clear();
                model.report(Nanos(end), &mut self.reports);
                self.energy_j.push(total_j(&self.reports));
            }
        }
    }

    /// The window that begins at or before `at`, created if needed.
    fn window_of(&mut self, at: Nanos) -> Result<usize> {
        let mut index = (at.0 / self.window) as usize;
        if self.chosen && index >= MOST_CHOSEN {
            return Err(Error::argument(
                "series_ms",
                format!(
                    "series_ms = {}: makes more than {MOST_CHOSEN} windows in {} s; choose longer ones",
                    Nanos(self.window).ms(),
                    at.s()
                ),
            ));
        }
        while !self.chosen && index >= MOST_WINDOWS {
            self.double();
            index = (at.0 / self.window) as usize;
        }
        if index >= self.tallies.len() {
            self.tallies.resize(index + 1, Tally::default());
        }
        Ok(index)
    }

    /// Joins every two windows.
    fn double(&mut self) {
        self.settle();
        self.tallies = (self.tallies.chunks(2))
            .map(|pair| {
                pair.iter().fold(Tally::default(), |sum, one| Tally {
                    requests: sum.requests + one.requests,
                    blocks: sum.blocks + one.blocks,
                    outstanding_ns: sum.outstanding_ns + one.outstanding_ns,
                    through: 0,
                })
            })
            .collect();
        self.energy_j = self.energy_j.iter().copied().skip(1).step_by(2).collect();
        self.window *= 2;
    }

    /// Adds the requests that were outstanding throughout to each window.
    fn settle(&mut self) {
        let mut through = 0;
        for tally in &mut self.tallies {
            through += std::mem::take(&mut tally.through);
            tally.outstanding_ns += through as u128 * u128::from(self.window);
        }
    }

    /// The windows of a run that ended at `end`, the last one cut there.
    pub fn finish(mut self, end: Nanos, model: &dyn Model) -> Result<Vec<Window>> {
        self.tick(end, model)?;
        self.window_of(end)?;
        self.settle();
        self.reports.clear();
        model.report(end, &mut self.reports);
        let total_j = total_j(&self.reports);
        let mut before_j = Some(0.0);
        let windows = self.tallies.iter().zip(0_u64..).map_while(|(tally, i)| {
            let (start, stop) = (Nanos(i * self.window), Nanos((i + 1) * self.window));
            let last = stop >= end;
            let until_j = match self.energy_j.get(i as usize) {
                Some(&joules) if !last => joules,
                _ => total_j,
            };
            let window = Window {
                start,
                end: stop.min(end),
                requests: tally.requests,
                blocks: tally.blocks,
                outstanding: tally.outstanding_ns as f64 / stop.min(end).since(start).0 as f64,
                energy_j: (until_j.zip(before_j)).map(|(until, before)| until - before),
            };
            before_j = until_j;
            (start < end).then_some(window)
        });
        Ok(windows.collect())
    }
}

fn total_j(reports: &[Report]) -> Option<f64> {
    let energies = reports.iter().map(|report| report.energy);
    energies.map(|energy| Some(energy?.total_j())).sum()
}

/// Name, unit, description and value of each column.
type Column = (&'static str, &'static str, &'static str, Cell);

/// How a column gets its cell.
enum Cell {
    Time(fn(&Window) -> Nanos),
    Count(fn(&Window) -> u64),
    Number(fn(&Window) -> f64),
    /// Null if it is unknown.
    Known(fn(&Window) -> Option<f64>),
}

const COLUMNS: [Column; 9] = [
    (
        "start_ns",
        "ns",
        "Where the window begins, since the start of the simulation",
        Cell::Time(|w| w.start),
    ),
    ("end_ns", "ns", "Where it ends; what happens then belongs to it", Cell::Time(|w| w.end)),
    ("requests", "", "Requests completed", Cell::Count(|w| w.requests)),
    (
        "blocks",
        "block",
        "Blocks they read and wrote, errors not counted",
        Cell::Count(|w| w.blocks),
    ),
    (
        "throughput_iops",
        "1/s",
        "Requests completed per second",
        Cell::Number(|w| w.requests as f64 / w.seconds()),
    ),
    (
        "throughput_mb_s",
        "MB/s",
        "Data they read and wrote per second",
        Cell::Number(|w| w.blocks as f64 * BLOCK_BYTES as f64 / 1e6 / w.seconds()),
    ),
    (
        "outstanding",
        "",
        "Requests that had arrived and were not complete, averaged over the window",
        Cell::Number(|w| w.outstanding),
    ),
    (
        "energy_j",
        "J",
        "Energy of all devices, idling included; an operation's is booked when it begins; null if a device has no values of power",
        Cell::Known(|w| w.energy_j),
    ),
    ("power_w", "W", "The same per second", Cell::Known(Window::power_w)),
];

/// The windows as an Arrow table.
pub fn series_batch(windows: &[Window]) -> RecordBatch {
    let columns = COLUMNS.iter().map(|(name, unit, description, cell)| {
        let array: ArrayRef = match cell {
            Cell::Time(of) => {
                Arc::new(Int64Array::from_iter_values(windows.iter().map(|w| of(w).0 as i64)))
            }
            Cell::Count(of) => Arc::new(UInt64Array::from_iter_values(windows.iter().map(of))),
            Cell::Number(of) => Arc::new(Float64Array::from_iter_values(windows.iter().map(of))),
            Cell::Known(of) => Arc::new(Float64Array::from_iter(windows.iter().map(of))),
        };
        let data_type = match cell {
            Cell::Time(_) => DataType::Int64,
            Cell::Count(_) => DataType::UInt64,
            Cell::Number(_) | Cell::Known(_) => DataType::Float64,
        };
        let field = Field::new(*name, data_type, matches!(cell, Cell::Known(_)));
        (described(field, unit, description), array)
    });
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.unzip();
    let version = ("sledsim".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let schema = Schema::new(fields).with_metadata([version]);
    RecordBatch::try_new(Arc::new(schema), arrays).expect("arrays follow the schema")
}
