//! The spec of a disk: all parameters, checked, and derived quantities.
//!
//! The keys are described in `docs/reference/disks.md`.

use super::arm::Disk;
use super::controller::{Controller, ControllerSettings, WriteBack};
use super::drive::Drive;
use super::faults::DiskFaults;
use super::geometry::{Geometry, GeometryError, ZoneSpec};
use super::mapping::Mapping;
use super::rotation::{Rotation, angle_of, share};
use super::seek::{self, Datasheet, Hpl, Seeks, ThreePart};
use super::sparing::{self, Sparing};
use crate::devices::disk::power::DiskPower;
use crate::devices::kind::Capacity;
use crate::model::Model;
use crate::queueing::schedulers::Scheduler;
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::sync::Arc;

/// The most cylinders a drive may have: two tables of seek times take 8 bytes
/// for each.
const MAX_CYLINDERS: u32 = 1 << 22;

/// The longest seek, head switch or settling, in ms.
const LONGEST_MS: f64 = 1000.0;

/// A checked disk.
#[derive(Clone, Debug)]
pub struct DiskSpec {
    /// The mechanical part.
    pub drive: Arc<Drive>,
    /// Bus, overheads and buffer.
    pub settings: ControllerSettings,
    /// Power by state, and the power policy.
    pub power: Option<DiskPower>,
    /// Errors.
    pub faults: Option<DiskFaults>,
    surfaces: u32,
    cylinders: u32,
    mapping: Mapping,
    zones: Vec<ZoneSpec>,
}

impl DiskSpec {
    /// Reads the spec from `keys`.
    pub fn read(keys: &mut Keys) -> Result<Self> {
        let surfaces = keys.u32("surfaces", 1..=1000)?;
        let cylinders = keys.u32("cylinders", 1..=MAX_CYLINDERS)?;
        let rotation = read_rotation(keys)?;
        let mapping = read_mapping(keys, surfaces)?;
        let sparing = read_sparing(keys, mapping)?;
        let (zones, zone_keys) = read_zones(keys, sparing)?;
        check_cylinders(keys, &zones, &zone_keys, cylinders)?;

        let unused_end = keys.opt_u64("unused_end_blocks", 0..=1 << 50)?;
        let unused_end = unused_end.unwrap_or(0);
        let geometry = Geometry::new(surfaces, mapping, sparing, &zones, unused_end);
        let geometry = geometry.map_err(|flaw| refuse(keys, &zone_keys, &flaw))?;
        for zone in zone_keys {
            zone.finish()?;
        }
        let blocks = geometry.blocks();
        if keys.opt_u64("blocks", 1..=1 << 50)?.is_some_and(|stated| stated != blocks) {
            let must = format!(
                "must be {blocks}, which is what the zones hold less spares, slips, reserved_blocks and unused_end_blocks"
            );
            return Err(keys.refuse("blocks", must));
        }

        let settle = Range::at_least(-LONGEST_MS).at_most(LONGEST_MS);
        let times_ms = read_seeks(keys, cylinders)?;
        let fixed_access_ms = keys.opt_f64("seek_zero_ms", time())?;
        // A curve that begins at two cylinders says nothing of shorter moves.
        let short_ms = if keys.has("seek_two_cylinders_ms") { &times_ms[..1] } else { &times_ms };
        let drive = Drive {
            geometry,
            rotation,
            seeks: Seeks::new(
                &times_ms,
                fixed_access_ms.unwrap_or_else(|| seek::fixed_access_ms(short_ms)),
            ),
            head_switch: Nanos::from_ms(keys.f64("head_switch_ms", time())?),
            write_settle_ns: (1e6 * keys.f64("write_settle_ms", settle)?).round() as i64,
            zero_latency_read: keys.bool("zero_latency_read")?,
            zero_latency_write: keys.bool("zero_latency_write")?,
        };
        Ok(Self {
            drive: Arc::new(drive),
            settings: ControllerSettings::read(keys)?,
            power: DiskPower::read(keys)?,
            faults: DiskFaults::read(keys, surfaces, blocks)?,
            surfaces,
            cylinders,
            mapping,
            zones,
        })
    }

