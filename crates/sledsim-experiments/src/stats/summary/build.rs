//! Makes the summary of statistics and of the facts of a run.

use super::{
    Confidence, DelayedSummary, DeviceSummary, EnergyJ, EpisodeSummary, IntervalMs, LongestWait,
    MechanismSummary, OverloadedSummary, PrecisionSummary, SaturatedSummary, SeedSummary, Summary,
    TimesMs, WarmUpSummary,
};
use crate::stats::figures::spans_of_all;
use crate::stats::interval::{Caution, Interval, LEVEL};
use crate::stats::numbers::{finite, seconds};
use crate::stats::report::{RunFigures, RunReport, SeedRun};
use crate::stats::streaming::Stats;
use sledsim_base::distribution::Distribution;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::model::{Energy, Episode, Report};
use std::collections::BTreeMap;

impl Summary {
    /// The summary of a run, or of several that were added.
    ///
    /// Standard deviations and variances are those of the population, not estimates
    /// from a sample.
    pub fn new(stats: &Stats, run: &RunReport) -> Self {
        let count = stats.requests();
        let [reads, writes, flushes, trims] = stats.by_op.each_ref().map(|of_op| of_op.requests);
        let [blocks_read, blocks_written, ..] = stats.by_op.each_ref().map(|of_op| of_op.blocks);
        let (duration, active, simulated) = spans_of_all(stats, run);
        let duration_s = match count {
            0 => f64::NAN,
            _ => seconds(duration),
        };
        let bytes = (blocks_read + blocks_written) as f64 * BLOCK_BYTES as f64;
        let mechanisms = mechanisms(run, active);
        let busiest = busiest(&mechanisms);
        let mut times: BTreeMap<_, _> = stats.times().collect();
        let mut times = |name| {
            let times = times.remove(name).expect("each time is summed up once");
            TimesMs::new(&times, stats.count_of(name))
        };
        let mut reports = run.reports.iter();
        let energy = reports.try_fold(Energy::default(), |sum, report| Some(sum + report.energy?));
        let is_energy_known = energy.is_some() && stats.unknown_energies == 0;
        Self {
            requests: count,
            reads,
            writes,
            flushes,
            trims,
            read_fraction: finite(reads as f64 / (reads + writes) as f64),
            errors: stats.errors,
            duration_s: finite(duration_s),
            simulated_s: seconds(simulated),
            throughput_iops: finite(count as f64 / duration_s),
            throughput_mb_s: finite(bytes / 1e6 / duration_s),
            blocks_read,
            blocks_written,
            passes: stats.passes,
            retries: stats.retries,
            mean_outstanding: finite(stats.outstanding_ns as f64 / 1e9 / duration_s),
            mean_queue_depth: finite(stats.found as f64 / stats.arrivals as f64),
            max_queue_depth: (stats.arrivals > 0).then_some(stats.most_found),
            utilisation: busiest.and_then(|mechanism| mechanism.utilisation),
            busiest: busiest.map(|mechanism| mechanism.name.clone()),
            mechanism_requests: stats.served,
            saturated: (run.saturated)
                .map(|found| SaturatedSummary { at_s: seconds(found.at), queue: found.queue }),
            overloaded: run.overload().map(|demand| OverloadedSummary {
                offered_iops: finite(demand.offered_iops()),
                load: finite(demand.load()),
                found_first: demand.found_first,
                found_last: demand.found_last,
            }),
            interrupted: false,
            warm_up: (run.warm_up)
                .map(|cut| WarmUpSummary { requests: cut.requests, until_s: seconds(cut.until) }),
            precision: run.precision.as_ref().map(|precision| PrecisionSummary {
                target: precision.target,
                reached: precision.reached.and_then(finite),
                met: precision.missed.is_none(),
                missed: precision.missed.clone(),
            }),
            response_time_ms: times("response_time"),
            service_time_ms: times("service_time"),
            queue_ms: times("queue"),
            overhead_ms: times("overhead"),
            seek_ms: times("seek"),
            x_seek_ms: times("x_seek"),
            y_seek_ms: times("y_seek"),
            settle_ms: times("settle"),
            turnaround_ms: times("turnaround"),
            rotation_ms: times("rotation"),
            head_switch_ms: times("head_switch"),
            transfer_ms: times("transfer"),
            bus_ms: times("bus"),
            retry_ms: times("retry"),
            other_ms: times("other"),
            confidence: Confidence::new(run),
            longest_wait: longest_wait(stats, run),
            energy_j: energy.as_ref().map(EnergyJ::new),
            request_energy_j: is_energy_known.then(|| stats.energy_nj as f64 / 1e9),
            devices: run.reports.iter().map(DeviceSummary::new).collect(),
            mechanisms,
            seeds: (!run.runs.is_empty()).then(|| run.runs.iter().map(SeedSummary::new).collect()),
            background: run.background.clone(),
        }
    }
}

