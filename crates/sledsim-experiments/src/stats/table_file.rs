//! Tables written batch by batch to a file, in the format of its ending.

use crate::damaged_parquet::seal;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use sledsim_base::error::{Error, Result};
use sledsim_base::files::PendingFile;
use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::slice;

/// The format of a table file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// A header line, then one line per row; missing values are empty.
    Csv,
    /// Parquet.
    Parquet,
}

impl TableFormat {
    /// The format of a file's ending, `.csv` or `.parquet`, also through a link.
    /// Other than a regular file (a pipe, `/dev/null`) may have any name, and
    /// defaults to Parquet.
    ///
    /// # Errors
    /// [`Error::File`] for any other ending.
    pub fn of(path: &Path) -> Result<Self> {
        let behind = path.canonicalize();
        let found = Self::by_ending(path).or_else(|| Self::by_ending(behind.as_ref().ok()?));
        if let Some(format) = found {
            return Ok(format);
        }
        match path.metadata() {
            Ok(about) if about.is_dir() => {
                Err(Error::output(path, "is a folder; a file name is needed"))
            }
            Ok(about) if !about.is_file() => Ok(Self::Parquet),
            _ => Err(Error::output(path, "must end in .parquet or .csv")),
        }
    }

    fn by_ending(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        match &*ending.to_ascii_lowercase() {
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// A file for one table, which appears under its name when the table is written.
#[derive(Debug)]
pub struct TableFile {
    path: PathBuf,
    format: TableFormat,
    file: PendingFile,
}

impl TableFile {
    /// Starts the file, in the format of its ending.
    pub fn create(path: &Path) -> Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            format: TableFormat::of(path)?,
            file: PendingFile::create(path)?,
        })
    }

    /// Writes the table; the file is there when this returns.
    ///
    /// # Errors
    /// [`Error::File`] with what went wrong; there is no file then.
    pub fn write(self, table: &RecordBatch, properties: Option<WriterProperties>) -> Result<()> {
        self.write_all(table.schema(), slice::from_ref(table), properties)
    }

    /// As [`Self::write`], of a table in batches.
    pub fn write_all(
        self,
        schema: SchemaRef,
        batches: &[RecordBatch],
        properties: Option<WriterProperties>,
    ) -> Result<()> {
        let problem = |error| Error::output(&self.path, innermost_message(error));
        let properties = properties.unwrap_or_default();
        let writer = TableWriter::new(self.format, self.file, schema, properties);
        let mut writer = writer.map_err(problem)?;
        for batch in batches {
            writer.write(batch).map_err(problem)?;
        }
        writer.into_inner().map_err(problem)?.commit()
    }
}

/// The innermost error message, without the wrappers around it.
pub fn innermost_message(error: ParquetError) -> String {
    match &error {
        ParquetError::External(inner) => inner.to_string(),
        ParquetError::General(text) => match text.strip_prefix("fail to get inner writer: ") {
            Some(said) => said.trim_matches('"').to_owned(),
            None => error.to_string(),
        },
        _ => error.to_string(),
    }
}

/// A table being written.
pub(super) enum TableWriter {
    Csv(Box<(PendingFile, Vec<u8>)>),
    Parquet(Box<ArrowWriter<PendingFile>>),
}

impl TableWriter {
    /// Begins the table in `file`.
    pub fn new(
        format: TableFormat,
        mut file: PendingFile,
        schema: SchemaRef,
        properties: WriterProperties,
    ) -> std::result::Result<Self, ParquetError> {
        Ok(match format {
            TableFormat::Csv => {
                let names = schema.fields().iter().map(|field| quoted(field.name()));
                let line = names.collect::<Vec<_>>().join(",") + "\n";
                file.write_all(line.as_bytes())?;
                Self::Csv(Box::new((file, Vec::new())))
            }
            TableFormat::Parquet => {
                let writer = ArrowWriter::try_new(file, schema, Some(properties))?;
                Self::Parquet(Box::new(writer))
            }
        })
    }

    /// Leaves room for a digest in a new Parquet file.
    pub fn begin_sealed(&mut self) -> std::result::Result<(), ParquetError> {
        match self {
            Self::Parquet(writer) => Ok(writer.write_all(&seal::unsealed())?),
            Self::Csv(_) => Ok(()),
        }
    }

    /// Writes the rows of a batch.
    pub fn write(&mut self, batch: &RecordBatch) -> std::result::Result<(), ParquetError> {
        match self {
            Self::Parquet(writer) => writer.write(batch),
            Self::Csv(csv) => {
                let (file, text) = &mut **csv;
                text.clear();
                lines(batch, text);
                Ok(file.write_all(text)?)
            }
        }
    }

    /// Ends the table; the file is to be given its name.
    pub fn into_inner(self) -> std::result::Result<PendingFile, ParquetError> {
        match self {
            Self::Parquet(writer) => writer.into_inner(),
            Self::Csv(csv) => Ok(csv.0),
        }
    }
}

/// Appends a line for each row of `batch`.
fn lines(batch: &RecordBatch, text: &mut Vec<u8>) {
    for row in 0..batch.num_rows() {
        for (index, column) in batch.columns().iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            if !column.is_null(row) {
                cell(&**column, row, text);
            }
        }
        text.push(b'\n');
    }
}

fn cell(column: &dyn Array, row: usize, text: &mut Vec<u8>) {
    let written = match column.data_type() {
        DataType::Int64 => write!(text, "{}", column.as_primitive::<Int64Type>().value(row)),
        DataType::UInt64 => write!(text, "{}", column.as_primitive::<UInt64Type>().value(row)),
        DataType::UInt32 => write!(text, "{}", column.as_primitive::<UInt32Type>().value(row)),
        DataType::Int8 => write!(text, "{}", column.as_primitive::<Int8Type>().value(row)),
        DataType::Float64 => {
            // Always with a decimal point.
            write!(text, "{:?}", column.as_primitive::<Float64Type>().value(row))
        }
        DataType::Utf8 => write!(text, "{}", quoted(column.as_string::<i32>().value(row))),
        DataType::Dictionary(..) => {
            let names = column.as_dictionary::<Int32Type>();
            let key = names.keys().value(row) as usize;
            let name = names.values().as_string::<i32>().value(key);
            write!(text, "{}", quoted(name))
        }
        other => unreachable!("no table has a column of {other}"),
    };
    written.expect("memory takes all text");
}

/// A cell of text, in quotes where it needs them (RFC 4180).
fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}
