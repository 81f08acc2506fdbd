//! Geometry: which block is in which sector.
//!
//! The sectors of a zone are numbered from 0 in the order in which its mapping
//! visits them: spares, slipped and reserved ones count. This is the *place* in
//! the zone. Blocks are dealt out to the places that are left; where nothing
//! is slipped that is regular, so that some dozens of stretches describe a
//! drive and a binary search finds a block.

use super::mapping::Mapping;
use super::rotation::REVOLUTION;
use super::sparing::{Range, Sparing};
use std::ops;

/// What a spec says about a zone. Angles and skews are in 2^-64 revolutions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoneSpec {
    /// First cylinder.
    pub first_cylinder: u32,
    /// Last cylinder.
    pub last_cylinder: u32,
    /// Sectors on a track.
    pub blocks_per_track: u32,
    /// Angle at which the first place of the zone begins.
    pub offset: u64,
    /// From the first place of a track to that of the next, in one cylinder.
    pub track_skew: u64,
    /// From the first place of the last track of a cylinder to that of the
    /// first track of the next.
    pub cylinder_skew: u64,
    /// Places at the front of the zone that hold no blocks.
    pub reserved: u64,
    /// Spares, in the unit and for the range of the sparing scheme.
    pub spares: u64,
    /// Slipped places, or tracks in the order of the mapping.
    pub slips: Vec<u64>,
    /// Bad places, or tracks, and what replaces them. Replacing places may lie
    /// in later zones: counting just goes on.
    pub defects: Vec<[u64; 2]>,
}

/// What is wrong with a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The zone, or the whole.
    pub zone: Option<usize>,
    /// The key, and which item of its list.
    pub key: (&'static str, Option<usize>),
    /// What was allowed.
    pub must: String,
}

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

/// A track, and where on it counting begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Track {
    /// Cylinder.
    pub cylinder: u32,
    /// Head.
    pub head: u32,
    /// How many sectors it has.
    pub sectors: u32,
    zone: u32,
    /// The place of its first sector in mapping order.
    first: u64,
    /// The physical number of that sector.
    shift: u32,
    /// One sector, in 2^-128 revolutions, rounded up.
    width: u128,
}

impl Track {
    /// The physical number of the sector `index` places after the first.
    #[must_use]
    #[inline]
    pub fn sector(&self, index: u32) -> u32 {
        let sector = index + self.shift;
        sector
            - if sector >= self.sectors {
                self.sectors
            } else {
                0
            }
    }

    /// The angle at which that sector begins.
    #[must_use]
    #[inline]
    pub fn angle(&self, index: u32) -> u64 {
        ((u128::from(self.sector(index)) * self.width) >> 64) as u64
    }

    /// How far the media turn under `sectors` of its sectors, at most all.
    #[must_use]
    #[inline]
    pub fn turn(&self, sectors: u32) -> u128 {
        if sectors >= self.sectors {
            REVOLUTION
        } else {
            (u128::from(sectors) * self.width) >> 64
        }
    }

    /// How many places after the first the physical sector `sector` is.
    #[must_use]
    pub fn index(&self, sector: u32) -> u32 {
        (sector + self.sectors - self.shift) % self.sectors
    }
}

/// Blocks of a request that lie on one track and are reached in one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The track.
    pub track: Track,
    /// Places from the first of the track to the first block.
    pub index: u32,
    /// Blocks.
    pub blocks: u32,
    /// Places from the first block to the last, both included; more than
    /// `blocks` if slipped sectors lie between.
    pub span: u32,
    /// Whether every sector of the track is known to have its block, so that
    /// the first block of the track comes `index` before the piece.
    pub full: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Zone {
    first_cylinder: u32,
    last_cylinder: u32,
    sectors: u32,
    width: u128,
    offset: u64,
    track_skew: u64,
    /// Skew from one cylinder's first track to the next one's.
    pitch: u64,
    /// Places in the zone.
    places: u64,
    /// Its first stretch.
    stretch: usize,
}

