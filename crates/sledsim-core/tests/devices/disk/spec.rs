//! Disks are read as their files define them, errors are reported with their line, and
//! seek models give their curves.

use crate::common::{device, entry};
use sledsim_base::keys::Keys;
use sledsim_core::catalog::Device;
use sledsim_core::devices::disk::seek::{
    Datasheet, Hpl, Seeks, ThreePart, hpl, rising, table, three_part,
};
use sledsim_core::devices::disk::spec::DiskSpec;

/// Two zones, one unused cylinder between them.
const SMALL: &str = "\
title = 'small'
kind = 'disk'
surfaces = 2
cylinders = 21
rpm = 6000
mapping = 'ascending'
sparing = 'track_end'
unused_cylinders = [10]
blocks = 759
head_switch_ms = 0.5
write_settle_ms = 0
zero_latency_read = false
zero_latency_write = false
command_overhead_ms = 0
bus_ms_per_block = 0
seek = 'table'
seek_table_ms = [
  [1, 1.0],
  [10, 2.5],
  [20, 2.5],
]

[[zone]]
first_cylinder = 0
last_cylinder = 9
blocks_per_track = 21
track_skew_sectors = 3
cylinder_skew_sectors = 5
spares = 1
slips = [30, 31]
defects = [[40, 20]]

[[zone]]
first_cylinder = 11
last_cylinder = 20
blocks_per_track = 20
track_skew_revolutions = 0.25
cylinder_skew_sectors = 5
spares = 2
";

fn read(text: &str) -> sledsim_base::error::Result<Device> {
    Device::from_keys(Keys::parse(text, "small.toml")?, None)
}

fn small() -> DiskSpec {
    read(SMALL).expect("a device").disk().expect("a disk").clone()
}

