//! The figures of one of several runs whose results are merged.

use super::interval::Interval;
use super::report::RunReport;
use super::streaming::{KINDS, Stats};
use super::summary::seconds;
use serde::{Deserialize, Serialize};
use sledsim_base::units::Nanos;

/// The figures of one of several runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFigures {
    /// Requests counted.
    pub requests: u64,
    /// Those of them with a service time.
    pub served: u64,
    /// From the first arrival to the last completion.
    pub duration: Nanos,
    /// From the first arrival to the end of the simulation.
    pub active: Nanos,
    /// The last instant simulated.
    pub simulated: Nanos,
    /// Means of the [response, service and queue](RunReport::intervals) times
    /// in nanoseconds; not numbers without requests.
    pub means_ns: [f64; KINDS.len()],
    /// Its own intervals of these means.
    pub intervals: [Option<Interval>; KINDS.len()],
    /// The longest time in the queue, with arrival and id of the request.
    pub longest_wait: Option<(Nanos, Nanos, u64)>,
    /// Whether the load outran the device.
    pub saturated: bool,
    /// Whether more arrived than the device can serve.
    pub overloaded: bool,
}

/// One of several runs that differ in their seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct SeedRun {
    /// Its seed.
    pub seed: u64,
    /// Its figures.
    pub figures: RunFigures,
}

impl RunFigures {
    /// The figures of a run.
    pub fn new(stats: &Stats, facts: &RunReport) -> Self {
        let (duration, active, simulated) = spans(stats, facts);
        Self {
            requests: stats.requests(),
            served: stats.served,
            duration,
            active,
            simulated,
            means_ns: (stats.sums()).map(|(sum, count)| sum as f64 / count as f64),
            intervals: facts.intervals,
            longest_wait: stats.longest_wait_key(),
            saturated: facts.saturated.is_some(),
            overloaded: facts.overload().is_some(),
        }
    }

    /// How many requests have a time of a kind, by its index in [`KINDS`].
    pub(super) fn count(&self, kind: usize) -> u64 {
        match KINDS[kind] {
            "service_time_ms" => self.served,
            _ => self.requests,
        }
    }

    /// Requests per second; not a number, or infinite, without a duration.
    pub fn throughput_iops(&self) -> f64 {
        self.requests as f64 / seconds(self.duration)
    }
}

impl SeedRun {
    /// The results of a run with this seed.
    pub fn new(seed: u64, stats: &Stats, facts: &RunReport) -> Self {
        let figures = RunFigures::new(stats, facts);
        Self { seed, figures }
    }
}

/// First arrival to last completion, first arrival to the end, and the end.
fn spans(stats: &Stats, run: &RunReport) -> (Nanos, Nanos, Nanos) {
    let simulated = run.simulated_end.max(stats.last_completion);
    let first = stats.first_arrival;
    (stats.last_completion.since(first), simulated.since(first), simulated)
}

/// The same of a run that may consist of several. Seeds follow each other: all
/// three are sums. Parts of a trace have one clock, and a device each: from the
/// first arrival in any to the last completion in any, the sum of the times in which
/// each device was simulated, and the latest end.
pub(super) fn spans_of_all(stats: &Stats, run: &RunReport) -> (Nanos, Nanos, Nanos) {
    let (duration, active, simulated) = spans(stats, run);
    match (run.runs.as_slice(), run.parts.as_slice()) {
        ([], []) => (duration, active, simulated),
        ([], parts) => {
            let active = parts.iter().map(|part| part.active);
            (duration, active.fold(Nanos::ZERO, |a, b| a + b), simulated)
        }
        (runs, _) => {
            let runs = runs.iter().map(|run| &run.figures);
            runs.fold(Default::default(), |(d, a, s), run| {
                (d + run.duration, a + run.active, s + run.simulated)
            })
        }
    }
}
