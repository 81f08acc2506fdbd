//! A row for each part of a trace, as an Arrow table.

use crate::replay::{ListedPart, ListedWindow};
use crate::stats::{RunFigures, RunReport, Stats, described, finite, seconds, utilisation};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// What is known of a part.
#[derive(Clone, Debug, Default)]
pub(super) struct PartRow {
    pub name: String,
    /// Its requests in the trace, without those of a warm-up before its window.
    pub requests: u64,
    window: Option<ListedWindow>,
    counted: Option<u64>,
    mean_ms: Option<f64>,
    p99_ms: Option<f64>,
    throughput_iops: Option<f64>,
    utilisation: Option<f64>,
    pub outstanding: Option<[u64; 2]>,
    pub longest_wait: Option<(Nanos, Nanos, u64)>,
    caution: Option<&'static str>,
    pub error: Option<String>,
}

impl PartRow {
    /// A part that is expected.
    pub fn new(part: ListedPart) -> Self {
        let window = part.window;
        Self { name: part.name.to_string(), requests: part.requests, window, ..Self::default() }
    }

    /// The requests of the warm-up before its window.
    pub fn warm_up(&self) -> u64 {
        self.window.as_ref().map_or(0, |window| window.warm_up_requests)
    }

    /// Whether its window ends where the other begins.
    pub fn is_before(&self, other: &Self) -> bool {
        let windows = self.window.as_ref().zip(other.window.as_ref());
        windows.is_some_and(|(one, other)| one.end_ns == other.start_ns)
    }

    /// Takes over the results of its run.
    pub fn take(&mut self, stats: &Stats, figures: &RunFigures, facts: &RunReport) {
        let times = stats.response_ms();
        self.counted = Some(figures.requests);
        self.mean_ms = times.mean;
        self.p99_ms = times.p99;
        self.throughput_iops = finite(figures.throughput_iops());
        self.utilisation = utilisation(facts, figures.active);
        self.outstanding = facts.outstanding;
        self.longest_wait = figures.longest_wait;
        self.caution = match (figures.saturated, figures.overloaded) {
            (true, _) => Some("saturated"),
            (_, true) => Some("overloaded"),
            _ => match figures.intervals[0] {
                None => Some("too few requests"),
                Some(interval) => interval.caution.map(crate::stats::Caution::text),
            },
        };
    }

    /// Why it failed, if it did.
    pub fn failure(&self) -> Option<String> {
        let error = self.error.as_ref()?;
        Some(format!("{}: {error}", self.name))
    }

    /// Its name, if it is saturated or overloaded.
    pub fn grave(&self) -> Option<&str> {
        let grave = matches!(self.caution, Some("saturated" | "overloaded"));
        grave.then_some(&self.name)
    }
}

/// Name, unit, description and cell of a column.
type Column = (&'static str, &'static str, &'static str, Cell);

enum Cell {
    Text(fn(&PartRow) -> Option<&str>),
    Count(fn(&PartRow) -> Option<u64>),
    Number(fn(&PartRow) -> Option<f64>),
}

const COLUMNS: [Column; 9] = [
    (
        "name",
        "",
        "Name or number of the volume, or number of the window",
        Cell::Text(|row| Some(&row.name)),
    ),
    ("requests", "", "Requests of it in the trace", Cell::Count(|row| Some(row.requests))),
    ("counted", "", "Requests that are counted", Cell::Count(|row| row.counted)),
    ("mean_ms", "ms", "Mean response time", Cell::Number(|row| row.mean_ms)),
    ("p99_ms", "ms", "99th percentile of the response time", Cell::Number(|row| row.p99_ms)),
    (
        "throughput_iops",
        "1/s",
        "Requests per second, from the first arrival to the last completion",
        Cell::Number(|row| row.throughput_iops),
    ),
    (
        "utilisation",
        "",
        "Share of the time in which its busiest mechanism was busy",
        Cell::Number(|row| row.utilisation),
    ),
    ("caution", "", "Why its mean is not to be relied on", Cell::Text(|row| row.caution)),
    ("error", "", "Why it has no results", Cell::Text(|row| row.error.as_deref())),
];

/// Columns of windows.
const WINDOW_COLUMNS: [Column; 5] = [
    (
        "start_s",
        "s",
        "Where the window begins, on the clock of the replay",
        Cell::Number(|row| row.window.as_ref().map(|window| seconds(window.start_ns))),
    ),
    (
        "end_s",
        "s",
        "Where it ends",
        Cell::Number(|row| row.window.as_ref().map(|window| seconds(window.end_ns))),
    ),
    (
        "warm_up_requests",
        "",
        "Requests before it that are simulated and not counted",
        Cell::Count(|row| row.window.as_ref().map(|window| window.warm_up_requests)),
    ),
    (
        "outstanding_at_start",
        "",
        "Of these, how many were outstanding when it began",
        Cell::Count(|row| row.outstanding.map(|[start, _]| start)),
    ),
    (
        "outstanding_at_end",
        "",
        "Requests outstanding when it ended",
        Cell::Count(|row| row.outstanding.map(|[_, end]| end)),
    ),
];

/// The rows as an Arrow table; of windows with their bounds.
pub(super) fn parts_batch(rows: &[PartRow], by_window: bool) -> RecordBatch {
    let more = WINDOW_COLUMNS.iter().filter(|_| by_window);
    let columns = COLUMNS.iter().chain(more);
    let columns = columns.map(|(name, unit, description, cell)| {
        let (data_type, array): (_, ArrayRef) = match cell {
            Cell::Text(of) => {
                (DataType::Utf8, Arc::new(StringArray::from_iter(rows.iter().map(of))))
            }
            Cell::Count(of) => {
                (DataType::UInt64, Arc::new(UInt64Array::from_iter(rows.iter().map(of))))
            }
            Cell::Number(of) => {
                (DataType::Float64, Arc::new(Float64Array::from_iter(rows.iter().map(of))))
            }
        };
        let nullable = !matches!(*name, "name" | "requests");
        let field = Field::new(*name, data_type, nullable);
        (described(field, unit, description), array)
    });
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.unzip();
    let version = ("sledsim".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let schema = Schema::new(fields).with_metadata([version]);
    RecordBatch::try_new(Arc::new(schema), arrays).expect("arrays follow the schema")
}
