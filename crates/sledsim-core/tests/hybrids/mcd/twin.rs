//! Does a caching tier send the same requests as a naive reference?
//!
//! One request at a time, with long pauses. The reference is a map of segments
//! with their valid blocks, and the naive policies of `common/policies.rs`.

use super::tiers::{Loose, play, spec, tier};
use crate::common::policies::{Naive, naive};
use crate::common::reports;
use sledsim_base::random::{Stream, Zipf};
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::compose::hybrids::{BACK, FRONT};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const POLICIES: [&str; 5] = ["lru", "lfuda", "slru", "arc", "s3fifo"];

/// A request to a child: which, whether it writes, and all blocks in the order
/// in which they are moved.
type Moved = (usize, bool, Vec<u64>);

/// The valid blocks of a segment in the front.
struct Held {
    slot: u64,
    valid: BTreeSet<u64>,
    dirty: bool,
}

/// The tier as a map.
struct Twin {
    segment: u64,
    slots: u64,
    exchange: u64,
    fetch: u64,
    headers: bool,
    partial: bool,
    shortcut: bool,
    back: u64,
    held: BTreeMap<u64, Held>,
    /// Slots without a segment: the one that became so last goes first.
    free: Vec<u64>,
    policy: Box<dyn Naive>,
    moved: Vec<Moved>,
    counts: BTreeMap<&'static str, u64>,
}

/// A part of a request: segment, and blocks of the back.
type Part = (u64, Vec<u64>);

impl Twin {
    fn count(&mut self, name: &'static str, by: usize) {
        *self.counts.entry(name).or_default() += by as u64;
    }

    fn whole(&self, segment: u64) -> BTreeSet<u64> {
        let end = ((segment + 1) * self.segment).min(self.back);
        (segment * self.segment..end).collect()
    }

    /// The location of a block on the front.
    fn at(&self, lbn: u64) -> u64 {
        self.header(lbn / self.segment) + u64::from(self.headers) + lbn % self.segment
    }

    fn header(&self, segment: u64) -> u64 {
        self.held[&segment].slot * (self.segment + u64::from(self.headers))
    }

