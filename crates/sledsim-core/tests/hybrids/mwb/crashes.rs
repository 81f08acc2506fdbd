//! Random histories with tokens: the data that reads return, and the data after
//! power failures.

use super::keeper::{ContentTracker, Fickle, Make};
use super::{BACK, FRONT, memories, spec};
use crate::common::{Rows, device};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Flags, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::compose::hybrids::mwb::Mwb;
use sledsim_core::model::Model;
use sledsim_core::queueing::schedulers::Fcfs;
use std::collections::BTreeMap;

/// A write of one block: from when to when, if it completed, and what.
#[derive(Clone, Copy, Debug)]
struct Written {
    from: Nanos,
    to: Option<Nanos>,
    token: u64,
}

/// All writes of each block, by LBN.
type History = BTreeMap<u64, Vec<Written>>;

/// Whether a read from `from` to `to` may return `token` for a block with these
/// writes: one that began before the read ended, and was not followed by
/// another between its completion and the beginning of the read.
fn may_return(writes: &[Written], from: Nanos, to: Nanos, token: u64) -> bool {
    let overwritten = |when: Nanos| {
        let mut later = writes.iter().filter(|w| w.token != token);
        later.any(|w| w.from >= when && w.to.is_some_and(|to| to < from))
    };
    if token == 0 && !overwritten(Nanos::ZERO) {
        return true;
    }
    writes
        .iter()
        .any(|w| w.token == token && w.from <= to && w.to.is_none_or(|done| !overwritten(done)))
}

/// Runs requests with tokens, and checks what every read returns.
struct Host {
    model: Box<dyn Model>,
    rows: Rows,
    checked: usize,
    history: History,
    requests: BTreeMap<u64, Request>,
    next_token: u64,
    reads: u64,
}

fn lbns(request: &Request) -> impl Iterator<Item = u64> + '_ {
    request.extents.iter().flat_map(|e| e.lbn..e.end())
}

impl Host {
    fn new(model: Box<dyn Model>) -> Self {
        Self {
            model,
            rows: Rows::default(),
            checked: 0,
            history: History::new(),
            requests: BTreeMap::new(),
            next_token: 0,
            reads: 0,
        }
    }

    fn submit(&mut self, request: &Request) {
        if request.op == Op::Write {
            let mut tokens = Vec::new();
            for lbn in lbns(request) {
                self.next_token += 1;
                tokens.push(self.next_token);
                self.history.entry(lbn).or_default().push(Written {
                    from: request.arrival,
                    to: None,
                    token: self.next_token,
                });
            }
            let contents = self.model.contents().expect("contents");
            contents.stage_write(&tokens);
        }
        self.requests.insert(request.id, request.clone());
        self.model.submit(request.clone(), &mut self.rows);
        self.look();
    }

    fn wake(&mut self, at: Nanos) {
        self.model.wake(at, &mut self.rows);
        self.look();
    }

    /// Takes note of what has completed.
    fn look(&mut self) {
        while let Some(row) = self.rows.done.get(self.checked).copied() {
            self.checked += 1;
            let request = self.requests.remove(&row.id).expect("a request");
            match request.op {
                Op::Write => self.written(&request, &row),
                Op::Read => self.read(&request, &row),
                Op::Flush | Op::Trim => {}
            }
        }
    }

    fn written(&mut self, request: &Request, row: &Row) {
        for lbn in lbns(request) {
            let writes = self.history.get_mut(&lbn).expect("a write");
            let mut open = writes.iter_mut().filter(|w| w.from == request.arrival);
            open.find(|w| w.to.is_none()).expect("it was open").to = Some(row.completion);
        }
    }

    fn read(&mut self, request: &Request, row: &Row) {
        let contents = self.model.contents().expect("contents");
        let tokens = contents.take_read_data(request.id);
        assert_eq!(tokens.len(), request.blocks() as usize);
        for (lbn, token) in lbns(request).zip(tokens) {
            let writes = self.history.get(&lbn).map_or(&[][..], Vec::as_slice);
            assert!(
                may_return(writes, row.arrival, row.completion, token),
                "block {lbn} read as {token} by {row:?} after {writes:?}"
            );
        }
        self.reads += 1;
    }

