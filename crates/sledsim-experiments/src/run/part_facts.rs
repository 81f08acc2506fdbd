//! The facts of one part of a trace after its run, for another process.

use crate::replay::ReplayFacts;
use crate::stats::{RunFigures, RunReport, Stats, WarmUpCut, from_bytes, to_bytes};
use serde::{Deserialize, Serialize};
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;
use sledsim_core::engine::Saturated;
use sledsim_core::model::{Busy, Energy, Episode, Report};

/// The version of [`PartFacts`].
const VERSION: u8 = 3;

/// The facts of a part: its figures, and what [`add_facts`](super::combine::add_facts) adds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PartFacts {
    pub figures: RunFigures,
    simulated_end: Nanos,
    saturated: Option<Saturated>,
    warm_up: Option<WarmUpCut>,
    outstanding: Option<[u64; 2]>,
    /// One for each device of the tree.
    reports: Vec<ReportNumbers>,
    /// The facts of the replay.
    #[serde(with = "as_json")]
    pub replay: ReplayFacts,
}

/// A [`Report`] without names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ReportNumbers {
    busy: Vec<Busy>,
    energy: Option<Energy>,
    counts: Vec<u64>,
    episodes: Vec<Episode>,
}

impl ReportNumbers {
    fn of(report: &Report) -> Self {
        Self {
            busy: report.mechanisms.iter().map(|(_, busy)| *busy).collect(),
            energy: report.energy,
            counts: report.counts.iter().map(|(_, count)| *count).collect(),
            episodes: report.episodes.clone(),
        }
    }

    fn fits(&self, template: &Report) -> bool {
        let numbers = (self.busy.len(), self.counts.len());
        numbers == (template.mechanisms.len(), template.counts.len())
    }

    /// The report, with the names of `template`.
    fn named(&self, template: &Report) -> Report {
        let mechanisms = template.mechanisms.iter().zip(&self.busy);
        let counts = template.counts.iter().zip(&self.counts);
        Report {
            name: template.name.clone(),
            mechanisms: mechanisms.map(|((name, _), busy)| (*name, *busy)).collect(),
            energy: self.energy,
            counts: counts.map(|((name, _), count)| (*name, *count)).collect(),
            episodes: self.episodes.clone(),
        }
    }
}

impl PartFacts {
    /// Those of a run.
    pub fn new(stats: &Stats, facts: &RunReport, replay: &ReplayFacts) -> Self {
        Self {
            figures: RunFigures::new(stats, facts),
            simulated_end: facts.simulated_end,
            saturated: facts.saturated,
            warm_up: facts.warm_up,
            outstanding: facts.outstanding,
            reports: facts.reports.iter().map(ReportNumbers::of).collect(),
            replay: replay.clone(),
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(VERSION, self)
    }

    /// Reads [`PartFacts::to_bytes`] of a run on a device with the reports `template`.
    ///
    /// # Errors
    /// It is not of such a run.
    pub fn from_bytes(bytes: &[u8], template: &[Report]) -> Result<Self> {
        let is_sound = |facts: &Self| {
            facts.reports.len() == template.len()
                && facts.reports.iter().zip(template).all(|(numbers, report)| numbers.fits(report))
        };
        from_bytes("the facts of a part", VERSION, bytes, is_sound)
    }

    /// The facts of the run that are known, with the names of `template`.
    pub fn report(&self, template: &[Report]) -> RunReport {
        let reports = self.reports.iter().zip(template);
        RunReport {
            simulated_end: self.simulated_end,
            saturated: self.saturated,
            warm_up: self.warm_up,
            outstanding: self.outstanding,
            reports: reports.map(|(numbers, report)| numbers.named(report)).collect(),
            ..RunReport::default()
        }
    }
}

/// Facts as JSON within bytes: some of their keys may be absent.
mod as_json {
    use super::ReplayFacts;
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        facts: &ReplayFacts,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serde_json::to_string(facts).map_err(S::Error::custom)?.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<ReplayFacts, D::Error> {
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text).map_err(D::Error::custom)
    }
}
