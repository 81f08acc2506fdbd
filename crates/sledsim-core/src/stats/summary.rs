//! The summary of a run, as JSON.

use super::distribution::Distribution;
use super::streaming::{Stats, TIMES};
use crate::engine::Saturated;
use crate::model::{Energy, Report};
use crate::units::{BLOCK_BYTES, Nanos};
use serde_json::{Map, Value, json};

/// What is known of a run beside its rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFacts {
    /// The last instant simulated; reports count up to here.
    pub simulated_end: Nanos,
    /// Set if the run was stopped because the load was more than the device
    /// could take.
    pub saturated: Option<Saturated>,
    /// Whether the user stopped the run before its end.
    pub interrupted: bool,
    /// One per device, outermost first, as [`crate::model::Model::report`]
    /// gives them.
    pub reports: Vec<Report>,
}

/// The summary of a run: the document that `docs/summary.schema.json`
/// describes, its keys always there and always in the same order.
///
/// Units are in the names. What is undefined, such as the mean of no
/// requests, is null: numbers are finite. Standard deviations and variances
/// are those of the population, not estimates from a sample.
#[must_use]
pub fn summary(stats: &Stats, run: &RunFacts) -> Value {
    // Divisions by zero come out as null: JSON has no other word for them.
    let count = stats.requests();
    let [reads, writes, flushes, trims] = stats.requests;
    let [blocks_read, blocks_written, ..] = stats.blocks;
    let data_requests = reads + writes;
    let duration_s = match count {
        0 => f64::NAN,
        _ => seconds(stats.last_completion.since(stats.first_arrival)),
    };
    let simulated_end = run.simulated_end.max(stats.last_completion);
    let active_s = seconds(simulated_end.since(stats.first_arrival));
    let bytes = (blocks_read + blocks_written) as f64 * BLOCK_BYTES as f64;
    let utilisation = |report: &Report| seconds(report.busy) / active_s;

    let Value::Object(mut summary) = json!({
        "requests": count,
        "reads": reads,
        "writes": writes,
        "flushes": flushes,
        "trims": trims,
        "read_fraction": reads as f64 / data_requests as f64,
        "errors": stats.errors,
        "duration_s": duration_s,
        "simulated_s": seconds(simulated_end),
        "throughput_iops": count as f64 / duration_s,
        "throughput_mb_s": bytes / 1e6 / duration_s,
        "blocks_read": blocks_read,
        "blocks_written": blocks_written,
        "passes": stats.passes,
        "retries": stats.retries,
        "mean_queue_depth": stats.queue_depth as f64 / count as f64,
        "max_queue_depth": stats.max_queue_depth,
        "utilisation": run.reports.first().map(utilisation),
        "saturated": run.saturated.map(|s| json!({ "at_s": seconds(s.at), "queue": s.queue })),
        "interrupted": run.interrupted,
    }) else {
        unreachable!("an object was written")
    };
    for (name, distribution) in TIMES.iter().zip(&stats.times) {
        summary.insert(format!("{name}_ms"), times_ms(distribution, count));
    }
    let total = run.reports.iter().fold(Energy::default(), |sum, report| {
        let Energy {
            seek_j,
            transfer_j,
            idle_j,
            inactive_j,
            startup_j,
        } = report.energy;
        Energy {
            seek_j: sum.seek_j + seek_j,
            transfer_j: sum.transfer_j + transfer_j,
            idle_j: sum.idle_j + idle_j,
            inactive_j: sum.inactive_j + inactive_j,
            startup_j: sum.startup_j + startup_j,
        }
    });
    summary.insert("energy_j".into(), energy_j(&total));
    summary.insert(
        "request_energy_j".into(),
        json!(stats.energy_nj as f64 / 1e9),
    );
    let devices = run.reports.iter().map(|report| {
        json!({
            "name": report.name,
            "busy_s": seconds(report.busy),
            "utilisation": utilisation(report),
            "energy_j": energy_j(&report.energy),
        })
    });
    summary.insert("devices".into(), devices.collect());
    Value::Object(summary)
}

/// In seconds, as the nearest `f64` (a product with 1e-9 is one off at times).
fn seconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}

/// Mean, spread, percentiles and maximum of `count` values.
fn times_ms(distribution: &Distribution, count: u64) -> Value {
    if count == 0 {
        return json!({
            "mean": null, "sd": null, "scv": null, "p50": null, "p90": null,
            "p99": null, "p99_9": null, "p99_99": null, "max": null,
        });
    }
    let mean_ns = distribution.mean_ns(count);
    let variance_ns2 = distribution.variance_ns2(count);
    let shares = [5_000, 9_000, 9_900, 9_990, 9_999];
    let [p50, p90, p99, p99_9, p99_99] = distribution
        .percentiles_ns(count, shares)
        .map(|ns| ns as f64 / 1e6);
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
