//! Segments: a layout that moves whole stretches of blocks.

use super::Run;
use std::ops::Range;

/// Stretches of a space in a new order.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    /// Where each begins in the new order and in the space, in the new order.
    there: Vec<(u64, u64)>,
    /// The other way round, in the order of the space.
    back: Vec<(u64, u64)>,
    blocks: u64,
}

impl Segments {
    /// The stretches `order`, which together are a whole space, one after the
    /// other.
    pub(super) fn new(order: impl IntoIterator<Item = Range<u64>>) -> Self {
        let (mut there, mut blocks) = (Vec::new(), 0);
        for stretch in order.into_iter().filter(|stretch| !stretch.is_empty()) {
            there.push((blocks, stretch.start));
            blocks += stretch.end - stretch.start;
        }
        let mut back: Vec<_> = there.iter().map(|&(new, old)| (old, new)).collect();
        back.sort_unstable();
        Self {
            there,
            back,
            blocks,
        }
    }

    /// Where the block is in the space that is `lbn` in the new order.
    pub(super) fn map(&self, lbn: u64) -> Run {
        let after = self.there.partition_point(|&(new, _)| new <= lbn);
        let (new, old) = self.there[after - 1];
        let end = self.there.get(after).map_or(self.blocks, |&(new, _)| new);
        Run {
            lbn: old + (lbn - new),
            blocks: end - lbn,
        }
    }

    /// The other way round.
    pub(super) fn logical(&self, block: u64) -> u64 {
        let after = self.back.partition_point(|&(old, _)| old <= block);
        let (old, new) = self.back[after - 1];
        new + (block - old)
    }
}
