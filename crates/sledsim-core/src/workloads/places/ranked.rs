//! Units of the region by rank, for `zipf` and `pareto`.

use super::{Region, Slots};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::{Permutation, Stream};

/// `unit_blocks` and `scatter`.
///
/// The region is divided into units of `unit_blocks`; the slot in one is uniform. A
/// request that would cross the end of the region is moved back to end there.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct RankedSpec {
    unit_blocks: u64,
    scatter: bool,
}

impl RankedSpec {
    pub fn read(keys: &mut Keys, blocking: u32) -> Result<Self> {
        let blocking = u64::from(blocking);
        let unit_blocks = (keys.opt_u64("unit_blocks", 1..=i64::MAX as u64)?)
            .unwrap_or_else(|| 8_u64.next_multiple_of(blocking));
        if !unit_blocks.is_multiple_of(blocking) {
            let problem = format!("must be a multiple of blocking ({blocking})");
            return Err(keys.refuse("unit_blocks", problem));
        }
        Ok(Self { unit_blocks, scatter: keys.opt_bool("scatter")?.unwrap_or(true) })
    }

    /// The units of a region, at most `most`, and how many there are.
    pub fn start(&self, region: &Region<'_>, most: u64) -> Result<(Ranked, u64)> {
        let Region { slots, blocking, stream, keys } = *region;
        let unit = self.unit_blocks / blocking;
        let units = slots.div_ceil(unit);
        if units > most {
            let problem = format!("must cut the region into at most {most} units");
            return Err(keys.refuse("unit_blocks", problem));
        }
        let scatter = (self.scatter).then(|| Permutation::new(units, &mut stream("scatter")));
        let within = stream("place in unit");
        Ok((Ranked { slots, unit, scatter, within }, units))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Ranked {
    slots: u64,
    /// Slots in a unit; the last may have fewer.
    unit: u64,
    scatter: Option<Permutation>,
    within: Stream,
}

impl Ranked {
    /// The place of a request in the unit of a rank, from 0.
    #[inline]
    pub fn place(&mut self, rank: u64, units: u64) -> Slots {
        let first = self.unit * self.scatter.as_ref().map_or(rank, |s| s.at(rank));
        let slot = first + self.within.below(self.unit.min(self.slots - first));
        Slots::whole(slot.min(self.slots - units), units)
    }
}
