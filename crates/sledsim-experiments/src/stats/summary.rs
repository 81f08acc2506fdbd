//! The summary of a run, as JSON.

use super::demand::Demand;
use super::figures::{RunFigures, SeedRun, spans_of_all};
use super::interval::{Interval, LEVEL};
use super::streaming::{KINDS, Stats};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sledsim_base::distribution::Distribution;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::engine::Saturated;
use sledsim_core::model::{Energy, Report};

/// The facts of a run beside its rows; of several runs, their sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunReport {
    /// The last instant simulated; reports count up to here.
    pub simulated_end: Nanos,
    /// Set if the run was stopped because the load was more than the device
    /// could take; of several runs, how the first such ended.
    pub saturated: Option<Saturated>,
    /// The work that arrived, for an open load that was served to its end.
    pub demand: Option<Demand>,
    /// One per device, outermost first, as [`sledsim_core::model::Model::report`]
    /// returns them, without the warm-up.
    pub reports: Vec<Report>,
    /// Set if the run began with requests that are not counted.
    pub warm_up: Option<WarmUpCut>,
    /// Confidence intervals of the mean response, service and queue time.
    pub intervals: [Option<Interval>; KINDS.len()],
    /// Set if the run had a target precision.
    pub precision: Option<Precision>,
    /// The results of background tasks, in order.
    pub background: Vec<Value>,
    /// Of several runs, the results of each.
    pub runs: Vec<SeedRun>,
    /// Of the parts of a trace, the figures of each, in order.
    pub parts: Vec<RunFigures>,
    /// Of a window of a trace, the requests that arrived before it, and those that
    /// arrived within it, and were outstanding when it began and when it ended.
    pub outstanding: Option<[u64; 2]>,
}

impl RunReport {
    /// The demand, if it is more than the device can serve.
    pub fn overload(&self) -> Option<Demand> {
        self.demand.filter(Demand::is_overload)
    }
}

/// The warm-up of a run, which is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUpCut {
    /// Requests that completed and are not counted.
    pub requests: u64,
    /// When counting began: the arrival of the first request that counts.
    pub until: Nanos,
}

/// The target precision of a run, and the precision reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Precision {
    /// The target: half the interval of the mean response time as a share of
    /// the mean.
    pub target: f64,
    /// What it came to; `None` without an interval. The worst of several runs.
    pub reached: Option<f64>,
    /// Why the target was missed, if it was.
    pub missed: Option<String>,
}

pub(super) fn confidence_json(interval: Option<Interval>) -> Value {
    interval.map_or_else(Interval::none, Interval::json)
}

/// The summary of a run: the document that `docs/summary.schema.json`
/// describes, with all keys in a fixed order.
///
/// Units are in the names. What is undefined, such as the mean of no
/// requests, is null: numbers are finite. Standard deviations and variances
/// are those of the population, not estimates from a sample.
pub fn summary(stats: &Stats, run: &RunReport) -> Value {
    // Divisions by zero become null: JSON has no infinity.
    let count = stats.requests();
    let [reads, writes, flushes, trims] = stats.by_op.each_ref().map(|of_op| of_op.requests);
    let [blocks_read, blocks_written, ..] = stats.by_op.each_ref().map(|of_op| of_op.blocks);
    let data_requests = reads + writes;
    let (duration, active, simulated) = spans_of_all(stats, run);
    let duration_s = match count {
        0 => f64::NAN,
        _ => seconds(duration),
    };
    let active_s = seconds(active);
    let bytes = (blocks_read + blocks_written) as f64 * BLOCK_BYTES as f64;
    let mechanisms = mechanisms(run, active_s);
    let known = mechanisms.iter().filter(|(_, share, _)| share.is_finite());
    let busiest = known.reduce(|most, one| if one.1 > most.1 { one } else { most });

    let Value::Object(mut summary) = json!({
        "requests": count,
        "reads": reads,
        "writes": writes,
        "flushes": flushes,
        "trims": trims,
        "read_fraction": reads as f64 / data_requests as f64,
        "errors": stats.errors,
        "duration_s": duration_s,
        "simulated_s": seconds(simulated),
        "throughput_iops": count as f64 / duration_s,
        "throughput_mb_s": bytes / 1e6 / duration_s,
        "blocks_read": blocks_read,
        "blocks_written": blocks_written,
        "passes": stats.passes,
        "retries": stats.retries,
        "mean_outstanding": stats.outstanding_ns as f64 / 1e9 / duration_s,
        "mean_queue_depth": stats.found as f64 / stats.arrivals as f64,
        "max_queue_depth": (stats.arrivals > 0).then_some(stats.most_found),
        "utilisation": busiest.map(|(_, utilisation, _)| utilisation),
        "busiest": busiest.map(|(name, ..)| name),
        "mechanism_requests": stats.served,
        "saturated": run.saturated.map(|s| json!({ "at_s": seconds(s.at), "queue": s.queue })),
        "overloaded": run.overload().map(|demand| json!({
            "offered_iops": demand.offered_iops(),
            "load": demand.load(),
            "found_first": demand.found_first,
            "found_last": demand.found_last,
        })),
        "interrupted": false, // a run that is stopped has no summary
        "warm_up": run.warm_up.map(|cut| json!({
            "requests": cut.requests,
            "until_s": seconds(cut.until),
        })),
        "precision": run.precision.as_ref().map(|precision| json!({
            "target": precision.target,
            "reached": precision.reached,
            "met": precision.missed.is_none(),
            "missed": precision.missed,
        })),
    }) else {
        unreachable!("an object was written")
    };
    for (name, distribution) in stats.times() {
        let times = times_ms(&distribution, stats.count_of(name));
        summary.insert(format!("{name}_ms"), times);
    }
    let mut confidence = Map::new();
    confidence.insert("level".into(), json!(LEVEL));
    let method = match (run.runs.as_slice(), run.parts.as_slice()) {
        ([], []) => "batch_means",
        ([], _) => "strata",
        _ => "replications",
    };
    confidence.insert("method".into(), json!(method));
    for (kind, interval) in KINDS.iter().zip(run.intervals) {
        confidence.insert((*kind).into(), confidence_json(interval));
    }
    summary.insert("confidence".into(), Value::Object(confidence));
    summary.insert(
        "longest_wait".into(),
        stats.longest_wait.map_or(Value::Null, |wait| {
            let key = stats.longest_wait_key();
            let seed = run.runs.iter().find(|run| run.figures.longest_wait == key);
            json!({
                "queue_ms": wait.queue.0 as f64 / 1e6,
                "seed": seed.map(|run| run.seed),
                "id": wait.id,
                "op": wait.op.name(),
                "lbn": wait.lbn,
                "blocks": wait.blocks,
                "arrival_s": seconds(wait.arrival),
            })
        }),
    );
    let energies = run.reports.iter().map(|report| report.energy);
    let none = Some(Energy::default());
    let total = energies.fold(none, |sum, energy| Some(sum? + energy?));
    summary.insert("energy_j".into(), json!(total.as_ref().map(energy_j)));
    summary.insert(
        "request_energy_j".into(),
        json!(
            (total.is_some() && stats.unknown_energies == 0).then(|| stats.energy_nj as f64 / 1e9)
        ),
    );
    let devices = run.reports.iter().map(|report| {
        let counts: Map<_, _> =
            (report.counts.iter()).map(|&(name, count)| (name.to_owned(), json!(count))).collect();
        json!({
            "name": report.name,
            "energy_j": report.energy.as_ref().map(energy_j),
            "counts": counts,
        })
    });
    summary.insert("devices".into(), devices.collect());
    let mechanisms = mechanisms.into_iter().map(|(_, _, json)| json);
    summary.insert("mechanisms".into(), mechanisms.collect());
    let seeds =
        (!run.runs.is_empty()).then(|| run.runs.iter().map(SeedRun::json).collect::<Vec<_>>());
    summary.insert("seeds".into(), json!(seeds));
    summary.insert("background".into(), json!(run.background));
    Value::Object(summary)
}

