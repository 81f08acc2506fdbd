//! The table of compared requests: simulated and measured times.

use super::{Compared, Pair, Placement};
use crate::stats::{RowBuffer, TableFile, described, file_properties};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use sledsim_base::error::Result;
use std::path::Path;
use std::sync::Arc;

/// The rows of a run, with the compared times.
pub(super) fn batch(device: &str, compared: &[Compared]) -> RecordBatch {
    let mut rows = RowBuffer::new(&[device], compared.len());
    for request in compared {
        rows.push(&request.row);
    }
    let rows = rows.finish();
    let mut fields: Vec<Field> =
        (rows.schema().fields().iter()).map(|field| field.as_ref().clone()).collect();
    let mut columns = rows.columns().to_vec();
    let mut add = |field: Field, unit: &str, description: &str, column: ArrayRef| {
        fields.push(described(field, unit, description));
        columns.push(column);
    };
    let times = |time: &dyn Fn(&Compared) -> Option<u64>| -> ArrayRef {
        let times = compared.iter().map(time);
        let signed = times.map(|time| time.map(|time| i64::try_from(time).unwrap_or(i64::MAX)));
        Arc::new(signed.collect::<Int64Array>())
    };
    let measured = |pair: Pair| pair.measured.0;
    add(
        Field::new("measured_ns", DataType::Int64, false),
        "ns",
        "How long it took on the real device; compared with completion less arrival",
        times(&|request| Some(measured(request.response))),
    );
    add(
        Field::new("measured_queue_ns", DataType::Int64, true),
        "ns",
        "For how long it waited there; null where the trace does not tell",
        times(&|request| request.queue.map(measured)),
    );
    add(
        Field::new("measured_service_ns", DataType::Int64, true),
        "ns",
        "The rest of it; null where the trace does not tell",
        times(&|request| request.service.map(measured)),
    );
    let places = StringArray::from_iter_values(Placement::ALL.map(Placement::name));
    let keys = compared.iter().map(|request| request.class.2 as i32);
    let keys = Int32Array::from_iter_values(keys);
    let name = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    add(
        Field::new("place", name, false),
        "",
        "Where it lies after the request before it: first, sequential, overlapping, near or far",
        Arc::new(DictionaryArray::<Int32Type>::new(keys, Arc::new(places))),
    );
    let metadata = rows.schema().metadata().clone();
    let schema = Arc::new(Schema::new(fields).with_metadata(metadata));
    RecordBatch::try_new(schema, columns).expect("the columns follow the schema")
}

/// Writes such a table to a `.parquet` or `.csv` file, which is there when this
/// returns.
///
/// # Errors
/// [`sledsim_base::error::Error::File`] with what went wrong; there is no file then.
pub fn write(table: &RecordBatch, path: &Path) -> Result<()> {
    TableFile::create(path)?.write(table, Some(file_properties(&table.schema())))
}