/// Blocks that lie regularly: `data` of them, then a gap up to `pitch` places,
/// and so on. With `data == pitch` there is no gap and one lot only.
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

/// Where a block was dealt out.
struct Dealt {
    zone: u32,
    /// Its place in the zone.
    place: u64,
    /// How many blocks lie side by side before it, and from it on.
    before: u64,
    together: u64,
}

/// Blocks that do not lie where they would but side by side from `place` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Remap {
    lbn: u64,
    blocks: u64,
    zone: u32,
    place: u64,
}

/// Which block is in which sector.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    surfaces: u32,
    mapping: Mapping,
    zones: Vec<Zone>,
    stretches: Vec<Stretch>,
    /// By LBN, and by place.
    remaps: Vec<Remap>,
    replacing: Vec<Remap>,
    blocks: u64,
}

/// Half-open ranges of places that hold no blocks whatever the sparing.
type Bad = Vec<ops::Range<u64>>;

impl Geometry {
    /// The geometry of a drive of `surfaces` with the given zones, which are
    /// in order and do not overlap. The last `unused_end` blocks of the drive
    /// are not offered.
    ///
    /// # Errors
    /// Places out of their zone, defects that overlap, or no room for blocks.
    pub fn new(
        surfaces: u32,
        mapping: Mapping,
        sparing: Sparing,
        zones: &[ZoneSpec],
        unused_end: u64,
    ) -> Result<Self, Flaw> {
        let mut geometry = Self {
            surfaces,
            mapping,
            zones: Vec::new(),
            stretches: Vec::new(),
            remaps: Vec::new(),
            replacing: Vec::new(),
            blocks: 0,
        };
        let mut bad = Vec::new();
        let (mut spares, mut slipped) = (0, 0);
        for (index, spec) in zones.iter().enumerate() {
            let slips = slips(spec, index, surfaces, sparing)?;
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
            return Err(Flaw {
                zone: None,
                key: (key, None),
                must: "must leave blocks to the drive".into(),
            });
        }
        geometry.add_defects(zones, sparing, &mut bad)?;
        Ok(geometry)
    }

    fn add_zone(
        &mut self,
        spec: &ZoneSpec,
        index: usize,
        sparing: Sparing,
        slips: &Bad,
    ) -> Result<(), Flaw> {
        let sectors = u64::from(spec.blocks_per_track);
        let cylinder = sectors * u64::from(self.surfaces);
        let cylinders = u64::from(spec.last_cylinder - spec.first_cylinder) + 1;
        let places = cylinder * cylinders;
        let turns = u64::from(self.surfaces - 1);
        self.zones.push(Zone {
            first_cylinder: spec.first_cylinder,
            last_cylinder: spec.last_cylinder,
            sectors: spec.blocks_per_track,
            width: (u128::MAX / u128::from(sectors)).wrapping_add(1),
            offset: spec.offset,
            track_skew: spec.track_skew,
            pitch: turns
                .wrapping_mul(spec.track_skew)
                .wrapping_add(spec.cylinder_skew),
            places,
            stretch: self.stretches.len(),
        });
        let pitch = match sparing.range {
            Range::Track => sectors,
            Range::Cylinder => cylinder,
            Range::Cylinders(count) => (cylinder * u64::from(count)).min(places),
            Range::None | Range::Zone | Range::Disk => places,
        };
        let spares = match sparing.range {
            Range::Disk => 0,
            _ if sparing.tracks => spec.spares * sectors,
            _ => spec.spares,
        };
        let flaw = |key, must: String| Flaw {
            zone: Some(index),
            key: (key, None),
            must,
        };
        let data = sparing.used(pitch, spares, 0);
        if data == 0 {
            let must = format!("must be less than the {pitch} sectors of a range of its scheme");
            return Err(flaw("spares", must));
        }
        // Ranges that are not like the others: those with slips, the one that
        // is reserved in part, the last if it is shorter.
        let mut odd: Vec<u64> = (slips.iter())
            .flat_map(|bad| bad.start / pitch..=(bad.end - 1) / pitch)
            .collect();
        odd.push(spec.reserved / pitch);
        odd.push(places / pitch);
        odd.sort_unstable();
        odd.dedup();
        let begin = self.blocks;
        let mut next = spec.reserved / pitch;
        for range in odd {
            if range < next || range * pitch >= places {
                continue;
            }
            let front = if sparing.front { pitch - data } else { 0 };
            self.push(next * pitch + front, data, pitch, range - next);
            next = range + 1;
            let from = (range * pitch).max(spec.reserved);
            let to = (next * pitch).min(places);
            if from < to {
                self.push_odd(from..to, slips, spares, sparing);
            }
        }
        // The last range is always odd or exactly the last regular one.
        let front = if sparing.front { pitch - data } else { 0 };
        let left = (places / pitch).saturating_sub(next);
        self.push(next * pitch + front, data, pitch, left);
        if self.blocks == begin {
            let must = format!("must leave blocks in the zone of {places} sectors");
            return Err(flaw("reserved_blocks", must));
        }
        Ok(())
    }

