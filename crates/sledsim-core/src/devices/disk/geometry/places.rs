//! From places to blocks: the block in a sector, and the blocks of a track.

use super::{Geometry, Sector, Track, divide};
use std::ops;

impl Geometry {
    /// The block in a sector, if any.
    pub fn lbn(&self, at: Sector) -> Option<u64> {
        let track = self.track(at.cylinder, at.head)?;
        if at.sector >= track.sectors {
            return None;
        }
        let place = track.first + u64::from(track.index(at.sector));
        let key = (track.zone, place);
        let after = (self.replacing).partition_point(|remap| (remap.zone, remap.place) <= key);
        if let Some(remap) = after.checked_sub(1).map(|index| self.replacing[index])
            && remap.zone == track.zone
            && place - remap.place < remap.blocks
        {
            return Some(remap.lbn + (place - remap.place));
        }
        let mut found = None;
        self.for_blocks(track.zone, place..place + 1, |lbn, _, _| found = Some(lbn));
        let remapped = |lbn| self.remap(lbn).is_some_and(|remap| remap.lbn <= lbn);
        found.filter(|&lbn| !remapped(lbn))
    }

    /// The track under a head; `None` if its cylinder is unused.
    pub fn track(&self, cylinder: u32, head: u32) -> Option<Track> {
        let after = self.zones.partition_point(|zone| zone.first_cylinder <= cylinder);
        let index = after.checked_sub(1)?;
        let zone = self.zones.get(index)?;
        if cylinder > zone.last_cylinder || head >= self.surfaces.by() {
            return None;
        }
        let inward = cylinder - zone.first_cylinder;
        let visited = if let Some(bands) = &self.bands {
            bands.before(inward, head, zone.cylinders())
        } else {
            let turn = (self.mapping).head(cylinder, inward, head, self.surfaces.by());
            u64::from(inward) * u64::from(self.surfaces.by()) + u64::from(turn)
        };
        let place = visited * u64::from(zone.sectors.by());
        Some(self.track_of(index as u32, place).0)
    }

    /// Calls `found` with first block, its index on the track, and number of blocks for
    /// every run of blocks in `indices` of `track`, without remapped blocks.
    pub fn for_blocks_on(
        &self,
        track: &Track,
        indices: ops::Range<u32>,
        mut found: impl FnMut(u64, u32, u32),
    ) {
        let places = track.first + u64::from(indices.start)..track.first + u64::from(indices.end);
        self.for_blocks(track.zone, places, |mut lbn, place, blocks| {
            let (mut index, end) = ((place - track.first) as u32, lbn + blocks);
            while lbn < end {
                let remap = self.remap(lbn).filter(|remap| remap.lbn < end);
                let stop = remap.map_or(end, |remap| remap.lbn.max(lbn));
                if lbn < stop {
                    found(lbn, index, (stop - lbn) as u32);
                }
                let next = remap.map_or(end, |remap| (remap.lbn + remap.blocks).min(end));
                index += (next - lbn) as u32;
                lbn = next;
            }
        });
    }

    /// Calls `found` with first block, its place, and number of blocks for every run of
    /// blocks in `places` of a zone, before remapping.
    pub(super) fn for_blocks(
        &self,
        zone: u32,
        places: ops::Range<u64>,
        mut found: impl FnMut(u64, u64, u64),
    ) {
        let mut lbn = self.blocks_before(zone, places.start);
        while lbn < self.blocks {
            let dealt = self.dealt(lbn);
            let place = dealt.place;
            if dealt.zone != zone || place >= places.end {
                return;
            }
            let blocks = dealt.together.min(places.end - place).min(self.blocks - lbn);
            found(lbn, place, blocks);
            lbn += blocks;
        }
    }

    /// Number of blocks of the drive before `place` of a zone.
    pub(super) fn blocks_before(&self, zone: u32, place: u64) -> u64 {
        let own = self.zones[zone as usize].stretch;
        let next = self.zones.get(zone as usize + 1);
        let last = next.map_or(self.stretches.len(), |zone| zone.stretch);
        let places = &self.stretches[own..last];
        let after = own + places.partition_point(|stretch| stretch.place <= place);
        let end = self.stretches.get(after).map_or(self.blocks, |next| next.lbn);
        if after == own {
            return self.stretches[own].lbn;
        }
        let stretch = &self.stretches[after - 1];
        let ahead = place - stretch.place;
        let (lot, rest) = divide(ahead, stretch.pitch);
        (stretch.lbn + lot * stretch.data + rest.min(stretch.data)).min(end)
    }

    /// The blocks dealt to a track.
    pub fn blocks_on(&self, track: &Track) -> ops::Range<u64> {
        let first = self.blocks_before(track.zone, track.first);
        let end = self.blocks_before(track.zone, track.first + u64::from(track.sectors));
        first..end.min(self.blocks)
    }
}
