//! Two classes of data: small in the centre, large from the edges inwards.
//! CMU-CS-00-136 section 5.3.
//!
//! The first `small_blocks` logical blocks (or `small_fraction` of all; by
//! default as many as the centremost part has) are for small data, the rest
//! for large. Small data lie in columns or subregions from the centre
//! outwards, in the order of those layouts. Large data begin in the outermost
//! column and go inwards; of two at equal distance, the lower cylinders come
//! first. They have whole columns, so that long requests run over whole tracks;
//! where small data have subregions of a column, large data have the rows
//! below, between and above them. The rest of the last part that small data
//! begin comes last of all.
//!
//! The address of a request determines its class. Its size cannot, as a block
//! may be requested alone or within a larger request.

use super::columnar::{Columnar, read_columns};
use super::rectangles::{Rectangle, Rectangles};
use super::segments::Segments;
use super::subregioned::{Grid, GridKeys, Order};
use super::{BlockRun, Layout, LayoutContext, LayoutEntry, LayoutSpec, Part};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use std::cmp::Reverse;
use std::ops;

/// Its registration.
pub(super) const ENTRY: LayoutEntry = LayoutEntry { name: "bipartite", read };

/// The keys in effect.
#[derive(Debug, Serialize)]
struct BipartiteKeys {
    #[serde(flatten)]
    grid: Option<GridKeys>,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<usize>,
    by: &'static str,
    small_blocks: u64,
}

/// The layout.
#[derive(Debug)]
struct Bipartite {
    base: Box<dyn Layout>,
    segments: Segments,
    parts: Vec<Part>,
}

fn read(keys: &mut Keys, site: &mut LayoutContext<'_>) -> Result<LayoutSpec> {
    let by = [("subregions", true), ("columns", false)];
    let (keys, base) = if keys.opt_choice("by", &by)?.unwrap_or(true) {
        by_subregions(keys, site)?
    } else {
        by_columns(keys, site)?
    };
    let layout = Bipartite::new(base, keys.small_blocks);
    Ok(LayoutSpec::new(keys, layout))
}

/// The keys in effect, and the layout of all parts with those of small data first.
type Base = (BipartiteKeys, Box<dyn Layout>);

fn by_subregions(keys: &mut Keys, site: &LayoutContext<'_>) -> Result<Base> {
    let grid = Grid::read(keys, site, "bipartite by subregions", Order::Columns)?;
    let geometry = grid.geometry;
    let row = geometry.blocks_per_cylinder() / u64::from(geometry.rows);
    let regions = grid.regions();
    let blocks = |r: &Rectangle| row * (r.cylinders.len() * r.rows.len()) as u64;
    let sizes: Vec<u64> = regions.iter().map(blocks).collect();
    let (small_blocks, count) = read_small(keys, site.blocks, &sizes)?;
    let mut parts: Vec<Rectangle> = regions.into_iter().take(count).collect();

    // Small data may extend beyond the span.
    let (left, right) = (grid.columns[0].start, grid.columns[grid.columns.len() - 1].end);
    let mut columns = grid.columns;
    columns.extend([0..left, right..geometry.cylinders]);
    outermost_first(&mut columns, geometry.cylinders);
    for cylinders in columns {
        let mut taken: Vec<ops::Range<u32>> = (parts.iter())
            .filter(|part| part.cylinders == cylinders)
            .map(|part| part.rows.clone())
            .collect();
        taken.sort_unstable_by_key(|rows| rows.start);
        taken.push(geometry.rows..geometry.rows);
        let mut low = 0;
        for rows in taken {
            parts.push(Rectangle { cylinders: cylinders.clone(), rows: low..rows.start });
            low = rows.end;
        }
    }
    let keys =
        BipartiteKeys { grid: Some(grid.keys), columns: None, by: "subregions", small_blocks };
    Ok((keys, Box::new(Rectangles::new(geometry, parts))))
}

fn by_columns(keys: &mut Keys, site: &LayoutContext<'_>) -> Result<Base> {
    let (cylinders, mut columns) = read_columns(keys, site, "bipartite by columns")?;
    let blocks = |c: &ops::Range<u32>| cylinders.start(c.end) - cylinders.start(c.start);
    let sizes: Vec<u64> = columns.iter().map(blocks).collect();
    let (small_blocks, count) = read_small(keys, cylinders.blocks, &sizes)?;
    outermost_first(&mut columns[count..], cylinders.count());
    let keys =
        BipartiteKeys { grid: None, columns: Some(columns.len()), by: "columns", small_blocks };
    Ok((keys, Box::new(Columnar::new(&cylinders, columns))))
}

/// Sorts columns of `cylinders` by the distance of their middle from the
/// centre; those without cylinders are in no particular order.
fn outermost_first(columns: &mut [ops::Range<u32>], cylinders: u32) {
    columns.sort_by_key(|c| (Reverse((c.start + c.end).abs_diff(cylinders)), c.start));
}

/// Reads `small_fraction` or `small_blocks`; returns how many blocks are for
/// small data, and how many of the parts of these `sizes` they use.
fn read_small(keys: &mut Keys, blocks: u64, sizes: &[u64]) -> Result<(u64, usize)> {
    let fraction = keys.opt_f64("small_fraction", Range::above(0.0).below(1.0))?;
    let small = keys.opt_u64("small_blocks", 1..=i64::MAX as u64)?;
    let (key, small) = match (fraction, small) {
        (Some(_), Some(_)) => {
            return Err(keys.refuse("small_fraction", "must not be given with small_blocks"));
        }
        (Some(fraction), None) => ("small_fraction", (fraction * blocks as f64).round() as u64),
        (None, Some(small)) => ("small_blocks", small),
        (None, None) => ("small_blocks", sizes[0]),
    };
    let most = sizes.iter().sum::<u64>().min(blocks - 1);
    if small == 0 || small > most {
        let must = format!("must be 1 to {most} of the {blocks} blocks, the rest being for large");
        return Err(keys.refuse(key, must));
    }
    let mut end = 0;
    let whole = sizes.iter().take_while(|size| {
        end += **size;
        end < small
    });
    Ok((small, whole.count() + 1))
}

impl Bipartite {
    /// `base`, with the rest of the part that holds block `small` moved to the end.
    fn new(base: Box<dyn Layout>, small: u64) -> Self {
        let below = base.parts();
        let end_of = |part: &Part| part.first_lbn + part.blocks;
        let cut = below.iter().find(|part| end_of(part) >= small);
        let cut = cut.map_or(small, end_of);
        let end = below.last().map_or(small, end_of);
        let order = [0..small, cut..end, small..cut];
        let (mut parts, mut first_lbn) = (Vec::new(), 0);
        for stretch in &order {
            for part in &below {
                let inside = part.first_lbn.max(stretch.start)..end_of(part).min(stretch.end);
                if !inside.is_empty() {
                    let blocks = inside.end - inside.start;
                    parts.push(Part {
                        first_lbn,
                        blocks,
                        class: Some(if first_lbn < small { "small" } else { "large" }),
                        ..part.clone()
                    });
                    first_lbn += blocks;
                }
            }
        }
        Self { base, segments: Segments::new(order), parts }
    }
}

impl Layout for Bipartite {
    fn map(&self, lbn: u64) -> BlockRun {
        let below = self.segments.map(lbn);
        let run = self.base.map(below.lbn);
        BlockRun { blocks: run.blocks.min(below.blocks), ..run }
    }

    fn logical(&self, block: u64) -> u64 {
        self.segments.logical(self.base.logical(block))
    }

    fn parts(&self) -> Vec<Part> {
        self.parts.clone()
    }
}
