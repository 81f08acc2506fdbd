//! What became of the parts of a trace.

use super::parts_table::PartRow;
use crate::replay::{PartBy, PartList};
use crate::stats::{RunReport, Stats};
use serde::Serialize;

/// How many parts and requests there are, and what became of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Split {
    /// What the parts are.
    pub by: PartBy,
    /// How long a window is.
    pub window_s: Option<f64>,
    /// How long before a window its part begins.
    pub warm_up_s: Option<f64>,
    /// Parts.
    pub count: usize,
    /// Parts that failed.
    pub failed: usize,
    /// Parts that outran the device.
    pub saturated: usize,
    /// Parts with more than the device can serve.
    pub overloaded: usize,
    /// Why the first that failed did.
    pub first_failure: Option<String>,
    /// The first that is saturated or overloaded.
    pub first_caution: Option<String>,
    /// Requests of the trace that are in parts.
    pub requests: u64,
    /// Those with results.
    pub requests_counted: u64,
    /// Those that are not counted.
    pub requests_of_warm_up: u64,
    /// Those of parts that failed.
    pub requests_of_failed: u64,
    /// Those of parts that outran the device, and were not reached.
    pub requests_not_served: u64,
    /// The part in which a request waited longest.
    pub longest_wait: Option<String>,
    /// Of windows.
    #[serde(flatten)]
    pub cuts: Option<WindowCuts>,
}

/// What was simulated twice where windows were cut.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowCuts {
    /// Requests of warm-ups.
    pub overlap_requests: u64,
    pub outstanding: Outstanding,
}

/// How many requests were outstanding where windows were cut: at the end of one,
/// and, after the warm-up, at the start of the next. With a warm-up that is long
/// enough the two agree.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outstanding {
    pub cuts: u64,
    pub before: u64,
    pub after: u64,
    /// Sum of the differences.
    pub apart: u64,
}

impl Split {
    /// Of the parts, and of their statistics and facts together.
    pub(super) fn new(
        list: &PartList,
        parts: &[PartRow],
        stats: &Stats,
        facts: &RunReport,
    ) -> Self {
        let sum = |of: &dyn Fn(&PartRow) -> u64| parts.iter().map(of).sum::<u64>();
        let by_window = list.by == PartBy::Window;
        let requests = sum(&|row| row.requests);
        let failed = sum(&|row| if row.error.is_some() { row.requests } else { 0 });
        let left_out = facts.warm_up.map_or(0, |cut| cut.requests);
        let own_warm_up = if by_window { 0 } else { left_out };
        let counted = stats.requests();
        let slowest = stats.longest_wait_key();
        let waited = parts.iter().find(|row| slowest.is_some() && row.longest_wait == slowest);
        Self {
            by: list.by,
            window_s: list.window_s,
            warm_up_s: list.warm_up_s,
            count: parts.len(),
            failed: parts.iter().filter(|row| row.error.is_some()).count(),
            saturated: facts.parts.iter().filter(|part| part.saturated).count(),
            overloaded: facts.parts.iter().filter(|part| part.overloaded).count(),
            first_failure: parts.iter().find_map(PartRow::failure),
            first_caution: parts.iter().find_map(PartRow::grave).map(str::to_owned),
            requests,
            requests_counted: counted,
            requests_of_warm_up: own_warm_up,
            requests_of_failed: failed,
            requests_not_served: requests.saturating_sub(counted + own_warm_up + failed),
            longest_wait: waited.map(|row| row.name.clone()),
            cuts: by_window.then(|| WindowCuts {
                overlap_requests: sum(&PartRow::warm_up),
                outstanding: Outstanding::new(parts),
            }),
        }
    }
}

impl Outstanding {
    fn new(parts: &[PartRow]) -> Self {
        let mut found = Self::default();
        for pair in parts.windows(2) {
            let [one, next] = pair else { continue };
            // Windows without requests have no part: only neighbours are compared.
            if let (Some([_, end]), Some([start, _])) = (one.outstanding, next.outstanding)
                && one.is_before(next)
            {
                found.cuts += 1;
                found.before += end;
                found.after += start;
                found.apart += end.abs_diff(start);
            }
        }
        found
    }
}