    /// Does all that is due, and more requests, up to `end`.
    fn run(&mut self, requests: &[Request], end: Nanos) {
        let inside = requests.iter().take_while(|r| r.arrival <= end);
        for request in inside {
            self.idle(request.arrival, false);
            self.submit(request);
        }
        self.idle(end, true);
    }

    fn idle(&mut self, end: Nanos, inclusive: bool) {
        while let Some(at) = self.model.next_event()
            && (at < end || (at == end && inclusive))
        {
            self.wake(at);
        }
    }

    /// What a read of each block would return.
    fn tokens(&mut self) -> Vec<u64> {
        let contents = self.model.contents().expect("contents");
        (0..SPAN).map(|lbn| contents.token(lbn)).collect()
    }

    /// Checks that every block has its last token, and restarts the history from
    /// there.
    fn check_all(&mut self, at: Nanos, says: &str) {
        let history = std::mem::take(&mut self.history);
        let contents = self.model.contents().expect("contents");
        for (lbn, writes) in history {
            let token = contents.token(lbn);
            assert!(
                may_return(&writes, at, at, token),
                "{says}: block {lbn} is {token} after {writes:?}"
            );
            let now = Written { from: Nanos::ZERO, to: Some(Nanos::ZERO), token };
            self.history.insert(lbn, vec![now]);
        }
        self.requests.clear();
    }
}

fn keeper(make: impl Fn() -> Box<dyn Model> + Send + 'static) -> Box<dyn Model> {
    let make: Make = Box::new(make);
    Box::new(ContentTracker::new(make))
}

fn fickle(blocks: u64, most_ns: u64, seed: u64) -> Box<dyn Model> {
    keeper(move || Box::new(Fickle { blocks, chance: Stream::new(seed, "fickle"), most_ns }))
}

fn memory(blocks: u64, latency_ms: &str) -> Box<dyn Model> {
    let blocks = blocks.to_string();
    let memory = device(
        "memory",
        &[("blocks", &blocks), ("latency_ms", latency_ms), ("ms_per_block", "1e-4")],
    );
    keep(memory)
}

fn keep(device: Device) -> Box<dyn Model> {
    keeper(move || device.build(&|| Box::<Fcfs>::default()).0)
}

/// Blocks of the back in these histories: few, so that they meet again.
const SPAN: u64 = 150;

/// A buffer of a random small shape, with children that keep contents.
fn any_buffer(seed: u64) -> Box<dyn Model> {
    let mut chance = Stream::new(seed, "shape");
    let mut pick = |of: &[&str]| of[chance.below(of.len() as u64) as usize].to_owned();
    let log = pick(&["2", "4", "4", "8", "130"]);
    let clean = pick(&["1", "2", "3"]);
    let shares = pick(&[
        "clean_above = 1\nclean_idle_above = 1\nclean_to = 1",
        "clean_above = 0.5\nclean_to = 0.2",
        "clean_idle_above = 1e-6\nclean_to = 1e-6",
    ]);
    let idle = pick(&["0", "0.005", "0.2"]);
    let front = 2 * log.parse::<u64>().expect("KiB") * [2, 3, 5, 12, 20][chance.below(5) as usize];
    let keys = format!(
        "log_kib = {log}\nbuffer_kib = 390\nclean_logs = {clean}\nclean_after_idle_ms = {idle}\n{shares}"
    );
    let back = 6000;
    let spec = spec(&keys, front, back);
    let front = match chance.below(3) {
        0 => memory(front, "1e-3"),
        1 => fickle(front, 20_000, seed),
        _ => fickle(front, 100_000, seed),
    };
    let back = match chance.below(2) {
        0 => memory(back, "5e-3"),
        _ => fickle(back, 30_000, seed + 1),
    };
    Box::new(Mwb::new("mwb", 0, spec, front, back))
}

