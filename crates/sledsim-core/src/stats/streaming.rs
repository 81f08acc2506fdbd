//! Statistics that grow with every row and take constant memory.

use super::distribution::Distribution;
use crate::request::Op;
use crate::row::{Parts, Row, Status};
use crate::units::Nanos;
use std::array;

/// The kinds of time, as the summary names and orders them (it appends `_ms`).
pub(super) const TIMES: [&str; 15] = [
    "response_time",
    "service_time",
    "queue",
    "overhead",
    "seek",
    "x_seek",
    "y_seek",
    "settle",
    "turnaround",
    "rotation",
    "head_switch",
    "transfer",
    "bus",
    "retry",
    "other",
];

/// The times of a row in nanoseconds, in the order of [`TIMES`].
#[inline]
fn times(row: &Row) -> [u64; TIMES.len()] {
    let Parts {
        overhead,
        queue,
        seek,
        x_seek,
        y_seek,
        settle,
        turnaround,
        rotation,
        head_switch,
        transfer,
        bus,
        retry,
        other,
    } = row.parts;
    [
        row.response(),
        row.service(),
        queue,
        overhead,
        seek,
        x_seek,
        y_seek,
        settle,
        turnaround,
        rotation,
        head_switch,
        transfer,
        bus,
        retry,
        other,
    ]
    .map(|time| time.0)
}

/// Statistics over the rows of the outermost device.
///
/// Everything inside is an integer, so the result does not depend on the
/// order of the rows nor on how they were split before a [`Stats::merge`].
/// Percentiles come from histograms of three digits over all of `u64`.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    pub(super) times: [Distribution; TIMES.len()],
    /// By operation, in the order of [`Op::ALL`].
    pub(super) requests: [u64; Op::ALL.len()],
    /// Blocks of requests that were served, by operation.
    pub(super) blocks: [u64; Op::ALL.len()],
    pub(super) errors: u64,
    pub(super) passes: u64,
    pub(super) retries: u64,
    pub(super) energy_nj: u128,
    pub(super) queue_depth: u128,
    pub(super) max_queue_depth: u32,
    /// [`Nanos::MAX`] before the first row.
    pub(super) first_arrival: Nanos,
    pub(super) last_completion: Nanos,
}

impl Default for Stats {
    fn default() -> Self {
        Self::new()
    }
}

impl Stats {
    /// No rows yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            times: array::from_fn(|_| Distribution::new()),
            requests: [0; Op::ALL.len()],
            blocks: [0; Op::ALL.len()],
            errors: 0,
            passes: 0,
            retries: 0,
            energy_nj: 0,
            queue_depth: 0,
            max_queue_depth: 0,
            first_arrival: Nanos::MAX,
            last_completion: Nanos::ZERO,
        }
    }

    /// Takes one row in. Allocates nothing.
    pub fn record(&mut self, row: &Row) {
        for (distribution, time) in self.times.iter_mut().zip(times(row)) {
            distribution.record(time);
        }
        self.requests[row.op as usize] += 1;
        match row.status {
            Status::Ok => self.blocks[row.op as usize] += u64::from(row.blocks),
            Status::Error => self.errors += 1,
        }
        self.passes += u64::from(row.passes);
        self.retries += u64::from(row.retries);
        self.energy_nj += u128::from(row.energy_nj);
        self.queue_depth += u128::from(row.queue_depth);
        self.max_queue_depth = self.max_queue_depth.max(row.queue_depth);
        self.first_arrival = self.first_arrival.min(row.arrival);
        self.last_completion = self.last_completion.max(row.completion);
    }

    /// Takes in every row that `other` took in.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.times.iter_mut().zip(&other.times) {
            mine.merge(theirs);
        }
        for op in Op::ALL {
            self.requests[op as usize] += other.requests[op as usize];
            self.blocks[op as usize] += other.blocks[op as usize];
        }
        self.errors += other.errors;
        self.passes += other.passes;
        self.retries += other.retries;
        self.energy_nj += other.energy_nj;
        self.queue_depth += other.queue_depth;
        self.max_queue_depth = self.max_queue_depth.max(other.max_queue_depth);
        self.first_arrival = self.first_arrival.min(other.first_arrival);
        self.last_completion = self.last_completion.max(other.last_completion);
    }

    /// How many rows were taken in.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests.iter().sum()
    }
}