    fn parts(&self, request: &Request) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for extent in &request.extents {
            for lbn in extent.lbn..extent.end() {
                match parts.last_mut() {
                    Some((segment, blocks)) if *segment == lbn / self.segment => blocks.push(lbn),
                    _ => parts.push((lbn / self.segment, vec![lbn])),
                }
            }
        }
        parts
    }

    /// What a request moves. Its parts lie in different segments.
    fn serve(&mut self, request: &Request) {
        let parts = self.parts(request);
        let is_write = request.op == Op::Write;
        let (all, found) = match request.op {
            Op::Write => ("segments_written", "segments_written_found"),
            _ => ("segments_read", "segments_read_found"),
        };
        // What the front serves at once, what it fills up, and what it lacks.
        let (mut ready, mut partial, mut absent) = (Vec::new(), Vec::new(), Vec::new());
        for (segment, blocks) in parts {
            self.count(all, 1);
            if self.held.contains_key(&segment) {
                self.count(found, 1);
            }
            let Some(held) = self.held.get(&segment) else {
                absent.push((segment, blocks));
                continue;
            };
            self.policy.hit(segment);
            let has_all = blocks.iter().all(|lbn| held.valid.contains(lbn));
            let is_whole = blocks.len() == self.whole(segment).len();
            if has_all || is_write && (self.partial || is_whole) {
                ready.push((segment, blocks));
            } else {
                partial.push((segment, blocks));
            }
        }
        let busy: BTreeSet<u64> = ready.iter().chain(&partial).map(|part| part.0).collect();
        self.access(&ready, is_write);
        for part in partial {
            self.fill(&[part.0], &[part], is_write);
        }
        // Runs of neighbours that are taken, or fetched, together.
        let together = self.exchange.min((self.slots / 4).max(1));
        let mut runs: Vec<(bool, Vec<u64>, Vec<Part>)> = Vec::new();
        let mut coming: BTreeSet<u64> = BTreeSet::new();
        for part in absent {
            let takes = is_write && (self.partial || part.1.len() == self.whole(part.0).len());
            if coming.contains(&part.0) {
                let run = runs.iter_mut().find(|run| run.1.contains(&part.0));
                run.expect("it is in one").2.push(part);
                self.count(found, 1);
                continue;
            }
            if let Some(run) = runs.last_mut()
                && run.0 == takes
                && run.1.last().is_some_and(|last| last + 1 == part.0)
                && (run.1.len() as u64) < together
            {
                coming.insert(part.0);
                run.1.push(part.0);
                run.2.push(part);
                continue;
            }
            let mut segments = vec![part.0];
            let width = if takes { 1 } else { self.fetch.min((self.slots / 4).max(1)) };
            let low = part.0 / width * width;
            let absent =
                |segment: u64| !self.held.contains_key(&segment) && !coming.contains(&segment);
            while segments[0] > low && absent(segments[0] - 1) {
                segments.insert(0, segments[0] - 1);
            }
            let high = (low + width).min(self.back.div_ceil(self.segment));
            while segments.last().expect("one") + 1 < high && absent(segments.last().unwrap() + 1) {
                segments.push(segments.last().unwrap() + 1);
            }
            coming.extend(&segments);
            runs.push((takes, segments, vec![part]));
        }
        let all: Vec<u64> = runs.iter().flat_map(|run| run.1.clone()).collect();
        self.make_room(&all, busy);
        for (takes, segments, parts) in runs {
            if takes {
                self.access(&parts, true);
            } else {
                self.fill(&segments, &parts, is_write);
            }
        }
    }

    /// Slots for `segments`: those without a segment, then those of clean ones,
    /// then those of dirty ones, which come later.
    fn make_room(&mut self, segments: &[u64], mut busy: BTreeSet<u64>) {
        let (mut clean, mut dirty) = (Vec::new(), Vec::new());
        let mut slots = Vec::new();
        for &segment in segments {
            let slot = self.free.pop();
            let may_go = |key: u64| !busy.contains(&key);
            let gone = self.policy.miss(segment, slot.is_none(), &may_go);
            busy.insert(segment);
            slots.extend(slot);
            let Some(gone) = gone.expect("there is always one that may go") else {
                continue;
            };
            self.count("segments_given_up", 1);
            if self.held[&gone].dirty {
                self.count("segments_given_up_dirty", 1);
                busy.extend(self.write_back(gone, &busy));
                dirty.push(self.held[&gone].slot);
            } else {
                clean.push(self.held[&gone].slot);
            }
            self.held.remove(&gone);
        }
        slots.extend(clean.into_iter().chain(dirty));
        for (&segment, slot) in segments.iter().zip(slots) {
            let held = Held { slot, valid: BTreeSet::new(), dirty: false };
            self.held.insert(segment, held);
        }
    }

    /// Writes a dirty segment to the back with as many dirty neighbours as allowed;
    /// returns them.
    fn write_back(&mut self, segment: u64, busy: &BTreeSet<u64>) -> Vec<u64> {
        let goes = |segment: u64| {
            let held = self.held.get(&segment);
            held.is_some_and(|held| held.dirty) && !busy.contains(&segment)
        };
        let (mut first, mut last) = (segment, segment);
        while last - first + 1 < self.exchange && first > 0 && goes(first - 1) {
            first -= 1;
        }
        while last - first + 1 < self.exchange && goes(last + 1) {
            last += 1;
        }
        let all: Vec<u64> =
            (first..=last).flat_map(|segment| self.held[&segment].valid.iter().copied()).collect();
        let front = all.iter().map(|lbn| self.at(*lbn)).collect();
        self.count("destaged_blocks", all.len());
        self.moved.push((FRONT, false, front));
        self.moved.push((BACK, true, all));
        for segment in first..=last {
            self.held.get_mut(&segment).expect("held").dirty = false;
        }
        (first..=last).collect()
    }

    /// Fetches what is missing of segments, and serves parts of them.
    fn fill(&mut self, segments: &[u64], parts: &[Part], is_write: bool) {
        let mut missing = Vec::new();
        let mut filled = Vec::new();
        let mut fresh = true;
        for &segment in segments {
            if self.headers {
                filled.push(self.header(segment));
            }
            fresh &= self.held[&segment].valid.is_empty();
            for lbn in self.whole(segment) {
                if !self.held[&segment].valid.contains(&lbn) {
                    missing.push(lbn);
                    filled.push(self.at(lbn));
                }
            }
            let whole = self.whole(segment);
            self.held.get_mut(&segment).expect("held").valid = whole;
        }
        let (first, last) = (missing[0], missing[missing.len() - 1]);
        self.count("fetched_blocks", (first..=last).count());
        self.moved.push((BACK, false, (first..=last).collect()));
        self.moved.push((FRONT, true, filled));
        let by_buffer = |part: &Part| {
            let all = part.1.iter().all(|lbn| missing.contains(lbn));
            self.shortcut && if is_write { fresh } else { all }
        };
        let (now, later): (Vec<Part>, Vec<Part>) = parts.iter().cloned().partition(by_buffer);
        for (segment, _) in now.iter().filter(|_| is_write) {
            self.held.get_mut(segment).expect("held").dirty = true;
        }
        self.access(&later, is_write);
    }

    /// The front serves parts with one request.
    fn access(&mut self, parts: &[Part], is_write: bool) {
        let mut all = Vec::new();
        for (segment, blocks) in parts {
            let grows = blocks.iter().any(|lbn| !self.held[segment].valid.contains(lbn));
            if grows && self.headers {
                all.push(self.header(*segment));
            }
            all.extend(blocks.iter().map(|lbn| self.at(*lbn)));
            let held = self.held.get_mut(segment).expect("held");
            held.dirty |= is_write;
            held.valid.extend(blocks);
        }
        if !all.is_empty() {
            self.moved.push((FRONT, is_write, all));
        }
    }
}

