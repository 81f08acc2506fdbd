//! Accesses of small random drives, compared with a simulation that steps from sector
//! to sector in exact fractions; and properties of any drive.

use super::drives::{self, Drive, cases, drive};
use proptest::prelude::*;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::devices::disk::rotation::Rotation;
use sledsim_core::devices::disk::{Arm, Disk, Pass, PassMode};
use sledsim_core::model::mechanism::{Mechanism, Step};
use std::cell::Cell;

const MINUTE_NS: i128 = 60_000_000_000;

/// The boundaries between the sectors of a track, numbered from angle 0 of
/// the revolution in which time begins.
struct Track<'a> {
    drive: &'a Drive,
    sectors: i128,
}

impl Track<'_> {
    /// When boundary `number` passes, truncated to ns.
    fn time(&self, number: i128) -> Nanos {
        let (start, rpm) = (i128::from(self.drive.start), i128::from(self.drive.rpm));
        let above = (7 * number - start * self.sectors) * MINUTE_NS;
        Nanos(above.div_euclid(7 * self.sectors * rpm) as u64)
    }

    /// The first boundary at `at` or later, with a tolerance of about a millionth of a
    /// nanosecond.
    fn next(&self, at: Nanos) -> i128 {
        let (start, rpm) = (i128::from(self.drive.start), i128::from(self.drive.rpm));
        let revolution = 7 * self.sectors * MINUTE_NS;
        let turned = start * self.sectors * MINUTE_NS + 7 * self.sectors * rpm * i128::from(at.0);
        -(-(turned - (revolution >> 41))).div_euclid(7 * MINUTE_NS)
    }
}

/// A pass found by the stepping simulation: begin, end, and when each block has passed.
struct Expected {
    first: Nanos,
    end: Nanos,
    passed: Vec<Nanos>,
}

/// Steps from sector to sector and accesses the wanted ones.
fn step_by_step(drive: &Drive, walk: &[drives::Sector], pass: &Pass) -> Expected {
    let blocks = pass.lbn..pass.lbn + u64::from(pass.blocks);
    let wanted: Vec<&drives::Sector> = blocks
        .map(|lbn| {
            let held = walk.iter().find(|sector| sector.lbn == Some(lbn));
            held.expect("every block is somewhere")
        })
        .collect();
    for sector in &wanted {
        let arm = Arm::at(sector.cylinder, sector.head);
        assert_eq!(arm, pass.arm, "one pass, one track");
    }
    let sectors = i128::from(drive.zones[wanted[0].zone].sectors);
    let track = Track { drive, sectors };
    let mut number = track.next(pass.arrive);
    let mut passed = vec![None; wanted.len()];
    let (mut first, mut left) = (None, wanted.len());
    while left > 0 {
        let physical = number.rem_euclid(sectors) as u32;
        let here = wanted.iter().position(|sector| sector.physical == physical);
        if let Some(block) = here
            && (drive.zero_latency || block == 0 || first.is_some())
        {
            assert_eq!(passed[block], None, "no sector is taken twice");
            first = first.or(Some(number));
            passed[block] = Some(track.time(number + 1));
            left -= 1;
        }
        number += 1;
    }
    Expected {
        first: track.time(first.expect("blocks")),
        end: track.time(number),
        passed: passed.into_iter().flatten().collect(),
    }
}

fn add(count: &Cell<usize>, more: usize) {
    count.set(count.get() + more);
}

fn close(one: Nanos, other: Nanos) -> bool {
    one.0.abs_diff(other.0) <= 1
}

/// When the head is on track.
fn arrival(drive: &Drive, at: Nanos, from: Arm, to: Arm, write: bool, access: bool) -> Nanos {
    let distance = from.cylinder.abs_diff(to.cylinder) as usize;
    if from == to && !access {
        return at;
    }
    let seek = match distance {
        0 if access => drive.staying_us,
        0 => 0,
        _ => drive.seeks_us[distance - 1],
    };
    let switch = if from.head == to.head { 0 } else { drive.head_switch_us };
    let settle = if write { drive.write_settle_us } else { 0 };
    let us = i64::from(seek.max(switch)) + i64::from(settle);
    at + Nanos(1000 * us.max(0) as u64)
}

