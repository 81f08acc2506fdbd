//! The results of a run as one document.

use super::split::Split;
use crate::load_facts::LoadFacts;
use crate::stats::{RunReport, Stats, Summary};
use serde::Serialize;
use serde_json::{Value, json};
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;

/// The results of a run; see the results page of the guide.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunDocument {
    /// The version that made it.
    pub sledsim: &'static str,
    /// The name of the device.
    pub device: String,
    /// The scheduler and its keys.
    pub scheduler: String,
    /// The layout and its keys.
    pub layout: Value,
    /// The load and its counts.
    pub workload: LoadFacts,
    /// Of a trace that was split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// The statistics.
    pub summary: Summary,
}

impl RunDocument {
    /// The document of a run on `device`.
    pub(super) fn new(
        device: &Device,
        scheduler: &SchedulerSpec,
        workload: LoadFacts,
        stats: &Stats,
        facts: &RunReport,
    ) -> Self {
        let layout = device.layout();
        Self {
            sledsim: env!("CARGO_PKG_VERSION"),
            device: device.name().to_owned(),
            scheduler: scheduler.label().to_owned(),
            layout: layout.map_or_else(|| json!({ "name": "simple" }), |layout| json!(layout)),
            workload,
            split: None,
            summary: Summary::new(stats, facts),
        }
    }
}
