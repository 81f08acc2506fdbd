//! Streams rows to a file in a separate thread.

use super::batch::RowBuffer;
use super::table_file::{TableFormat, TableWriter, innermost_message};
use crate::damaged_parquet::seal;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema, SchemaRef};
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use sledsim_base::error::{Error, Result};
use sledsim_base::files::PendingFile;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Rows per batch passed to the writing thread (1.7 MB).
const BATCH_ROWS: usize = 8_192;
/// Batches that may wait for the writing thread.
const BATCHES_WAITING: usize = 2;
/// Rows per row group, which is encoded in memory (8 MB).
const GROUP_ROWS: usize = 262_144;

/// Writes rows to a `.parquet` or `.csv` file in constant memory.
///
/// Another thread encodes and writes. The file appears under its name when
/// [`RowsFile::finish`] returns, not before and not after an error (only a kill
/// leaves a `.sledsim-*.part` behind). The same rows give the same bytes.
pub struct RowsFile {
    path: PathBuf,
    buffer: RowBuffer,
    rows: u64,
    /// `None` finishes the file; disconnecting without it abandons the file.
    batches: Option<SyncSender<Option<RecordBatch>>>,
    writer: Option<JoinHandle<Result<PendingFile>>>,
}

impl RowsFile {
    /// Starts the file; `device_names[row.device]` is the name of a row's
    /// device.
    ///
    /// # Errors
    /// [`Error::File`] for another ending, or if a file of that name could not be
    /// written.
    pub fn create(path: &Path, device_names: &[impl AsRef<str>]) -> Result<Self> {
        let buffer = RowBuffer::new(device_names, BATCH_ROWS);
        Self::start(path, TableFormat::of(path)?, buffer, Vec::new())
    }

