//! The distribution of times, in ms.

use serde::Serialize;
use sledsim_base::distribution::Distribution;
use sledsim_base::units::Nanos;

/// The distribution of times, in ms.
#[derive(Clone, Debug, Serialize)]
pub struct TimesMs {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl TimesMs {
    /// Of `count` times, of which `times` has those above zero.
    pub fn new(times: &Distribution, count: u64) -> Self {
        let percentiles = times.report(count).percentiles_ns([5_000, 9_000, 9_900]);
        let [p50, p90, p99] = percentiles.map(|ns| Nanos(ns).ms());
        let (mean, max) = (times.report(count).mean_ns() * 1e-6, Nanos(times.max_ns()).ms());
        Self { mean, p50, p90, p99, max }
    }
}