    /// The mechanical part as a mechanism.
    pub fn disk(&self) -> Disk {
        let disk = Disk::new(Arc::clone(&self.drive)).with_power(self.power);
        disk.with_faults(self.faults.as_ref())
    }

    /// The zones, from the outer edge inwards.
    pub fn zones(&self) -> &[ZoneSpec] {
        &self.zones
    }

    /// Revolutions a minute.
    pub fn rpm(&self) -> f64 {
        60.0 / self.drive.rotation.revolution_s()
    }

    /// Whether it reports writes before they are on the media.
    pub fn reports_early(&self) -> bool {
        let buffer = self.settings.buffer.as_ref();
        let writes_back = buffer.is_some_and(|buffer| buffer.write_back != WriteBack::None);
        writes_back || self.settings.cache.is_some()
    }

    /// Builds the device as a model.
    pub fn build(&self, name: &str, device: u16, scheduler: Box<dyn Scheduler>) -> Box<dyn Model> {
        Box::new(Controller::new(name, device, self.disk(), scheduler, self.settings.clone()))
    }

    /// Quantities derived from the spec, with units in their names.
    pub fn derived(&self) -> Derived {
        let drive = &self.drive;
        let revolution_s = drive.rotation.revolution_s();
        let rate_mb_s =
            |sectors: u32| 1e-6 * f64::from(sectors) * BLOCK_BYTES as f64 / revolution_s;
        let widest = self.zones.iter().map(|zone| zone.blocks_per_track).max();
        Derived {
            cylinders: self.cylinders,
            surfaces: self.surfaces,
            zones: self.zones.len(),
            capacity: Capacity::of(drive.geometry.blocks()),
            revolution_ms: 1e3 * revolution_s,
            mean_seek_ms: drive.seeks.mean_ms(),
            full_seek_ms: drive.seeks.full_ms(),
            seek_zero_ms: drive.seeks.staying().ms(),
            media_mb_s: rate_mb_s(widest.unwrap_or(0)),
            streaming_mb_s: self.streaming_mb_s(revolution_s),
        }
    }

    /// Rate of a sequential read of the first zone, including skews.
    fn streaming_mb_s(&self, revolution_s: f64) -> f64 {
        let zone = &self.zones[0];
        // A switch longer than its skew costs whole revolutions.
        let pause = |skew: u64, switch: Nanos| {
            let skew = skew as f64 / 2f64.powi(64);
            skew + (switch.s() / revolution_s - skew).max(0.0).ceil()
        };
        // Tracks of a band, which is a cylinder if the mapping has none.
        let band = self.mapping.band().min(zone.last_cylinder - zone.first_cylinder + 1);
        let tracks = f64::from(self.surfaces) * f64::from(band);
        let switches = f64::from(self.surfaces - 1);
        let neighbour = self.drive.seeks.time(self.cylinders.min(2) - 1);
        let revolutions = tracks
            + switches * pause(zone.track_skew, self.drive.head_switch)
            + (tracks - switches) * pause(zone.cylinder_skew, neighbour);
        let bytes = tracks * f64::from(zone.blocks_per_track) * BLOCK_BYTES as f64;
        1e-6 * bytes / (revolutions * revolution_s)
    }
}

/// Quantities derived from the spec of a disk.
#[derive(Clone, Debug, Serialize)]
pub struct Derived {
    /// Positions of the arm.
    pub cylinders: u32,
    /// Sides of platters with a head.
    pub surfaces: u32,
    /// Ranges of cylinders with tracks of one length.
    pub zones: usize,
    /// What it holds.
    #[serde(flatten)]
    pub capacity: Capacity,
    /// The time of a revolution.
    pub revolution_ms: f64,
    /// The mean time of a seek.
    pub mean_seek_ms: f64,
    /// The time of the longest seek.
    pub full_seek_ms: f64,
    /// The time of a seek to the same cylinder.
    pub seek_zero_ms: f64,
    /// The rate inside the longest track.
    pub media_mb_s: f64,
    /// The rate of a sequential read of the first zone, including skews.
    pub streaming_mb_s: f64,
}

