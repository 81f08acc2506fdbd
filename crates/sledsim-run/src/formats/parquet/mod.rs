//! Any Parquet file, whose columns the key `columns` names, and sledsim's own:
//! traces, and the rows of a run (put in order by `recording`).

use crate::panics::caught;
use crate::parquet_file::{Batches, ParquetFile};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_schema::{DataType, Schema, TimeUnit};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_traces::columns::{Column, Columns, EXAMPLE, Place, Quantity, Role, scaled_float};
use sledsim_traces::devices::Devices;
use sledsim_traces::lines::excerpt;
use sledsim_traces::writers::{COLUMNS, HEADER, UNLINKED_COLUMNS, UNLINKED_HEADER};
use sledsim_traces::{Compression, END_BYTES, Input, LATEST_NS, Options, Reader, Record};
use std::path::{Path, PathBuf};

/// Rows decoded at a time.
const BATCH_ROWS: usize = 8_192;
/// Stands for a null among numbers.
const NULL: u64 = u64::MAX;
/// Stands for a value that is not allowed.
pub(super) const BAD: u64 = u64::MAX - 1;

/// One request a row; the columns that matter are decoded and no others.
pub struct Parquet {
    pub(super) path: PathBuf,
    batches: Batches,
    columns: Columns,
    /// The columns of the batches that matter.
    cells: [Option<Cells>; Role::ALL.len()],
    /// The rows of a run: requests of its workload have no parent, their order
    /// of arrival is that of their ids, and their response is what lies between
    /// two columns. Recordings have latenesses too.
    pub(super) parent: Option<Cells>,
    /// Of the outermost device alone, once its name is known.
    outer: Option<Cells>,
    pub(super) outermost: Option<String>,
    id: Option<Cells>,
    completion: Option<Cells>,
    lateness: Option<Cells>,
    devices: Devices,
    /// The next row of the batch, and how many it has.
    row: usize,
    rows: usize,
    /// Rows in the batches before, and in the whole file.
    before: u64,
    all_rows: u64,
    file_bytes: u64,
    origin: Option<u64>,
}

/// A column of a batch.
pub(super) struct Cells {
    index: usize,
    array: ArrayRef,
    decoded: Decoded,
}

/// What became of it.
enum Decoded {
    /// Nanoseconds, bytes, or device numbers; [`NULL`] and [`BAD`].
    Numbers {
        factor: u64,
        quantity: Option<Quantity>,
        values: Vec<u64>,
    },
    /// Operations, as in [`Op::ALL`], or `UNKNOWN`.
    Ops(Vec<u8>),
    /// Names in a dictionary: which of them each row has, and the device each
    /// of them is, once it is known.
    Names { keys: Vec<usize>, devices: Vec<u64> },
    /// Looked at row by row.
    Plain,
}

/// No operation.
const UNKNOWN: u8 = u8::MAX;

/// The columns of the rows of a run; the response is computed.
const ROWS_COLUMNS: &str =
    "time=arrival_ns:ns, offset=lbn:512B, bytes=blocks:512B, op=op, device=stream, origin=zero";

