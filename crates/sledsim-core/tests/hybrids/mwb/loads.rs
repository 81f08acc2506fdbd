//! Random loads against a map of blocks, saturating loads, and speed.

use super::{BACK, FRONT, build, memories, read, requests};
use crate::common::{run_open, served};
use sledsim_base::error::Result;
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::engine::{Limits, Observer, simulate};
use sledsim_core::model::source::Source;
use std::collections::{BTreeMap, VecDeque};

use Op::{Read, Write};

/// Requests one after the other at their arrivals.
struct Listed(VecDeque<Request>);

impl Source for Listed {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        Ok(self.0.front().map(|request| request.arrival))
    }

    fn take(&mut self) -> Request {
        self.0.pop_front().expect("an arrival was announced")
    }

    fn completed(&mut self, _id: u64, _at: Nanos) {}

    fn requests(&self) -> Option<u64> {
        None
    }
}

struct Count(u64);

impl Observer for Count {
    fn done(&mut self, _row: &Row) -> Result<()> {
        self.0 += 1;
        Ok(())
    }

    fn note(&mut self, _row: &Row) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_load_that_saturates_the_back_ends_the_run() {
    // The back takes 16,000 ns for six blocks; one write each 8,000 ns fills all
    // logs, and then they wait.
    let list: Vec<_> = (0..5000).map(|n| (n * 8000, Write, n * 13, 6)).collect();
    let mut model = memories("log_kib = 4", 8000, 80_000);
    let limits = Limits { max_queue: 500 };
    let mut source = Listed(requests(&list).into());
    let outcome = simulate(&mut source, &mut *model, &mut Count(0), limits, &mut |_| Ok(()));
    let outcome = outcome.expect("no errors");
    let saturated = outcome.saturated.expect("saturation");
    assert_eq!(outcome.submitted, outcome.completed + saturated.queue);
    // At three times the distance it never ends early.
    let list: Vec<_> = (0..5000).map(|n| (n * 24_000, Write, n * 13, 6)).collect();
    let mut source = Listed(requests(&list).into());
    let mut model = memories("log_kib = 4", 8000, 80_000);
    let outcome = simulate(&mut source, &mut *model, &mut Count(0), limits, &mut |_| Ok(()));
    assert_eq!(outcome.expect("no errors").saturated, None);
}

/// Random requests, open, most of them writes, on few blocks.
fn random_load(count: u64, span: u64, mean_ns: f64, seed: u64) -> Vec<Request> {
    let mut chance = Stream::new(seed, "load");
    let mut at = 0.0;
    (0..count)
        .map(|id| {
            at += chance.exponential(mean_ns);
            let op = if chance.chance(0.3) { Read } else { Write };
            let blocks = chance.geometric(5.0).min(40);
            let lbn = chance.below(span - blocks);
            Request::new(id, Nanos(at as u64), op, lbn, blocks as u32)
        })
        .collect()
}

#[test]
fn places_are_those_of_a_map_block_by_block() {
    // The twin: the place of every block on the front, entered as its rows say;
    // nothing is cleaned, and places are used once.
    for seed in 0..20 {
        let load = random_load(400, 200, 3000.0, seed);
        let keys = "log_kib = 4\nclean_above = 1\nclean_idle_above = 1";
        let rows = run_open(&mut *memories(keys, 8000, 8000), &load);
        let mut done: BTreeMap<u64, u32> = BTreeMap::new();
        let mut records = Vec::new();
        let mut reads: BTreeMap<u64, BTreeMap<u16, (u64, u32)>> = BTreeMap::new();
        for row in &rows.notes {
            let Some(host) = served(row) else { continue };
            if row.op == Read {
                let parts = reads.entry(host).or_default();
                parts.insert(row.device, (row.lbn, row.blocks));
                continue;
            }
            // A record holds the next blocks of its host's write.
            let done = done.entry(host).or_default();
            let first = load[host as usize].lbn() + u64::from(*done);
            *done += row.blocks - 1;
            records.push((row.completion, first, row.lbn + 1, row.blocks - 1));
        }
        records.sort_by_key(|record| record.0);
        let mut places: BTreeMap<u64, u64> = BTreeMap::new();
        let mut records = records.into_iter().peekable();
        let mut hits = 0;
        for request in &load {
            while let Some((_, first, place, blocks)) =
                records.next_if(|record| record.0 < request.arrival)
            {
                places.extend((0..u64::from(blocks)).map(|n| (first + n, place + n)));
            }
            if request.op == Read {
                let mut parts: BTreeMap<u16, (u64, u32)> = BTreeMap::new();
                for lbn in request.lbn()..request.extents[0].end() {
                    let (child, place) = match places.get(&lbn) {
                        Some(place) => (FRONT, *place),
                        None => (BACK, lbn),
                    };
                    parts.entry(child).or_insert((place, 0)).1 += 1;
                }
                hits += usize::from(parts.contains_key(&FRONT));
                assert_eq!(reads[&request.id], parts, "seed {seed}: {request:?}");
            }
        }
        assert!(hits > 50, "seed {seed}: {hits} reads of the front");
    }
}

#[test]
fn nothing_completes_before_the_front_has_it() {
    let load = random_load(2000, 700, 2000.0, 2);
    let rows = run_open(&mut *memories("log_kib = 4\nclean_after_idle_ms = 0.01", 400, 800), &load);
    let mut last: BTreeMap<u64, (Nanos, u32)> = BTreeMap::new();
    for row in &rows.notes {
        if let Some(host) = served(row) {
            let last = last.entry(host).or_default();
            last.0 = last.0.max(row.completion);
            last.1 += row.blocks - u32::from(row.op == Write);
        }
    }
    assert_eq!(rows.done.len(), 2000);
    for row in &rows.done {
        assert_eq!(last[&row.id], (row.completion, row.blocks), "{row:?}");
        assert_eq!(row.parts.total(), row.completion - row.arrival);
    }
}

/// Writes of 8 KB, half of them all over the device and half on few places,
/// `gap_ns` apart: how many per second of real time.
fn speed_of(text: &str, gap_ns: u64) -> f64 {
    let mut chance = Stream::new(1, "speed");
    let blocks = read(text).expect("a device").blocks() / 16;
    let list: VecDeque<Request> = (0..1_000_000)
        .map(|id| {
            let lbn = 16 * chance.below(if id % 2 == 0 { blocks } else { 4000 });
            Request::new(id, Nanos(id * gap_ns), Write, lbn, 16)
        })
        .collect();
    let (mut model, mut source) = (build(text), Listed(list));
    let start = std::time::Instant::now();
    let limits = Limits::default();
    let outcome = simulate(&mut source, &mut *model, &mut Count(0), limits, &mut |_| Ok(()));
    assert_eq!(outcome.expect("no errors").completed, 1_000_000);
    1e6 / start.elapsed().as_secs_f64()
}

#[test]
#[ignore = "a measurement: cargo test --release -p sledsim-core mwb:: -- --ignored --nocapture"]
fn speed() {
    let buffer = "title = 'MWB'\nkind = 'mwb'\nfront_mib = 256\n\
                  [front]\nbase = 'msst2005'\n[back]\nbase = 'atlas10k-50mbps'\n";
    let keeps = buffer.replace("front_mib = 256", "clean_idle_above = 0.9\nclean_above = 1");
    for (name, text) in [
        ("front alone", "base = 'msst2005'"),
        ("back alone", "base = 'atlas10k-50mbps'"),
        ("buffer, all in the logs", &*keeps),
        ("buffer, cleaned while idle", buffer),
    ] {
        println!("{name}: {:.0} writes per s", speed_of(text, 20_000_000));
    }
}
