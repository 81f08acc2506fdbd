//! Small random drives for tests: their specs as text, and a walk over them sector by
//! sector, independent of the code under test.

use proptest::prelude::*;
use sledsim_base::keys::Keys;
use sledsim_core::catalog::Device;
use std::fmt::Write;

pub const MAPPINGS: [&str; 4] =
    ["ascending", "serpentine_zone", "serpentine_drive", "serpentine_bands"];

/// In the order of DiskSim's numbers.
pub const SPARINGS: [&str; 11] = [
    "none",
    "zone_end_tracks",
    "cylinder_end",
    "track_end",
    "cylinder_end_no_slips",
    "cylinder_front",
    "cylinder_front_no_slips",
    "disk_end",
    "range_end",
    "zone_end",
    "zone_end_no_slips",
];

#[derive(Clone, Debug)]
pub struct Zone {
    pub cylinders: u32,
    /// Unused cylinders before it.
    pub gap: u32,
    pub sectors: u32,
    /// In sevenths of a revolution if `revolutions`, else in sectors.
    pub skews: [u32; 3],
    pub revolutions: bool,
    pub reserved: u64,
    pub spares: u64,
    pub slips: Vec<u64>,
    pub defects: Vec<[u64; 2]>,
}

#[derive(Clone, Debug)]
pub struct Drive {
    pub surfaces: u32,
    pub mapping: usize,
    pub sparing: usize,
    pub range_cylinders: u32,
    pub band_cylinders: u32,
    pub zones: Vec<Zone>,
    pub unused_end: u64,
    pub rpm: u32,
    /// In sevenths of a revolution.
    pub start: u32,
    /// For one cylinder, two, and so on; all in whole microseconds.
    pub seeks_us: Vec<u32>,
    pub staying_us: u32,
    pub head_switch_us: u32,
    pub write_settle_us: i32,
    pub zero_latency: bool,
}

/// A sector found by the walk.
#[derive(Clone, Debug, PartialEq)]
pub struct Sector {
    pub zone: usize,
    /// Its number in the zone, in the order of the walk.
    pub place: u64,
    pub cylinder: u32,
    pub head: u32,
    pub physical: u32,
    pub slipped: bool,
    pub lbn: Option<u64>,
}

impl Drive {
    pub fn cylinders(&self) -> u32 {
        self.zones.iter().map(|zone| zone.gap + zone.cylinders).sum()
    }

    pub fn toml(&self) -> String {
        let mut text = format!(
            "title = 'test'\nkind = 'disk'\nsurfaces = {}\ncylinders = {}\nrpm = {}\nmapping = '{}'\nsparing = '{}'\n",
            self.surfaces,
            self.cylinders(),
            self.rpm,
            MAPPINGS[self.mapping],
            SPARINGS[self.sparing]
        );
        let seeks: Vec<String> = (self.seeks_us.iter().enumerate())
            .map(|(index, us)| format!("[{}, {}]", index + 1, f64::from(*us) / 1e3))
            .collect();
        let mut gaps = Vec::new();
        let mut cylinder = 0;
        for zone in &self.zones {
            gaps.extend((cylinder..cylinder + zone.gap).map(|gap| gap.to_string()));
            cylinder += zone.gap + zone.cylinders;
        }
        write!(
            text,
            "start_angle_revolutions = {}\nunused_end_blocks = {}\nunused_cylinders = [{}]\nhead_switch_ms = {}\nwrite_settle_ms = {}\nzero_latency_read = {z}\nzero_latency_write = {z}\ncommand_overhead_ms = 0\nbus_ms_per_block = 0\nseek_zero_ms = {}\nseek = 'table'\nseek_falls = 'keep'\nseek_table_ms = [{}]\n",
            f64::from(self.start) / 7.0,
            self.unused_end,
            gaps.join(", "),
            f64::from(self.head_switch_us) / 1e3,
            f64::from(self.write_settle_us) / 1e3,
            f64::from(self.staying_us) / 1e3,
            seeks.join(", "),
            z = self.zero_latency,
        )
        .unwrap();
        if SPARINGS[self.sparing] == "range_end" {
            writeln!(text, "sparing_range_cylinders = {}", self.range_cylinders).unwrap();
        }
        if self.banded() {
            writeln!(text, "band_cylinders = {}", self.band_cylinders).unwrap();
        }
        let mut cylinder = 0;
        for zone in &self.zones {
            cylinder += zone.gap;
            let names = ["offset", "track_skew", "cylinder_skew"];
            let skews: String = (names.iter().zip(zone.skews))
                .map(|(name, skew)| {
                    if zone.revolutions {
                        format!("{name}_revolutions = {}\n", f64::from(skew) / 7.0)
                    } else {
                        format!("{name}_sectors = {skew}\n")
                    }
                })
                .collect();
            writeln!(
                text,
                "[[zone]]\nfirst_cylinder = {cylinder}\nlast_cylinder = {}\nblocks_per_track = {}\n{skews}reserved_blocks = {}\nspares = {}\nslips = {:?}\ndefects = {:?}",
                cylinder + zone.cylinders - 1,
                zone.sectors,
                zone.reserved,
                zone.spares,
                zone.slips,
                zone.defects
            )
            .unwrap();
            cylinder += zone.cylinders;
        }
        text
    }

