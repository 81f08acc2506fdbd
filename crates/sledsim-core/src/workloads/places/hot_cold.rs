//! Hot and cold places: a part of the region gets most requests.

use super::{PlaceEntry, PlaceKind, Places, Region, Slots};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::Stream;
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: PlaceEntry =
    PlaceEntry { name: "hot_cold", read: |keys, _| Ok(Arc::new(HotColdSpec::read(keys)?)) };

/// `hot_fraction`, `hot_share` and `hot_start`.
///
/// A request begins in the hot part with probability `hot_share`, uniformly
/// there or in the rest. A request that would cross the end of the region is
/// moved back to end there.
#[derive(Clone, Copy, Debug, Serialize)]
struct HotColdSpec {
    hot_fraction: f64,
    hot_share: f64,
    hot_start: f64,
}

impl HotColdSpec {
    fn read(keys: &mut Keys) -> Result<Self> {
        let inside = Range::above(0.0).below(1.0);
        let hot_fraction = keys.opt_f64("hot_fraction", inside)?.unwrap_or(0.2);
        let share = Range::at_least(0.0).at_most(1.0);
        // Allows 0.9 + 0.1 despite binary rounding.
        let rest = libm::round((1.0 - hot_fraction) * 1e12) / 1e12;
        let start = Range::at_least(0.0).at_most(rest);
        Ok(Self {
            hot_fraction,
            hot_share: keys.opt_f64("hot_share", share)?.unwrap_or(0.8),
            hot_start: keys.opt_f64("hot_start", start)?.unwrap_or(0.0),
        })
    }
}

impl PlaceKind for HotColdSpec {
    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>> {
        let Region { slots, stream, keys, .. } = *region;
        if slots < 2 {
            let problem = "must divide a region of two places or more";
            return Err(keys.refuse("hot_fraction", problem));
        }
        let part = |fraction: f64| libm::round(fraction * slots as f64) as u64;
        let hot = part(self.hot_fraction).clamp(1, slots - 1);
        Ok(Box::new(HotCold {
            slots,
            share: self.hot_share,
            start: part(self.hot_start).min(slots - hot),
            hot,
            coins: stream("hot"),
            places: stream("place"),
        }))
    }
}

#[derive(Clone, Debug)]
struct HotCold {
    slots: u64,
    share: f64,
    /// The first slot of the hot part, and how many it has.
    start: u64,
    hot: u64,
    coins: Stream,
    places: Stream,
}

impl Places for HotCold {
    #[inline]
    fn next(&mut self, units: u64) -> Slots {
        let slot = if self.coins.chance(self.share) {
            self.start + self.places.below(self.hot)
        } else {
            let cold = self.places.below(self.slots - self.hot);
            cold + if cold < self.start { 0 } else { self.hot }
        };
        Slots::whole(slot.min(self.slots - units), units)
    }
}
