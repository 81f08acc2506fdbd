//! Rectangles: cylinders by rows of a sled, in any order.
//!
//! Within a rectangle blocks keep the order of the device: the rows of a track,
//! then the tracks, then the cylinders. On a serpentine device its rows thus
//! alternate in direction too: at the end of a track the sled turns around in
//! place.

use super::{BlockRun, Layout, Part};
use crate::devices::mems::geometry::Geometry;
use std::ops::Range;

/// Rows of cylinders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rectangle {
    pub(super) cylinders: Range<u32>,
    pub(super) rows: Range<u32>,
}

impl Rectangle {
    fn height(&self) -> u32 {
        self.rows.end - self.rows.start
    }
}

/// A layout of rectangles that tile the device.
#[derive(Clone, Debug)]
pub(super) struct Rectangles {
    geometry: Geometry,
    /// In logical order.
    parts: Vec<Rectangle>,
    /// The first logical block of each, and the end.
    starts: Vec<u64>,
    /// The bounds of columns and rows of cells, and the part of each cell, column
    /// by column.
    x_cuts: Vec<u32>,
    y_cuts: Vec<u32>,
    cells: Vec<usize>,
}

impl Rectangles {
    /// A layout of `parts` in logical order, which cover the device without
    /// overlap.
    pub(super) fn new(geometry: Geometry, mut parts: Vec<Rectangle>) -> Self {
        parts.retain(|part| !part.cylinders.is_empty() && !part.rows.is_empty());
        let track_blocks = u64::from(geometry.tracks) * u64::from(geometry.blocks_per_row);
        let mut starts = vec![0];
        for part in &parts {
            let width = u64::from(part.cylinders.end - part.cylinders.start);
            let blocks = width * u64::from(part.height()) * track_blocks;
            starts.push(starts[starts.len() - 1] + blocks);
        }
        let cuts = |side: fn(&Rectangle) -> &Range<u32>| -> Vec<u32> {
            let mut cuts: Vec<u32> = parts.iter().map(|part| side(part).start).collect();
            cuts.sort_unstable();
            cuts.dedup();
            cuts
        };
        let (x_cuts, y_cuts) = (cuts(|part| &part.cylinders), cuts(|part| &part.rows));
        let mut cells = vec![0; x_cuts.len() * y_cuts.len()];
        for (index, part) in parts.iter().enumerate() {
            let inside = |cuts: &[u32], side: &Range<u32>| {
                cuts.partition_point(|cut| *cut < side.start)
                    ..cuts.partition_point(|cut| *cut < side.end)
            };
            for x in inside(&x_cuts, &part.cylinders) {
                for y in inside(&y_cuts, &part.rows) {
                    cells[x * y_cuts.len() + y] = index;
                }
            }
        }
        Self { geometry, parts, starts, x_cuts, y_cuts, cells }
    }
}

impl Layout for Rectangles {
    fn map(&self, lbn: u64) -> BlockRun {
        let geometry = &self.geometry;
        let index = self.starts.partition_point(|start| *start <= lbn) - 1;
        let part = &self.parts[index];
        let width = u64::from(geometry.blocks_per_row);
        let (height, tracks) = (u64::from(part.height()), u64::from(geometry.tracks));
        let ahead = lbn - self.starts[index];
        let (row, cell) = (ahead / width, ahead % width);
        let (track, turn) = (row / height, row % height);
        let track = u64::from(part.cylinders.start) * tracks + track;
        let map = geometry.map;
        let row = part.rows.start + map.flip(track, turn as u32, part.height());
        let row = map.flip(track, row, geometry.rows);
        let blocks = if part.height() == geometry.rows {
            self.starts[index + 1] - lbn
        } else {
            (height - turn) * width - cell
        };
        BlockRun { lbn: (track * u64::from(geometry.rows) + u64::from(row)) * width + cell, blocks }
    }

    fn logical(&self, block: u64) -> u64 {
        let geometry = &self.geometry;
        let place = geometry.locate(block);
        let cell = |cuts: &[u32], at: u32| cuts.partition_point(|cut| *cut <= at) - 1;
        let (x, y) = (cell(&self.x_cuts, place.cylinder), cell(&self.y_cuts, place.row));
        let index = self.cells[x * self.y_cuts.len() + y];
        let part = &self.parts[index];
        let tracks = u64::from(geometry.tracks);
        let track = u64::from(place.cylinder) * tracks + u64::from(place.track);
        let turn = (geometry.map).flip(track, place.row - part.rows.start, part.height());
        let track = track - u64::from(part.cylinders.start) * tracks;
        let row = track * u64::from(part.height()) + u64::from(turn);
        self.starts[index] + row * u64::from(geometry.blocks_per_row) + u64::from(place.cell)
    }

    fn parts(&self) -> Vec<Part> {
        let parts = self.parts.iter().zip(self.starts.windows(2));
        parts
            .map(|(part, starts)| Part {
                first_lbn: starts[0],
                blocks: starts[1] - starts[0],
                cylinders: part.cylinders.clone(),
                rows: Some(part.rows.clone()),
                class: None,
            })
            .collect()
    }
}