    /// The blocks of one range with slips, or of a part of a range.
    fn push_odd(&mut self, range: ops::Range<u64>, slips: &Bad, spares: u64, sparing: Sparing) {
        let mut runs = Vec::new();
        let mut from = range.start;
        for bad in slips {
            let (start, end) = (bad.start.max(from), bad.end.min(range.end));
            if start < end {
                runs.push(from..start);
                from = end;
            }
        }
        runs.push(from..range.end);
        let good: u64 = runs.iter().map(|run| run.end - run.start).sum();
        let slipped = range.end - range.start - good;
        let used = sparing.used(good, spares, slipped);
        let mut skip = if sparing.front { good - used } else { 0 };
        let mut left = used;
        for run in runs {
            let length = run.end - run.start;
            let skipped = skip.min(length);
            skip -= skipped;
            let count = (length - skipped).min(left);
            left -= count;
            self.push(run.start + skipped, count, count, 1);
        }
    }

    /// Deals `lots` times `data` blocks, `pitch` places apart.
    fn push(&mut self, place: u64, data: u64, pitch: u64, lots: u64) {
        let zone = self.zones.len() as u32 - 1;
        let blocks = data * lots;
        if blocks == 0 {
            return;
        }
        let plain = data == pitch || lots == 1;
        let own = self.stretches.len() > self.zones[zone as usize].stretch;
        if plain
            && own
            && let Some(last) = self.stretches.last_mut()
        {
            let length = self.blocks - last.lbn;
            if last.data == last.pitch && last.place + length == place {
                (last.data, last.pitch) = (length + blocks, length + blocks);
                self.blocks += blocks;
                return;
            }
        }
        let (data, pitch) = if plain {
            (blocks, blocks)
        } else {
            (data, pitch)
        };
        self.stretches.push(Stretch {
            lbn: self.blocks,
            place,
            data,
            pitch,
            zone,
        });
        self.blocks += blocks;
    }

