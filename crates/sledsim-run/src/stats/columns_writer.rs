//! Tables as Parquet, row group by row group.
//!
//! Contract: the same bytes as from the library's `ArrowWriter`. Columns of whole numbers
//! go to the library's writers of columns as they are, where `ArrowWriter` copies them
//! value by value; all others go the way of `ArrowWriter`.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{DataType, SchemaRef};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnWriter, get_column_writer};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use sledsim_base::files::PendingFile;
use std::sync::{Arc, Mutex, PoisonError};

type Result<T> = std::result::Result<T, ParquetError>;

/// A Parquet file being written.
pub(super) struct ColumnsWriter {
    file: SerializedFileWriter<PendingFile>,
    factory: ArrowRowGroupWriterFactory,
    properties: WriterPropertiesPtr,
    schema: SchemaRef,
    /// Rows of a full group.
    group_rows: usize,
    /// The columns of the group being written; none between two groups.
    columns: Vec<Column>,
    /// Rows in them.
    rows: usize,
    /// Groups written.
    groups: usize,
}

/// A column of the row group being written.
enum Column {
    /// Whole numbers without nulls, and their pages.
    Numbers(ColumnWriter<'static>, Pages),
    General(ArrowColumnWriter),
}

impl ColumnsWriter {
    /// Begins the file.
    pub fn new(
        file: PendingFile,
        schema: SchemaRef,
        properties: Option<WriterProperties>,
    ) -> Result<Self> {
        let properties = properties.unwrap_or_default();
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties.clone()))?;
        let (file, factory) = writer.into_serialized_writer()?;
        Ok(Self {
            file,
            factory,
            schema,
            group_rows: properties.max_row_group_row_count().unwrap_or(usize::MAX),
            properties: Arc::new(properties),
            columns: Vec::new(),
            rows: 0,
            groups: 0,
        })
    }

    /// Writes the rows of a batch.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut done = 0;
        while done < batch.num_rows() {
            let rows = (batch.num_rows() - done).min(self.group_rows - self.rows);
            self.add(&batch.slice(done, rows))?;
            done += rows;
            if self.rows == self.group_rows {
                self.end_group()?;
            }
        }
        Ok(())
    }

    /// Adds rows to the group.
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.columns.is_empty() {
            self.begin_group()?;
        }
        let fields = self.schema.fields();
        for ((column, field), array) in self.columns.iter_mut().zip(fields).zip(batch.columns()) {
            match column {
                Column::Numbers(writer, _) => write_numbers(writer, array)?,
                Column::General(writer) => {
                    for leaf in compute_leaves(field, array)? {
                        writer.write(&leaf)?;
                    }
                }
            }
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    fn begin_group(&mut self) -> Result<()> {
        let general = self.factory.create_column_writers(self.groups)?;
        let described = self.file.schema_descr().columns().iter();
        let columns = general.into_iter().zip(described).zip(self.schema.fields());
        self.columns = columns
            .map(|((general, described), field)| {
                let kind = field.data_type();
                if field.is_nullable() || number_buffer_of(kind).is_none() {
                    return Column::General(general);
                }
                let pages = Pages::default();
                let (described, properties) = (described.clone(), self.properties.clone());
                let writer = get_column_writer(described, properties, Box::new(pages.clone()));
                Column::Numbers(writer, pages)
            })
            .collect();
        Ok(())
    }

    fn end_group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for column in self.columns.drain(..) {
            match column {
                Column::General(writer) => writer.close()?.append_to_row_group(&mut group)?,
                Column::Numbers(writer, pages) => {
                    let closed = writer.close()?;
                    group.append_column(&pages.into_bytes()?, closed)?;
                }
            }
        }
        group.close()?;
        (self.rows, self.groups) = (0, self.groups + 1);
        Ok(())
    }

    /// Ends the file; it is to be given its name.
    pub fn into_inner(mut self) -> Result<PendingFile> {
        if self.rows > 0 {
            self.end_group()?;
        }
        self.file.into_inner()
    }
}

/// What returns the values of an array of this type, if they are whole numbers.
fn number_buffer_of(kind: &DataType) -> Option<fn(&dyn Array) -> Buffer> {
    Some(match kind {
        DataType::Int64 => |array| array.as_primitive::<Int64Type>().values().inner().clone(),
        DataType::UInt64 => |array| array.as_primitive::<UInt64Type>().values().inner().clone(),
        DataType::UInt32 => |array| array.as_primitive::<UInt32Type>().values().inner().clone(),
        _ => return None,
    })
}

