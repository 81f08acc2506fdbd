//! Do failures of sleds cost what the motion of the sled says, and nothing else?
//! The twin is the same sled without failures, which is told by hand to make the
//! passes again.

use crate::common::sleds::sled;
use crate::common::{device, run_open};
use sledsim_base::random::Stream;
use sledsim_base::request::{Flags, Op, Request};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::devices::mems::calculator::{Point, calculator};
use sledsim_core::devices::mems::faults::{Elsewhere, Faulty};
use sledsim_core::devices::mems::geometry::{Geometry, Location};
use sledsim_core::devices::mems::kinematics::Kinematics;
use sledsim_core::devices::mems::motion::{Direction, Motion};
use sledsim_core::devices::mems::sled::Sled;
use sledsim_core::devices::mems::spec::{Mems, WithMotion};
use sledsim_core::model::mechanism::{Mechanism, Step};
use sledsim_core::model::{Energy, Model, Report};
use sledsim_core::queueing::schedulers::Choice;
use std::collections::BTreeSet;

type Keys<'a> = &'a [(&'a str, &'a str)];

const SCHEDULERS: [&str; 5] = [
    "fcfs",
    "sstf_lbn",
    "c_look",
    "sptf",
    "aged_sptf(age_weight=0.5)",
];

const BUFFER: &str =
    "{ size_kib = 512, segments = 4, read_ahead = 'track', write_back_segments = 2 }";

/// An open load, a third of it writes, of 1 to 40 blocks.
fn random_load(blocks: u64, count: u64, gap_ns: u64, seed: u64) -> Vec<Request> {
    let mut random = Stream::new(seed, "load");
    let mut at = Nanos::ZERO;
    (0..count)
        .map(|id| {
            at += Nanos(random.below(2 * gap_ns));
            let size = 1 + random.below(40) as u32;
            let op = if random.chance(0.33) {
                Op::Write
            } else {
                Op::Read
            };
            Request::new(id, at, op, random.below(blocks - 40), size)
        })
        .collect()
}

fn run(device: &Device, scheduler: &str, requests: &[Request]) -> (Vec<Row>, Report) {
    let choice = Choice::named(scheduler).expect("a scheduler");
    let (mut model, _) = device.build(&|| choice.make());
    run_model(&mut *model, requests)
}

fn run_model(model: &mut dyn Model, requests: &[Request]) -> (Vec<Row>, Report) {
    let mut rows = run_open(model, requests).done;
    rows.sort_by_key(|row| row.id);
    assert_eq!(rows.len(), requests.len());
    let mut end = Nanos::ZERO;
    for row in &rows {
        assert_eq!(row.parts.total(), row.completion - row.arrival, "{row:?}");
        end = end.max(row.completion);
    }
    let mut reports = Vec::new();
    model.report(end, &mut reports);
    (rows, reports.remove(0))
}

fn count(report: &Report, name: &str) -> u64 {
    let found = report.counts.iter().find(|(other, _)| *other == name);
    found
        .unwrap_or_else(|| panic!("no {name} in {:?}", report.counts))
        .1
}

struct Make<'a>(&'a Mems);

impl WithMotion for Make<'_> {
    type Output = Box<dyn Mechanism>;

    fn with<K: Kinematics + std::fmt::Debug + 'static>(self, motion: Motion<K>) -> Self::Output {
        let sled = Sled::new(motion, self.0.behaviour).with_parallel(self.0.parallel.clone());
        let faults = self.0.faults.as_ref().expect("a table [faults]");
        Box::new(Faulty::new(sled, self.0.geometry, faults, 0.0))
    }
}

/// The mechanism of g2 with faults.
fn faulty(keys: Keys<'_>) -> Box<dyn Mechanism> {
    let device = device("g2", keys);
    let mems = device.mems().expect("a sled");
    mems.with_motion(Make(mems))
}

/// The device of `keys`, and the same without failures.
fn with_and_without(keys: Keys<'_>) -> (Device, Device) {
    let no_faults = |(key, _): &&(&str, &str)| !key.starts_with("faults");
    let without: Vec<_> = keys.iter().filter(no_faults).copied().collect();
    (device("g2", keys), device("g2", &without))
}

#[test]
fn a_table_without_failures_changes_nothing() {
    for buffer in ["", BUFFER] {
        let mut keys = vec![("faults.seed", "3")];
        if !buffer.is_empty() {
            keys.push(("buffer", buffer));
        }
        let (with, without) = with_and_without(&keys);
        let load = random_load(without.blocks(), 2_000, 1_500_000, 1);
        for scheduler in SCHEDULERS {
            let (rows, report) = run(&with, scheduler, &load);
            let (twins, twin) = run(&without, scheduler, &load);
            assert_eq!(rows, twins);
            assert_eq!(report.energy, twin.energy);
        }
    }
}

