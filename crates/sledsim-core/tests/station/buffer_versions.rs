//! Does a read always return the last write? A map outside the station keeps
//! versions of blocks. It sees only the requests that the mechanism served and
//! the rows announced, and assumes that the buffer holds the last data that
//! passed through it.

use crate::common::run_through;
use crate::common::sleds::{Event, Log, Spy, sled};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Flags, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::model::Model;
use sledsim_core::queueing::controllers::{Buffer, Buffered, Interface, ReadAhead, SpeedMatching};
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::collections::BTreeMap;

/// Blocks the load touches; the device is far larger.
const REGION: u64 = 700;

fn requests(seed: u64, gap_us: f64) -> Vec<Request> {
    let mut random = Stream::new(seed, "versions");
    let (mut arrival_s, mut next) = (0.0, 0);
    (0..4000)
        .map(|id| {
            let pause = if random.chance(0.1) { 20.0 } else { 1.0 };
            arrival_s += random.exponential(gap_us * 1e-6 * pause);
            let op = match random.below(40) {
                0 => Op::Flush,
                1 => Op::Trim,
                2..=17 => Op::Write,
                _ => Op::Read,
            };
            let extents = match op {
                Op::Flush => 0,
                _ => 1 + random.below(12) / 11,
            };
            let mut extent = || {
                let length = random.geometric(12.0).min(150);
                let lbn = match random.below(10) {
                    0..=4 if next + length <= REGION => next,
                    _ => random.below(REGION - length + 1),
                };
                next = lbn + length;
                Extent { lbn, blocks: length as u32 }
            };
            let extents = (0..extents).map(|_| extent()).collect();
            let fua = op == Op::Write && random.chance(0.1);
            Request {
                id,
                arrival: Nanos::from_s(arrival_s),
                op,
                extents,
                flags: Flags::FUA.when(fua),
                ..Request::default()
            }
        })
        .collect()
}

/// What a block holds: the number of the change that wrote it; 0 at first.
type Version = usize;

#[derive(Default)]
struct Shadow {
    requests: BTreeMap<u64, Request>,
    completions: BTreeMap<u64, Nanos>,
    /// The writes of each block: arrival, completion, id.
    writes: Vec<Vec<(Nanos, Nanos, u64)>>,
    /// Which request made a change; the first stands for the initial state.
    writers: Vec<Option<u64>>,
    media: Vec<Version>,
    /// The copy in the buffer, if there can be one.
    copy: Vec<Option<Version>>,
    /// Whether that copy is newer than the media.
    dirty: Vec<bool>,
    /// What reads that needed the mechanism got.
    got: BTreeMap<u64, Vec<(u64, Version)>>,
    destaged: Nanos,
    hits: usize,
    partial_hits: usize,
}

fn blocks(request: &Request) -> impl Iterator<Item = u64> {
    let extents = request.extents.iter().copied();
    extents.flat_map(|e| e.lbn..e.end()).filter(|lbn| *lbn < REGION)
}

impl Shadow {
    fn new(requests: &[Request], rows: &[Row]) -> Self {
        let by_id = |request: &Request| (request.id, request.clone());
        let completions: BTreeMap<u64, Nanos> =
            rows.iter().map(|row| (row.id, row.completion)).collect();
        let mut writes = vec![Vec::new(); REGION as usize];
        for write in requests.iter().filter(|request| request.op == Op::Write) {
            for lbn in blocks(write) {
                let times = (write.arrival, completions[&write.id], write.id);
                writes[lbn as usize].push(times);
            }
        }
        Self {
            requests: requests.iter().map(by_id).collect(),
            completions,
            writes,
            writers: vec![None],
            media: vec![0; REGION as usize],
            copy: vec![None; REGION as usize],
            dirty: vec![false; REGION as usize],
            ..Self::default()
        }
    }

    fn served(&mut self, end: Nanos, request: &Request) {
        let change = self.writers.len();
        let own = request.flags.contains(Flags::BACKGROUND);
        let asked = self.requests.get(&request.id).cloned();
        if request.op == Op::Read && !own {
            // Blocks not read now were in the buffer.
            let asked = asked.clone().expect("a request of ours");
            let read: Vec<u64> = blocks(request).collect();
            self.partial_hits += usize::from(blocks(&asked).count() > read.len());
            let mut got = Vec::new();
            for lbn in blocks(&asked) {
                let copy = self.copy[lbn as usize];
                let version = if read.contains(&lbn) {
                    copy.unwrap_or(0).max(self.media[lbn as usize])
                } else {
                    copy.expect("a block that passed through the buffer")
                };
                got.push((lbn, version));
            }
            self.got.insert(request.id, got);
        } else if request.op == Op::Write && !own {
            self.writers.push(Some(request.id));
        }
        for lbn in blocks(request).map(|lbn| lbn as usize) {
            match (request.op, own) {
                (Op::Read, _) => {
                    let copy = self.copy[lbn].unwrap_or(0);
                    self.copy[lbn] = Some(copy.max(self.media[lbn]));
                }
                (_, true) => {
                    assert!(self.dirty[lbn], "block {lbn} was clean");
                    self.media[lbn] = self.copy[lbn].expect("a dirty copy");
                    self.dirty[lbn] = false;
                    self.destaged = self.destaged.max(end);
                }
                (_, false) => {
                    self.media[lbn] = change;
                    self.copy[lbn] = self.dirty[lbn].then_some(change);
                }
            }
        }
    }

