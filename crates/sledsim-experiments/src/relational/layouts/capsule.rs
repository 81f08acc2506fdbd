//! Capsules: so many records, each column in pages of its own, and all pages of
//! a capsule in one equivalence class, so that whole records are read at once and
//! a column is read by streaming (CMU-CS-03-125, sections 5.2.2 to 5.2.4).
//!
//! *Resolve*: a capsule has as many records as values of the narrowest column fit
//! a page; every column gets as many pages as these records need. *Allocation*:
//! as many capsules as a track has blocks are a group. They lie in as many tracks
//! as a capsule has pages: page j of all of them fills the j-th, in the first of
//! which capsules are in the order of LBNs; their other pages lie p squares
//! farther each, in the same class. Groups follow each other track by track. One
//! that does not fit the cylinder goes on in the next (its capsules are split:
//! two classes, two accesses), or begins there and leaves tracks empty.
//!
//! All that is asked of the device is its parallelism, equivalence classes and
//! track boundaries. Those of one cylinder are kept: blocks of one class in it
//! are of one class in every other, wherever their rows turn around.

use super::{
    ByColumn, CapsuleFacts, Emit, PageFacts, PageSettings, TableLayout, ValueRun, extent, per_page,
    room,
};
use crate::relational::PAGE_BYTES;
use crate::relational::schema::Column;
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Extent;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::devices::mems::parallel::{Micropositioning, Parallel};
use std::ops::Range;

/// Bytes at the head of a page by default.
const HEADER_BYTES: u32 = 32;

/// See the head of this file.
pub(super) struct Capsule {
    attributes: Vec<Attribute>,
    header: u64,
    /// Records of a capsule.
    records: u64,
    /// Pages of a capsule.
    pages: u64,
    classes: Classes,
    split: bool,
    /// Groups there is room for.
    groups: u64,
}

/// The pages of a column in a capsule.
struct Attribute {
    width: u64,
    per_page: u64,
    first_page: u64,
    pages: u64,
}

/// What the device says of its classes, from the table's first block on.
struct Classes {
    first_lbn: u64,
    /// p: squares of one track.
    parallelism: u64,
    /// N: squares.
    squares: u64,
    /// Blocks of a track, and of all tracks of a cylinder.
    track: u64,
    cylinder: u64,
    /// The classes of the first cylinder, in the order of LBNs, which count from
    /// `first_lbn`.
    members: Vec<Vec<u64>>,
    /// Of each block of the cylinder its class, and its place in that.
    of: Vec<(u32, u32)>,
}

impl Classes {
    /// The classes from the first cylinder on that begins at `first_lbn` or later.
    fn new(parallel: &Parallel, first_lbn: u64) -> Result<Self> {
        // Where data live must not depend on what tips can reach at some time.
        let parallel =
            Parallel { micropositioning: Micropositioning::default(), ..parallel.clone() };
        let (first, last) = parallel.boundaries(first_lbn)?;
        let track = last - first + 1;
        let squares = parallel.equivalent(first_lbn, Nanos::ZERO)?.len() as u64;
        let parallelism = u64::from(parallel.parallelism());
        let cylinder = squares / parallelism * track;
        let blocks = parallel.geometry.blocks();
        let begin = first_lbn.div_ceil(cylinder) * cylinder;
        if begin >= blocks {
            return Err(Error::argument(
                "first_lbn",
                format!(
                    "first_lbn = {first_lbn}: capsules begin with a cylinder, the last of which is at \
                 LBN {}",
                    blocks - cylinder
                ),
            ));
        }
        let none = (u32::MAX, 0);
        let mut of = vec![none; cylinder as usize];
        let mut members: Vec<Vec<u64>> = Vec::new();
        for lbn in 0..cylinder {
            if of[lbn as usize] != none {
                continue;
            }
            let mut class = parallel.equivalent(begin + lbn, Nanos::ZERO)?;
            class.sort_unstable();
            for (place, member) in class.iter_mut().enumerate() {
                *member -= begin;
                of[*member as usize] = (members.len() as u32, place as u32);
            }
            members.push(class);
        }
        Ok(Self { first_lbn: begin, parallelism, squares, track, cylinder, members, of })
    }

    /// The block that lies `tracks` tracks farther in the class of `lbn`, which
    /// counts from `first_lbn`; past the last of the class in the one at the same
    /// place of the next cylinder.
    fn farther(&self, lbn: u64, tracks: u64) -> u64 {
        let (class, place) = self.of[(lbn % self.cylinder) as usize];
        let square = u64::from(place) + tracks * self.parallelism;
        let cylinder = lbn / self.cylinder + square / self.squares;
        let member = self.members[class as usize][(square % self.squares) as usize];
        self.first_lbn + cylinder * self.cylinder + member
    }
}

impl Capsule {
    pub fn new(columns: &[Column], parallel: &Parallel, settings: &PageSettings) -> Result<Self> {
        let room = room(settings, HEADER_BYTES, PAGE_BYTES)?;
        let per_page = per_page(columns, room)?;
        let records = per_page.iter().copied().max().unwrap_or(1);
        let mut pages = 0;
        let mut attributes = Vec::with_capacity(columns.len());
        for (column, per_page) in columns.iter().zip(per_page) {
            let attribute = Attribute {
                width: u64::from(column.width),
                per_page,
                first_page: pages,
                pages: records.div_ceil(per_page),
            };
            pages += attribute.pages;
            attributes.push(attribute);
        }
        let classes = Classes::new(parallel, settings.first_lbn)?;
        let tracks = (parallel.geometry.blocks() - classes.first_lbn) / classes.track;
        let in_cylinder = classes.cylinder / classes.track;
        let groups = match settings.split {
            true => tracks / pages,
            false if pages > in_cylinder => {
                return Err(Error::argument(
                    "split",
                    format!(
                        "split = false: a capsule has {pages} pages, and a class of the device has room for \
                     {in_cylinder}, one for each track of a cylinder"
                    ),
                ));
            }
            false => tracks / in_cylinder * (in_cylinder / pages),
        };
        Ok(Self {
            attributes,
            header: u64::from(PAGE_BYTES - room),
            records,
            pages,
            classes,
            split: settings.split,
            groups,
        })
    }