/// Writes an array that [`number_buffer_of`] knows: Parquet stores unsigned numbers by the
/// bits of signed ones.
fn write_numbers(writer: &mut ColumnWriter<'_>, array: &dyn Array) -> Result<()> {
    let buffer = number_buffer_of(array.data_type()).map(|buffer| buffer(array));
    match (writer, buffer) {
        (ColumnWriter::Int64ColumnWriter(writer), Some(buffer)) => {
            writer.write_batch(&ScalarBuffer::<i64>::from(buffer), None, None)?;
        }
        (ColumnWriter::Int32ColumnWriter(writer), Some(buffer)) => {
            writer.write_batch(&ScalarBuffer::<i32>::from(buffer), None, None)?;
        }
        _ => return Err(ParquetError::General("a column of another type".to_owned())),
    }
    Ok(())
}

/// The pages of a column in memory.
#[derive(Clone)]
struct Pages(Arc<Mutex<TrackedWrite<Vec<u8>>>>);

impl Default for Pages {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(TrackedWrite::new(Vec::new()))))
    }
}

impl Pages {
    /// All of them; the column is complete.
    fn into_bytes(self) -> Result<Bytes> {
        let pages = Arc::into_inner(self.0)
            .ok_or_else(|| ParquetError::General("the column is still written".to_owned()))?;
        let pages = pages.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(pages.into_inner()?.into())
    }
}

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        SerializedPageWriter::new(&mut pages).write_page(page)
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::file_properties;
    use arrow_array::types::Int32Type;
    use arrow_array::{
        ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, StringArray,
        UInt32Array, UInt64Array,
    };
    use arrow_schema::{Field, Schema};
    use proptest::prelude::*;

    /// Columns of all kinds, with values of up to so many bits.
    fn batch(numbers: &[u64], bits: u32) -> RecordBatch {
        let numbers: Vec<u64> = numbers.iter().map(|number| number >> (64 - bits)).collect();
        let each = || numbers.iter().copied();
        let some = |number: u64| (number % 3 > 0).then_some(number);
        let names: ArrayRef = Arc::new(StringArray::from(vec!["read", "write", "trim"]));
        let keys = Int32Array::from_iter_values(each().map(|number| (number % 3) as i32));
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("u64", Arc::new(UInt64Array::from_iter_values(each()))),
            ("maybe", Arc::new(UInt64Array::from_iter(each().map(some)))),
            (
                "i64",
                Arc::new(Int64Array::from_iter_values(each().map(|n| n as i64))),
            ),
            (
                "u32",
                Arc::new(UInt32Array::from_iter_values(each().map(|n| n as u32))),
            ),
            (
                "name",
                Arc::new(DictionaryArray::<Int32Type>::new(keys, names)),
            ),
            (
                "text",
                Arc::new(StringArray::from_iter_values(each().map(|n| n.to_string()))),
            ),
            (
                "f64",
                Arc::new(Float64Array::from_iter_values(each().map(|n| n as f64))),
            ),
            (
                "bool",
                Arc::new(BooleanArray::from_iter(each().map(|n| Some(n & 1 == 1)))),
            ),
        ];
        let fields = columns
            .iter()
            .map(|(name, column)| Field::new(*name, column.data_type().clone(), *name == "maybe"));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        RecordBatch::try_new(
            schema,
            columns.into_iter().map(|(_, column)| column).collect(),
        )
        .unwrap()
    }

    proptest! {
        #[test]
        fn the_bytes_are_those_of_the_general_writer(
            batches in prop::collection::vec(
                (prop::collection::vec(any::<u64>(), 0..3000), 1..=64_u32), 1..5),
            group_rows in 500..5000_usize,
            is_delta in any::<bool>(),
        ) {
            let batches: Vec<_> = batches.iter().map(|(numbers, bits)| batch(numbers, *bits)).collect();
            let schema = batches[0].schema();
            let properties = match is_delta {
                true => file_properties(&schema),
                false => WriterProperties::default(),
            };
            let properties = properties.into_builder();
            let properties = properties.set_max_row_group_row_count(Some(group_rows)).build();
            let folder = tempfile::TempDir::new().unwrap();
            let path = folder.path().join("table.parquet");
            let file = PendingFile::create(&path).unwrap();
            let mut writer =
                ColumnsWriter::new(file, Arc::clone(&schema), Some(properties.clone())).unwrap();
            let mut general = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).unwrap();
            for batch in &batches {
                writer.write(batch).unwrap();
                general.write(batch).unwrap();
            }
            writer.into_inner().unwrap().commit().unwrap();
            let expected = general.into_inner().unwrap();
            prop_assert!(std::fs::read(&path).unwrap() == expected);
        }
    }
}
