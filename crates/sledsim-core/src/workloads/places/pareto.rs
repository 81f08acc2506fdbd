//! Pareto places: a share of the units gets the rest of the requests, and so within it.

use super::ranked::{Ranked, RankedSpec};
use super::{PlaceEntry, PlaceKind, Places, Region, Slots};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::Stream;
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: PlaceEntry = PlaceEntry {
    name: "pareto",
    read: |keys, blocking| Ok(Arc::new(ParetoSpec::read(keys, blocking)?)),
};

/// `pareto_h` and the units: the first share h of the ranks gets 1 - h of the requests, the
/// first share h of these 1 - h of those, and so on. This is the self-similar distribution of
/// Gray and others (SIGMOD 1994), which fio calls `pareto`.
#[derive(Clone, Copy, Debug, Serialize)]
struct ParetoSpec {
    pareto_h: f64,
    #[serde(flatten)]
    ranked: RankedSpec,
}

impl ParetoSpec {
    fn read(keys: &mut Keys, blocking: u32) -> Result<Self> {
        let ranked = RankedSpec::read(keys, blocking)?;
        let h = keys.opt_f64("pareto_h", Range::above(0.0).below(1.0))?;
        Ok(Self { pareto_h: h.unwrap_or(0.2), ranked })
    }
}

impl PlaceKind for ParetoSpec {
    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>> {
        let (ranked, units) = self.ranked.start(region, u64::MAX)?;
        let power = self.pareto_h.ln() / (-self.pareto_h).ln_1p();
        Ok(Box::new(ParetoPlaces { ranked, units, power, ranks: (region.stream)("place") }))
    }
}

#[derive(Clone, Debug)]
struct ParetoPlaces {
    ranked: Ranked,
    units: u64,
    /// To which a uniform number is the share of the ranks before that drawn.
    power: f64,
    ranks: Stream,
}

impl Places for ParetoPlaces {
    #[inline]
    fn next(&mut self, units: u64) -> Slots {
        let before = self.ranks.unit().powf(self.power) * self.units as f64;
        self.ranked.place((before as u64).min(self.units - 1), units)
    }
}
