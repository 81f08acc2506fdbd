//! Statistics of any number of rows, in memory that grows with the range of their times.

use super::summary::TimesMs;
use serde::{Deserialize, Serialize};
use sledsim_base::distribution::Distribution;
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::did_you_mean;
use sledsim_base::request::Op;
use sledsim_base::row::{Parts, Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::engine::Occupancy;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::iter;

/// The kinds of time, as the summary names and orders them (it appends `_ms`): two, and
/// the parts of a row.
pub(super) const TIMES: [&str; 2 + Parts::COUNT] = {
    let mut names = ["response_time"; 2 + Parts::COUNT];
    names[1] = "service_time";
    names.split_at_mut(2).1.copy_from_slice(&Parts::NAMES);
    names
};

/// The kinds of time that have intervals, as the summary names them.
pub(crate) const KINDS: [&str; 3] = ["response_time_ms", "service_time_ms", "queue_ms"];

/// How many [`TIMES`] there are besides the response time.
pub(super) const OTHERS: usize = TIMES.len() - 1;

/// The times of a row in nanoseconds, in the order of [`TIMES`], without the
/// response time; the service time is 0 if it met no mechanism.
#[inline]
pub(super) fn times(row: &Row) -> [u64; OTHERS] {
    let mut times = [row.service().unwrap_or_default().0; OTHERS];
    times[1..].copy_from_slice(&row.parts.each().map(|part| part.0));
    times
}

/// What is kept by operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OperationStats {
    pub requests: u64,
    /// Blocks of requests that were served.
    pub blocks: u64,
    pub response: Distribution,
}

/// The request that waited longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wait {
    /// Its time in the queue.
    pub queue: Nanos,
    pub arrival: Nanos,
    pub id: u64,
    pub op: Op,
    pub lbn: u64,
    pub blocks: u32,
}

impl Wait {
    /// Whether it waited longer, or equally long and arrived earlier.
    fn beats(&self, other: &Self) -> bool {
        let key = |wait: &Self| (Reverse(wait.queue), wait.arrival, wait.id, wait.lbn);
        key(self) < key(other)
    }
}