impl Parquet {
    /// Reads the footer of the file behind `input`.
    pub fn new(input: &Input, options: &Options) -> Result<Self> {
        let shown = Path::new(input.name());
        let wanted = match &options.columns {
            Some(text) => Some(Columns::parse(text)?),
            None => None,
        };
        if input.compression() != Compression::None {
            let how = input.compression().name();
            let problem = format!("Parquet inside {how} cannot be read: decompress the file first");
            return Err(Error::file(shown, problem));
        }
        let Some(whole) = input.as_whole().cloned() else {
            let problem = "Parquet is read from its end: it must be a file";
            return Err(Error::file(shown, problem));
        };
        let file_bytes = whole.bytes();
        let file = ParquetFile::of(whole).map_err(|problem| Error::file(shown, problem))?;
        let schema = file.schema().clone();
        let has = |name: &str| schema.column_with_name(name).is_some();
        let ours = HEADER.split(',').all(has);
        let unlinked = UNLINKED_HEADER.split(',').all(has);
        let of_run = [
            "arrival_ns",
            "completion_ns",
            "lbn",
            "blocks",
            "stream",
            "parent",
        ];
        let of_run = wanted.is_none() && of_run.into_iter().all(has);
        let columns = match wanted {
            Some(columns) => columns,
            None if ours => Columns::parse(COLUMNS)?,
            None if unlinked => Columns::parse(UNLINKED_COLUMNS)?,
            None if of_run => Columns::parse(ROWS_COLUMNS)?,
            None => {
                let names = names(&schema);
                let problem = format!(
                    "a Parquet file needs to be told which column is what, in which unit: give \
                     {EXAMPLE}; its columns are {names}"
                );
                return Err(Error::file(shown, problem));
            }
        };
        let mut used = Vec::new();
        let mut chosen = [const { None }; Role::ALL.len()];
        for role in Role::ALL {
            if let Some(column) = columns.get(role) {
                let (name, data_type) = find(&schema, column, shown)?;
                let decoded = decoder(&columns, role, &name, data_type, shown)?;
                chosen[role as usize] = Some((name.clone(), decoded));
                used.push(name);
            }
        }
        let of_rows = |name: &&str| of_run && has(name);
        let more = ["parent", "device", "id", "completion_ns", "lateness_ns"];
        used.extend(more.iter().copied().filter(of_rows).map(str::to_owned));
        let names: Vec<&str> = used.iter().map(String::as_str).collect();
        let all_rows = file.rows();
        let batches = file.batches(Some(&names), BATCH_ROWS);
        let batches = batches.map_err(|problem| Error::file(shown, problem))?;
        let present = arrow_array::RecordBatchReader::schema(&batches);
        let cells = |name: &str, decoded| {
            let index = present
                .index_of(name)
                .map_err(|error| Error::file(shown, error))?;
            let array = arrow_array::new_empty_array(present.field(index).data_type());
            Ok::<_, Error>(Some(Cells {
                index,
                array,
                decoded,
            }))
        };
        let mut all = [const { None }; Role::ALL.len()];
        for (slot, chosen) in all.iter_mut().zip(chosen) {
            if let Some((name, decoded)) = chosen {
                *slot = cells(&name, decoded)?;
            }
        }
        let numbers = |quantity| Decoded::Numbers {
            factor: 1,
            quantity,
            values: Vec::new(),
        };
        let of_rows = |name: &str, decoded| match of_run && has(name) {
            true => cells(name, decoded),
            false => Ok(None),
        };
        let time = || numbers(Some(Quantity::Time));
        let names_of = || Decoded::Names {
            keys: Vec::new(),
            devices: Vec::new(),
        };
        let device = columns
            .get(Role::Device)
            .map(|column| find(&schema, column, shown));
        let numbered = device
            .transpose()?
            .is_some_and(|(_, found)| found.is_integer());
        Ok(Self {
            path: shown.to_owned(),
            parent: of_rows("parent", Decoded::Plain)?,
            outer: match schema.field_with_name("device") {
                Ok(field) if is_dictionary(field.data_type()) => of_rows("device", names_of())?,
                Ok(field) if is_text(field.data_type()) => of_rows("device", Decoded::Plain)?,
                _ => None,
            },
            outermost: None,
            id: of_rows("id", numbers(None))?,
            completion: of_rows("completion_ns", time())?,
            lateness: of_rows("lateness_ns", time())?,
            devices: match numbered {
                true => Devices::numbers(),
                false => Devices::new(columns.devices_are_names),
            },
            batches,
            columns,
            cells: all,
            row: 0,
            rows: 0,
            before: 0,
            all_rows,
            file_bytes,
            origin: None,
        })
    }

