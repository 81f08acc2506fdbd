//! The figures of one of several runs whose results are merged.

use super::numbers::seconds;
use super::report::{RunFigures, RunReport, SeedRun};
use super::streaming::{KINDS, Stats};
use sledsim_base::units::Nanos;

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
