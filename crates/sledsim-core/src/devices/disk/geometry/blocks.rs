//! From blocks to places: the sector of a block, and the run of blocks from there.

use super::{Geometry, Piece, Remap, Sector, Track, divide};
use std::ops;

/// The place that dealing assigned to a block.
#[derive(Clone, Copy)]
pub(super) struct DealtBlock {
    pub(super) zone: u32,
    /// Its place in the zone.
    pub(super) place: u64,
    /// Number of contiguous blocks before it, and from it on.
    pub(super) before: u64,
    pub(super) together: u64,
}

impl Geometry {
    /// The place that dealing assigned to a block.
    #[inline(always)]
    pub(super) fn dealt(&self, lbn: u64) -> DealtBlock {
        let stretch = &self.stretches[self.stretch_of(lbn)];
        let ahead = lbn - stretch.lbn;
        let (lot, before) =
            if stretch.data == stretch.pitch { (0, ahead) } else { divide(ahead, stretch.data) };
        DealtBlock {
            zone: stretch.zone,
            place: stretch.place + lot * stretch.pitch + before,
            before,
            together: stretch.data - before,
        }
    }

    /// The track of a place, and its index on the track.
    #[inline(always)]
    pub(super) fn track_of(&self, zone_index: u32, place: u64) -> (Track, u32) {
        let zone = &self.zones[zone_index as usize];
        let (visited, index) = zone.sectors.divide(place);
        let (cylinder, head, skew) = match &self.bands {
            None => {
                let (inward, turn) = self.surfaces.divide(visited);
                let cylinder = zone.first_cylinder + inward as u32;
                let head = (self.mapping).head(cylinder, inward as u32, turn, self.surfaces.by());
                let skew = u64::from(turn).wrapping_mul(zone.track_skew);
                (cylinder, head, inward.wrapping_mul(zone.pitch).wrapping_add(skew))
            }
            Some(bands) => {
                let visit = bands.visit(visited, zone.cylinders());
                let skew = visit.switches.wrapping_mul(zone.track_skew);
                let skew = visit.moves.wrapping_mul(zone.cylinder_skew).wrapping_add(skew);
                (zone.first_cylinder + visit.inward as u32, visit.head, skew)
            }
        };
        let angle = zone.offset.wrapping_add(skew);
        let shift = (u128::from(angle) * u128::from(zone.sectors.by()) + (1 << 63)) >> 64;
        let track = Track {
            cylinder,
            head,
            sectors: zone.sectors.by(),
            zone: zone_index,
            first: place - u64::from(index),
            shift: if shift as u32 == zone.sectors.by() { 0 } else { shift as u32 },
            width: zone.width,
        };
        (track, index)
    }

    /// The angle at which the physical sector `sector` of the tracks of a zone begins.
    #[inline]
    pub fn sector_angle(&self, zone: u32, sector: u32) -> u64 {
        ((u128::from(sector) * self.zones[zone as usize].width) >> 64) as u64
    }

    /// The remap that includes `lbn`, or else the next one.
    #[inline]
    pub(super) fn remap(&self, lbn: u64) -> Option<&Remap> {
        if self.remaps.is_empty() {
            return None;
        }
        let index = (self.remaps).partition_point(|remap| remap.lbn + remap.blocks <= lbn);
        self.remaps.get(index)
    }

    /// The track and index of a block, after remapping.
    pub fn find(&self, lbn: u64) -> (Track, u32) {
        if let Some(remap) = self.remap(lbn).filter(|remap| remap.lbn <= lbn) {
            return self.track_of(remap.zone, remap.place + (lbn - remap.lbn));
        }
        let DealtBlock { zone, place, .. } = self.dealt(lbn);
        self.track_of(zone, place)
    }