    /// Decodes the next batch that has rows; false at the end.
    fn fill(&mut self) -> Result<bool> {
        loop {
            self.before += self.rows as u64;
            (self.row, self.rows) = (0, 0);
            let Some(batch) = self.batches.next() else {
                return Ok(false);
            };
            let damaged = |said: &dyn std::fmt::Display| {
                let row = self.before + 1;
                let problem = format!("from row {row}: the Parquet data are damaged ({said})");
                Error::file(&self.path, problem)
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
            let decoded = caught(|| {
                for cells in all {
                    cells.array = batch.column(cells.index).clone();
                    cells.decode(&self.columns);
                }
            });
            decoded.map_err(|said| damaged(&said))?;
            if self.rows > 0 {
                return Ok(true);
            }
        }
    }

    /// The number in a column of the present row; `None` for null or no such
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

    /// The number in a column that must have one.
    #[inline]
    fn needed(&self, role: Role, least: u64) -> Result<u64> {
        match self.number(role, least)? {
            Some(value) => Ok(value),
            None => Err(self.null(role)),
        }
    }

    /// Whether a row is of a request inside a composite: one that serves
    /// another, or one that a device inside was sent on no request's account.
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
        let Some(Cells {
            decoded: Decoded::Numbers { values, .. },
            array,
            ..
        }) = cells
        else {
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

    /// The place of the record read last among those of its time, and its row.
    pub(super) fn place(&self) -> (u64, u64) {
        let row = self.before + self.row as u64;
        match &self.id {
            Some(Cells {
                decoded: Decoded::Numbers { values, .. },
                ..
            }) => (values[self.row - 1], row),
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

    /// Null is no.
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

    /// The record in the present row.
    #[inline]
    fn record(&mut self) -> Result<Record> {
        let op = self.op()?;
        let ns = self.needed(Role::Time, 0)?;
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
            Some(_) => Err(self.bad_of(Role::Time)),
            None => Err(self.refuse_row(format!(
                "time is {ns} ns: must be at or after the first one, with origin=first"
            ))),
        }
    }

    #[cold]
    fn refuse_row(&self, problem: String) -> Error {
        let row = self.before + self.row as u64 + 1;
        Error::file(&self.path, format!("row {row}: {problem}"))
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
        let unit = self
            .columns
            .get(role)
            .and_then(|column| column.unit.as_ref());
        let unit = unit.map_or_else(String::new, |(unit, _)| format!(" {unit}"));
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
            if !self.is_inner() {
                break;
            }
            self.row += 1;
        }
        let record = self.record()?;
        self.row += 1;
        Ok(Some(record))
    }

    fn refuse(&self, problem: String) -> Error {
        let row = self.before + self.row as u64;
        Error::file(&self.path, format!("row {row}: {problem}"))
    }

    fn device_name(&self, device: u32) -> Option<&str> {
        self.devices.name(device)
    }

    /// As large a part of the file as of its rows.
    fn bytes_read(&self) -> u64 {
        let rows = u128::from(self.before) + self.row as u128;
        let bytes = rows * u128::from(self.file_bytes) / u128::from(self.all_rows.max(1));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

impl Cells {
    /// Makes of the array what is wanted of it.
    fn decode(&mut self, columns: &Columns) {
        let array = &*self.array;
        match &mut self.decoded {
            Decoded::Numbers {
                factor,
                quantity,
                values,
            } => numbers(array, *factor, *quantity, values),
            Decoded::Ops(ops) => operations(array, columns, ops),
            Decoded::Names { keys, devices } => {
                dictionary_keys(array, keys);
                devices.clear();
                devices.resize(array.as_any_dictionary().values().len().max(1), NULL);
            }
            Decoded::Plain => {}
        }
    }

    /// The text of a row; none for null.
    #[inline]
    fn text(&self, row: usize) -> &[u8] {
        if self.array.is_null(row) {
            return b"";
        }
        let found = match &self.decoded {
            Decoded::Names { keys, .. } => {
                text(&**self.array.as_any_dictionary().values(), keys[row])
            }
            _ => text(&*self.array, row),
        };
        found.unwrap_or(b"")
    }
}

/// Finds a column, by name or by number.
fn find<'a>(schema: &'a Schema, column: &Column, path: &Path) -> Result<(String, &'a DataType)> {
    let fields = schema.fields();
    let found = match &column.place {
        Place::Name(name) => fields.iter().find(|field| field.name() == name),
        Place::Number(number) => fields.get(number - 1),
    };
    if let Some(field) = found {
        return Ok((field.name().clone(), field.data_type()));
    }
    let (place, names) = (&column.place, names(schema));
    let problem = format!("no column '{place}': the file has {names}");
    Err(Error::file(path, problem))
}

/// The columns there are, for messages.
fn names(schema: &Schema) -> String {
    let names = schema.fields().iter().map(|field| field.name().as_str());
    names.collect::<Vec<_>>().join(", ")
}

fn is_text(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

fn is_dictionary(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Dictionary(_, values) if is_text(values))
}

/// How a column of this type is decoded.
fn decoder(
    columns: &Columns,
    role: Role,
    name: &str,
    data_type: &DataType,
    path: &Path,
) -> Result<Decoded> {
    let refuse = |must: &str| {
        let role = role.name();
        let problem = format!("column '{name}' ({role}) has the type {data_type}: must be {must}");
        Err(Error::file(path, problem))
    };
    let numbers = |factor, quantity| Decoded::Numbers {
        factor,
        quantity,
        values: Vec::new(),
    };
    let Some(quantity) = role.quantity() else {
        return match role {
            Role::Op if data_type.is_integer() && columns.ops.is_empty() => {
                refuse("text, or its values given, as in op=COLUMN:0/1 for 0 read and 1 write")
            }
            Role::Op if *data_type == DataType::Boolean && columns.ops.is_empty() => {
                refuse("text, or its values given, as in op=COLUMN:false/true")
            }
            Role::Op if data_type.is_integer() || *data_type == DataType::Boolean => {
                Ok(Decoded::Ops(Vec::new()))
            }
            Role::Op if is_text(data_type) || is_dictionary(data_type) => {
                Ok(Decoded::Ops(Vec::new()))
            }
            Role::Op => refuse("text, whole numbers or true and false"),
            Role::Device | Role::Linked if data_type.is_integer() => Ok(numbers(1, None)),
            Role::Linked if *data_type == DataType::Boolean => Ok(Decoded::Plain),
            _ if is_dictionary(data_type) => Ok(Decoded::Names {
                keys: Vec::new(),
                devices: Vec::new(),
            }),
            _ if is_text(data_type) => Ok(Decoded::Plain),
            Role::Device => refuse("whole numbers or text"),
            Role::Linked => refuse("true and false, whole numbers or text"),
            _ => refuse("text"),
        };
    };
    let time_unit = match data_type {
        DataType::Timestamp(unit, _) | DataType::Duration(unit) => Some(unit),
        _ => None,
    };
    if let (Some(unit), Quantity::Time) = (time_unit, quantity) {
        let (factor, called) = match unit {
            TimeUnit::Second => (1_000_000_000, "s"),
            TimeUnit::Millisecond => (1_000_000, "ms"),
            TimeUnit::Microsecond => (1_000, "us"),
            TimeUnit::Nanosecond => (1, "ns"),
        };
        let stated = columns.get(role).and_then(|column| column.unit.as_ref());
        if let Some((text, stated)) = stated.filter(|(_, stated)| *stated != factor) {
            let role = role.name();
            let problem = format!(
                "columns: {role}={name}:{text} ({stated} ns): the file says that column '{name}' \
                 is in {called}; leave out the unit"
            );
            return Err(Error::file(path, problem));
        }
        return Ok(numbers(factor, Some(quantity)));
    }
    let numeric = data_type.is_integer()
        || matches!(
            data_type,
            DataType::Float32 | DataType::Float64 | DataType::Decimal128(..)
        );
    if !numeric {
        return refuse(match quantity {
            Quantity::Time => "a number, a timestamp or a duration",
            Quantity::Size => "a number",
        });
    }
    Ok(numbers(columns.need_unit(role)?, Some(quantity)))
}

/// The text in a row of a column of text.
#[inline]
pub(super) fn text(array: &dyn Array, row: usize) -> Option<&[u8]> {
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row).as_bytes()),
        DataType::Utf8View => Some(array.as_string_view().value(row).as_bytes()),
        _ => None,
    }
}

