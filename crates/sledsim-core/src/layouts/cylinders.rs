//! The cylinders of a sled or a disk, as runs of blocks.

use super::LayoutContext;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;

/// The cylinders that hold blocks, in the order of their blocks; of a disk whose mapping has
/// bands, the bands.
#[derive(Clone, Debug)]
pub(super) struct Cylinders {
    /// Number and first block of each.
    pub(super) first: Vec<(u32, u64)>,
    /// Blocks of the device.
    pub(super) blocks: u64,
}

impl Cylinders {
    /// The cylinders of the device.
    ///
    /// # Errors
    /// A device without cylinders; `name` is the layout that needs them.
    pub(super) fn of(site: &LayoutContext<'_>, keys: &Keys, name: &str) -> Result<Self> {
        Self::find(site).ok_or_else(|| site.cannot(keys, name, "the cylinders of one sled or disk"))
    }

    /// The cylinders of the device, if it is a sled or a disk.
    pub(super) fn find(site: &LayoutContext<'_>) -> Option<Self> {
        let blocks = site.blocks;
        if let Some(mems) = site.mems {
            let size = mems.geometry.blocks_per_cylinder();
            let first = (0..mems.geometry.cylinders).map(|c| (c, u64::from(c) * size));
            let first = first.collect();
            return Some(Self { first, blocks });
        }
        let geometry = &site.disk?.drive.geometry;
        let (mut first, mut lbn) = (Vec::new(), 0);
        while lbn < blocks {
            first.push((geometry.cylinder_of(lbn), lbn));
            lbn = geometry.end_of_band(lbn);
        }
        Some(Self { first, blocks })
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.first.len() as u32
    }

    /// The first block of the cylinder at `index`; the end of the device past the
    /// last one.
    pub(super) fn start(&self, index: u32) -> u64 {
        let first = self.first.get(index as usize);
        first.map_or(self.blocks, |&(_, lbn)| lbn)
    }

    /// The number of the cylinder midway between the first and the last.
    pub(super) fn middle(&self) -> u32 {
        match (self.first.first(), self.first.last()) {
            (Some(&(first, _)), Some(&(last, _))) => first + (last - first).div_ceil(2),
            _ => 0,
        }
    }
}
