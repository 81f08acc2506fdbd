//! Geometry: the sector of each block.
//!
//! The sectors of a zone are numbered from 0 in the order in which its mapping
//! visits them: spares, slipped and reserved ones count. This number is the
//! *place* in the zone. Blocks are dealt to the remaining places; where nothing
//! is slipped the pattern is regular, so that some dozens of stretches describe
//! a drive and a binary search finds a block.
//!
//! In reading order:
//!
//! * `zones`: the parameters of a zone, and their errors.
//! * `tracks`: tracks and the angles of their sectors.
//! * `dealing`: assigns blocks to places.
//! * `index`: finds the stretch of a block.
//! * `defects`: remaps blocks from bad places.
//! * `blocks`: from blocks to places.
//! * `places`: from places to blocks.

mod blocks;
mod dealing;
mod defects;
mod index;
mod places;
mod tracks;
mod zones;

pub use tracks::{Piece, Sector, Track};
pub use zones::{GeometryError, ZoneSpec};

use super::mapping::{Bands, Mapping};
use super::sparing::{Range, Sparing};
use sledsim_base::divisor::Divisor;
use std::ops;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Zone {
    first_cylinder: u32,
    last_cylinder: u32,
    sectors: Divisor,
    width: u128,
    offset: u64,
    track_skew: u64,
    cylinder_skew: u64,
    /// Skew from one cylinder's first track to the next one's.
    pitch: u64,
    /// Places in the zone.
    places: u64,
    /// Index of its first stretch.
    stretch: usize,
}

/// A regular sequence of blocks: `data` of them, then a gap up to `pitch` places, and
/// so on. With `data == pitch` there is no gap and one lot only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    /// First block.
    lbn: u64,
    /// Its place in the zone.
    place: u64,
    data: u64,
    pitch: u64,
    zone: u32,
}

/// Contiguous blocks remapped to the places from `place` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Remap {
    lbn: u64,
    blocks: u64,
    zone: u32,
    place: u64,
}

impl Zone {
    fn cylinders(&self) -> u32 {
        self.last_cylinder - self.first_cylinder + 1
    }
}

/// The sector of each block.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    surfaces: Divisor,
    mapping: Mapping,
    bands: Option<Bands>,
    zones: Vec<Zone>,
    stretches: Vec<Stretch>,
    /// The stretch of every block whose number is a multiple of `1 << every`.
    index: Vec<u32>,
    every: u32,
    /// By LBN, and by place.
    remaps: Vec<Remap>,
    replacing: Vec<Remap>,
    blocks: u64,
}

/// Half-open ranges of places that hold no blocks under any sparing scheme.
type BadPlaces = Vec<ops::Range<u64>>;

impl Geometry {
    /// Creates the geometry of a drive of `surfaces` with the given zones, which are in
    /// order and do not overlap. The last `unused_end` blocks of the drive are not
    /// offered.
    ///
    /// # Errors
    /// Places outside their zone, defects that overlap, or no room for blocks.
    pub fn new(
        surfaces: u32,
        mapping: Mapping,
        sparing: Sparing,
        zones: &[ZoneSpec],
        unused_end: u64,
    ) -> Result<Self, GeometryError> {
        let mut geometry = Self {
            surfaces: Divisor::new(surfaces),
            mapping,
            bands: Bands::of(mapping, surfaces),
            zones: Vec::new(),
            stretches: Vec::new(),
            index: Vec::new(),
            every: 0,
            remaps: Vec::new(),
            replacing: Vec::new(),
            blocks: 0,
        };
        let mut bad = Vec::new();
        let (mut spares, mut slipped) = (0, 0);
        for (index, spec) in zones.iter().enumerate() {
            let slips = dealing::slips(spec, index, surfaces, sparing)?;
            let behind =
                |bad: &ops::Range<u64>| bad.end - bad.start.max(spec.reserved).min(bad.end);
            slipped += slips.iter().map(behind).sum::<u64>();
            spares += spec.spares;
            geometry.add_zone(spec, index, sparing, &slips)?;
            bad.push(slips);
        }
        if sparing.range == Range::Disk {
            geometry.blocks = sparing.used(geometry.blocks, spares, slipped);
        }
        geometry.blocks = geometry.blocks.saturating_sub(unused_end);
        if geometry.blocks == 0 {
            let key = match sparing.range {
                Range::Disk if unused_end == 0 => "sparing",
                _ => "unused_end_blocks",
            };
            return Err(GeometryError {
                zone: None,
                key: (key, None),
                must: "must leave blocks to the drive".into(),
            });
        }
        geometry.index_stretches();
        geometry.add_defects(zones, sparing, &mut bad)?;
        Ok(geometry)
    }

    /// Number of blocks offered.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The first block dealt to a zone; for the index after the last zone, the end of
    /// the drive.
    pub fn start_of_zone(&self, zone: usize) -> u64 {
        let stretch = (self.zones.get(zone)).and_then(|zone| self.stretches.get(zone.stretch));
        stretch.map_or(self.blocks, |stretch| stretch.lbn.min(self.blocks))
    }
}

/// Quotient and remainder; 32-bit numbers divide several times faster.
#[inline]
fn divide(number: u64, by: u64) -> (u64, u64) {
    match (u32::try_from(number), u32::try_from(by)) {
        (Ok(number), Ok(by)) => (u64::from(number / by), u64::from(number % by)),
        _ => (number / by, number % by),
    }
}