/// Requests from `at` on, in bursts, some of several extents.
fn load(count: u64, at: Nanos, first_id: u64, chance: &mut Stream) -> Vec<Request> {
    let mut at = at.0 as f64;
    (0..count)
        .map(|n| {
            if chance.chance(0.6) {
                at += chance.exponential(20_000.0);
            }
            let op = match chance.below(20) {
                0 => Op::Flush,
                1 => Op::Trim,
                2..=6 => Op::Read,
                _ => Op::Write,
            };
            let mut extents = 1 + chance.below(6) / 5;
            if op == Op::Flush {
                extents = 0;
            }
            // Extents of one write must not overlap: each in a part of its own.
            let extent = |part: u64, chance: &mut Stream| {
                let blocks = chance.geometric(4.0).min(30);
                let lbn = part * SPAN / 2 + chance.below(SPAN / 2 - blocks);
                Extent { lbn, blocks: blocks as u32 }
            };
            let offset = chance.below(2);
            Request {
                extents: (0..extents).map(|part| extent((part + offset) % 2, chance)).collect(),
                ..Request::new(first_id + n, Nanos(at as u64), op, 0, 1)
            }
        })
        .collect()
}

const NEVER: Nanos = Nanos(u64::MAX / 2);

#[test]
fn every_read_returns_the_newest_completed_write() {
    for seed in 0..200 {
        let mut host = Host::new(any_buffer(seed));
        let all = load(300, Nanos::ZERO, 0, &mut Stream::new(seed, "requests"));
        host.run(&all, NEVER);
        assert_eq!(host.rows.done.len(), 300, "seed {seed}");
        assert!(host.reads > 30);
        host.check_all(NEVER, &format!("seed {seed}"));
    }
}

#[test]
fn nothing_completed_is_lost_when_power_fails_again_and_again() {
    let mut lost_writes = 0;
    for seed in 0..400 {
        let mut chance = Stream::new(seed, "failures");
        let mut host = Host::new(any_buffer(seed));
        let mut at = Nanos::ZERO;
        let mut id = 0;
        for round in 0..12 {
            let count = 1 + chance.below(120);
            let all = load(count, at, id, &mut chance);
            id += count;
            let last = all.last().map_or(at, |request| request.arrival);
            let end = Nanos(at.0 + chance.below((last - at).0 + 200_000));
            // Now and then all is complete before; then all stays as it is.
            let is_quiet = chance.chance(0.3);
            host.run(&all, if is_quiet { NEVER } else { end });
            lost_writes += host.requests.len();
            let before = host.tokens();
            let contents = host.model.contents().expect("contents");
            contents.lose_power(if is_quiet { NEVER } else { end }, &mut chance);
            let again = chance.below(3);
            for _ in 0..again {
                // It fails again as soon as it is up.
                let up = contents.recover(Nanos::ZERO);
                contents.lose_power(up, &mut chance);
            }
            at = contents.recover(Nanos::ZERO);
            if is_quiet {
                assert_eq!(host.tokens(), before, "seed {seed}, round {round}");
            }
            let end = if is_quiet { NEVER } else { end };
            host.check_all(end, &format!("seed {seed}, round {round}"));
            host.rows = Rows::default();
            host.checked = 0;
        }
        let all = load(200, at, id, &mut chance);
        host.run(&all, NEVER);
        assert_eq!(host.rows.done.len(), 200, "seed {seed}");
        host.check_all(NEVER, &format!("seed {seed}, end"));
    }
    assert!(lost_writes > 1000, "{lost_writes} requests under way");
}

#[test]
fn a_torn_record_is_ignored() {
    // One write of 30 blocks, one record; whatever of it is there, all or
    // nothing must be found.
    let mut seen = [0, 0];
    for seed in 0..300 {
        let spec = spec("log_kib = 32", 640, 1000);
        let model = Mwb::new("mwb", 0, spec, memory(640, "1e-3"), memory(1000, "1e-3"));
        let mut host = Host::new(Box::new(model));
        let whole = |host: &mut Host| -> Vec<u64> {
            let contents = host.model.contents().expect("contents");
            (50..80).map(|lbn| contents.token(lbn)).collect()
        };
        host.run(&[Request::new(0, Nanos(0), Op::Write, 50, 30)], Nanos(10_000));
        let old = whole(&mut host);
        host.run(&[Request::new(1, Nanos(20_000), Op::Write, 50, 30)], Nanos(20_000));
        let contents = host.model.contents().expect("contents");
        contents.lose_power(Nanos(20_000), &mut Stream::new(seed, "torn"));
        contents.recover(Nanos::ZERO);
        let now = whole(&mut host);
        let is_new = now != old;
        if is_new {
            assert!(now.iter().eq((31..61).collect::<Vec<u64>>().iter()), "{now:?}");
        }
        seen[usize::from(is_new)] += 1;
    }
    assert!(seen[0] > 50 && seen[1] > 50, "{seen:?}");
}

