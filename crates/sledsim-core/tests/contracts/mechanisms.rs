//! Does a sled fulfil the contract of a mechanism, under every kinematics and
//! rule? Does a disk?

use crate::common::device;
use crate::common::sleds::sled;
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::model::mechanism::{Mechanism, Span, Step};

/// Power of a disk, with a spindle that stops soon.
const STOPS: &[(&str, &str)] = &[
    ("power.seek_w", "12.5"),
    ("power.transfer_w", "12"),
    ("power.idle_w", "7.5"),
    ("power.standby_w", "1"),
    ("power.spin_up_w", "20"),
    ("power.spin_up_ms", "40"),
    ("power.policy", "'timeout'"),
    ("power.timeout_ms", "30"),
    ("power.starts", "'off'"),
];

const CASES: [(&str, &[(&str, &str)]); 16] = [
    ("g2", &[]),
    ("g2", &[("turn", "'in_place'")]),
    ("g1", &[]),
    ("g3", &[("direction", "'best_run'")]),
    ("g2", &[("idle", "'coast'")]),
    ("g2", &[("cylinder_switch", "'tip'"), ("settling_constants", "0")]),
    ("g2", &[("kinematics", "'disksim'")]),
    ("g2", &[("kinematics", "'piecewise'"), ("turnaround", "'exact'")]),
    ("g2", &[("spring_factor", "0")]),
    ("sigmetrics2000", &[("spring_factor", "0.99"), ("lbn_map", "'ascending'")]),
    ("atlas10k", &[]),
    ("atlas10k", &[("zero_latency_read", "false"), ("write_settle_ms", "-0.2")]),
    ("superdisk", &[]),
    ("atlas10k", STOPS),
    ("g2", &[("power.policy", "'immediate'"), ("power.starts", "'off'")]),
    ("g3", &[("power.policy", "'adaptive'"), ("idle", "'coast'")]),
];

/// The mechanism of a device: its arm or its sled.
fn mechanism(name: &str, overrides: &[(&str, &str)]) -> Box<dyn Mechanism> {
    match device(name, overrides).disk() {
        Some(disk) => Box::new(disk.disk()),
        None => sled(name, overrides),
    }
}

/// Serves random requests at random times, and inspects the mechanism before
/// each.
fn visit(mut look: impl FnMut(&dyn Mechanism, Nanos, &mut Stream)) {
    for (name, overrides) in CASES {
        println!("{name} {overrides:?}");
        let mut sled = mechanism(name, overrides);
        let mut random = Stream::new(4, "visit");
        let mut at = Nanos::ZERO;
        for id in 0..60 {
            at += Nanos(random.below(2) * random.below(150_000_000));
            look(&*sled, at, &mut random);
            let request = random_request(&*sled, id, at, &mut random);
            let service = sled.serve(at, &request, &mut Vec::new());
            at += service.parts.total();
        }
    }
}

fn random_request(sled: &dyn Mechanism, id: u64, at: Nanos, random: &mut Stream) -> Request {
    let blocks = random.geometric(30.0).min(2000);
    let lbn = random.below(sled.positions().blocks() - blocks + 1);
    Request::new(id, at, Op::Read, lbn, blocks as u32)
}

#[test]
fn the_bound_is_never_above_an_estimate_and_never_falls_with_distance() {
    visit(|sled, at, random| {
        let bound = |cylinder| sled.positions().seek_lower_bound(at, cylinder);
        // The nearest major has the least bound; from there it only rises.
        let last = sled.positions().target_cylinder(&Request::new(
            0,
            at,
            Op::Read,
            sled.positions().blocks() - 1,
            1,
        ));
        let bounds: Vec<Nanos> = (0..=last).map(bound).collect();
        let nearest =
            (0..bounds.len()).min_by_key(|&cylinder| bounds[cylinder]).expect("cylinders");
        assert!(bounds[..=nearest].windows(2).all(|pair| pair[0] >= pair[1]), "left of {nearest}");
        assert!(bounds[nearest..].windows(2).all(|pair| pair[0] <= pair[1]), "right of {nearest}");
        for _ in 0..200 {
            let request = random_request(sled, 0, at, random);
            let estimate = sled.positions().estimate(at, &request);
            let bound = bounds[sled.positions().target_cylinder(&request) as usize];
            assert!(bound <= estimate, "{bound} > {estimate} for {request:?}");
        }
    });
}

