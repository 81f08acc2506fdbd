//! The model decides by counting which blocks are lost, the store by decoding words:
//! they agree on every block, and what is read equals what was written.

use super::sled::{Bench, Key, device};
use sledsim_base::random::Stream;
use sledsim_base::units::Nanos;
use sledsim_core::devices::mems::faults::{Code, OutOfSpares, TipFailures, tip_failures};

/// One failure in 50 ms of model time.
const OFTEN: Key<'_> = ("tip_failures_per_hour", "72000");

/// The tips that fail: half of them of three squares, the others of any, spare ones
/// among them.
fn failing(ecc: u64, spares: u64, seed: u64) -> Vec<u64> {
    let mut stream = Stream::new(seed, "failing");
    let (near, all) = (3 * (64 + ecc), 100 * (64 + ecc) + spares);
    let mut tips: Vec<u64> = Vec::new();
    while tips.len() < 60 {
        let below = if tips.len().is_multiple_of(2) { near } else { all };
        let tip = stream.below(below);
        if !tips.contains(&tip) {
            tips.push(tip);
        }
    }
    tips
}

/// Blocks at risk, lost and given up in all runs.
fn runs(faults: &[Key<'_>], ecc: u64, spares: u64) -> [u64; 3] {
    let (ecc_text, spares_text) = (ecc.to_string(), spares.to_string());
    let mut sums = [0; 3];
    for seed in 1..=3 {
        let tips = format!("{:?}", failing(ecc, spares, seed));
        let own = [("ecc_tips", &*ecc_text), ("failing_tips", &tips), OFTEN];
        let spare = (spares > 0).then_some(("spare_tips", &*spares_text));
        let all: Vec<_> = faults.iter().copied().chain(own).chain(spare).collect();
        let mut bench = Bench::new(&all, seed);
        for _ in 0..2500 {
            if bench.stream.below(2) == 0 {
                for _ in 0..=bench.stream.below(6) {
                    let (lbn, blocks) = bench.range(16);
                    bench.write(lbn, blocks);
                }
                bench.finish();
            } else {
                let (lbn, blocks) = bench.range(4);
                bench.read(lbn, blocks);
            }
        }
        assert_eq!(bench.faults("tips_failed"), 60 + bench.at_start);
        let counts = ["blocks_at_risk", "blocks_lost", "blocks_given_up"];
        let counts = counts.map(|key| bench.faults(key));
        assert_eq!(bench.read_all(), counts[1] + counts[2]);
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sums
}

#[test]
fn without_a_code() {
    let [at_risk, lost, given_up] = runs(&[], 0, 60);
    assert!(at_risk == 0 && lost > 0 && given_up == 0);
}

#[test]
fn with_a_code_and_spare_tips() {
    let [at_risk, lost, given_up] = runs(&[], 2, 20);
    assert!(at_risk > 0 && lost > 0 && given_up == 0);
}

#[test]
fn with_squares_given_up() {
    let [at_risk, lost, given_up] = runs(&[("out_of_spares", "\"capacity\"")], 1, 10);
    assert!(at_risk == 0 && lost == 0 && given_up > 0);
}

#[test]
fn with_blocks_mended_when_they_are_read() {
    let when_read = ("rebuild", "\"when_read\"");
    let [at_risk, lost, _] = runs(&[when_read], 2, 60);
    assert!(at_risk > 0 && lost > 0);
    let [_, _, given_up] = runs(&[when_read, ("out_of_spares", "\"capacity\"")], 1, 10);
    assert!(given_up > 0);
    let [_, lost, _] = runs(&[when_read], 0, 60);
    assert!(lost > 0);
}

/// Of two devices whose tips fail and are replaced one after the other, the one with a
/// scrub loses nothing: it has mended each block before more sectors are missing than
/// the code recovers.
#[test]
fn a_scrub_mends_what_would_be_lost() {
    let keys = [
        ("ecc_tips", "1"),
        ("spare_tips", "9"),
        ("failing_tips", "[0, 1]"),
        ("tip_failures_per_hour", "60"),
        ("rebuild", "\"when_read\""),
    ];
    let lost = [&[][..], &["scrub(tail=1)"]].map(|tasks| {
        let mut bench = Bench::of(&device(&keys, tasks), None, 1);
        for _ in 0..200 {
            let (lbn, blocks) = bench.range(16);
            bench.write(lbn, blocks);
        }
        bench.finish();
        bench.gap = Nanos(1_000_000_000);
        while bench.faults("tips_failed") < 2 {
            bench.read(1, 1);
        }
        bench.read_all()
    });
    assert_eq!(lost, [27 * 27, 0]);
}

#[test]
fn with_defects() {
    let [at_risk, lost, _] = runs(&[("media_defects", "100000")], 2, 3);
    assert!(at_risk > 0 && lost > 0);
}

#[test]
fn with_spare_cylinders() {
    let elsewhere = ("remap", "\"elsewhere\"");
    let [_, lost, _] = runs(&[elsewhere, ("spare_cylinders", "6")], 1, 0);
    assert!(lost > 0);
    let capacity = ("out_of_spares", "\"capacity\"");
    let [_, _, given_up] = runs(&[elsewhere, ("spare_cylinders", "4"), capacity], 1, 0);
    assert!(given_up > 0);
    let [_, lost, _] = runs(&[elsewhere, ("spare_cylinders", "4")], 0, 0);
    assert!(lost > 0);
}

/// Drawn at the start and later: tips fail until hardly a block is left.
#[test]
fn until_the_end() {
    let keys = [("ecc_tips", "3"), ("failed_tips", "150"), OFTEN];
    let mut bench = Bench::new(&keys, 1);
    bench.gap = Nanos(20_000_000);
    let mut lost = 0;
    for round in 0..3000 {
        if round % 3 == 0 {
            let (lbn, blocks) = bench.range(16);
            bench.write(lbn, blocks);
            bench.finish();
        }
        let (lbn, blocks) = bench.range(4);
        lost += u64::from(!bench.read(lbn, blocks));
    }
    assert!((500..2900).contains(&lost), "{lost}");
}

/// The Monte Carlo estimate of one device, and a served device whose tips fail in the
/// order of that: after every failure as many blocks are lost, and spare tips left.
#[test]
fn monte_carlo_and_served_devices_lose_the_same_blocks() {
    let mut lost = 0;
    for seed in 1..=12 {
        let (ecc, spares) = ([0, 1, 2][seed as usize % 3], 40);
        let is_capacity = ecc > 0 && seed % 2 == 0;
        let plan = TipFailures {
            tips: 6400 + 100 * ecc + spares,
            spares,
            code: Code { data: 64, ecc, vertical: true },
            out_of_spares: match is_capacity {
                true => OutOfSpares::Capacity,
                false => OutOfSpares::Tolerance,
            },
            failed: 300,
            trials: 1,
            seed,
        };
        let estimate = tip_failures(&plan, &mut |_| Ok(())).unwrap();
        // The tips of its only device, in order.
        let mut stream = Stream::new(seed, "tip failures");
        let mut good: Vec<u32> = (0..plan.tips).collect();
        let order: Vec<u32> = (0..plan.failed)
            .map(|_| good.swap_remove(stream.below(good.len() as u64) as usize))
            .collect();
        let out = if is_capacity { "\"capacity\"" } else { "\"tolerance\"" };
        let (ecc, spares) = (ecc.to_string(), spares.to_string());
        let keys = [
            ("failing_tips", &*format!("{order:?}")),
            ("ecc_tips", &ecc),
            ("spare_tips", &spares),
            ("out_of_spares", out),
            OFTEN,
        ];
        let mut bench = Bench::of(&device(&keys, &[]), None, seed);
        bench.gap = Nanos(20_000_000);
        let blocks = bench.blocks() as f64;
        let mut last = 0;
        while last < 300 {
            bench.read(0, 1);
            let failed = bench.faults("tips_failed") as usize;
            if failed == last {
                continue;
            }
            last = failed;
            let expected = |share: f64| (share * blocks).round() as u64;
            let capacity = estimate.capacity_share[failed];
            assert_eq!(bench.faults("blocks_lost"), expected(estimate.lost_share[failed]));
            assert_eq!(bench.faults("blocks_given_up"), expected(1.0 - capacity));
            assert_eq!(bench.faults("spares_left") as f64, estimate.spares_left[failed]);
        }
        assert_eq!(bench.read_all(), bench.faults("blocks_lost") + bench.faults("blocks_given_up"));
        lost += bench.faults("blocks_lost");
    }
    assert!(lost > 0);
}
