//! Tables as Parquet, row group by row group.
//!
//! Contract: the same bytes as from the library's `ArrowWriter`, but for columns that are
//! constant at the start of a row group, which may be encoded in another way. Columns of
//! whole numbers go to the library's writers of columns as they are, where `ArrowWriter`
//! copies them value by value; all others go the way of `ArrowWriter`.

use crate::damaged_parquet::seal;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type, UInt64Type};
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
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

type Result<T> = std::result::Result<T, ParquetError>;

/// A Parquet file being written.
pub(super) struct ColumnsWriter {
    file: SerializedFileWriter<PendingFile>,
    schema: SchemaRef,
    /// How columns are written.
    usual: WriterSettings,
    /// How columns are written that are constant at the start of a row group.
    constant: WriterSettings,
    /// Rows of a full group.
    group_rows: usize,
    /// The columns of the group being written; none between two groups.
    columns: Vec<Column>,
    /// Rows in them.
    rows: usize,
    /// Groups written.
    groups: usize,
}

/// What the writers of columns are made from.
struct WriterSettings {
    properties: WriterPropertiesPtr,
    factory: ArrowRowGroupWriterFactory,
}

/// A column of the row group being written.
enum Column {
    /// Whole numbers without nulls, and their pages.
    Numbers(ColumnWriter<'static>, Pages),
    General(ArrowColumnWriter),
}

impl ColumnsWriter {
    /// Begins the file; `constant` are the properties of columns that are constant at the
    /// start of a row group, if they have others.
    pub fn new(
        file: PendingFile,
        schema: SchemaRef,
        properties: WriterProperties,
        constant: Option<WriterProperties>,
    ) -> Result<Self> {
        let group_rows = properties.max_row_group_row_count();
        let constant = constant.unwrap_or_else(|| properties.clone());
        let (file, usual) = begin(file, &schema, properties)?;
        Ok(Self {
            file,
            usual,
            constant: begin(std::io::sink(), &schema, constant)?.1,
            schema,
            group_rows: group_rows.unwrap_or(usize::MAX),
            columns: Vec::new(),
            rows: 0,
            groups: 0,
        })
    }

