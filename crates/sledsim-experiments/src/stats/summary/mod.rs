//! The summary of a run: its statistics, with units in the names of its keys.
//!
//! These types are the source of `docs/summary.schema.json` and of Python's types: a
//! comment here is a description there.
//!
//! In reading order:
//! - `build`: makes it of statistics and facts.
//! - `schema`: its JSON Schema.

mod build;
mod schema;

pub(crate) use build::utilisation;
pub use schema::summary_schema;

use schema::{counts, nullable, signed};
use schemars::JsonSchema;
use serde::Serialize;
use sledsim_base::pairs::as_map;
use sledsim_core::model::TaskProgress;
use std::collections::BTreeMap;

/// Statistics of a run. Units are in the names. What is undefined, such as the mean of no
/// requests, is null.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Requests completed.
    pub requests: u64,
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// Flush requests.
    pub flushes: u64,
    /// Trim requests.
    pub trims: u64,
    /// Reads as a share of reads and writes; null if there are neither.
    #[schemars(range(max = 1))]
    pub read_fraction: Option<f64>,
    /// Requests that the device could not serve.
    pub errors: u64,
    /// First arrival to last completion of what is counted, in seconds; null without
    /// requests. The sum over several seeds.
    pub duration_s: Option<f64>,
    /// Instant at which the simulation ended, in seconds since its start. The sum over
    /// several seeds.
    pub simulated_s: f64,
    /// Requests per second of duration_s.
    pub throughput_iops: Option<f64>,
    /// Data read and written, in 10^6 bytes per second of duration_s.
    pub throughput_mb_s: Option<f64>,
    /// Blocks of 512 bytes read by requests without error.
    pub blocks_read: u64,
    /// Blocks of 512 bytes written by requests without error.
    pub blocks_written: u64,
    /// Uninterrupted sweeps over the media.
    pub passes: u64,
    /// Repeated attempts.
    pub retries: u64,
    /// Requests that count in the device, averaged over duration_s, from arrivals and
    /// completions.
    pub mean_outstanding: Option<f64>,
    /// Mean over the arrivals that count of how many other requests were in the device, from
    /// their arrival to their completion; null where that is not observed (a served device).
    pub mean_queue_depth: Option<f64>,
    /// The most that one of them found.
    pub max_queue_depth: Option<u64>,
    /// Share of the time from the first arrival to the end of the simulation in which the
    /// busiest mechanism was busy; null if there is no such time or mechanism.
    pub utilisation: Option<f64>,
    /// The name of that mechanism.
    pub busiest: Option<String>,
    /// Requests that met a mechanism, over which service_time_ms is taken.
    pub mechanism_requests: u64,
    /// Set if the run was stopped because requests arrived faster than they could be served.
    pub saturated: Option<SaturatedSummary>,
    /// Set if requests of an open load arrived faster than they could be served, as far as the
    /// run tells; null also for a run that was stopped (saturated), and below 512 requests. Of
    /// several seeds, about all of them together.
    pub overloaded: Option<OverloadedSummary>,
    /// Always false: a run that is stopped has no summary.
    pub interrupted: bool,
    /// What was run to warm up and is not counted; null without warm-up.
    pub warm_up: Option<WarmUpSummary>,
    /// What came of the precision that was asked for; null if none was.
    pub precision: Option<PrecisionSummary>,
    /// Completion minus arrival.
    pub response_time_ms: TimesMs,
    /// Time at mechanisms that a request caused: seek, rotation, head switch, transfer, retry
    /// and other; over the mechanism_requests that met one.
    pub service_time_ms: TimesMs,
    /// Waiting for the bus with the command, then for the mechanism.
    pub queue_ms: TimesMs,
    /// Command processing, paid at arrival.
    pub overhead_ms: TimesMs,
    /// Positioning: for every pass the larger of X and Y.
    pub seek_ms: TimesMs,
    /// X part of all seeks of a request, settle included.
    pub x_seek_ms: TimesMs,
    /// Y part of all seeks of a request, turnarounds included.
    pub y_seek_ms: TimesMs,
    /// Settling after X moves.
    pub settle_ms: TimesMs,
    /// Reversals of the Y velocity.
    pub turnaround_ms: TimesMs,
    /// Rotational latency (disks).
    pub rotation_ms: TimesMs,
    /// Head switches (disks).
    pub head_switch_ms: TimesMs,
    /// Media transfer.
    pub transfer_ms: TimesMs,
    /// From the end of the media transfer to the last byte on the bus.
    pub bus_ms: TimesMs,
    /// Repeated attempts.
    pub retry_ms: TimesMs,
    /// Anything else, such as starting up from the inactive state.
    pub other_ms: TimesMs,
    /// Confidence intervals of means.
    pub confidence: Confidence,
    /// The request that waited longest in the queue; null if none had to wait.
    pub longest_wait: Option<LongestWait>,
    /// Energy of all devices together until the end of the simulation, in joules; null if one
    /// of them has no values of power.
    #[schemars(with = "EnergyJ")]
    pub energy_j: Option<EnergyJ>,
    /// Energy spent on the requests themselves, idling not included, in joules; null if
    /// energy_j is.
    pub request_energy_j: Option<f64>,
    /// Every device of the tree, outermost first.
    pub devices: Vec<DeviceSummary>,
    /// What does the work, such as arms, sleds, memories and buses, outermost device first.
    pub mechanisms: Vec<MechanismSummary>,
    /// What the run with each seed gave, in their order; null for a single run.
    pub seeds: Option<Vec<SeedSummary>>,
    /// What background tasks on unused tips came to, from the start of the run on, warm-up
    /// included; empty without any.
    #[schemars(with = "Vec<schema::TaskSummary>")]
    pub background: Vec<TaskProgress>,
}