fn time() -> Range {
    Range::at_least(0.0).at_most(LONGEST_MS)
}

fn read_rotation(keys: &mut Keys) -> Result<Rotation> {
    let turn = Range::at_least(0.0).below(1.0);
    let start = keys.opt_f64("start_angle_revolutions", turn)?;
    let start = angle_of(start.unwrap_or(0.0));
    let revolution_ms = Range::at_least(0.06).at_most(60_000.0);
    let revolution_ms = keys.opt_f64("revolution_ms", revolution_ms)?;
    let rpm = Range::at_least(1.0).at_most(1e6);
    match (revolution_ms, keys.has("rpm")) {
        (Some(ms), false) => Ok(Rotation::of_period_ps((ms * 1e9).round() as u64, start)),
        (Some(_), true) => Err(keys.refuse("revolution_ms", "must not be given along with rpm")),
        (None, _) => Ok(Rotation::of_rpm(keys.f64("rpm", rpm)?, start)),
    }
}

/// Reads the mapping and the width of its bands.
fn read_mapping(keys: &mut Keys, surfaces: u32) -> Result<Mapping> {
    let most = MAX_CYLINDERS / surfaces;
    match keys.choice("mapping", &Mapping::NAMED)? {
        Mapping::SerpentineBands(_) => {
            Ok(Mapping::SerpentineBands(keys.u32("band_cylinders", 1..=most)?))
        }
        mapping => match keys.opt_u32("band_cylinders", 1..=most)? {
            None => Ok(mapping),
            Some(_) => {
                let must = "must be left out unless mapping is \"serpentine_bands\"";
                Err(keys.refuse("band_cylinders", must))
            }
        },
    }
}

fn read_sparing(keys: &mut Keys, mapping: Mapping) -> Result<Sparing> {
    let mut sparing = keys.choice("sparing", &Sparing::NAMED)?;
    let by_cylinders =
        matches!(sparing.range, sparing::Range::Cylinder | sparing::Range::Cylinders(_));
    if by_cylinders && matches!(mapping, Mapping::SerpentineBands(_)) {
        let must = "must be none, or by tracks, zones or the disk, where mapping is \"serpentine_bands\": blocks do not follow each other on a cylinder";
        return Err(keys.refuse("sparing", must));
    }
    let given = keys.opt_u32("sparing_range_cylinders", 1..=MAX_CYLINDERS)?;
    match (&mut sparing.range, given) {
        (sparing::Range::Cylinders(count), Some(given)) => *count = given,
        (sparing::Range::Cylinders(_), None) => {
            // Missing: report it as any missing key.
            keys.u32("sparing_range_cylinders", 1..=MAX_CYLINDERS)?;
        }
        (_, Some(_)) => {
            let must = "must be left out unless sparing is \"range_end\"";
            return Err(keys.refuse("sparing_range_cylinders", must));
        }
        _ => {}
    }
    Ok(sparing)
}

fn read_zones(keys: &mut Keys, sparing: Sparing) -> Result<(Vec<ZoneSpec>, Vec<Keys>)> {
    let mut tables = keys.take_tables("zone")?;
    if tables.is_empty() {
        return Err(keys.missing("zone", "one table [[zone]] per zone"));
    }
    let read = |zone: &mut Keys| read_zone(zone, sparing);
    let zones = tables.iter_mut().map(read).collect::<Result<_>>()?;
    Ok((zones, tables))
}

