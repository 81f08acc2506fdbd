//! Durability of writes across power failures, for all kinds of devices.

use super::configurations::{Configurations, SMALL_LOADS, is_known};
use crate::common::{Rows, device, run_through};
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::{Flags, Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::compose::content_tracker::ContentTracker;
use sledsim_core::model::Model;
use sledsim_core::model::contents::Contents;
use sledsim_core::model::contents::Promise;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::crash::{Plan, Report, test};
use sledsim_experiments::load::Load;
use std::collections::BTreeSet;

fn load(keys: &str) -> Load {
    let keys = Keys::parse(keys, "load").expect("TOML");
    Load::workload("random", keys).expect("a load")
}

fn points(points: u64) -> Plan {
    Plan { points, ..Plan::default() }
}

const SMALL: &str = "requests = 1000\nread_fraction = 0.4\nlast_lbn = 99\nqueue_depth = 8";

fn crash(device: &Device, scheduler: &str, plan: &Plan) -> Report {
    let scheduler = SchedulerSpec::named(scheduler).expect("a scheduler");
    test(device, &load(SMALL), &scheduler, plan, &mut |_| Ok(())).expect("a crash test")
}

fn named(text: &str) -> Device {
    Device::from_keys(Keys::parse(text, "test").expect("TOML"), None).expect("a device")
}

/// Devices of all kinds, with schedulers; and whether they report writes early.
fn devices() -> Vec<(Device, &'static str, bool)> {
    let buffer: &[(&str, &str)] = &[
        ("buffer.segments", "4"),
        ("buffer.size_kib", "800"),
        ("buffer.write_back_segments", "2"),
    ];
    let stripe = |child: &str, unit: u32| {
        let keys = format!(
            "title = \"Stripe\"\nkind = \"stripe\"\nchildren = 3\nunit_blocks = {unit}\n\
             child.base = \"{child}\""
        );
        named(&keys)
    };
    vec![
        (device("memory", &[("latency_ms", "1")]), "fcfs", false),
        (device("memory", &[("latency_ms", "1")]), "c_look", false),
        (device("flash", &[]), "fcfs", false),
        (device("g2", &[]), "sptf", false),
        (device("g2", buffer), "fcfs", true),
        (device("g2", &[]), "fcfs(host=c_look; device_depth=2)", false),
        (device("atlas10k", &[]), "fcfs", true),
        (device("atlas10k", &[]), "sptf", true),
        (device("atlas10k", &[("buffer.write_back", "\"none\"")]), "c_look", false),
        (stripe("g2", 2), "sptf", false),
        (stripe("atlas10k", 5), "fcfs", true),
        (stripe("memory", 1), "fcfs", false),
    ]
}

#[test]
fn devices_keep_what_they_promise() {
    for (device, scheduler, early) in devices() {
        let report = crash(&device, scheduler, &points(1000));
        let what = format!("{} with {scheduler}", device.name());
        assert!(report.passed(), "{what}: {}", report.shown[0]);
        let expected = [Promise::Completion, Promise::Flush][usize::from(early)];
        assert_eq!(device.promise(), expected, "{what}");
        assert_eq!(report.points, 1000);
        // Enough happened for this to mean something. Few writes are under way
        // where a buffer takes them at once.
        assert!(report.under_way.lost > 100, "{what}: {:?}", report.under_way);
        assert!(early || report.under_way.torn > 100, "{what}");
        assert!(report.read_blocks_checked > 10_000, "{what}");
        assert!(report.blocks_checked > 50_000, "{what}");
        // Nothing had to be rebuilt.
        assert!(report.recoveries.iter().all(|time| *time == Nanos::ZERO));
    }
}

#[test]
fn a_volatile_buffer_does_not_keep_what_it_acknowledges() {
    for (device, scheduler, early) in devices() {
        let plan = Plan { promise: Some(Promise::Completion), ..points(200) };
        let report = crash(&device, scheduler, &plan);
        assert_eq!(!report.passed(), early, "{} {scheduler}", device.name());
        // Marked `fua`, all is safe.
        let marked = Plan { fua: 1.0, ..plan };
        let report = crash(&device, scheduler, &marked);
        assert!(report.passed(), "{} {scheduler}: {}", device.name(), report.shown[0]);
    }
}

#[test]
fn tracking_contents_does_not_change_times() {
    for (device, scheduler, _) in devices() {
        let choice = SchedulerSpec::named(scheduler).expect("a scheduler");
        let mut draw = Stream::new(3, "requests");
        let mut arrival = 0;
        let requests: Vec<Request> = (0..3000)
            .map(|id| {
                arrival += draw.below(3_000_000);
                let op = [Op::Read, Op::Write, Op::Write, Op::Flush][draw.below(4) as usize];
                let mut request = Request::new(id, Nanos(arrival), op, 0, 1);
                request.extents[0].lbn = draw.below(30_000);
                request.extents[0].blocks = 1 + draw.below(20) as u32;
                if op == Op::Flush {
                    request.extents.clear();
                }
                request.flags.set(Flags::FUA, op == Op::Write && draw.chance(0.2));
                request
            })
            .collect();
        let rows = |mut model: Box<dyn Model>| {
            let mut rows = Rows::default();
            run_through(&mut *model, &requests, &mut rows);
            (rows.done, rows.notes)
        };
        let (without, names) = device.build_with(&choice).expect("a model");
        let (with, names_with) = device.build_keeping(&choice).expect("a model");
        assert_eq!(names, names_with);
        let (without, with) = (rows(without), rows(with));
        assert_eq!(without.0.len(), 3000);
        assert!(without == with, "{} with {scheduler}", device.name());
    }
}

/// A content tracker around a memory of 1 ms per request and 1 ms per block.
fn keeper(volatile: bool) -> ContentTracker {
    let memory = device("memory", &[("latency_ms", "1"), ("ms_per_block", "1")]);
    let build = move || memory.build(&|| SchedulerSpec::default().make()).0;
    ContentTracker::new(volatile, Box::new(build))
}

const MS: u64 = 1_000_000;

fn write(keeper: &mut ContentTracker, id: u64, at_ms: u64, lbn: u64, tokens: &[u64], fua: bool) {
    wake_until(keeper, at_ms * MS);
    keeper.stage_write(tokens);
    let request = Request::new(id, Nanos(at_ms * MS), Op::Write, lbn, tokens.len() as u32);
    let flags = Flags::FUA.when(fua);
    keeper.submit(Request { flags, ..request }, &mut Rows::default());
}

fn wake_all(keeper: &mut ContentTracker) {
    wake_until(keeper, u64::MAX);
}

fn wake_until(keeper: &mut ContentTracker, ns: u64) {
    while let Some(at) = keeper.next_event().filter(|at| at.0 < ns) {
        keeper.wake(at, &mut Rows::default());
    }
}

fn tokens<const N: usize>(keeper: &mut ContentTracker) -> [u64; N] {
    std::array::from_fn(|lbn| keeper.token(lbn as u64))
}

#[test]
fn a_write_under_way_is_old_or_new_block_by_block() {
    let mut found = BTreeSet::new();
    for seed in 0..400 {
        let mut keeper = keeper(false);
        write(&mut keeper, 0, 0, 0, &[1, 2, 3], false); // done at 4 ms
        write(&mut keeper, 1, 4, 1, &[12, 13, 14], false); // from 4 to 8 ms
        wake_all(&mut keeper);
        keeper.lose_power(Nanos(6 * MS), &mut Stream::new(seed, "chance"));
        assert_eq!(keeper.recover(Nanos(17)), Nanos(17));
        found.insert(tokens::<5>(&mut keeper));
    }
    // Block 0 is complete, 4 was never written, and of the others there are
    // 2 x 2 x 2 ways.
    let mut ways = BTreeSet::new();
    for way in 0..8 {
        let pick = |bit: u64, old, new| if way >> bit & 1 == 0 { old } else { new };
        ways.insert([1, pick(0, 2, 12), pick(1, 3, 13), pick(2, 0, 14), 0]);
    }
    assert_eq!(found, ways);
}

#[test]
fn of_overlapping_writes_under_way_any_may_be_last() {
    let mut found = BTreeSet::new();
    for seed in 0..200 {
        let mut keeper = keeper(false);
        write(&mut keeper, 0, 0, 0, &[1], false);
        write(&mut keeper, 1, 0, 0, &[2], false);
        keeper.lose_power(Nanos(1), &mut Stream::new(seed, "chance"));
        found.insert(keeper.token(0));
    }
    assert_eq!(found, BTreeSet::from([0, 1, 2]));
}

#[test]
fn a_volatile_buffer_may_lose_all_since_the_last_flush() {
    let outcome = |flush_at_ms: Option<u64>, fua: bool, volatile: bool| {
        let mut found = BTreeSet::new();
        for seed in 0..200 {
            let mut keeper = keeper(volatile);
            write(&mut keeper, 0, 0, 0, &[1], false); // done at 2 ms
            write(&mut keeper, 1, 2, 0, &[2], fua); // done at 4 ms
            if let Some(at) = flush_at_ms {
                let mut flush = Request::new(2, Nanos(at * MS), Op::Flush, 0, 1);
                flush.extents.clear();
                keeper.submit(flush, &mut Rows::default());
            }
            write(&mut keeper, 3, 10, 0, &[3], false); // done at 12 ms
            wake_all(&mut keeper);
            keeper.lose_power(Nanos(20 * MS), &mut Stream::new(seed, "chance"));
            found.insert(keeper.token(0));
        }
        found.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(outcome(None, false, false), [3]);
    assert_eq!(outcome(None, false, true), [0, 1, 2, 3]);
    assert_eq!(outcome(None, true, true), [2, 3]);
    assert_eq!(outcome(Some(3), false, true), [1, 2, 3]);
    assert_eq!(outcome(Some(5), false, true), [2, 3]);
}

#[test]
fn a_read_sees_what_was_there_at_its_arrival_or_its_end() {
    let mut found = BTreeSet::new();
    for seed in 0..50 {
        let mut keeper = keeper(false);
        keeper.lose_power(Nanos::ZERO, &mut Stream::new(seed, "chance")); // other coins
        write(&mut keeper, 0, 0, 0, &[1, 2], false); // done at 3 ms
        let read = |id, at_ms| Request::new(id, Nanos(at_ms * MS), Op::Read, 0, 3);
        wake_until(&mut keeper, 3 * MS + 1);
        keeper.submit(read(1, 3), &mut Rows::default());
        write(&mut keeper, 2, 4, 1, &[9], false);
        keeper.submit(read(3, 4), &mut Rows::default());
        wake_all(&mut keeper);
        // The first is over before the write is, the second lasts longer.
        assert_eq!(keeper.take_read_data(1), [1, 2, 0]);
        found.insert(keeper.take_read_data(3));
        // Asked once.
        assert!(keeper.take_read_data(3).is_empty());
    }
    let ways = [vec![1, 2, 0], vec![1, 9, 0]];
    assert_eq!(found, BTreeSet::from(ways));
}

#[test]
fn power_may_fail_in_the_past() {
    for seed in 0..100 {
        let mut keeper = keeper(false);
        write(&mut keeper, 0, 0, 0, &[1], false); // done at 2 ms
        write(&mut keeper, 1, 2, 0, &[2], false); // from 2 to 4 ms
        write(&mut keeper, 2, 5, 1, &[3], false); // from 5 ms on
        wake_all(&mut keeper);
        assert_eq!(tokens(&mut keeper), [2, 3]);
        let mut chance = Stream::new(seed, "chance");
        keeper.lose_power(Nanos(3 * MS), &mut chance);
        let [first, second] = tokens(&mut keeper);
        assert!((first == 1 || first == 2) && second == 0);
        // And nothing of it comes back.
        keeper.lose_power(Nanos(100 * MS), &mut chance);
        assert_eq!(tokens(&mut keeper), [first, 0]);
    }
}

#[test]
fn a_layout_keeps_contents_at_their_logical_blocks() {
    use sledsim_core::layouts::ResolvedLayout;
    use sledsim_experiments::replay::TraceFiles;
    let g2 = device("g2", &[]);
    let keys = Keys::parse("name = \"columnar\"", "layout").expect("TOML");
    let traces = TraceFiles { beside: None, samples: None };
    let laid =
        ResolvedLayout::read(keys, &mut g2.site(&traces, &mut |_| Ok(()))).expect("a layout");
    let report = crash(&g2.with_layout(laid), "sptf", &points(500));
    assert!(report.passed(), "{}", report.shown[0]);
}

#[test]
fn a_trace_can_be_crash_tested() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let memory = device("memory", &[]);
    let scheduler = SchedulerSpec::default();
    let keys = || {
        let mut keys = Keys::empty("trace");
        for (key, value) in [
            ("trace_format", "csv"),
            ("columns", "\"time=t:ms, offset=lbn:512B, bytes=n:512B, op=op\""),
        ] {
            keys.set_text(key, value, "test").expect("a value");
        }
        keys
    };
    let run = |file: &std::path::Path| {
        let load = Load::trace(file, keys()).expect("a load");
        test(&memory, &load, &scheduler, &points(20), &mut |_| Ok(()))
    };
    let mut lines = "t,op,lbn,n\n".to_owned();
    for index in 0..100 {
        lines += &format!("{index},R,{index},4\n");
    }
    std::fs::write(file.path(), &lines).expect("written");
    let error = run(file.path()).expect_err("nothing is written").to_string();
    assert!(error.contains("writes nothing"), "{error}");
    std::fs::write(file.path(), lines.replace("R,7", "W,7")).expect("written");
    let report = run(file.path()).expect("a crash test");
    assert!(report.passed() && report.points == 20 && report.rounds > 1);
    assert!(report.writes >= 11 * (report.rounds - 1));
}

#[test]
fn bad_input_is_refused() {
    let refused = |device: &Device, keys: &str, plan: Plan| {
        let choice = SchedulerSpec::default();
        let refused = test(device, &load(keys), &choice, &plan, &mut |_| Ok(()));
        refused.expect_err("refused").to_string()
    };
    let memory = device("memory", &[]);
    let plan = Plan::default;
    let none = Plan { points: 0, ..plan() };
    assert_eq!(refused(&memory, SMALL, none), "points = 0: must be at least 1");
    for (wrong, says) in [
        (Plan { fua: 1.5, ..plan() }, "fua = 1.5: must be from 0 to 1"),
        (Plan { flush: -1.0, ..plan() }, "flush = -1: must be from 0 to 1"),
        (Plan { in_recovery: 1.0, ..plan() }, "in_recovery = 1: must be from 0 to 0.9"),
        (Plan { requests_between: Some(0), ..plan() }, "requests_between = 0: must be at least 1"),
    ] {
        assert_eq!(refused(&memory, SMALL, wrong), says);
    }
    let reads = refused(&memory, "read_fraction = 1", plan());
    assert!(reads.contains("the load writes nothing"), "{reads}");
    let slow = device("memory", &[("latency_ms", "100")]);
    let outrun = "rate = 1000\nmax_queue = 50\nrequests = 5000";
    let calm = Plan { requests_between: Some(1000), ..plan() };
    let outrun = refused(&slow, outrun, calm);
    assert!(outrun.contains("outran the device"), "{outrun}");
}

#[test]
fn a_crash_test_can_be_interrupted() {
    let memory = device("memory", &[]);
    let mut calls = 0;
    let stopped =
        test(&memory, &load(SMALL), &SchedulerSpec::default(), &Plan::default(), &mut |at| {
            assert_eq!(at.requests, Some(1000));
            calls += 1;
            if at.completed >= 5 {
                return Err(sledsim_base::error::Error::Interrupted);
            }
            Ok(())
        });
    assert!(stopped.is_err() && calls >= 5);
}

#[test]
fn stripes_of_any_shape_keep_what_they_promise() {
    let stripes = Configurations {
        device: "title = \"Stripe\"\nkind = \"stripe\"",
        device_keys: &[
            ("children", &["1", "2", "5"]),
            ("unit_blocks", &["1", "3", "8", "100"]),
            ("child.base", &["memory", "g2", "atlas10k", "flash"]),
        ],
        workload: "random",
        load_keys: SMALL_LOADS,
        schedulers: &["fcfs", "c_look"],
    };
    let reports = stripes.crash(20, &points(200));
    assert!(reports.iter().all(|report| report.points == 200));
    assert!(reports.iter().map(|report| report.under_way.torn).sum::<u64>() > 100);
}

/// A memory or a sled of a few hundred blocks in front of something slow.
const FRONTS: (&str, &[&str]) = ("front.base", &["memory", "g2"]);
const BACKS: (&str, &[&str]) = ("back.base", &["atlas10k", "g2", "memory"]);

#[test]
fn mwb_keeps_what_it_acknowledged() {
    if !is_known("mwb") {
        return;
    }
    let mwb = Configurations {
        device: "title = \"MEMS write buffer\"\nkind = \"mwb\"",
        device_keys: &[
            FRONTS,
            BACKS,
            ("front_mib", &["0.0625", "0.125", "0.25"]),
            ("front_placement", &["", "centre", "whole"]),
            ("log_kib", &["8", "16", "32"]),
            ("buffer_kib", &["32", "64", "1024"]),
            ("clean_after_idle_ms", &["", "0", "20"]),
        ],
        workload: "random",
        load_keys: SMALL_LOADS,
        schedulers: &["fcfs", "c_look"],
    };
    mwb.crash(12, &points(1000));
}

#[test]
fn mcd_keeps_what_it_acknowledged() {
    if !is_known("mcd") {
        return;
    }
    let mcd = Configurations {
        device: "title = \"MEMS caching disk\"\nkind = \"mcd\"",
        device_keys: &[
            FRONTS,
            BACKS,
            ("front_mib", &["0.0625", "0.125", "0.25"]),
            ("front_placement", &["", "centre", "whole"]),
            ("segment_kib", &["2", "4", "8", "16"]),
            ("headers", &["true", "true", "false"]),
            ("buffer_kib", &["32", "256"]),
            ("shortcut", &["true", "false"]),
            ("immediate_report", &["true", "false"]),
            ("read_priority", &["true", "false"]),
            ("partial_write", &["true", "false"]),
            ("bypass_after_kib", &["", "8"]),
            ("clean_after_idle_ms", &["", "0", "20"]),
            ("clean_above", &["", "0.25"]),
            ("policy", &["lru", "lfuda", "slru", "arc", "s3fifo"]),
            ("exchange_kib", &["", "32"]),
            ("fetch_kib", &["", "\"auto\"", "16"]),
        ],
        workload: "random",
        load_keys: SMALL_LOADS,
        schedulers: &["fcfs", "c_look"],
    };
    mcd.crash(16, &points(1000));
}

/// The hybrids of MSST 2005 behind the cache of a controller: one tier in front
/// of another.
#[test]
fn hybrids_behind_a_controller_keep_what_they_acknowledged() {
    for (hybrid, key) in [("mcd", "segment_kib"), ("mwb", "log_kib")] {
        let both = Configurations {
            device: &format!("title = \"Hybrid behind a controller\"\nkind = \"{hybrid}\""),
            device_keys: &[
                FRONTS,
                BACKS,
                ("front_mib", &["0.0625", "0.125"]),
                (key, &["8", "16"]),
                ("controller_cache.cache_mib", &["0.015625", "0.0625"]),
                ("controller_cache.line_kib", &["2", "4"]),
                ("controller_cache.exchange_kib", &["", "16"]),
                ("controller_cache.clean_after_idle_ms", &["", "5"]),
            ],
            workload: "random",
            load_keys: SMALL_LOADS,
            schedulers: &["fcfs"],
        };
        both.crash(6, &points(1000));
    }
}

/// Devices behind the cached controller of DiskSim, one with a volatile buffer of its own.
#[test]
fn controllers_of_disksim_keep_what_they_acknowledged() {
    for base in ["g2", "atlas10k"] {
        let cached = Configurations {
            device: &format!("title = \"Behind a controller\"\nbase = \"{base}\""),
            device_keys: &[
                ("controller_cache.controller", &["disksim"]),
                ("controller_cache.cache_mib", &["0.015625", "0.0625"]),
                ("controller_cache.line_kib", &["2", "4"]),
                ("controller_cache.bit_blocks", &["1", "2"]),
                ("controller_cache.prefetch", &["none", "rest"]),
                ("controller_cache.exchange_kib", &["", "4"]),
                ("controller_cache.scheme", &["back", "back", "through", "sync"]),
                ("controller_cache.fua", &["true", "false"]),
            ],
            workload: "random",
            load_keys: SMALL_LOADS,
            schedulers: &["fcfs", "c_look"],
        };
        cached.crash(8, &points(1000));
    }
}