    fn add_defects(
        &mut self,
        zones: &[ZoneSpec],
        sparing: Sparing,
        bad: &mut [Bad],
    ) -> Result<(), Flaw> {
        let mut remaps: Vec<Remap> = Vec::new();
        let mut replacing: Vec<(usize, ops::Range<u64>)> = Vec::new();
        for (zone, spec) in zones.iter().enumerate() {
            let unit = if sparing.tracks {
                u64::from(spec.blocks_per_track)
            } else {
                1
            };
            for (item, &[from, to]) in spec.defects.iter().enumerate() {
                let flaw = |must: String| Flaw {
                    zone: Some(zone),
                    key: ("defects", Some(item)),
                    must,
                };
                let places = self.zones[zone].places;
                let range = |start: u64| start * unit..(start + 1) * unit;
                let lost = range(from);
                if from >= places / unit {
                    return Err(flaw(format!("must begin below {}", places / unit)));
                }
                if bad[zone].iter().any(|other| overlap(other, &lost)) {
                    return Err(flaw("must not overlap another defect or a slip".into()));
                }
                bad[zone].push(lost.clone());
                let (mut other, mut start) = (zone, to * unit);
                while !sparing.tracks && other < zones.len() && start >= self.zones[other].places {
                    start -= self.zones[other].places;
                    other += 1;
                }
                let spare = start..start + unit;
                if other == zones.len() || spare.end > self.zones[other].places {
                    return Err(flaw("must end in a place of the drive".into()));
                }
                let taken = (replacing.iter())
                    .any(|(zone, other_spare)| *zone == other && overlap(other_spare, &spare));
                let mut held = false;
                self.for_blocks(other as u32, spare.clone(), |_, _, _| held = true);
                if taken || held {
                    return Err(flaw(
                        "must end in a spare that replaces nothing else".into(),
                    ));
                }
                replacing.push((other, spare));
                self.for_blocks(zone as u32, lost.clone(), |lbn, place, blocks| {
                    remaps.push(Remap {
                        lbn,
                        blocks,
                        zone: other as u32,
                        place: start + (place - lost.start),
                    });
                });
            }
        }
        // A spare may be bad as well, but then it replaces nothing.
        let listed = (zones.iter().enumerate())
            .flat_map(|(zone, spec)| (0..spec.defects.len()).map(move |item| (zone, item)));
        for ((zone, item), (other, spare)) in listed.zip(&replacing) {
            if bad[*other].iter().any(|bad| overlap(bad, spare)) {
                return Err(Flaw {
                    zone: Some(zone),
                    key: ("defects", Some(item)),
                    must: "must not end in a place that is bad itself".into(),
                });
            }
        }
        remaps.sort_unstable_by_key(|remap| remap.lbn);
        self.replacing = remaps.clone();
        (self.replacing).sort_unstable_by_key(|remap| (remap.zone, remap.place));
        self.remaps = remaps;
        Ok(())
    }

    /// Blocks offered.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The first block dealt out to a zone; the end of the drive for the one
    /// after the last.
    #[must_use]
    pub fn start_of_zone(&self, zone: usize) -> u64 {
        let stretch = (self.zones.get(zone)).and_then(|zone| self.stretches.get(zone.stretch));
        stretch.map_or(self.blocks, |stretch| stretch.lbn.min(self.blocks))
    }

    /// Where a block was dealt out.
    #[inline]
    fn dealt(&self, lbn: u64) -> Dealt {
        let after = self.stretches.partition_point(|stretch| stretch.lbn <= lbn);
        let stretch = &self.stretches[after - 1];
        let ahead = lbn - stretch.lbn;
        let (lot, before) = if stretch.data == stretch.pitch {
            (0, ahead)
        } else {
            divide(ahead, stretch.data)
        };
        Dealt {
            zone: stretch.zone,
            place: stretch.place + lot * stretch.pitch + before,
            before,
            together: stretch.data - before,
        }
    }

    /// The track that holds a place, and the places before it there.
    #[inline]
    fn track_of(&self, zone_index: u32, place: u64) -> (Track, u32) {
        let zone = &self.zones[zone_index as usize];
        let sectors = u64::from(zone.sectors);
        let (visited, index) = divide(place, sectors);
        let (inward, turn) = divide(visited, u64::from(self.surfaces));
        let cylinder = zone.first_cylinder + inward as u32;
        let head = (self.mapping).head(cylinder, inward as u32, turn as u32, self.surfaces);
        let angle = (zone.offset)
            .wrapping_add(inward.wrapping_mul(zone.pitch))
            .wrapping_add(turn.wrapping_mul(zone.track_skew));
        let shift = (u128::from(angle) * u128::from(sectors) + (1 << 63)) >> 64;
        let track = Track {
            cylinder,
            head,
            sectors: zone.sectors,
            zone: zone_index,
            first: place - index,
            shift: if shift as u64 == sectors {
                0
            } else {
                shift as u32
            },
            width: zone.width,
        };
        (track, index as u32)
    }

