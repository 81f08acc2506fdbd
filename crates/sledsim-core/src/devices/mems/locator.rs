//! The location of a block, faster: [`Geometry::locate`] without divisions.

use super::geometry::{Geometry, Location};
use sledsim_base::divisor::Divisor;

/// Locates blocks of a geometry.
#[derive(Clone, Debug)]
pub struct Locator {
    blocks_per_row: Divisor,
    rows: Divisor,
    tracks: Divisor,
}

impl Locator {
    /// Of `geometry`.
    pub fn new(geometry: &Geometry) -> Self {
        Self {
            blocks_per_row: Divisor::new(geometry.blocks_per_row),
            rows: Divisor::new(geometry.rows),
            tracks: Divisor::new(geometry.tracks),
        }
    }

    /// As [`Geometry::locate`] of the same `geometry`.
    #[inline(always)] // hot: once a request
    pub fn locate(&self, geometry: &Geometry, lbn: u64) -> Location {
        let (row, cell) = self.blocks_per_row.divide(lbn);
        let (track, row) = self.rows.divide(row);
        let row = geometry.map.flip(track, row, self.rows.by());
        let (cylinder, track) = self.tracks.divide(track);
        Location { cylinder: cylinder as u32, track, row, cell }
    }
}
