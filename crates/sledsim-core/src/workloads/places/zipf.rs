//! Zipf places: a few units of the region get most requests.

use super::{PlaceEntry, PlaceKind, Places, Region, Slots};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::{Permutation, Stream, Zipf};
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: PlaceEntry = PlaceEntry {
    name: "zipf",
    read: |keys, blocking| Ok(Arc::new(ZipfSpec::read(keys, blocking)?)),
};

/// `zipf_exponent`, `unit_blocks` and `scatter`.
///
/// The region is divided into units of `unit_blocks`; the unit of rank k is
/// chosen with a probability proportional to k^-exponent, the slot in it
/// uniformly. A request that would cross the end of the region is moved back to
/// end there.
#[derive(Clone, Copy, Debug, Serialize)]
struct ZipfSpec {
    zipf_exponent: f64,
    unit_blocks: u64,
    scatter: bool,
}

impl ZipfSpec {
    fn read(keys: &mut Keys, blocking: u32) -> Result<Self> {
        let blocking = u64::from(blocking);
        let unit_blocks = (keys.opt_u64("unit_blocks", 1..=i64::MAX as u64)?)
            .unwrap_or_else(|| 8_u64.next_multiple_of(blocking));
        if !unit_blocks.is_multiple_of(blocking) {
            let problem = format!("must be a multiple of blocking ({blocking})");
            return Err(keys.refuse("unit_blocks", problem));
        }
        Ok(Self {
            zipf_exponent: (keys.opt_f64("zipf_exponent", Range::at_least(0.0).at_most(10.0))?)
                .unwrap_or(1.0),
            unit_blocks,
            scatter: keys.opt_bool("scatter")?.unwrap_or(true),
        })
    }
}

impl PlaceKind for ZipfSpec {
    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>> {
        let Region { slots, blocking, stream, keys } = *region;
        let unit = self.unit_blocks / blocking;
        let units = slots.div_ceil(unit);
        if units > Zipf::MOST {
            let problem = format!("must cut the region into at most {} units", Zipf::MOST);
            return Err(keys.refuse("unit_blocks", problem));
        }
        Ok(Box::new(ZipfPlaces {
            slots,
            unit,
            zipf: Zipf::new(units, self.zipf_exponent),
            scatter: (self.scatter).then(|| Permutation::new(units, &mut stream("scatter"))),
            ranks: stream("place"),
            within: stream("place in unit"),
        }))
    }
}

#[derive(Clone, Debug)]
struct ZipfPlaces {
    slots: u64,
    /// Slots in a unit; the last may have fewer.
    unit: u64,
    zipf: Zipf,
    scatter: Option<Permutation>,
    ranks: Stream,
    within: Stream,
}

impl Places for ZipfPlaces {
    #[inline]
    fn next(&mut self, units: u64) -> Slots {
        let rank = self.zipf.draw(&mut self.ranks) - 1;
        let first = self.unit * self.scatter.as_ref().map_or(rank, |s| s.at(rank));
        let slot = first + self.within.below(self.unit.min(self.slots - first));
        Slots::whole(slot.min(self.slots - units), units)
    }
}