#[test]
fn remapping_to_spare_tips_leaves_every_time_as_it_was() {
    let faults = [
        ("faults.failed_tips", "100"),
        ("faults.media_defects", "2000"),
        ("faults.spare_tips", "400"),
        ("faults.tip_failures_per_hour", "400000"),
        ("faults.ecc_tips", "1"),
    ];
    for buffer in ["", BUFFER] {
        let mut keys = faults.to_vec();
        if !buffer.is_empty() {
            keys.push(("buffer", buffer));
        }
        let (with, without) = with_and_without(&keys);
        let load = random_load(without.blocks(), 1_500, 1_000_000, 2);
        for scheduler in SCHEDULERS {
            let (rows, report) = run(&with, scheduler, &load);
            let (twins, twin) = run(&without, scheduler, &load);
            for (row, twin) in rows.iter().zip(&twins) {
                // All but the energy of the ECC tip.
                let energy_nj = twin.energy_nj;
                assert_eq!(Row { energy_nj, ..*row }, *twin);
            }
            assert!(report.energy.transfer_j > twin.energy.transfer_j);
            assert!(count(&report, "tips_replaced") > 150, "{:?}", report.counts);
            assert!(count(&report, "tips_failed") >= count(&report, "tips_replaced"));
            assert_eq!(count(&report, "defects_replaced"), 2000);
            assert_eq!(count(&report, "blocks_lost"), 0);
        }
    }
}

#[test]
fn a_read_that_fails_is_what_the_sled_takes_to_serve_the_row_again() {
    let keys = [
        ("faults.read_error_rate", "1"),
        ("faults.ecc_tips", "3"),
        ("faults.retries", "2"),
    ];
    let mut sled_with = faulty(&keys);
    let mut twin = sled("g2", &[]);
    let mut random = Stream::new(3, "requests");
    let mut at = Nanos::ZERO;
    for id in 0..300 {
        let lbn = random.below(twin.blocks() - 100);
        let request = Request::new(id, at, Op::Read, lbn, 1 + random.below(60) as u32);
        let (mut steps, mut of_twin) = (Vec::new(), Vec::new());
        let service = sled_with.serve(at, &request, &mut steps);
        let first = twin.serve(at, &request, &mut of_twin);
        // All passes once more, each after the one before; then all again.
        let mut end = at + first.parts.total();
        let passes = of_twin.clone();
        for pass in passes.iter().chain(&passes) {
            let again = Request::new(id, end, Op::Read, pass.lbn, pass.blocks);
            end += twin.serve(end, &again, &mut of_twin).parts.total();
        }
        assert_eq!(service.parts.total(), end - at);
        assert_eq!(service.parts.retry, end - at - first.parts.total());
        assert_eq!(service.parts.transfer, first.parts.transfer);
        assert_eq!(
            (service.retries, service.passes),
            (2 * first.passes, 3 * first.passes)
        );
        assert_eq!(service.status, Status::Error);
        assert_eq!(sled_with.lost_blocks().len() as u32, request.blocks());
        // Steps tell the same: their parts add up, and only the last of a block is
        // not made again.
        let mut since = Nanos::ZERO;
        let mut total = Nanos::ZERO;
        for (step, twin) in steps.iter().zip(&of_twin) {
            total += step.parts(since).total();
            since = step.end;
            assert_eq!((step.cylinder, step.blocks), (twin.cylinder, twin.blocks));
        }
        assert_eq!(
            (total, since, steps.len()),
            (end - at, end - at, of_twin.len())
        );
        assert_eq!(
            steps.iter().filter(|step| !step.again).count(),
            passes.len()
        );
        at = end + Nanos(random.below(3) * random.below(150_000_000));
    }
    // The energy of the sled is that of the twin, under other names.
    let (spent, twin) = (sled_with.energy(at), twin.energy(at));
    assert!((spent.total_j() - twin.total_j()).abs() < 1e-12 * twin.total_j());
    assert!(spent.retry_j > spent.seek_j && spent.retry_j > spent.transfer_j);
    assert!(twin.retry_j == 0.0);
}

/// P(more than `bears` of `n` fail).
fn binomial_tail(n: u32, p: f64, bears: u32) -> f64 {
    let ln = |n: u32| libm::lgamma(f64::from(n) + 1.0);
    let term = |k: u32| {
        let choose = ln(n) - ln(k) - ln(n - k);
        libm::exp(choose + f64::from(k) * p.ln() + f64::from(n - k) * (1.0 - p).ln())
    };
    1.0 - (0..=bears).map(term).sum::<f64>()
}

