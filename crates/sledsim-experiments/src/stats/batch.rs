//! Rows as Arrow record batches.

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Metadata, Schema, SchemaRef};
use sledsim_base::request::Op;
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// The cells of one column, and their conversion to an Arrow array.
trait Cell: Sized {
    const NULLABLE: bool = false;
    fn data_type() -> DataType;
    /// Makes the array; `devices` are the names that [`Device`] cells index.
    fn array(cells: Vec<Self>, devices: &ArrayRef) -> ArrayRef;
}

macro_rules! plain_cell {
    ($type:ty, $data_type:ident, $array:ident, $nullable:literal) => {
        impl Cell for $type {
            const NULLABLE: bool = $nullable;
            fn data_type() -> DataType {
                DataType::$data_type
            }
            fn array(cells: Vec<Self>, _: &ArrayRef) -> ArrayRef {
                Arc::new($array::from(cells))
            }
        }
    };
}
plain_cell!(i64, Int64, Int64Array, false);
plain_cell!(u32, UInt32, UInt32Array, false);
plain_cell!(u64, UInt64, UInt64Array, false);
plain_cell!(Option<u64>, UInt64, UInt64Array, true);
plain_cell!(Option<i64>, Int64, Int64Array, true);
plain_cell!(Option<u32>, UInt32, UInt32Array, true);
plain_cell!(Option<i8>, Int8, Int8Array, true);

/// Index into the list of device names.
struct Device(u16);

/// A column of names: indices into a dictionary.
fn names(indices: impl Iterator<Item = i32>, names: ArrayRef) -> ArrayRef {
    let indices = Int32Array::from_iter_values(indices);
    Arc::new(DictionaryArray::<Int32Type>::new(indices, names))
}

macro_rules! name_cell {
    ($type:ty, $cell:ident => $index:expr, $devices:ident => $names:expr) => {
        impl Cell for $type {
            fn data_type() -> DataType {
                // Signed for pandas, and as wide as pyarrow's dictionaries.
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
            }
            fn array(cells: Vec<Self>, $devices: &ArrayRef) -> ArrayRef {
                names(cells.iter().map(|$cell| $index), $names)
            }
        }
    };
}
name_cell!(Device, cell => i32::from(cell.0), devices => Arc::clone(devices));
name_cell!(Op, cell => *cell as i32, _devices => strings(Op::ALL.map(Op::name)));
name_cell!(Status, cell => *cell as i32, _devices => strings(Status::ALL.map(Status::name)));

fn strings(names: impl IntoIterator<Item = impl AsRef<str>>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(names))
}

/// Times and other quantities are signed, so that differences of columns cannot
/// wrap around. 2^63 ns are 292 years.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn ns(time: Nanos) -> i64 {
    signed(time.0)
}

/// The columns in their order: name, type of cell, value, unit, description.
macro_rules! columns {
    ($row:ident: $($name:ident $type:ty = $value:expr, $unit:literal, $description:literal;)*) => {
        struct Columns {
            $($name: Vec<$type>,)*
        }

        impl Columns {
            fn with_capacity(rows: usize) -> Self {
                Self { $($name: Vec::with_capacity(rows),)* }
            }

            #[inline]
            fn push(&mut self, $row: &Row) {
                $(self.$name.push($value);)*
            }

            fn arrays(self, devices: &ArrayRef) -> Vec<ArrayRef> {
                vec![$(Cell::array(self.$name, devices),)*]
            }
        }

        fn fields() -> Vec<Field> {
            vec![$(
                field::<$type>(stringify!($name), $unit, $description),
            )*]
        }
    };
}