#[test]
fn all_writes_are_finally_on_the_back() {
    let mut chance = Stream::new(3, "drain");
    for seed in 0..40 {
        let keys =
            "log_kib = 4\nclean_idle_above = 1e-6\nclean_to = 1e-6\nclean_after_idle_ms = 0.2";
        let spec = spec(keys, 160, 400);
        let mut kept = Kept::default();
        let model = Mwb::new("mwb", 0, spec, fickle(160, 9000, seed), kept.back(400));
        let mut host = Host::new(Box::new(model));
        let all = load(300, Nanos::ZERO, 0, &mut chance);
        host.run(&all, NEVER);
        for lbn in 0..SPAN {
            let token = host.model.contents().expect("contents").token(lbn);
            assert_eq!(kept.token(lbn), token, "seed {seed}: block {lbn}");
        }
        host.check_all(NEVER, "drained");
    }
}

/// What was written to a back, seen from outside.
#[derive(Clone, Default)]
struct Kept(std::sync::Arc<std::sync::Mutex<BTreeMap<u64, u64>>>);

impl Kept {
    fn token(&mut self, lbn: u64) -> u64 {
        let tokens = self.0.lock().expect("one thread");
        tokens.get(&lbn).copied().unwrap_or(0)
    }

    fn back(&mut self, blocks: u64) -> Box<dyn Model> {
        Box::new(Spied { inner: memory(blocks, "5e-3"), held: Vec::new(), kept: self.clone() })
    }
}

/// A child that records the tokens of its writes.
struct Spied {
    inner: Box<dyn Model>,
    held: Vec<u64>,
    kept: Kept,
}

impl sledsim_core::model::contents::Contents for Spied {
    fn stage_write(&mut self, tokens: &[u64]) {
        self.held = tokens.to_vec();
        self.inner.contents().expect("contents").stage_write(tokens);
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        self.inner.contents().expect("contents").take_read_data(id)
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        self.inner.contents().expect("contents").lose_power(at, chance);
    }

    fn recover_until(&mut self, at: Nanos, _until: Nanos) -> Option<Nanos> {
        Some(at)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        self.kept.token(lbn)
    }
}

impl Model for Spied {
    fn blocks(&self) -> u64 {
        self.inner.blocks()
    }

    fn submit(&mut self, request: Request, sink: &mut dyn sledsim_core::model::CompletionSink) {
        if request.op == Op::Write {
            assert!(request.flags.contains(Flags::FUA), "it may not be reported early");
            let mut kept = self.kept.0.lock().expect("one thread");
            kept.extend(lbns(&request).zip(self.held.drain(..)));
        }
        self.inner.submit(request, sink);
    }

    fn happen(&mut self, at: Nanos, sink: &mut dyn sledsim_core::model::CompletionSink) {
        self.inner.happen(at, sink);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.inner.next_event()
    }

    fn contents(&mut self) -> Option<&mut dyn sledsim_core::model::contents::Contents> {
        Some(self)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<sledsim_core::model::Report>) {
        self.inner.report(until, reports);
    }
}

