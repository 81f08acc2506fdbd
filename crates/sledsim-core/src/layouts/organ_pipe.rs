//! The organ pipe: the most popular data in the middle, the rest on both sides
//! by decreasing popularity. Vongsathorn and Carson 1990, Ruemmler and Wilkes
//! 1991 (this is their disk shuffling by blocks); CMU-CS-00-136 section 5.3.
//!
//! Logical space and device are divided into units of `unit_blocks`. The places
//! of units are ordered by the distance of their first block's cylinder from
//! the middle one, the two sides alternating at equal distances; a composite
//! has no cylinders, and its places are ordered by number. The most popular
//! unit gets the first place, and so on. The blocks left at the end of the
//! device, fewer than a unit, stay there.

use super::cylinders::Cylinders;
use super::popularity::Popularity;
use super::{BlockRun, Layout, LayoutContext, LayoutEntry, LayoutSpec};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: LayoutEntry = LayoutEntry { name: "organ_pipe", read };

/// The most units: their tables take 12 bytes each.
const MOST_UNITS: u64 = 1 << 26;

/// Blocks of a unit if the device is not a sled with tracks.
const UNIT_BLOCKS: u64 = 512;

/// The layout.
#[derive(Clone, Debug)]
pub struct OrganPipe {
    blocks: u64,
    pub(super) unit: u64,
    /// The places of units, nearest to the middle first.
    pub(super) best: Vec<u32>,
    /// The place of each unit, and the unit in each place.
    pub(super) place: Vec<u32>,
    pub(super) held: Vec<u32>,
}

/// The period of reshuffles, and how many units each moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reshuffle {
    pub(super) reshuffle_s: f64,
    pub(super) reshuffle_units: Option<u32>,
}

impl Reshuffle {
    /// Reads `reshuffle_s` and `reshuffle_units`; `None` without the former.
    fn read(keys: &mut Keys) -> Result<Option<Self>> {
        let reshuffle_s = keys.opt_f64("reshuffle_s", Range::at_least(1e-6).at_most(1e9))?;
        let reshuffle_units = keys.opt_u32("reshuffle_units", 1..=u32::MAX)?;
        if reshuffle_s.is_none() && reshuffle_units.is_some() {
            return Err(keys.refuse("reshuffle_units", "must come with reshuffle_s only"));
        }
        Ok(reshuffle_s.map(|reshuffle_s| Self { reshuffle_s, reshuffle_units }))
    }
}

/// The keys in effect.
#[derive(Debug, Serialize)]
struct OrganPipeKeys {
    unit_blocks: u64,
    #[serde(flatten)]
    popularity: Popularity,
    #[serde(flatten)]
    reshuffle: Option<Reshuffle>,
}

fn read(keys: &mut Keys, site: &mut LayoutContext<'_>) -> Result<LayoutSpec> {
    let blocks = site.blocks;
    let unit = keys.opt_u64("unit_blocks", 1..=u64::from(u32::MAX))?;
    let popularity = Popularity::read(keys, site)?;
    let reshuffle = Reshuffle::read(keys)?;
    if !site.has_positions {
        return Err(site.cannot(keys, ENTRY.name, "a sled or a disk"));
    }
    let mems = site.mems;
    let track = |rows: u32, width: u32| u64::from(rows) * u64::from(width);
    let unit = unit.unwrap_or_else(|| {
        let geometry = mems.map(|mems| &mems.geometry);
        geometry.map_or(UNIT_BLOCKS, |g| track(g.rows, g.blocks_per_row))
    });
    if unit > blocks {
        let must = format!("must be at most the {blocks} blocks of the device");
        return Err(keys.refuse("unit_blocks", must));
    }
    if blocks / unit > MOST_UNITS {
        let least = blocks.div_ceil(MOST_UNITS);
        let must = format!("must be at least {least} on this device, for {MOST_UNITS} units");
        return Err(keys.refuse("unit_blocks", must));
    }
    let order = popularity.order(blocks, unit, site)?;
    let best = match Cylinders::find(site) {
        Some(cylinders) => {
            let mut index = 0;
            let number = |place: u64| {
                while cylinders.start(index + 1) <= place * unit {
                    index += 1;
                }
                cylinders.first[index as usize].0
            };
            outwards((0..blocks / unit).map(number).collect(), cylinders.middle())
        }
        None => {
            let units = (blocks / unit) as u32;
            outwards((0..units).collect(), units / 2)
        }
    };
    let pipe = Arc::new(OrganPipe::new(blocks, unit, best, &order));
    let keys = Arc::new(OrganPipeKeys { unit_blocks: unit, popularity, reshuffle });
    let layout: Arc<dyn Layout> = pipe.clone();
    Ok(LayoutSpec { keys, layout, reshuffle: reshuffle.map(|rule| (pipe, rule)) })
}

/// The places, given by increasing positions, nearest to `middle` first; of two
/// at equal distance, the one on the other side than the last.
fn outwards(at: Vec<u32>, middle: u32) -> Vec<u32> {
    let mut right = at.partition_point(|position| *position < middle);
    let mut left = right;
    let mut order = Vec::with_capacity(at.len());
    let mut was_right = false;
    while left > 0 || right < at.len() {
        let far = |index: Option<&u32>| index.map_or(u32::MAX, |p| p.abs_diff(middle));
        let (down, up) = (far(left.checked_sub(1).map(|l| &at[l])), far(at.get(right)));
        was_right = up < down || (up == down && !was_right);
        if was_right {
            order.push(right as u32);
            right += 1;
        } else {
            left -= 1;
            order.push(left as u32);
        }
    }
    order
}

impl OrganPipe {
    /// Puts units, given by decreasing popularity, in the places `best`.
    fn new(blocks: u64, unit: u64, best: Vec<u32>, order: &[u32]) -> Self {
        let (mut place, mut held) = (vec![0; best.len()], vec![0; best.len()]);
        for (&number, &at) in order.iter().zip(&best) {
            place[number as usize] = at;
            held[at as usize] = number;
        }
        Self { blocks, unit, best, place, held }
    }

    /// The blocks of a place.
    pub(super) fn extent(&self, place: u32) -> sledsim_base::request::Extent {
        sledsim_base::request::Extent {
            lbn: u64::from(place) * self.unit,
            blocks: self.unit as u32,
        }
    }

    fn lookup(&self, table: &[u32], lbn: u64) -> BlockRun {
        let (number, ahead) = (lbn / self.unit, lbn % self.unit);
        match table.get(number as usize) {
            Some(&to) => {
                BlockRun { lbn: u64::from(to) * self.unit + ahead, blocks: self.unit - ahead }
            }
            None => BlockRun { lbn, blocks: self.blocks - lbn },
        }
    }
}

impl Layout for OrganPipe {
    fn map(&self, lbn: u64) -> BlockRun {
        self.lookup(&self.place, lbn)
    }

    fn logical(&self, block: u64) -> u64 {
        self.lookup(&self.held, block).lbn
    }
}
