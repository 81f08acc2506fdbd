//! Do schedulers pick by their definitions, and SPTF as an exhaustive search?

use crate::common::device;
use crate::common::sleds::{Log, Spy, sled};
use proptest::prelude::*;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::devices::disk::arm::Disk;
use sledsim_core::devices::memory::Memory;
use sledsim_core::model::mechanism::{Mechanism, Service};
use sledsim_core::queueing::schedulers::{
    AgedSptf, CLook, Fscan, Look, Scheduler, SchedulerSpec, Sptf, SstfLbn, Waiting,
};
use std::sync::Arc;

fn mechanism(name: &str) -> Box<dyn Mechanism> {
    match name {
        "atlas10k" | "superdisk" | "nearline20t" => {
            let device = device(name, &[]);
            let drive = &device.disk().expect("a disk").drive;
            Box::new(Disk::new(Arc::clone(drive)))
        }
        "memory" => Box::new(Memory {
            blocks: 1_000_000,
            latency: Nanos(10),
            block_time: Nanos(1),
            battery: true,
        }),
        "coasting" => sled("g2", &[("idle", "\"coast\"")]),
        "settled" => sled("g2", &[("settling_constants", "0")]),
        "tips" => sled("g2", &[("cylinder_switch", "\"tip\"")]),
        "in_place" => sled("g2", &[("turn", "\"in_place\"")]),
        "disksim" => sled("g2", &[("kinematics", "\"disksim\"")]),
        "piecewise" => sled("g2", &[("kinematics", "\"piecewise\"")]),
        "runs" => sled("g2", &[("direction", "\"best_run\"")]),
        _ => sled(name, &[]),
    }
}

const MECHANISMS: [&str; 13] = [
    "g1",
    "g2",
    "g3",
    "sigmetrics2000",
    "coasting",
    "settled",
    "tips",
    "in_place",
    "disksim",
    "piecewise",
    "runs",
    "atlas10k",
    "superdisk",
];

fn waiting(id: u64, op: Op, lbn: u64, blocks: u32, arrival: Nanos) -> Waiting {
    let request = Request {
        id,
        op,
        arrival,
        extents: [Extent { lbn, blocks }].into_iter().collect(),
        ..Request::default()
    };
    Waiting { request, ready: arrival, ..Waiting::default() }
}

/// One thing to do with a queue: take a request that begins at this share of
/// the blocks and arrived so many ns ago, or let one go after so many ns.
#[derive(Clone, Copy, Debug)]
enum Do {
    Push(f64, u32, bool, u64),
    Pop(u64),
}

fn doings() -> impl Strategy<Value = Vec<Do>> {
    let place = prop_oneof![
        4 => 0.0..1.0f64,
        // Many in one place, for ties.
        2 => (0..6u32).prop_map(|n| 0.5 + f64::from(n) * 1e-6),
        1 => (0..20u32).prop_map(|n| f64::from(n) / 20.0),
    ];
    // A buffer holds requests back: those that are pushed next may be older.
    let ago = prop_oneof![4 => Just(0u64), 1 => 0..50_000_000u64];
    let push = (place, 1..40u32, any::<bool>(), ago)
        .prop_map(|(at, blocks, read, ago)| Do::Push(at, blocks, read, ago));
    let pop = prop_oneof![Just(0u64), 0..3_000_000u64, Just(500_000_000)].prop_map(Do::Pop);
    prop::collection::vec(prop_oneof![3 => push, 2 => pop], 1..120)
}