#[test]
fn reads_fail_as_often_as_the_code_and_the_chance_say() {
    // One block of 64 + 4 tips; in the last case of 64 + 12, of which 10 have failed.
    let p = 0.03;
    let requests: Vec<Request> = (0..20_000)
        .map(|id| Request::new(id, Nanos(id * 10_000_000), Op::Read, 20 * id, 1))
        .collect();
    for (vertical, ecc, failed, missing) in [
        ("true", 4, "[]", 0),
        ("false", 4, "[]", 0),
        ("true", 12, "[3, 4, 5, 6, 7, 8, 9, 10, 11, 75]", 10),
    ] {
        let ecc_tips = ecc.to_string();
        let device = device(
            "g2",
            &[
                ("faults.read_error_rate", "0.03"),
                ("faults.ecc_tips", &*ecc_tips),
                ("faults.vertical_check", vertical),
                ("faults.failed_tips", failed),
                ("faults.retries", "1"),
            ],
        );
        let (rows, report) = run(&device, "fcfs", &requests);
        // Which square an LBN is under: only square 0 has lost tips.
        let geometry = device.mems().expect("a sled").geometry;
        let is_hit = |row: &&Row| {
            let place = geometry.locate(row.lbn);
            (place.track == 0 && place.cell == 0) == (missing > 0)
        };
        let bears = if vertical == "true" { ecc - missing } else { 2 };
        let bad = binomial_tail(64 + ecc - missing, p, bears);
        let rows: Vec<&Row> = rows.iter().filter(is_hit).collect();
        let n = rows.len() as f64;
        let retried = rows.iter().filter(|row| row.retries == 1).count() as f64;
        let lost = rows
            .iter()
            .filter(|row| row.status == Status::Error)
            .count() as f64;
        let within = |p: f64| 5.0 * (n * p * (1.0 - p)).sqrt();
        assert!(
            (retried - n * bad).abs() < within(bad),
            "{retried} {}",
            n * bad
        );
        assert!(
            (lost - n * bad * bad).abs() < within(bad * bad) + 1.0,
            "{lost}"
        );
        assert!(retried > 5.0 && n > 3000.0, "{n} {retried}");
        for row in rows {
            assert_eq!(row.parts.retry > Nanos::ZERO, row.retries > 0);
            assert_eq!(row.passes, 1 + row.retries);
        }
        assert!(count(&report, "blocks_lost") as f64 >= lost);
    }
}

#[test]
fn an_error_costs_no_bus_time_twice_and_a_read_ends_after_its_last_pass() {
    // A bus so slow that data of the first pass would be in the way of the others.
    for buffer in [false, true] {
        let mut keys = vec![
            ("command_overhead_ms", "0"),
            ("bus_ms_per_block", "1"),
            ("faults.read_error_rate", "1"),
            ("faults.retries", "1"),
        ];
        if buffer {
            keys.push(("buffer", "{ size_kib = 512, segments = 4 }"));
        }
        let request = Request::new(0, Nanos::ZERO, Op::Read, 1000, 8);
        let (rows, report) = run(&device("g2", &keys), "fcfs", std::slice::from_ref(&request));
        let (row, bus) = (&rows[0], Nanos(8_000_000));
        assert_eq!(row.parts.bus, bus, "{row:?}");
        assert_eq!((row.status, row.retries), (Status::Error, 1));
        assert_eq!(count(&report, "retries"), 1);
    }
}

#[test]
fn what_was_not_recovered_is_not_kept_in_a_buffer() {
    // The square of LBN 1 has lost a tip and there is no ECC.
    let keys = [("buffer", BUFFER), ("faults.failed_tips", "[64]")];
    let reads = |lbn: u64| -> Vec<Request> {
        let read = |id| Request::new(id, Nanos(id * 100_000_000), Op::Read, lbn, 1);
        (0..3).map(read).collect()
    };
    let (rows, _) = run(&device("g2", &keys), "fcfs", &reads(1));
    assert!(
        rows.iter()
            .all(|row| row.status == Status::Error && row.passes > 0)
    );
    let (rows, _) = run(&device("g2", &keys), "fcfs", &reads(20 * 2));
    assert!(rows.iter().all(|row| row.status == Status::Ok));
    assert_eq!(rows[2].passes, 0);
}

#[test]
fn verification_reads_what_was_written_and_mends_it() {
    let mut sled_with = faulty(&[("faults.verify_after_write", "true")]);
    let mut never_right = faulty(&[
        ("faults.verify_after_write", "true"),
        ("faults.read_error_rate", "1"),
        ("faults.retries", "1"),
    ]);
    let mut random = Stream::new(4, "requests");
    let mut twins = [sled("g2", &[]), sled("g2", &[])];
    for id in 0..200 {
        let at = Nanos(id * 50_000_000);
        let lbn = random.below(6_000_000);
        let write = Request::new(id, at, Op::Write, lbn, 1 + random.below(50) as u32);
        // Write, then read, pass by pass; where that fails, each pass written and
        // read once more.
        let mut by_hand = |twin: usize, mend: bool| {
            let mut steps: Vec<Step> = Vec::new();
            let first = twins[twin].serve(at, &write, &mut steps).parts.total();
            let mut end = at + first;
            let mut again = |op, pass: &Step, end: Nanos| {
                let request = Request::new(id, end, op, pass.lbn, pass.blocks);
                end + twins[twin]
                    .serve(end, &request, &mut Vec::new())
                    .parts
                    .total()
            };
            for pass in &steps {
                end = again(Op::Read, pass, end);
            }
            for pass in steps.iter().filter(|_| mend) {
                end = again(Op::Write, pass, end);
                end = again(Op::Read, pass, end);
            }
            (first, end - at)
        };
        let (first, all) = by_hand(0, false);
        let service = sled_with.serve(at, &write, &mut Vec::new());
        assert_eq!(service.parts.total(), all);
        assert_eq!(service.parts.retry, all - first);
        assert_eq!((service.retries, service.status), (0, Status::Ok));
        let (_, all) = by_hand(1, true);
        let service = never_right.serve(at, &write, &mut Vec::new());
        assert_eq!(service.parts.total(), all);
        assert_eq!(service.status, Status::Error);
        assert_eq!(service.passes, 4 * service.retries);
    }
}