columns! { row:
    id u64 = row.id, "", "Id of the request, unique per device; from 9223372036854775808 on in work of a device's own";
    parent Option<u64> = row.parent, "", "Id of the enclosing device's request that this one serves, 18446744073709551615 for work of its own; null for requests of the host";
    device Device = Device(row.device), "", "Name of the device that served it, its place in the tree; the first name is the outermost device";
    stream u32 = row.stream, "", "Stream (thread, process, trace device) the request came from";
    op Op = row.op, "", "Operation: read, write, flush or trim";
    lbn i64 = signed(row.lbn), "block", "First logical block";
    blocks u32 = row.blocks, "block", "Length in blocks of 512 bytes, all extents together";
    arrival_ns i64 = ns(row.arrival), "ns", "When it arrived, since the start of the simulation";
    start_ns i64 = ns(row.start), "ns", "When the mechanism took it up: start of positioning";
    completion_ns i64 = ns(row.completion), "ns", "When it was done";
    queue_depth u32 = row.queue_depth, "", "Requests waiting for the mechanism or at it when it arrived, itself not counted; not those in a buffer or on the bus";
    overhead_ns i64 = ns(row.parts.overhead), "ns", "Command processing, paid at arrival";
    queue_ns i64 = ns(row.parts.queue), "ns", "Waiting for the bus with the command, then for the mechanism";
    seek_ns i64 = ns(row.parts.seek), "ns", "Positioning: for every pass the larger of X and Y";
    x_seek_ns i64 = ns(row.parts.x_seek), "ns", "X part of all seeks, settle included; overlaps y_seek_ns";
    y_seek_ns i64 = ns(row.parts.y_seek), "ns", "Y part of all seeks, turnarounds included; overlaps x_seek_ns";
    settle_ns i64 = ns(row.parts.settle), "ns", "Settling after X moves; within x_seek_ns";
    turnaround_ns i64 = ns(row.parts.turnaround), "ns", "Reversals of the Y velocity; within y_seek_ns";
    rotation_ns i64 = ns(row.parts.rotation), "ns", "Rotational latency (disks)";
    head_switch_ns i64 = ns(row.parts.head_switch), "ns", "Head switches (disks)";
    transfer_ns i64 = ns(row.parts.transfer), "ns", "Media transfer";
    bus_ns i64 = ns(row.parts.bus), "ns", "From the end of the media transfer to the last byte on the bus";
    retry_ns i64 = ns(row.parts.retry), "ns", "Repeated attempts";
    other_ns i64 = ns(row.parts.other), "ns", "Anything else, such as starting up from the inactive state";
    passes u32 = row.passes, "", "Uninterrupted sweeps over the media";
    retries u32 = row.retries, "", "How many attempts were repeated";
    status Status = row.status, "", "How it ended: ok or error";
    energy_nj Option<i64> = row.energy_nj().map(signed), "nJ", "Energy spent on the request, idling not included; null if a device that it needed has no values of power";
    from_cylinder Option<u32> = row.path.map(|path| path.from.cylinder), "", "Cylinder of the arm or sled at start_ns; null if none moved for this request alone, here as in the next eight";
    to_cylinder Option<u32> = row.path.map(|path| path.to.cylinder), "", "Cylinder after the last pass";
    cylinders Option<u64> = row.path.map(|path| path.cylinders), "cylinder", "Cylinders moved over, there and back counted twice";
    from_head Option<u32> = row.path.and_then(|path| path.from.head()), "", "Head of a disk at start_ns";
    to_head Option<u32> = row.path.and_then(|path| path.to.head()), "", "Head of a disk after the last pass";
    from_row Option<u32> = row.path.and_then(|path| path.from.edge()), "", "Boundary between rows nearest to a sled at start_ns, 0 below row 0";
    to_row Option<u32> = row.path.and_then(|path| path.to.edge()), "", "The same after the last pass";
    from_direction Option<i8> = row.path.and_then(|path| path.from.sled_direction()), "", "Direction of a sled in Y at start_ns: 1 up, -1 down";
    to_direction Option<i8> = row.path.and_then(|path| path.to.sled_direction()), "", "The same after the last pass";
}

fn field<C: Cell>(name: &str, unit: &str, description: &str) -> Field {
    described(Field::new(name, C::data_type(), C::NULLABLE), unit, description)
}

/// The field with its unit, if it has one, and its description.
pub(crate) fn described(field: Field, unit: &str, description: &str) -> Field {
    let metadata = [("unit", unit), ("description", description)];
    let metadata = metadata.into_iter().filter(|(_, text)| !text.is_empty());
    field.with_metadata(metadata.collect::<Metadata>())
}

/// The schema of the rows, with a unit and a description for every column.
///
/// `overhead + queue + seek + rotation + head_switch + transfer + bus + retry
/// + other = completion - arrival`, exactly, in every row.
pub fn row_schema() -> SchemaRef {
    schema(fields())
}

/// The schema of a recording: [`row_schema`], and last the time from each
/// completion to its reply.
pub fn recording_schema() -> SchemaRef {
    let mut fields = fields();
    fields.push(field::<Option<i64>>(
        "lateness_ns",
        "ns",
        "How long after its completion the reply was sent, in the time of the model; null where \
         none was",
    ));
    schema(fields)
}

fn schema(fields: Vec<Field>) -> SchemaRef {
    let version = ("sledsim".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    Arc::new(Schema::new(fields).with_metadata([version]))
}

/// Collects rows, column by column, into record batches.
pub struct RowBuffer {
    schema: SchemaRef,
    devices: ArrayRef,
    columns: Columns,
    /// The last column of a recording.
    lateness: Option<Vec<Option<i64>>>,
    capacity: usize,
}

impl RowBuffer {
    /// Room for `capacity` rows; `device_names[row.device]` is the name of a
    /// row's device.
    pub fn new(device_names: &[impl AsRef<str>], capacity: usize) -> Self {
        Self {
            schema: row_schema(),
            devices: strings(device_names),
            columns: Columns::with_capacity(capacity),
            lateness: None,
            capacity,
        }
    }

    /// The same for a recording.
    pub fn recording(device_names: &[impl AsRef<str>], capacity: usize) -> Self {
        Self {
            schema: recording_schema(),
            lateness: Some(Vec::with_capacity(capacity)),
            ..Self::new(device_names, capacity)
        }
    }

    /// The schema of the batches: [`row_schema`] or [`recording_schema`].
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Adds a row. Allocates nothing up to `capacity` rows.
    pub fn push(&mut self, row: &Row) {
        self.push_late(row, None);
    }

    /// Adds a row, and the lateness of its reply if this is a recording.
    pub fn push_late(&mut self, row: &Row, lateness: Option<Nanos>) {
        self.columns.push(row);
        if let Some(column) = &mut self.lateness {
            column.push(lateness.map(ns));
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.columns.id.len()
    }

    /// Whether it holds no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it holds `capacity` rows or more.
    pub fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }

    /// The rows so far as a batch; starts over with fresh columns.
    ///
    /// # Panics
    /// If a row came from a device that has no name.
    pub fn finish(&mut self) -> RecordBatch {
        let fresh = Columns::with_capacity(self.capacity);
        let mut arrays = std::mem::replace(&mut self.columns, fresh).arrays(&self.devices);
        if let Some(column) = &mut self.lateness {
            let fresh = Vec::with_capacity(self.capacity);
            arrays.push(Cell::array(std::mem::replace(column, fresh), &self.devices));
        }
        RecordBatch::try_new(self.schema(), arrays).expect("arrays follow the schema")
    }
}