    /// Starts a recording: rows with the lateness of their replies, see
    /// [`super::recording_schema`]. `about` describes the recording; it is added
    /// to the metadata of the file, in order, after the version (`sledsim`). The file gets
    /// a digest, with which it is compared when it is read.
    pub fn create_recording(
        path: &Path,
        device_names: &[impl AsRef<str>],
        mut about: Vec<(String, String)>,
    ) -> Result<Self> {
        // In the schema, too: some readers look only there.
        let version = ("sledsim".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        about.insert(0, version);
        if TableFormat::of(path)? != TableFormat::Parquet {
            return Err(Error::output(path, "must end in .parquet, as a recording is"));
        }
        let buffer = RowBuffer::recording(device_names, BATCH_ROWS);
        Self::start(path, TableFormat::Parquet, buffer, about)
    }

    fn start(
        path: &Path,
        format: TableFormat,
        buffer: RowBuffer,
        about: Vec<(String, String)>,
    ) -> Result<Self> {
        let file = PendingFile::create(path)?;
        let (batches, received) = sync_channel(BATCHES_WAITING);
        let (owned, schema) = (path.to_owned(), buffer.schema());
        let writer = thread::Builder::new()
            .name("sledsim-parquet".into())
            .spawn(move || {
                let written = write((format, file), schema, about, &received);
                written.map_err(|e| Error::output(&owned, innermost_message(e)))
            })
            .map_err(|e| Error::output(path, format!("cannot start a thread to write it: {e}")))?;
        Ok(Self {
            path: path.to_owned(),
            buffer,
            rows: 0,
            batches: Some(batches),
            writer: Some(writer),
        })
    }

    /// Adds a row; waits if the writing thread is too far behind.
    ///
    /// # Errors
    /// [`Error::File`] with what went wrong in the writing thread since.
    ///
    /// # Panics
    /// If a row came from a device that has no name.
    pub fn push(&mut self, row: &Row) -> Result<()> {
        self.push_late(row, None)
    }

    /// Adds a row, and the time from its completion to its reply, which only a
    /// recording keeps.
    ///
    /// # Panics
    /// If a row came from a device that has no name.
    pub fn push_late(&mut self, row: &Row, lateness: Option<Nanos>) -> Result<()> {
        self.buffer.push_late(row, lateness);
        self.rows += 1;
        if self.buffer.is_full() {
            let batch = self.buffer.finish();
            self.send(Some(batch))?;
        }
        Ok(())
    }

    /// Completes the file and returns its number of rows.
    ///
    /// # Errors
    /// [`Error::File`] with what went wrong; there is no file then.
    ///
    /// # Panics
    /// If a row came from a device that has no name.
    pub fn finish(mut self) -> Result<u64> {
        if !self.buffer.is_empty() {
            let batch = self.buffer.finish();
            self.send(Some(batch))?;
        }
        self.send(None)?;
        self.join()?.commit()?;
        Ok(self.rows)
    }

    fn send(&mut self, message: Option<RecordBatch>) -> Result<()> {
        match &self.batches {
            Some(batches) if batches.send(message).is_ok() => Ok(()),
            _ => self.join().map(drop), // disconnected: the thread has failed
        }
    }

    /// Disconnects, and waits for the result of the writing thread.
    fn join(&mut self) -> Result<PendingFile> {
        self.batches = None;
        match self.writer.take().map(JoinHandle::join) {
            Some(Ok(said)) => said,
            Some(Err(_)) => Err(Error::output(&self.path, "the thread writing it panicked")),
            None => Err(Error::output(&self.path, "writing it failed before")),
        }
    }
}

impl Drop for RowsFile {
    fn drop(&mut self) {
        // Wait for the thread, which deletes the temporary file.
        if self.writer.is_some() {
            let _ = self.join();
        }
    }
}

/// The writing thread: all batches, then the footer, and the digest of a recording.
fn write(
    (format, file): (TableFormat, PendingFile),
    schema: SchemaRef,
    about: Vec<(String, String)>,
    batches: &Receiver<Option<RecordBatch>>,
) -> std::result::Result<PendingFile, ParquetError> {
    // Only a recording is about something. A pipe cannot get a digest in its first bytes once
    // its last ones are known.
    let is_sealed = !about.is_empty() && file.as_file().is_some();
    let about: Vec<KeyValue> =
        (about.into_iter()).map(|(key, value)| KeyValue::new(key, value)).collect();
    let properties = file_properties(&schema).into_builder();
    let properties = properties.set_key_value_metadata((!about.is_empty()).then_some(about));
    let mut writer = TableWriter::new(format, file, schema, properties.build())?;
    if is_sealed {
        writer.begin_sealed()?;
    }
    loop {
        match batches.recv() {
            Ok(Some(batch)) => writer.write(&batch)?,
            Ok(None) => {
                let file = writer.into_inner()?;
                if is_sealed {
                    seal::seal(&file)?;
                }
                return Ok(file);
            }
            Err(_) => return Err(ParquetError::General("given up".into())),
        }
    }
}

/// Measured on rows of a busy g2: delta encoding with LZ4 is as fast as any
/// other for integer columns, in a third of the bytes of LZ4 alone.
pub fn file_properties(schema: &Schema) -> WriterProperties {
    let mut properties = properties_of_all(schema);
    for field in schema.fields() {
        let column = ColumnPath::from(field.name().as_str());
        properties = match field.data_type() {
            DataType::Dictionary(..) => properties.set_column_dictionary_enabled(column, true),
            DataType::Boolean => properties.set_column_encoding(column, Encoding::RLE),
            _ => properties.set_column_encoding(column, Encoding::DELTA_BINARY_PACKED),
        };
    }
    properties.build()
}

/// What all properties have in common. The least and the greatest of names help no reader.
fn properties_of_all(schema: &Schema) -> WriterPropertiesBuilder {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_compression(Compression::LZ4_RAW)
        .set_dictionary_enabled(false);
    let names = (schema.fields().iter())
        .filter(|field| matches!(field.data_type(), DataType::Dictionary(..)));
    names.fold(properties, |properties, field| {
        let column = ColumnPath::from(field.name().as_str());
        properties.set_column_statistics_enabled(column, EnabledStatistics::None)
    })
}