impl TimesMs {
    /// Mean, spread, percentiles and maximum of `count` values.
    pub fn new(distribution: &Distribution, count: u64) -> Self {
        if count == 0 {
            return Self::default();
        }
        let report = distribution.report(count);
        let (mean_ns, variance_ns2) = (report.mean_ns(), report.variance_ns2());
        let shares = [5_000, 9_000, 9_900, 9_990, 9_999];
        let [p50, p90, p99, p99_9, p99_99] =
            report.percentiles_ns(shares).map(|ns| Some(ns as f64 / 1e6));
        Self {
            mean: Some(mean_ns / 1e6),
            sd: Some(variance_ns2.sqrt() / 1e6),
            scv: finite(variance_ns2 / (mean_ns * mean_ns)),
            p50,
            p90,
            p99,
            p99_9,
            p99_99,
            max: Some(distribution.max_ns() as f64 / 1e6),
        }
    }
}

impl Confidence {
    fn new(run: &RunReport) -> Self {
        let method = match (run.runs.as_slice(), run.parts.as_slice()) {
            ([], []) => "batch_means",
            ([], _) => "strata",
            _ => "replications",
        };
        let [response_time_ms, service_time_ms, queue_ms] = run.intervals.map(IntervalMs::new);
        Self { level: LEVEL, method, response_time_ms, service_time_ms, queue_ms }
    }
}

impl IntervalMs {
    fn new(interval: Option<Interval>) -> Self {
        let of = |value: &dyn Fn(Interval) -> f64| interval.map(value).and_then(finite);
        Self {
            mean: of(&|interval| interval.mean / 1e6),
            low: of(&|interval| (interval.mean - interval.half_width) / 1e6),
            high: of(&|interval| (interval.mean + interval.half_width) / 1e6),
            half_width_share: of(&|interval| interval.share()),
            batches: interval.map_or(0, |interval| interval.batches),
            batch_requests: interval.map_or(0, |interval| interval.batch_requests),
            lag1: of(&|interval| interval.lag1),
            caution: interval
                .map_or(Some(Caution::TooFew), |interval| interval.caution)
                .map(Caution::text),
        }
    }
}

/// The request that waited longest, and the seed of its run.
fn longest_wait(stats: &Stats, run: &RunReport) -> Option<LongestWait> {
    let (wait, key) = (stats.longest_wait?, stats.longest_wait_key());
    let seed = run.runs.iter().find(|run| run.figures.longest_wait == key);
    Some(LongestWait {
        queue_ms: wait.queue.0 as f64 / 1e6,
        seed: seed.map(|run| run.seed),
        id: wait.id,
        op: wait.op.name(),
        lbn: wait.lbn,
        blocks: wait.blocks,
        arrival_s: seconds(wait.arrival),
    })
}

impl EnergyJ {
    fn new(energy: &Energy) -> Self {
        Self {
            seek: energy.seek_j,
            transfer: energy.transfer_j,
            idle: energy.idle_j,
            inactive: energy.inactive_j,
            startup: energy.startup_j,
            read_ahead: energy.read_ahead_j,
            destage: energy.destage_j,
            background: energy.background_j,
            retry: energy.retry_j,
            total: energy.total_j(),
        }
    }
}

impl DeviceSummary {
    fn new(report: &Report) -> Self {
        Self {
            name: report.name.clone(),
            energy_j: report.energy.as_ref().map(EnergyJ::new),
            counts: report.counts.clone(),
            episodes: report.episodes.iter().map(EpisodeSummary::new).collect(),
        }
    }
}

impl EpisodeSummary {
    fn new(episode: &Episode) -> Self {
        let delayed = episode.delayed.iter().map(|access| DelayedSummary {
            id: access.request,
            at_ns: access.at.0,
            by_ns: access.by.0,
        });
        Self { begin_ns: episode.begin.0, end_ns: episode.end.0, delayed: delayed.collect() }
    }
}

impl SeedSummary {
    fn new(run: &SeedRun) -> Self {
        let figures: &RunFigures = &run.figures;
        let [response, service, queue] = figures.means_ns.map(|mean_ns| finite(mean_ns / 1e6));
        Self {
            seed: run.seed,
            requests: figures.requests,
            throughput_iops: finite(figures.throughput_iops()),
            saturated: figures.saturated,
            overloaded: figures.overloaded,
            mean_response_time_ms: response,
            mean_service_time_ms: service,
            mean_queue_ms: queue,
            confidence: IntervalMs::new(figures.intervals[0]),
        }
    }
}

/// The mechanisms of all devices, outermost first, in the time `active`.
fn mechanisms(run: &RunReport, active: Nanos) -> Vec<MechanismSummary> {
    let share = |time: Nanos| finite(seconds(time) / seconds(active));
    let reports = run.reports.iter();
    let named = reports.flat_map(|of| of.mechanisms.iter().map(move |part| (&of.name, part)));
    named
        .map(|(device, (part, busy))| MechanismSummary {
            name: format!("{device}{part}"),
            busy_s: seconds(busy.total()),
            utilisation: share(busy.total()),
            host: share(busy.host),
            other: share(busy.other),
        })
        .collect()
}

/// The first with the largest known utilisation.
fn busiest(mechanisms: &[MechanismSummary]) -> Option<&MechanismSummary> {
    let known = mechanisms.iter().filter(|mechanism| mechanism.utilisation.is_some());
    known.reduce(|most, one| if one.utilisation > most.utilisation { one } else { most })
}

/// The largest utilisation of a mechanism; `None` without any, or without time.
pub(crate) fn utilisation(run: &RunReport, active: Nanos) -> Option<f64> {
    busiest(&mechanisms(run, active))?.utilisation
}
