//! The keys of an array.

use super::Level;
use super::array::Array;
use super::raid1::{Mirrors, Reads};
use super::raid5::Parity;
use crate::model::Model;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::collections::VecDeque;

/// The most spares.
const MAX_SPARES: u32 = 16;
/// The default part of a rebuild, rounded up to whole units: 256 KiB, a few
/// tracks.
const REBUILD_UNIT_BLOCKS: u64 = 512;
/// The largest part of a rebuild, 512 MiB.
const MAX_REBUILD_UNIT_BLOCKS: u64 = 1 << 20;
/// The default minimum rate of a rebuild, in MB/s.
const REBUILD_MIN_MB_S: f64 = 1.0;
/// The default idle time of the host before a rebuild continues.
const REBUILD_IDLE_MS: f64 = 1.0;
/// The latest failure: some 30 years, in ms.
const LATEST_MS: f64 = 1e12;

/// The settings of an array of children of one size.
#[derive(Clone, Debug)]
pub struct ArraySpec {
    level: LevelSpec,
    width: u32,
    child_blocks: u64,
    spares: u32,
    repair: Repair,
}

#[derive(Clone, Copy, Debug)]
enum LevelSpec {
    Mirrors(Reads),
    Parity { unit_blocks: u64 },
}

/// Configured failures, and the settings of rebuilds.
#[derive(Clone, Debug)]
pub(super) struct Repair {
    /// Times of failures with the child, in order.
    pub(super) failures: VecDeque<(Nanos, usize)>,
    /// The delay from a failure to the start of its rebuild.
    pub(super) after: Nanos,
    /// How long the host must be idle before a rebuild continues.
    pub(super) idle_after: Nanos,
    /// Blocks of a child in one part of a rebuild.
    pub(super) unit_blocks: u64,
    /// The most time per block; `None` without a minimum rate.
    ns_per_block: Option<f64>,
}

impl Repair {
    /// How long after its start a rebuild must continue from `point`.
    pub(super) fn pace(&self, point: u64) -> Option<Nanos> {
        let per_block = self.ns_per_block?;
        Some(Nanos((per_block * point as f64) as u64))
    }

    /// Reads the keys of an array with `width` slots and units of `unit_blocks`.
    fn read(keys: &mut Keys, width: u32, spares: u32, unit_blocks: u64) -> Result<Self> {
        let children = width + spares;
        let failures = read_failures(keys, children)?;
        if spares == 0 {
            let all =
                ["rebuild_after_ms", "rebuild_idle_ms", "rebuild_min_mb_s", "rebuild_unit_blocks"];
            if let Some(key) = all.into_iter().find(|key| keys.has(key)) {
                let must = "has no effect: an array without spares is not rebuilt; give spares = 1";
                return Err(keys.refuse(key, must));
            }
        }
        let time = Range::at_least(0.0).at_most(LATEST_MS);
        let after = keys.opt_f64("rebuild_after_ms", time)?.unwrap_or(0.0);
        let idle = keys.opt_f64("rebuild_idle_ms", time)?;
        let rate = keys
            .opt_f64("rebuild_min_mb_s", Range::at_least(0.0).at_most(f64::INFINITY))?
            .unwrap_or(REBUILD_MIN_MB_S);
        let most = MAX_REBUILD_UNIT_BLOCKS.max(unit_blocks);
        let given = keys.opt_u64("rebuild_unit_blocks", 1..=most)?;
        let default = REBUILD_UNIT_BLOCKS.div_ceil(unit_blocks) * unit_blocks;
        let rebuild_unit = given.unwrap_or(default);
        if !rebuild_unit.is_multiple_of(unit_blocks) {
            let must = format!("must be a multiple of unit_blocks = {unit_blocks}");
            return Err(keys.refuse("rebuild_unit_blocks", must));
        }
        Ok(Self {
            failures,
            after: Nanos::from_ms(after),
            idle_after: Nanos::from_ms(idle.unwrap_or(REBUILD_IDLE_MS)),
            unit_blocks: rebuild_unit,
            ns_per_block: (rate > 0.0).then(|| 1e3 * BLOCK_BYTES as f64 / rate),
        })
    }
}