#[test]
fn keeping_contents_changes_no_time() {
    for (name, seed) in [("a", 1), ("b", 2), ("c", 3)] {
        let keys = "log_kib = 4\nclean_above = 0.6\nclean_to = 0.3\nclean_after_idle_ms = 0.05";
        let all = load(800, Nanos::ZERO, 0, &mut Stream::new(seed, name));
        let child = |blocks: &str, latency_ms: &str| {
            device(
                "memory",
                &[
                    ("blocks", blocks),
                    ("latency_ms", latency_ms),
                    ("ms_per_block", if latency_ms == "1e-3" { "1e-4" } else { "1e-3" }),
                ],
            )
        };
        let spec = spec(keys, 160, 400);
        let front = keep(child("160", "1e-3"));
        let back = keep(child("400", "1e-2"));
        let mut host = Host::new(Box::new(Mwb::new("mwb", 0, spec, front, back)));
        host.run(&all, NEVER);
        let plain = super::run_open(&mut *memories(keys, 160, 400), &all);
        // Who keeps contents is built outside the catalog: devices are all 0.
        let times = |rows: &Rows| -> Vec<_> {
            let all = rows.done.iter().chain(&rows.notes);
            all.map(|row| Row { device: 0, ..*row }).collect()
        };
        assert_eq!(times(&host.rows), times(&plain));
        assert!(plain.notes.iter().any(|row| row.device == BACK && row.op == Op::Write));
        assert!(plain.notes.iter().any(|row| row.device == FRONT && row.op == Op::Read));
    }
}

#[test]
fn recovery_reads_the_first_blocks_and_logs_without_a_summary() {
    // Ten logs; two full ones with summaries, one open with one record.
    let spec = spec("log_kib = 4", 80, 800);
    let model = Mwb::new("mwb", 0, spec, memory(80, "1e-3"), memory(800, "5e-3"));
    let mut host = Host::new(Box::new(model));
    let writes: Vec<_> = [(0, 6), (10, 6), (20, 2)]
        .iter()
        .enumerate()
        .map(|(id, &(lbn, blocks))| {
            Request::new(id as u64, Nanos(id as u64 * 10_000), Op::Write, lbn, blocks)
        })
        .collect();
    host.run(&writes, Nanos(100_000));
    let contents = host.model.contents().expect("contents");
    contents.lose_power(Nanos(100_000), &mut Stream::new(1, "off"));
    // Ten first blocks of 1,100 ns; eight logs of 1,800; the summary of the third.
    let up = contents.recover(Nanos(5_000));
    assert_eq!(up, Nanos(5_000 + 10 * 1100 + 8 * 1800 + 1100));
    host.check_all(Nanos(100_000), "recovered");
    // Then all three have summaries, and the next seven are looked through.
    let contents = host.model.contents().expect("contents");
    contents.lose_power(up, &mut Stream::new(1, "off"));
    assert_eq!(contents.recover(Nanos::ZERO), Nanos(10 * 1100 + 7 * 1800));
    // What comes next begins a log of its own.
    let late = Request::new(9, Nanos(90_000), Op::Write, 30, 1);
    host.run(&[late], NEVER);
    assert_eq!((host.rows.done.last().map(|row| row.lbn)), Some(30));
    let last = host.rows.notes.iter().rfind(|row| row.op == Op::Write);
    assert_eq!(last.map(|row| row.lbn), Some(25));
}

#[test]
fn a_sled_before_a_disk_survives_too() {
    for seed in 0..10 {
        let keys = "log_kib = 16\nclean_above = 0.5\nclean_to = 0.2\nclean_after_idle_ms = 5\nfront_mib = 0.25";
        let (front, back) = (device("msst2005", &[]), device("atlas10k-50mbps", &[]));
        let spec = spec(keys, front.blocks(), back.blocks());
        let mut host = Host::new(Box::new(Mwb::new("mwb", 0, spec, keep(front), keep(back))));
        let mut chance = Stream::new(seed, "sled");
        let mut at = Nanos::ZERO;
        for round in 0..6 {
            let mut all = load(150, Nanos::ZERO, round * 1000, &mut chance);
            for request in &mut all {
                request.arrival = Nanos(at.0 + request.arrival.0 * 50);
            }
            let end = Nanos(at.0 + chance.below(150_000_000));
            host.run(&all, end);
            let contents = host.model.contents().expect("contents");
            contents.lose_power(end, &mut chance);
            at = contents.recover(Nanos::ZERO);
            host.check_all(end, &format!("seed {seed}, round {round}"));
            host.rows = Rows::default();
            host.checked = 0;
        }
    }
}
