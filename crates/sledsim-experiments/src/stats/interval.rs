//! Confidence intervals of means: batch means of one run, means of several.
//!
//! Successive requests are correlated: they wait in the same queue.
//! The means of long batches of them are nearly independent, and nearly
//! normal for any distribution of single requests (Law and Kelton, *Simulation
//! Modeling and Analysis*, section 9.5.3; Schmeiser, *Operations Research* 30,
//! 1982, on how few batches are enough). Whether the batches are long enough
//! shows in pieces of them: if the means of neighbouring pieces, an eighth of a
//! batch each, are little correlated, those of batches are hardly so.

use super::streaming::{KINDS, Stats};
use super::student::student_t;
use serde::{Deserialize, Serialize};
use std::array;

/// The confidence of all intervals.
pub(super) const LEVEL: f64 = 0.95;

/// Pieces in a batch.
const PIECES_PER_BATCH: usize = 8;
/// The pieces are made twice as long when this number is reached.
const MOST_PIECES: usize = 256;
/// With fewer batches or requests an interval is not reliable.
pub(super) const FEWEST_BATCHES: usize = 16;
pub(super) const FEWEST_REQUESTS: u64 = 512;
/// Pieces more correlated than this belong to batches that are too short.
const MOST_CORRELATED: f64 = 0.3;

/// The reason why an interval is not reliable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Caution {
    /// Too few requests or batches for means to be normal.
    TooFew,
    /// Neighbouring batches are correlated: the run is too short for its
    /// queues, or not in a steady state.
    Correlated,
    /// More arrived than the device can serve: the mean depends on the length of the run.
    Overloaded,
    /// The load outran the device: there is no steady state.
    Saturated,
}

impl Caution {
    /// The text used in the summary.
    pub fn text(self) -> &'static str {
        match self {
            Self::TooFew => "too few requests",
            Self::Correlated => "correlated batches",
            Self::Overloaded => "overloaded",
            Self::Saturated => "saturated",
        }
    }
}

/// A 95 % confidence interval of a mean, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its middle: the mean over all batches, or over the means of all runs.
    pub mean: f64,
    /// Half of its width.
    pub half_width: f64,
    /// The number of batches or runs.
    pub batches: usize,
    /// Requests in each batch; 0 for runs, which may differ.
    pub batch_requests: u64,
    /// Correlation of the means of neighbouring eighths of batches; 0 if they
    /// are all the same, and for runs.
    pub lag1: f64,
    /// Set if it is not reliable.
    pub caution: Option<Caution>,
}

impl Interval {
    /// Student's interval of independent `means`; at least two.
    pub(super) fn of(means: impl ExactSizeIterator<Item = f64> + Clone) -> Option<Self> {
        let batches = means.len();
        if batches < 2 {
            return None;
        }
        let count = batches as f64;
        let mean = mean(means.clone());
        let squares: f64 = means.map(|x| (x - mean) * (x - mean)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        Some(Self {
            mean,
            half_width: student_t(LEVEL, batches as u64 - 1) * error,
            batches,
            batch_requests: 0,
            lag1: 0.0,
            caution: None,
        })
    }

    /// From the means of independent runs of `requests` in all; `None` if
    /// there are not two, or one has no mean.
    pub fn of_runs(means: &[f64], requests: u64) -> Option<Self> {
        if !means.iter().all(|mean| mean.is_finite()) {
            return None;
        }
        let caution = (requests < FEWEST_REQUESTS).then_some(Caution::TooFew);
        let interval = Self::of(means.iter().copied())?;
        Some(Self { caution, ..interval })
    }

    /// Half the width as a share of the mean; not a number if both are zero.
    pub fn share(&self) -> f64 {
        self.half_width / self.mean
    }
}

/// Cuts the requests of a run, in the order in which they are recorded, into
/// pieces of equal length, in constant memory.
///
/// It keeps the exact sums up to the end of each piece; dropping every other
/// one makes the pieces twice as long. Per request it only counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Pieces {
    /// Requests in each piece.
    length: u64,
    /// Requests missing from the current one.
    missing: u64,
    /// Sums of each kind of time in nanoseconds and the requests that have one, up to the
    /// end of each piece.
    sums: Vec<[(u128, u64); KINDS.len()]>,
}

