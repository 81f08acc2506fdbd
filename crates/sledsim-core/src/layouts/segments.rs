//! Segments: a layout that reorders whole ranges of blocks.

use super::BlockRun;
use std::ops::Range;

/// Ranges of a space in a new order.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    /// The start of each range in the new order and in the space, sorted by the
    /// first.
    forward: Vec<(u64, u64)>,
    /// The same with the two swapped, sorted by the start in the space.
    inverse: Vec<(u64, u64)>,
    blocks: u64,
}

impl Segments {
    /// The ranges of `order`, which together cover a space, one after the other.
    pub(super) fn new(order: impl IntoIterator<Item = Range<u64>>) -> Self {
        let (mut forward, mut blocks) = (Vec::new(), 0);
        for stretch in order.into_iter().filter(|stretch| !stretch.is_empty()) {
            forward.push((blocks, stretch.start));
            blocks += stretch.end - stretch.start;
        }
        let mut inverse: Vec<_> = forward.iter().map(|&(new, old)| (old, new)).collect();
        inverse.sort_unstable();
        Self { forward, inverse, blocks }
    }

    /// The location in the space of block `lbn` of the new order.
    pub(super) fn map(&self, lbn: u64) -> BlockRun {
        let after = self.forward.partition_point(|&(new, _)| new <= lbn);
        let (new, old) = self.forward[after - 1];
        let end = self.forward.get(after).map_or(self.blocks, |&(new, _)| new);
        BlockRun { lbn: old + (lbn - new), blocks: end - lbn }
    }

    /// The inverse of [`Segments::map`].
    pub(super) fn logical(&self, block: u64) -> u64 {
        let after = self.inverse.partition_point(|&(old, _)| old <= block);
        let (old, new) = self.inverse[after - 1];
        new + (block - old)
    }
}