/// Which value of its dictionary each row has.
fn dictionary_keys(array: &dyn Array, keys: &mut Vec<usize>) {
    let dictionary = array.as_any_dictionary();
    keys.clear();
    match dictionary.values().len() {
        0 => keys.resize(array.len(), 0), // all null
        _ => keys.extend(dictionary.normalized_keys()),
    }
}

/// The operations in a column of any type that can hold them.
fn operations(array: &dyn Array, columns: &Columns, ops: &mut Vec<u8>) {
    let code = |op: Option<Op>| op.map_or(UNKNOWN, |op| op as u8);
    let of_text = |array: &dyn Array, row| {
        let found = text(array, row).and_then(|text| columns.operation(text));
        code(found)
    };
    ops.clear();
    match array.data_type() {
        DataType::Boolean => {
            let values =
                [false, true].map(|value| code(columns.operation(value.to_string().as_bytes())));
            let array = array.as_boolean().values();
            ops.extend(array.iter().map(|value| values[usize::from(value)]));
        }
        DataType::Dictionary(..) => {
            let values = array.as_any_dictionary().values();
            let meanings: Vec<u8> = (0..values.len())
                .map(|row| of_text(&**values, row))
                .collect();
            let mut keys = Vec::new();
            dictionary_keys(array, &mut keys);
            ops.extend(
                keys.iter()
                    .map(|&key| meanings.get(key).copied().unwrap_or(UNKNOWN)),
            );
        }
        kind if kind.is_integer() => {
            let mut found = Vec::new();
            numbers(array, 1, None, &mut found);
            let known: Vec<(u64, u8)> = (columns.ops.iter())
                .filter_map(|(value, op)| Some((value.parse().ok()?, *op as u8)))
                .collect();
            let meaning = |value| known.iter().find(|(known, _)| *known == value);
            ops.extend(
                found
                    .iter()
                    .map(|&value| meaning(value).map_or(UNKNOWN, |(_, op)| *op)),
            );
        }
        _ => ops.extend((0..array.len()).map(|row| of_text(array, row))),
    }
    if let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
        for (op, there) in ops.iter_mut().zip(nulls.iter()) {
            *op = if there { *op } else { UNKNOWN };
        }
    }
}

