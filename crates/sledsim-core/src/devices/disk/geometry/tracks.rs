//! Sectors, tracks and the pieces of requests on them.

use crate::devices::disk::rotation::REVOLUTION;

/// A sector by its physical numbers. Sectors 0 of all tracks begin at angle 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sector {
    /// Cylinder.
    pub cylinder: u32,
    /// Head.
    pub head: u32,
    /// Number on the track, in the order of passing.
    pub sector: u32,
}

/// A track, with the origin of its place numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Track {
    /// Cylinder.
    pub cylinder: u32,
    /// Head.
    pub head: u32,
    /// Number of sectors.
    pub sectors: u32,
    pub(super) zone: u32,
    /// The place of its first sector in mapping order.
    pub(super) first: u64,
    /// The physical number of that sector.
    pub(super) shift: u32,
    /// One sector, in 2^-128 revolutions, rounded up.
    pub(super) width: u128,
}

impl Track {
    /// The physical number of the sector `index` places after the first.
    #[inline]
    pub fn sector(&self, index: u32) -> u32 {
        let sector = index + self.shift;
        sector - if sector >= self.sectors { self.sectors } else { 0 }
    }

    /// The angle at which the sector with index `index` begins.
    #[inline]
    pub fn angle(&self, index: u32) -> u64 {
        ((u128::from(self.sector(index)) * self.width) >> 64) as u64
    }

    /// Rotation over `sectors` of its sectors, at most all.
    #[inline]
    pub fn turn(&self, sectors: u32) -> u128 {
        if sectors >= self.sectors { REVOLUTION } else { (u128::from(sectors) * self.width) >> 64 }
    }

    /// Index of its zone.
    pub fn zone(&self) -> u32 {
        self.zone
    }

    /// The index of the physical sector `sector`.
    pub fn index(&self, sector: u32) -> u32 {
        (sector + self.sectors - self.shift) % self.sectors
    }
}

/// Blocks of a request that lie on one track and are reached in one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The track.
    pub track: Track,
    /// Index of the first block on the track.
    pub index: u32,
    /// Number of blocks.
    pub blocks: u32,
    /// Number of places from the first block to the last, inclusive; more than `blocks`
    /// if slipped sectors lie between.
    pub span: u32,
    /// Whether every sector of the track is known to hold its block, so that the first
    /// block of the track comes `index` before the piece.
    pub full: bool,
}
