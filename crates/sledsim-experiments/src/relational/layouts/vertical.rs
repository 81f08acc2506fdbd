//! Each column in consecutive pages of its own, as a table by itself (the
//! decomposition storage model; CMU-CS-03-125, section 5.2.1).
//!
//! The tracks from the table's first on are dealt out to the columns in
//! proportion to the pages they need, so that all columns can grow until the
//! device is full.

use super::{
    ByColumn, Emit, PageFacts, PageSettings, TableLayout, ValueRun, by_track, extent, per_page,
    room,
};
use crate::relational::PAGE_BYTES;
use crate::relational::schema::Column;
use sledsim_base::error::{Error, Result};
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::devices::mems::parallel::Parallel;
use std::ops::Range;

/// Bytes at the head of a page by default.
const HEADER_BYTES: u32 = 32;
/// Pages are counted for as many records as this.
const RECORDS: u64 = 1 << 30;

/// See the head of this file.
pub(super) struct Vertical {
    columns: Vec<ColumnTracks>,
    header: u64,
    /// Blocks of a track.
    track: u64,
}

/// A column and the blocks that are its own.
struct ColumnTracks {
    width: u64,
    per_page: u64,
    lbns: Range<u64>,
}

impl ColumnTracks {
    /// The block that holds `record`.
    fn page(&self, record: u64) -> u64 {
        self.lbns.start + record / self.per_page
    }
}

impl Vertical {
    pub fn new(columns: &[Column], parallel: &Parallel, settings: &PageSettings) -> Result<Self> {
        let room = room(settings, HEADER_BYTES, PAGE_BYTES)?;
        let per_page = per_page(columns, room)?;
        let (first, last) = parallel.boundaries(settings.first_lbn)?;
        let track = last - first + 1;
        let first = settings.first_lbn.div_ceil(track);
        let tracks = (parallel.geometry.blocks() / track).saturating_sub(first);
        if tracks < columns.len() as u64 {
            return Err(Error::argument(
                "first_lbn",
                format!(
                    "first_lbn = {}: leaves {tracks} tracks for {} columns, each of which needs its own",
                    settings.first_lbn,
                    columns.len()
                ),
            ));
        }
        // Each gets a track, and its share of the others.
        let spare = u128::from(tracks - columns.len() as u64);
        let pages = |values: &u64| u128::from(RECORDS.div_ceil(*values));
        let all: u128 = per_page.iter().map(pages).sum();
        let (mut before, mut begin) = (0, first);
        let mut own = Vec::with_capacity(columns.len());
        for (index, (column, &per_page)) in columns.iter().zip(&per_page).enumerate() {
            before += pages(&per_page);
            let end = first + index as u64 + 1 + (spare * before / all) as u64;
            own.push(ColumnTracks {
                width: u64::from(column.width),
                per_page,
                lbns: begin * track..end * track,
            });
            begin = end;
        }
        Ok(Self { columns: own, header: u64::from(PAGE_BYTES - room), track })
    }
}

impl TableLayout for Vertical {
    fn capacity(&self) -> u64 {
        let room = |own: &ColumnTracks| (own.lbns.end - own.lbns.start) * own.per_page;
        self.columns.iter().map(room).min().unwrap_or(0)
    }

    fn run(&self, column: usize, record: u64) -> ValueRun {
        let own = &self.columns[column];
        let row = record % own.per_page;
        ValueRun {
            at: own.page(record) * BLOCK_BYTES + self.header + row * own.width,
            values: own.per_page - row,
            stride: own.width,
        }
    }

    fn unit(&self, column: usize, record: u64) -> Range<u64> {
        let per_page = self.columns[column].per_page;
        let first = record / per_page * per_page;
        first..first + per_page
    }

    fn fills_pages(&self, _: &[usize]) -> bool {
        true
    }

    fn requests(&self, columns: &[usize], records: Range<u64>, emit: &mut Emit<'_>) -> Result<()> {
        for &column in columns {
            let own = &self.columns[column];
            let lbns = own.page(records.start)..own.page(records.end - 1) + 1;
            by_track(lbns, self.track, emit)?;
        }
        Ok(())
    }

    fn point(&self, columns: &[usize], record: u64, emit: &mut Emit<'_>) -> Result<()> {
        for &column in columns {
            let lbn = self.columns[column].page(record);
            emit(&[extent(lbn..lbn + 1)])?;
        }
        Ok(())
    }

    fn facts(&self, columns: &[Column], records: u64) -> PageFacts {
        let by_column = |fact: &dyn Fn(&ColumnTracks) -> u64| {
            let columns = columns.iter().zip(&self.columns);
            let facts = columns.map(|(column, own)| (column.name().to_owned(), fact(own)));
            ByColumn::Each(facts.collect())
        };
        PageFacts {
            records_per_page: Some(by_column(&|own| own.per_page)),
            capsules: None,
            pages: by_column(&|own| records.div_ceil(own.per_page)),
            page_blocks: 1,
            page_header_bytes: self.header,
            split: None,
            wasted_blocks: 0,
        }
    }
}
