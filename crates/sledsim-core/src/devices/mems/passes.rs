//! Passes: the uninterrupted Y sweeps in which an extent is read or written.
//!
//! A pass takes the next block and every following block in the same cylinder
//! and physical row, as many as tips can be active; also across the track
//! reversal of the serpentine map, where the last row of a track and the first
//! of the next are one place under other tips.

use super::geometry::Geometry;
use crate::request::Extent;

/// One pass over one physical row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Column of bits.
    pub cylinder: u32,
    /// Physical row.
    pub row: u32,
    /// First block.
    pub lbn: u64,
    /// Blocks, at most as many as fit a row.
    pub blocks: u32,
}

/// The passes of an extent in LBN order.
#[derive(Clone, Copy, Debug)]
pub struct Passes<'a> {
    geometry: &'a Geometry,
    rest: Extent,
}

impl<'a> Passes<'a> {
    /// The passes of `extent`, which lies within the device.
    #[must_use]
    pub fn new(geometry: &'a Geometry, extent: Extent) -> Self {
        Self {
            geometry,
            rest: extent,
        }
    }
}

impl Iterator for Passes<'_> {
    type Item = Pass;

    fn next(&mut self) -> Option<Pass> {
        if self.rest.blocks == 0 {
            return None;
        }
        let first_lbn = self.rest.lbn;
        let width = self.geometry.blocks_per_row;
        let place = self.geometry.locate(first_lbn);
        let mut blocks = self.rest.blocks.min(width - place.cell);
        if blocks < self.rest.blocks && blocks < width {
            let next = self.geometry.locate(first_lbn + u64::from(blocks));
            if next.cylinder == place.cylinder && next.row == place.row {
                blocks = self.rest.blocks.min(width);
            }
        }
        self.rest.lbn += u64::from(blocks);
        self.rest.blocks -= blocks;
        Some(Pass {
            cylinder: place.cylinder,
            row: place.row,
            lbn: first_lbn,
            blocks,
        })
    }
}
