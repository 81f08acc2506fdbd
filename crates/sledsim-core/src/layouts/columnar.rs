//! Columns: groups of consecutive cylinders, from the centre outwards.
//! CMU-CS-00-136 section 5.3.
//!
//! The cylinders are cut into `columns` bands that differ by at most one
//! cylinder. The first logical blocks lie in the column nearest to the centre;
//! of two at equal distance, the one with lower cylinders comes first. Within a
//! column blocks keep the order of the device.

use super::bands::{bands, off_centre};
use super::cylinders::Cylinders;
use super::segments::Segments;
use super::{BlockRun, Layout, LayoutContext, LayoutEntry, LayoutSpec, Part};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use std::ops::Range;

/// Its registration.
pub(super) const ENTRY: LayoutEntry = LayoutEntry { name: "columnar", read };

/// The keys in effect.
#[derive(Debug, Serialize)]
struct ColumnarKeys {
    columns: usize,
}

/// The layout.
#[derive(Clone, Debug)]
pub(super) struct Columnar {
    segments: Segments,
    parts: Vec<Part>,
}

fn read(keys: &mut Keys, site: &mut LayoutContext<'_>) -> Result<LayoutSpec> {
    let (cylinders, columns) = read_columns(keys, site, ENTRY.name)?;
    let keys = ColumnarKeys { columns: columns.len() };
    Ok(LayoutSpec::new(keys, Columnar::new(&cylinders, columns)))
}

/// Reads `columns` for the layout `name`; returns the columns from the centre
/// outwards, as ranges of cylinder indices.
pub(super) fn read_columns(
    keys: &mut Keys,
    site: &LayoutContext<'_>,
    name: &str,
) -> Result<(Cylinders, Vec<Range<u32>>)> {
    let columns = keys.opt_u32("columns", 1..=1_000_000)?.unwrap_or(25);
    let cylinders = Cylinders::of(site, keys, name)?;
    let most = cylinders.count();
    if columns > most {
        let must = format!("must be at most the {most} cylinders of the device");
        return Err(keys.refuse("columns", must));
    }
    let mut order: Vec<_> = bands(most, columns).into_iter().enumerate().collect();
    order.sort_by_key(|(index, _)| off_centre(*index, columns as usize));
    Ok((cylinders, order.into_iter().map(|(_, band)| band).collect()))
}

impl Columnar {
    /// A layout of columns in logical order, which together have all cylinders.
    pub(super) fn new(cylinders: &Cylinders, columns: Vec<Range<u32>>) -> Self {
        let (mut parts, mut first_lbn) = (Vec::new(), 0);
        let mut stretches = Vec::new();
        for band in columns {
            let stretch = cylinders.start(band.start)..cylinders.start(band.end);
            let blocks = stretch.end - stretch.start;
            let number = |index: u32| cylinders.first[index as usize].0;
            parts.push(Part {
                first_lbn,
                blocks,
                cylinders: number(band.start)..number(band.end - 1) + 1,
                rows: None,
                class: None,
            });
            first_lbn += blocks;
            stretches.push(stretch);
        }
        Self { segments: Segments::new(stretches), parts }
    }
}

impl Layout for Columnar {
    fn map(&self, lbn: u64) -> BlockRun {
        self.segments.map(lbn)
    }

    fn logical(&self, block: u64) -> u64 {
        self.segments.logical(block)
    }

    fn parts(&self) -> Vec<Part> {
        self.parts.clone()
    }
}
