//! A table on a device: load, scan, read, append, update.

use super::layouts::{PageFacts, PageSettings, TableLayout, layout};
use super::medium::{Cost, Medium};
use super::schema::{Column, columns, names};
use super::strings::Dictionary;
use crate::damaged_parquet::ParquetFile;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::Schema;
use serde::Serialize;
use sledsim_base::error::{Error, Result};
use sledsim_base::request::{Extent, Op};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::ops::Range;
use std::path::Path;

/// Records of one batch that a query returns.
const BATCH_RECORDS: u64 = 1 << 20;
/// Records of a Parquet file decoded at a time.
const PARQUET_RECORDS: usize = 1 << 16;

/// What is known of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableFacts {
    /// The name of its layout.
    pub layout: &'static str,
    /// Its records.
    pub records: u64,
    /// Records for which there is room.
    pub capacity_records: u64,
    /// Blocks that it takes.
    pub blocks: u64,
    /// The first of them.
    pub first_lbn: Option<u64>,
    /// The last of them.
    pub last_lbn: Option<u64>,
    /// Parameters of the layout.
    #[serde(flatten)]
    pub pages: PageFacts,
}

/// A table on a device.
pub struct SledTable {
    pub(super) columns: Vec<Column>,
    pub(super) strings: Vec<Dictionary>,
    pub(super) settings: PageSettings,
    pub(super) layout: Box<dyn TableLayout>,
    pub(super) medium: Box<dyn Medium>,
    pub(super) records: u64,
}

impl SledTable {
    /// An empty table with the columns of `schema` on `medium`.
    ///
    /// # Errors
    /// [`Error::Key`] for a device that is no single sled, a column that no page
    /// holds, or settings that do not fit them.
    pub fn new(schema: &Schema, medium: Box<dyn Medium>, settings: PageSettings) -> Result<Self> {
        let device = medium.device();
        let Some(mems) = device.mems() else {
            return Err(Error::Key(format!(
                "device '{}': a table must be on a sled (kind \"mems\")",
                device.name()
            )));
        };
        let columns = columns(schema)?;
        let layout = layout(&columns, &mems.parallel, &settings)?;
        Ok(Self {
            strings: columns.iter().map(|_| Dictionary::default()).collect(),
            columns,
            settings,
            layout,
            medium,
            records: 0,
        })
    }

    /// A table of all records of `reader`. On a simulated medium it is stored
    /// without requests, on others it is written. Then its clock starts.
    pub fn load(
        reader: &mut dyn RecordBatchReader,
        medium: Box<dyn Medium>,
        settings: PageSettings,
    ) -> Result<Self> {
        let mut table = Self::new(&reader.schema(), medium, settings)?;
        let mut some = Vec::new();
        for batch in reader {
            some.push(batch.map_err(|error| Error::Key(format!("the data: {error}")))?);
            let records: usize = some.iter().map(RecordBatch::num_rows).sum();
            if table.medium.is_simulated() || records as u64 >= BATCH_RECORDS {
                table.put(&some)?;
                some.clear();
            }
        }
        table.put(&some)?;
        table.medium.restart();
        Ok(table)
    }

