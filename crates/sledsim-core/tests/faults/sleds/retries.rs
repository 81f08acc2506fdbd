//! Repeated passes: reads, verified writes and seeks, with their energy.

use super::{BUFFER, count, faulty, random_load, run, with_and_without};
use crate::common::device;
use crate::common::sleds::sled;
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::devices::mems::calculator::{Calculator, Point};
use sledsim_core::devices::mems::motion::Direction;
use sledsim_core::model::Energy;
use sledsim_core::model::mechanism::Step;

#[test]
fn a_failed_read_costs_another_pass_over_the_row() {
    let keys = [("faults.read_error_rate", "1"), ("faults.ecc_tips", "3"), ("faults.retries", "2")];
    let mut sled_with = faulty(&keys);
    let mut twin = sled("g2", &[]);
    let mut random = Stream::new(3, "requests");
    let mut at = Nanos::ZERO;
    for id in 0..300 {
        let lbn = random.below(twin.positions().blocks() - 100);
        let request = Request::new(id, at, Op::Read, lbn, 1 + random.below(60) as u32);
        let (mut steps, mut of_twin) = (Vec::new(), Vec::new());
        let service = sled_with.serve(at, &request, &mut steps);
        let first = twin.serve(at, &request, &mut of_twin);
        // All passes repeated in order, then all again.
        let mut end = at + first.parts.total();
        let passes = of_twin.clone();
        for pass in passes.iter().chain(&passes) {
            let again = Request::new(id, end, Op::Read, pass.lbn, pass.blocks);
            end += twin.serve(end, &again, &mut of_twin).parts.total();
        }
        assert_eq!(service.parts.total(), end - at);
        assert_eq!(service.parts.retry, end - at - first.parts.total());
        assert_eq!(service.parts.transfer, first.parts.transfer);
        assert_eq!((service.retries, service.passes), (2 * first.passes, 3 * first.passes));
        assert_eq!(service.status, Status::Error);
        assert_eq!(sled_with.media().lost_blocks().len() as u32, request.blocks());
        // The steps agree: their parts add up, and only the last pass of a block is not
        // repeated.
        let mut since = Nanos::ZERO;
        let mut total = Nanos::ZERO;
        for (step, twin) in steps.iter().zip(&of_twin) {
            total += step.parts(since).total();
            since = step.end;
            assert_eq!((step.cylinder, step.blocks), (twin.cylinder, twin.blocks));
        }
        assert_eq!((total, since, steps.len()), (end - at, end - at, of_twin.len()));
        assert_eq!(steps.iter().filter(|step| !step.again).count(), passes.len());
        at = end + Nanos(random.below(3) * random.below(150_000_000));
    }
    // The energy is that of the reference sled, under other names.
    let [spent, twin] = [sled_with.energy(at), twin.energy(at)].map(|spent| spent.expect("energy"));
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
fn reads_fail_with_the_probability_of_code_and_error_rate() {
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
        // The square of an LBN: only square 0 has lost tips.
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
        let lost = rows.iter().filter(|row| row.status == Status::Error).count() as f64;
        let within = |p: f64| 5.0 * (n * p * (1.0 - p)).sqrt();
        assert!((retried - n * bad).abs() < within(bad), "{retried} {}", n * bad);
        assert!((lost - n * bad * bad).abs() < within(bad * bad) + 1.0, "{lost}");
        assert!(retried > 5.0 && n > 3000.0, "{n} {retried}");
        for row in rows {
            assert_eq!(row.parts.retry > Nanos::ZERO, row.retries > 0);
            assert_eq!(row.passes, 1 + row.retries);
        }
        assert!(count(&report, "blocks_lost") as f64 >= lost);
    }
}