/// How a run was stopped.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, title = "Saturated")]
pub struct SaturatedSummary {
    /// When it was stopped, in seconds.
    pub at_s: f64,
    /// How many requests were waiting then.
    pub queue: u64,
}

/// An overload.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, title = "Overloaded")]
pub struct OverloadedSummary {
    /// Requests that arrived per second; null if all arrived at once.
    pub offered_iops: Option<f64>,
    /// The work that arrived, as time at the full rate of the device, as a share of the time in
    /// which it arrived; null if that is zero.
    #[schemars(range(min = 1))]
    pub load: Option<f64>,
    /// Mean of the requests under way that the first eighth of the arrivals found.
    pub found_first: f64,
    /// The same of the last eighth.
    pub found_last: f64,
}

/// A warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, title = "WarmUp")]
pub struct WarmUpSummary {
    /// Requests completed and not counted.
    pub requests: u64,
    /// When counting began: the arrival of the first request that counts, in seconds.
    pub until_s: f64,
}

/// A precision, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, title = "Precision")]
pub struct PrecisionSummary {
    /// Half the interval of the mean response time was to be at most this share of it.
    pub target: f64,
    /// What it came to; with several seeds the worst of their own intervals.
    pub reached: Option<f64>,
    /// Whether the target was met.
    pub met: bool,
    /// Why not; null if it was.
    pub missed: Option<String>,
}

/// One kind of time over all requests (service_time_ms: over those that met a mechanism), in
/// milliseconds; everything is null without requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "times_ms", title = "TimesMs")]
pub struct TimesMs {
    /// Mean over all of them, zeros included.
    pub mean: Option<f64>,
    /// Standard deviation of the population.
    pub sd: Option<f64>,
    /// Squared coefficient of variation: variance of the population over mean squared; null if
    /// the mean is 0.
    pub scv: Option<f64>,
    /// The time that 50 % of the requests did not exceed; at most 1/1024 too high.
    pub p50: Option<f64>,
    /// The time that 90 % of the requests did not exceed; at most 1/1024 too high.
    pub p90: Option<f64>,
    /// The time that 99 % of the requests did not exceed; at most 1/1024 too high.
    pub p99: Option<f64>,
    /// The time that 99.9 % of the requests did not exceed; at most 1/1024 too high.
    pub p99_9: Option<f64>,
    /// The time that 99.99 % of the requests did not exceed; at most 1/1024 too high.
    pub p99_99: Option<f64>,
    /// The longest.
    pub max: Option<f64>,
}

/// Confidence intervals of means.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, title = "Confidence")]
pub struct Confidence {
    /// The share of such intervals that hold the true mean.
    #[schemars(range(max = 1))]
    pub level: f64,
    /// batch_means of a single run; replications: the means of several seeds; strata: the parts
    /// of a trace that was split.
    pub method: &'static str,
    pub response_time_ms: IntervalMs,
    pub service_time_ms: IntervalMs,
    pub queue_ms: IntervalMs,
}

/// Confidence interval of a mean, in milliseconds; null where there are too few requests for
/// one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "interval_ms", title = "IntervalMs")]
pub struct IntervalMs {
    /// Its middle: the mean over all whole batches, or over the means of all seeds.
    pub mean: Option<f64>,
    /// Its lower end.
    #[schemars(transform = signed)]
    pub low: Option<f64>,
    /// Its upper end.
    #[schemars(transform = signed)]
    pub high: Option<f64>,
    /// Half its width as a share of the mean.
    pub half_width_share: Option<f64>,
    /// How many batches or seeds it is from.
    pub batches: usize,
    /// Requests in each batch; 0 for seeds.
    pub batch_requests: u64,
    /// Correlation of the means of neighbouring eighths of batches; 0 for seeds.
    #[schemars(range(min = -1, max = 1))]
    pub lag1: Option<f64>,
    /// Why it is not to be relied on: too few requests, correlated batches, overloaded, or
    /// saturated; null if it is.
    pub caution: Option<&'static str>,
}

