//! Possible positions of the heads, compared with a slow model, and the cost of
//! waiting.

use super::{close, disk, requests};
use crate::devices::disk::drives::{self, Drive, cases, drive};
use proptest::prelude::*;
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Parts;
use sledsim_base::units::Nanos;
use sledsim_core::devices::disk::{Arm, Disk};
use sledsim_core::model::mechanism::{Mechanism, Step};
use std::cell::Cell;
use std::collections::BTreeMap;

/// A drive of [`disks`], with properties it lacks.
#[derive(Clone, Debug)]
struct Spec {
    drive: Drive,
    zero_latency_read: bool,
    zero_latency_write: bool,
    /// Replaces its rpm.
    revolution_ps: Option<u64>,
}

/// Any drive: its writes may settle for longer, or shorter, than a seek takes.
fn spec() -> impl Strategy<Value = Spec> {
    let latency = (any::<bool>(), any::<bool>());
    let revolution = prop::option::of(3_000_000_000_u64..20_000_000_000);
    let settling = -4000_i32..4000;
    (drive(), latency, revolution, settling).prop_map(
        |(mut drive, (zero_latency_read, zero_latency_write), revolution_ps, settling)| {
            drive.write_settle_us = settling;
            Spec { drive, zero_latency_read, zero_latency_write, revolution_ps }
        },
    )
}

impl Spec {
    fn toml(&self) -> String {
        let mut text = self.drive.toml();
        let own = self.drive.zero_latency;
        for (key, value) in [
            ("zero_latency_read", self.zero_latency_read),
            ("zero_latency_write", self.zero_latency_write),
        ] {
            text = text.replace(&format!("{key} = {own}\n"), &format!("{key} = {value}\n"));
        }
        if let Some(ps) = self.revolution_ps {
            let rpm = format!("rpm = {}\n", self.drive.rpm);
            let ms = format!("revolution_ms = {}.{:09}\n", ps / 1_000_000_000, ps % 1_000_000_000);
            text = text.replace(&rpm, &ms);
        }
        text
    }

    /// The disk; `None` if its zones leave no blocks.
    fn disk(&self) -> Option<Disk> {
        disk(&self.toml())
    }

    fn clock(&self) -> Clock {
        let (ns, turns) = self
            .revolution_ps
            .map_or((60_000_000_000, i128::from(self.drive.rpm)), |ps| (i128::from(ps), 1000));
        Clock { ns, turns, start: i128::from(self.drive.start) }
    }

    /// Time until the head is on track. `access`: the first pass of an extent; the
    /// others continue where it ended.
    fn positioning(&self, from: Arm, to: Arm, write: bool, access: bool) -> Nanos {
        if from == to && !access {
            return Nanos::ZERO;
        }
        let seek_us = match from.cylinder.abs_diff(to.cylinder) as usize {
            0 if access => self.drive.staying_us,
            0 => 0,
            distance => self.drive.seeks_us[distance - 1],
        };
        let switch_us = if from.head == to.head { 0 } else { self.drive.head_switch_us };
        let settle_us = if write { self.drive.write_settle_us } else { 0 };
        let us = i64::from(seek_us.max(switch_us)) + i64::from(settle_us);
        Nanos(1000 * us.max(0) as u64)
    }
}

/// A clock of exact fractions: `turns` revolutions in `ns` nanoseconds, from
/// an angle of `start` sevenths of a revolution on.
#[derive(Clone, Copy, Debug)]
struct Clock {
    ns: i128,
    turns: i128,
    start: i128,
}

impl Clock {
    /// When boundary `number` between the `sectors` of a track passes, truncated to ns.
    /// Number 0 is at angle 0 of the revolution at time 0.
    fn time(&self, number: i128, sectors: i128) -> Nanos {
        let above = (7 * number - self.start * sectors) * self.ns;
        Nanos(above.div_euclid(7 * sectors * self.turns) as u64)
    }

    /// The first boundary at `at` or later, with a tolerance of a millionth of a
    /// nanosecond.
    fn next(&self, at: Nanos, sectors: i128) -> i128 {
        let turned = 7 * sectors * self.turns * i128::from(at.0) + self.start * sectors * self.ns;
        let in_time = turned - ((7 * sectors * self.ns) >> 40);
        -(-in_time).div_euclid(7 * self.ns)
    }

