//! Defects: blocks at bad places are remapped to spares.

use super::{BadPlaces, Geometry, GeometryError, Remap, ZoneSpec};
use crate::devices::disk::sparing::Sparing;
use std::ops;

impl Geometry {
    pub(super) fn add_defects(
        &mut self,
        zones: &[ZoneSpec],
        sparing: Sparing,
        bad: &mut [BadPlaces],
    ) -> Result<(), GeometryError> {
        let mut remaps: Vec<Remap> = Vec::new();
        let mut replacing: Vec<(usize, ops::Range<u64>)> = Vec::new();
        for (zone, spec) in zones.iter().enumerate() {
            let unit = if sparing.tracks { u64::from(spec.blocks_per_track) } else { 1 };
            for (item, &[from, to]) in spec.defects.iter().enumerate() {
                let flaw = |must: String| GeometryError {
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
                    return Err(flaw("must end in a spare that replaces nothing else".into()));
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
        // A spare may be bad as well if it replaces nothing.
        let listed = (zones.iter().enumerate())
            .flat_map(|(zone, spec)| (0..spec.defects.len()).map(move |item| (zone, item)));
        for ((zone, item), (other, spare)) in listed.zip(&replacing) {
            if bad[*other].iter().any(|bad| overlap(bad, spare)) {
                return Err(GeometryError {
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
}

fn overlap(one: &ops::Range<u64>, other: &ops::Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}
