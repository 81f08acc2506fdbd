//! Dealing: assigns the blocks of a zone to its remaining places.

use super::{BadPlaces, Geometry, GeometryError, Stretch, Zone, ZoneSpec};
use crate::devices::disk::sparing::{Range, Sparing};
use sledsim_base::divisor::Divisor;
use std::ops;

impl Geometry {
    pub(super) fn add_zone(
        &mut self,
        spec: &ZoneSpec,
        index: usize,
        sparing: Sparing,
        slips: &BadPlaces,
    ) -> Result<(), GeometryError> {
        let sectors = u64::from(spec.blocks_per_track);
        let cylinder = sectors * u64::from(self.surfaces.by());
        let cylinders = u64::from(spec.last_cylinder - spec.first_cylinder) + 1;
        let places = cylinder * cylinders;
        let turns = u64::from(self.surfaces.by() - 1);
        self.zones.push(Zone {
            first_cylinder: spec.first_cylinder,
            last_cylinder: spec.last_cylinder,
            sectors: Divisor::new(spec.blocks_per_track),
            width: (u128::MAX / u128::from(sectors)).wrapping_add(1),
            offset: spec.offset,
            track_skew: spec.track_skew,
            cylinder_skew: spec.cylinder_skew,
            pitch: turns.wrapping_mul(spec.track_skew).wrapping_add(spec.cylinder_skew),
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
        let flaw = |key, must: String| GeometryError { zone: Some(index), key: (key, None), must };
        let data = sparing.used(pitch, spares, 0);
        if data == 0 {
            let must = format!("must be less than the {pitch} sectors of a range of its scheme");
            return Err(flaw("spares", must));
        }
        // Irregular ranges: those with slips, the one that is partly reserved, and the
        // last if it is shorter.
        let mut odd: Vec<u64> =
            (slips.iter()).flat_map(|bad| bad.start / pitch..=(bad.end - 1) / pitch).collect();
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

    /// Assigns the blocks of one range with slips, or of a part of a range.
    fn push_odd(
        &mut self,
        range: ops::Range<u64>,
        slips: &BadPlaces,
        spares: u64,
        sparing: Sparing,
    ) {
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

    /// Appends `lots` times `data` blocks, `pitch` places apart.
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
        let (data, pitch) = if plain { (blocks, blocks) } else { (data, pitch) };
        self.stretches.push(Stretch { lbn: self.blocks, place, data, pitch, zone });
        self.blocks += blocks;
    }
}

/// The slipped places of a zone, in order.
pub(super) fn slips(
    spec: &ZoneSpec,
    zone: usize,
    surfaces: u32,
    sparing: Sparing,
) -> Result<BadPlaces, GeometryError> {
    let sectors = u64::from(spec.blocks_per_track);
    let cylinders = u64::from(spec.last_cylinder - spec.first_cylinder) + 1;
    let tracks = cylinders * u64::from(surfaces);
    let (unit, count) = if sparing.tracks { (sectors, tracks) } else { (1, tracks * sectors) };
    let flaw = |item, must| GeometryError { zone: Some(zone), key: ("slips", Some(item)), must };
    let mut order: Vec<usize> = (0..spec.slips.len()).collect();
    order.sort_by_key(|&item| spec.slips[item]);
    let mut places: BadPlaces = Vec::new();
    for item in order {
        let slip = spec.slips[item];
        if slip >= count {
            return Err(flaw(item, format!("must be below {count}, the end of the zone")));
        }
        let range = slip * unit..(slip + 1) * unit;
        if places.last().is_some_and(|last| last.start == range.start) {
            return Err(flaw(item, "must not be slipped twice".into()));
        }
        places.push(range);
    }
    Ok(places)
}