/// The message after replacing one text by another.
fn mistake(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    let result = read(&SMALL.replacen(from, to, 1));
    let message = result.expect_err(&format!("{from} -> {to}")).to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

#[test]
fn every_error_is_reported_with_its_line_and_key() {
    let table = [
        // Zones: gaps, overlaps, order.
        (
            "unused_cylinders = [10]",
            "",
            "small.toml:34: zone[1].first_cylinder = 11: must be 10: cylinders between two zones are listed in unused_cylinders",
        ),
        (
            "first_cylinder = 11",
            "first_cylinder = 9",
            "small.toml:34: zone[1].first_cylinder = 9: must be 11: cylinders below are in zone[0]",
        ),
        (
            "first_cylinder = 0",
            "first_cylinder = 1",
            "small.toml:24: zone[0].first_cylinder = 1: must be 0",
        ),
        (
            "last_cylinder = 9",
            "last_cylinder = -1",
            "small.toml:25: zone[0].last_cylinder = -1: must be an integer from 0",
        ),
        (
            "first_cylinder = 11",
            "first_cylinder = 21",
            "small.toml:35: zone[1].last_cylinder = 20: must be an integer from 21",
        ),
        (
            "cylinders = 21",
            "cylinders = 20",
            "small.toml:35: zone[1].last_cylinder = 20: must be below the number of cylinders (20)",
        ),
        (
            "cylinders = 21",
            "cylinders = 23",
            "small.toml:4: cylinders = 23: must be 21, as the last zone ends there",
        ),
        (
            "[10]",
            "[10, [3, 4]]",
            "small.toml:8: unused_cylinders[1] = [3, 4]: must be below 21 and in no zone",
        ),
        (
            "[10]",
            "[[10, 9]]",
            "small.toml:8: unused_cylinders[0] = [10, 9]: must be a cylinder or a list",
        ),
        // Slips and defects.
        ("[30, 31]", "[30, 420]", "small.toml:30: zone[0].slips[1] = 420: must be below 420"),
        (
            "[30, 31]",
            "[30, 7, 30]",
            "small.toml:30: zone[0].slips[2] = 30: must not be slipped twice",
        ),
        (
            "[[40, 20]]",
            "[[30, 20]]",
            "small.toml:31: zone[0].defects[0] = [30, 20]: must not overlap another defect or a slip",
        ),
        (
            "[[40, 20]]",
            "[[40, 20], [40, 62]]",
            "small.toml:31: zone[0].defects[1] = [40, 62]: must not overlap",
        ),
        (
            "[[40, 20]]",
            "[[40, 20],\n[50, 20]]",
            "small.toml:32: zone[0].defects[1] = [50, 20]: must end in a spare that replaces nothing else",
        ),
        ("[[40, 20]]", "[[40, 19]]", "must end in a spare"),
        (
            "[[40, 20]]",
            "[[40, 62], [62, 20]]",
            "small.toml:31: zone[0].defects[0] = [40, 62]: must not end in a place that is bad itself",
        ),
        ("[[40, 20]]", "[[40, 31]]", "must not end in a place that is bad itself"),
        ("[[40, 20]]", "[[420, 20]]", "must begin below 420"),
        ("[[40, 20]]", "[[40, 820]]", "must end in a place of the drive"),
        ("[[40, 20]]", "[[40, 20, 1]]", "must be a list of 2"),
        // Capacity.
        (
            "blocks = 759",
            "blocks = 760",
            "small.toml:9: blocks = 760: must be 759, which is what the zones hold less",
        ),
        (
            "spares = 1",
            "spares = 21",
            "small.toml:29: zone[0].spares = 21: must be less than the 21 sectors of a range",
        ),
        (
            "spares = 2",
            "spares = 2\nreserved_blocks = 399",
            "must leave blocks in the zone of 400 sectors",
        ),
        (
            "blocks = 759",
            "unused_end_blocks = 759",
            "small.toml:9: unused_end_blocks = 759: must leave blocks to the drive",
        ),
        (
            "'track_end'",
            "'none'",
            "small.toml:29: zone[0].spares = 1: must be 0 if sparing is \"none\"",
        ),
        ("'track_end'", "'range_end'", "small.toml: missing key 'sparing_range_cylinders'"),
        (
            "blocks = 759",
            "sparing_range_cylinders = 2",
            "small.toml:9: sparing_range_cylinders = 2: must be left out",
        ),
        ("'ascending'", "'serpentine_bands'", "small.toml: missing key 'band_cylinders'"),
        (
            "'ascending'",
            "'ascending'\nband_cylinders = 2",
            "small.toml:7: band_cylinders = 2: must be left out unless mapping is \"serpentine_bands\"",
        ),
        (
            "'ascending'",
            "'serpentine_bands'\nband_cylinders = 0",
            "small.toml:7: band_cylinders = 0: must be an integer from 1 to 2097152",
        ),
        (
            "'ascending'\nsparing = 'track_end'",
            "'serpentine_bands'\nband_cylinders = 2\nsparing = 'cylinder_end'",
            "small.toml:8: sparing = 'cylinder_end': must be none, or by tracks, zones or the disk",
        ),
        // Curves of a datasheet.
        (
            "seek = 'table'",
            "seek = 'datasheet'\nseek_min_ms = 1\nseek_full_ms = 3\nseek_two_cylinders_ms = 4",
            "seek_two_cylinders_ms = 4: must be at least 1 and at most 3",
        ),
        (
            "seek = 'table'",
            "seek = 'table'\nseek_two_cylinders_ms = 2",
            "unknown key 'seek_two_cylinders_ms'",
        ),
        ("'track_end'", "'trak_end'", "small.toml:7: sparing = 'trak_end': must be \"none\", "),
        // Skews.
        (
            "track_skew_sectors = 3",
            "track_skew_sectors = 21",
            "small.toml:27: zone[0].track_skew_sectors = 21: must be at least 0 and below 21",
        ),
        (
            "track_skew_sectors = 3\n",
            "",
            "small.toml: missing key 'zone[0].track_skew_sectors' (a number",
        ),
        (
            "track_skew_sectors = 3\n",
            "track_skew_sectors = 3\ntrack_skew_revolutions = 0.1\n",
            "small.toml:28: zone[0].track_skew_revolutions = 0.1: must not be given along with track_skew_sectors",
        ),
        // Rotation.
        (
            "rpm = 6000",
            "rpm = 6000\nrevolution_ms = 10",
            "small.toml:6: revolution_ms = 10: must not be given along with rpm",
        ),
        ("rpm = 6000\n", "", "small.toml: missing key 'rpm'"),
        ("rpm = 6000", "rpm = inf", "small.toml:5: rpm = inf: must be at least 1"),
        // Seeks.
        (
            "[20, 2.5]",
            "[20, 2.4]",
            "small.toml:20: seek_table_ms[2] = [20, 2.4]: must be at least the 2.5 ms for 10 cylinders",
        ),
        (
            "[20, 2.5]",
            "[10, 3]",
            "small.toml:20: seek_table_ms[2] = [10, 3]: must be more than the 10 cylinders before it",
        ),
        ("[1, 1.0]", "[0, 1.0]", "small.toml:18: seek_table_ms[0] = [0, 1.0]: must be a list of 2"),
        ("[1, 1.0]", "[1, nan]", "small.toml:18: seek_table_ms[0]"),
        (
            "'table'",
            "'tabel'",
            "small.toml:16: seek = 'tabel': must be \"table\", \"three_part\", \"hpl\" or \"datasheet\"",
        ),
        ("'table'", "'datasheet'", "small.toml: 3 keys are missing: seek_min_ms, seek_full_ms"),
        // Unknown keys.
        (
            "spares = 2",
            "sparse = 2",
            "small.toml:39: unknown key 'zone[1].sparse'; did you mean 'zone[1].spares'?",
        ),
        ("[[zone]]", "[zone]", "small.toml:33: duplicate key"),
        ("rpm = 6000", "rpm = 6000\npatience = 1", "small.toml:6: unknown key 'patience'"),
    ];
    for (from, to, says) in table {
        let message = mistake(from, to);
        assert!(message.contains(says), "{from} -> {to}:\n{message}\n{says}");
    }
    let none = &SMALL[..SMALL.find("[[zone]]").expect("zones")];
    let message = read(none).expect_err("no zones").to_string();
    assert_eq!(message, "small.toml: zone: missing; must be one table [[zone]] per zone");
}

#[test]
fn the_small_drive_has_the_blocks_counted_by_hand() {
    let spec = small();
    // 20 tracks of 21 less one spare, two slips on a track with one spare take
    // one more block; 20 tracks of 20 less two.
    let blocks = 20 * 20 - 1 + 20 * 18;
    assert_eq!(spec.drive.geometry.blocks(), blocks);
}

#[test]
fn a_table_is_interpolated_linearly() {
    let times = table(&[[1.0, 1.0], [10.0, 2.8], [20.0, 2.5]], 30);
    for (distance, ms) in
        [(1, 1.0), (2, 1.2), (9, 2.6), (10, 2.8), (15, 2.65), (20, 2.5), (30, 2.5)]
    {
        let own: f64 = times[distance - 1];
        assert!((own - ms).abs() < 1e-12, "{distance}: {own}");
    }
    // Before the first point the time is constant.
    assert_eq!(table(&[[3.0, 2.0], [4.0, 3.0]], 4), [2.0, 2.0, 2.0, 3.0]);
    let seeks = Seeks::new(&times, 0.0);
    assert_eq!(seeks.time(0).0, 0);
    assert_eq!(seeks.time(2).0, 1_200_000);
    // The bound looks ahead: from 10 cylinders on there is one of 2.5 ms.
    assert_eq!(seeks.at_least(10).0, 2_500_000);
    assert_eq!(seeks.at_least(2).0, 1_200_000);
    assert_eq!(seeks.longest(), 30);
}

#[test]
fn smoothing_finds_the_nearest_rising_curve() {
    // By hand: an outlier takes the value of its calmer neighbour.
    assert_eq!(rising(&[1.0, 9.0, 2.0, 3.0]), [1.0, 2.0, 2.0, 3.0]);
    assert_eq!(rising(&[3.0, 4.0, 0.5, 5.0]), [3.0, 3.0, 3.0, 5.0]);
    // By search: no rising curve on a grid has a smaller sum of deviations.
    let mut random = sledsim_base::random::Stream::new(2, "curves");
    for _ in 0..300 {
        let times: Vec<f64> = (0..5).map(|_| random.below(6) as f64).collect();
        let own = rising(&times);
        assert!(own.is_sorted(), "{times:?} {own:?}");
        let cost =
            |curve: &[f64]| -> f64 { curve.iter().zip(&times).map(|(a, b)| (a - b).abs()).sum() };
        let mut least = f64::MAX;
        for code in 0..6_usize.pow(5) {
            let digit = |place: u32| (code / 6_usize.pow(place) % 6) as f64;
            let curve: Vec<f64> = (0..5).map(digit).collect();
            if curve.is_sorted() {
                least = least.min(cost(&curve));
            }
        }
        assert_eq!(cost(&own), least, "{times:?} {own:?}");
    }
    let roughness = |falls| {
        let device = device("atlas10k", &[("seek_falls", falls)]);
        let drive = &device.disk().expect("a disk").drive;
        (1..10_041).filter(|&d| drive.seeks.time(d + 1) < drive.seeks.time(d)).count()
    };
    assert!(roughness("'keep'") > 1000);
    assert_eq!(roughness("'smooth'"), 0);
}

#[test]
fn hpl_coefficients_give_the_published_curve() {
    // HP C2247A, from its DiskSim parameter file.
    let first = [2.89, 3.68, 3.81, 3.98, 4.27, 4.65, 4.52, 4.65, 4.82, 4.99];
    let mut curve = Hpl {
        knee_cylinders: 300,
        short_ms: [3.81, 0.33],
        long_ms: [7.75, 0.0059],
        first_ms: first.to_vec(),
    };
    let times = hpl(&curve, 2050);
    assert_eq!(times[..10], first);
    for (distance, ms) in [(16, 5.13), (100, 7.11), (289, 9.42), (300, 9.52), (1000, 13.65)] {
        assert!((times[distance - 1] - ms).abs() < 1e-9, "{distance}");
    }
    curve.first_ms.clear();
    assert!((hpl(&curve, 4)[3] - 4.47).abs() < 1e-9, "the curve from the start");

    let seek = "seek = 'hpl'\nseek_knee_cylinders = 300\nseek_short_ms = [3.81, 0.33]\nseek_long_ms = [7.75, 0.0059]\n";
    let from = SMALL.find("seek =").expect("a seek");
    let to = SMALL.find("[[zone]]").expect("zones");
    let with = |seek: &str| read(&format!("{}{seek}{}", &SMALL[..from], &SMALL[to..]));
    let message = |seek: &str| with(seek).expect_err(seek).to_string();
    let device = with(seek).expect("a device");
    let seeks = &device.disk().expect("a disk").drive.seeks;
    assert_eq!(seeks.time(16).0, 5_130_000);
    assert!(message(&format!("{seek}seek_first_ms = [\n4.2,\n4.0]\n")).starts_with(
        "small.toml:22: seek_first_ms[1] = 4.0: must not fall from 4.2 ms for 1 cylinders to 4 ms"
    ),);
    let device = with(&format!("{seek}seek_first_ms = [4.2, 4.0]\nseek_falls = 'keep'\n"));
    assert_eq!(device.expect("a device").disk().expect("a disk").drive.seeks.time(2).0, 4_000_000);
    let falling = seek.replace("0.33", "-0.33");
    assert!(
        message(&falling).contains("small.toml:18: seek_short_ms = [3.81, -0.33]: must not fall")
    );
    let negative = seek.replace("3.81", "-9");
    assert!(
        message(&negative).contains("must give times of 0 to 1000 ms, not -8.67 for 1 cylinders")
    );
    let three = seek.replace("[3.81, 0.33]", "[3.81]");
    assert!(message(&three).contains("seek_short_ms = [3.81]: must be a list of 2 numbers"));
}

#[test]
fn a_three_part_seek_obeys_the_equations_of_motion() {
    // 2 cylinders/ms2 up to 40 cylinders/ms: 400 cylinders to speed up, as
    // many to slow down. Integrated in small steps.
    let arm = ThreePart { acceleration: 2.0, top_speed: 40.0, settle_ms: 0.7 };
    let times = three_part(&arm, 5000);
    assert!(times.is_sorted());
    for distance in [1_usize, 10, 799, 800, 801, 2000, 5000] {
        let (mut place, mut speed, mut now, step) = (0.0_f64, 0.0_f64, 0.0, 1e-5);
        while place < distance as f64 {
            // Brake when the remaining distance is the braking distance.
            let left = distance as f64 - place;
            let braking = speed * speed / (2.0 * arm.acceleration) >= left;
            let push = if braking { -arm.acceleration } else { arm.acceleration };
            let next = (speed + push * step).min(arm.top_speed);
            if next <= 0.0 {
                break;
            }
            place += 0.5 * (speed + next) * step;
            speed = next;
            now += step;
        }
        let own = times[distance - 1] - arm.settle_ms;
        assert!((own - now).abs() < 0.01 + 0.002 * own, "{distance}: {own} {now}");
    }
}

#[test]
fn a_datasheet_curve_meets_all_its_times() {
    for two_ms in [None, Some(2.0)] {
        let sheet = Datasheet { min_ms: 0.8, two_ms, full_ms: 10.5, longest: 9999 };
        let times = sheet.times_ms(5.0);
        assert!(times.is_sorted());
        assert!((times[0] - 0.8).abs() < 1e-12 && (times[9998] - 10.5).abs() < 1e-9);
        assert!(two_ms.is_none_or(|two_ms| (times[1] - two_ms).abs() < 1e-12));
        // The average of all moves between two of 10,000 cylinders, one by one in
        // a coarser drive.
        let mut sum = 0.0;
        let mut moves = 0.0;
        for from in (0..10_000_usize).step_by(7) {
            for to in 0..10_000_usize {
                if from != to {
                    sum += times[from.abs_diff(to) - 1];
                    moves += 1.0;
                }
            }
        }
        let mean: f64 = sum / moves;
        assert!((mean - 5.0).abs() < 1e-3, "{mean}");
        // At the limits the curve is level at one of its ends, beyond them it falls.
        let (least, most) = sheet.average_limits_ms();
        assert!(least < 5.0 && 5.0 < most, "{least} {most}");
        for (average, rises) in
            [(least + 1e-3, true), (least - 1e-3, false), (most - 1e-3, true), (most + 1e-3, false)]
        {
            assert_eq!(sheet.times_ms(average).is_sorted(), rises, "{average}");
        }
    }
    // Few cylinders, where the moves by one weigh much: four, three, two moves and one.
    let sheet = Datasheet { min_ms: 1.0, two_ms: Some(4.0), full_ms: 6.0, longest: 4 };
    let times = sheet.times_ms((4.0 * 1.0 + 3.0 * 4.0 + 2.0 * 5.0 + 6.0) / 10.0);
    assert!(times.iter().zip([1.0, 4.0, 5.0, 6.0]).all(|(a, b)| (a - b).abs() < 1e-9), "{times:?}");
    let device = device("superdisk", &[]);
    let seeks = &device.disk().expect("a disk").drive.seeks;
    assert!((seeks.mean_ms() - 3.0).abs() < 1e-3, "{}", seeks.mean_ms());
    assert!((seeks.full_ms() - 5.853).abs() < 1e-6);
    let over = [("seek_average_ms", "5.9".parse().expect("a value"), "--set".to_owned())];
    let over = over.map(|(key, value, origin)| (key.to_owned(), value, origin));
    let message = Device::resolve("superdisk", &over).expect_err("too slow").to_string();
    assert!(message.contains("seek_average_ms = 5.9: must be at least"), "{message}");
}

#[test]
fn a_revolution_may_be_given_by_its_time() {
    let by_time = read(&SMALL.replace("rpm = 6000", "revolution_ms = 10")).expect("a device");
    let by_time = &by_time.disk().expect("a disk").drive.rotation;
    let by_rpm = small().drive.rotation;
    for at in [0, 1, 9_999_999, 123_456_789_012_345, u64::MAX] {
        let at = sledsim_base::units::Nanos(at);
        assert_eq!(by_time.angle(at), by_rpm.angle(at));
    }
    assert!((by_rpm.revolution_s() - 0.01).abs() < 1e-15);
}

#[test]
fn overrides_can_change_a_zone() {
    let over = [("zone[23].spares", "458")];
    let device = device("atlas10k", &[("unused_end_blocks", "27738"), over[0]]);
    assert_eq!(entry(&device, "zone[23].spares").0.as_integer(), Some(458));
    let slips = entry(&device, "zone[0].slips").0.as_array().expect("a list");
    assert_eq!(slips.get(1).and_then(toml_edit::Value::as_integer), Some(358_148));
    assert_eq!(device.blocks(), 17_938_986);
}
