//! Failed tips: remapping, spares and ECC tips.

use super::{BUFFER, count, faulty, random_load, run, with_and_without};
use crate::common::device;
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::devices::mems::faults::RemapTable;
use sledsim_core::devices::mems::geometry::{Geometry, Location};
use sledsim_core::model::Report;
use sledsim_core::model::mechanism::Span;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::collections::BTreeSet;

const SCHEDULERS: [&str; 5] = ["fcfs", "sstf_lbn", "c_look", "sptf", "aged_sptf(age_weight=0.5)"];

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
fn blocks_of_a_sled_that_fails_lie_and_are_written_as_on_one_that_does_not() {
    let (with, without) = with_and_without(&[("faults.seed", "3")]);
    let built = |device: &Device| device.build_with(&SchedulerSpec::default()).unwrap().0;
    let (with, without) = (built(&with), built(&without));
    let [media, twin] = [&with, &without].map(|model| model.mechanism().unwrap().media());
    assert_eq!(media.block_order(), twin.block_order());
    for span in [Span::Row, Span::Track, Span::Cylinder] {
        let ends = [0, 1, 20, 539, 540, 26_999, 27_000].map(|lbn| media.end_of(lbn, span));
        assert_eq!(ends, [0, 1, 20, 539, 540, 26_999, 27_000].map(|lbn| twin.end_of(lbn, span)));
    }
}

#[test]
fn remapping_to_spare_tips_changes_no_time() {
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
                // Everything but the energy of the ECC tip.
                let energy_nj = twin.energy_nj;
                assert_eq!(Row { energy_nj, ..*row }, *twin);
            }
            let transfer_j = |report: &Report| report.energy.map(|energy| energy.transfer_j);
            assert!(transfer_j(&report) > transfer_j(&twin));
            assert!(count(&report, "tips_replaced") > 150, "{:?}", report.counts);
            assert!(count(&report, "tips_failed") >= count(&report, "tips_replaced"));
            assert_eq!(count(&report, "defects_replaced"), 2000);
            assert_eq!(count(&report, "blocks_lost"), 0);
        }
    }
}

/// A sled of 3 tracks of 4 blocks, 7 rows, 40 cylinders.
fn small() -> Geometry {
    let mut geometry = device("g2", &[]).mems().expect("a sled").geometry.with_rows(7, 3, 4);
    geometry.cylinders = 40;
    geometry
}

#[test]
fn every_remapped_block_has_its_own_good_location() {
    let geometry = small();
    let mut random = Stream::new(9, "failures");
    for spare in [4, 9, 20] {
        for _ in 0..30 {
            let mut map = RemapTable::new(geometry, spare);
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
                // Requests from before the first failure use the old location.
                let before = map.find(lbn, Nanos(10), |_| ());
                assert!(before == lbn || defects.contains(&lbn));
            }
            assert!(spare < 9 || !broken.is_empty());
        }
    }
}

#[test]
fn remapping_to_cylinders_costs_time_and_to_spare_tips_none() {
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
    // A row without square 0, and one with it.
    let (clear, hit) = (2700 * 9 + 541, 2700 * 9);
    assert_eq!(time(&with_elsewhere, clear, 19), time(&without, clear, 19));
    let (there, here) = (time(&with_elsewhere, hit, 20), time(&without, hit, 20));
    assert_eq!(time(&with_spare, hit, 20), here);
    // There and back: up to two passes more or less, and a stroke to the last
    // cylinders.
    assert_eq!((there.passes, here.passes), (2, 1));
    assert!(there.parts.total() > here.parts.total() + Nanos(500_000));
    assert_eq!(there.status, Status::Ok);
    // Sequential reading, a cylinder at a time.
    let mut load = Vec::new();
    for id in 0..40 {
        load.push(Request::new(id, Nanos(id * 1_000_000_000), Op::Read, id * 2700, 2700));
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
fn lower_bounds_hold_for_moved_blocks() {
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
        let lbn = random.below(sled.positions().blocks() - 40);
        let read = Request::new(id, at, Op::Read, lbn, 1 + random.below(30) as u32);
        waiting.push(read);
        let here = sled.positions().cylinder(at);
        let places: Vec<_> =
            waiting.iter().map(|request| sled.positions().target_cylinder(request)).collect();
        for (request, place) in waiting.iter().zip(&places) {
            assert!(
                sled.positions().seek_lower_bound(at, *place)
                    <= sled.positions().estimate(at, request)
            );
            let nearer = (*place + here) / 2;
            assert!(
                sled.positions().seek_lower_bound(at, nearer)
                    <= sled.positions().seek_lower_bound(at, *place)
            );
        }
        let next = random.below(waiting.len() as u64) as usize;
        let request = waiting.swap_remove(next);
        let (estimate, mut steps) = (sled.positions().estimate(at, &request), Vec::new());
        let old: Vec<_> =
            waiting.iter().map(|request| sled.positions().target_cylinder(request)).collect();
        let service = sled.serve(at, &request, &mut steps);
        // Up to the first bit, except for the re-seek of a seek error.
        let seek = Nanos::from_s(steps[0].seek_s);
        assert!(estimate.0.abs_diff(seek.0) <= 1 || estimate.0 > 0 && service.parts.other.0 > 0);
        // Tips may fail: waiting requests use the location at their arrival.
        for (request, place) in waiting.iter().zip(&old) {
            assert_eq!(sled.positions().target_cylinder(request), *place);
        }
        if waiting.len() < 8 {
            continue;
        }
        at += service.parts.total();
    }
}

#[test]
fn defects_without_replacement_cost_ecc_tips() {
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
    // In a square with 64 of its 65 tips, one defect is too many.
    let others = 1.0 - libm::exp(-mean * 64.0 / 65.0);
    let wanted = 0.9 * two + 0.1 * blocks * others;
    let found = lost(&keys("1", &failed));
    assert!(near(found, wanted), "{found} {wanted}");
    assert!(lost(&keys("2", "[]")) < 5.0);
}

#[test]
fn tips_fail_at_their_rate_and_spares_are_used_first() {
    // 3,600 a hour are one a second; 100 s.
    let keys = [("faults.tip_failures_per_hour", "3600"), ("faults.spare_tips", "30")];
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