/// Statistics over the rows of the outermost device.
///
/// Everything inside is an integer, so the result does not depend on the
/// order of the rows nor on how they were split before a [`Stats::merge`].
/// Percentiles come from histograms, 8 KiB for each kind of time and each power
/// of two that its values reach: at most 8 MB.
///
/// The order of the fields is that of their bytes: see [`Stats::to_bytes`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// In the order of [`Op::ALL`].
    pub(super) by_op: [OperationStats; Op::ALL.len()],
    /// The other [`TIMES`].
    pub(super) times: Vec<Distribution>,
    /// Requests that met a mechanism: those with a service time.
    pub(super) served: u64,
    pub(super) errors: u64,
    pub(super) passes: u64,
    pub(super) retries: u64,
    /// Of the requests of which it is known, and how many others there were.
    pub(super) energy_nj: u128,
    pub(super) unknown_energies: u64,
    /// The integral of the requests in the device over time, in ns.
    pub(super) outstanding_ns: u128,
    /// The arrivals of which it is known how many others they found in the device; these
    /// in sum, and the most that one found.
    pub(super) arrivals: u64,
    pub(super) found: u64,
    pub(super) most_found: u64,
    /// `None` if no request had to wait.
    pub(super) longest_wait: Option<Wait>,
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
    pub fn new() -> Self {
        Self {
            by_op: Default::default(),
            times: vec![Distribution::new(); OTHERS],
            served: 0,
            errors: 0,
            passes: 0,
            retries: 0,
            energy_nj: 0,
            unknown_energies: 0,
            outstanding_ns: 0,
            arrivals: 0,
            found: 0,
            most_found: 0,
            longest_wait: None,
            first_arrival: Nanos::MAX,
            last_completion: Nanos::ZERO,
        }
    }

    /// Records a row of a device whose occupancy is not observed. Allocates only as
    /// [`Distribution::record`] does.
    pub fn record(&mut self, row: &Row) {
        self.outstanding_ns += u128::from(row.response().0);
        self.by_op[row.op as usize].response.record(row.response().0);
        for (distribution, time) in self.times.iter_mut().zip(times(row)) {
            distribution.record(time);
        }
        self.count(row);
    }

    /// Adds the occupancy of the device in a run.
    pub fn occupied(&mut self, occupancy: &Occupancy) {
        self.outstanding_ns += occupancy.integral_ns();
        self.arrivals += occupancy.arrivals();
        self.found += occupancy.found();
        self.most_found = self.most_found.max(occupancy.most_found());
    }

    /// Counts what [`Stats::record`] does of a row, but its times.
    #[inline]
    pub(super) fn count(&mut self, row: &Row) {
        let of_op = &mut self.by_op[row.op as usize];
        of_op.requests += 1;
        match row.status {
            Status::Ok => of_op.blocks += u64::from(row.blocks),
            Status::Error => self.errors += 1,
        }
        self.passes += u64::from(row.passes);
        self.retries += u64::from(row.retries);
        self.served += u64::from(row.passes > 0);
        match row.energy_nj() {
            Some(energy_nj) => self.energy_nj += u128::from(energy_nj),
            None => self.unknown_energies += 1,
        }
        let longest = self.longest_wait.map_or(Nanos(1), |longest| longest.queue);
        if row.parts.queue >= longest {
            self.waited(Wait {
                queue: row.parts.queue,
                arrival: row.arrival,
                id: row.id,
                op: row.op,
                lbn: row.lbn,
                blocks: row.blocks,
            });
        }
        self.first_arrival = self.first_arrival.min(row.arrival);
        self.last_completion = self.last_completion.max(row.completion);
    }

    fn waited(&mut self, wait: Wait) {
        if (self.longest_wait).is_none_or(|longest| wait.beats(&longest)) {
            self.longest_wait = Some(wait);
        }
    }

    /// Adds all rows of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.by_op.iter_mut().zip(&other.by_op) {
            mine.requests += theirs.requests;
            mine.blocks += theirs.blocks;
            mine.response.merge(&theirs.response);
        }
        if let Some(wait) = other.longest_wait {
            self.waited(wait);
        }
        for (mine, theirs) in self.times.iter_mut().zip(&other.times) {
            mine.merge(theirs);
        }
        self.errors += other.errors;
        self.passes += other.passes;
        self.retries += other.retries;
        self.served += other.served;
        self.energy_nj += other.energy_nj;
        self.unknown_energies += other.unknown_energies;
        self.outstanding_ns += other.outstanding_ns;
        self.arrivals += other.arrivals;
        self.found += other.found;
        self.most_found = self.most_found.max(other.most_found);
        self.first_arrival = self.first_arrival.min(other.first_arrival);
        self.last_completion = self.last_completion.max(other.last_completion);
    }

    /// Names and distributions, in the order of the summary.
    pub(super) fn times(&self) -> impl Iterator<Item = (&'static str, Cow<'_, Distribution>)> {
        let response = Cow::Owned(self.response_of(None));
        let others = self.times.iter().map(Cow::Borrowed);
        TIMES.into_iter().zip(iter::once(response).chain(others))
    }

    /// Response times of one operation, or of all.
    fn response_of(&self, op: Option<Op>) -> Distribution {
        if let Some(op) = op {
            return self.by_op[op as usize].response.clone();
        }
        let mut all = Distribution::new();
        for of_op in &self.by_op {
            all.merge(&of_op.response);
        }
        all
    }

    /// Mean, spread, percentiles and maximum of the response times, as in the
    /// summary.
    pub(crate) fn response_ms(&self) -> TimesMs {
        TimesMs::new(&self.response_of(None), self.requests())
    }

    /// The longest time in the queue, with arrival and id of the request.
    pub(crate) fn longest_wait_key(&self) -> Option<(Nanos, Nanos, u64)> {
        self.longest_wait.map(|wait| (wait.queue, wait.arrival, wait.id))
    }

    /// The sums of the times that have intervals (response, service, queue), and over how
    /// many requests each is.
    pub(super) fn sums(&self) -> [(u128, u64); KINDS.len()] {
        let response = self.by_op.iter().map(|of_op| of_op.response.sum_ns()).sum();
        let all = self.requests();
        let [service, queue] = [&self.times[0], &self.times[1]];
        [(response, all), (service.sum_ns(), self.served), (queue.sum_ns(), all)]
    }

    /// How many requests have a time of a kind, one of [`TIMES`].
    pub(super) fn count_of(&self, kind: &str) -> u64 {
        match kind == TIMES[1] {
            true => self.served,
            false => self.requests(),
        }
    }

    /// The distribution function of one kind of time, as the summary names it
    /// without its unit (`response_time`, `seek`, ...): rising milliseconds,
    /// each with the share of the requests that did not take longer. Empty
    /// without requests; the last is the maximum and 1. Like percentiles, the
    /// times are at most 1/1024 too high. Response times are to be had for one
    /// operation alone, too.
    ///
    /// # Errors
    /// An unknown kind of time, or an operation with another kind than
    /// `response_time`.
    pub fn cdf(&self, time: &str, op: Option<Op>) -> Result<Vec<(f64, f64)>> {
        let Some(kind) = TIMES.iter().position(|name| *name == time) else {
            let hint = did_you_mean(time, TIMES);
            return Err(Error::Key(format!("unknown time '{time}'{hint}")));
        };
        match kind.checked_sub(1) {
            None => {
                let count =
                    op.map_or_else(|| self.requests(), |op| self.by_op[op as usize].requests);
                Ok(self.response_of(op).report(count).cdf_ms())
            }
            Some(other) if op.is_none() => {
                Ok(self.times[other].report(self.count_of(time)).cdf_ms())
            }
            Some(_) => {
                Err(Error::Key(format!("{time}: is not kept by operation; only {} is", TIMES[0])))
            }
        }
    }

    /// The number of rows recorded.
    pub fn requests(&self) -> u64 {
        self.by_op.iter().map(|of_op| of_op.requests).sum()
    }
}