/// Runs the actions with a scheduler and with `pick`, which searches all
/// waiting requests in the order of pushing; every request picked is served.
fn agree(
    mut mechanism: Box<dyn Mechanism>,
    scheduler: &mut dyn Scheduler,
    doings: &[Do],
    mut pick: impl FnMut(&dyn Mechanism, Nanos, &[Waiting]) -> usize,
) {
    let blocks = mechanism.positions().blocks();
    let (mut all, mut now, mut id) = (Vec::new(), Nanos::ZERO, 0);
    let mut steps = Vec::new();
    for step in doings {
        match *step {
            Do::Push(share, length, read, ago) => {
                let lbn = ((share * blocks as f64) as u64).min(blocks - u64::from(length));
                let op = if read { Op::Read } else { Op::Write };
                let request = waiting(id, op, lbn, length, Nanos(now.0.saturating_sub(ago)));
                id += 1;
                all.push(request.clone());
                scheduler.push(request, mechanism.positions());
            }
            Do::Pop(after) => {
                now += Nanos(after);
                let picked = scheduler.pop(now, mechanism.positions());
                if all.is_empty() {
                    assert!(picked.is_none());
                    continue;
                }
                let expected = all.remove(pick(&*mechanism, now, &all));
                let picked = picked.expect("there are requests").request;
                assert_eq!(picked.id, expected.request.id, "{all:?}");
                steps.clear();
                now += mechanism.serve(now, &picked, &mut steps).parts.total();
            }
        }
    }
}

/// The index of the least key, the first of equals.
fn least<K: PartialOrd>(all: &[Waiting], key: impl Fn(&Waiting) -> K) -> usize {
    let keys: Vec<K> = all.iter().map(key).collect();
    (1..keys.len()).fold(0, |best, other| if keys[other] < keys[best] { other } else { best })
}

