//! Generic Parquet, with columns given by the key `columns`, and sledsim's own:
//! traces, and the rows of a run (which `recording` sorts).
//!
//! Modules: `open` starts the reading, `schema` finds the columns, `cells` and
//! `numbers` decode them, `shown` formats values for messages.

mod cells;
mod numbers;
mod open;
mod schema;
mod shown;

pub(crate) use cells::text;
pub(crate) use numbers::{BAD, NULL, numbers};

use crate::damaged_parquet::Batches;
use crate::panics::catch_panic;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use cells::{Cells, Decoded, has_value};
use shown::shown;
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_traces::columns::{Columns, Quantity, Role, all_left_out};
use sledsim_traces::devices::DeviceColumn;
use sledsim_traces::{END_BYTES, LATEST_NS, Reader, Record};
use std::path::PathBuf;

/// One request per row; only the columns that are used are decoded.
pub struct Parquet {
    pub(super) path: PathBuf,
    batches: Batches,
    columns: Columns,
    /// The used columns of the current batch.
    cells: [Option<Cells>; Role::ALL.len()],
    /// The rows of a run: requests of its workload have no parent, their order
    /// of arrival is that of their ids, and their response is what lies between
    /// two columns. Recordings have latenesses too.
    pub(super) parent: Option<Cells>,
    /// Reads only the outermost device, once its name is known.
    outer: Option<Cells>,
    pub(super) outermost: Option<String>,
    id: Option<Cells>,
    completion: Option<Cells>,
    lateness: Option<Cells>,
    devices: DeviceColumn,
    /// Columns of [`Columns::only`], and the values of the rows that are requests.
    only: Vec<(usize, Vec<String>)>,
    /// The rows of the batch that are none, and the number of those before.
    left_out: Vec<bool>,
    others: u64,
    /// The next row of the batch, and its number of rows.
    row: usize,
    rows: usize,
    /// Rows in the batches before, and in the whole file.
    before: u64,
    all_rows: u64,
    file_bytes: u64,
    origin: Option<u64>,
}

impl Parquet {
    /// Decodes the next batch that has rows; false at the end.
    fn fill(&mut self) -> Result<bool> {
        loop {
            self.before += self.rows as u64;
            (self.row, self.rows) = (0, 0);
            let Some(batch) = self.batches.next() else {
                return Ok(false);
            };
            let damaged = |message: &dyn std::fmt::Display| {
                let row = self.before + 1;
                let problem = format!("from row {row}: the Parquet data are damaged ({message})");
                Error::trace(&self.path, problem)
            };
            let batch = batch.map_err(|error| damaged(&error))?;
            self.rows = batch.num_rows();
            let extra = [
                &mut self.parent,
                &mut self.outer,
                &mut self.id,
                &mut self.completion,
                &mut self.lateness,
            ];
            let all = self.cells.iter_mut().chain(extra).flatten();
            let decoded = catch_panic(|| {
                for cells in all {
                    cells.array = batch.column(cells.index).clone();
                    cells.decode(&self.columns);
                }
            });
            decoded.map_err(|message| damaged(&message))?;
            self.left_out.clear();
            self.left_out.resize(if self.only.is_empty() { 0 } else { self.rows }, false);
            for (index, values) in &self.only {
                let wanted = has_value(batch.column(*index), values);
                let rows = self.left_out.iter_mut().zip(wanted);
                rows.for_each(|(left_out, wanted)| *left_out |= !wanted);
            }
            if self.rows > 0 {
                return Ok(true);
            }
        }
    }

    /// The number in a column of the current row; `None` for null or a missing
    /// column.
    #[inline]
    fn number(&self, role: Role, least: u64) -> Result<Option<u64>> {
        let Some(cells) = &self.cells[role as usize] else {
            return Ok(None);
        };
        let Decoded::Numbers { values, .. } = &cells.decoded else {
            return Ok(None);
        };
        match values[self.row] {
            NULL => Ok(None),
            BAD => Err(self.bad(role, cells, least)),
            value if value < least => Err(self.bad(role, cells, least)),
            value => Ok(Some(value)),
        }
    }

    /// A span of time, which may be missing.
    #[inline]
    fn span(&self, role: Role) -> Result<Option<u64>> {
        match self.number(role, 0)? {
            Some(ns) if ns > LATEST_NS => Err(self.bad_of(role)),
            ns => Ok(ns),
        }
    }

