//! Can the heads have been where the drive says? Random drives serve random
//! requests, and a slow drive made for these tests checks each claim: it knows
//! the sectors of [`drives::Drive::walk`], a clock of exact fractions, and tries
//! every sector a pass could begin with. Then what physics says of any drive:
//! waiting gains nothing, a drive of half the speed takes twice the time, a
//! drive mounted the other way round does the same later.

use super::drives::{self, Drive, cases, drive};
use proptest::prelude::*;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Parts;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::devices::disk::{Arm, Disk};
use sledsim_core::model::mechanism::{Mechanism, Step};
use std::cell::Cell;
use std::collections::BTreeMap;

/// A drive of [`disks`], and what that leaves out.
#[derive(Clone, Debug)]
struct Spec {
    drive: Drive,
    zero_latency_read: bool,
    zero_latency_write: bool,
    /// Instead of its rpm.
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
            Spec {
                drive,
                zero_latency_read,
                zero_latency_write,
                revolution_ps,
            }
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
            let ms = format!(
                "revolution_ms = {}.{:09}\n",
                ps / 1_000_000_000,
                ps % 1_000_000_000
            );
            text = text.replace(&rpm, &ms);
        }
        text
    }

    /// The disk, unless its zones leave no blocks.
    fn disk(&self) -> Option<Disk> {
        disk(&self.toml())
    }

    fn clock(&self) -> Clock {
        let (ns, turns) = self
            .revolution_ps
            .map_or((60_000_000_000, i128::from(self.drive.rpm)), |ps| {
                (i128::from(ps), 1000)
            });
        Clock {
            ns,
            turns,
            start: i128::from(self.drive.start),
        }
    }

    /// How long it takes until the head is on track. `access`: the first pass
    /// of an extent; the others go on where it ended.
    fn positioning(&self, from: Arm, to: Arm, write: bool, access: bool) -> Nanos {
        if from == to && !access {
            return Nanos::ZERO;
        }
        let seek_us = match from.cylinder.abs_diff(to.cylinder) as usize {
            0 if access => self.drive.staying_us,
            0 => 0,
            distance => self.drive.seeks_us[distance - 1],
        };
        let switch_us = if from.head == to.head {
            0
        } else {
            self.drive.head_switch_us
        };
        let settle_us = if write { self.drive.write_settle_us } else { 0 };
        let us = i64::from(seek_us.max(switch_us)) + i64::from(settle_us);
        Nanos(1000 * us.max(0) as u64)
    }
}

/// None if the spec is refused.
fn disk(text: &str) -> Option<Disk> {
    let keys = Keys::parse(text, "test.toml").expect("TOML");
    let device = Device::from_keys(keys, None).ok()?;
    Some(device.disk()?.disk())
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
    /// When boundary `number` between the `sectors` of a track comes by, cut
    /// to ns. Number 0 is at angle 0 of the revolution in which time begins.
    fn time(&self, number: i128, sectors: i128) -> Nanos {
        let above = (7 * number - self.start * sectors) * self.ns;
        Nanos(above.div_euclid(7 * sectors * self.turns) as u64)
    }

    /// The first boundary at `at` or later. A millionth of a nanosecond is not
    /// late.
    fn next(&self, at: Nanos, sectors: i128) -> i128 {
        let turned = 7 * sectors * self.turns * i128::from(at.0) + self.start * sectors * self.ns;
        let in_time = turned - ((7 * sectors * self.ns) >> 40);
        -(-in_time).div_euclid(7 * self.ns)
    }

    /// How long `sectors` of `of` take, in ns.
    fn turn(&self, sectors: u32, of: i128) -> f64 {
        f64::from(sectors) * self.ns as f64 / (of * self.turns) as f64
    }
}

/// Where blocks are, as a walk over the drive finds them.
struct Places(BTreeMap<u64, drives::Sector>);