    /// Those of `records` that are in the group of `record`.
    fn in_group(&self, record: u64, records: &Range<u64>) -> Range<u64> {
        let size = self.classes.track * self.records;
        let first = record / size * size;
        records.start.max(first)..records.end.min(first + size)
    }

    /// Whether records of one group are in all its capsules, so that whole tracks
    /// are read and written.
    fn is_whole(&self, some: &Range<u64>) -> bool {
        let capsules = some.start / self.records..some.end.div_ceil(self.records);
        capsules.end - capsules.start == self.classes.track
    }

    /// The first track of a group, counted from the table's first.
    fn first_track(&self, group: u64) -> u64 {
        if self.split {
            return group * self.pages;
        }
        let tracks = self.classes.cylinder / self.classes.track;
        let groups = tracks / self.pages;
        group / groups * tracks + group % groups * self.pages
    }

    /// The block that holds a page of a capsule.
    fn page(&self, capsule: u64, page: u64) -> u64 {
        let track = self.classes.track;
        let first = self.first_track(capsule / track) * track + capsule % track;
        self.classes.farther(first, page)
    }

    /// The pages of an attribute that hold records of `records` in a capsule.
    fn pages_of(&self, attribute: &Attribute, capsule: u64, records: &Range<u64>) -> Range<u64> {
        let begin = capsule * self.records;
        let first = records.start.max(begin) - begin;
        let last = records.end.min(begin + self.records) - begin - 1;
        let page = |record: u64| attribute.first_page + record / attribute.per_page;
        page(first)..page(last) + 1
    }

    /// One batch of the pages of some columns that hold `records`.
    fn batch(&self, columns: &[usize], records: &Range<u64>, emit: &mut Emit<'_>) -> Result<()> {
        let mut lbns = Vec::new();
        for &column in columns {
            let attribute = &self.attributes[column];
            for capsule in records.start / self.records..=(records.end - 1) / self.records {
                let pages = self.pages_of(attribute, capsule, records);
                lbns.extend(pages.map(|page| self.page(capsule, page)));
            }
        }
        lbns.sort_unstable();
        let next = |a: &u64, b: &u64| a + 1 == *b;
        let extents: Vec<Extent> =
            (lbns.chunk_by(next)).map(|run| extent(run[0]..run[0] + run.len() as u64)).collect();
        emit(&extents)
    }
}

impl TableLayout for Capsule {
    fn capacity(&self) -> u64 {
        self.groups * self.classes.track * self.records
    }

    fn run(&self, column: usize, record: u64) -> ValueRun {
        let attribute = &self.attributes[column];
        let (capsule, row) = (record / self.records, record % self.records);
        let lbn = self.page(capsule, attribute.first_page + row / attribute.per_page);
        let place = row % attribute.per_page;
        ValueRun {
            at: lbn * BLOCK_BYTES + self.header + place * attribute.width,
            values: (attribute.per_page - place).min(self.records - row),
            stride: attribute.width,
        }
    }

    fn unit(&self, column: usize, record: u64) -> Range<u64> {
        let per_page = self.attributes[column].per_page;
        let begin = record / self.records * self.records;
        let first = begin + (record - begin) / per_page * per_page;
        first..(first + per_page).min(begin + self.records)
    }

    fn swept(&self, record: u64, records: &Range<u64>) -> Range<u64> {
        if self.is_whole(&self.in_group(record, records)) {
            let first = record / self.records * self.records;
            return first..first + self.records;
        }
        record..record + 1
    }

    fn fills_pages(&self, _: &[usize]) -> bool {
        true
    }

    fn requests(&self, columns: &[usize], records: Range<u64>, emit: &mut Emit<'_>) -> Result<()> {
        let track = self.classes.track;
        let mut from = records.start;
        while from < records.end {
            let some = self.in_group(from, &records);
            from = some.end;
            if !self.is_whole(&some) {
                self.batch(columns, &some, emit)?;
                continue;
            }
            for &column in columns {
                let attribute = &self.attributes[column];
                for page in 0..attribute.pages {
                    let lbn = self.page(some.start / self.records, attribute.first_page + page);
                    let first = lbn / track * track;
                    emit(&[extent(first..first + track)])?;
                }
            }
        }
        Ok(())
    }

    fn point(&self, columns: &[usize], record: u64, emit: &mut Emit<'_>) -> Result<()> {
        self.batch(columns, &(record..record + 1), emit)
    }

    fn facts(&self, columns: &[Column], records: u64) -> PageFacts {
        let pages = columns.iter().zip(&self.attributes);
        let pages = pages.map(|(column, attribute)| (column.name().to_owned(), attribute.pages));
        let capsules = records.div_ceil(self.records);
        let groups = capsules.div_ceil(self.classes.track);
        // Tracks that were passed over.
        let passed = match groups {
            0 => 0,
            _ => self.first_track(groups - 1) - (groups - 1) * self.pages,
        };
        PageFacts {
            records_per_page: None,
            capsules: Some(CapsuleFacts {
                records_per_capsule: self.records,
                capsules,
                capsule_blocks: self.pages,
            }),
            pages: ByColumn::Each(pages.collect()),
            page_blocks: 1,
            page_header_bytes: self.header,
            split: Some(self.split),
            wasted_blocks: passed * self.classes.track,
        }
    }
}
