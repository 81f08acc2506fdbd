//! Whole records in pages of 8 KB, the pages one after the other: the layout of
//! row stores (CMU-CS-03-125, section 5.2.1).
//!
//! Every access to a record transfers its whole page.

use super::{
    ByColumn, Emit, PageFacts, PageSettings, TableLayout, ValueRun, by_track, extent, room,
};
use crate::relational::schema::Column;
use sledsim_base::error::{Error, Result};
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::devices::mems::parallel::Parallel;
use std::ops::Range;

/// Bytes of a page, and how many of them are its header by default:
/// pages of 8 KB hold 115 records of 71 bytes (section 5.2.6).
const PAGE_BYTES: u32 = 8192;
const HEADER_BYTES: u32 = 16;
const PAGE_BLOCKS: u64 = PAGE_BYTES as u64 / BLOCK_BYTES;

/// See the head of this file.
pub(super) struct Normal {
    first_lbn: u64,
    /// Pages there is room for.
    pages: u64,
    per_page: u64,
    header: u64,
    record: u64,
    /// From the beginning of a record to that of each value.
    offsets: Vec<u64>,
    /// Blocks of a track.
    track: u64,
}

impl Normal {
    pub fn new(columns: &[Column], parallel: &Parallel, settings: &PageSettings) -> Result<Self> {
        let room = room(settings, HEADER_BYTES, PAGE_BYTES)?;
        let mut record = 0;
        let mut offsets = Vec::with_capacity(columns.len());
        for column in columns {
            offsets.push(record);
            record += u64::from(column.width);
            if column.width > room {
                return Err(Error::Key(format!(
                    "column '{}' is {} bytes wide: a page of {PAGE_BYTES} bytes has room for {room}",
                    column.name(),
                    column.width
                )));
            }
        }
        if record > u64::from(room) {
            return Err(Error::Key(format!(
                "a record is {record} bytes wide: a page of {PAGE_BYTES} bytes has room for {room}"
            )));
        }
        let (first, last) = parallel.boundaries(settings.first_lbn)?;
        Ok(Self {
            first_lbn: settings.first_lbn,
            pages: (parallel.geometry.blocks() - settings.first_lbn) / PAGE_BLOCKS,
            per_page: u64::from(room) / record,
            header: u64::from(PAGE_BYTES - room),
            record,
            offsets,
            track: last - first + 1,
        })
    }

    /// The blocks of the page that holds `record`.
    fn page(&self, record: u64) -> Range<u64> {
        let first = self.first_lbn + record / self.per_page * PAGE_BLOCKS;
        first..first + PAGE_BLOCKS
    }
}

impl TableLayout for Normal {
    fn capacity(&self) -> u64 {
        self.pages * self.per_page
    }

    fn run(&self, column: usize, record: u64) -> ValueRun {
        let row = record % self.per_page;
        let at = self.page(record).start * BLOCK_BYTES + self.header;
        ValueRun {
            at: at + row * self.record + self.offsets[column],
            values: self.per_page - row,
            stride: self.record,
        }
    }

    fn unit(&self, _: usize, record: u64) -> Range<u64> {
        let first = record / self.per_page * self.per_page;
        first..first + self.per_page
    }

    fn fills_pages(&self, columns: &[usize]) -> bool {
        columns.len() == self.offsets.len()
    }

    fn requests(&self, _: &[usize], records: Range<u64>, emit: &mut Emit<'_>) -> Result<()> {
        let lbns = self.page(records.start).start..self.page(records.end - 1).end;
        by_track(lbns, self.track, emit)
    }

    fn point(&self, _: &[usize], record: u64, emit: &mut Emit<'_>) -> Result<()> {
        emit(&[extent(self.page(record))])
    }

    fn facts(&self, _: &[Column], records: u64) -> PageFacts {
        PageFacts {
            records_per_page: Some(ByColumn::All(self.per_page)),
            capsules: None,
            pages: ByColumn::All(records.div_ceil(self.per_page)),
            page_blocks: PAGE_BLOCKS,
            page_header_bytes: self.header,
            split: None,
            wasted_blocks: 0,
        }
    }
}
