//! Passes: the uninterrupted Y sweeps in which extents are read or written.
//!
//! A pass takes the next block and every following block in the same cylinder and
//! physical row, as many as tips can be active; also across the track reversal of the
//! serpentine map, where the last row of a track and the first of the next are one
//! position under other tips. The blocks of a pass are under consecutive tips but need
//! not be one extent: a layout may have split a request at such a reversal.

use super::geometry::{Geometry, Location};
use sledsim_base::request::Extent;

/// One pass over one physical row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Column of bits.
    pub cylinder: u32,
    /// Physical row.
    pub row: u32,
    /// First block; the others follow it under the next tips, though not necessarily
    /// with the next LBNs if a layout split the request.
    pub lbn: u64,
    /// Number of blocks.
    pub blocks: u32,
}

/// Iterates over the passes of extents, in order.
#[derive(Clone, Copy, Debug)]
pub struct Passes<'a> {
    geometry: &'a Geometry,
    rest: Extent,
    more: &'a [Extent],
}

impl<'a> Passes<'a> {
    /// Creates the iterator for `extents`, which must lie within the device.
    pub fn new(geometry: &'a Geometry, extents: &'a [Extent]) -> Self {
        let (first, more) = extents.split_first().unwrap_or((&Extent { lbn: 0, blocks: 0 }, &[]));
        Self { geometry, rest: *first, more }
    }

    /// Whether blocks are left; moves on to the next extent if needed.
    #[inline(always)]
    fn has_more(&mut self) -> bool {
        while self.rest.blocks == 0 {
            let Some((next, more)) = self.more.split_first() else {
                return false;
            };
            (self.rest, self.more) = (*next, more);
        }
        true
    }
}

impl Iterator for Passes<'_> {
    type Item = Pass;

    #[inline(always)] // hot: once a pass
    fn next(&mut self) -> Option<Pass> {
        if !self.has_more() {
            return None;
        }
        let width = self.geometry.blocks_per_row;
        let place = self.geometry.locate(self.rest.lbn);
        let mut pass =
            Pass { cylinder: place.cylinder, row: place.row, lbn: self.rest.lbn, blocks: 0 };
        let square = |place: &Location| place.track * width + place.cell;
        let first = square(&place);
        let mut cell = place.cell;
        let most = self.geometry.blocks_per_pass;
        loop {
            let taken = (width - cell).min(most - pass.blocks);
            let taken = taken.min(self.rest.blocks);
            pass.blocks += taken;
            self.rest.lbn += u64::from(taken);
            self.rest.blocks -= taken;
            if pass.blocks == most || !self.has_more() {
                return Some(pass);
            }
            let next = self.geometry.locate(self.rest.lbn);
            let continues = (next.cylinder, next.row) == (pass.cylinder, pass.row)
                && square(&next) == first + pass.blocks;
            if !continues {
                return Some(pass);
            }
            cell = next.cell;
        }
    }
}
