//! Rows in memory or in a file as a trace.

use super::file::PerfettoFile;
use crate::damaged_parquet::ParquetFile;
use crate::formats::{BAD, NULL, numbers, text};
use crate::panics::catch_panic;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use sledsim_base::error::{Error, Result};
use sledsim_base::files::refuse_overwriting;
use sledsim_base::progress::Progress;
use sledsim_base::request::{NO_REQUEST, Op};
use sledsim_base::row::{Parts, Row, Status, UNKNOWN_ENERGY};
use sledsim_base::units::Nanos;
use std::path::Path;

/// The rows decoded at a time.
const ROWS: usize = 8_192;

/// Where the rows are.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// In a Parquet file that a run or a recording wrote.
    File(&'a Path),
    /// In memory, with the time series if there is one.
    Memory {
        /// The rows.
        rows: &'a [RecordBatch],
        /// The series.
        series: &'a [RecordBatch],
    },
}

/// Writes rows as a trace for Perfetto; returns how many.
///
/// # Errors
/// Rows that cannot be read or are not those of a run, an output that is the input
/// or cannot be written, or `check`'s.
pub fn convert(
    source: Source<'_>,
    output: &Path,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<u64> {
    match source {
        Source::File(path) => {
            refuse_overwriting(output, [path])?;
            let wrong = |problem| Error::trace(path, problem);
            let file = ParquetFile::open(path).map_err(wrong)?;
            for name in NUMBERS.iter().chain(&NAMES).chain(&[PARENT, ENERGY]) {
                if file.schema().column_with_name(name).is_none() {
                    return Err(wrong(format!(
                        "has no column {name}: must be the rows of a run (--rows) or a recording \
                         (--record)"
                    )));
                }
            }
            let all = file.rows();
            let batches = file.batches(None, ROWS).map_err(wrong)?;
            let mut trace = PerfettoFile::create(output, &[])?;
            for batch in batches {
                let damaged = |e| wrong(format!("the Parquet data are damaged ({e})"));
                let batch = batch.map_err(damaged)?;
                add(&mut trace, &batch, &wrong)?;
                check(Progress { completed: trace.rows(), requests: Some(all), share: None })?;
            }
            trace.finish([])
        }
        Source::Memory { rows, series } => {
            let wrong = |problem| Error::Key(format!("rows: {problem}"));
            let mut trace = PerfettoFile::create(output, &[])?;
            for batch in rows {
                add(&mut trace, batch, &wrong)?;
            }
            trace.finish(series.iter().flat_map(power))
        }
    }
}

/// The columns of numbers that are used, but for those that may be null.
const NUMBERS: [&str; 9 + Parts::COUNT] = {
    let mut names = [""; 9 + Parts::COUNT];
    names.split_at_mut(Parts::COUNT).0.copy_from_slice(&Parts::COLUMNS);
    names.split_at_mut(Parts::COUNT).1.copy_from_slice(&[
        "id",
        "stream",
        "lbn",
        "blocks",
        "arrival_ns",
        "completion_ns",
        "queue_depth",
        "passes",
        "retries",
    ]);
    names
};
const NAMES: [&str; 3] = ["device", "op", "status"];
const PARENT: &str = "parent";
const ENERGY: &str = "energy_nj";
const LATENESS: &str = "lateness_ns";

/// Adds the rows of a batch; `wrong` makes an error of what is wrong with it.
fn add(
    trace: &mut PerfettoFile,
    batch: &RecordBatch,
    wrong: &impl Fn(String) -> Error,
) -> Result<()> {
    let decoded = catch_panic(|| Decoded::of(batch)).and_then(|decoded| decoded);
    let decoded = decoded.map_err(wrong)?;
    let [device_names, op_names, status_names] = &decoded.names;
    let mut devices = Vec::new();
    for name in &device_names.values {
        devices.push(trace.device(name)?);
    }
    let op = |name: &String| Op::ALL.into_iter().find(|op| op.name() == name);
    let ops: Vec<_> = op_names.values.iter().map(op).collect();
    let status = |name: &String| Status::ALL.into_iter().find(|found| found.name() == name);
    let statuses: Vec<_> = status_names.values.iter().map(status).collect();
    for at in 0..batch.num_rows() {
        let place = trace.rows() + 1;
        let wrong = |problem: String| wrong(format!("row {place}: {problem}"));
        let row = Row {
            device: *(devices.get(device_names.keys[at]))
                .ok_or_else(|| wrong("has no device".to_owned()))?,
            op: (ops.get(op_names.keys[at]).copied().flatten())
                .ok_or_else(|| wrong("op: must be read, write, flush or trim".to_owned()))?,
            status: (statuses.get(status_names.keys[at]).copied().flatten())
                .ok_or_else(|| wrong("status: must be ok or error".to_owned()))?,
            ..decoded.row(at).map_err(wrong)?
        };
        let lateness = (decoded.lateness.get(at)).filter(|&&late| late < BAD);
        trace.push(&row, lateness.map(|&late| Nanos(late)))?;
    }
    Ok(())
}

/// The beginning of each window of a series, and watts; none in another table.
fn power(series: &RecordBatch) -> Vec<(Nanos, f64)> {
    let mut starts = Vec::new();
    let columns = (series.column_by_name("start_ns")).zip(series.column_by_name("power_w"));
    let watts = columns.and_then(|(start, watts)| {
        numbers(start, 1, None, &mut starts);
        watts.as_primitive_opt::<Float64Type>()
    });
    let watts = watts.into_iter().flatten();
    let starts = starts.into_iter().map(Nanos);
    (starts.zip(watts).filter_map(|(start, watts)| Some((start, watts?)))).collect()
}

/// A column of names: which of the values each row has; none for null.
struct Names {
    keys: Vec<usize>,
    values: Vec<String>,
}

impl Names {
    fn of(array: &dyn Array) -> Self {
        let name = |array: &dyn Array, row| {
            let found = text(array, row).map(String::from_utf8_lossy);
            found.unwrap_or_default().into_owned()
        };
        let mut names = match array.as_any_dictionary_opt() {
            Some(dictionary) if !dictionary.values().is_empty() => Self {
                keys: dictionary.normalized_keys(),
                values: (0..dictionary.values().len())
                    .map(|row| name(&**dictionary.values(), row))
                    .collect(),
            },
            Some(_) => Self { keys: vec![usize::MAX; array.len()], values: Vec::new() },
            None => {
                let (mut keys, mut values) = (Vec::new(), Vec::<String>::new());
                for row in 0..array.len() {
                    let found = name(array, row);
                    let key = values.iter().position(|known| *known == found);
                    keys.push(key.unwrap_or(values.len()));
                    if key.is_none() {
                        values.push(found);
                    }
                }
                Self { keys, values }
            }
        };
        for (row, key) in names.keys.iter_mut().enumerate() {
            if array.is_null(row) {
                *key = usize::MAX;
            }
        }
        names
    }
}

/// The columns of a batch that are used.
struct Decoded {
    numbers: [Vec<u64>; NUMBERS.len()],
    names: [Names; NAMES.len()],
    parents: Vec<u64>,
    energies: Vec<u64>,
    /// Empty without the column.
    lateness: Vec<u64>,
}

impl Decoded {
    fn of(batch: &RecordBatch) -> std::result::Result<Self, String> {
        let column = |name| {
            let found = batch.column_by_name(name);
            found.ok_or_else(|| format!("there is no column {name}"))
        };
        let mut decoded = Self {
            numbers: Default::default(),
            names: [
                Names::of(column("device")?),
                Names::of(column("op")?),
                Names::of(column("status")?),
            ],
            parents: Vec::new(),
            energies: Vec::new(),
            lateness: Vec::new(),
        };
        for (name, values) in NUMBERS.into_iter().zip(&mut decoded.numbers) {
            numbers(column(name)?, 1, None, values);
        }
        numbers(column(PARENT)?, 1, None, &mut decoded.parents);
        numbers(column(ENERGY)?, 1, None, &mut decoded.energies);
        if let Some(lateness) = batch.column_by_name(LATENESS) {
            numbers(lateness, 1, None, &mut decoded.lateness);
        }
        Ok(decoded)
    }

    /// A row but for its names.
    fn row(&self, at: usize) -> std::result::Result<Row, String> {
        let bad = |column: &Vec<u64>| column[at] >= BAD;
        if let Some(place) = self.numbers.iter().position(bad) {
            let name = NUMBERS[place];
            return Err(format!("{name}: must be a whole number from 0 on"));
        }
        let energy_nj = match self.energies[at] {
            NULL => UNKNOWN_ENERGY,
            energy if energy < BAD => energy,
            _ => return Err(format!("{ENERGY}: must be a whole number from 0 on")),
        };
        let mut values = self.numbers.iter().map(|column| column[at]);
        let mut next = || values.next().unwrap_or_default();
        let parts = Parts::from_each(std::array::from_fn(|_| Nanos(next())));
        let (id, stream, lbn, blocks) = (next(), next(), next(), next());
        let (arrival, completion, queue_depth) = (Nanos(next()), Nanos(next()), next());
        let (passes, retries) = (next(), next());
        let whole = |value| u32::try_from(value).unwrap_or(u32::MAX);
        let row = Row {
            id,
            parent: match self.parents[at] {
                NULL => None,
                // The largest number there is.
                BAD => Some(NO_REQUEST),
                parent => Some(parent),
            },
            stream: whole(stream),
            lbn,
            blocks: whole(blocks),
            arrival,
            completion,
            queue_depth: whole(queue_depth),
            parts,
            passes: whole(passes),
            retries: whole(retries),
            energy_nj,
            ..Row::default()
        };
        let sum: u128 = parts.exclusive().map(|part| u128::from(part.0)).sum();
        if u128::from(arrival.0) + sum != u128::from(completion.0) {
            return Err("the causes do not add up to completion - arrival".to_owned());
        }
        Ok(row)
    }
}
