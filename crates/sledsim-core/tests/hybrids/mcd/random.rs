//! Is a caching tier correct for random requests and settings, with children of
//! random times?

use super::tiers::{Asked, Loose, POISON, Played, check_tokens, initial, play, tier};
use crate::common::served;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Flags, OWN_WORK, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::compose::hybrids::mcd::Mcd;
use sledsim_core::model::Model;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const POLICIES: [&str; 5] = ["lru", "lfuda", "slru", "arc", "s3fifo"];

/// A tier, drawn at random: small, so that everything happens often.
struct Draw {
    keys: String,
    front_blocks: u64,
    back_blocks: u64,
    front_ns: u64,
    back_ns: u64,
    is_late: bool,
    seed: u64,
}

impl Draw {
    fn new(seed: u64) -> Self {
        let mut random = Stream::new(seed, "tier");
        let r = &mut random;
        let segment = [1, 2, 3, 4, 5, 8, 16, 64, 65, 130][r.below(10) as usize];
        let slots = match r.below(4) {
            0 => 1 + r.below(3),
            1 => 8 + r.below(24),
            _ => 1 + r.below(8),
        };
        let headers = r.chance(0.7);
        let unit = segment + u64::from(headers);
        let front_blocks = slots * unit + r.below(3 * unit);
        // The tier uses as many as fit unless told otherwise.
        let fits = front_blocks / unit;
        let back_blocks = fits * segment + r.below(4 * fits * segment + 1);
        let buffer_segments = 1 + r.below(6);
        let buffer = buffer_segments * segment + r.below(segment);
        let kib = |blocks: u64| blocks as f64 / 2.0;
        let mut keys = String::new();
        let mut key = |name: &str, value: String| writeln!(keys, "{name} = {value}").expect("");
        key("segment_kib", format!("{:?}", kib(segment)));
        key("headers", headers.to_string());
        key("buffer_kib", format!("{:?}", kib(buffer)));
        key("policy", format!("\"{}\"", POLICIES[r.below(5) as usize]));
        let places = ["first", "centre", "whole"];
        key("front_placement", format!("\"{}\"", places[r.below(3) as usize]));
        for name in ["shortcut", "immediate_report", "read_priority", "partial_write"] {
            key(name, r.chance(0.6).to_string());
        }
        match r.below(4) {
            0 => key("fetch_kib", "\"auto\"".to_owned()),
            1 => {
                let segments = 1 + r.below(buffer_segments);
                key("fetch_kib", format!("{:?}", kib(segments * segment)));
            }
            _ => {}
        }
        if r.chance(0.5) {
            let segments = 1 + r.below(buffer_segments);
            key("exchange_kib", format!("{:?}", kib(segments * segment)));
        }
        if r.chance(0.3) {
            let blocks = 1 + r.below(6 * segment);
            key("bypass_after_kib", format!("{:?}", kib(blocks)));
        }
        if r.chance(0.4) {
            key("clean_after_idle_ms", format!("{:?}", r.unit() * 0.01));
        }
        if r.chance(0.3) {
            key("clean_above", format!("{:?}", r.unit()));
        }
        let front_ns = 1 + r.below(20_000);
        Self {
            keys,
            front_blocks,
            back_blocks,
            front_ns,
            back_ns: front_ns * (1 + r.below(10)),
            is_late: r.chance(0.5),
            seed,
        }
    }

    fn build(&self, keeps: bool) -> (Mcd, [Asked; 2]) {
        let mut front = Loose::new(1, self.front_blocks, self.front_ns, self.is_late, self.seed);
        let mut back = Loose::new(2, self.back_blocks, self.back_ns, self.is_late, self.seed);
        if keeps {
            front = front.keeping(self.seed, |_| POISON);
            back = back.keeping(self.seed + 1, initial);
        }
        let asked = [front.asked(), back.asked()];
        (tier(&self.keys, Box::new(front), Box::new(back)), asked)
    }
}

/// Requests of all kinds: hot blocks, scans, some larger than the cache.
fn requests(count: u64, blocks: u64, mean_ns: f64, seed: u64) -> Vec<Request> {
    let mut random = Stream::new(seed, "requests");
    let mean_blocks = 1.0 + random.unit() * 12.0;
    let read_fraction = random.unit();
    let (mut arrival, mut scan) = (0.0, 0);
    (0..count)
        .map(|id| {
            let r = &mut random;
            if r.chance(0.8) {
                arrival += r.exponential(mean_ns);
            }
            let op = match r.below(40) {
                0 => Op::Flush,
                1 => Op::Trim,
                _ if r.chance(read_fraction) => Op::Read,
                _ => Op::Write,
            };
            let count = match r.below(10) {
                _ if op == Op::Flush => 0,
                0 => 3,
                1 => 2,
                _ => 1,
            };
            let mut extent = || {
                let length = match r.below(30) {
                    0 => 1 + r.below(blocks),
                    _ => r.geometric(mean_blocks).min(blocks),
                };
                let lbn = match r.below(4) {
                    0 => r.below(blocks - length + 1),
                    1 if scan + length <= blocks => scan,
                    _ => r.below(blocks - length + 1) / 5,
                };
                scan = lbn + length;
                Extent { lbn, blocks: length as u32 }
            };
            Request {
                id,
                arrival: Nanos(arrival as u64),
                op,
                stream: id as u32 % 3,
                extents: (0..count).map(|_| extent()).collect(),
                ..Request::default()
            }
        })
        .collect()
}