fn read_zone(zone: &mut Keys, sparing: Sparing) -> Result<ZoneSpec> {
    const ANY: std::ops::RangeInclusive<u64> = 0..=1 << 50;
    let first_cylinder = zone.u32("first_cylinder", 0..=MAX_CYLINDERS - 1)?;
    let last_cylinder = zone.u32("last_cylinder", first_cylinder..=MAX_CYLINDERS - 1)?;
    let sectors = zone.u32("blocks_per_track", 1..=100_000)?;
    let spares = zone.opt_u64("spares", 0..=1 << 40)?.unwrap_or(0);
    let slips = zone.opt_u64s("slips", ANY)?;
    if spares > 0 && sparing.range == sparing::Range::None {
        return Err(zone.refuse("spares", "must be 0 if sparing is \"none\""));
    }
    Ok(ZoneSpec {
        first_cylinder,
        last_cylinder,
        blocks_per_track: sectors,
        offset: angle(zone, "offset_sectors", "offset_revolutions", sectors, false)?,
        track_skew: angle(zone, "track_skew_sectors", "track_skew_revolutions", sectors, true)?,
        cylinder_skew: angle(
            zone,
            "cylinder_skew_sectors",
            "cylinder_skew_revolutions",
            sectors,
            true,
        )?,
        reserved: zone.opt_u64("reserved_blocks", ANY)?.unwrap_or(0),
        spares,
        slips: slips.unwrap_or_default(),
        defects: zone.opt_u64_rows("defects", ANY)?.unwrap_or_default(),
    })
}

/// Reads an angle in sectors or in revolutions; 0 if optional and missing.
fn angle(
    zone: &mut Keys,
    in_sectors: &str,
    turns: &str,
    sectors: u32,
    needed: bool,
) -> Result<u64> {
    let within = Range::at_least(0.0).below(f64::from(sectors));
    let revolutions = zone.opt_f64(turns, Range::at_least(0.0).below(1.0))?;
    match (zone.opt_f64(in_sectors, within)?, revolutions) {
        (Some(_), Some(_)) => {
            let must = format!("must not be given along with {in_sectors}");
            Err(zone.refuse(turns, must))
        }
        (Some(count), None) => Ok(share(count, sectors)),
        (None, Some(part)) => Ok(angle_of(part)),
        (None, None) if needed => zone.f64(in_sectors, within).map(|_| 0),
        (None, None) => Ok(0),
    }
}

/// Checks that zones are in order, and that every cylinder is in one or listed as
/// unused.
fn check_cylinders(
    keys: &mut Keys,
    zones: &[ZoneSpec],
    zone_keys: &[Keys],
    cylinders: u32,
) -> Result<()> {
    let wanted = "a cylinder or a list of the first and the last";
    let cylinder = |value: &toml_edit::Value| {
        let number = u32::try_from(value.as_integer()?).ok()?;
        (number < MAX_CYLINDERS).then_some(number)
    };
    let unused = keys.opt_list("unused_cylinders", wanted, |value| {
        let Some(pair) = value.as_array() else {
            return cylinder(value).map(|number| (number, number));
        };
        let pair = (cylinder(pair.get(0)?)?, cylinder(pair.get(1)?)?, pair.len());
        (pair.2 == 2 && pair.0 <= pair.1).then_some((pair.0, pair.1))
    })?;
    let unused = unused.unwrap_or_default();
    // The first cylinder from `next` on that is not listed.
    let used = |mut next: u32| {
        while let Some(&(_, last)) = unused.iter().find(|&&(a, b)| (a..=b).contains(&next)) {
            next = last + 1;
        }
        next
    };
    let mut next = 0;
    for (index, (zone, own)) in zones.iter().zip(zone_keys).enumerate() {
        let free = used(next);
        if zone.last_cylinder >= cylinders {
            let must = format!("must be below the number of cylinders ({cylinders})");
            return Err(own.refuse("last_cylinder", must));
        }
        if zone.first_cylinder != free {
            let must = if zone.first_cylinder < next {
                format!("must be {free}: cylinders below are in zone[{}]", index - 1)
            } else {
                format!(
                    "must be {free}: cylinders between two zones are listed in unused_cylinders"
                )
            };
            return Err(own.refuse("first_cylinder", must));
        }
        next = zone.last_cylinder + 1;
    }
    for (item, &(first, last)) in unused.iter().enumerate() {
        let within = |zone: &&ZoneSpec| zone.first_cylinder <= last && first <= zone.last_cylinder;
        if last >= cylinders || zones.iter().any(|zone| within(&zone)) {
            let must = format!("must be below {cylinders} and in no zone");
            return Err(keys.refuse_item("unused_cylinders", item, must));
        }
    }
    if used(next) == cylinders {
        return Ok(());
    }
    let must = format!(
        "must be {next}, as the last zone ends there: cylinders behind it are listed in unused_cylinders"
    );
    Err(keys.refuse("cylinders", must))
}

