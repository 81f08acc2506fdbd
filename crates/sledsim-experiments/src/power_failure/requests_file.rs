//! The requests of a history as a table: a Parquet file.

use super::history::{Epoch, Recorded};
use crate::damaged_parquet::ParquetFile;
use crate::stats::TableFile;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_traces::SharedFile;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// The columns: their names and types.
const COLUMNS: [(&str, DataType); 11] = [
    ("epoch", DataType::UInt32),
    ("id", DataType::UInt64),
    ("op", DataType::Utf8),
    ("lbn", DataType::UInt64),
    ("blocks", DataType::UInt32),
    ("fua", DataType::Boolean),
    ("linked", DataType::Boolean),
    ("stream", DataType::UInt32),
    ("arrival_ns", DataType::UInt64),
    ("completion_ns", DataType::UInt64),
    ("first_token", DataType::UInt64),
];

/// The requests of all epochs as a table; `completion_ns` is null where power failed first.
pub fn requests_table(epochs: &[Epoch]) -> RecordBatch {
    let all: Vec<(u32, &Recorded)> = (0..)
        .zip(epochs)
        .flat_map(|(index, epoch)| epoch.requests.iter().map(move |one| (index, one)))
        .collect();
    let u64s = |of: &dyn Fn(&Recorded) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(all.iter().map(|(_, one)| of(one))))
    };
    let u32s = |of: &dyn Fn(&(u32, &Recorded)) -> u32| -> ArrayRef {
        Arc::new(UInt32Array::from_iter_values(all.iter().map(of)))
    };
    let bools = |of: &dyn Fn(&Recorded) -> bool| -> ArrayRef {
        Arc::new(BooleanArray::from_iter(all.iter().map(|(_, one)| Some(of(one)))))
    };
    let completions = all.iter().map(|(_, one)| one.completion.map(|at| at.0));
    let columns: Vec<ArrayRef> = vec![
        u32s(&|(epoch, _)| *epoch),
        u64s(&|one| one.id),
        Arc::new(StringArray::from_iter_values(all.iter().map(|(_, one)| one.op.name()))),
        u64s(&|one| one.lbn),
        u32s(&|(_, one)| one.blocks),
        bools(&|one| one.fua),
        bools(&|one| one.linked),
        u32s(&|(_, one)| one.stream),
        u64s(&|one| one.arrival.0),
        Arc::new(UInt64Array::from_iter(completions)),
        u64s(&|one| one.first_token),
    ];
    let fields = COLUMNS.map(|(name, kind)| Field::new(name, kind, name == "completion_ns"));
    let schema = Arc::new(Schema::new(fields.to_vec()));
    RecordBatch::try_new(schema, columns).expect("columns of equal lengths")
}

/// Writes the requests of all epochs to a Parquet file.
pub fn write_requests(path: &Path, epochs: &[Epoch]) -> Result<()> {
    TableFile::create(path)?.write(&requests_table(epochs), None)
}

/// Reads the requests that [`write_requests`] wrote, of so many epochs, from an open file;
/// messages give its path.
///
/// # Errors
/// A file that is not such a table, with what is wrong.
pub fn read_requests(path: &Path, file: File, epochs: usize) -> Result<Vec<Vec<Recorded>>> {
    let refuse = |problem: String| Error::file(path, problem);
    let whole = SharedFile::of(file).map_err(|error| refuse(error.to_string()))?;
    let file = ParquetFile::of(whole).map_err(refuse)?;
    for (name, kind) in COLUMNS {
        let found = file.schema().field_with_name(name);
        let found = found.map_err(|_| refuse(format!("has no column '{name}'")))?;
        if *found.data_type() != kind {
            let has = found.data_type();
            return Err(refuse(format!("column '{name}' is {has}: must be {kind}")));
        }
    }
    let names = COLUMNS.map(|(name, _)| name);
    let mut epochs = vec![Vec::<Recorded>::new(); epochs];
    let mut last = 0;
    let batches = file.batches(Some(&names), 8192).map_err(refuse)?;
    for batch in batches {
        let batch = batch.map_err(|error| refuse(format!("the data are damaged ({error})")))?;
        let column = |name: &str| &batch[name];
        let u64s = |name: &str| column(name).as_primitive::<UInt64Type>().clone();
        let u32s = |name: &str| column(name).as_primitive::<UInt32Type>().clone();
        let bools = |name: &str| column(name).as_boolean().clone();
        let (epoch, id, op) = (u32s("epoch"), u64s("id"), column("op").as_string::<i32>());
        let (lbn, blocks, stream) = (u64s("lbn"), u32s("blocks"), u32s("stream"));
        let (fua, linked) = (bools("fua"), bools("linked"));
        let (arrival, completion) = (u64s("arrival_ns"), u64s("completion_ns"));
        let tokens = u64s("first_token");
        for row in 0..batch.num_rows() {
            let name = op.value(row);
            let op = Op::ALL.into_iter().find(|op| op.name() == name);
            let index = epoch.value(row) as usize;
            let recorded = Recorded {
                id: id.value(row),
                op: op.ok_or_else(|| refuse(format!("row {row}: op '{name}' is not known")))?,
                lbn: lbn.value(row),
                blocks: blocks.value(row),
                fua: fua.value(row),
                linked: linked.value(row),
                stream: stream.value(row),
                arrival: Nanos(arrival.value(row)),
                completion: completion.is_valid(row).then(|| Nanos(completion.value(row))),
                first_token: tokens.value(row),
            };
            if index >= epochs.len() || index < last {
                return Err(refuse(format!(
                    "row {row}: epoch {index}: must not fall, and be one of {}",
                    epochs.len()
                )));
            }
            last = index;
            let before = epochs[index].last();
            if before.is_some_and(|last| {
                last.arrival > recorded.arrival || last.id.wrapping_add(1) != recorded.id
            }) {
                return Err(refuse(format!(
                    "request {}: ids must rise by one, and arrivals must not fall",
                    recorded.id
                )));
            }
            epochs[index].push(recorded);
        }
    }
    Ok(epochs)
}