#[test]
fn an_estimate_from_a_known_start_equals_one_from_the_request() {
    visit(|sled, at, random| {
        for id in 0..100 {
            let mut request = random_request(sled, id, at, random);
            if random.below(2) == 0 {
                request.op = Op::Write;
            }
            let (time, start) =
                (sled.positions().estimate(at, &request), sled.positions().start_of(&request));
            assert_eq!(i64::from(start.cylinder), sled.positions().target_cylinder(&request));
            let within = |limit| sled.positions().estimate_within(at, &request, &start, limit);
            assert_eq!(within(Nanos::MAX), time, "{request:?}");
            assert_eq!(within(time), time, "{request:?}");
            if time > Nanos::ZERO {
                let limit = Nanos(random.below(time.0));
                assert!(within(limit) > limit, "{request:?}");
            }
        }
    });
}

#[test]
fn bounds_by_distance_are_never_above_an_estimate_and_never_fall() {
    visit(|sled, at, random| {
        let Some(bounds) = sled.positions().bounds(at) else {
            return;
        };
        assert_eq!(i64::from(bounds.here), sled.positions().cylinder(at));
        assert!(bounds.by_distance.is_sorted());
        for id in 0..200 {
            let request = random_request(sled, id, at, random);
            let bound = bounds.to(sled.positions().start_of(&request).cylinder);
            assert!(bound <= sled.positions().estimate(at, &request), "{request:?}");
        }
    });
}

#[test]
fn an_estimate_equals_the_service_time_to_the_first_bit() {
    for (name, overrides) in CASES {
        let mut sled = mechanism(name, overrides);
        let mut random = Stream::new(6, "estimate");
        let mut at = Nanos::ZERO;
        for id in 0..300 {
            at += Nanos(random.below(2) * random.below(150_000_000));
            let request = random_request(&*sled, id, at, &mut random);
            let estimate = sled.positions().estimate(at, &request);
            assert_eq!(
                sled.positions().estimate(at, &request),
                estimate,
                "estimating moves nothing"
            );
            let mut steps: Vec<Step> = Vec::new();
            let service = sled.serve(at, &request, &mut steps);
            let first = service.parts.other + Nanos::from_s(steps[0].seek_s);
            assert!(estimate.0.abs_diff(first.0) <= 1, "{name} {overrides:?}: {estimate} {first}");
            assert_eq!(steps.len() as u32, service.passes);
            assert_eq!(steps[steps.len() - 1].end, service.parts.total());
            at += service.parts.total();
        }
    }
}

#[test]
fn passes_cover_a_request_once_and_no_pass_is_wider_than_a_row_or_track() {
    for (name, overrides) in CASES {
        let mut sled = mechanism(name, overrides);
        let mut random = Stream::new(8, "passes");
        let widest = match name {
            "atlas10k" => 334,
            "superdisk" => 732,
            _ => 50,
        };
        for id in 0..200 {
            let request = random_request(&*sled, id, Nanos::ZERO, &mut random);
            let mut steps: Vec<Step> = Vec::new();
            sled.serve(Nanos::ZERO, &request, &mut steps);
            steps.sort_by_key(|step| step.lbn);
            let mut lbn = request.lbn();
            for step in &steps {
                assert_eq!(step.lbn, lbn, "{name} {overrides:?}");
                assert!((1..=widest).contains(&step.blocks));
                lbn += u64::from(step.blocks);
            }
            assert_eq!(lbn, request.extents[0].end());
        }
    }
}

#[test]
fn rows_lie_in_tracks_and_tracks_in_cylinders() {
    for (name, overrides) in CASES {
        if device(name, overrides).disk().is_some() {
            continue; // its tracks are walked block by block elsewhere
        }
        let (sled, mut served) = (mechanism(name, overrides), mechanism(name, overrides));
        let mut random = Stream::new(3, "spans");
        let place =
            |lbn| sled.positions().target_cylinder(&Request::new(0, Nanos::ZERO, Op::Read, lbn, 1));
        let ends = [0, sled.positions().blocks() - 1];
        let some = (0..500).map(|_| random.below(sled.positions().blocks()));
        let mut now = Nanos::ZERO;
        for lbn in ends.into_iter().chain(some) {
            let [row, track, cylinder] =
                [Span::Row, Span::Track, Span::Cylinder].map(|span| sled.media().end_of(lbn, span));
            assert!(
                lbn < row
                    && row <= track
                    && track <= cylinder
                    && cylinder <= sled.positions().blocks()
            );
            assert_eq!(place(cylinder - 1), place(lbn));
            if cylinder < sled.positions().blocks() {
                assert_eq!(place(cylinder), place(lbn) + 1);
            }
            // A row is one pass, regardless of the passes before and after it.
            let mut serve = |first: u64, blocks: u64| {
                let request = Request::new(0, now, Op::Read, first, blocks as u32);
                let service = served.serve(now, &request, &mut Vec::new());
                now += service.parts.total();
                service
            };
            let one = serve(lbn, row - lbn);
            assert_eq!(one.passes, 1);
            // The last block of a row and the first of the next take two rows
            // to pass, and what lies between.
            if row < track {
                let two = serve(row - 1, 2).parts.transfer;
                assert!(two.0 > one.parts.transfer.0 * 3 / 2, "{name} {lbn}");
            }
        }
    }
}

