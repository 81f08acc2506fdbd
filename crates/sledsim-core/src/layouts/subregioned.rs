//! Subregions: a grid over cylinders and rows, from the centre outwards.
//! CMU-CS-00-136 sections 5.1 and 5.3.
//!
//! The middle `span_cylinders` x `span_rows` (by default all) are cut into
//! `regions` x `regions` parts, bands of cylinders by bands of rows; the bands
//! of either kind differ by at most one. Blocks outside the span come after
//! them: the rows below and above it, then the cylinders left and right of it.
//!
//! The order of the regions is by their distance from the centre, counted in
//! regions (`order = "distance"`), or by that in X alone, then by that in Y
//! (`order = "columns"`, whose last regions are the leftmost and rightmost).
//! Of regions at the same distance, those nearer in X come first, then the
//! lower cylinders, then the lower rows.
//!
//! Within a region blocks are ordered as in `rectangles.rs`.

use super::bands::{bands, off_centre};
use super::rectangles::{Rectangle, Rectangles};
use super::{LayoutContext, LayoutEntry, LayoutSpec};
use crate::devices::mems::geometry::Geometry;
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use std::ops::Range;

/// Its registration.
pub(super) const ENTRY: LayoutEntry = LayoutEntry { name: "subregioned", read };

/// The order of the regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// By their distance from the centre.
    Distance,
    /// By their distance in X, then by that in Y.
    Columns,
}

pub(super) const ORDERS: [(&str, Order); 2] =
    [("distance", Order::Distance), ("columns", Order::Columns)];

/// The keys of the grid in effect.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct GridKeys {
    regions: u32,
    order: Order,
    span_cylinders: u32,
    span_rows: u32,
}

/// The grid.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) geometry: Geometry,
    pub(super) keys: GridKeys,
    /// The bands of cylinders and of rows.
    pub(super) columns: Vec<Range<u32>>,
    rows: Vec<Range<u32>>,
}

fn read(keys: &mut Keys, site: &mut LayoutContext<'_>) -> Result<LayoutSpec> {
    let grid = Grid::read(keys, site, ENTRY.name, Order::Distance)?;
    let mut parts = grid.regions();
    parts.extend(grid.outside());
    let layout = Rectangles::new(grid.geometry, parts);
    Ok(LayoutSpec::new(grid.keys, layout))
}

impl Grid {
    /// Reads `regions`, `order` and the span, for the layout `name`.
    pub(super) fn read(
        keys: &mut Keys,
        site: &LayoutContext<'_>,
        name: &str,
        order: Order,
    ) -> Result<Self> {
        let regions = keys.opt_u32("regions", 1..=1_000_000)?.unwrap_or(5);
        let order = keys.opt_choice("order", &ORDERS)?.unwrap_or(order);
        let most = 1..=1_000_000;
        let span_cylinders = keys.opt_u32("span_cylinders", most.clone())?;
        let span_rows = keys.opt_u32("span_rows", most)?;
        let mems = site.mems;
        let mems = mems.ok_or_else(|| site.cannot(keys, name, "the rows of one sled"))?;
        let geometry = mems.geometry;
        let span = |key: &str, axis: &str, given: Option<u32>, all: u32| {
            let span = given.unwrap_or(all);
            if span > all {
                let must = format!("must be at most the {all} {axis} of the device");
                return Err(keys.refuse(key, must));
            }
            if regions > span {
                let must = format!("must be at most {span}, the {axis} to be divided");
                return Err(keys.refuse("regions", must));
            }
            Ok(span)
        };
        let cylinders = geometry.cylinders;
        let span_cylinders = span("span_cylinders", "cylinders", span_cylinders, cylinders)?;
        let span_rows = span("span_rows", "rows", span_rows, geometry.rows)?;
        let shifted = |span: u32, all: u32| -> Vec<Range<u32>> {
            let by = (all - span) / 2;
            let bands = bands(span, regions).into_iter();
            bands.map(|band| band.start + by..band.end + by).collect()
        };
        Ok(Self {
            geometry,
            keys: GridKeys { regions, order, span_cylinders, span_rows },
            columns: shifted(span_cylinders, cylinders),
            rows: shifted(span_rows, geometry.rows),
        })
    }

    /// The regions in order.
    pub(super) fn regions(&self) -> Vec<Rectangle> {
        let count = self.columns.len();
        let mut grid: Vec<(usize, usize)> =
            (0..count).flat_map(|x| (0..count).map(move |y| (x, y))).collect();
        grid.sort_by_key(|&(x, y)| {
            let (dx, dy) = (off_centre(x, count), off_centre(y, count));
            let first = match self.keys.order {
                Order::Distance => dx * dx + dy * dy,
                Order::Columns => dx,
            };
            (first, dx, dy)
        });
        (grid.into_iter())
            .map(|(x, y)| Rectangle {
                cylinders: self.columns[x].clone(),
                rows: self.rows[y].clone(),
            })
            .collect()
    }

    /// The rectangles outside the span.
    fn outside(&self) -> [Rectangle; 4] {
        let ends = |bands: &[Range<u32>]| (bands[0].start, bands[bands.len() - 1].end);
        let ((left, right), (low, high)) = (ends(&self.columns), ends(&self.rows));
        let (cylinders, rows) = (self.geometry.cylinders, self.geometry.rows);
        let rectangle = |cylinders, rows| Rectangle { cylinders, rows };
        [
            rectangle(left..right, 0..low),
            rectangle(left..right, high..rows),
            rectangle(0..left, 0..rows),
            rectangle(right..cylinders, 0..rows),
        ]
    }
}
