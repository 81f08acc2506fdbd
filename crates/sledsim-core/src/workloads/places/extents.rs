//! Extents: a working set spread over a region in extents of one length.

use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::BLOCK_BYTES;

/// `set_mib` and `extent_kib`: the size of the working set, and of its extents.
/// Extents are equally spaced, the first at the start of the region, so that
/// generators with the same region and set use the same blocks.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct ExtentSpec {
    pub(super) set_mib: f64,
    pub(super) extent_kib: f64,
}

impl ExtentSpec {
    /// Reads the keys; `extent_kib` is the default.
    pub(super) fn read(keys: &mut Keys, extent_kib: f64) -> Result<Self> {
        let block_kib = BLOCK_BYTES as f64 / 1024.0;
        Ok(Self {
            set_mib: keys.f64("set_mib", Range::above(0.0).at_most(1e9))?,
            extent_kib: (keys.opt_f64("extent_kib", Range::at_least(block_kib).at_most(1e9))?)
                .unwrap_or(extent_kib),
        })
    }

    /// The set in a region of `slots` slots of `blocking` blocks; the extent length
    /// must be a multiple of `blocking`.
    pub(super) fn start(&self, slots: u64, blocking: u64, keys: &Keys) -> Result<Extents> {
        let unit_kib = (blocking * BLOCK_BYTES) as f64 / 1024.0;
        let length = libm::floor(self.extent_kib / unit_kib);
        if length < 1.0 || length * unit_kib != self.extent_kib {
            let problem = format!("must be a multiple of blocking, which is {unit_kib} KiB");
            return Err(keys.refuse("extent_kib", problem));
        }
        let count = libm::round(self.set_mib * 1024.0 / self.extent_kib).max(1.0);
        if count * length > slots as f64 {
            let mib = slots as f64 * unit_kib / 1024.0;
            let problem = format!("must be at most the {mib} MiB of the region");
            return Err(keys.refuse("set_mib", problem));
        }
        Ok(Extents { count: count as u64, length: length as u64, distance: slots / count as u64 })
    }
}

/// `part_from` and `part_to`: the part of the set that is used.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct PartSpec {
    part_from: f64,
    part_to: f64,
}

impl PartSpec {
    pub(super) fn read(keys: &mut Keys) -> Result<Self> {
        let from = keys.opt_f64("part_from", Range::at_least(0.0).at_most(1.0))?;
        let part_from = from.unwrap_or(0.0);
        let to = keys.opt_f64("part_to", Range::above(part_from).at_most(1.0))?;
        Ok(Self { part_from, part_to: to.unwrap_or(1.0) })
    }
}

/// A working set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents {
    pub(super) count: u64,
    /// In slots.
    pub(super) length: u64,
    distance: u64,
}

impl Extents {
    /// The first extent of a part of the set, and that after its last.
    pub(super) fn part(&self, part: PartSpec, keys: &Keys) -> Result<(u64, u64)> {
        let place = |share: f64| libm::round(share * self.count as f64) as u64;
        let (from, to) = (place(part.part_from), place(part.part_to));
        if from >= to {
            let problem = "must leave an extent of the set between part_from and part_to";
            return Err(keys.refuse("part_from", problem));
        }
        Ok((from, to))
    }

    /// The first slot of an extent.
    #[inline]
    pub(super) fn first(&self, extent: u64) -> u64 {
        extent * self.distance
    }
}
