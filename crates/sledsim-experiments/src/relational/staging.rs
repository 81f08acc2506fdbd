//! Copies the records of a table from Arrow into pages and back.

use super::layouts::TableLayout;
use super::strings::Dictionary;
use super::table::{SledTable, sorted};
use super::values::{decode, encode};
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_schema::{Schema, SchemaRef};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use std::ops::Range;
use std::sync::Arc;

/// Checked batches, encoded for pages.
pub struct Staged {
    /// Which columns they have.
    pub columns: Vec<usize>,
    /// Of each batch the values of these columns, and how many.
    batches: Vec<(Vec<Buffer>, u64)>,
    /// Strings that came with them, by column of the table.
    fresh: Vec<Dictionary>,
    pub records: u64,
}

impl SledTable {
    /// Checks and encodes data for the table, which must have `all` its columns
    /// or some of them; with `all`, also checks the room. `before` records of
    /// the data were staged already.
    pub(super) fn stage(&self, batches: &[RecordBatch], all: bool, before: u64) -> Result<Staged> {
        let mut staged = Staged {
            columns: Vec::new(),
            batches: Vec::with_capacity(batches.len()),
            fresh: self.columns.iter().map(|_| Dictionary::default()).collect(),
            records: 0,
        };
        for batch in batches {
            let schema = batch.schema();
            let given: Vec<String> =
                (schema.fields().iter()).map(|field| field.name().clone()).collect();
            staged.columns = self.named(&given)?;
            if all
                && let Some(lacking) = (0..self.columns.len()).find(|c| !staged.columns.contains(c))
            {
                return Err(Error::Key(format!(
                    "the data lack column '{}': records must have all columns",
                    self.columns[lacking].name()
                )));
            }
            let mut values = Vec::with_capacity(given.len());
            for (&column, array) in staged.columns.iter().zip(batch.columns()) {
                values.push(encode(
                    &self.columns[column],
                    array,
                    before + staged.records,
                    &self.strings[column],
                    &mut staged.fresh[column],
                )?);
            }
            staged.records += batch.num_rows() as u64;
            staged.batches.push((values, batch.num_rows() as u64));
        }
        let capacity = self.layout.capacity();
        if all && self.records + staged.records > capacity {
            let records = self.records + staged.records;
            return Err(Error::Key(format!(
                "{records} records: device '{}' has room for {capacity} of them from LBN {} on",
                self.medium.device().name(),
                self.settings.first_lbn
            )));
        }
        Ok(staged)
    }

    /// Writes staged data from record `first` on; first reads other data of the
    /// same pages.
    pub(super) fn write(&mut self, staged: Staged, first: u64) -> Result<()> {
        let records = first..first + staged.records;
        if records.is_empty() {
            return Ok(());
        }
        let columns = sorted(&staged.columns);
        self.read_kept(&columns, &records)?;
        self.keep(staged, first);
        self.serve(Op::Write, &columns, records.clone())?;
        self.records = self.records.max(records.end);
        Ok(())
    }

    /// Writes staged data to pages, from record `first` on.
    pub(super) fn keep(&mut self, staged: Staged, first: u64) {
        for (dictionary, fresh) in self.strings.iter_mut().zip(staged.fresh) {
            dictionary.extend(fresh);
        }
        let mut from = first;
        for (values, records) in staged.batches {
            for (&column, bytes) in staged.columns.iter().zip(&values) {
                self.write_column(column, from, bytes);
            }
            from += records;
        }
    }

    /// Puts values of a column into pages.
    fn write_column(&mut self, column: usize, first: u64, bytes: &[u8]) {
        let width = self.columns[column].width as usize;
        let pages = self.medium.pages_mut();
        pieces(&*self.layout, column, width, first, bytes.len(), |at, part| {
            pages.write(at, &bytes[part]);
        });
    }

    /// Takes values of a column out of pages, until `bytes` are full.
    pub(super) fn read_column(&self, column: usize, first: u64, bytes: &mut [u8]) {
        let width = self.columns[column].width as usize;
        let pages = self.medium.pages();
        pieces(&*self.layout, column, width, first, bytes.len(), |at, part| {
            pages.read(at, &mut bytes[part]);
        });
    }

    /// A batch of records of some columns; `fill` reads the bytes of each.
    pub(super) fn batch(
        &self,
        columns: &[usize],
        fill: &mut dyn FnMut(usize, &mut [u8]),
        records: usize,
    ) -> Result<RecordBatch> {
        let mut arrays = Vec::with_capacity(columns.len());
        for &column in columns {
            let of = &self.columns[column];
            arrays.push(decode(of, records, &self.strings[column], |bytes| {
                fill(column, bytes);
            })?);
        }
        let batch = RecordBatch::try_new(self.schema(columns), arrays);
        batch.map_err(|error| Error::Key(error.to_string()))
    }

    fn schema(&self, columns: &[usize]) -> SchemaRef {
        let fields = columns.iter().map(|&c| Arc::clone(&self.columns[c].field));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }
}

/// Splits the bytes of the values of a column from record `first` on, which are
/// `width` bytes each, into pieces that lie together on the device, and tells
/// where each is.
fn pieces(
    layout: &dyn TableLayout,
    column: usize,
    width: usize,
    first: u64,
    bytes: usize,
    mut piece: impl FnMut(u64, Range<usize>),
) {
    let (mut record, mut from) = (first, 0);
    while from < bytes {
        let run = layout.run(column, record);
        let values = run.values.min(((bytes - from) / width) as u64);
        let end = from + values as usize * width;
        let together = if run.stride == width as u64 { end - from } else { width };
        let mut at = run.at;
        for start in (from..end).step_by(together) {
            piece(at, start..start + together);
            at += run.stride;
        }
        record += values;
        from = end;
    }
}
