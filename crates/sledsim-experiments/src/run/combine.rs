//! Sums of the facts of several runs.

use crate::stats::{RunReport, WarmUpCut};
use sledsim_core::model::Report;

/// Adds busy times, energies, counts, episodes and warm-ups of `one` run to those of the runs
/// before it; the end is the latest, and of saturated runs the first is kept. The
/// rest of the facts is not touched.
pub(super) fn add_facts(facts: &mut RunReport, one: &RunReport) {
    if facts.reports.is_empty() {
        facts.reports.clone_from(&one.reports);
    } else {
        for (sum, report) in facts.reports.iter_mut().zip(&one.reports) {
            add(sum, report);
        }
    }
    facts.simulated_end = facts.simulated_end.max(one.simulated_end);
    facts.saturated = facts.saturated.or(one.saturated);
    if let Some(cut) = one.warm_up {
        let sum = facts.warm_up.get_or_insert(WarmUpCut { requests: 0, until: cut.until });
        sum.requests += cut.requests;
        sum.until = sum.until.max(cut.until);
    }
}

fn add(sum: &mut Report, report: &Report) {
    for ((_, sum), (_, busy)) in sum.mechanisms.iter_mut().zip(&report.mechanisms) {
        *sum = *sum + *busy;
    }
    sum.energy = (sum.energy.zip(report.energy)).map(|(sum, energy)| sum + energy);
    for ((_, sum), (_, count)) in sum.counts.iter_mut().zip(&report.counts) {
        *sum += count;
    }
    sum.episodes.extend_from_slice(&report.episodes);
}