    /// Time of `sectors` of `of` sectors, in ns.
    fn turn(&self, sectors: u32, of: i128) -> f64 {
        f64::from(sectors) * self.ns as f64 / (of * self.turns) as f64
    }
}

/// The sector of each block, found by a walk over the drive.
struct Places(BTreeMap<u64, drives::Sector>);

impl Places {
    fn of(drive: &Drive) -> Option<Self> {
        let held = |sector: drives::Sector| Some((sector.lbn?, sector));
        Some(Self(drive.walk()?.into_iter().filter_map(held).collect()))
    }

    fn arm(&self, lbn: u64) -> Arm {
        let sector = &self.0[&lbn];
        Arm::at(sector.cylinder, sector.head)
    }
}

/// Boundaries at which a pass begins and ends if every block is accessed when it first
/// passes: with zero latency the pass that ends first, found by trying every sector as
/// the start; else the one that begins with the first block.
fn pass(
    clock: Clock,
    sectors: i128,
    physical: &[i128],
    on_track: Nanos,
    any: bool,
) -> (i128, i128) {
    let after = |number: i128, sector: i128| number + (sector - number).rem_euclid(sectors);
    let next = clock.next(on_track, sectors);
    let ends = |begin: i128| {
        let each = physical.iter().map(|&sector| after(begin, sector) + 1);
        each.max().expect("blocks")
    };
    let begins = if any { physical } else { &physical[..1] };
    let tried = begins.iter().map(|&sector| after(next, sector));
    let found = tried.map(|begin| (ends(begin), begin)).min();
    let (end, begin) = found.expect("blocks");
    (begin, end)
}

#[test]
fn passes_match_the_slow_model() {
    let (passes, round, early) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let add = |count: &Cell<u32>, more: bool| count.set(count.get() + u32::from(more));
    proptest!(cases(2000), |(spec in spec(), seed in any::<u64>())| {
        let (Some(mut disk), Some(places)) = (spec.disk(), Places::of(&spec.drive)) else {
            return Ok(());
        };
        prop_assert_eq!(disk.positions().blocks(), places.0.len() as u64);
        let whole = spec.drive.zones.iter().all(|zone| zone.defects.is_empty());
        let clock = spec.clock();
        let revolution = Nanos(clock.turn(1, 1) as u64 + 1);
        let (mut at, mut arm) = (Nanos::ZERO, Arm::default());
        for (pause, request) in requests(disk.positions().blocks(), 10, seed) {
            at += pause;
            let estimate = disk.positions().estimate(at, &request);
            let bound = disk.positions().seek_lower_bound(at, disk.positions().target_cylinder(&request));
            let mut steps: Vec<Step> = Vec::new();
            let service = disk.serve(at, &request, &mut steps);
            let write = request.op == Op::Write;
            let any = if write { spec.zero_latency_write } else { spec.zero_latency_read };

            // Passes cover the extents, block by block.
            let wanted = request.extents.iter().flat_map(|extent| extent.lbn..extent.end());
            let moved = steps.iter().flat_map(|step| step.lbn..step.lbn + u64::from(step.blocks));
            prop_assert!(wanted.eq(moved));
            prop_assert_eq!(steps.len(), service.passes as usize);

            let mut extents = request.extents.iter();
            let mut left = 0;
            let (mut now, mut positioned, mut transfer_ns) = (at, Nanos::ZERO, 0.0);
            for (index, step) in steps.iter().enumerate() {
                let access = left == 0;
                if access {
                    left = extents.next().expect("an extent").blocks;
                }
                left -= step.blocks;
                let to = places.arm(step.lbn);
                let on = |lbn| places.arm(lbn) == to;
                let blocks = step.lbn..step.lbn + u64::from(step.blocks);
                prop_assert!(blocks.clone().all(on), "one pass, one track");
                if whole && !access {
                    prop_assert_ne!(to, arm, "a track takes one pass");
                }
                let positioning = spec.positioning(arm, to, write, access);
                let on_track = now + positioning;
                let sectors = i128::from(spec.drive.zones[places.0[&step.lbn].zone].sectors);
                let physical: Vec<i128> = blocks.map(|lbn| i128::from(places.0[&lbn].physical)).collect();
                let (first, last) = pass(clock, sectors, &physical, on_track, any);
                let begin = now + Nanos::from_s(step.seek_s);
                let end = at + step.end;
                prop_assert!(close(begin, clock.time(first, sectors)), "{step:?} {begin} {}", clock.time(first, sectors));
                prop_assert!(close(end, clock.time(last, sectors)), "{step:?} {end} {}", clock.time(last, sectors));
                prop_assert!(end > now && begin >= on_track, "time does not fall");
                if index == 0 {
                    prop_assert!(close(at + estimate, begin));
                    prop_assert!(bound <= positioning, "{bound} {positioning}");
                }
                // Less than a revolution until it begins, at most one until it ends,
                // and a block that comes last has not come first.
                prop_assert!(begin - on_track <= revolution && end - begin <= revolution);
                prop_assert!(last - first >= i128::from(step.blocks) && last - first <= sectors);
                add(&round, physical[0] != first.rem_euclid(sectors));
                add(&early, positioning == Nanos::ZERO);
                add(&passes, true);
                positioned += positioning;
                transfer_ns += clock.turn(step.blocks, sectors);
                (now, arm) = (end, to);
            }
            prop_assert_eq!(disk.arm(), arm);
            let Parts { seek, head_switch, rotation, transfer, .. } = service.parts;
            prop_assert_eq!(seek + head_switch, positioned);
            prop_assert_eq!(service.parts.total(), seek + head_switch + rotation + transfer);
            prop_assert_eq!(at + service.parts.total(), now);
            let off_ns = transfer.0 as f64 - transfer_ns;
            prop_assert!(off_ns.abs() <= 1.0 + 2.0 * steps.len() as f64, "{off_ns} ns");
            at = now;
        }
    });
    println!("{passes:?} passes, {round:?} begin inside, {early:?} at once");
    assert!(passes.get() > 10_000 && round.get() > 500 && early.get() > 300);
}