/// Reports a flaw of the geometry with its line.
fn refuse(keys: &Keys, zones: &[Keys], flaw: &GeometryError) -> sledsim_base::error::Error {
    let keys = flaw.zone.map_or(keys, |zone| &zones[zone]);
    match flaw.key {
        (key, Some(item)) => keys.refuse_item(key, item, &flaw.must),
        (key, None) => keys.refuse(key, &flaw.must),
    }
}

/// Handling of measured seek times that fall with the distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Falls {
    Refuse,
    Keep,
    Smooth,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Curve {
    Table,
    ThreePart,
    Hpl,
    Datasheet,
}

/// Reads seek times in ms for 1 cylinder and more.
fn read_seeks(keys: &mut Keys, cylinders: u32) -> Result<Vec<f64>> {
    let longest = cylinders - 1;
    let model = keys.choice(
        "seek",
        &[
            ("table", Curve::Table),
            ("three_part", Curve::ThreePart),
            ("hpl", Curve::Hpl),
            ("datasheet", Curve::Datasheet),
        ],
    )?;
    match model {
        Curve::Table => read_table(keys, longest),
        Curve::ThreePart => {
            let rate = Range::at_least(1e-3).at_most(1e12);
            let arm = ThreePart {
                acceleration: keys.f64("seek_acceleration_cylinders_per_ms2", rate)?,
                top_speed: keys.f64("seek_top_speed_cylinders_per_ms", rate)?,
                settle_ms: keys.f64("seek_settle_ms", time())?,
            };
            let times = seek::three_part(&arm, longest);
            if times.last().is_some_and(|&full| full > LONGEST_MS) {
                let must = format!("must give a full stroke of at most {LONGEST_MS} ms");
                return Err(keys.refuse("seek_top_speed_cylinders_per_ms", must));
            }
            Ok(times)
        }
        Curve::Hpl => read_hpl(keys, longest),
        Curve::Datasheet => {
            let min_ms = keys.f64("seek_min_ms", time())?;
            let full_ms = keys.f64("seek_full_ms", Range::at_least(min_ms).at_most(LONGEST_MS))?;
            let two = Range::at_least(min_ms).at_most(full_ms);
            let two_ms = keys.opt_f64("seek_two_cylinders_ms", two)?;
            if longest < 2 && two_ms.is_none() {
                return Ok(vec![min_ms; longest as usize]);
            }
            let least = if two_ms.is_some() { 5 } else { 4 };
            if longest + 1 < least {
                let must = format!("must be \"table\" for a disk of fewer than {least} cylinders");
                return Err(keys.refuse("seek", must));
            }
            let sheet = Datasheet { min_ms, two_ms, full_ms, longest };
            let (least, most) = sheet.average_limits_ms();
            let average = Range::at_least(least).at_most(most);
            let average_ms = keys.f64("seek_average_ms", average)?;
            Ok(sheet.times_ms(average_ms))
        }
    }
}

