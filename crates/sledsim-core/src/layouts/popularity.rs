//! Popularity: which units of data are asked for most.

use super::Site;
use crate::engine::Progress;
use crate::error::Result;
use crate::keys::Keys;
use crate::load::trace_path;
use crate::random::{Permutation, Stream};
use crate::traces::TraceSpec;
use crate::workloads::Source;
use serde_json::{Value, json};

/// Where the popularity of units comes from.
#[derive(Clone, Debug)]
pub(super) enum Popularity {
    /// Logical order is the order of popularity.
    First,
    /// That of the workload `zipf` with this seed, scattered over the whole
    /// device in the same units.
    Zipf { seed: u64 },
    /// How many requests of a trace touch a unit.
    Trace(Box<TraceSpec>, String),
}

/// How many requests pass between two calls of `check`.
const CHECK_EVERY: u64 = 1024;

impl Popularity {
    /// Reads `law` and `seed`, or the table `trace`.
    pub(super) fn read(keys: &mut Keys, site: &Site<'_>) -> Result<Self> {
        let zipf = keys.opt_choice("law", &[("first", false), ("zipf", true)])?;
        let seed = keys.opt_u64("seed", 0..=i64::MAX as u64)?;
        if seed.is_some() && zipf != Some(true) {
            return Err(keys.refuse("seed", "must come with law = \"zipf\" only"));
        }
        if let Some(mut trace) = keys.take_table("trace") {
            if zipf.is_some() {
                let must = "must not be given with the table trace: it counts instead";
                return Err(keys.refuse("law", must));
            }
            let file = trace.text("file")?;
            let path = trace_path(&trace, &file, site.beside, site.samples)?;
            let spec = TraceSpec::read(&path, &mut trace)?;
            trace.finish()?;
            return Ok(Self::Trace(Box::new(spec), file));
        }
        Ok(match zipf {
            Some(true) => Self::Zipf {
                seed: seed.unwrap_or(1),
            },
            _ => Self::First,
        })
    }

    pub(super) fn facts(&self, facts: &mut Value) {
        match self {
            Self::First => facts["law"] = json!("first"),
            Self::Zipf { seed } => {
                facts["law"] = json!("zipf");
                facts["seed"] = json!(seed);
            }
            Self::Trace(_, file) => facts["trace"] = json!({ "file": file }),
        }
    }

    /// The whole units of `unit` blocks among `blocks`, the most popular one
    /// first; ties in logical order.
    pub(super) fn order(&self, blocks: u64, unit: u64, site: &mut Site<'_>) -> Result<Vec<u32>> {
        let units = (blocks / unit) as u32;
        Ok(match self {
            Self::First => (0..units).collect(),
            Self::Zipf { seed } => {
                // The workload has the blocks that are left as a unit, too.
                let all = blocks.div_ceil(unit);
                let scatter = Permutation::new(all, &mut Stream::new(*seed, "scatter"));
                let order = (0..all).map(|rank| scatter.at(rank) as u32);
                order.filter(|number| *number < units).collect()
            }
            Self::Trace(spec, _) => {
                let counts = count(spec, blocks, unit, units, site)?;
                let mut order: Vec<u32> = (0..units).collect();
                order.sort_by_key(|number| u32::MAX - counts[*number as usize]);
                order
            }
        })
    }
}

/// How many requests touch each unit.
fn count(
    spec: &TraceSpec,
    blocks: u64,
    unit: u64,
    units: u32,
    site: &mut Site<'_>,
) -> Result<Vec<u32>> {
    // Each device of a comparison has its layout, and the load may be the same trace.
    spec.keep(site.check)?;
    let mut source = spec.source(blocks, site.check)?;
    let mut counts = vec![0; units as usize];
    let mut taken = 0_u64;
    while let Some(at) = source.next_arrival()? {
        let request = source.take()?;
        for extent in &request.extents {
            add(&mut counts, extent.lbn / unit..=(extent.end() - 1) / unit);
        }
        source.completed(request.id, at);
        taken += 1;
        if taken.is_multiple_of(CHECK_EVERY) {
            (site.check)(Progress {
                completed: taken,
                requests: source.requests(),
                share: source.share(),
            })?;
        }
    }
    Ok(counts)
}

/// Counts one access to each of `units`; those past the last are not counted.
pub(super) fn add(counts: &mut [u32], units: std::ops::RangeInclusive<u64>) {
    for number in units {
        if let Some(count) = counts.get_mut(number as usize) {
            *count = count.saturating_add(1);
        }
    }
}
