//! Tables as Arrow streams and Parquet files.

use super::Table;
use crate::damaged_parquet::ParquetFile;
use crate::ipc::{from_ipc, to_ipc};
use crate::stats::innermost_message;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use sledsim_base::error::{Error, Result};
use std::path::Path;

/// Rows read at a time.
const BATCH_ROWS: usize = 8_192;

impl Table {
    /// As an Arrow IPC stream, for another process.
    ///
    /// # Errors
    /// A table without columns.
    pub fn to_ipc(&self) -> Result<Vec<u8>> {
        let batch = self.to_batch()?;
        to_ipc(&batch.schema(), &[batch])
    }

    /// From an Arrow IPC stream.
    ///
    /// # Errors
    /// Other bytes than those of [`Table::to_ipc`].
    pub fn of_ipc(bytes: &[u8]) -> Result<Self> {
        let mut table = Self::default();
        for batch in from_ipc(bytes)? {
            table.append(Self::of_batch(&batch)?)?;
        }
        Ok(table)
    }

    /// As the bytes of a Parquet file; the same for the same table.
    ///
    /// # Errors
    /// A table without columns.
    pub fn to_parquet(&self) -> Result<Vec<u8>> {
        let batch = self.to_batch()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::LZ4_RAW)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .build();
        let write = || {
            let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
            writer.write(&batch)?;
            writer.into_inner()
        };
        write().map_err(|error| Error::Key(innermost_message(error)))
    }

    /// Reads a Parquet file: all columns, or those named that it has.
    ///
    /// # Errors
    /// A file that cannot be read, or that is none of a study.
    pub fn read_parquet(path: &Path, columns: Option<&[String]>) -> Result<Self> {
        let problem = |problem: String| Error::file(path, problem);
        let file = ParquetFile::open(path).map_err(problem)?;
        let wanted: Option<Vec<String>> = columns.map(|columns| {
            let has = |name: &&String| file.schema().field_with_name(name).is_ok();
            columns.iter().filter(has).cloned().collect()
        });
        let wanted: Option<Vec<&str>> =
            (wanted.as_ref()).map(|names| names.iter().map(String::as_str).collect());
        let mut table = Self::default();
        for batch in file.batches(wanted.as_deref(), BATCH_ROWS).map_err(problem)? {
            let batch = batch.map_err(|error| Error::file(path, error))?;
            let rows = Self::of_batch(&batch).map_err(|error| Error::file(path, error))?;
            table.append(rows)?;
        }
        Ok(table)
    }
}