    /// The remap that holds `lbn`, or else the next one.
    #[inline]
    fn remap(&self, lbn: u64) -> Option<&Remap> {
        if self.remaps.is_empty() {
            return None;
        }
        let index = (self.remaps).partition_point(|remap| remap.lbn + remap.blocks <= lbn);
        self.remaps.get(index)
    }

    /// The track and index of a block, wherever it went.
    #[must_use]
    pub fn find(&self, lbn: u64) -> (Track, u32) {
        if let Some(remap) = self.remap(lbn).filter(|remap| remap.lbn <= lbn) {
            return self.track_of(remap.zone, remap.place + (lbn - remap.lbn));
        }
        let Dealt { zone, place, .. } = self.dealt(lbn);
        self.track_of(zone, place)
    }

    /// The first piece of `blocks` (at least 1) from `lbn` on.
    #[must_use]
    #[inline]
    pub fn piece(&self, lbn: u64, mut blocks: u32) -> Piece {
        if let Some(remap) = self.remap(lbn) {
            if remap.lbn <= lbn {
                let (track, index) = self.track_of(remap.zone, remap.place + (lbn - remap.lbn));
                let left = remap.lbn + remap.blocks - lbn;
                let blocks = left.min(u64::from(blocks)) as u32;
                return Piece {
                    track,
                    index,
                    blocks,
                    span: blocks,
                    full: false,
                };
            }
            blocks = (remap.lbn - lbn).min(u64::from(blocks)) as u32;
        }
        let dealt = self.dealt(lbn);
        let (track, index) = self.track_of(dealt.zone, dealt.place);
        let room = u64::from(track.sectors - index);
        let mut count = dealt.together.min(room).min(u64::from(blocks)) as u32;
        let mut span = count;
        while count < blocks && u64::from(span) < room && lbn + u64::from(count) < self.blocks {
            let next = self.dealt(lbn + u64::from(count));
            if next.zone != dealt.zone || next.place - dealt.place >= room {
                break;
            }
            let ahead = next.place - dealt.place;
            let more = next
                .together
                .min(room - ahead)
                .min(u64::from(blocks - count));
            count += more as u32;
            span = (ahead + more) as u32;
        }
        let full = u64::from(index) <= dealt.before
            && room <= dealt.together.min(self.blocks - lbn)
            && self.remaps.is_empty();
        Piece {
            track,
            index,
            blocks: count,
            span,
            full,
        }
    }

    /// Where a block is.
    #[must_use]
    pub fn locate(&self, lbn: u64) -> Sector {
        let (track, index) = self.find(lbn);
        Sector {
            cylinder: track.cylinder,
            head: track.head,
            sector: track.sector(index),
        }
    }

    /// Which block is in a sector, if any is.
    #[must_use]
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

    /// The track under a head, unless its cylinder is not in use.
    #[must_use]
    pub fn track(&self, cylinder: u32, head: u32) -> Option<Track> {
        let after = self
            .zones
            .partition_point(|zone| zone.first_cylinder <= cylinder);
        let index = after.checked_sub(1)?;
        let zone = self.zones.get(index)?;
        if cylinder > zone.last_cylinder || head >= self.surfaces {
            return None;
        }
        let inward = cylinder - zone.first_cylinder;
        let turn = (self.mapping).head(cylinder, inward, head, self.surfaces);
        let visited = u64::from(inward) * u64::from(self.surfaces) + u64::from(turn);
        let place = visited * u64::from(zone.sectors);
        Some(self.track_of(index as u32, place).0)
    }

    /// Calls `found` with first block, its index on the track, and number of
    /// blocks for every run of blocks among `indices` of `track`. Remapped
    /// blocks are not among them.
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

    /// Calls `found` with first block, its place, and number of blocks for
    /// every run of blocks among `places` of a zone, as dealt out.
    fn for_blocks(&self, zone: u32, places: ops::Range<u64>, mut found: impl FnMut(u64, u64, u64)) {
        let mut lbn = self.blocks_before(zone, places.start);
        while lbn < self.blocks {
            let dealt = self.dealt(lbn);
            let place = dealt.place;
            if dealt.zone != zone || place >= places.end {
                return;
            }
            let blocks = dealt
                .together
                .min(places.end - place)
                .min(self.blocks - lbn);
            found(lbn, place, blocks);
            lbn += blocks;
        }
    }

