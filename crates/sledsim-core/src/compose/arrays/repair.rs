//! The keys of failures and rebuilds.

use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::collections::VecDeque;

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
    pub(super) fn read(keys: &mut Keys, width: u32, spares: u32, unit_blocks: u64) -> Result<Self> {
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
    let is_list = |keys: &Keys, key: &str| keys.get(key).is_some_and(toml_edit::Value::is_array);
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