fn disk(drive: &Drive) -> Option<Disk> {
    let device = drive.device().ok()?;
    Some(device.disk()?.disk())
}

/// Random requests back to back or with pauses, beginning late in the simulated time.
fn requests(disk: &Disk, count: u64, seed: u64) -> Vec<(Nanos, Op, Extent)> {
    let mut random = Stream::new(seed, "requests");
    let total = disk.positions().blocks();
    let mut extra = random.below(1 << 40);
    (0..count)
        .map(|_| {
            let blocks = random.geometric(6.0).min(total);
            let lbn = random.below(total - blocks + 1);
            let op = if random.chance(0.5) { Op::Read } else { Op::Write };
            extra = random.below(2) * random.below(30_000_000) + std::mem::take(&mut extra);
            let extent = Extent { lbn, blocks: blocks as u32 };
            (Nanos(std::mem::take(&mut extra)), op, extent)
        })
        .collect()
}

#[test]
fn every_pass_matches_stepping_from_sector_to_sector() {
    let (passes, began_inside) = (Cell::new(0), Cell::new(0));
    proptest!(cases(400), |(drive in drive(), seed in any::<u64>())| {
        let (Some(mut disk), Some(walk)) = (disk(&drive), drive.walk()) else {
            return Ok(());
        };
        let defects = drive.zones.iter().any(|zone| !zone.defects.is_empty());
        let mut at = Nanos::ZERO;
        for (pause, op, extent) in requests(&disk, 12, seed) {
            at += pause;
            let planned: Vec<Pass> = disk.drive().passes(at, disk.arm(), disk.drive().access(op), extent).collect();
            let (mut now, mut arm, mut lbn) = (at, disk.arm(), extent.lbn);
            for (index, pass) in planned.iter().enumerate() {
                prop_assert_eq!(pass.lbn, lbn);
                if index > 0 && !defects {
                    prop_assert_ne!(pass.arm, arm, "a track takes one pass");
                }
                let write = op == Op::Write;
                prop_assert_eq!(pass.arrive, arrival(&drive, now, arm, pass.arm, write, index == 0));
                prop_assert_eq!(now + pass.seek + pass.head_switch, pass.arrive);
                let expected = step_by_step(&drive, &walk, pass);
                prop_assert!(close(pass.first, expected.first), "{pass:?} {}", expected.first);
                prop_assert!(close(pass.end, expected.end), "{pass:?} {}", expected.end);
                for (index, &passed) in expected.passed.iter().enumerate() {
                    let own = disk.drive().passed_at(pass, pass.lbn + index as u64);
                    prop_assert!(close(own, passed), "{pass:?} block {index}: {own} {passed}");
                }
                let order = expected.passed.windows(2).position(|pair| pair[1] < pair[0]);
                prop_assert_eq!(pass.last as usize, order.map_or(0, |last| last + 1));
                add(&began_inside, usize::from(pass.last > 0));
                (now, arm) = (pass.end, pass.arm);
                lbn += u64::from(pass.blocks);
                add(&passes, 1);
            }
            prop_assert_eq!(lbn, extent.end());

            // Serving follows the plan, and its parts add up.
            let request = Request::new(0, at, op, extent.lbn, extent.blocks);
            let estimate = disk.positions().estimate(at, &request);
            let mut steps: Vec<Step> = Vec::new();
            let service = disk.serve(at, &request, &mut steps);
            prop_assert_eq!(estimate, planned[0].first - at);
            prop_assert_eq!(at + service.parts.total(), now);
            prop_assert_eq!(disk.arm(), arm);
            prop_assert_eq!(steps.len(), planned.len());
            prop_assert_eq!(service.passes as usize, planned.len());
            for (step, pass) in steps.iter().zip(&planned) {
                prop_assert_eq!((step.lbn, step.blocks), (pass.lbn, pass.blocks));
                prop_assert_eq!(at + step.end, pass.end);
            }
            // The transfer is the time of as many sectors.
            let sectors = |lbn| {
                let held = walk.iter().find(|sector| sector.lbn == Some(lbn));
                f64::from(drive.zones[held.expect("a block").zone].sectors)
            };
            let revolution_ns = 60e9 / f64::from(drive.rpm);
            let transfer: f64 = (extent.lbn..extent.end())
                .map(|lbn| revolution_ns / sectors(lbn))
                .sum();
            let off = service.parts.transfer.0 as f64 - transfer;
            prop_assert!(off.abs() < 1.0 + 2.0 * planned.len() as f64, "{off} ns");
            at = now;
        }
    });
    println!("{passes:?} passes, {began_inside:?} of them round the end");
    assert!(passes.get() > 4000 && began_inside.get() > 300);
}