#[test]
fn a_seek_error_is_the_servo_field_and_the_way_back_to_the_start() {
    for kinematics in ["analytic", "disksim"] {
        // Never parked: the twin is idle for longer.
        let kinematics = format!("'{kinematics}'");
        let keys = [
            ("kinematics", &*kinematics),
            ("inactive_after_ms", "inf"),
            ("faults.seek_error_rate", "1"),
        ];
        let mut with = faulty(&keys);
        let mut twin = sled("g2", &keys[..2]);
        let device = device("g2", &keys[..2]);
        let mems = device.mems().expect("a sled");
        let (geometry, calculator) = (mems.geometry, calculator(mems));
        let servo_s = 10.0 / 700_000.0;
        let mut random = Stream::new(5, "requests");
        let (mut at, mut turned) = (Nanos::ZERO, 0);
        for id in 0..200 {
            let lbn = random.below(6_000_000);
            let read = Request::new(id, at, Op::Read, lbn, 1 + random.below(50) as u32);
            let (mut steps, mut plain) = (Vec::new(), Vec::new());
            let service = with.serve(at, &read, &mut steps);
            let first = twin.serve(at, &read, &mut plain).parts.total();
            let mut penalty = Nanos::ZERO;
            for (step, plain) in steps.iter().zip(&plain) {
                let place = geometry.locate(plain.lbn);
                let up = plain.direction == 1;
                let direction = if up { Direction::Up } else { Direction::Down };
                let y_m = geometry.edge_y_m(up, place.row + u32::from(!up));
                let x_m = geometry.x_m(place.cylinder);
                let off = if place.cylinder == 0 { 40e-9 } else { -40e-9 };
                let seek = calculator.seek(
                    Point {
                        x_m: x_m + off,
                        y_m: y_m + f64::from(plain.direction) * 400e-9,
                        direction,
                    },
                    Point {
                        x_m,
                        y_m,
                        direction,
                    },
                );
                let seek = seek.expect("a seek");
                // A move in X with its settling, up to two turnarounds of 0.04 to
                // 1.11 ms, and a move in Y between them.
                assert_eq!(seek.turns, 2);
                assert!(seek.x_seek_s > 0.2e-3 && seek.seek_s < 2.3e-3);
                turned += u32::from(seek.y_seek_s > seek.x_seek_s);
                let wanted_s = servo_s + seek.seek_s;
                assert!(
                    (step.retry.s() - wanted_s).abs() < 2e-9,
                    "{step:?} {wanted_s}"
                );
                penalty += step.retry;
                assert_eq!(step.end, plain.end + penalty);
            }
            assert_eq!(service.parts.retry, penalty);
            assert_eq!(service.parts.total(), first + penalty);
            // The twin waits as long, which takes as much power: 100 mW idle or not.
            at += service.parts.total() + Nanos(random.below(100_000_000));
        }
        assert!(turned > 0);
        let (spent, twin) = (with.energy(at), twin.energy(at));
        assert!((spent.total_j() - twin.total_j()).abs() < 1e-9 * twin.total_j());
        assert!(spent.retry_j > 0.0);
    }
}

#[test]
fn energy_by_cause_is_all_there_is_and_rows_hold_what_was_theirs() {
    let keys = [
        ("faults.read_error_rate", "0.02"),
        ("faults.ecc_tips", "2"),
        ("faults.seek_error_rate", "0.1"),
        ("faults.verify_after_write", "true"),
        ("faults.retries", "5"),
    ];
    let device = device("g2", &keys);
    let load = random_load(device.blocks(), 3_000, 4_000_000, 7);
    let (rows, report) = run(&device, "sptf", &load);
    let energy = report.energy;
    let sum: f64 = energy.by_cause().iter().map(|(_, joules)| joules).sum();
    assert_eq!(sum.to_bits(), energy.total_j().to_bits());
    let of_rows: f64 = rows.iter().map(|row| row.energy_nj as f64 * 1e-9).sum();
    let Energy {
        idle_j, inactive_j, ..
    } = energy;
    let of_requests = energy.total_j() - idle_j - inactive_j;
    // Each row is rounded twice.
    assert!(
        (of_rows - of_requests).abs() < 1e-9 * rows.len() as f64,
        "{of_rows} {of_requests}"
    );
    assert!(energy.retry_j > 0.1 * of_requests);
    // ECC tips: 2 mW for each block and row time, in first passes and in others.
    let (with_ecc, without) = with_and_without(&[("faults.ecc_tips", "2")]);
    let (_, twin) = run(&without, "sptf", &load);
    let (_, with) = run(&with_ecc, "sptf", &load);
    let more = with.energy.transfer_j - twin.energy.transfer_j;
    let blocks: u64 = load.iter().map(|request| u64::from(request.blocks())).sum();
    let wanted = blocks as f64 * 2e-3 * 90.0 / 700_000.0;
    assert!((more - wanted).abs() < 1e-9 * wanted, "{more} {wanted}");
}