/// The numbers in a column, in nanoseconds or bytes; [`NULL`] and [`BAD`].
pub(super) fn numbers(
    array: &dyn Array,
    factor: u64,
    quantity: Option<Quantity>,
    found: &mut Vec<u64>,
) {
    let most = quantity.map_or(BAD - 1, Quantity::most);
    let rounds = quantity == Some(Quantity::Time);
    let whole = |value: Option<u64>| match value.and_then(|value| value.checked_mul(factor)) {
        Some(value) if value <= most => value,
        _ => BAD,
    };
    let rounded = |value: Option<(u64, bool)>| match value {
        Some((value, exact)) if value <= most && (exact || rounds) => value,
        _ => BAD,
    };
    found.clear();
    macro_rules! each {
        ($type:ty, $value:ident => $number:expr) => {
            found.extend(
                array
                    .as_primitive::<$type>()
                    .values()
                    .iter()
                    .map(|$value| $number),
            )
        };
    }
    match array.data_type() {
        DataType::Int8 => each!(Int8Type, v => whole(u64::try_from(*v).ok())),
        DataType::Int16 => each!(Int16Type, v => whole(u64::try_from(*v).ok())),
        DataType::Int32 => each!(Int32Type, v => whole(u64::try_from(*v).ok())),
        DataType::Int64 => each!(Int64Type, v => whole(u64::try_from(*v).ok())),
        DataType::UInt8 => each!(UInt8Type, v => whole(Some(u64::from(*v)))),
        DataType::UInt16 => each!(UInt16Type, v => whole(Some(u64::from(*v)))),
        DataType::UInt32 => each!(UInt32Type, v => whole(Some(u64::from(*v)))),
        DataType::UInt64 => each!(UInt64Type, v => whole(Some(*v))),
        DataType::Float32 => each!(Float32Type, v => rounded(scaled_float(f64::from(*v), factor))),
        DataType::Float64 => each!(Float64Type, v => rounded(scaled_float(*v, factor))),
        DataType::Decimal128(_, places) => {
            each!(Decimal128Type, v => rounded(scaled_decimal(*v, *places, factor)));
        }
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => each!(TimestampSecondType, v => whole(u64::try_from(*v).ok())),
            TimeUnit::Millisecond => {
                each!(TimestampMillisecondType, v => whole(u64::try_from(*v).ok()));
            }
            TimeUnit::Microsecond => {
                each!(TimestampMicrosecondType, v => whole(u64::try_from(*v).ok()));
            }
            TimeUnit::Nanosecond => {
                each!(TimestampNanosecondType, v => whole(u64::try_from(*v).ok()));
            }
        },
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => each!(DurationSecondType, v => whole(u64::try_from(*v).ok())),
            TimeUnit::Millisecond => {
                each!(DurationMillisecondType, v => whole(u64::try_from(*v).ok()));
            }
            TimeUnit::Microsecond => {
                each!(DurationMicrosecondType, v => whole(u64::try_from(*v).ok()));
            }
            TimeUnit::Nanosecond => {
                each!(DurationNanosecondType, v => whole(u64::try_from(*v).ok()));
            }
        },
        _ => found.resize(array.len(), BAD),
    }
    if let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) {
        for (value, there) in found.iter_mut().zip(nulls.iter()) {
            *value = if there { *value } else { NULL };
        }
    }
}

