//! Zipf places: a few units of the region get most requests.

use super::ranked::{Ranked, RankedSpec};
use super::{PlaceEntry, PlaceKind, Places, Region, Slots};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::{Stream, Zipf};
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: PlaceEntry = PlaceEntry {
    name: "zipf",
    read: |keys, blocking| Ok(Arc::new(ZipfSpec::read(keys, blocking)?)),
};

/// `zipf_exponent` and the units: that of rank k is chosen with a probability
/// proportional to k^-exponent.
#[derive(Clone, Copy, Debug, Serialize)]
struct ZipfSpec {
    zipf_exponent: f64,
    #[serde(flatten)]
    ranked: RankedSpec,
}

impl ZipfSpec {
    fn read(keys: &mut Keys, blocking: u32) -> Result<Self> {
        let ranked = RankedSpec::read(keys, blocking)?;
        let exponent = keys.opt_f64("zipf_exponent", Range::at_least(0.0).at_most(10.0))?;
        Ok(Self { zipf_exponent: exponent.unwrap_or(1.0), ranked })
    }
}

impl PlaceKind for ZipfSpec {
    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>> {
        let (ranked, units) = self.ranked.start(region, Zipf::MOST)?;
        let zipf = Zipf::new(units, self.zipf_exponent);
        Ok(Box::new(ZipfPlaces { ranked, zipf, ranks: (region.stream)("place") }))
    }
}

#[derive(Clone, Debug)]
struct ZipfPlaces {
    ranked: Ranked,
    zipf: Zipf,
    ranks: Stream,
}

impl Places for ZipfPlaces {
    #[inline]
    fn next(&mut self, units: u64) -> Slots {
        let rank = self.zipf.draw(&mut self.ranks) - 1;
        self.ranked.place(rank, units)
    }
}