#[test]
fn a_lost_device_answers_at_once_with_errors_whatever_it_is_asked() {
    for buffer in ["", BUFFER] {
        let mut keys = vec![("faults.lost_at_ms", "500")];
        if !buffer.is_empty() {
            keys.push(("buffer", buffer));
        }
        let device = device("g2", &keys);
        let mut load = random_load(device.blocks(), 1_000, 1_000_000, 8);
        load.push(Request::new(1000, Nanos(2_000_000_000), Op::Flush, 0, 0));
        load[1000].extents.clear();
        let (rows, _) = run(&device, "sptf", &load);
        let lost = Nanos(500_000_000);
        let (mut good, mut bad) = (0, 0);
        for row in &rows {
            if row.completion < lost {
                assert_eq!(row.status, Status::Ok, "{row:?}");
                good += 1;
            }
            if row.start >= lost {
                assert_eq!(row.status, Status::Error, "{row:?}");
                assert_eq!(
                    row.parts.seek + row.parts.transfer + row.parts.retry,
                    Nanos::ZERO
                );
                bad += 1;
            }
        }
        assert!(good > 300 && bad > 300, "{good} {bad}");
        assert_eq!(rows[1000].status, Status::Error);
    }
}

/// A batch of single blocks.
fn batch(op: Op, lbns: &[u64]) -> Vec<Request> {
    let one = |(id, lbn): (usize, &u64)| {
        let mut request = Request::new(id as u64, Nanos::ZERO, op, *lbn, 1);
        request.flags = Flags {
            linked: id + 1 < lbns.len(),
            ..Flags::default()
        };
        request
    };
    lbns.iter().enumerate().map(one).collect()
}

#[test]
fn of_a_batch_only_the_commands_with_lost_blocks_are_errors() {
    // Square 3 has lost a tip: of LBNs 0 to 9 in one pass, only 3 is lost.
    let lbns: Vec<u64> = (0..10).collect();
    let plain = [("faults.failed_tips", "[200]")];
    let never = [("faults.lost_at_ms", "0")];
    for op in [Op::Read, Op::Write] {
        let (rows, _) = run(&device("cmu2003", &plain), "fcfs", &batch(op, &lbns));
        for row in &rows {
            let wanted = if row.lbn == 3 {
                Status::Error
            } else {
                Status::Ok
            };
            assert_eq!((row.status, row.retries), (wanted, 0), "{row:?}");
        }
        let (rows, _) = run(&device("cmu2003", &never), "fcfs", &batch(op, &lbns));
        assert!(rows.iter().all(|row| row.status == Status::Error));
    }
    // Errors by chance: all that is read wrong is made again for all of the pass.
    let keys = [("faults.read_error_rate", "1"), ("faults.retries", "2")];
    let (rows, report) = run(&device("cmu2003", &keys), "fcfs", &batch(Op::Read, &lbns));
    for row in &rows {
        assert_eq!((row.retries, row.passes, row.status), (2, 3, Status::Error));
        assert!(row.parts.retry > Nanos(200_000));
    }
    assert_eq!(count(&report, "blocks_lost"), 10);
    let energy: u64 = rows.iter().map(|row| row.energy_nj).sum();
    let spent_j = report.energy.total_j() - report.energy.idle_j;
    assert!((energy as f64 * 1e-9 - spent_j).abs() < 1e-8);
}

/// A sled of 3 tracks of 4 blocks, 7 rows, 40 cylinders.
fn small() -> Geometry {
    let mut geometry = device("g2", &[]).mems().expect("a sled").geometry;
    geometry.cylinders = 40;
    geometry.rows = 7;
    geometry.tracks = 3;
    geometry.blocks_per_row = 4;
    geometry
}

