//! Starts reading a Parquet file.

use super::Parquet;
use super::cells::{Cells, Decoded};
use super::schema::{ColumnRoles, decoder, find, is_dictionary, is_text};
use crate::damaged_parquet::ParquetFile;
use sledsim_base::error::{Error, Result};
use sledsim_traces::columns::{Columns, Quantity, Role};
use sledsim_traces::devices::DeviceColumn;
use sledsim_traces::{Compression, Input, Options};
use std::path::Path;

/// Rows decoded at a time.
const BATCH_ROWS: usize = 8_192;

impl Parquet {
    /// Reads the footer of the file behind `input`.
    pub fn new(input: &Input, options: &Options) -> Result<Self> {
        let shown = Path::new(input.name());
        let wanted = Columns::of(options)?;
        Columns::refuse_units(options)?;
        if let Some(lines) = wanted.as_ref().and_then(|columns| columns.skip) {
            let problem = "has no effect with parquet, which has no lines";
            return Err(Error::Key(format!("columns: skip={lines} {problem}")));
        }
        if input.compression() != Compression::None {
            let how = input.compression().name();
            let problem = format!("Parquet inside {how} cannot be read: decompress the file first");
            return Err(Error::trace(shown, problem));
        }
        let Some(whole) = input.as_file().cloned() else {
            let problem = "Parquet needs random access: give a file";
            return Err(Error::trace(shown, problem));
        };
        let file_bytes = whole.bytes();
        let file = ParquetFile::of(whole).map_err(|problem| Error::trace(shown, problem))?;
        let schema = file.schema().clone();
        let ColumnRoles { columns, of_run } = ColumnRoles::of(&schema, wanted, shown)?;
        let mut used = Vec::new();
        let mut chosen = [const { None }; Role::ALL.len()];
        for role in Role::ALL {
            if let Some(column) = columns.get(role) {
                let (name, data_type) = find(&schema, &column.place, shown)?;
                let decoded = decoder(&columns, role, &name, data_type, shown)?;
                chosen[role as usize] = Some((name.clone(), decoded));
                used.push(name);
            }
        }
        let mut only = Vec::new();
        for (place, values) in &columns.only {
            let (name, _) = find(&schema, place, shown)?;
            used.push(name.clone());
            only.push((name, values.clone()));
        }
        let has = |name: &str| of_run && schema.column_with_name(name).is_some();
        let more = ["parent", "device", "id", "completion_ns", "lateness_ns"];
        used.extend((more.into_iter()).filter(|name| has(name)).map(str::to_owned));
        let names: Vec<&str> = used.iter().map(String::as_str).collect();
        let all_rows = file.rows();
        let batches = file.batches(Some(&names), BATCH_ROWS);
        let batches = batches.map_err(|problem| Error::trace(shown, problem))?;
        let present = arrow_array::RecordBatchReader::schema(&batches);
        let index_of = |name: &str| {
            let index = present.index_of(name);
            index.map_err(|error| Error::trace(shown, error))
        };
        let cells = |name: &str, decoded| {
            let index = index_of(name)?;
            let array = arrow_array::new_empty_array(present.field(index).data_type());
            Ok::<_, Error>(Some(Cells { index, array, decoded }))
        };
        let mut all = [const { None }; Role::ALL.len()];
        for (slot, chosen) in all.iter_mut().zip(chosen) {
            if let Some((name, decoded)) = chosen {
                *slot = cells(&name, decoded)?;
            }
        }
        let of_rows = |name: &str, decoded| match has(name) {
            true => cells(name, decoded),
            false => Ok(None),
        };
        let time = || Decoded::numbers(1, Some(Quantity::Time));
        let device = columns.get(Role::Device).map(|column| find(&schema, &column.place, shown));
        let numbered = device.transpose()?.is_some_and(|(_, found)| found.is_integer());
        let only = only.into_iter().map(|(name, values)| Ok((index_of(&name)?, values)));
        Ok(Self {
            only: only.collect::<Result<_>>()?,
            left_out: Vec::new(),
            others: 0,
            path: shown.to_owned(),
            parent: of_rows("parent", Decoded::Plain)?,
            outer: match schema.field_with_name("device") {
                Ok(field) if is_dictionary(field.data_type()) => {
                    of_rows("device", Decoded::names())?
                }
                Ok(field) if is_text(field.data_type()) => of_rows("device", Decoded::Plain)?,
                _ => None,
            },
            outermost: None,
            id: of_rows("id", Decoded::numbers(1, None))?,
            completion: of_rows("completion_ns", time())?,
            lateness: of_rows("lateness_ns", time())?,
            devices: match numbered {
                true => DeviceColumn::numbers(),
                false => DeviceColumn::new(columns.devices_are_names),
            },
            batches,
            columns,
            cells: all,
            row: 0,
            rows: 0,
            before: 0,
            all_rows,
            file_bytes,
            origin: None,
        })
    }
}