#[test]
fn starting_later_never_ends_earlier() {
    let missed = Cell::new(0);
    proptest!(cases(1000), |(spec in spec(), seed in any::<u64>())| {
        let (Some(mut disk), Some(places)) = (spec.disk(), Places::of(&spec.drive)) else {
            return Ok(());
        };
        let clock = spec.clock();
        let revolution = Nanos(clock.turn(1, 1) as u64);
        let mut random = Stream::new(seed, "waiting");
        let anywhere = [(); 3].map(|()| random.below(disk.positions().blocks()));
        for (base, lbn) in [1 << 20, 1 << 45, 1 << 55].into_iter().zip(anywhere) {
            disk.leave(places.arm(random.below(disk.positions().blocks())));
            let op = [Op::Read, Op::Write][random.below(2) as usize];
            let request = Request::new(0, Nanos::ZERO, op, lbn, 1);
            let positioning = spec.positioning(disk.arm(), places.arm(lbn), op == Op::Write, true);
            let sectors = i128::from(spec.drive.zones[places.0[&lbn].zone].sectors);
            let physical = [i128::from(places.0[&lbn].physical)];
            // When the block begins if requested at `at`, and when it is due.
            let begins = |at: Nanos| at + disk.positions().estimate(at, &request);
            let due = |at: Nanos| pass(clock, sectors, &physical, at + positioning, false).0;
            // The last time to request it, and those around it.
            let number = due(Nanos(base + random.below(1 << 20)));
            let deadline = clock.time(number, sectors) - positioning;
            for around in [0, 1, 2, 3, 4, 1000, revolution.0 - 2, revolution.0] {
                let at = deadline + Nanos(around) - Nanos(2);
                let expected = clock.time(due(at), sectors);
                prop_assert!(close(begins(at), expected), "{around}: {} {expected}", begins(at));
                missed.set(missed.get() + u32::from(due(at) > number));
            }
            let (late, in_time) = (begins(deadline + Nanos(2)), begins(deadline));
            prop_assert!(close(late, in_time + revolution) || close(late, in_time + revolution + Nanos(1)));
            let mut instants: Vec<Nanos> = (0..40).map(|_| Nanos(base + random.below(1 << 26))).collect();
            instants.sort_unstable();
            for pair in instants.windows(2) {
                prop_assert!(begins(pair[0]) <= begins(pair[1]) + Nanos(1));
            }
        }
    });
    assert!(missed.get() > 1000, "{missed:?}");
}