    /// How many blocks of the drive come before `place` of a zone.
    fn blocks_before(&self, zone: u32, place: u64) -> u64 {
        let own = self.zones[zone as usize].stretch;
        let next = self.zones.get(zone as usize + 1);
        let last = next.map_or(self.stretches.len(), |zone| zone.stretch);
        let places = &self.stretches[own..last];
        let after = own + places.partition_point(|stretch| stretch.place <= place);
        let end = self
            .stretches
            .get(after)
            .map_or(self.blocks, |next| next.lbn);
        if after == own {
            return self.stretches[own].lbn;
        }
        let stretch = &self.stretches[after - 1];
        let ahead = place - stretch.place;
        let (lot, rest) = divide(ahead, stretch.pitch);
        (stretch.lbn + lot * stretch.data + rest.min(stretch.data)).min(end)
    }

    /// The blocks that were dealt out on a track.
    #[must_use]
    pub fn blocks_on(&self, track: &Track) -> ops::Range<u64> {
        let first = self.blocks_before(track.zone, track.first);
        let end = self.blocks_before(track.zone, track.first + u64::from(track.sectors));
        first..end.min(self.blocks)
    }

    /// The blocks of the track on which `lbn` was dealt out.
    #[must_use]
    pub fn track_around(&self, lbn: u64) -> ops::Range<u64> {
        let Dealt { zone, place, .. } = self.dealt(lbn);
        self.blocks_on(&self.track_of(zone, place).0)
    }

    /// The cylinder on which `lbn` was dealt out.
    #[must_use]
    pub fn cylinder_of(&self, lbn: u64) -> u32 {
        let Dealt { zone, place, .. } = self.dealt(lbn);
        self.track_of(zone, place).0.cylinder
    }

    /// One past the last block of the cylinder on which `lbn` was dealt out.
    #[must_use]
    pub fn end_of_cylinder(&self, lbn: u64) -> u64 {
        let Dealt { zone, place, .. } = self.dealt(lbn);
        let cylinder = u64::from(self.zones[zone as usize].sectors) * u64::from(self.surfaces);
        let end = self.blocks_before(zone, (place / cylinder + 1) * cylinder);
        end.min(self.blocks)
    }
}

/// Quotient and rest; numbers of 32 bits are divided several times faster.
#[inline]
fn divide(number: u64, by: u64) -> (u64, u64) {
    match (u32::try_from(number), u32::try_from(by)) {
        (Ok(number), Ok(by)) => (u64::from(number / by), u64::from(number % by)),
        _ => (number / by, number % by),
    }
}

fn overlap(one: &ops::Range<u64>, other: &ops::Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

/// The slipped places of a zone, in order.
fn slips(spec: &ZoneSpec, zone: usize, surfaces: u32, sparing: Sparing) -> Result<Bad, Flaw> {
    let sectors = u64::from(spec.blocks_per_track);
    let cylinders = u64::from(spec.last_cylinder - spec.first_cylinder) + 1;
    let tracks = cylinders * u64::from(surfaces);
    let (unit, count) = if sparing.tracks {
        (sectors, tracks)
    } else {
        (1, tracks * sectors)
    };
    let flaw = |item, must| Flaw {
        zone: Some(zone),
        key: ("slips", Some(item)),
        must,
    };
    let mut order: Vec<usize> = (0..spec.slips.len()).collect();
    order.sort_by_key(|&item| spec.slips[item]);
    let mut places: Bad = Vec::new();
    for item in order {
        let slip = spec.slips[item];
        if slip >= count {
            return Err(flaw(
                item,
                format!("must be below {count}, the end of the zone"),
            ));
        }
        let range = slip * unit..(slip + 1) * unit;
        if places.last().is_some_and(|last| last.start == range.start) {
            return Err(flaw(item, "must not be slipped twice".into()));
        }
        places.push(range);
    }
    Ok(places)
}
