//! Disks are read as their files define them, and seek models give their curves.

use crate::common::{device, entry};
use sledsim_base::keys::Keys;
use sledsim_core::catalog::Device;
use sledsim_core::devices::disk::seek::{
    Datasheet, Hpl, Seeks, ThreePart, hpl, rising, table, three_part,
};
use sledsim_core::devices::disk::spec::DiskSpec;

/// The seek of an HP C2247A without its first cylinders.
pub const HPL: &str = "seek = 'hpl'\nseek_knee_cylinders = 300\nseek_short_ms = [3.81, 0.33]
seek_long_ms = [7.75, 0.0059]\n";

/// Two zones, one unused cylinder between them.
pub const SMALL: &str = "\
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

    let from = SMALL.find("seek =").expect("a seek");
    let to = SMALL.find("[[zone]]").expect("zones");
    for (more, distance, ns) in
        [("", 16, 5_130_000), ("seek_first_ms = [4.2, 4.0]\nseek_falls = 'keep'\n", 2, 4_000_000)]
    {
        let device = read(&format!("{}{HPL}{more}{}", &SMALL[..from], &SMALL[to..]));
        let device = device.expect("a device");
        assert_eq!(device.disk().expect("a disk").drive.seeks.time(distance).0, ns);
    }
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