    pub fn device(&self) -> sledsim_base::error::Result<Device> {
        Device::from_keys(Keys::parse(&self.toml(), "test.toml").unwrap(), None)
    }

    /// Whether its mapping has bands.
    pub fn banded(&self) -> bool {
        MAPPINGS[self.mapping] == "serpentine_bands"
    }

    /// Cylinder and head of the tracks of a zone in the order of the mapping.
    fn tracks(&self, zone: &Zone, first: u32) -> Vec<(u32, u32)> {
        let end = first + zone.cylinders;
        let width = if self.banded() { self.band_cylinders } else { 1 };
        let mut tracks = Vec::new();
        for (band, outermost) in (first..end).step_by(width as usize).enumerate() {
            let mut heads: Vec<u32> = (0..self.surfaces).collect();
            let turned = match MAPPINGS[self.mapping] {
                "ascending" => false,
                "serpentine_zone" | "serpentine_bands" => band % 2 == 1,
                _ => outermost % 2 == 1,
            };
            if turned {
                heads.reverse();
            }
            let mut cylinders: Vec<u32> = (outermost..end.min(outermost + width)).collect();
            for head in heads {
                tracks.extend(cylinders.iter().map(|&cylinder| (cylinder, head)));
                cylinders.reverse();
            }
        }
        tracks
    }

    /// All sectors of the drive in the order of its mapping, with their blocks after
    /// remapping. `None` if no blocks are left.
    pub fn walk(&self) -> Option<Vec<Sector>> {
        let tracks_mode = SPARINGS[self.sparing] == "zone_end_tracks";
        let mut sectors: Vec<Sector> = Vec::new();
        let mut usable: Vec<bool> = Vec::new();
        let mut spare_of_disk = 0;
        let mut cylinder = 0;
        for (index, zone) in self.zones.iter().enumerate() {
            cylinder += zone.gap;
            let first = cylinder;
            let begin = sectors.len();
            // Sevenths of a sector.
            let unit = |skew: u32| {
                if zone.revolutions { skew * zone.sectors } else { 7 * skew }
            };
            let [offset, track_skew, cylinder_skew] = zone.skews.map(unit);
            let mut at = offset;
            let mut place = 0;
            let mut before = None;
            for (cylinder, head) in self.tracks(zone, first) {
                if let Some(before) = before {
                    at += if before == cylinder { track_skew } else { cylinder_skew };
                }
                before = Some(cylinder);
                // To the nearest sector; sevenths know no ties.
                let start = (at + 3) / 7;
                for step in 0..zone.sectors {
                    let unit = if tracks_mode { u64::from(zone.sectors) } else { 1 };
                    sectors.push(Sector {
                        zone: index,
                        place,
                        cylinder,
                        head,
                        physical: (start + step) % zone.sectors,
                        slipped: zone.slips.contains(&(place / unit)),
                        lbn: None,
                    });
                    usable.push(place >= zone.reserved);
                    place += 1;
                }
            }
            cylinder += zone.cylinders;
            // Spares, range by range.
            let per_cylinder = (self.surfaces * zone.sectors) as usize;
            let length = match SPARINGS[self.sparing] {
                "track_end" => zone.sectors as usize,
                "cylinder_end"
                | "cylinder_end_no_slips"
                | "cylinder_front"
                | "cylinder_front_no_slips" => per_cylinder,
                "range_end" => per_cylinder * self.range_cylinders as usize,
                _ => sectors.len() - begin,
            };
            let mut spares = zone.spares as usize;
            if tracks_mode {
                spares *= zone.sectors as usize;
            }
            if SPARINGS[self.sparing] == "disk_end" {
                spare_of_disk += spares;
                continue;
            }
            let mut from = begin;
            while from < sectors.len() {
                let to = (from + length).min(sectors.len());
                self.spare(&sectors, &mut usable, from..to, spares);
                from = to;
            }
        }
        if SPARINGS[self.sparing] == "disk_end" {
            let all = 0..sectors.len();
            self.spare(&sectors, &mut usable, all, spare_of_disk);
        }
        let mut lbn = 0;
        for (sector, usable) in sectors.iter_mut().zip(&usable) {
            if *usable && !sector.slipped {
                sector.lbn = Some(lbn);
                lbn += 1;
            }
        }
        if lbn <= self.unused_end {
            return None;
        }
        let end = lbn - self.unused_end;
        for sector in &mut sectors {
            sector.lbn = sector.lbn.filter(|&lbn| lbn < end);
        }
        self.remap(&mut sectors, tracks_mode);
        Some(sectors)
    }