#[test]
fn elsewhere_every_block_has_a_place_of_its_own_that_is_not_broken() {
    let geometry = small();
    let mut random = Stream::new(9, "failures");
    for spare in [4, 9, 20] {
        for _ in 0..30 {
            let mut map = Elsewhere::new(geometry, spare);
            let blocks = map.blocks();
            assert_eq!(blocks, u64::from(40 - spare) * 84);
            let mut broken = BTreeSet::new();
            let defects: BTreeSet<u64> = (0..15).map(|_| random.below(40 * 84)).collect();
            let defects: Vec<u64> = defects.into_iter().collect();
            assert!(map.move_blocks(&defects));
            let mut at = Nanos::ZERO;
            for _ in 0..6 {
                let square = random.below(12) as u32;
                at += Nanos(10);
                if map.move_square(square, at) {
                    broken.insert(square);
                }
            }
            let mut taken = BTreeSet::new();
            for lbn in 0..blocks {
                let place = map.find(lbn, at + Nanos(1), |_| ());
                let Location { track, cell, .. } = geometry.locate(place);
                assert!(!broken.contains(&(track * 4 + cell)), "in a failed square");
                assert!(!defects.contains(&place), "on a defect");
                assert!(taken.insert(place), "two blocks at {place}");
                // Whoever asked before the first failure is sent to the old place.
                let before = map.find(lbn, Nanos(10), |_| ());
                assert!(before == lbn || defects.contains(&lbn));
            }
            assert!(spare < 9 || !broken.is_empty());
        }
    }
}

#[test]
fn disk_like_remapping_costs_time_where_spare_tips_cost_none() {
    // Square 0: one block of every 20 in a row of every fifth track.
    let spare = [("faults.failed_tips", "[0]"), ("faults.spare_tips", "1")];
    let elsewhere = [
        ("faults.failed_tips", "[0]"),
        ("faults.remap", "'elsewhere'"),
        ("faults.spare_cylinders", "26"),
    ];
    let (with_spare, without) = with_and_without(&spare);
    let (with_elsewhere, _) = with_and_without(&elsewhere);
    assert_eq!(without.blocks() - with_elsewhere.blocks(), 26 * 2700);
    let read = |lbn: u64, blocks| [Request::new(0, Nanos::ZERO, Op::Read, lbn, blocks)];
    let time = |device: &Device, lbn, blocks| run(device, "fcfs", &read(lbn, blocks)).0[0];
    // A row that misses square 0, and one with it.
    let (clear, hit) = (2700 * 9 + 541, 2700 * 9);
    assert_eq!(time(&with_elsewhere, clear, 19), time(&without, clear, 19));
    let (there, here) = (time(&with_elsewhere, hit, 20), time(&without, hit, 20));
    assert_eq!(time(&with_spare, hit, 20), here);
    // There and back: two passes more or less, and a stroke to the last cylinders.
    assert_eq!((there.passes, here.passes), (2, 1));
    assert!(there.parts.total() > here.parts.total() + Nanos(500_000));
    assert_eq!(there.status, Status::Ok);
    // Sequential reading, a cylinder at a time.
    let mut load = Vec::new();
    for id in 0..40 {
        load.push(Request::new(
            id,
            Nanos(id * 1_000_000_000),
            Op::Read,
            id * 2700,
            2700,
        ));
    }
    let mean = |device: &Device| {
        let rows = run(device, "fcfs", &load).0;
        rows.iter().map(|row| row.response().ms()).sum::<f64>() / 40.0
    };
    let (tips, moved, none) = (mean(&with_spare), mean(&with_elsewhere), mean(&without));
    assert_eq!(tips.to_bits(), none.to_bits());
    // 27 blocks of each cylinder have moved: once there and back, and two rows.
    assert!(moved > none + 0.5 && moved < none + 5.0, "{moved} {none}");
}

#[test]
fn bounds_hold_for_blocks_that_have_moved() {
    let keys = [
        ("faults.failed_tips", "40"),
        ("faults.media_defects", "500"),
        ("faults.remap", "'elsewhere'"),
        ("faults.spare_cylinders", "1500"),
        ("faults.tip_failures_per_hour", "1000000"),
        ("faults.read_error_rate", "0.001"),
        ("faults.seek_error_rate", "0.05"),
    ];
    let mut sled = faulty(&keys);
    let mut random = Stream::new(10, "requests");
    let mut at = Nanos::ZERO;
    let mut waiting: Vec<Request> = Vec::new();
    for id in 0..400 {
        at += Nanos(random.below(30_000_000));
        let lbn = random.below(sled.blocks() - 40);
        let read = Request::new(id, at, Op::Read, lbn, 1 + random.below(30) as u32);
        waiting.push(read);
        let here = sled.major(at);
        let places: Vec<_> = waiting.iter().map(|request| sled.place(request)).collect();
        for (request, place) in waiting.iter().zip(&places) {
            assert!(sled.at_least(at, place.major) <= sled.estimate(at, request));
            let nearer = (place.major + here) / 2;
            assert!(sled.at_least(at, nearer) <= sled.at_least(at, place.major));
        }
        let next = random.below(waiting.len() as u64) as usize;
        let request = waiting.swap_remove(next);
        let (estimate, mut steps) = (sled.estimate(at, &request), Vec::new());
        let old: Vec<_> = waiting.iter().map(|request| sled.place(request)).collect();
        let service = sled.serve(at, &request, &mut steps);
        // Up to the first bit, and the way back of a seek error apart.
        let seek = Nanos::from_s(steps[0].seek_s);
        assert!(estimate.0.abs_diff(seek.0) <= 1 || estimate.0 > 0 && service.parts.other.0 > 0);
        // Tips may fail: those that wait stay where they were looked for.
        for (request, place) in waiting.iter().zip(&old) {
            assert_eq!(sled.place(request), *place);
        }
        if waiting.len() < 8 {
            continue;
        }
        at += service.parts.total();
    }
}