impl Places {
    fn of(drive: &Drive) -> Option<Self> {
        let held = |sector: drives::Sector| Some((sector.lbn?, sector));
        Some(Self(drive.walk()?.into_iter().filter_map(held).collect()))
    }

    fn arm(&self, lbn: u64) -> Arm {
        let sector = &self.0[&lbn];
        Arm {
            cylinder: sector.cylinder,
            head: sector.head,
        }
    }
}

/// Boundaries at which a pass begins and ends if every block is taken when it
/// first comes by once the pass has begun: with zero latency the pass that ends
/// first, found by trying every sector to begin with; else the one that begins
/// with the first block.
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

fn close(one: Nanos, other: Nanos) -> bool {
    one.0.abs_diff(other.0) <= 1
}

/// Random reads and writes of one to three extents, most of them short, some
/// of half the drive; a pause before each, the first long.
fn requests(blocks: u64, count: u64, seed: u64) -> Vec<(Nanos, Request)> {
    let mut random = Stream::new(seed, "invariants");
    let mut pause = random.below(1 << 40);
    (0..count)
        .map(|id| {
            let op = [Op::Read, Op::Write][random.below(2) as usize];
            let mut request = Request::new(id, Nanos::ZERO, op, 0, 1);
            request.extents.clear();
            for _ in 0..=random.below(2) * random.below(3) {
                let mean = if random.chance(0.1) {
                    blocks as f64 / 4.0 + 1.0
                } else {
                    5.0
                };
                let size = random.geometric(mean).min(blocks);
                request.extents.push(Extent {
                    lbn: random.below(blocks - size + 1),
                    blocks: size as u32,
                });
            }
            let before = std::mem::take(&mut pause);
            pause = random.below(2) * random.below(30_000_000);
            (Nanos(before), request)
        })
        .collect()
}

