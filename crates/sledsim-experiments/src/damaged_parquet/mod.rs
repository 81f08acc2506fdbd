//! Safe reading of Parquet files that may be damaged.
//!
//! On a damaged file the library may panic, or allocate memory of sizes that the
//! file claims and cannot have. So all use of the library is in this module:
//! panics become errors, and sizes are checked first.
//!
//! Modules: `chunks` reads bytes, `header` decodes page headers, `pages` checks
//! the sizes that pages claim, `seal` the digest of a recording.

mod chunks;
mod header;
mod pages;
pub(crate) mod seal;

use crate::panics::catch_panic;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use chunks::Chunks;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use sledsim_base::files::open_regular;
use sledsim_traces::SharedFile;
use std::path::Path;

/// A file whose footer was read.
pub(crate) struct ParquetFile {
    builder: ParquetRecordBatchReaderBuilder<Chunks>,
    file: SharedFile,
}

impl ParquetFile {
    /// Reads the footer of the file at `path`.
    pub fn open(path: &Path) -> Result<Self, String> {
        let whole = open_regular(path).and_then(SharedFile::of);
        Self::of(whole.map_err(|error| error.to_string())?)
    }

    /// Reads the footer of a file, and compares all of it with its digest, if it has one.
    pub fn of(file: SharedFile) -> Result<Self, String> {
        seal::check(file.reader_at(0))?;
        let refuse = |message: &dyn std::fmt::Display| {
            format!("not a Parquet file that can be read ({message})")
        };
        let opened = catch_panic(|| ParquetRecordBatchReaderBuilder::try_new(Chunks(file.clone())));
        let builder = opened.map_err(|message| refuse(&message))?;
        Ok(Self { builder: builder.map_err(|error| refuse(&error))?, file })
    }

    /// Its columns.
    pub fn schema(&self) -> &SchemaRef {
        self.builder.schema()
    }

    /// The number of rows that it claims.
    pub fn rows(&self) -> u64 {
        let rows = self.builder.metadata().file_metadata().num_rows();
        u64::try_from(rows).unwrap_or(0)
    }

    /// The rows of the given or all columns, in batches of at most `batch_rows`.
    pub fn batches(self, columns: Option<&[&str]>, batch_rows: usize) -> Result<Batches, String> {
        let Self { builder, file } = self;
        let done = catch_panic(|| {
            let schema = builder.parquet_schema();
            let mask = match columns {
                // By place, as a name with a dot would be the path of a nested column.
                Some(columns) => {
                    let fields = builder.schema().fields().iter().enumerate();
                    let wanted = fields.filter(|(_, field)| columns.contains(&&**field.name()));
                    ProjectionMask::roots(schema, wanted.map(|(place, _)| place))
                }
                None => ProjectionMask::all(),
            };
            pages::check(&file, builder.metadata(), &mask)?;
            let builder = builder.with_projection(mask).with_batch_size(batch_rows);
            builder.build().map_err(|error| error.to_string())
        });
        let reader = done.and_then(|built| built);
        let refuse = |message| format!("the Parquet data are damaged ({message})");
        Ok(Batches { reader: reader.map_err(refuse)? })
    }
}

/// The rows of a Parquet file, in batches.
pub(crate) struct Batches {
    reader: ParquetRecordBatchReader,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        catch_panic(|| self.reader.next())
            .unwrap_or_else(|message| Some(Err(ArrowError::ParquetError(message))))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }
}