fn read_falls(keys: &mut Keys) -> Result<Falls> {
    let falls = keys.opt_choice(
        "seek_falls",
        &[("refuse", Falls::Refuse), ("keep", Falls::Keep), ("smooth", Falls::Smooth)],
    )?;
    Ok(falls.unwrap_or(Falls::Refuse))
}

fn read_table(keys: &mut Keys, longest: u32) -> Result<Vec<f64>> {
    const KEY: &str = "seek_table_ms";
    let distance = Range::at_least(1.0).at_most(f64::from(MAX_CYLINDERS));
    let points = keys.opt_f64_rows(KEY, [distance, time()])?;
    let Some(mut points) = points.filter(|points| !points.is_empty()) else {
        return Err(keys.missing(KEY, "a list of at least one [cylinders, ms]"));
    };
    let falls = read_falls(keys)?;
    for (item, pair) in points.windows(2).enumerate() {
        let [[near, less], [far, more]] = [pair[0], pair[1]];
        if far <= near {
            let must = format!("must be more than the {near} cylinders before it");
            return Err(keys.refuse_item(KEY, item + 1, must));
        }
        if more < less && falls == Falls::Refuse {
            let must = format!(
                "must be at least the {less} ms for {near} cylinders, or seek_falls must say what to do"
            );
            return Err(keys.refuse_item(KEY, item + 1, must));
        }
    }
    if falls == Falls::Smooth {
        let times: Vec<f64> = points.iter().map(|point| point[1]).collect();
        for (point, time) in points.iter_mut().zip(seek::rising(&times)) {
            point[1] = time;
        }
    }
    Ok(seek::table(&points, longest))
}

fn read_hpl(keys: &mut Keys, longest: u32) -> Result<Vec<f64>> {
    let coefficients = |keys: &mut Keys, key: &str| -> Result<[f64; 2]> {
        let given = keys.opt_f64s(key, Range::at_least(-1e6).at_most(1e6))?;
        if given.is_none() {
            return Err(keys.missing(key, "a list of 2 numbers"));
        }
        let pair = given.and_then(|pair| <[f64; 2]>::try_from(pair).ok());
        pair.ok_or_else(|| keys.refuse(key, "must be a list of 2 numbers"))
    };
    let curve = Hpl {
        knee_cylinders: keys.u32("seek_knee_cylinders", 0..=MAX_CYLINDERS)?,
        short_ms: coefficients(keys, "seek_short_ms")?,
        long_ms: coefficients(keys, "seek_long_ms")?,
        first_ms: keys.opt_f64s("seek_first_ms", time())?.unwrap_or_default(),
    };
    let falls = read_falls(keys)?;
    let times = seek::hpl(&curve, longest);
    // Refuses the key of the time at `index`, counted from 0.
    let refuse = |keys: &Keys, index: usize, must: String| {
        if index < curve.first_ms.len() {
            keys.refuse_item("seek_first_ms", index, must)
        } else if index + 1 < curve.knee_cylinders as usize {
            keys.refuse("seek_short_ms", must)
        } else {
            keys.refuse("seek_long_ms", must)
        }
    };
    if let Some(index) = times.iter().position(|&time| !(0.0..=LONGEST_MS).contains(&time)) {
        let must = format!(
            "must give times of 0 to {LONGEST_MS} ms, not {} for {} cylinders",
            times[index],
            index + 1
        );
        return Err(refuse(keys, index, must));
    }
    match falls {
        Falls::Keep => Ok(times),
        Falls::Smooth => Ok(seek::rising(&times)),
        Falls::Refuse => match times.windows(2).position(|pair| pair[1] < pair[0]) {
            None => Ok(times),
            Some(index) => {
                let must = format!(
                    "must not fall from {} ms for {} cylinders to {} ms for the next, or seek_falls must say what to do",
                    times[index],
                    index + 1,
                    times[index + 1]
                );
                Err(refuse(keys, index + 1, must))
            }
        },
    }
}