/// A decimal number of so many `places`, as [`scaled_float`].
fn scaled_decimal(value: i128, places: i8, factor: u64) -> Option<(u64, bool)> {
    let product = u128::try_from(value)
        .ok()?
        .checked_mul(u128::from(factor))?;
    let power = 10_u128.checked_pow(u32::from(places.unsigned_abs()))?;
    if places <= 0 {
        let value = u64::try_from(product.checked_mul(power)?).ok()?;
        return Some((value, true));
    }
    let (value, rest) = (product / power, product % power);
    let rounded = value + u128::from(rest > 0 && rest >= power - rest);
    Some((u64::try_from(rounded).ok()?, rest == 0))
}

/// A value, for messages.
#[cold]
fn shown(array: &dyn Array, row: usize) -> String {
    fn plain<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> String {
        format!("{:?}", array.as_primitive::<T>().value(row))
    }
    if array.is_null(row) {
        return "null".to_owned();
    }
    match array.data_type() {
        DataType::Int8 => plain::<Int8Type>(array, row),
        DataType::Int16 => plain::<Int16Type>(array, row),
        DataType::Int32 => plain::<Int32Type>(array, row),
        DataType::Int64 => plain::<Int64Type>(array, row),
        DataType::UInt8 => plain::<UInt8Type>(array, row),
        DataType::UInt16 => plain::<UInt16Type>(array, row),
        DataType::UInt32 => plain::<UInt32Type>(array, row),
        DataType::UInt64 => plain::<UInt64Type>(array, row),
        DataType::Float32 => plain::<Float32Type>(array, row),
        DataType::Float64 => plain::<Float64Type>(array, row),
        DataType::Decimal128(..) => array.as_primitive::<Decimal128Type>().value_as_string(row),
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Dictionary(..) => {
            let mut keys = Vec::new();
            dictionary_keys(array, &mut keys);
            shown(&**array.as_any_dictionary().values(), keys[row])
        }
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => plain::<TimestampSecondType>(array, row),
            TimeUnit::Millisecond => plain::<TimestampMillisecondType>(array, row),
            TimeUnit::Microsecond => plain::<TimestampMicrosecondType>(array, row),
            TimeUnit::Nanosecond => plain::<TimestampNanosecondType>(array, row),
        },
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => plain::<DurationSecondType>(array, row),
            TimeUnit::Millisecond => plain::<DurationMillisecondType>(array, row),
            TimeUnit::Microsecond => plain::<DurationMicrosecondType>(array, row),
            TimeUnit::Nanosecond => plain::<DurationNanosecondType>(array, row),
        },
        other => match text(array, row) {
            Some(text) => format!("'{}'", excerpt(text)),
            None => format!("a {other}"),
        },
    }
}