    /// Takes `spares` good sectors from a range, fewer if slips use them.
    fn spare(
        &self,
        sectors: &[Sector],
        usable: &mut [bool],
        range: std::ops::Range<usize>,
        spares: usize,
    ) {
        let name = SPARINGS[self.sparing];
        let held: Vec<usize> = range.filter(|&index| usable[index]).collect();
        let good: Vec<usize> =
            (held.iter().copied()).filter(|&index| !sectors[index].slipped).collect();
        let slipped = held.len() - good.len();
        let mut free = spares;
        if !name.ends_with("no_slips") {
            free = free.saturating_sub(slipped);
        }
        let free = free.min(good.len());
        let taken = if name.starts_with("cylinder_front") {
            &good[..free]
        } else {
            &good[good.len() - free..]
        };
        for &index in taken {
            usable[index] = false;
        }
    }

    fn remap(&self, sectors: &mut [Sector], tracks_mode: bool) {
        let mut begins = vec![0; self.zones.len()];
        for (index, sector) in sectors.iter().enumerate().rev() {
            begins[sector.zone] = index;
        }
        for (zone, spec) in self.zones.iter().enumerate() {
            for &[bad, good] in &spec.defects {
                let unit = if tracks_mode { spec.sectors as usize } else { 1 };
                for step in 0..unit {
                    let from = begins[zone] + bad as usize * unit + step;
                    let to = begins[zone] + good as usize * unit + step;
                    if let Some(lbn) = sectors[from].lbn.take() {
                        sectors[to].lbn = Some(lbn);
                    }
                }
            }
        }
    }

    pub fn without_defects(&self) -> Self {
        let mut drive = self.clone();
        drive.zones.iter_mut().for_each(|zone| zone.defects.clear());
        drive
    }