/// The mechanisms of all devices, outermost first: name, share of `active_s` in which it was
/// busy, and JSON.
fn mechanisms(run: &RunReport, active_s: f64) -> Vec<(String, f64, Value)> {
    let of_device = |report: &Report| {
        let name = report.name.clone();
        (report.mechanisms.iter())
            .map(|(part, busy)| {
                let name = format!("{name}{part}");
                let share = |time: Nanos| seconds(time) / active_s;
                let utilisation = share(busy.total());
                let json = json!({
                    "name": name,
                    "busy_s": seconds(busy.total()),
                    "utilisation": utilisation,
                    "host": share(busy.host),
                    "other": share(busy.other),
                });
                (name, utilisation, json)
            })
            .collect::<Vec<_>>()
    };
    run.reports.iter().flat_map(of_device).collect()
}

/// The largest utilisation of a mechanism; `None` without any, or without time.
pub(crate) fn utilisation(run: &RunReport, active: Nanos) -> Option<f64> {
    let shares = mechanisms(run, seconds(active)).into_iter();
    (shares.map(|(_, share, _)| share).filter(|share| share.is_finite())).reduce(f64::max)
}

/// In seconds, as the nearest `f64` (a product with 1e-9 is one off at times).
pub(crate) fn seconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}

/// Mean, spread, percentiles and maximum of `count` values.
pub(super) fn times_ms(distribution: &Distribution, count: u64) -> Value {
    if count == 0 {
        return json!({
            "mean": null, "sd": null, "scv": null, "p50": null, "p90": null,
            "p99": null, "p99_9": null, "p99_99": null, "max": null,
        });
    }
    let mean_ns = distribution.mean_ns(count);
    let variance_ns2 = distribution.variance_ns2(count);
    let shares = [5_000, 9_000, 9_900, 9_990, 9_999];
    let [p50, p90, p99, p99_9, p99_99] =
        distribution.percentiles_ns(count, shares).map(|ns| ns as f64 / 1e6);
    json!({
        "mean": mean_ns / 1e6,
        "sd": variance_ns2.sqrt() / 1e6,
        "scv": variance_ns2 / (mean_ns * mean_ns),
        "p50": p50,
        "p90": p90,
        "p99": p99,
        "p99_9": p99_9,
        "p99_99": p99_99,
        "max": distribution.max_ns() as f64 / 1e6,
    })
}

/// Energy by cause and the total.
fn energy_j(energy: &Energy) -> Value {
    let causes = energy.by_cause().into_iter();
    let mut object: Map<String, Value> = causes
        .map(|(name, joules)| (name.trim_end_matches("_j").to_owned(), json!(joules)))
        .collect();
    object.insert("total".into(), json!(energy.total_j()));
    Value::Object(object)
}
