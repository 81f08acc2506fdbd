//! Popularity: which units of data are requested most.

use super::{LayoutContext, TraceAccesses};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::{Permutation, Stream};

/// The source of the popularity of units. Serialized, it is its keys.
#[derive(Debug, Serialize)]
#[serde(tag = "law", rename_all = "snake_case")]
pub(super) enum Popularity {
    /// Logical order is the order of popularity.
    First,
    /// The popularity of the workload `zipf` with this seed, scattered over the
    /// whole device in the same units.
    Zipf { seed: u64 },
    /// The number of requests of a trace that touch a unit.
    #[serde(untagged)]
    Trace { trace: Box<dyn TraceAccesses> },
}

impl Popularity {
    /// Reads `law` and `seed`, or the table `trace`.
    pub(super) fn read(keys: &mut Keys, site: &LayoutContext<'_>) -> Result<Self> {
        let zipf = keys.opt_choice("law", &[("first", false), ("zipf", true)])?;
        let seed = keys.opt_u64("seed", 0..=i64::MAX as u64)?;
        if seed.is_some() && zipf != Some(true) {
            return Err(keys.refuse("seed", "must come with law = \"zipf\" only"));
        }
        if let Some(trace) = keys.take_table("trace") {
            if zipf.is_some() {
                let must = "must not be given with the table trace: it counts instead";
                return Err(keys.refuse("law", must));
            }
            return Ok(Self::Trace { trace: site.traces.open(trace)? });
        }
        Ok(match zipf {
            Some(true) => Self::Zipf { seed: seed.unwrap_or(1) },
            _ => Self::First,
        })
    }

    /// The whole units of `unit` blocks among `blocks`, the most popular one
    /// first; ties in logical order.
    pub(super) fn order(
        &self,
        blocks: u64,
        unit: u64,
        site: &mut LayoutContext<'_>,
    ) -> Result<Vec<u32>> {
        let units = (blocks / unit) as u32;
        Ok(match self {
            Self::First => (0..units).collect(),
            Self::Zipf { seed } => {
                // The workload counts the remaining blocks as a unit, too.
                let all = blocks.div_ceil(unit);
                let scatter = Permutation::new(all, &mut Stream::new(*seed, "scatter"));
                let order = (0..all).map(|rank| scatter.at(rank) as u32);
                order.filter(|number| *number < units).collect()
            }
            Self::Trace { trace } => {
                let mut counts = vec![0; units as usize];
                trace.each(blocks, site.check, &mut |extent| {
                    add(&mut counts, extent.lbn / unit..=(extent.end() - 1) / unit);
                })?;
                let mut order: Vec<u32> = (0..units).collect();
                order.sort_by_key(|number| u32::MAX - counts[*number as usize]);
                order
            }
        })
    }
}

/// Counts one access to each of `units`; those past the last are not counted.
pub(super) fn add(counts: &mut [u32], units: std::ops::RangeInclusive<u64>) {
    for number in units {
        if let Some(count) = counts.get_mut(number as usize) {
            *count = count.saturating_add(1);
        }
    }
}