    /// Remaps sectors that hold blocks to sectors that are free, picked by
    /// `picks`.
    pub fn with_defects(mut self, picks: &[(u64, u64)]) -> Self {
        let Some(sectors) = self.walk() else {
            return self;
        };
        let tracks_mode = SPARINGS[self.sparing] == "zone_end_tracks";
        let mut begins = vec![usize::MAX; self.zones.len()];
        for (index, sector) in sectors.iter().enumerate() {
            begins[sector.zone] = begins[sector.zone].min(index);
        }
        // Units of remapping: sectors, or tracks that are wholly one or the other.
        let mut units: Vec<(usize, &[Sector])> = Vec::new();
        let mut index = 0;
        while index < sectors.len() {
            let length =
                if tracks_mode { self.zones[sectors[index].zone].sectors as usize } else { 1 };
            units.push((index, &sectors[index..index + length]));
            index += length;
        }
        let held = |(_, unit): &&(usize, &[Sector])| unit.iter().any(|s| s.lbn.is_some());
        let free =
            |(_, unit): &&(usize, &[Sector])| unit.iter().all(|s| s.lbn.is_none() && !s.slipped);
        let held: Vec<usize> = units.iter().filter(held).map(|unit| unit.0).collect();
        let mut free: Vec<usize> = units.iter().filter(free).map(|unit| unit.0).collect();
        let mut taken = Vec::new();
        for &(one, other) in picks {
            if held.is_empty() || free.is_empty() {
                break;
            }
            let bad = held[one as usize % held.len()];
            let pick = other as usize % free.len();
            let (from, to) = (&sectors[bad], &sectors[free[pick]]);
            let later = to.zone >= from.zone && (!tracks_mode || to.zone == from.zone);
            if taken.contains(&bad) || !later {
                continue;
            }
            taken.push(bad);
            let unit = if tracks_mode { self.zones[from.zone].sectors as usize } else { 1 };
            let begin = begins[from.zone];
            let pair = [(bad - begin) / unit, (free[pick] - begin) / unit];
            self.zones[from.zone].defects.push(pair.map(|place| place as u64));
            free.remove(pick);
        }
        self
    }
}

/// The number of cases; failures are printed, not kept in files.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

fn zone() -> impl Strategy<Value = Zone> {
    let shape = (1_u32..6, 0_u32..2, 1_u32..14, any::<bool>());
    let skews = [0_u32..14, 0_u32..14, 0_u32..14];
    let slips = prop::collection::btree_set(0_u64..200, 0..6);
    (shape, skews, slips, 0_u64..40, 0_u64..4).prop_map(
        |((cylinders, gap, sectors, revolutions), skews, slips, reserved, spares)| Zone {
            cylinders,
            gap,
            sectors,
            skews: skews.map(|skew| skew % if revolutions { 7 } else { sectors }),
            revolutions,
            // Half of the zones reserve nothing.
            reserved: reserved.saturating_sub(20),
            spares,
            slips: slips.into_iter().collect(),
            defects: Vec::new(),
        },
    )
}

/// Small drives of every mapping and sparing scheme; some are invalid.
pub fn drive() -> impl Strategy<Value = Drive> {
    let layout = (1_u32..5, 0_usize..4, 0_usize..11, 1_u32..4, 0_u64..9);
    let zones = prop::collection::vec(zone(), 1..4);
    let motion = (
        prop_oneof![Just(6000_u32), Just(10_025), Just(7200), 3000_u32..20_000],
        0_u32..7,
        prop::collection::vec(100_u32..9000, 20),
        0_u32..1000,
        0_u32..2000,
        -300_i32..900,
        any::<bool>(),
    );
    let picks = prop::collection::vec((any::<u64>(), any::<u64>()), 0..6);
    (layout, zones, motion, picks).prop_map(|(layout, mut zones, motion, picks)| {
        let (surfaces, mapping, mut sparing, range_cylinders, unused_end) = layout;
        let by_cylinders =
            SPARINGS[sparing].starts_with("cylinder") || SPARINGS[sparing] == "range_end";
        if MAPPINGS[mapping] == "serpentine_bands" && by_cylinders {
            sparing = 9; // which bands allow
        }
        for zone in &mut zones {
            let tracks = u64::from(zone.cylinders * surfaces);
            let tracks_mode = SPARINGS[sparing] == "zone_end_tracks";
            let places = tracks * if tracks_mode { 1 } else { u64::from(zone.sectors) };
            zone.slips.retain(|&slip| slip < places);
            if SPARINGS[sparing] == "none" {
                zone.spares = 0;
            }
        }
        let (rpm, start, seeks_us, staying_us, head_switch_us, write_settle_us, zero_latency) =
            motion;
        let drive = Drive {
            surfaces,
            mapping,
            sparing,
            range_cylinders,
            band_cylinders: range_cylinders,
            zones,
            unused_end: unused_end.saturating_sub(4),
            rpm,
            start,
            seeks_us,
            staying_us,
            head_switch_us,
            write_settle_us,
            zero_latency,
        };
        drive.with_defects(&picks)
    })
}