/// A request that waited.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, title = "LongestWait")]
pub struct LongestWait {
    /// How long it waited, in milliseconds.
    pub queue_ms: f64,
    /// In the run with this seed, of several.
    pub seed: Option<u64>,
    /// Its id in the rows.
    pub id: u64,
    /// What it did: read, write, flush or trim.
    pub op: &'static str,
    /// Its first logical block.
    pub lbn: u64,
    /// Its length in blocks of 512 bytes.
    pub blocks: u32,
    /// When it arrived, in seconds.
    pub arrival_s: f64,
}

/// Energy by cause in joules.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "energy_j", title = "EnergyJ", transform = nullable)]
pub struct EnergyJ {
    /// Moving to where a transfer starts.
    pub seek: f64,
    /// Moving under active tips or heads.
    pub transfer: f64,
    /// Ready but without work.
    pub idle: f64,
    /// Parked.
    pub inactive: f64,
    /// Waking from the parked state.
    pub startup: f64,
    /// Reading ahead: seeks, transfers and startups alike; not in the causes above.
    pub read_ahead: f64,
    /// Writing what a buffer held back: seeks, transfers and startups alike; not in the causes
    /// above.
    pub destage: f64,
    /// Tips that accessed blocks for background tasks; the passes that a task asked for itself
    /// are seek and transfer.
    pub background: f64,
    /// Passes made again after errors or to verify writes, and seek errors: seeks, transfers and
    /// startups alike; not in the causes above.
    pub retry: f64,
    /// The sum.
    pub total: f64,
}

/// One device.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, title = "DeviceSummary")]
pub struct DeviceSummary {
    /// Its name in the tree.
    pub name: String,
    /// Its energy, without that of the devices inside it, in joules; null without values of
    /// power.
    #[schemars(with = "EnergyJ")]
    pub energy_j: Option<EnergyJ>,
    /// What else it counts, by name; of a cache how many segments were asked for and found, and
    /// the blocks it moved.
    #[serde(serialize_with = "as_map")]
    #[schemars(with = "BTreeMap<String, u64>", transform = counts)]
    pub counts: Vec<(&'static str, u64)>,
    /// Of a disk with slow episodes those that began, from the start of the simulation on, of
    /// several seeds one after the other; else the key is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub episodes: Vec<EpisodeSummary>,
}

/// An episode in which a disk was slow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, title = "EpisodeSummary")]
pub struct EpisodeSummary {
    /// Its beginning, in ns.
    pub begin_ns: u64,
    /// Its end, in ns.
    pub end_ns: u64,
    /// The accesses to the media that it delayed.
    pub delayed: Vec<DelayedSummary>,
}

/// An access that an episode delayed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, title = "DelayedAccess")]
pub struct DelayedSummary {
    /// The request in the rows of the device; null for what it writes back.
    pub id: Option<u64>,
    /// When it would have begun, in ns.
    pub at_ns: u64,
    /// By how much it was delayed, in ns.
    pub by_ns: u64,
}

/// One mechanism.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, title = "MechanismSummary")]
pub struct MechanismSummary {
    /// The name of its device in the tree; of a bus with .bus behind it, of the link of flash
    /// with .link.
    pub name: String,
    /// How long it was busy, in seconds; of the units of flash the mean.
    pub busy_s: f64,
    /// busy_s as a share of the time from the first arrival to the end of the simulation.
    pub utilisation: Option<f64>,
    /// The part of it for requests of the host.
    pub host: Option<f64>,
    /// The part of it for other work: destaging, reading ahead, filling a cache, rebuilding,
    /// background tasks.
    pub other: Option<f64>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, title = "SeedSummary")]
pub struct SeedSummary {
    /// Its seed.
    pub seed: u64,
    /// Requests counted.
    pub requests: u64,
    /// Requests per second of its duration.
    pub throughput_iops: Option<f64>,
    /// Whether the load outran the device.
    pub saturated: bool,
    /// Whether its own requests arrived faster than they could be served.
    pub overloaded: bool,
    /// Mean response time.
    pub mean_response_time_ms: Option<f64>,
    /// Mean service time.
    pub mean_service_time_ms: Option<f64>,
    /// Mean time in the queue.
    pub mean_queue_ms: Option<f64>,
    pub confidence: IntervalMs,
}