impl Default for Pieces {
    fn default() -> Self {
        Self { length: 1, missing: 1, sums: Vec::with_capacity(MOST_PIECES) }
    }
}

impl Pieces {
    /// Counts a request; whether a piece ends with it.
    #[inline]
    pub fn count(&mut self) -> bool {
        self.missing -= 1;
        self.missing == 0
    }

    /// Ends a piece, all of whose requests are in `stats`.
    pub fn end_piece(&mut self, stats: &Stats) {
        self.sums.push(stats.sums());
        if self.sums.len() == MOST_PIECES {
            let mut ends_a_pair = true;
            self.sums.retain(|_| {
                ends_a_pair = !ends_a_pair;
                ends_a_pair
            });
            self.length *= 2;
        }
        self.missing = self.length;
    }

    /// Ends the counting of requests.
    pub fn close(&mut self) {
        self.missing = u64::MAX;
    }

    /// Requests in whole pieces.
    pub fn requests(&self) -> u64 {
        self.sums.len() as u64 * self.length
    }

    /// Whether half the interval of the mean response time is at most this
    /// share of the mean, and the interval is reliable.
    pub fn is_within(&self, share: f64) -> bool {
        self.interval(0).is_some_and(|interval| {
            interval.caution.is_none() && interval.half_width <= share * interval.mean
        })
    }

    /// The interval of each kind of time (response, service, queue), from all whole batches; `None`
    /// if there are not two.
    pub fn intervals(&self) -> [Option<Interval>; KINDS.len()] {
        array::from_fn(|kind| self.interval(kind))
    }

    /// The interval of one kind of time, by its index.
    pub fn interval(&self, kind: usize) -> Option<Interval> {
        let batches = self.sums.len() / PIECES_PER_BATCH;
        // Service times: some batches may have no request with one.
        if !(self.means(kind, PIECES_PER_BATCH, batches)).all(f64::is_finite) {
            return None;
        }
        let interval = Interval::of(self.means(kind, PIECES_PER_BATCH, batches))?;
        let batch_requests = PIECES_PER_BATCH as u64 * self.length;
        let pieces = self.means(kind, 1, batches * PIECES_PER_BATCH);
        let lag1 =
            correlation(pieces.map(|mean| if mean.is_finite() { mean } else { interval.mean }));
        let few = batches < FEWEST_BATCHES || batch_requests * (batches as u64) < FEWEST_REQUESTS;
        let caution = match (few, lag1 > MOST_CORRELATED) {
            (true, _) => Some(Caution::TooFew),
            (false, true) => Some(Caution::Correlated),
            (false, false) => None,
        };
        Some(Interval { batch_requests, lag1, caution, ..interval })
    }

    /// The means of the first `count` groups of `pieces` pieces; not a number without
    /// requests.
    fn means(
        &self,
        kind: usize,
        pieces: usize,
        count: usize,
    ) -> impl ExactSizeIterator<Item = f64> + Clone {
        (0..count).map(move |group| {
            let first = group * pieces;
            let before = first.checked_sub(1).map_or((0, 0), |last| self.sums[last][kind]);
            let (sum, requests) = self.sums[first + pieces - 1][kind];
            (sum - before.0) as f64 / (requests - before.1) as f64
        })
    }
}

/// The mean, exactly the value if all are the same.
fn mean(values: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let count = values.len() as f64;
    let first = values.clone().next().unwrap_or(f64::NAN);
    first + values.map(|x| x - first).sum::<f64>() / count
}

/// Correlation of neighbours; 0 if all are the same.
fn correlation(values: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let mean = mean(values.clone());
    let from_mean = values.map(|x| x - mean);
    let squares: f64 = from_mean.clone().map(|x| x * x).sum();
    let products = from_mean.clone().zip(from_mean.skip(1)).map(|(x, y)| x * y);
    if squares > 0.0 { products.sum::<f64>() / squares } else { 0.0 }
}