#[test]
fn defects_that_nothing_replaces_cost_ecc_tips_too() {
    // 50 cylinders of 2,700 blocks, 3,000 defects: 0.0222 a block. One tip of each
    // of ten squares has failed.
    let failed: Vec<String> = (0..10).map(|square| (65 * square).to_string()).collect();
    let failed = format!("[{}]", failed.join(", "));
    let keys = |ecc, failed| {
        device(
            "g2",
            &[
                ("travel_x_um", "2"),
                ("faults.media_defects", "3000"),
                ("faults.ecc_tips", ecc),
                ("faults.failed_tips", failed),
            ],
        )
    };
    let reads: Vec<Request> = (0..50)
        .map(|id| Request::new(id, Nanos(id * 1_000_000_000), Op::Read, 2700 * id, 2700))
        .collect();
    let lost = |device: &Device| count(&run(device, "fcfs", &reads).1, "blocks_lost") as f64;
    let (blocks, mean) = (135_000.0, 3000.0 / 135_000.0_f64);
    let none = libm::exp(-mean);
    // Poisson, within five standard deviations.
    let near = |found: f64, wanted: f64| (found - wanted).abs() < 5.0 * wanted.sqrt();
    let any = lost(&keys("0", "[]"));
    assert!(near(any, blocks * (1.0 - none)) && any < 3000.0, "{any}");
    let two = blocks * (1.0 - none * (1.0 + mean));
    let found = lost(&keys("1", "[]"));
    assert!(near(found, two), "{found} {two}");
    // In a square without one of its 65 tips, one is too many.
    let others = 1.0 - libm::exp(-mean * 64.0 / 65.0);
    let wanted = 0.9 * two + 0.1 * blocks * others;
    let found = lost(&keys("1", &failed));
    assert!(near(found, wanted), "{found} {wanted}");
    assert!(lost(&keys("2", "[]")) < 5.0);
}

#[test]
fn tips_fail_as_often_as_they_should_and_spares_are_used_up_first() {
    // 3,600 a hour are one a second; 100 s.
    let keys = [
        ("faults.tip_failures_per_hour", "3600"),
        ("faults.spare_tips", "30"),
    ];
    let reads: Vec<Request> = (0..1000)
        .map(|id| Request::new(id, Nanos((id + 1) * 100_000_000), Op::Read, 7 * id, 1))
        .collect();
    let (mut failed, mut first) = (0, 0);
    for seed in 0..20 {
        let seed = seed.to_string();
        let keys = [keys[0], keys[1], ("faults.seed", &*seed)];
        let (_, report) = run(&device("g2", &keys), "fcfs", &reads);
        failed += count(&report, "tips_failed");
        // A spare tip may fail before it is needed.
        let replaced = count(&report, "tips_replaced");
        assert!((25..=30).contains(&replaced), "{replaced}");
        first += count(&report, "squares_lost");
    }
    // Poisson: 20 times 100, standard deviation 45.
    assert!((1750..2250).contains(&failed), "{failed}");
    // Without ECC a square loses its data with its first tip: of 100 squares, 100
    // tips hit about 1 - e^-1, each once.
    assert!((1100..1400).contains(&first), "{first}");
}

#[test]
fn lost_data_stay_lost_until_they_are_written_again() {
    // By 1 s some 550 tips have failed, about five of each square: spare ones replace
    // them, so that all squares work, but without ECC they hold nothing of what they
    // held. In another ms half a tip fails, in another 5 s thousands do.
    let at = |id: u64, ms: u64| Nanos(ms * 1_000_000 + id);
    let load = vec![
        Request::new(0, at(0, 1000), Op::Read, 0, 20),
        Request::new(1, at(1, 1000), Op::Write, 5, 1),
        Request::new(2, at(2, 1001), Op::Read, 5, 1),
        Request::new(3, at(3, 1001), Op::Read, 7, 1),
        Request::new(4, at(4, 6000), Op::Read, 5, 1),
    ];
    let (mut good, mut bad) = (0, 0);
    for seed in 0..20 {
        let seed = seed.to_string();
        let keys = |ecc| {
            [
                ("faults.tip_failures_per_hour", "2e6"),
                ("faults.spare_tips", "6400"),
                ("faults.seed", &*seed),
                ("faults.ecc_tips", ecc),
            ]
        };
        let (rows, report) = run(&device("g2", &keys("0")), "fcfs", &load);
        assert!(count(&report, "squares_lost") > 95);
        assert_eq!(rows[0].status, Status::Error);
        assert_eq!(rows[1].status, Status::Ok);
        good += u32::from(rows[2].status == Status::Ok);
        bad += u32::from(rows[3].status == Status::Error);
        assert_eq!(rows[4].status, Status::Error);
        let (rows, report) = run(&device("g2", &keys("1")), "fcfs", &load);
        assert_eq!(count(&report, "squares_lost"), 0);
        assert!(rows.iter().all(|row| row.status == Status::Ok));
    }
    assert!(good >= 18 && bad >= 18, "{good} {bad}");
}