    /// The first piece of `blocks` (at least 1) from `lbn` on.
    #[inline]
    pub fn piece(&self, lbn: u64, mut blocks: u32) -> Piece {
        if let Some(remap) = self.remap(lbn) {
            if remap.lbn <= lbn {
                let (track, index) = self.track_of(remap.zone, remap.place + (lbn - remap.lbn));
                let left = remap.lbn + remap.blocks - lbn;
                let blocks = left.min(u64::from(blocks)) as u32;
                return Piece { track, index, blocks, span: blocks, full: false };
            }
            blocks = (remap.lbn - lbn).min(u64::from(blocks)) as u32;
        }
        let dealt = self.dealt(lbn);
        let (track, index) = self.track_of(dealt.zone, dealt.place);
        let room = u64::from(track.sectors - index);
        let mut count = dealt.together.min(room).min(u64::from(blocks)) as u32;
        let mut span = count;
        if count < blocks && u64::from(count) < room {
            (count, span) = self.over_gaps(lbn, &dealt, count, [blocks, track.sectors - index]);
        }
        let full = u64::from(index) <= dealt.before
            && room <= dealt.together.min(self.blocks - lbn)
            && self.remaps.is_empty();
        Piece { track, index, blocks: count, span, full }
    }

    /// Blocks and places of a piece of at most `blocks_room` of them, which begins with
    /// `count` blocks from `lbn` on and may go on behind slipped sectors.
    #[inline(never)]
    fn over_gaps(
        &self,
        lbn: u64,
        dealt: &DealtBlock,
        mut count: u32,
        blocks_room: [u32; 2],
    ) -> (u32, u32) {
        let (blocks, room) = (blocks_room[0], u64::from(blocks_room[1]));
        let mut span = count;
        while count < blocks && u64::from(span) < room && lbn + u64::from(count) < self.blocks {
            let next = self.dealt(lbn + u64::from(count));
            if next.zone != dealt.zone || next.place - dealt.place >= room {
                break;
            }
            let ahead = next.place - dealt.place;
            let more = next.together.min(room - ahead).min(u64::from(blocks - count));
            count += more as u32;
            span = (ahead + more) as u32;
        }
        (count, span)
    }

    /// Number of blocks from `lbn` on that were dealt to places one after the other.
    pub fn together(&self, lbn: u64) -> u32 {
        u32::try_from(self.dealt(lbn).together).unwrap_or(u32::MAX)
    }

    /// The sector of a block.
    pub fn locate(&self, lbn: u64) -> Sector {
        let (track, index) = self.find(lbn);
        Sector { cylinder: track.cylinder, head: track.head, sector: track.sector(index) }
    }

    /// The blocks of the track to which `lbn` was dealt.
    pub fn track_around(&self, lbn: u64) -> ops::Range<u64> {
        let DealtBlock { zone, place, .. } = self.dealt(lbn);
        self.blocks_on(&self.track_of(zone, place).0)
    }

    /// The cylinder to which `lbn` was dealt.
    pub fn cylinder_of(&self, lbn: u64) -> u32 {
        let DealtBlock { zone, place, .. } = self.dealt(lbn);
        self.track_of(zone, place).0.cylinder
    }

    /// One past the last of the blocks that follow `lbn` on the cylinder to which it was
    /// dealt; with bands these are on one track.
    pub fn end_of_cylinder(&self, lbn: u64) -> u64 {
        if self.bands.is_some() { self.track_around(lbn).end } else { self.end_of_band(lbn) }
    }

    /// One past the last block of the band to which `lbn` was dealt: of its cylinder, if the
    /// mapping has no bands.
    pub fn end_of_band(&self, lbn: u64) -> u64 {
        let DealtBlock { zone, place, .. } = self.dealt(lbn);
        let (sectors, surfaces) = (self.zones[zone as usize].sectors, self.surfaces);
        let visited = sectors.divide(place).0;
        let whole = (surfaces.divide(visited).0 + 1) * u64::from(surfaces.by());
        let end = self.bands.map_or(whole, |bands| bands.end(visited));
        self.blocks_before(zone, end * u64::from(sectors.by())).min(self.blocks)
    }
}