    fn done(&mut self, row: &Row) {
        let request = self.requests[&row.id].clone();
        match row.op {
            Op::Write if row.passes == 0 => {
                assert!(!request.flags.contains(Flags::FUA), "a durable write needs the media");
                let change = self.writers.len();
                self.writers.push(Some(row.id));
                for lbn in blocks(&request).map(|lbn| lbn as usize) {
                    self.copy[lbn] = Some(change);
                    self.dirty[lbn] = true;
                }
            }
            Op::Read => {
                let got = self.got.remove(&row.id).unwrap_or_else(|| {
                    self.hits += 1;
                    let held = |lbn: u64| {
                        let copy = self.copy[lbn as usize];
                        (lbn, copy.expect("a block that passed through the buffer"))
                    };
                    blocks(&request).map(held).collect()
                });
                for (lbn, version) in got {
                    self.is_fresh(&request, lbn, version);
                }
            }
            Op::Flush => {
                assert!(row.completion >= self.destaged, "still being written");
                for lbn in (0..REGION as usize).filter(|lbn| self.dirty[*lbn]) {
                    let version = self.copy[lbn].expect("a dirty copy");
                    let writer = self.writers[version].expect("a write");
                    assert!(
                        self.completions[&writer] > request.arrival,
                        "block {lbn} was not flushed"
                    );
                }
            }
            _ => {}
        }
    }

    /// No write of `lbn` lies wholly between the write of `version` and the
    /// arrival of the read.
    fn is_fresh(&self, read: &Request, lbn: u64, version: Version) {
        let writer = self.writers[version];
        let written = writer.map_or(Nanos::ZERO, |id| self.completions[&id]);
        for &(arrival, completion, id) in &self.writes[lbn as usize] {
            let newer = arrival >= written && writer != Some(id);
            let stale = newer && completion <= read.arrival;
            assert!(!stale, "block {lbn} of {read:?}: write {id} is newer");
        }
    }
}

#[test]
fn every_read_returns_the_latest_write() {
    let shapes = [(1, 64, 0), (2, 16, 1), (3, 40, 2), (8, 24, 7), (8, 128, 2), (16, 500, 8)];
    let policies = [ReadAhead::None, ReadAhead::Blocks(30), ReadAhead::Track, ReadAhead::Full];
    let (mut hits, mut partial_hits, mut destages, mut reads_ahead) = (0, 0, 0, 0);
    for (case, (segments, segment_blocks, write_back_segments)) in shapes.into_iter().enumerate() {
        for (seed, read_ahead) in policies.into_iter().enumerate() {
            for gap_us in [300.0, 1500.0] {
                let buffer = Buffer {
                    segments,
                    segment_blocks,
                    read_ahead,
                    write_back_segments,
                    speed_matching: [
                        SpeedMatching::None,
                        SpeedMatching::Pass,
                        SpeedMatching::Block,
                    ][seed % 3],
                };
                let interface = Interface {
                    overhead: Nanos(20_000 * case as u64),
                    bus_ns_per_block: 5120.0 * (seed % 2) as f64,
                };
                let mut log = Log::default();
                let overrides = [("idle", "'coast'"), ("inactive_after_ms", "5")];
                let spy = Spy::new(sled("g2", &overrides), &log);
                let scheduler = SchedulerSpec::default().make();
                let mut station = Buffered::new("g2", 0, spy, scheduler, interface, buffer);
                assert!(station.blocks() > REGION);
                let all = requests(seed as u64 + 10 * case as u64, gap_us);
                run_through(&mut station, &all, &mut log);
                println!("{buffer:?}, {gap_us} us");
                let rows = log.rows();
                assert_eq!(rows.len(), all.len());
                let mut shadow = Shadow::new(&all, &rows);
                for event in log.events() {
                    match event {
                        Event::Served { end, request, .. } => shadow.served(end, &request),
                        Event::Done(row) => shadow.done(&row),
                    }
                }
                hits += shadow.hits;
                partial_hits += shadow.partial_hits;
                let own = log.background();
                destages += own.iter().filter(|(_, _, r)| r.op == Op::Write).count();
                reads_ahead += own.iter().filter(|(_, _, r)| r.op == Op::Read).count();
                if write_back_segments > 0 {
                    let left = shadow.dirty.iter().filter(|dirty| **dirty).count();
                    assert_eq!(left, 0, "idle, and not all destaged");
                }
            }
        }
    }
    // The test is only worth something where these happen.
    println!("{hits} hits, {partial_hits} partial, {destages} destages, {reads_ahead} ahead");
    assert!(hits > 10_000 && partial_hits > 500 && destages > 5000 && reads_ahead > 5000);
}