#[test]
fn a_retry_adds_no_bus_time() {
    // A bus so slow that data of the first pass would delay the others.
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
fn unrecovered_blocks_are_not_buffered() {
    // The square of LBN 1 has lost a tip and there is no ECC.
    let keys = [("buffer", BUFFER), ("faults.failed_tips", "[64]")];
    let reads = |lbn: u64| -> Vec<Request> {
        let read = |id| Request::new(id, Nanos(id * 100_000_000), Op::Read, lbn, 1);
        (0..3).map(read).collect()
    };
    let (rows, _) = run(&device("g2", &keys), "fcfs", &reads(1));
    assert!(rows.iter().all(|row| row.status == Status::Error && row.passes > 0));
    let (rows, _) = run(&device("g2", &keys), "fcfs", &reads(20 * 2));
    assert!(rows.iter().all(|row| row.status == Status::Ok));
    assert_eq!(rows[2].passes, 0);
}

#[test]
fn verification_reads_written_blocks_and_rewrites_failed_ones() {
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
        // Write, then read, pass by pass; on failure, each pass is written and read
        // once more.
        let mut by_hand = |twin: usize, mend: bool| {
            let mut steps: Vec<Step> = Vec::new();
            let first = twins[twin].serve(at, &write, &mut steps).parts.total();
            let mut end = at + first;
            let mut again = |op, pass: &Step, end: Nanos| {
                let request = Request::new(id, end, op, pass.lbn, pass.blocks);
                end + twins[twin].serve(end, &request, &mut Vec::new()).parts.total()
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
fn a_seek_error_costs_the_servo_field_and_a_seek_back() {
    for changed in
        [("kinematics", "'analytic'"), ("kinematics", "'disksim'"), ("turn", "'in_place'")]
    {
        // Never parked: the reference is idle for longer.
        let keys = [changed, ("inactive_after_ms", "inf"), ("faults.seek_error_rate", "1")];
        let mut with = faulty(&keys);
        let mut twin = sled("g2", &keys[..2]);
        let device = device("g2", &keys[..2]);
        let mems = device.mems().expect("a sled");
        let (geometry, calculator) = (mems.geometry, Calculator::new(mems));
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
                    Point { x_m, y_m, direction },
                );
                let seek = seek.expect("a seek");
                // A move in X with its settling, up to two turnarounds of 0.04 to
                // 1.11 ms, and a move in Y between them.
                assert_eq!(seek.turns, 2);
                assert!(seek.x_seek_s > 0.2e-3 && seek.seek_s < 2.3e-3);
                turned += u32::from(seek.y_seek_s > seek.x_seek_s);
                let wanted_s = servo_s + seek.seek_s;
                assert!((step.retry.s() - wanted_s).abs() < 2e-9, "{step:?} {wanted_s}");
                penalty += step.retry;
                assert_eq!(step.end, plain.end + penalty);
            }
            assert_eq!(service.parts.retry, penalty);
            assert_eq!(service.parts.total(), first + penalty);
            // The reference waits as long, with the same power: 100 mW, idle or not.
            at += service.parts.total() + Nanos(random.below(100_000_000));
        }
        assert!(turned > 0);
        let [spent, twin] = [with.energy(at), twin.energy(at)].map(|spent| spent.expect("energy"));
        assert!((spent.total_j() - twin.total_j()).abs() < 1e-9 * twin.total_j());
        assert!(spent.retry_j > 0.0);
    }
}

#[test]
fn energies_by_cause_and_of_rows_add_up() {
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
    let energy = report.energy.expect("energy");
    let sum: f64 = energy.by_cause().iter().map(|(_, joules)| joules).sum();
    assert_eq!(sum.to_bits(), energy.total_j().to_bits());
    let of_rows: f64 = rows.iter().map(|row| row.energy_nj as f64 * 1e-9).sum();
    let Energy { idle_j, inactive_j, .. } = energy;
    let of_requests = energy.total_j() - idle_j - inactive_j;
    // Each row is rounded twice.
    assert!((of_rows - of_requests).abs() < 1e-9 * rows.len() as f64, "{of_rows} {of_requests}");
    assert!(energy.retry_j > 0.1 * of_requests);
    // ECC tips: 2 mW for each block and row time, in first passes and in others.
    let (with_ecc, without) = with_and_without(&[("faults.ecc_tips", "2")]);
    let (_, twin) = run(&without, "sptf", &load);
    let (_, with) = run(&with_ecc, "sptf", &load);
    let [with, twin] = [with, twin].map(|report| report.energy.expect("energy"));
    let more = with.transfer_j - twin.transfer_j;
    let blocks: u64 = load.iter().map(|request| u64::from(request.blocks())).sum();
    let wanted = blocks as f64 * 2e-3 * 90.0 / 700_000.0;
    assert!((more - wanted).abs() < 1e-9 * wanted, "{more} {wanted}");
}