    /// A table of the records of a Parquet file.
    pub fn load_parquet(
        path: &Path,
        medium: Box<dyn Medium>,
        settings: PageSettings,
    ) -> Result<Self> {
        let opened = ParquetFile::open(path).and_then(|file| file.batches(None, PARQUET_RECORDS));
        let mut reader = opened.map_err(|problem| Error::spec(path, problem))?;
        Self::load(&mut reader, medium, settings).map_err(|error| match error {
            Error::Key(_) | Error::Value { .. } => Error::spec(path, error),
            // The medium's.
            other => other,
        })
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The number of records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The settings of its layout.
    pub fn settings(&self) -> &PageSettings {
        &self.settings
    }

    /// Time of the device since the table was loaded, as [`Medium::clock`].
    pub fn clock(&self) -> Nanos {
        self.medium.clock()
    }

    /// Lets time of the device pass.
    pub fn idle(&mut self, time: Nanos) {
        self.medium.idle(time);
    }

    /// The columns of these names.
    ///
    /// # Errors
    /// [`Error::Key`] for no name, an unknown one, or one that comes twice.
    pub fn named(&self, names_wanted: &[String]) -> Result<Vec<usize>> {
        if names_wanted.is_empty() {
            return Err(Error::Key("columns: must name at least one".to_owned()));
        }
        let mut found = Vec::with_capacity(names_wanted.len());
        for name in names_wanted {
            let column = self.columns.iter().position(|c| c.name() == name);
            let Some(column) = column else {
                let known = names(&self.columns);
                return Err(Error::Key(format!(
                    "column '{name}' is not in the table: must be one of {known}"
                )));
            };
            if found.contains(&column) {
                return Err(Error::Key(format!("columns: '{name}' is named twice")));
            }
            found.push(column);
        }
        Ok(found)
    }

    /// Block and byte in it at which a value begins.
    ///
    /// # Errors
    /// [`Error::Key`] for a record that the table does not have.
    pub fn place(&self, record: u64, column: usize) -> Result<(u64, u64)> {
        self.check(record..record.saturating_add(1))?;
        let at = self.layout.run(column, record).at;
        Ok((at / BLOCK_BYTES, at % BLOCK_BYTES))
    }

    /// The blocks that a scan of `columns` reads, as ranges in their order that
    /// include both ends.
    pub fn lbns(&self, columns: &[usize]) -> Result<Vec<(u64, u64)>> {
        let mut extents: Vec<Extent> = Vec::new();
        if self.records > 0 {
            let all = 0..self.records;
            (self.layout).requests(&sorted(columns), all, &mut |some| {
                extents.extend_from_slice(some);
                Ok(())
            })?;
        }
        extents.sort_unstable_by_key(|extent| extent.lbn);
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for extent in extents {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == extent.lbn => *last = extent.end() - 1,
                _ => ranges.push((extent.lbn, extent.end() - 1)),
            }
        }
        Ok(ranges)
    }

    /// Parameters of the layout, and the blocks that the table takes.
    pub fn facts(&self) -> Result<TableFacts> {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let ranges = self.lbns(&all)?;
        let blocks: u64 = ranges.iter().map(|(first, last)| last - first + 1).sum();
        Ok(TableFacts {
            layout: self.settings.kind.name(),
            records: self.records,
            capacity_records: self.layout.capacity(),
            blocks,
            first_lbn: ranges.first().map(|range| range.0),
            last_lbn: ranges.last().map(|range| range.1),
            pages: self.layout.facts(&self.columns, self.records),
        })
    }

    /// Reads `columns` of `count` records from `first` on, in lock-step.
    ///
    /// # Errors
    /// [`Error::Key`] for records that the table does not have, and what the
    /// medium says.
    pub fn scan(
        &mut self,
        columns: &[usize],
        first: u64,
        count: u64,
    ) -> Result<(Vec<RecordBatch>, Cost)> {
        let records = first..first.saturating_add(count);
        self.check(records.clone())?;
        self.call(|table| {
            table.serve(Op::Read, &sorted(columns), records.clone())?;
            let mut batches = Vec::new();
            let mut from = records.start;
            while from < records.end || batches.is_empty() {
                let end = records.end.min(from + BATCH_RECORDS);
                batches.push(table.batch(
                    columns,
                    &mut |column, bytes| {
                        table.read_column(column, from, bytes);
                    },
                    (end - from) as usize,
                )?);
                from = end;
            }
            Ok(batches)
        })
    }

    /// Reads `columns` of single records, one after the other.
    ///
    /// # Errors
    /// [`Error::Key`] for a record that the table does not have, and what the
    /// medium says.
    pub fn read(&mut self, columns: &[usize], records: &[u64]) -> Result<(RecordBatch, Cost)> {
        for &record in records {
            self.check(record..record.saturating_add(1))?;
        }
        let wanted = sorted(columns);
        self.call(|table| {
            for &record in records {
                let medium = &mut table.medium;
                table
                    .layout
                    .point(&wanted, record, &mut |extents| medium.submit(Op::Read, extents))?;
                medium.wait()?;
            }
            let pages = table.medium.pages();
            table.batch(
                columns,
                &mut |column, bytes| {
                    let width = table.columns[column].width as usize;
                    for (value, &record) in bytes.chunks_exact_mut(width).zip(records) {
                        pages.read(table.layout.run(column, record).at, value);
                    }
                },
                records.len(),
            )
        })
    }