    /// Leaves room for a digest, before any row.
    pub fn begin_sealed(&mut self) -> Result<()> {
        Ok(self.file.write_all(&seal::unsealed())?)
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
            self.begin_group(batch)?;
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

    /// Begins a row group, whose first rows are those of `batch`.
    fn begin_group(&mut self, batch: &RecordBatch) -> Result<()> {
        let general = self.usual.factory.create_column_writers(self.groups)?;
        let constant = self.constant.factory.create_column_writers(self.groups)?;
        let columns = general.into_iter().zip(constant).zip(batch.columns());
        let columns = columns.zip(self.file.schema_descr().columns());
        let columns = columns.zip(self.schema.fields());
        self.columns = columns
            .map(|((((general, constant), array), described), field)| {
                let (general, properties) = match is_constant(array) {
                    true => (constant, &self.constant.properties),
                    false => (general, &self.usual.properties),
                };
                let kind = field.data_type();
                if field.is_nullable() || number_buffer_of(kind).is_none() {
                    return Column::General(general);
                }
                let pages = Pages::default();
                let (described, properties) = (described.clone(), Arc::clone(properties));
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

/// Begins a file as `ArrowWriter` does.
fn begin<W: Write + Send>(
    file: W,
    schema: &SchemaRef,
    properties: WriterProperties,
) -> Result<(SerializedFileWriter<W>, WriterSettings)> {
    let writer = ArrowWriter::try_new(file, Arc::clone(schema), Some(properties.clone()))?;
    let (file, factory) = writer.into_serialized_writer()?;
    let properties = Arc::new(properties);
    Ok((file, WriterSettings { properties, factory }))
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

/// Whether all values of a column of whole numbers or names are the same.
fn is_constant(array: &dyn Array) -> bool {
    fn is_one<T: PartialEq>(values: &[T]) -> bool {
        values.iter().all(|value| *value == values[0])
    }
    array.null_count() == 0
        && match array.data_type() {
            DataType::Int64 => is_one(array.as_primitive::<Int64Type>().values()),
            DataType::UInt64 => is_one(array.as_primitive::<UInt64Type>().values()),
            DataType::UInt32 => is_one(array.as_primitive::<UInt32Type>().values()),
            DataType::Dictionary(..) => is_one(array.as_dictionary::<Int32Type>().keys().values()),
            _ => false,
        }
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
    use super::super::rows_file::{constant_properties, file_properties};
    use super::*;
    use arrow_array::{
        ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, StringArray,
        UInt32Array, UInt64Array,
    };
    use arrow_schema::{Field, Schema};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use proptest::prelude::*;

    /// Columns with values of up to so many bits; with `all`, of all types.
    fn batch(numbers: &[u64], bits: u32, all: bool) -> RecordBatch {
        let least = |number: &u64| number.checked_shr(64 - bits).unwrap_or(0);
        let numbers: Vec<u64> = numbers.iter().map(least).collect();
        let each = || numbers.iter().copied();
        let some = |number: u64| (!number.is_multiple_of(3)).then_some(number);
        let names = Arc::new(StringArray::from(vec!["read", "write", "trim"]));
        let keys = Int32Array::from_iter_values(each().map(|number| (number % 3) as i32));
        let texts = each().map(|number| number.to_string());
        let columns: [ArrayRef; 8] = [
            Arc::new(UInt64Array::from_iter_values(each())),
            Arc::new(UInt64Array::from_iter(each().map(some))),
            Arc::new(Int64Array::from_iter_values(each().map(|n| n as i64))),
            Arc::new(UInt32Array::from_iter_values(each().map(|n| n as u32))),
            Arc::new(DictionaryArray::<Int32Type>::new(keys, names)),
            Arc::new(BooleanArray::from_iter(each().map(|n| Some(n & 1 == 1)))),
            Arc::new(StringArray::from_iter_values(texts)),
            Arc::new(Float64Array::from_iter_values(each().map(|n| n as f64))),
        ];
        let columns = &columns[..if all { 8 } else { 6 }];
        let field = |(number, column): (usize, &ArrayRef)| {
            Field::new(number.to_string(), column.data_type().clone(), number == 1)
        };
        let fields: Vec<_> = columns.iter().enumerate().map(field).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.to_vec()).unwrap()
    }

    fn written(
        batches: &[RecordBatch],
        properties: &WriterProperties,
        constant: Option<WriterProperties>,
    ) -> Bytes {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("table.parquet");
        let file = PendingFile::create(&path).unwrap();
        let schema = batches[0].schema();
        let mut writer = ColumnsWriter::new(file, schema, properties.clone(), constant).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.into_inner().unwrap().commit().unwrap();
        std::fs::read(&path).unwrap().into()
    }

    fn read(file: Bytes) -> Vec<RecordBatch> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build();
        reader.unwrap().map(|batch| batch.unwrap()).collect()
    }

    proptest! {
        #[test]
        fn files_are_those_of_the_general_writer(
            batches in prop::collection::vec(
                (prop::collection::vec(any::<u64>(), 0..3000), 0..=64_u32), 1..5),
            group_rows in 500..5000_usize,
            all in any::<bool>(),
        ) {
            let batches: Vec<_> =
                batches.iter().map(|(numbers, bits)| batch(numbers, *bits, all)).collect();
            let schema = batches[0].schema();
            let properties = match all {
                true => WriterProperties::default(),
                false => file_properties(&schema),
            };
            let properties = properties.into_builder();
            let properties = properties.set_max_row_group_row_count(Some(group_rows)).build();
            let file = Vec::new();
            let mut general =
                ArrowWriter::try_new(file, schema.clone(), Some(properties.clone())).unwrap();
            batches.iter().for_each(|batch| general.write(batch).unwrap());
            let expected = Bytes::from(general.into_inner().unwrap());
            prop_assert!(written(&batches, &properties, None) == expected);
            let file = written(&batches, &properties, Some(constant_properties(&schema)));
            prop_assert_eq!(read(file), read(expected));
        }
    }
}