/// Reads `fail_child` and `fail_at_ms`: a number or a list each.
fn read_failures(keys: &mut Keys, children: u32) -> Result<VecDeque<(Nanos, usize)>> {
    let is_list = |keys: &Keys, name: &str| {
        let mut entries = keys.entries();
        entries.any(|(key, value, ..)| key == name && value.is_array())
    };
    let allowed = 0..=u64::from(children) - 1;
    let children_to_fail: Vec<u64> = if is_list(keys, "fail_child") {
        keys.opt_u64s("fail_child", allowed)?.unwrap_or_default()
    } else {
        keys.opt_u64("fail_child", allowed)?.into_iter().collect()
    };
    let time = Range::at_least(0.0).at_most(LATEST_MS);
    let times: Vec<f64> = if is_list(keys, "fail_at_ms") {
        keys.opt_f64s("fail_at_ms", time)?.unwrap_or_default()
    } else {
        keys.opt_f64("fail_at_ms", time)?.into_iter().collect()
    };
    if children_to_fail.len() != times.len() {
        let must = format!(
            "must say for each of the {} in fail_child when it fails",
            children_to_fail.len()
        );
        return Err(keys.refuse("fail_at_ms", must));
    }
    for (index, child) in children_to_fail.iter().enumerate() {
        if children_to_fail[..index].contains(child) {
            let must = "must name each child once: a failed child stays failed";
            return Err(keys.refuse_item("fail_child", index, must));
        }
    }
    let mut failures: Vec<(Nanos, usize)> = (times.into_iter().zip(children_to_fail))
        .map(|(at, child)| (Nanos::from_ms(at), child as usize))
        .collect();
    failures.sort_by_key(|failure| failure.0);
    Ok(failures.into())
}

impl ArraySpec {
    /// Reads the keys of a RAID 1 of `width` children that offer `child_blocks`
    /// each.
    pub fn read_raid1(keys: &mut Keys, width: u32, child_blocks: u64) -> Result<Self> {
        let reads = keys.opt_choice(
            "reads",
            &[
                ("shortest_queue", Reads::ShortestQueue),
                ("round_robin", Reads::RoundRobin),
                ("nearest", Reads::Nearest),
            ],
        )?;
        let level = LevelSpec::Mirrors(reads.unwrap_or(Reads::ShortestQueue));
        Self::read(keys, level, width, child_blocks, 1)
    }

    /// Reads the keys of a RAID 5 of `width` (at least 3) children that offer
    /// `child_blocks` each.
    pub fn read_raid5(keys: &mut Keys, width: u32, child_blocks: u64) -> Result<Self> {
        let unit_blocks = keys.u64("unit_blocks", 1..=1 << 30)?;
        if child_blocks < unit_blocks {
            let must = format!("must be at most the {child_blocks} blocks of the child");
            return Err(keys.refuse("unit_blocks", must));
        }
        let level = LevelSpec::Parity { unit_blocks };
        Self::read(keys, level, width, child_blocks, unit_blocks)
    }

    fn read(
        keys: &mut Keys,
        level: LevelSpec,
        width: u32,
        child_blocks: u64,
        unit_blocks: u64,
    ) -> Result<Self> {
        let spares = keys.opt_u32("spares", 0..=MAX_SPARES)?.unwrap_or(0);
        Ok(Self {
            level,
            width,
            child_blocks,
            spares,
            repair: Repair::read(keys, width, spares, unit_blocks)?,
        })
    }

    /// The number of spares, which follow the other children.
    pub fn spares(&self) -> u32 {
        self.spares
    }

    /// Whether reads are sent to the nearest copy.
    pub fn reads_nearest(&self) -> bool {
        matches!(self.level, LevelSpec::Mirrors(Reads::Nearest))
    }

    /// Its device kind.
    pub fn kind(&self) -> &'static str {
        match self.level {
            LevelSpec::Mirrors(_) => "raid1",
            LevelSpec::Parity { .. } => "raid5",
        }
    }

    /// Logical blocks it offers.
    pub fn blocks(&self) -> u64 {
        match self.level {
            LevelSpec::Mirrors(reads) => self.mirrors(reads).blocks(),
            LevelSpec::Parity { unit_blocks } => self.parity(unit_blocks).blocks(),
        }
    }

    fn mirrors(&self, reads: Reads) -> Mirrors {
        Mirrors::new(self.width, self.child_blocks, reads)
    }

    fn parity(&self, unit_blocks: u64) -> Parity {
        Parity::new(self.width, self.child_blocks, unit_blocks)
    }

    /// Builds the model, called `name` and with this number in the rows, over
    /// its children and, after them, its spares.
    pub fn build(&self, name: &str, device: u16, children: Vec<Box<dyn Model>>) -> Box<dyn Model> {
        let (spares, repair) = (self.spares as usize, self.repair.clone());
        match self.level {
            LevelSpec::Mirrors(reads) => {
                let level = self.mirrors(reads);
                Box::new(Array::new(name, device, level, children, spares, repair))
            }
            LevelSpec::Parity { unit_blocks } => {
                let level = self.parity(unit_blocks);
                Box::new(Array::new(name, device, level, children, spares, repair))
            }
        }
    }
}