#[test]
fn out_of_spares_capacity_or_tolerance_is_given_up() {
    let reads: Vec<Request> = (0..5)
        .map(|row| Request::new(row, Nanos(row * 100_000_000), Op::Read, row * 540, 20))
        .collect();
    let keys = |policy, tips| {
        [
            ("faults.failed_tips", tips),
            ("faults.ecc_tips", "1"),
            ("faults.out_of_spares", policy),
        ]
    };
    // 65 tips a square: tips 0 and 1 are of square 0, on track 0.
    let of_track = |policy, tips| {
        let (rows, report) = run(&device("g2", &keys(policy, tips)), "fcfs", &reads);
        let errors: Vec<u64> = rows
            .iter()
            .filter(|row| row.status == Status::Error)
            .map(|row| row.id)
            .collect();
        (errors, count(&report, "blocks_given_up"))
    };
    assert_eq!(of_track("'tolerance'", "[0]"), (vec![], 0));
    assert_eq!(of_track("'tolerance'", "[0, 1]"), (vec![0], 0));
    let square = 2500 * 27;
    assert_eq!(of_track("'capacity'", "[0]"), (vec![0], square));
    // Its 64 other tips are spare then: tips of square 99 cost nothing more.
    assert_eq!(of_track("'capacity'", "[0, 6435, 6436]"), (vec![0], square));
    // Until they are used up, too.
    let many: Vec<String> = (0..=64).map(|tip| (650 + tip).to_string()).collect();
    let list = format!("[0, {}]", many.join(", "));
    assert_eq!(of_track("'capacity'", &list).1, 2 * square);
}

#[test]
fn faults_of_a_part_are_errors_of_the_whole() {
    let keys = [("child.faults.lost_at_ms", "100")];
    let text =
        "title = 'two'\nkind = 'stripe'\nchildren = 2\nunit_blocks = 8\n[child]\nbase = 'g2'\n";
    let mut all = sledsim_base::keys::Keys::parse(text, "two.toml").expect("keys");
    for (key, value) in keys {
        all.set_text(key, value, "test").expect("a key");
    }
    let device = Device::from_keys(all, None).expect("a device");
    let load = random_load(device.blocks(), 200, 2_000_000, 3);
    let (rows, _) = run(&device, "fcfs", &load);
    assert_eq!(rows[0].status, Status::Ok);
    assert!(rows[190..].iter().all(|row| row.status == Status::Error));
}

#[test]
fn keys_that_cannot_be_are_refused_with_what_is_allowed() {
    for (keys, wanted) in [
        (
            vec![("faults.spare_tips", "6401")],
            "must be an integer from 0 to 6400",
        ),
        (vec![("faults.spare_tips", "-1")], "faults.spare_tips"),
        (vec![("faults.ecc_tips", "6401")], "from 0 to 6400"),
        (
            vec![("faults.read_error_rate", "1.5")],
            "faults.read_error_rate",
        ),
        (
            vec![("faults.read_error_rate", "-0.1")],
            "faults.read_error_rate",
        ),
        (
            vec![("faults.seek_error_rate", "2")],
            "faults.seek_error_rate",
        ),
        (
            vec![("faults.tip_failures_per_hour", "-1")],
            "tip_failures_per_hour",
        ),
        (vec![("faults.failed_tips", "6401")], "from 0 to 6400"),
        (vec![("faults.failed_tips", "[6400]")], "from 0 to 6399"),
        (
            vec![("faults.failed_tips", "[7, 8, 7]")],
            "faults.failed_tips[2]",
        ),
        (vec![("faults.remap", "'nowhere'")], "elsewhere"),
        (vec![("faults.remap", "'elsewhere'")], "spare_cylinders"),
        (
            vec![
                ("faults.remap", "'elsewhere'"),
                ("faults.spare_cylinders", "2500"),
            ],
            "2499",
        ),
        (
            vec![("faults.remap", "'elsewhere'"), ("faults.spare_tips", "3")],
            "left out",
        ),
        (vec![("faults.spare_cylinders", "3")], "elsewhere"),
        (vec![("faults.lost_at_ms", "-1")], "lost_at_ms"),
        (vec![("faults.ecc_tip", "1")], "ecc_tips"),
    ] {
        let overrides: Vec<_> = keys
            .iter()
            .map(|(key, value)| {
                let value = value.parse().expect("a value");
                ((*key).to_owned(), value, "test".to_owned())
            })
            .collect();
        let error = Device::resolve("g2", &overrides)
            .expect_err(wanted)
            .to_string();
        assert!(error.contains(wanted), "{error}: {wanted}");
    }
}
