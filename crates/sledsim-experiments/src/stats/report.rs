//! The facts of a run beside its rows.

use super::demand::Demand;
use super::interval::Interval;
use super::streaming::KINDS;
use serde::{Deserialize, Serialize};
use sledsim_base::units::Nanos;
use sledsim_core::engine::Saturated;
use sledsim_core::model::{Report, TaskProgress};

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
    pub background: Vec<TaskProgress>,
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
