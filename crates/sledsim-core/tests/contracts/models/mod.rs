//! Does every model fulfil the contract? One suite for sleds and disks without
//! and with a buffer, a stripe of two sleds, a memory in front of a sled,
//! flash, write buffers, caching tiers, and arrays that fail and are rebuilt.

mod engines;
mod list;
mod requests;

use sledsim_base::error::Result;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::engine::{Limits, Observer, Outcome, simulate};
use sledsim_core::model::source::Source;
use sledsim_core::model::{CompletionSink, Model};
use std::collections::VecDeque;

/// Open arrivals of all operations, some batches, many on the same blocks.
fn requests(count: u64, rate_per_s: f64, seed: u64, blocks: u64) -> Vec<Request> {
    let mut random = Stream::new(seed, "contract");
    let mut arrival_s = 0.0;
    (0..count)
        .map(|id| {
            arrival_s += random.exponential(1.0 / rate_per_s);
            let op = match random.below(20) {
                0 => Op::Flush,
                1 => Op::Trim,
                2..=8 => Op::Write,
                _ => Op::Read,
            };
            let extents = if op == Op::Flush { 0 } else { 1 + random.below(10) / 9 };
            // A third of all requests fall on few blocks.
            let near = random.chance(0.33);
            let extent = |random: &mut Stream| {
                let length = random.geometric(8.0).min(900);
                let span = if near { 950 } else { blocks };
                Extent { lbn: random.below(span - length + 1), blocks: length as u32 }
            };
            Request {
                id,
                arrival: Nanos::from_s(arrival_s),
                op,
                extents: (0..extents).map(|_| extent(&mut random)).collect(),
                ..Request::default()
            }
        })
        .collect()
}

/// Open: the given arrivals. Closed: at most `depth` outstanding, arrivals set
/// to completions.
struct Load {
    waiting: VecDeque<Request>,
    depth: Option<u64>,
    outstanding: u64,
    now: Nanos,
}

impl Load {
    fn new(requests: Vec<Request>, depth: Option<u64>) -> Self {
        Self { waiting: requests.into(), depth, outstanding: 0, now: Nanos::ZERO }
    }
}

impl Source for Load {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        if self.depth.is_some_and(|depth| self.outstanding >= depth) {
            return Ok(None);
        }
        let closed = self.depth.is_some();
        Ok(self.waiting.front().map(|request| if closed { self.now } else { request.arrival }))
    }

    fn take(&mut self) -> Request {
        let mut request = self.waiting.pop_front().expect("an arrival was announced");
        if self.depth.is_some() {
            request.arrival = self.now;
        }
        self.outstanding += 1;
        request
    }

    fn completed(&mut self, _id: u64, at: Nanos) {
        self.outstanding -= 1;
        self.now = at;
    }

    fn requests(&self) -> Option<u64> {
        None
    }
}

#[derive(Default)]
struct Rows {
    done: Vec<Row>,
    notes: Vec<Row>,
}

impl Observer for Rows {
    fn done(&mut self, row: &Row) -> Result<()> {
        self.done.push(*row);
        Ok(())
    }

    fn note(&mut self, row: &Row) -> Result<()> {
        self.notes.push(*row);
        Ok(())
    }
}

impl CompletionSink for Rows {
    fn done(&mut self, row: &Row) {
        self.done.push(*row);
    }

    fn note(&mut self, row: &Row) {
        self.notes.push(*row);
    }
}

fn run(model: &mut dyn Model, load: &mut Load) -> (Rows, Outcome) {
    let mut rows = Rows::default();
    let outcome = simulate(load, model, &mut rows, Limits::default(), &mut |_| Ok(()))
        .expect("a run without errors");
    (rows, outcome)
}
