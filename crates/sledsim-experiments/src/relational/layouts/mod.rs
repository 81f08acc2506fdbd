//! Table layouts: the places of values, and the requests of a query.
//!
//! Contract of every [`TableLayout`]:
//! - no two values share a byte of the device, and none lies outside it or before
//!   the table's first block;
//! - [`TableLayout::run`] and [`TableLayout::requests`] agree: the requests for some columns
//!   and records cover every block that a value of them lies in;
//! - the extents of one request do not overlap; one request of several extents
//!   is a batch.

mod capsule;
mod normal;
mod vertical;

use super::PAGE_BYTES;
use super::schema::Column;
use serde::Serialize;
use sledsim_base::error::{Error, Result};
use sledsim_base::pairs::as_map;
use sledsim_base::request::Extent;
use sledsim_core::devices::mems::parallel::Parallel;
use std::ops::Range;

/// A layout, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableLayoutKind {
    /// Whole records in pages of 8 KB: see `normal.rs`.
    Normal,
    /// Each column by itself: see `vertical.rs`.
    Vertical,
    /// Each record under the tips at once: see `capsule.rs`.
    #[default]
    Capsule,
}

impl TableLayoutKind {
    /// The layouts by their names.
    pub const NAMED: [(&'static str, Self); 3] =
        [("normal", Self::Normal), ("vertical", Self::Vertical), ("capsule", Self::Capsule)];

    /// The layout of that name.
    pub fn named(name: &str) -> Result<Self> {
        let known = Self::NAMED.iter().find(|(known, _)| *known == name);
        known.map(|(_, kind)| *kind).ok_or_else(|| {
            let names = Self::NAMED.map(|(name, _)| name).join(", ");
            Error::argument("layout", format!("layout = \"{name}\": must be one of {names}"))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let named = Self::NAMED.iter().find(|(_, kind)| *kind == self);
        named.map_or("", |(name, _)| name)
    }
}

/// How a table is laid out.
#[derive(Clone, Copy, Debug)]
pub struct PageSettings {
    /// The layout.
    pub kind: TableLayoutKind,
    /// Bytes at the head of each page that hold no values; by default 32 of each
    /// 512-byte page of `capsule` and `vertical`, 16 of each 8 KB page of
    /// `normal`.
    pub page_header_bytes: Option<u32>,
    /// `capsule`: whether a capsule may lie in two cylinders; otherwise tracks
    /// that do not hold whole capsules are left empty.
    pub split: bool,
    /// The table begins at this block or, for `vertical` and `capsule`, where the
    /// next track or cylinder begins.
    pub first_lbn: u64,
}

impl Default for PageSettings {
    fn default() -> Self {
        Self {
            kind: TableLayoutKind::default(),
            page_header_bytes: None,
            split: true,
            first_lbn: 0,
        }
    }
}

/// Values of one column, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueRun {
    /// The byte of the device at which the first value begins: LBN times 512 and
    /// the byte in the block.
    pub at: u64,
    /// How many values there are.
    pub values: u64,
    /// Bytes from the beginning of one value to that of the next.
    pub stride: u64,
}

/// Takes the extents of one request.
pub type Emit<'a> = dyn FnMut(&[Extent]) -> Result<()> + 'a;

/// The places of values, and the requests of a query.
pub trait TableLayout: Send {
    /// The number of records that fit on the device.
    fn capacity(&self) -> u64;

    /// The contiguous values of `column` from `record` on.
    fn run(&self, column: usize, record: u64) -> ValueRun;

    /// The records that are written together with `record` of `column`.
    fn unit(&self, column: usize, record: u64) -> Range<u64>;

    /// The records whose pages are written whenever those of `record` are, when
    /// all of `records` are written: by itself, by default.
    fn swept(&self, record: u64, records: &Range<u64>) -> Range<u64> {
        let _ = records;
        record..record + 1
    }

    /// Whether pages hold only values of these columns.
    fn fills_pages(&self, columns: &[usize]) -> bool;

    /// The requests for `columns`, in the order of the table, of the records in
    /// `records`, of which there is at least one.
    fn requests(&self, columns: &[usize], records: Range<u64>, emit: &mut Emit<'_>) -> Result<()>;

    /// The requests for `columns` of one record.
    fn point(&self, columns: &[usize], record: u64, emit: &mut Emit<'_>) -> Result<()>;

    /// Its parameters, for a table of `records` records.
    fn facts(&self, columns: &[Column], records: u64) -> PageFacts;
}

/// The parameters of a layout of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageFacts {
    /// Records in a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records_per_page: Option<ByColumn>,
    /// Of capsules.
    #[serde(flatten)]
    pub capsules: Option<CapsuleFacts>,
    /// Pages of the table, or of a capsule.
    pub pages: ByColumn,
    /// Blocks in a page.
    pub page_blocks: u64,
    /// Bytes at the head of a page.
    pub page_header_bytes: u64,
    /// Whether a capsule may go on in the next cylinder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<bool>,
    /// Blocks that were passed over.
    pub wasted_blocks: u64,
}

/// The capsules of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CapsuleFacts {
    /// Records in a capsule.
    pub records_per_capsule: u64,
    /// Capsules of the table.
    pub capsules: u64,
    /// Blocks in a capsule.
    pub capsule_blocks: u64,
}

/// A count of all columns together, or of each by its name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ByColumn {
    /// Of all.
    All(u64),
    /// Of each.
    #[serde(serialize_with = "as_map")]
    Each(Vec<(String, u64)>),
}

/// Lays a table of `columns` out on a sled.
///
/// # Errors
/// [`Error::Key`] for a column that is wider than a page, a header that leaves no
/// room, or a place that the device does not have.
pub fn layout(
    columns: &[Column],
    parallel: &Parallel,
    settings: &PageSettings,
) -> Result<Box<dyn TableLayout>> {
    let blocks = parallel.geometry.blocks();
    if settings.first_lbn >= blocks {
        let (first, last) = (settings.first_lbn, blocks - 1);
        return Err(Error::argument(
            "first_lbn",
            format!("first_lbn = {first}: must be from 0 to {last}"),
        ));
    }
    Ok(match settings.kind {
        TableLayoutKind::Normal => Box::new(normal::Normal::new(columns, parallel, settings)?),
        TableLayoutKind::Vertical => {
            Box::new(vertical::Vertical::new(columns, parallel, settings)?)
        }
        TableLayoutKind::Capsule => Box::new(capsule::Capsule::new(columns, parallel, settings)?),
    })
}

/// How many bytes a header of `settings`, by default `usual`, leaves of a page of
/// `page` bytes.
fn room(settings: &PageSettings, usual: u32, page: u32) -> Result<u32> {
    let header = settings.page_header_bytes.unwrap_or(usual);
    if header < page {
        return Ok(page - header);
    }
    Err(Error::argument(
        "page_header_bytes",
        format!("page_header_bytes = {header}: must be below the {page} bytes of a page"),
    ))
}

/// How many values of each column fit the `room` bytes of a page of their own.
fn per_page(columns: &[Column], room: u32) -> Result<Vec<u64>> {
    let fit = |column: &Column| match room / column.width {
        0 => Err(Error::Key(format!(
            "column '{}' is {} bytes wide: a page of {PAGE_BYTES} bytes has room for {room}",
            column.name(),
            column.width
        ))),
        values => Ok(u64::from(values)),
    };
    columns.iter().map(fit).collect()
}

/// Requests for the blocks in `lbns` that end where tracks of `track` blocks do.
fn by_track(lbns: Range<u64>, track: u64, emit: &mut Emit<'_>) -> Result<()> {
    let mut lbn = lbns.start;
    while lbn < lbns.end {
        let end = lbns.end.min((lbn / track + 1) * track);
        emit(&[extent(lbn..end)])?;
        lbn = end;
    }
    Ok(())
}

fn extent(lbns: Range<u64>) -> Extent {
    Extent { lbn: lbns.start, blocks: (lbns.end - lbns.start) as u32 }
}
