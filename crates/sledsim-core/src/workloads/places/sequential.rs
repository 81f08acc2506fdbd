//! Sequential places: streams of requests, each beginning where the one before
//! it ended.

use super::uniform::Uniform;
use super::{PlaceEntry, PlaceKind, Places, Region, Slots};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::Stream;
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: PlaceEntry =
    PlaceEntry { name: "sequential", read: |keys, _| Ok(Arc::new(SequentialSpec::read(keys)?)) };

/// `streams`, `interleave` and `sequential_fraction` or `mean_run_requests`.
///
/// Stream i of n begins at i/n of the region. With probability
/// `sequential_fraction` a request continues where the last of its stream
/// ended, else the stream jumps to a uniform place; run lengths are geometric.
/// At the end of the region a stream continues at its start.
#[derive(Clone, Copy, Debug, Serialize)]
struct SequentialSpec {
    streams: u32,
    interleave: Interleave,
    sequential_fraction: f64,
}

/// The order of the streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Interleave {
    RoundRobin,
    Random,
}

const INTERLEAVES: [(&str, Interleave); 2] =
    [("round_robin", Interleave::RoundRobin), ("random", Interleave::Random)];

impl SequentialSpec {
    fn read(keys: &mut Keys) -> Result<Self> {
        let streams = keys.opt_u32("streams", 1..=1_000_000)?.unwrap_or(1);
        let interleave = keys.opt_choice("interleave", &INTERLEAVES)?;
        if interleave.is_some() && streams == 1 {
            return Err(keys.refuse("interleave", "needs streams = 2 or more"));
        }
        let share = Range::at_least(0.0).at_most(1.0);
        let fraction = keys.opt_f64("sequential_fraction", share)?;
        let run = keys.opt_f64("mean_run_requests", Range::at_least(1.0))?;
        if fraction.is_some() && run.is_some() {
            let problem = "must not be given with sequential_fraction: both set the length of runs";
            return Err(keys.refuse("mean_run_requests", problem));
        }
        Ok(Self {
            streams,
            interleave: interleave.unwrap_or(Interleave::RoundRobin),
            sequential_fraction: fraction.unwrap_or_else(|| run.map_or(1.0, |run| 1.0 - 1.0 / run)),
        })
    }
}

impl PlaceKind for SequentialSpec {
    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>> {
        let Region { slots, stream, .. } = *region;
        let n = u64::from(self.streams);
        let start = |i| (u128::from(slots) * u128::from(i) / u128::from(n)) as u64;
        let mut turns = (self.interleave == Interleave::Random).then(|| stream("turn"));
        Ok(Box::new(Sequential {
            slots,
            next: (0..n).map(start).collect(),
            turn: turns.as_mut().map_or(0, |turns| turns.below(n) as usize),
            turns,
            fraction: self.sequential_fraction,
            coins: stream("run"),
            jumps: Uniform::new(slots, stream),
        }))
    }
}

#[derive(Clone, Debug)]
struct Sequential {
    slots: u64,
    /// The next slot of each stream.
    next: Vec<u64>,
    turn: usize,
    turns: Option<Stream>,
    fraction: f64,
    coins: Stream,
    jumps: Uniform,
}

impl Places for Sequential {
    #[inline]
    fn next(&mut self, units: u64) -> Slots {
        let streams = self.next.len();
        let turn = self.turn;
        self.turn = match &mut self.turns {
            Some(turns) => turns.below(streams as u64) as usize,
            None if turn + 1 < streams => turn + 1,
            None => 0,
        };
        let mut slot = self.next[turn];
        if !self.coins.chance(self.fraction) {
            slot = self.jumps.slot(units);
        } else if units > self.slots - slot {
            slot = 0;
        }
        self.next[turn] = slot + units;
        Slots { stream: turn as u32, ..Slots::whole(slot, units) }
    }
}