#[test]
fn the_heads_are_where_media_arm_and_clock_put_them() {
    let (passes, round, early) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let add = |count: &Cell<u32>, more: bool| count.set(count.get() + u32::from(more));
    proptest!(cases(2000), |(spec in spec(), seed in any::<u64>())| {
        let (Some(mut disk), Some(places)) = (spec.disk(), Places::of(&spec.drive)) else {
            return Ok(());
        };
        prop_assert_eq!(disk.blocks(), places.0.len() as u64);
        let whole = spec.drive.zones.iter().all(|zone| zone.defects.is_empty());
        let clock = spec.clock();
        let revolution = Nanos(clock.turn(1, 1) as u64 + 1);
        let (mut at, mut arm) = (Nanos::ZERO, Arm::default());
        for (pause, request) in requests(disk.blocks(), 10, seed) {
            at += pause;
            let estimate = disk.estimate(at, &request);
            let bound = disk.at_least(at, disk.place(&request).major);
            let mut steps: Vec<Step> = Vec::new();
            let service = disk.serve(at, &request, &mut steps);
            let write = request.op == Op::Write;
            let any = if write { spec.zero_latency_write } else { spec.zero_latency_read };

            // Passes make up the extents, block by block.
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
fn waiting_gains_nothing_and_being_late_costs_a_revolution() {
    let missed = Cell::new(0);
    proptest!(cases(1000), |(spec in spec(), seed in any::<u64>())| {
        let (Some(mut disk), Some(places)) = (spec.disk(), Places::of(&spec.drive)) else {
            return Ok(());
        };
        let clock = spec.clock();
        let revolution = Nanos(clock.turn(1, 1) as u64);
        let mut random = Stream::new(seed, "waiting");
        let anywhere = [(); 3].map(|()| random.below(disk.blocks()));
        for (base, lbn) in [1 << 20, 1 << 45, 1 << 55].into_iter().zip(anywhere) {
            disk.leave(places.arm(random.below(disk.blocks())));
            let op = [Op::Read, Op::Write][random.below(2) as usize];
            let request = Request::new(0, Nanos::ZERO, op, lbn, 1);
            let positioning = spec.positioning(disk.arm(), places.arm(lbn), op == Op::Write, true);
            let sectors = i128::from(spec.drive.zones[places.0[&lbn].zone].sectors);
            let physical = [i128::from(places.0[&lbn].physical)];
            // When the block begins if it is asked for at `at`, and what is due.
            let begins = |at: Nanos| at + disk.estimate(at, &request);
            let due = |at: Nanos| pass(clock, sectors, &physical, at + positioning, false).0;
            // The last instant at which to ask for it, and those around it.
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

/// A drive of one zone without flaws.
#[derive(Clone, Debug)]
struct Plain {
    surfaces: u32,
    cylinders: u32,
    sectors: u32,
    offset: u32,
    track_skew: u32,
    cylinder_skew: u32,
    mapping: usize,
    rpm: u32,
    /// In eighths of a revolution.
    start: u32,
    /// In us: to the next cylinder, more for each further one, for a head,
    /// for writes, and for staying.
    seek: u32,
    slope: u32,
    switch: u32,
    settle: i32,
    staying: u32,
    zero_latency: bool,
}

fn plain() -> impl Strategy<Value = Plain> {
    let shape = (1_u32..6, 2_u32..9, 1_u32..70, 0_usize..3);
    let skews = [0_u32..70, 0_u32..70, 0_u32..70];
    let turns = (
        prop::sample::select(vec![3000_u32, 5000, 6000, 7500, 10_000, 12_000, 15_000]),
        0_u32..8,
        any::<bool>(),
    );
    let times = (
        0_u32..8000,
        0_u32..500,
        0_u32..8000,
        -3000_i32..3000,
        0_u32..2000,
    );
    (shape, skews, turns, times).prop_map(|(shape, skews, turns, times)| {
        let (surfaces, cylinders, sectors, mapping) = shape;
        let [offset, track_skew, cylinder_skew] = skews.map(|skew| skew % sectors);
        let (rpm, start, zero_latency) = turns;
        let (seek, slope, switch, settle, staying) = times;
        Plain {
            surfaces,
            cylinders,
            sectors,
            offset,
            track_skew,
            cylinder_skew,
            mapping,
            rpm,
            start,
            seek,
            slope,
            switch,
            settle,
            staying,
            zero_latency,
        }
    })
}

impl Plain {
    fn disk(&self) -> Disk {
        let Self {
            surfaces,
            cylinders,
            sectors,
            rpm,
            zero_latency,
            ..
        } = self;
        let ms = |us: u32| f64::from(us) / 1e3;
        let staying = format!("seek_zero_ms = {}", ms(self.staying));
        let far = self.seek + self.slope * (cylinders - 1);
        let text = format!(
            "title = 'plain'\nkind = 'disk'\nsurfaces = {surfaces}\ncylinders = {cylinders}\nrpm = {rpm}\nmapping = '{mapping}'\nsparing = 'none'\nstart_angle_revolutions = {start}\nseek = 'table'\nseek_table_ms = [[1, {near}], [{cylinders}, {far}]]\nhead_switch_ms = {switch}\nwrite_settle_ms = {settle}\nzero_latency_read = {zero_latency}\nzero_latency_write = {zero_latency}\ncommand_overhead_ms = 0\nbus_ms_per_block = 0\n{staying}\n[[zone]]\nfirst_cylinder = 0\nlast_cylinder = {last}\nblocks_per_track = {sectors}\noffset_sectors = {offset}\ntrack_skew_sectors = {track}\ncylinder_skew_sectors = {cylinder}\n",
            mapping = drives::MAPPINGS[self.mapping],
            start = f64::from(self.start) / 8.0,
            near = ms(self.seek),
            far = ms(far),
            switch = ms(self.switch),
            settle = f64::from(self.settle) / 1e3,
            last = cylinders - 1,
            offset = self.offset,
            track = self.track_skew,
            cylinder = self.cylinder_skew,
        );
        disk(&text).expect("a disk")
    }

    fn revolution_ns(&self) -> u64 {
        60_000_000_000 / u64::from(self.rpm)
    }
}

#[test]
fn a_long_transfer_runs_at_the_rate_that_skews_leave() {
    let (covered, lost) = (Cell::new(0), Cell::new(0));
    proptest!(cases(2000), |(drive in plain(), write in any::<bool>(), at in 0_u64..1 << 50)| {
        let drive = Plain { zero_latency: false, ..drive };
        let mut disk = drive.disk();
        prop_assert_eq!(disk.blocks(), u64::from(drive.surfaces * drive.cylinders * drive.sectors));
        let op = if write { Op::Write } else { Op::Read };
        let request = Request::new(0, Nanos(at), op, 0, disk.blocks() as u32);
        let mut steps = Vec::new();
        let _ = disk.serve(Nanos(at), &request, &mut steps);
        // Sectors that go by: those of every track, and between two tracks those of
        // the skew, and whole revolutions for as long as the heads are not there.
        let mut gone = u64::from(drive.sectors);
        let revolution = drive.revolution_ns();
        for track in 1..u64::from(drive.surfaces * drive.cylinders) {
            let next_cylinder = track % u64::from(drive.surfaces) == 0;
            let skew = if next_cylinder { drive.cylinder_skew } else { drive.track_skew };
            // Serpentines keep the head when the cylinder changes.
            let stays = drive.surfaces == 1 || drives::MAPPINGS[drive.mapping] != "ascending";
            let switch = if next_cylinder && stays { 0 } else { drive.switch };
            let seek = if next_cylinder { drive.seek } else { 0 };
            let settle = if write { drive.settle } else { 0 };
            let need_ns = 1000 * (i64::from(seek.max(switch)) + i64::from(settle)).max(0) as u64;
            let mut between = u64::from(skew);
            while between * revolution < need_ns * u64::from(drive.sectors) {
                between += u64::from(drive.sectors);
            }
            let count = if between == u64::from(skew) { &covered } else { &lost };
            count.set(count.get() + 1);
            gone += between + u64::from(drive.sectors);
        }
        let begin = steps[0].seek_s * 1e9;
        let took = steps[steps.len() - 1].end.0 as f64 - begin;
        let expected = gone as f64 * revolution as f64 / f64::from(drive.sectors);
        prop_assert!((took - expected).abs() < 2.0, "{took} {expected}");
    });
    println!("{covered:?} changes covered by the skew, {lost:?} not");
    assert!(covered.get() > 500 && lost.get() > 500);
}

/// Serves what `ask` says, each at a multiple of its pause after the one
/// before, and tells the passes: first block, and when it began and ended.
fn passes(
    disk: &mut Disk,
    asked: &[(Nanos, Request)],
    begin: Nanos,
    times: u64,
) -> Vec<(u64, Nanos, Nanos)> {
    let (mut at, mut found) = (begin, Vec::new());
    for (pause, request) in asked {
        at += Nanos(times * pause.0);
        let mut steps = Vec::new();
        let took = disk.serve(at, request, &mut steps).parts.total();
        let mut now = at;
        for step in &steps {
            found.push((
                step.lbn,
                now + Nanos::from_s(step.seek_s) - begin,
                at + step.end - begin,
            ));
            now = at + step.end;
        }
        at += took;
    }
    found
}

/// Requests that come at odd nanoseconds, so that no sector begins just then.
fn odd(disk: &Disk, seed: u64) -> Vec<(Nanos, Request)> {
    let mut asked = requests(disk.blocks(), 8, seed);
    for (pause, _) in &mut asked {
        *pause = Nanos(pause.0 % 50_000_000 + 12_347);
    }
    asked
}

#[test]
fn a_drive_of_half_the_speed_takes_twice_the_time() {
    proptest!(cases(1000), |(drive in plain(), seed in any::<u64>())| {
        let slow = Plain {
            rpm: drive.rpm / 2,
            seek: 2 * drive.seek,
            slope: 2 * drive.slope,
            switch: 2 * drive.switch,
            settle: 2 * drive.settle,
            staying: 2 * drive.staying,
            ..drive.clone()
        };
        let (mut fast, mut slow) = (drive.disk(), slow.disk());
        for one in odd(&fast, seed) {
            let asked = [one];
            let quick = passes(&mut fast, &asked, Nanos::ZERO, 1);
            let double = passes(&mut slow, &asked, Nanos::ZERO, 2);
            prop_assert_eq!(quick.len(), double.len());
            for (quick, double) in quick.iter().zip(&double) {
                prop_assert_eq!(quick.0, double.0);
                for (one, two) in [(quick.1, double.1), (quick.2, double.2)] {
                    prop_assert!((2 * one.0).abs_diff(two.0) <= 4, "{quick:?} {double:?}");
                }
            }
        }
    });
}

#[test]
fn a_drive_mounted_the_other_way_round_does_the_same_later() {
    proptest!(cases(1000), |(drive in plain(), seed in any::<u64>())| {
        // Media that begin an eighth further on are where others are after an
        // eighth of a revolution. 60 s / 8 is a whole number of ns at every speed here.
        let mut ahead = drive.disk();
        let mut behind = Plain { start: 0, ..drive.clone() }.disk();
        let asked = odd(&ahead, seed);
        let later = Nanos(drive.revolution_ns() / 8 * u64::from(drive.start));
        let now = passes(&mut ahead, &asked, Nanos::ZERO, 1);
        let then = passes(&mut behind, &asked, later, 1);
        prop_assert_eq!(now.len(), then.len());
        for (now, then) in now.iter().zip(&then) {
            prop_assert!(now.0 == then.0 && close(now.1, then.1) && close(now.2, then.2), "{now:?} {then:?}");
        }
    });
}

#[test]
fn sectors_lie_side_by_side_round_every_track() {
    for (sectors, shift) in [
        (1, 0),
        (2, 1),
        (7, 3),
        (668, 126),
        (5144, 640),
        (99_991, 77),
    ] {
        let drive = Plain {
            surfaces: 1,
            cylinders: 2,
            sectors,
            offset: shift,
            track_skew: 0,
            cylinder_skew: 0,
            mapping: 0,
            rpm: 6000,
            start: 0,
            seek: 0,
            slope: 0,
            switch: 0,
            settle: 0,
            staying: 0,
            zero_latency: true,
        };
        let disk = drive.disk();
        let geometry = &disk.drive().geometry;
        let track = geometry.track(1, 0).expect("a track");
        // A track whose sectors begin where others end leaves no angle out.
        let mut sum = 0_u128;
        for index in 0..sectors {
            let next = track.angle((index + 1) % sectors);
            let width = next.wrapping_sub(track.angle(index));
            let exact = (1_u128 << 64) as f64 / f64::from(sectors);
            assert!(sectors == 1 || (width as f64 / exact - 1.0).abs() < 1e-9);
            sum += if sectors == 1 {
                1 << 64
            } else {
                u128::from(width)
            };
        }
        assert_eq!(sum, 1 << 64, "{sectors}");
        assert_eq!(track.turn(sectors), 1 << 64);
        // They are numbered from angle 0 on, and blocks in the order of passing.
        assert_eq!(track.sector(0), shift);
        assert_eq!(track.angle((sectors - shift) % sectors), 0);
        let first = geometry.find(u64::from(sectors)).0;
        assert_eq!((first.cylinder, first.head), (1, 0));
        for index in 0..sectors {
            let lbn = u64::from(sectors + index);
            assert_eq!(geometry.find(lbn).1, index);
            assert_eq!(geometry.lbn(geometry.locate(lbn)), Some(lbn));
        }
    }
}