/// What is drawn of a tier and its load.
struct Case {
    keys: String,
    twin: Twin,
    front: u64,
    requests: Vec<Request>,
}

fn case(seed: u64, policy: &str) -> Case {
    let mut random = Stream::new(seed, policy);
    let r = &mut random;
    let reads = [0.0, 1.0, 0.3, 0.6][r.below(4) as usize];
    // Where dirty segments leave for several at once a policy is asked again
    // before those have come: only to LRU that is all the same.
    let spans = policy == "lru" || reads == 1.0;
    let segment = 1 + r.below(9);
    // With enough slots none is ever waited for.
    let slots = if spans { 32 } else { 2 } + r.below(40);
    let headers = r.chance(0.7);
    let unit = segment + u64::from(headers);
    let front = slots * unit + r.below(unit);
    let back = slots * segment * (1 + r.below(4)) + r.below(segment) + segment;
    let buffer = 1 + r.below(if spans { 3 } else { 6 });
    let exchange = 1 + r.below(buffer);
    let fetch = if spans { 1 + r.below(buffer) } else { 1 };
    let (partial, shortcut, immediate) = (r.chance(0.5), r.chance(0.5), r.chance(0.5));
    let kib = |segments: u64| (segments * segment) as f64 / 2.0;
    let mut keys = String::new();
    writeln!(
        keys,
        "segment_kib = {:?}\nbuffer_kib = {:?}\nexchange_kib = {:?}\nfetch_kib = {:?}\n\
         headers = {headers}\npartial_write = {partial}\nshortcut = {shortcut}\n\
         immediate_report = {immediate}\nread_priority = {}\npolicy = \"{policy}\"",
        kib(1),
        kib(buffer),
        kib(exchange),
        kib(fetch),
        seed.is_multiple_of(2)
    )
    .expect("text");
    let most = if spans { 3 * segment } else { segment };
    let hot = Zipf::new(back.div_ceil(segment), 0.8);
    let requests = (0..300).map(|id| {
        let op = if r.chance(reads) { Op::Read } else { Op::Write };
        let at = hot.draw(r) * segment + r.below(segment);
        let lbn = at.min(back - 1);
        let mut blocks = (1 + r.below(most)).min(back - lbn);
        if !spans {
            blocks = blocks.min(segment - lbn % segment);
        }
        if r.chance(0.2) {
            // The whole segment.
            let first = lbn / segment * segment;
            return Request::new(
                id,
                Nanos(id * 1_000_000_000),
                op,
                first,
                segment.min(back - first) as u32,
            );
        }
        Request::new(id, Nanos(id * 1_000_000_000), op, lbn, blocks as u32)
    });
    let requests = requests.collect();
    let twin = Twin {
        segment,
        slots,
        exchange,
        fetch,
        headers,
        partial,
        shortcut,
        back,
        held: BTreeMap::new(),
        free: (0..slots).rev().collect(),
        policy: naive(policy, slots as usize),
        moved: Vec::new(),
        counts: BTreeMap::new(),
    };
    Case { keys, twin, front, requests }
}

#[test]
fn the_children_get_the_same_requests_as_those_of_the_reference() {
    for policy in POLICIES {
        for seed in 0..150 {
            let mut case = case(seed, policy);
            let front = Loose::new(1, case.front, 1000, false, seed).in_order();
            let back = Loose::new(2, case.twin.back, 10_000, true, seed).in_order();
            let asked = [front.asked(), back.asked()];
            let spec = spec(&case.keys, case.front, case.twin.back);
            assert_eq!(spec.placement.units, case.twin.slots);
            let mut model = tier(&case.keys, Box::new(front), Box::new(back));
            println!("{policy} {seed}: {}", case.keys);
            // One by one, each after all that the one before had begun.
            for request in &case.requests {
                play(&mut model, std::slice::from_ref(request), None, false);
                let mut found: Vec<Moved> = Vec::new();
                for (child, asked) in asked.iter().enumerate() {
                    for request in asked.lock().expect("one thread").drain(..) {
                        let extents = request.extents.iter();
                        let blocks = extents.flat_map(|extent| extent.lbn..extent.end());
                        found.push((child, request.op == Op::Write, blocks.collect()));
                    }
                }
                case.twin.serve(request);
                let mut expected = std::mem::take(&mut case.twin.moved);
                // What goes on at the same time is in no order.
                found.sort();
                expected.sort();
                assert_eq!(found, expected, "{policy} {seed} {request:?}");
            }
            let reports = reports(&model, Nanos::MAX);
            let counts = reports[0].counts.iter().copied().filter(|count| count.1 > 0);
            assert_eq!(counts.collect::<BTreeMap<_, _>>(), case.twin.counts);
        }
    }
}
