//! Writes sledsim's Parquet, which holds all fields of a record.

use crate::stats::{described, file_properties, innermost_message};
use arrow_array::builder::{BooleanBuilder, Int64Builder, StringDictionaryBuilder, UInt32Builder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use sledsim_base::error::{Error, Result};
use sledsim_base::files::PendingFile;
use sledsim_base::units::Nanos;
use sledsim_traces::Record;
use sledsim_traces::writers::{DeviceNames, Lost, Writer};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Records per batch passed to the library.
const BATCH_ROWS: usize = 8_192;

/// The columns of sledsim's CSV, with types and units; unknown names and times
/// are null. The same records give the same bytes.
pub struct Parquet {
    path: PathBuf,
    file: ArrowWriter<PendingFile>,
    schema: SchemaRef,
    batch: Batch,
    names: DeviceNames,
    lost: Lost,
}

/// The records not yet passed to the library, by column.
#[derive(Default)]
struct Batch {
    rows: usize,
    time: Int64Builder,
    device: UInt32Builder,
    device_name: StringDictionaryBuilder<Int32Type>,
    op: StringDictionaryBuilder<Int32Type>,
    offset: Int64Builder,
    bytes: Int64Builder,
    response: Int64Builder,
    think: Int64Builder,
    queue: Int64Builder,
    linked: BooleanBuilder,
}

impl Batch {
    fn finish(&mut self) -> Vec<ArrayRef> {
        self.rows = 0;
        vec![
            Arc::new(self.time.finish()),
            Arc::new(self.device.finish()),
            Arc::new(self.device_name.finish()),
            Arc::new(self.op.finish()),
            Arc::new(self.offset.finish()),
            Arc::new(self.bytes.finish()),
            Arc::new(self.response.finish()),
            Arc::new(self.think.finish()),
            Arc::new(self.queue.finish()),
            Arc::new(self.linked.finish()),
        ]
    }
}

/// The schema, with a unit and a description for every column.
fn schema() -> SchemaRef {
    let names = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let field = |name: &str, kind, nullable, unit: &str, description: &str| {
        described(Field::new(name, kind, nullable), unit, description)
    };
    let number = DataType::Int64;
    let fields = vec![
        field(
            "time_ns",
            number.clone(),
            false,
            "ns",
            "When the request arrived, on the clock of the trace",
        ),
        field("device", DataType::UInt32, false, "", "Number of the device"),
        field("device_name", names(), true, "", "Name of the device, if it has one"),
        field("op", names(), false, "", "Operation: read, write, flush or trim"),
        field("offset_bytes", number.clone(), false, "B", "First byte"),
        field("bytes", number.clone(), false, "B", "Length; 0 for a flush"),
        field("response_ns", number.clone(), true, "ns", "From arrival to completion, as recorded"),
        field(
            "think_ns",
            number.clone(),
            true,
            "ns",
            "From this completion to the next arrival, in closed loops",
        ),
        field(
            "queue_ns",
            number,
            true,
            "ns",
            "From arrival to the start of the service, as recorded",
        ),
        field(
            "linked",
            DataType::Boolean,
            false,
            "",
            "Whether the next request of its device is of the same batch",
        ),
    ];
    let version = ("sledsim".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    Arc::new(Schema::new(fields).with_metadata([version]))
}

impl Parquet {
    /// Starts the file.
    pub fn create(path: &Path) -> Result<Self> {
        Self::start(path, PendingFile::create(path)?)
    }

    /// Starts the file `path`, which is not synced when it is complete.
    pub fn create_unsynced(path: &Path) -> Result<Self> {
        Self::start(path, PendingFile::create(path)?.unsynced())
    }

    fn start(path: &Path, file: PendingFile) -> Result<Self> {
        let name = path.to_string_lossy().to_ascii_lowercase();
        if let Some(ending) = [".gz", ".zst", ".xz"].into_iter().find(|end| name.ends_with(end)) {
            let problem = format!("Parquet is compressed within: leave out the {ending}");
            return Err(Error::output(path, problem));
        }
        let schema = schema();
        let properties = file_properties(&schema);
        let file = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties));
        Ok(Self {
            path: path.to_owned(),
            file: file.map_err(|error| Error::output(path, innermost_message(error)))?,
            schema,
            batch: Batch::default(),
            names: DeviceNames::default(),
            lost: Lost::default(),
        })
    }

    fn write_batch(&mut self) -> Result<()> {
        let columns = self.batch.finish();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|error| Error::output(&self.path, error))?;
        let written = self.file.write(&batch);
        written.map_err(|error| Error::output(&self.path, innermost_message(error)))
    }
}

impl Writer for Parquet {
    fn name_device(&mut self, device: u32, name: &str) -> Result<()> {
        self.names.add(device, name);
        Ok(())
    }

    fn write(&mut self, record: &Record) -> Result<Option<u64>> {
        let signed = |value: u64, what: &str| {
            i64::try_from(value).map_err(|_| {
                let number = self.lost.written + 1;
                let problem = format!("record {number}: {what} is {value}: must be below 2^63");
                Error::output(&self.path, problem)
            })
        };
        let maybe = |time: Option<Nanos>, what| time.map(|time| signed(time.0, what)).transpose();
        let (time, offset) = (signed(record.time.0, "time")?, signed(record.offset, "offset")?);
        let bytes = signed(record.bytes, "bytes")?;
        let response = maybe(record.response, "response")?;
        let think = maybe(record.think, "think")?;
        let queue = maybe(record.queue, "queue")?;
        let batch = &mut self.batch;
        batch.time.append_value(time);
        batch.device.append_value(record.device);
        batch.device_name.append_option(self.names.get(record.device));
        batch.op.append_value(record.op.name());
        batch.offset.append_value(offset);
        batch.bytes.append_value(bytes);
        batch.response.append_option(response);
        batch.think.append_option(think);
        batch.queue.append_option(queue);
        batch.linked.append_value(record.linked);
        batch.rows += 1;
        self.lost.written += 1;
        self.lost.latenesses += u64::from(record.lateness.is_some());
        if self.batch.rows == BATCH_ROWS {
            self.write_batch()?;
        }
        Ok(Some(record.bytes))
    }

    fn lost(&self) -> Lost {
        self.lost
    }

    fn finish(mut self: Box<Self>) -> Result<Lost> {
        if self.batch.rows > 0 {
            self.write_batch()?;
        }
        let failed = |error| Error::output(&self.path, innermost_message(error));
        self.file.into_inner().map_err(failed)?.commit()?;
        Ok(self.lost)
    }
}
