//! Contents of arrays under failures at any time. Every block of every write
//! has a unique token, and parities are sums of tokens, so that a wrong
//! reconstruction is detected.

use crate::common::run_open;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::{Flags, Op, Request, lbns};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::model::contents::Promise;
use sledsim_core::model::{CompletionSink, Model, Report};
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::crash::{Plan, test_model};
use sledsim_experiments::load::Load;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

fn resolve(text: &str) -> Device {
    let keys = Keys::parse(text, "array.toml").expect("TOML");
    Device::from_keys(keys, None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A write of a block: its token, when it began, and when it was acknowledged.
struct Version {
    token: u64,
    begun: u64,
    acknowledged: u64,
}

/// The versions that reads may return: none that was followed by another write
/// begun and acknowledged before the read began.
#[derive(Default)]
struct Oracle {
    moment: u64,
    next_token: u64,
    blocks: BTreeMap<u64, Vec<Version>>,
    open: BTreeMap<u64, (u64, Request)>,
}

impl Oracle {
    fn begin(&mut self, request: &Request) -> Vec<u64> {
        self.moment += 1;
        self.open.insert(request.id, (self.moment, request.clone()));
        if request.op != Op::Write {
            return Vec::new();
        }
        let mut tokens = Vec::new();
        for lbn in lbns(&request.extents) {
            self.next_token += 1;
            // Spread over all bits, so that sums do not agree by chance.
            let token = self.next_token.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.blocks.entry(lbn).or_default().push(Version {
                token,
                begun: self.moment,
                acknowledged: u64::MAX,
            });
            tokens.push(token);
        }
        tokens
    }

    fn end(&mut self, row: &Row) -> (u64, Request) {
        self.moment += 1;
        let (begun, request) = self.open.remove(&row.id).expect("answered once");
        if request.op == Op::Write && row.status == Status::Ok {
            for lbn in lbns(&request.extents) {
                for version in self.blocks.get_mut(&lbn).expect("versions") {
                    if version.begun == begun {
                        version.acknowledged = self.moment;
                    }
                }
            }
        }
        (begun, request)
    }

    fn allows(&self, lbn: u64, token: u64, begun: u64) -> bool {
        let none = Vec::new();
        let versions = self.blocks.get(&lbn).unwrap_or(&none);
        let superseded = |acknowledged: u64| {
            versions.iter().any(|later| later.begun > acknowledged && later.acknowledged < begun)
        };
        if token == 0 {
            return !superseded(0);
        }
        versions.iter().any(|version| version.token == token && !superseded(version.acknowledged))
    }
}

#[derive(Default)]
struct Due {
    rows: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    all: Vec<Row>,
}

impl CompletionSink for Due {
    fn done(&mut self, row: &Row) {
        assert_eq!(row.parts.total(), row.completion - row.arrival, "{row:?}");
        let number = self.all.len();
        self.rows.push(Reverse((row.completion, number as u64, number)));
        self.all.push(*row);
    }

    fn note(&mut self, row: &Row) {
        assert_eq!(row.parts.total(), row.completion - row.arrival, "{row:?}");
    }
}

/// The result of a load.
struct Outcome {
    /// Requests of the load, and blocks of the whole array read at the end, that
    /// ended with an error.
    errors: u64,
    gone: u64,
    checked: u64,
    counts: BTreeMap<&'static str, u64>,
}

/// Runs the requests, then reads every block; checks all data that was read.
fn look(device: &Device, scheduler: &str, requests: &[Request], what: &str) -> Outcome {
    let choice = SchedulerSpec::named(scheduler).expect("a scheduler");
    let (mut model, _) = device.build_keeping(&choice).expect("a model");
    let mut oracle = Oracle::default();
    let mut due = Due::default();
    let mut outcome = Outcome { errors: 0, gone: 0, checked: 0, counts: BTreeMap::new() };
    let mut now = Nanos::ZERO;
    let blocks = model.blocks();
    let first = requests.len() as u64;
    let mut arrivals: Vec<Request> = requests.iter().rev().cloned().collect();
    let mut next = 0;
    loop {
        let completion = due.rows.peek().map(|Reverse(at)| at.0);
        let wake = model.next_event();
        if completion.is_none() && wake.is_none() && arrivals.is_empty() && next < blocks {
            assert!(oracle.open.is_empty(), "{what}: unanswered");
            arrivals.push(Request::new(first + next, now + Nanos(1), Op::Read, next, 1));
            next += 1;
        }
        let arrival = arrivals.last().map(|request| request.arrival);
        let Some(at) = [completion, arrival, wake].into_iter().flatten().min() else {
            break;
        };
        assert!(at >= now, "{what}: time goes back");
        now = at;
        if completion == Some(at) {
            let Some(Reverse((_, _, number))) = due.rows.pop() else { unreachable!() };
            let row = due.all[number];
            let (begun, request) = oracle.end(&row);
            if row.status == Status::Error {
                if row.id < first {
                    outcome.errors += 1;
                } else {
                    outcome.gone += 1;
                }
                continue;
            }
            if request.op == Op::Read {
                let tokens = model.contents().expect("contents").take_read_data(row.id);
                assert_eq!(tokens.len(), request.blocks() as usize, "{what}");
                for (lbn, token) in lbns(&request.extents).zip(tokens) {
                    outcome.checked += 1;
                    assert!(
                        oracle.allows(lbn, token, begun),
                        "{what}: LBN {lbn} of read {} holds {token:#x}",
                        row.id
                    );
                }
            }
        } else if arrival == Some(at) {
            let request = arrivals.pop().expect("an arrival");
            let tokens = oracle.begin(&request);
            if request.op == Op::Write {
                model.contents().expect("contents").stage_write(&tokens);
            }
            model.submit(request, &mut due);
        } else {
            model.wake(at, &mut due);
        }
    }
    assert!(oracle.open.is_empty(), "{what}: unanswered at the end");
    let mut reports: Vec<Report> = Vec::new();
    model.report(now, &mut reports);
    outcome.counts = reports[0].counts.iter().copied().collect();
    outcome
}

/// A small array drawn at random, with these failures, and requests for it.
struct Drawn {
    kind: &'static str,
    device: Device,
    scheduler: &'static str,
    requests: Vec<Request>,
    text: String,
}

fn draw(seed: u64, failures: u64) -> Drawn {
    let mut draw = Stream::new(seed, "arrays");
    let mut text = String::from("title = 'a'\n");
    let mut one_of = |values: &[u64]| values[draw.below(values.len() as u64) as usize];
    let kind = ["raid1", "raid5", "raid6", "raid10"][one_of(&[0, 1, 1, 2, 2, 3]) as usize];
    let child_blocks = one_of(&[24, 60, 97]);
    let unit = if kind == "raid1" { 1 } else { one_of(&[1, 2, 3, 8]) };
    let children = one_of(match kind {
        "raid1" => &[2, 3],
        "raid5" => &[3, 4, 5, 7],
        "raid6" => &[4, 5, 6, 8],
        _ => &[2, 3, 4, 5, 6],
    });
    text += &format!("kind = '{kind}'\nchildren = {children}\n");
    if kind == "raid1" || kind == "raid10" {
        let rule = ["shortest_queue", "round_robin"][one_of(&[0, 1]) as usize];
        text += &format!("reads = '{rule}'\n");
    }
    if kind != "raid1" {
        text += &format!("unit_blocks = {unit}\n");
    }
    let spares = one_of(&[0, 1, 1, 2]);
    text += &format!("spares = {spares}\n");
    if spares > 0 {
        let (part, after) = (unit * one_of(&[1, 2, 5]), one_of(&[0, 0, 7, 40]));
        let (idle, rate) =
            (one_of(&[0, 1, 5]), ["0", "0.01", "0.1", "inf"][one_of(&[0, 1, 2, 3]) as usize]);
        text += &format!(
            "rebuild_unit_blocks = {part}\nrebuild_after_ms = {after}\nrebuild_idle_ms = {idle}\n\
             rebuild_min_mb_s = {rate}\n"
        );
    }
    let child = [
        "base = 'memory'\nlatency_ms = 1\nms_per_block = 0.05",
        "base = 'memory'\nlatency_ms = 0.3\nms_per_block = 0",
        "base = 'flash'\nunits = 3\npage_blocks = 2",
    ][one_of(&[0, 1, 2]) as usize];
    let scheduler = ["fcfs", "c_look"][one_of(&[0, 1]) as usize];
    let gap_ns = one_of(&[100_000, 1_000_000, 4_000_000]);
    let count = one_of(&[40, 80]);
    let near = one_of(&[8, 40, 1000]);
    let until = count * gap_ns * 13 / 10 + 20_000_000;
    let mut who: Vec<u64> = (0..children + spares).collect();
    let (mut fail, mut at) = (Vec::new(), Vec::new());
    for _ in 0..failures.min(children + spares) {
        fail.push(who.swap_remove(draw.below(who.len() as u64) as usize));
        // Also at once, and at the very instants of arrivals.
        let instant = match draw.below(20) {
            0 => 0,
            1 | 2 => draw.below(count) * gap_ns,
            _ => draw.below(until),
        };
        at.push(instant as f64 / 1e6);
    }
    text += &format!("fail_child = {fail:?}\nfail_at_ms = {at:?}\n");
    text += &format!("[child]\n{child}\nblocks = {child_blocks}\n");
    let device = resolve(&text);
    let blocks = device.blocks();
    let mut now = 0;
    let requests = (0..count)
        .map(|id| {
            now += if draw.chance(0.2) { 0 } else { draw.below(2 * gap_ns) };
            let op = match draw.below(20) {
                0 => Op::Flush,
                1 => Op::Trim,
                2..=10 => Op::Write,
                _ => Op::Read,
            };
            let most = if draw.chance(0.2) { 3 * unit * (children - 1) } else { unit + 2 };
            let length = (1 + draw.below(most)).min(blocks);
            let lbn = draw.below((blocks - length + 1).min(near));
            let mut request = Request::new(id, Nanos(now), op, lbn, length as u32);
            match op {
                Op::Flush => request.extents.clear(),
                // Nobody says what a trimmed block holds.
                Op::Trim => request.extents[0].lbn = blocks - length,
                _ if draw.chance(0.1) => {
                    let lbn = draw.below(blocks);
                    request.extents.push(sledsim_base::request::Extent { lbn, blocks: 1 });
                }
                _ => {}
            }
            request
        })
        .collect();
    text += &format!("# seed {seed}, {scheduler}");
    Drawn { kind, device, scheduler, requests, text }
}

#[test]
fn any_single_loss_at_any_moment_loses_nothing() {
    let (mut checked, mut rebuilt, mut retried, mut degraded) = (0, 0, 0, 0);
    for seed in 0..4000 {
        let drawn = draw(seed, 1);
        let outcome = look(&drawn.device, drawn.scheduler, &drawn.requests, &drawn.text);
        assert_eq!((outcome.errors, outcome.gone), (0, 0), "{}", drawn.text);
        let counts = outcome.counts;
        assert_eq!((counts["lost"], counts["failed_children"]), (0, 1), "{}", drawn.text);
        checked += outcome.checked;
        rebuilt += u64::from(counts["rebuild_ns"] > 0);
        retried += u64::from(counts["retried_requests"] > 0);
        degraded += u64::from(counts.get("degraded_reads").is_some_and(|reads| *reads > 0));
    }
    // All of it happened often.
    assert!(checked > 500_000 && rebuilt > 1000, "{checked} {rebuilt}");
    assert!(retried > 500 && degraded > 1000, "{retried} {degraded}");
}

#[test]
fn more_losses_are_survived_or_reported_block_by_block() {
    let (mut survived, mut lost, mut partly, mut blocks, mut doubly) = (0, 0, 0, 0, 0);
    for seed in 0..4000 {
        let drawn = draw(seed + 1_000_000, 2 + seed % 2);
        let outcome = look(&drawn.device, drawn.scheduler, &drawn.requests, &drawn.text);
        let counts = outcome.counts;
        // Every block that cannot be read is counted, and no other.
        assert_eq!(counts["lost_blocks"], outcome.gone, "{}", drawn.text);
        assert_eq!(counts["lost"], u64::from(outcome.gone > 0), "{}", drawn.text);
        assert_eq!(counts["lost_requests"], outcome.errors + outcome.gone, "{}", drawn.text);
        // Nothing fails that could have been served.
        assert!(outcome.errors == 0 || outcome.gone > 0, "{}", drawn.text);
        if drawn.kind == "raid6" && seed % 2 == 0 {
            assert_eq!(outcome.gone, 0, "two are survived: {}", drawn.text);
            doubly += counts["degraded_reads"];
        }
        survived += u64::from(outcome.gone == 0);
        lost += u64::from(outcome.gone > 0);
        partly += u64::from(outcome.gone > 0 && outcome.gone < drawn.device.blocks());
        blocks += outcome.gone;
    }
    assert!(survived > 1000 && lost > 1000 && partly > 500, "{survived} {lost} {partly} {blocks}");
    assert!(doubly > 1000, "{doubly}");
}

#[test]
fn without_failures_all_data_is_as_written() {
    for seed in 0..300 {
        let drawn = draw(seed + 2_000_000, 0);
        let outcome = look(&drawn.device, drawn.scheduler, &drawn.requests, &drawn.text);
        assert_eq!((outcome.errors, outcome.gone), (0, 0));
        assert_eq!(outcome.counts["failed_children"], 0);
    }
}

#[test]
fn rebuilt_data_is_on_the_media() {
    // Sleds that hold writes back: all that the host marked is durable, and after a
    // rebuild also what stands in its place.
    let text = "title = 'a'\nkind = 'raid1'\nchildren = 2\nspares = 1\nfail_child = 0\n\
                fail_at_ms = 50\nrebuild_unit_blocks = 64\n[child]\nbase = 'g2'\ntravel_x_um = 2\n\
                buffer.size_kib = 800\nbuffer.segments = 4\nbuffer.write_back_segments = 2\n";
    let device = resolve(text);
    for seed in 0..20 {
        let (mut model, _) = device.build_keeping(&SchedulerSpec::default()).expect("a model");
        let mut due = Due::default();
        let last = model.blocks() - 16;
        let mut request = Request::new(0, Nanos::ZERO, Op::Write, last, 16);
        request.flags.insert(Flags::FUA);
        let tokens: Vec<u64> = (1..=16).collect();
        model.contents().expect("contents").stage_write(&tokens);
        model.submit(request, &mut due);
        let mut now = Nanos::ZERO;
        let rebuilt = |model: &dyn Model| {
            let mut reports: Vec<Report> = Vec::new();
            model.report(Nanos::ZERO, &mut reports);
            let counts: BTreeMap<_, _> = reports[0].counts.iter().copied().collect();
            counts["rebuild_ns"] > 0
        };
        while !rebuilt(&*model) {
            now = model.next_event().expect("a rebuild");
            model.wake(now, &mut due);
        }
        let contents = model.contents().expect("contents");
        contents.lose_power(now, &mut Stream::new(seed, "power"));
        contents.recover(Nanos::ZERO);
        let found: Vec<u64> = (last..last + 16).map(|lbn| contents.token(lbn)).collect();
        assert_eq!(found, tokens, "{seed}");
    }
}

#[test]
fn tracking_contents_does_not_change_times() {
    for seed in 0..300 {
        let drawn = draw(seed + 3_000_000, seed % 4);
        let choice = SchedulerSpec::named(drawn.scheduler).expect("a scheduler");
        let rows = |keeping: bool| {
            let built = if keeping {
                drawn.device.build_keeping(&choice)
            } else {
                drawn.device.build_with(&choice)
            };
            let rows = run_open(&mut *built.expect("a model").0, &drawn.requests);
            (rows.done, rows.notes)
        };
        assert_eq!(rows(true), rows(false), "{}", drawn.text);
    }
}

const SMALL: &str = "requests = 1000\nread_fraction = 0.4\nlast_lbn = 60\nqueue_depth = 8";

fn load() -> Load {
    Load::workload("random", Keys::parse(SMALL, "load").expect("TOML")).expect("a load")
}

#[test]
fn the_write_hole_is_detected() {
    // The reason for the refusal: copies that differ, and parity that is wrong.
    let crash = |text: &str| {
        let device = resolve(text);
        let build = || -> sledsim_base::error::Result<Box<dyn Model>> {
            Ok(device.build_keeping(&SchedulerSpec::default())?.0)
        };
        let plan = Plan { points: 300, ..Plan::default() };
        test_model(&build, Promise::Completion, &load(), &plan, &mut |_| Ok(()))
            .expect("a test")
            .violations
    };
    let memory = "child.base = 'memory'\nchild.latency_ms = 1";
    let array = |kind: &str, keys: &str| format!("title = 'a'\nkind = '{kind}'\n{keys}\n{memory}");
    assert!(crash(&array("raid1", "children = 2\nreads = 'round_robin'")) > 0);
    let striped = "children = 4\nunit_blocks = 2\nreads = 'round_robin'";
    assert!(crash(&array("raid10", striped)) > 0);
    // Wrong parity harms nobody until a child fails.
    let failed = |children: &str, times: &str| {
        format!("children = 5\nunit_blocks = 2\nfail_child = {children}\nfail_at_ms = {times}")
    };
    for kind in ["raid5", "raid6"] {
        assert_eq!(crash(&array(kind, "children = 5\nunit_blocks = 2")), 0, "{kind}");
        assert!(crash(&array(kind, &failed("1", "0"))) > 0, "{kind}");
    }
    assert!(crash(&array("raid6", &failed("[1, 2]", "[0, 0]"))) > 0);
}
