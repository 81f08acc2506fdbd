//! The crash test itself: a correct small write-back cache passes, and each of
//! many defects is found.

mod toy;

use self::toy::{Mistake, Toy};
use sledsim_base::keys::Keys;
use sledsim_core::catalog::Device;
use sledsim_core::model::Model;
use sledsim_core::model::contents::Promise;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::crash::{Plan, Report, ViolationKind, test_model};
use sledsim_experiments::load::Load;
use std::collections::BTreeSet;

/// Every mistake must show within so many power failures.
const POINTS: u64 = 300;

fn device(text: &str) -> Device {
    let keys = Keys::parse(text, "test").expect("TOML");
    Device::from_keys(keys, None).expect("a device")
}

/// A load on few blocks, so that they are written again and again.
fn load() -> Load {
    let keys = "requests = 600\nread_fraction = 0.4\nlast_lbn = 39\nqueue_depth = 6\n\
                mean_size_kib = 1.5\nthink_ms = 0.5\nthink = \"exponential\"";
    let keys = Keys::parse(keys, "load").expect("TOML");
    Load::workload("random", keys).expect("a load")
}

const FRONT: &str = "base = \"memory\"\nblocks = 32\nlatency_ms = 0.2\nms_per_block = 0.1";

fn crash(mistake: Mistake, scheduler: &str, back: &str, plan: &Plan) -> Report {
    let (front, back) = (device(FRONT), device(back));
    let scheduler = SchedulerSpec::named(scheduler).expect("a scheduler");
    let by_place = ["fcfs", "c_look"][usize::from(scheduler.label() != "fcfs")];
    let by_place = SchedulerSpec::named(by_place).expect("a scheduler");
    let build = || {
        let (front, _) = front.build_keeping(&by_place)?;
        let (back, _) = back.build_keeping(&scheduler)?;
        let toy: Box<dyn Model> = Box::new(Toy::new(mistake, front, back));
        Ok(toy)
    };
    let load = load();
    test_model(&build, Promise::Completion, &load, plan, &mut |_| Ok(())).expect("a crash test")
}

fn plan(points: u64, seed: u64) -> Plan {
    Plan { points, seed, ..Plan::default() }
}

#[test]
fn a_correct_cache_passes() {
    for (scheduler, back) in [
        ("fcfs", "base = \"memory\"\nlatency_ms = 2"),
        ("sptf", "base = \"g2\""),
        ("c_look", "base = \"atlas10k\""),
    ] {
        let report = crash(Mistake::None, scheduler, back, &plan(2000, 7));
        assert!(report.passed(), "{back}: {}", report.shown[0]);
        // All that may happen did.
        assert!(report.under_way.lost > 50 && report.under_way.kept > 50);
        assert!(report.under_way.torn > 50, "{:?}", report.under_way);
        assert!(report.in_recovery > 100);
        assert!(report.read_blocks_checked > 10_000 && report.rounds > 1);
    }
}

#[test]
fn every_mistake_is_found() {
    use Mistake::*;
    let (memory, disk) = ("base = \"memory\"\nlatency_ms = 2", "base = \"atlas10k\"");
    let mut seen = 0;
    for (mistake, back, says) in [
        (AcknowledgesAtOnce, memory, "LBN"),
        (AcknowledgesTheFirstPart, memory, "LBN"),
        (EntersBeforeWritten, memory, "LBN"),
        (ForgetsTheDirectory, memory, "LBN"),
        (ForgetsOneEntry, memory, "LBN"),
        (FindsTheNextSlot, memory, "LBN"),
        (ResurrectsAnEntry, memory, "LBN"),
        (LeavesBeforeInBack, memory, "LBN"),
        (LeavesWithTheOlder, memory, "LBN"),
        (FreesBeforeInBack, memory, "LBN"),
        (FreesWhileRead, memory, "LBN"),
        (ReadsTheBack, memory, "read"),
        (LosesTheOrder, memory, "LBN"),
        (TrustsTheBuffer, disk, "LBN"),
        (MixesBlocksUp, memory, "LBN"),
        (EmptiesTheDirectoryFirst, memory, "LBN"),
        (Flickers, memory, "read"),
        (ForgetsWhoWaits, memory, "never completed"),
    ] {
        for seed in [1, 2, 3] {
            // Requests must pass each other for a slot to change under a reader.
            let scheduler = ["fcfs", "c_look"][usize::from(mistake == FreesWhileRead)];
            let report = crash(mistake, scheduler, back, &plan(POINTS, seed));
            assert!(!report.passed(), "{mistake:?} with seed {seed} passed");
            let shown: Vec<String> = report.shown.iter().map(ToString::to_string).collect();
            println!(
                "{mistake:?}: {} violations, point {}",
                report.violations, report.shown[0].point
            );
            if seed == 1 {
                println!("  {}", shown[0]);
            }
            let told = shown.iter().any(|text| text.contains(says));
            assert!(told, "{mistake:?}: {shown:?}");
        }
        seen += 1;
    }
    assert_eq!(seen, 18);
}

#[test]
fn a_mistake_of_recovery_shows_only_when_power_fails_during_it() {
    let back = "base = \"memory\"\nlatency_ms = 2";
    let calm = Plan { in_recovery: 0.0, ..plan(POINTS, 1) };
    let mistake = Mistake::EmptiesTheDirectoryFirst;
    assert!(crash(mistake, "fcfs", back, &calm).passed());
}

#[test]
fn the_same_seed_gives_the_same_violations() {
    let back = "base = \"atlas10k\"";
    let run = |seed| crash(Mistake::TrustsTheBuffer, "sptf", back, &plan(200, seed));
    assert_eq!(run(3), run(3));
    assert_ne!(run(3).shown, run(4).shown);
}

#[test]
fn violations_name_what_promised_each_version() {
    let back = "base = \"memory\"\nlatency_ms = 2";
    for (promise, names) in
        [(Promise::Completion, vec!["completion"]), (Promise::Flush, vec!["flush", "fua"])]
    {
        let plan = Plan { promise: Some(promise), fua: 0.3, ..plan(POINTS, 1) };
        let report = crash(Mistake::ForgetsTheDirectory, "fcfs", back, &plan);
        let blocks = report.shown.iter().filter_map(|shown| match &shown.wrong {
            ViolationKind::Found(block) => Some(block),
            _ => None,
        });
        let happened = blocks.flat_map(|block| block.history.iter().filter_map(|v| v.happened));
        let seen: BTreeSet<&str> = happened.filter_map(|at| Some(at.promised?.1.name())).collect();
        assert_eq!(seen, BTreeSet::from_iter(names.clone()));
        let text: String = report.shown.iter().map(ToString::to_string).collect();
        for name in names {
            assert!(text.contains(&format!(" promised by {name} ")), "{text}");
        }
    }
}