    /// The number in a required column.
    #[inline]
    fn needed(&self, role: Role, least: u64) -> Result<u64> {
        match self.number(role, least)? {
            Some(value) => Ok(value),
            None => Err(self.null(role)),
        }
    }

    /// Whether the row is an inner request of a composite: one with a parent, or
    /// an internal request of an inner device.
    #[inline]
    fn is_inner(&self) -> bool {
        let parent = self.parent.as_ref();
        parent.is_some_and(|parent| !parent.array.is_null(self.row))
            || (self.outer.as_ref().zip(self.outermost.as_ref()))
                .is_some_and(|(outer, name)| outer.text(self.row) != name.as_bytes())
    }

    /// The time in a column that rows have; `None` for null or no such column.
    #[inline]
    fn of_rows(&self, cells: &Option<Cells>, name: &str) -> Result<Option<u64>> {
        let Some(Cells { decoded: Decoded::Numbers { values, .. }, array, .. }) = cells else {
            return Ok(None);
        };
        match values[self.row] {
            NULL => Ok(None),
            ns if ns > LATEST_NS => {
                let found = shown(&**array, self.row);
                let problem = format!("{name} is {found}: must be a time from 0 to 9e18 ns");
                Err(self.refuse_row(problem))
            }
            ns => Ok(Some(ns)),
        }
    }

    /// The rank of the record read last among those of its time, and its row.
    pub(super) fn place(&self) -> (u64, u64) {
        let row = self.before + self.row as u64;
        match &self.id {
            Some(Cells { decoded: Decoded::Numbers { values, .. }, .. }) => {
                (values[self.row - 1], row)
            }
            _ => (row, row),
        }
    }

    #[inline]
    fn op(&self) -> Result<Op> {
        let Some(cells) = &self.cells[Role::Op as usize] else {
            return Ok(self.columns.all_op.unwrap_or_default());
        };
        let Decoded::Ops(ops) = &cells.decoded else {
            return Err(self.bad(Role::Op, cells, 0));
        };
        match Op::ALL.get(usize::from(ops[self.row])) {
            Some(op) => Ok(*op),
            None if cells.array.is_null(self.row) => Err(self.null(Role::Op)),
            None => Err(self.bad(Role::Op, cells, 0)),
        }
    }

    /// Whether the request is linked; null means no.
    #[inline]
    fn linked(&self) -> Result<bool> {
        let Some(cells) = &self.cells[Role::Linked as usize] else {
            return Ok(false);
        };
        let linked = match &cells.decoded {
            _ if cells.array.is_null(self.row) => return Ok(false),
            Decoded::Numbers { values, .. } => {
                [false, true].get(values[self.row] as usize).copied()
            }
            _ if *cells.array.data_type() == DataType::Boolean => {
                Some(cells.array.as_boolean().value(self.row))
            }
            _ => Columns::linked(cells.text(self.row)),
        };
        linked.ok_or_else(|| self.bad(Role::Linked, cells, 0))
    }

    #[inline]
    fn device(&mut self) -> Result<u32> {
        let row = self.row;
        let Some(cells) = &mut self.cells[Role::Device as usize] else {
            return Ok(0);
        };
        let found = match &mut cells.decoded {
            _ if cells.array.is_null(row) => return Err(self.null(Role::Device)),
            Decoded::Numbers { values, .. } => u32::try_from(values[row]).ok(),
            Decoded::Names { keys, devices } => {
                let device = &mut devices[keys[row]];
                if *device == NULL {
                    let values = cells.array.as_any_dictionary().values();
                    let number = text(&**values, keys[row]);
                    let number = number.and_then(|text| self.devices.number(text));
                    *device = number.map_or(BAD, u64::from);
                }
                u32::try_from(*device).ok()
            }
            _ => text(&*cells.array, row).and_then(|text| self.devices.number(text)),
        };
        let Some(device) = found else {
            return Err(self.bad_of(Role::Device));
        };
        if let Some(cells) = &self.cells[Role::DeviceName as usize]
            && !self.devices.name_is(device, cells.text(row))
        {
            return Err(self.bad_of(Role::DeviceName));
        }
        Ok(device)
    }

    #[cold]
    fn bad_of(&self, role: Role) -> Error {
        match &self.cells[role as usize] {
            Some(cells) => self.bad(role, cells, 0),
            None => self.null(role),
        }
    }