#[test]
fn zero_latency_is_never_slower() {
    let faster = Cell::new(0);
    proptest!(cases(300), |(drive in drive(), seed in any::<u64>())| {
        let both = [true, false].map(|zero_latency| {
            disk(&Drive { zero_latency, ..drive.clone() })
        });
        let [Some(mut quick), Some(mut slow)] = both else {
            return Ok(());
        };
        let mut at = Nanos::ZERO;
        for (pause, op, extent) in requests(&quick, 20, seed) {
            at += pause;
            quick.leave(slow.arm());
            let request = Request::new(0, at, op, extent.lbn, extent.blocks);
            let mut steps = Vec::new();
            let fast = quick.serve(at, &request, &mut steps).parts.total();
            let total = slow.serve(at, &request, &mut steps).parts.total();
            // Each pass is truncated to nanoseconds.
            prop_assert!(fast.0 <= total.0 + steps.len() as u64, "{fast} {total}");
            add(&faster, usize::from(fast.0 + 1000 < total.0));
            at += total;
        }
    });
    assert!(faster.get() > 100, "{faster:?}");
}

#[test]
fn the_lower_bound_holds_for_every_drive() {
    proptest!(cases(300), |(drive in drive(), seed in any::<u64>())| {
        let Some(mut disk) = disk(&drive) else {
            return Ok(());
        };
        let mut at = Nanos::ZERO;
        for (pause, op, extent) in requests(&disk, 10, seed) {
            at += pause;
            let own = i64::from(disk.arm().cylinder);
            let bounds: Vec<Nanos> = (0..i64::from(drive.cylinders()))
                .map(|cylinder| disk.positions().seek_lower_bound(at, cylinder))
                .collect();
            let (inner, outer) = bounds.split_at(own as usize);
            prop_assert!(inner.is_sorted_by(|a, b| a >= b) && outer.is_sorted());
            for lbn in 0..disk.positions().blocks() {
                for op in [Op::Read, Op::Write] {
                    let request = Request::new(0, at, op, lbn, 1);
                    let cylinder = disk.positions().target_cylinder(&request);
                    prop_assert!(bounds[cylinder as usize] <= disk.positions().estimate(at, &request));
                }
            }
            let request = Request::new(0, at, op, extent.lbn, extent.blocks);
            at += disk.serve(at, &request, &mut Vec::new()).parts.total();
        }
    });
}

#[test]
fn whole_revolutions_change_nothing() {
    proptest!(cases(300), |(drive in drive(), seed in any::<u64>(), far in 1_u64..1 << 62)| {
        let Some(disk) = disk(&drive) else {
            return Ok(());
        };
        // The least number of whole revolutions that take whole nanoseconds.
        let (mut one, mut other) = (60_000_000_000, u64::from(drive.rpm));
        while other > 0 {
            (one, other) = (other, one % other);
        }
        let turns_ns = 60_000_000_000 / one;
        let later = Nanos(far / turns_ns * turns_ns);
        let mut random = Stream::new(seed, "arm");
        for (at, op, extent) in requests(&disk, 10, seed) {
            let cylinder = random.below(u64::from(drive.cylinders())) as u32;
            let arm = Arm::at(cylinder, random.below(u64::from(drive.surfaces)) as u32);
            let plan = disk.drive();
            let now = plan.passes(at, arm, plan.access(op), extent);
            for (now, then) in now.zip(plan.passes(at + later, arm, plan.access(op), extent)) {
                prop_assert_eq!(now.first + later, then.first);
                prop_assert_eq!(now.end + later, then.end);
                prop_assert_eq!((now.transfer, now.last), (then.transfer, then.last));
            }
        }
    });
}