/// The pick of aged SPTF, by its definition.
fn oldest_and_nearest(weight: f64) -> impl FnMut(&dyn Mechanism, Nanos, &[Waiting]) -> usize {
    move |mechanism, at, all| {
        least(all, |one| {
            let waited = (at - one.request.arrival).0 as f64;
            mechanism.positions().estimate(at, &one.request).0 as i64 - (weight * waited) as i64
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn sptf_picks_as_an_exhaustive_search(doings in doings()) {
        for name in MECHANISMS {
            agree(mechanism(name), &mut Sptf::default(), &doings, |mechanism, at, all| {
                least(all, |one| mechanism.positions().estimate(at, &one.request))
            });
        }
    }

    #[test]
    fn aged_sptf_picks_as_an_exhaustive_search(
        doings in doings(),
        weight in prop_oneof![Just(0.0), 0.0..0.05f64, 0.0..2.0f64, 1e3..1e6f64],
    ) {
        for name in MECHANISMS.into_iter().chain(["memory"]) {
            agree(mechanism(name), &mut AgedSptf::new(weight), &doings, oldest_and_nearest(weight));
        }
    }

    #[test]
    fn sstf_lbn_and_c_look_follow_their_definitions(doings in doings()) {
        for (look, label) in [(false, "sstf_lbn"), (true, "c_look"), (true, "c_look(from=start)")] {
            let mut scheduler = SchedulerSpec::named(label).expect("a scheduler").make();
            let mut here = 0;
            agree(mechanism("g2"), &mut *scheduler, &doings, |_, _, all| {
                let picked = if look {
                    least(all, |one| (one.request.lbn() < here, one.request.lbn()))
                } else {
                    least(all, |one| one.request.lbn().abs_diff(here))
                };
                let last = all[picked].request.extents[0];
                here = if label.contains("start") { last.lbn } else { last.end() };
                picked
            });
        }
    }
}

/// The pick of a sweep by its definition: the nearest on the way, which lies between the
/// last request and the edge; else the arm turns.
fn sweep(mut down: bool) -> impl FnMut(&[Waiting]) -> usize {
    let mut last: Option<u64> = None;
    move |all| {
        for _ in 0..2 {
            let is_ahead = |one: &Waiting| match last {
                None => true,
                Some(lbn) if down => one.request.lbn() <= lbn,
                Some(lbn) => one.request.lbn() >= lbn,
            };
            let key = |one: &Waiting| {
                let lbn = one.request.lbn() as i64;
                (!is_ahead(one), if down { -lbn } else { lbn })
            };
            let best = least(all, key);
            if is_ahead(&all[best]) {
                last = Some(all[best].request.lbn());
                return best;
            }
            down = !down;
        }
        unreachable!("something waits")
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn sweeps_follow_their_definition(doings in doings(), down in any::<bool>()) {
        for name in ["look", "scan"] {
            let direction = if down { "down" } else { "up" };
            let spec = SchedulerSpec::named(&format!("{name}(direction={direction})"));
            let mut scheduler = spec.expect("a scheduler").make();
            let mut pick = sweep(down);
            agree(mechanism("memory"), &mut *scheduler, &doings, |_, _, all| pick(all));
        }
        let mut scheduler = SchedulerSpec::named("c_scan").expect("a scheduler").make();
        let mut here = 0;
        agree(mechanism("memory"), &mut *scheduler, &doings, |_, _, all| {
            let picked = least(all, |one| (one.request.lbn() < here, one.request.lbn()));
            here = all[picked].request.extents[0].end();
            picked
        });
    }

    /// A sweep of FSCAN takes what waited when it began, in the order of LOOK.
    #[test]
    fn fscan_freezes_its_queue(doings in doings()) {
        let mut frozen: Vec<u64> = Vec::new();
        let mut pick = sweep(false);
        agree(mechanism("memory"), &mut Fscan::default(), &doings, |_, _, all| {
            if frozen.is_empty() {
                frozen = all.iter().map(|one| one.request.id).collect();
            }
            let of_sweep: Vec<Waiting> =
                all.iter().filter(|one| frozen.contains(&one.request.id)).cloned().collect();
            let id = of_sweep[pick(&of_sweep)].request.id;
            frozen.retain(|other| *other != id);
            all.iter().position(|one| one.request.id == id).expect("it waits")
        });
    }

    /// The rules of deadline-iosched.rst, on a plain list.
    #[test]
    fn deadline_follows_its_description(
        doings in doings(),
        expires_ms in prop_oneof![Just((500u64, 5000u64)), (0..50u64, 0..50u64)],
        writes_starved in 0..4u32,
        fifo_batch in 1..20u32,
    ) {
        let label = format!(
            "deadline(read_expire_ms={}; write_expire_ms={}; writes_starved={writes_starved}; \
             fifo_batch={fifo_batch})", expires_ms.0, expires_ms.1
        );
        let mut scheduler = SchedulerSpec::named(&label).expect("a scheduler").make();
        // By kind, reads first: where the last request began.
        let (mut from, mut kind, mut batched, mut starved) = ([0u64, 0], 0usize, 0, 0);
        agree(mechanism("memory"), &mut *scheduler, &doings, |_, now, all| {
            let is_of = |one: &&Waiting, kind| usize::from(one.request.op != Op::Read) == kind;
            let lowest = |kind: usize, from: u64| {
                let of_kind = all.iter().filter(|one| is_of(one, kind) && one.request.lbn() >= from);
                of_kind.min_by_key(|one| one.request.lbn())
            };
            let next = lowest(kind, from[kind]).filter(|_| batched < fifo_batch);
            let picked = next.unwrap_or_else(|| {
                let waits = [0, 1].map(|kind| all.iter().any(|one| is_of(&one, kind)));
                kind = match waits {
                    [true, true] if starved >= writes_starved => 1,
                    [true, writes] => {
                        starved += u32::from(writes);
                        0
                    }
                    _ => 1,
                };
                if kind == 1 {
                    starved = 0;
                }
                batched = 0;
                let of_kind = all.iter().filter(|one| is_of(one, kind));
                let oldest = of_kind.min_by_key(|one| one.request.arrival).expect("one waits");
                let expire = Nanos([expires_ms.0, expires_ms.1][kind] * 1_000_000);
                let late = oldest.request.arrival + expire <= now;
                lowest(kind, from[kind]).filter(|_| !late).unwrap_or(oldest)
            });
            batched += 1;
            from[kind] = picked.request.lbn();
            let id = picked.request.id;
            all.iter().position(|one| one.request.id == id).expect("it waits")
        });
    }

    /// However requests come, none waits for more than two turns of LOOK, nor for those of
    /// FSCAN that came two sweeps later.
    #[test]
    fn no_request_is_left_behind(places in prop::collection::vec(0..40u64, 20..200)) {
        for (mut scheduler, most_turns) in [
            (Box::new(Look::default()) as Box<dyn Scheduler>, 2),
            (Box::new(Fscan::default()), 3),
        ] {
            let memory = mechanism("memory");
            let (mut last, mut down, mut turns) = (0, false, 0);
            let mut pushed = vec![0; places.len()];
            // One of three at the same place, as a hot one; two come for each that goes.
            for (index, pair) in places.chunks(2).enumerate() {
                for (offset, place) in pair.iter().enumerate() {
                    let id = (2 * index + offset) as u64;
                    let lbn = if id.is_multiple_of(3) { 160 } else { place * 8 };
                    pushed[id as usize] = turns;
                    scheduler.push(waiting(id, Op::Read, lbn, 8, Nanos::ZERO), memory.positions());
                }
                let picked = scheduler.pop(Nanos::ZERO, memory.positions()).expect("one waits");
                let lbn = picked.request.lbn();
                if (lbn < last && !down) || (lbn > last && down) {
                    (down, turns) = (!down, turns + 1);
                }
                last = lbn;
                prop_assert!(turns - pushed[picked.request.id as usize] <= most_turns);
            }
        }
    }
}

#[test]
fn scans_move_to_the_edges() {
    let memory = mechanism("memory");
    let last = memory.positions().blocks() - 1;
    let served = |label: &str, places: &[u64]| {
        let mut scheduler = SchedulerSpec::named(label).expect("a scheduler").make();
        for (id, place) in places.iter().enumerate() {
            let request = waiting(id as u64, Op::Read, *place, 1, Nanos::ZERO);
            scheduler.push(request, memory.positions());
        }
        let mut way = Vec::new();
        while let Some(picked) = scheduler.pop(Nanos::ZERO, memory.positions()) {
            way.extend(scheduler.way().iter().map(|lbn| (*lbn, true)));
            way.push((picked.request.lbn(), false));
            // The arm is at 50 before the others come.
            if picked.request.lbn() == 50 && picked.request.id == 0 {
                for (id, place) in [(10, 60), (11, 40), (12, 70), (13, 30)] {
                    let request = waiting(id, Op::Read, place, 1, Nanos::ZERO);
                    scheduler.push(request, memory.positions());
                }
            }
        }
        way
    };
    let plain = |lbns: &[u64]| lbns.iter().map(|lbn| (*lbn, false)).collect::<Vec<_>>();
    assert_eq!(served("look", &[50]), plain(&[50, 60, 70, 40, 30]));
    assert_eq!(served("look(direction=down)", &[50]), plain(&[50, 40, 30, 60, 70]));
    let mut way = plain(&[50, 60, 70, 40, 30]);
    way.insert(3, (last, true));
    assert_eq!(served("scan", &[50]), way);
    let mut way = plain(&[50, 40, 30, 60, 70]);
    way.insert(3, (0, true));
    assert_eq!(served("scan(direction=down)", &[50]), way);
    let mut way = plain(&[50, 60, 70, 30, 40]);
    way.splice(3..3, [(last, true), (0, true)]);
    assert_eq!(served("c_scan", &[50]), way);
}

/// A mechanism that passes an edge takes the time of both moves, and says where it went.
#[test]
fn a_way_by_the_edge_takes_the_time_of_its_moves() {
    for name in ["atlas10k", "superdisk", "g2", "runs", "coasting"] {
        let cylinder = |mechanism: &dyn Mechanism, lbn| {
            let request = waiting(0, Op::Read, lbn, 1, Nanos::ZERO).request;
            mechanism.positions().target_cylinder(&request) as u64
        };
        let mut direct = mechanism(name);
        let blocks = direct.positions().blocks();
        let start = waiting(0, Op::Read, blocks / 2, 1, Nanos::ZERO).request;
        let next = waiting(1, Op::Read, blocks / 4, 1, Nanos::ZERO).request;
        let (from, to) = (cylinder(&*direct, blocks / 2), cylinder(&*direct, blocks / 4));
        let edge = cylinder(&*direct, blocks - 1);
        let mut by_edge = mechanism(name);
        let mut at = Nanos::ZERO;
        for mechanism in [&mut direct, &mut by_edge] {
            at = mechanism.serve(Nanos::ZERO, &start, &mut Vec::new()).parts.total();
        }
        by_edge.pass_by(blocks - 1);
        by_edge.pass_by(0);
        let long = by_edge.serve(at, &next, &mut Vec::new());
        let short = direct.serve(at, &next, &mut Vec::new());
        let path = long.path.expect("it has cylinders");
        assert_eq!(path.cylinders, (edge - from) + edge + to, "{name}");
        assert_eq!(short.path.expect("it has cylinders").cylinders, from - to);
        assert_eq!((u64::from(path.from.cylinder), u64::from(path.to.cylinder)), (from, to));
        // Longer than a move over all cylinders, which is a part of the way.
        let stroke = {
            let mut other = mechanism(name);
            let first = waiting(0, Op::Read, 0, 1, Nanos::ZERO).request;
            let last = waiting(1, Op::Read, blocks - 1, 1, Nanos::ZERO).request;
            let at = other.serve(Nanos::ZERO, &first, &mut Vec::new()).parts.total();
            other.serve(at, &last, &mut Vec::new()).parts
        };
        let alone = if stroke.x_seek > Nanos::ZERO { stroke.x_seek } else { stroke.seek };
        assert!(long.parts.seek > alone, "{name}");
        // Then it is where it would be, and the next request takes no detour.
        let after = at + long.parts.total().max(short.parts.total());
        let third = waiting(2, Op::Read, 0, 1, Nanos::ZERO).request;
        let (long, short) = (
            by_edge.serve(after, &third, &mut Vec::new()),
            direct.serve(after, &third, &mut Vec::new()),
        );
        let cylinders = |one: Service| one.path.expect("it has cylinders").cylinders;
        assert_eq!(cylinders(long), cylinders(short), "{name}");
        let of_arm = |one: Service| {
            if one.parts.x_seek > Nanos::ZERO { one.parts.x_seek } else { one.parts.seek }
        };
        assert_eq!(of_arm(long), of_arm(short), "{name}");
    }
}

#[test]
fn long_queues_are_served_as_short_ones() {
    let mut state = 7u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((u128::from(state) * u128::from(below)) >> 64) as u64
    };
    let mut doings: Vec<Do> = Vec::new();
    // Up to 2,500 that wait, half of them in ten places, and down to none.
    for grow in [7, 3, 8, 0] {
        for _ in 0..4000 {
            doings.push(if random(10) < grow {
                let place = if random(2) == 0 { random(10) * 1000 } else { random(10_000) };
                Do::Push(place as f64 / 10_000.0, 8, true, 0)
            } else {
                Do::Pop(0)
            });
        }
    }
    let mut here = 0;
    agree(mechanism("memory"), &mut CLook::default(), &doings, |_, _, all| {
        let picked = least(all, |one| (one.request.lbn() < here, one.request.lbn()));
        here = all[picked].request.extents[0].end();
        picked
    });
    here = 0;
    agree(mechanism("memory"), &mut SstfLbn::default(), &doings, |_, _, all| {
        let picked = least(all, |one| one.request.lbn().abs_diff(here));
        here = all[picked].request.extents[0].end();
        picked
    });
    let mut pick = sweep(false);
    agree(mechanism("memory"), &mut Look::default(), &doings, |_, _, all| pick(all));
    agree(mechanism("g3"), &mut Sptf::default(), &doings, |mechanism, at, all| {
        least(all, |one| mechanism.positions().estimate(at, &one.request))
    });
    for name in ["g2", "atlas10k"] {
        let mut aged = AgedSptf::new(0.006);
        agree(mechanism(name), &mut aged, &doings, oldest_and_nearest(0.006));
    }
}

#[test]
fn aged_sptf_lies_between_sptf_and_first_come_first_served() {
    let doings: Vec<Do> = (0..40)
        .map(|n| Do::Push(f64::from(n * 7 % 40) / 40.0, 8, true, 0))
        .flat_map(|push| [push, Do::Push(0.5, 8, true, 0)])
        .chain((0..80).map(|_| Do::Pop(1000)))
        .collect();
    agree(mechanism("g2"), &mut AgedSptf::new(0.0), &doings, |mechanism, at, all| {
        least(all, |one| mechanism.positions().estimate(at, &one.request))
    });
    let spaced: Vec<Do> = (0..40)
        .flat_map(|n| [Do::Push(f64::from(n * 7 % 40) / 40.0, 8, true, 0), Do::Pop(0)])
        .collect();
    agree(mechanism("g2"), &mut AgedSptf::new(1e6), &spaced, |_, _, _| 0);
}

#[test]
fn zone_sptf_empties_a_zone_before_it_goes_on() {
    let choice = SchedulerSpec::named("zone_sptf(zones=4)").expect("a scheduler");
    let mut scheduler = choice.make();
    let mut sled = mechanism("g2");
    let blocks = sled.positions().blocks();
    for n in 0..200u64 {
        let lbn = (n * 7919 % 200) * blocks / 200;
        scheduler.push(waiting(n, Op::Read, lbn, 8, Nanos::ZERO), sled.positions());
    }
    let (mut now, mut zones) = (Nanos::ZERO, Vec::new());
    while let Some(picked) = scheduler.pop(now, sled.positions()) {
        zones.push(picked.request.lbn() * 4 / blocks);
        now += sled.serve(now, &picked.request, &mut Vec::new()).parts.total();
    }
    assert_eq!(zones.len(), 200);
    assert!(zones.is_sorted(), "{zones:?}");
}

/// Picks in a queue that is kept full of random requests; questions per pick.
fn questions(scheduler: &mut dyn Scheduler, name: &str, depth: u64, picks: u64) -> f64 {
    let mut sled = Spy::new(mechanism(name), &Log::default());
    let blocks = sled.positions().blocks() - 8;
    let mut place = 1u64;
    let mut next = |id, now| {
        // Knuth's multiplicative generator; the high bits are good enough.
        place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let lbn = ((u128::from(place) * u128::from(blocks)) >> 64) as u64;
        waiting(id, Op::Read, lbn, 8, now)
    };
    let mut now = Nanos::ZERO;
    for id in 0..depth {
        scheduler.push(next(id, now), &sled);
    }
    for id in depth..depth + picks {
        let picked = scheduler.pop(now, &sled).expect("a full queue");
        now += sled.serve(now, &picked.request, &mut Vec::new()).parts.total();
        scheduler.push(next(id, now), &sled);
    }
    sled.estimates.get() as f64 / picks as f64
}

#[test]
fn sptf_asks_for_few_positioning_times() {
    for (depth, most) in [(16, 2.0), (64, 3.0), (256, 4.0), (4096, 8.0)] {
        let asked = questions(&mut Sptf::default(), "g2", depth, 5000);
        println!("g2 at {depth}: {asked:.2} positioning times per pick");
        assert!(asked <= most, "{asked} at {depth}");
    }
    let asked = questions(&mut Sptf::default(), "atlas10k", 64, 5000);
    println!("atlas10k at 64: {asked:.2} positioning times per pick");
    assert!(asked < 40.0, "{asked}");
}

#[test]
fn aged_sptf_asks_for_few_positioning_times() {
    for (name, depth, most) in [
        ("g2", 16, 2.5),
        ("g2", 64, 4.5),
        ("g2", 256, 6.0),
        ("g2", 4096, 8.0),
        ("atlas10k", 256, 25.0),
    ] {
        // A full round of the queue first, so that ages differ.
        let asked = questions(&mut AgedSptf::new(0.006), name, depth, 5000.max(4 * depth));
        println!("{name} at {depth}: {asked:.2} positioning times per pick");
        assert!(asked <= most, "{asked} at {depth}");
    }
}

#[test]
fn labels_and_keys() {
    for label in ["fcfs", "sptf", "aged_sptf(age_weight=0.5)", "fcfs(host=c_look; device_depth=4)"]
    {
        assert_eq!(SchedulerSpec::named(label).expect("a scheduler").label(), label);
    }
    let nested = SchedulerSpec::named("fcfs(host=aged_sptf(age_weight=2); device_depth=3)");
    let nested = nested.expect("a scheduler");
    let (host, depth) = nested.host().expect("a host");
    assert_eq!((host.label(), depth), ("aged_sptf(age_weight=2)", 3));
}
