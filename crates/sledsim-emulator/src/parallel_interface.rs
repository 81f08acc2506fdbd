//! The parallel interface in the block numbers of an export, which a layout may
//! map to those of the device.

use sledsim_base::error::{Error, Result};
use sledsim_base::request::{Extent, lbns};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::devices::mems::parallel::{Groups, Parallel, Planner};
use sledsim_core::layouts::{Layout, ResolvedLayout};

/// The parallel interface of a sled in the block numbers of its clients.
pub struct Interface<'a> {
    parallel: &'a Parallel,
    layout: Option<&'a dyn Layout>,
}

impl<'a> Interface<'a> {
    /// Creates the interface of `device`, if it is a single sled.
    pub fn of(device: &'a Device) -> Option<Self> {
        Some(Self {
            parallel: &device.mems()?.parallel,
            layout: device.layout().map(ResolvedLayout::layout),
        })
    }

    /// The interface in the block numbers of the device.
    pub fn parallel(&self) -> &Parallel {
        self.parallel
    }

    fn placed(&self, lbn: u64) -> u64 {
        self.layout.map_or(lbn, |layout| layout.map(lbn).lbn)
    }

    fn logical(&self, block: u64) -> u64 {
        self.layout.map_or(block, |layout| layout.logical(block))
    }

    /// As [`Parallel::equivalent`].
    ///
    /// # Errors
    /// A block that the device does not have.
    pub fn equivalent(&self, lbn: u64, at: Nanos) -> Result<Vec<u64>> {
        self.parallel.check(lbn)?;
        let class = self.parallel.equivalent(self.placed(lbn), at)?;
        let mut class: Vec<_> = class.into_iter().map(|block| self.logical(block)).collect();
        class.sort_unstable();
        Ok(class)
    }

    /// As [`Parallel::conflicting`].
    ///
    /// # Errors
    /// A block that the device does not have.
    pub fn conflicting(&self, a: u64, b: u64, at: Nanos) -> Result<bool> {
        self.parallel.check(a)?;
        self.parallel.check(b)?;
        (self.parallel).conflicting(self.placed(a), self.placed(b), at)
    }

    /// As [`Parallel::boundaries`]; under a layout, only the part of the track that is
    /// contiguous with `lbn` in both numberings.
    ///
    /// # Errors
    /// A block that the device does not have.
    pub fn boundaries(&self, lbn: u64) -> Result<(u64, u64)> {
        self.parallel.check(lbn)?;
        let block = self.placed(lbn);
        let (low, high) = self.parallel.boundaries(block)?;
        if self.layout.is_none() {
            return Ok((low, high));
        }
        let before = (1..=(block - low).min(lbn))
            .take_while(|back| self.logical(block - back) == lbn - back)
            .count();
        let after =
            (1..=high - block).take_while(|on| self.logical(block + on) == lbn + on).count();
        Ok((lbn - before as u64, lbn + after as u64))
    }

    /// Refuses distinct blocks, which the device must have, unless one pass at `at`
    /// reads or writes them all; reports a conflicting pair.
    ///
    /// # Errors
    /// Blocks that one pass does not reach.
    pub fn must_be_parallel(&self, extents: &[Extent], at: Nanos) -> Result<()> {
        let most = u64::from(self.parallel.parallelism());
        let blocks: u64 = extents.iter().map(|extent| u64::from(extent.blocks)).sum();
        if blocks > most {
            return Err(Error::Request(format!(
                "{blocks} blocks: at most p = {most} can be accessed at once"
            )));
        }
        let all: Vec<_> = lbns(extents).collect();
        for (index, &a) in all.iter().enumerate() {
            for &b in &all[..index] {
                if self.conflicting(a, b, at)? {
                    return Err(Error::Request(format!(
                        "LBN {b} and LBN {a} conflict: they cannot be accessed at once"
                    )));
                }
            }
        }
        let placed = all.iter().map(|lbn| Extent { lbn: self.placed(*lbn), blocks: 1 });
        let placed: Vec<_> = placed.collect();
        let reach = self.parallel.micropositioning.at(at);
        let passes = Planner::default().count(self.parallel, &placed, reach);
        if passes > 1 {
            let at_once = self.parallel.groups.as_ref().map_or(0, Groups::at_once);
            return Err(Error::Request(format!(
                "they take {passes} passes: they share a resource that supports {at_once} squares at \
                 once"
            )));
        }
        Ok(())
    }
}