#[test]
fn the_angle_does_not_drift_in_500_years() {
    let mut random = Stream::new(3, "angles");
    for _ in 0..20_000 {
        let at = Nanos(random.below(500 * 365 * 86_400 * 1_000_000_000));
        let (rpm, period_ps) = (1 + random.below(1_000_000), 60_000_000 + random.below(1 << 40));
        // The fraction of a revolution in units of 2^-64, by long division.
        let exact = |turned: u128, whole: u128| ((turned % whole) << 64) / whole;
        let by_rpm = exact(u128::from(at.0) * u128::from(rpm), 60_000_000_000);
        let by_period = exact(u128::from(at.0) * 1000, u128::from(period_ps));
        for (angle, exact) in [
            (Rotation::of_rpm(rpm as f64, 0).angle(at), by_rpm as u64),
            (Rotation::of_period_ps(period_ps, 0).angle(at), by_period as u64),
        ] {
            let off = angle.wrapping_sub(exact) as i64;
            assert!(off.abs() <= 2, "{rpm} rpm, {period_ps} ps at {at}: {off}");
        }
    }
    // Fractional rpm count: 7200.5 rpm turn 7200.5 times a minute.
    let rotation = Rotation::of_rpm(7200.5, 1 << 60);
    let minutes = 1_000_001;
    let angle = rotation.angle(Nanos(minutes * 60_000_000_000));
    assert!((angle.wrapping_sub((1 << 60) + (1 << 63)) as i64).abs() <= 2);
}

#[test]
fn a_pass_that_ends_with_a_sector_can_continue_with_the_next() {
    let mut random = Stream::new(5, "boundaries");
    for _ in 0..100_000 {
        let rpm = 1.0 + 30_000.0 * random.unit();
        let rotation = Rotation::of_rpm(rpm, random.u64());
        let begin = Nanos(random.below(1 << 55));
        // A boundary that passes at a whole nanosecond, a rounding away.
        let span = Nanos(random.below((rotation.revolution_s() * 1e9) as u64));
        let end = begin + span;
        let boundary = (rotation.angle(end)).wrapping_add(random.below(5)).wrapping_sub(2);
        let turn = boundary.wrapping_sub(rotation.angle(begin));
        if turn > u64::MAX - 10 {
            continue;
        }
        assert_eq!(rotation.time(u128::from(turn)), span, "{rpm} rpm");
        assert!(Rotation::until(rotation.angle(end), boundary) <= 2, "{rpm} rpm");
        assert_eq!(Rotation::past(rotation.angle(end), boundary.wrapping_sub(3)), 0);
    }
}

#[test]
fn continued_reads_equal_one_long_read() {
    proptest!(cases(300), |(drive in drive(), seed in any::<u64>())| {
        let drive = Drive { zero_latency: false, ..drive };
        let Some(disk) = disk(&drive) else {
            return Ok(());
        };
        for (at, op, extent) in requests(&disk, 8, seed) {
            let plan = disk.drive();
            let all: Vec<Pass> = plan.passes(at, Arm::default(), plan.access(op), extent).collect();
            let last = all[all.len() - 1];
            for blocks in 1..extent.blocks {
                let (head, tail) = (
                    Extent { blocks, ..extent },
                    Extent {
                        lbn: extent.lbn + u64::from(blocks),
                        blocks: extent.blocks - blocks,
                    },
                );
                let first = plan.passes(at, Arm::default(), plan.access(op), head).last();
                let first = first.expect("a pass");
                let how = PassMode { continues: true, ..plan.access(op) };
                let rest = plan.passes(first.end, first.arm, how, tail).last();
                let rest = rest.expect("a pass");
                prop_assert!(close(rest.end, last.end), "{blocks}: {rest:?} {last:?}");
                prop_assert_eq!(rest.arm, last.arm);
            }
        }
    });
}