    /// Adds records at the end. Partly filled pages that get more records are
    /// read first.
    ///
    /// # Errors
    /// [`Error::Key`] for data that do not fit the table or the device; and what
    /// the medium says. The table is unchanged then.
    pub fn append(&mut self, batches: &[RecordBatch]) -> Result<Cost> {
        let staged = self.stage(batches, true, 0)?;
        let first = self.records;
        let ((), cost) = self.call(|table| table.write(staged, first))?;
        Ok(cost)
    }

    /// Writes records over those from `first` on, or only some of their columns.
    /// Pages that are not written as a whole are read first.
    ///
    /// # Errors
    /// [`Error::Key`] for data that do not fit the table, or records that it does
    /// not have: the table is unchanged then. And what the medium says: then each
    /// value is the old or the new one, or begun in one block and ended in
    /// another if it lies in two (`normal` only).
    pub fn update(&mut self, first: u64, batches: &[RecordBatch]) -> Result<Cost> {
        let staged = self.stage(batches, false, 0)?;
        self.check(first..first.saturating_add(staged.records))?;
        let ((), cost) = self.call(|table| table.write(staged, first))?;
        Ok(cost)
    }

    /// Stores records at the end, without requests on a simulated medium.
    fn put(&mut self, batches: &[RecordBatch]) -> Result<()> {
        let staged = self.stage(batches, true, self.records)?;
        let first = self.records;
        if self.medium.is_simulated() {
            let end = first + staged.records;
            self.keep(staged, first);
            self.records = end;
            return Ok(());
        }
        self.call(|table| table.write(staged, first))?;
        Ok(())
    }

    /// Does `work` and returns its cost.
    fn call<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<(T, Cost)> {
        let done = work(self);
        if done.is_err() {
            // The error is reported already; wait for the other requests.
            let _ = self.medium.wait();
        }
        let cost = self.medium.took();
        done.map(|value| (value, cost))
    }

    /// The table must have these records.
    fn check(&self, records: Range<u64>) -> Result<()> {
        if records.end <= self.records {
            return Ok(());
        }
        let last = records.end - 1;
        let asked = match records.end - records.start {
            0 | 1 => format!("record {}", records.start),
            _ => format!("records {} to {last}", records.start),
        };
        Err(Error::Key(match self.records {
            0 => format!("{asked}: the table is empty"),
            all => format!("{asked}: the table has records 0 to {}", all - 1),
        }))
    }

    /// Submits the requests of a query and waits for their end.
    pub(super) fn serve(&mut self, op: Op, columns: &[usize], records: Range<u64>) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let medium = &mut self.medium;
        self.layout.requests(columns, records, &mut |extents| medium.submit(op, extents))?;
        medium.wait()
    }

    /// Reads the pages that also hold other values than those of `records`.
    pub(super) fn read_kept(&mut self, columns: &[usize], records: &Range<u64>) -> Result<()> {
        if !self.layout.fills_pages(columns) {
            return self.serve(Op::Read, columns, records.clone());
        }
        for (edge, record) in [records.start, records.end - 1].into_iter().enumerate() {
            let mut swept = self.layout.swept(record, records);
            let keeps_others = |column: &usize| {
                let unit = self.layout.unit(*column, swept.start).start
                    ..self.layout.unit(*column, swept.end - 1).end;
                let there = unit.start..unit.end.min(self.records);
                let covered = records.start <= there.start && there.end <= records.end;
                // The other edge was read with the first.
                let was_read = edge == 1 && unit.contains(&records.start);
                !there.is_empty() && !covered && !was_read
            };
            let some: Vec<usize> = columns.iter().copied().filter(keeps_others).collect();
            if !some.is_empty() {
                swept.end = swept.end.min(self.records.max(swept.start + 1));
                self.serve(Op::Read, &some, swept)?;
            }
        }
        Ok(())
    }
}

pub(super) fn sorted(columns: &[usize]) -> Vec<usize> {
    let mut columns = columns.to_vec();
    columns.sort_unstable();
    columns
}