    /// The record in the current row.
    #[inline]
    fn record(&mut self) -> Result<Record> {
        let op = self.op()?;
        let ns = self.needed(self.columns.clock(), 0)?;
        let time = self.since_origin(ns)?;
        let (mut offset, mut bytes) = (0, 0);
        if op != Op::Flush {
            offset = self.needed(Role::Offset, 0)?;
            bytes = match self.columns.all_bytes {
                Some(bytes) => bytes,
                None => self.needed(Role::Bytes, 1)?,
            };
            if bytes > END_BYTES - offset {
                let problem = format!("{bytes} bytes at {offset}: must end by byte 2^63");
                return Err(self.refuse_row(problem));
            }
        }
        let mut response = self.span(Role::Response)?;
        if let Some(completion) = self.of_rows(&self.completion, "completion_ns")? {
            let before =
                || format!("completion_ns is {completion}: must not be before arrival_ns, {ns}");
            let took = completion.checked_sub(ns);
            response = Some(took.ok_or_else(|| self.refuse_row(before()))?);
        }
        let lateness = self.of_rows(&self.lateness, "lateness_ns")?;
        Ok(Record {
            time: Nanos(time),
            device: self.device()?,
            op,
            offset,
            bytes,
            response: response.map(Nanos),
            think: self.span(Role::Think)?.map(Nanos),
            queue: self.span(Role::Queue)?.map(Nanos),
            lateness: lateness.map(Nanos),
            linked: self.linked()?,
        })
    }

    #[inline]
    fn since_origin(&mut self, ns: u64) -> Result<u64> {
        let origin = match self.origin {
            Some(origin) => origin,
            None => {
                let origin = self.columns.origin(ns);
                let origin = origin.map_err(|problem| self.refuse_row(problem))?;
                *self.origin.insert(origin)
            }
        };
        match ns.checked_sub(origin) {
            Some(ns) if ns <= LATEST_NS => Ok(ns),
            Some(_) => Err(self.bad_of(self.columns.clock())),
            None => Err(self.refuse_row(format!(
                "time is {ns} ns: must be at or after the first one, with origin=first"
            ))),
        }
    }

    #[cold]
    fn refuse_row(&self, problem: String) -> Error {
        let row = self.before + self.row as u64 + 1;
        Error::trace(&self.path, format!("row {row}: {problem}"))
    }

    #[cold]
    fn null(&self, role: Role) -> Error {
        let name = role.name();
        self.refuse_row(format!("{name} is null: must have a value"))
    }

    #[cold]
    fn bad(&self, role: Role, cells: &Cells, least: u64) -> Error {
        let found = shown(&*cells.array, self.row);
        let allowed = match role.quantity() {
            Some(Quantity::Time) => "a time from 0 to 9e9 s".to_owned(),
            Some(Quantity::Size) => format!("a whole number of bytes from {least} to 2^63"),
            None if role == Role::Op => self.columns.operations(),
            None if role == Role::Linked => Columns::LINKED.to_owned(),
            None if role == Role::DeviceName => "the same for all requests of a device".to_owned(),
            None => self.devices.allowed().to_owned(),
        };
        let unit = self.columns.get(role).and_then(|column| column.unit.as_ref());
        let unit = unit.map_or_else(String::new, |unit| format!(" {}", unit.name));
        let name = role.name();
        self.refuse_row(format!("{name} is {found}{unit}: must be {allowed}"))
    }
}

impl Reader for Parquet {
    fn next(&mut self) -> Result<Option<Record>> {
        loop {
            if self.row == self.rows && !self.fill()? {
                return Ok(None);
            }
            let left_out = self.left_out.get(self.row).copied().unwrap_or_default();
            if !left_out && !self.is_inner() {
                break;
            }
            self.others += u64::from(left_out);
            self.row += 1;
        }
        let record = self.record()?;
        self.row += 1;
        Ok(Some(record))
    }

    fn refuse(&self, problem: String) -> Error {
        let row = self.before + self.row as u64;
        Error::trace(&self.path, format!("row {row}: {problem}"))
    }

    fn device_name(&self, device: u32) -> Option<&str> {
        self.devices.name(device)
    }

    fn not_requests(&self) -> u64 {
        self.others
    }

    fn no_requests_reason(&self) -> Option<String> {
        all_left_out(self.others)
    }

    /// Estimated from the share of the rows that was read.
    fn bytes_read(&self) -> u64 {
        let rows = u128::from(self.before) + self.row as u128;
        let bytes = rows * u128::from(self.file_bytes) / u128::from(self.all_rows.max(1));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}