#[test]
fn a_device_of_very_many_rows_needs_no_table() {
    // 502 rows of 8 coded bits; the same device with one row less has a table.
    let mean = |travel_y_um: &str| {
        let overrides = [
            ("tips_per_lbn", "512"),
            ("tip_sector_bits", "8"),
            ("active_tips", "512"),
            ("tips", "512"),
            ("servo_bits", "0"),
            ("bit_cell_nm", "50"),
            ("spring_reference_um", "200"),
            ("travel_y_um", travel_y_um),
        ];
        let mut sled = mechanism("sigmetrics2000", &overrides);
        let mut random = Stream::new(2, "rows");
        let total: u64 = (0..4000)
            .map(|id| {
                let lbn = random.below(1_000_000);
                let request = Request::new(id, Nanos::ZERO, Op::Read, lbn, 1);
                let service = sled.serve(Nanos::ZERO, &request, &mut Vec::new());
                service.parts.total().0
            })
            .sum();
        total as f64 / 4000.0
    };
    let (table, none) = (mean("200"), mean("200.8"));
    assert!((table / none - 1.0).abs() < 0.01, "{table} {none}");
}

#[test]
fn a_coasting_sled_follows_a_triangle_wave() {
    // Without springs a turnaround takes 2v/a wherever it is; the wave over
    // 100 um at 28 mm/s then has a known period.
    let (speed_m_s, turn_s) = (28e-3, 2.0 * 28e-3 / 803.6);
    let period_s = 2.0 * (100e-6 / speed_m_s + turn_s);
    let estimates = |idle_s: f64| {
        let mut sled = mechanism(
            "g2",
            &[("idle", "'coast'"), ("spring_factor", "0"), ("settling_constants", "0")],
        );
        let first = Request::new(0, Nanos::ZERO, Op::Read, 3_375_000, 8);
        let end = sled.serve(Nanos::ZERO, &first, &mut Vec::new()).parts.total();
        let at = end + Nanos::from_s(idle_s);
        let places = [3_375_000_u64, 3_375_100, 3_375_200, 3_375_260];
        places.map(|lbn| sled.positions().estimate(at, &Request::new(1, at, Op::Read, lbn, 1)).0)
    };
    let held = estimates(0.0);
    let mut moved = 0;
    for part in 1..50 {
        let idle_s = period_s * f64::from(part) / 50.0;
        let now = estimates(idle_s);
        moved += usize::from(now != held);
        // One period later everything is as it was, to the rounding of times.
        let later = estimates(idle_s + period_s);
        for (one, other) in now.into_iter().zip(later) {
            assert!(one.abs_diff(other) <= 20, "{one} ns, {other} ns at {idle_s} s");
        }
    }
    assert_eq!(moved, 49, "the sled moves");
}

#[test]
fn a_parked_sled_starts_up_and_energy_is_power_times_time() {
    let mut sled = mechanism("g2", &[]);
    let request = |id| Request::new(id, Nanos::ZERO, Op::Write, 1000, 40);
    let mut steps = Vec::new();
    let first = sled.serve(Nanos::ZERO, &request(0), &mut steps);
    assert_eq!(first.parts.other, Nanos::ZERO, "awake at time zero");
    let end = first.parts.total();
    // 100 ms ready, then parked for 250 ms.
    let at = end + Nanos(350_000_000);
    steps.clear();
    let second = sled.serve(at, &request(1), &mut steps);
    assert_eq!(second.parts.other, Nanos(500_000), "startup");
    let energy = sled.energy(at + second.parts.total()).expect("energy");
    let close = |ours: f64, expected: f64| {
        assert!((ours / expected - 1.0).abs() < 1e-6, "{ours} {expected}");
    };
    close(energy.idle_j, 0.1 * 0.1);
    close(energy.inactive_j, 0.05 * 0.25);
    close(energy.startup_j, 0.1 * 0.0005);
    close(energy.seek_j, 0.1 * (first.parts.seek + second.parts.seek).s());
    // Both requests move 40 blocks in full rows or parts of them: every block
    // keeps its 64 tips of 1 mW on for one row, the sled 100 mW all the time.
    let row_s = 90.0 / 700e3;
    let sled_s = (first.parts.transfer + second.parts.transfer).s();
    close(energy.transfer_j, 0.1 * sled_s + 80.0 * 64.0 * 1e-3 * row_s);
    let rows = (first.energy_nj + second.energy_nj) as f64 * 1e-9;
    close(rows, energy.startup_j + energy.seek_j + energy.transfer_j);
}