/// Checks invariants of rows.
fn check_rows(requests: &[Request], played: &Played) {
    let mut ids: Vec<u64> = played.rows.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..requests.len() as u64), "each id once");
    // Passes, attempts and energy of the children's requests made for each.
    let mut spent: BTreeMap<u64, (u32, u32, u64)> = BTreeMap::new();
    let mut children = BTreeSet::new();
    for note in &played.notes {
        assert!(children.insert(note.id & !OWN_WORK), "a child's id twice: {note:?}");
        if let Some(parent) = served(note) {
            let spent = spent.entry(parent).or_default();
            spent.0 += note.passes;
            spent.1 += note.retries;
            spent.2 += note.energy_nj;
            assert!(note.arrival >= requests[parent as usize].arrival);
            assert_eq!(note.stream, requests[parent as usize].stream);
        }
    }
    for row in &played.rows {
        let request = &requests[row.id as usize];
        assert_eq!(row.parts.total(), row.response(), "{row:?}");
        assert!(row.arrival <= row.start && row.start <= row.completion);
        assert_eq!(
            (row.op, row.lbn, row.blocks, row.parent, row.stream),
            (request.op, request.lbn(), request.blocks(), None, request.stream)
        );
        let all = (row.passes, row.retries, row.energy_nj);
        let of_children = spent.remove(&row.id).unwrap_or_default();
        assert_eq!(all, of_children, "{row:?}");
        if !row.op.moves_data() {
            assert_eq!(row.completion, row.arrival);
        }
    }
    assert!(spent.is_empty(), "parents that are none: {spent:?}");
}

/// Checks that rows list all child requests, and that completed writes are
/// durable.
fn check_children(asked: &[Asked; 2], played: &Played) {
    for (child, asked) in asked.iter().enumerate() {
        let asked = asked.lock().expect("one thread");
        let rows = (played.notes.iter()).filter(|row| usize::from(row.device) == child + 1);
        assert_eq!(asked.len(), rows.count(), "child {child}");
        for request in asked.iter() {
            assert_eq!(request.flags.contains(Flags::FUA), request.op == Op::Write, "{request:?}");
        }
    }
}

/// The same requests, submitted without wakes in between: as late as possible.
fn late(model: &mut dyn Model, requests: &[Request], seed: u64) -> Vec<Row> {
    let mut random = Stream::new(seed, "lateness");
    let mut played = Played::default();
    for (index, request) in requests.iter().enumerate() {
        model.submit(request.clone(), &mut played);
        if random.chance(0.1)
            && let Some(next) = requests.get(index + 1)
            && next.arrival > request.arrival
        {
            let gap = next.arrival.since(request.arrival).0;
            model.wake(request.arrival + Nanos(random.below(gap)), &mut played);
        }
    }
    while let Some(at) = model.next_event() {
        model.wake(at + Nanos(random.below(100_000)), &mut played);
    }
    played.rows
}

fn by_id(rows: &[Row]) -> BTreeMap<u64, Row> {
    rows.iter().map(|row| (row.id, *row)).collect()
}

/// How a load is played, by its number.
fn closed(case: u64) -> Option<(usize, Nanos)> {
    match case % 6 {
        0 => Some((1, Nanos::ZERO)),
        1 => Some((1, Nanos(50_000))),
        2 => Some((4, Nanos::ZERO)),
        3 => Some((64, Nanos::ZERO)),
        _ => None,
    }
}

#[test]
fn reads_return_written_data_and_every_request_completes() {
    for seed in 0..1200 {
        let draw = Draw::new(seed);
        let load = requests(150, draw.back_blocks, draw.back_ns as f64, seed);
        let told = format!("seed {seed}, front {}, back {}", draw.front_blocks, draw.back_blocks);
        println!("{told}, closed {:?}\n{}", closed(seed), draw.keys);
        let (mut model, asked) = draw.build(true);
        let played = play(&mut model, &load, closed(seed), true);
        check_rows(&with_arrivals(&load, &played), &played);
        check_children(&asked, &played);
        check_tokens(&mut model, &load, &played);
        // The same without contents, to the nanosecond.
        let (mut model, _) = draw.build(false);
        let without = play(&mut model, &load, closed(seed), false);
        assert!(without.rows == played.rows && without.notes == played.notes);
        // And late.
        if closed(seed).is_none() {
            let (mut model, _) = draw.build(false);
            assert_eq!(by_id(&late(&mut model, &load, seed)), by_id(&played.rows));
        }
    }
}

/// The requests as they arrived.
fn with_arrivals(load: &[Request], played: &Played) -> Vec<Request> {
    let arrivals = by_id(&played.rows);
    let arrived =
        |request: &Request| Request { arrival: arrivals[&request.id].arrival, ..request.clone() };
    load.iter().map(arrived).collect()
}
