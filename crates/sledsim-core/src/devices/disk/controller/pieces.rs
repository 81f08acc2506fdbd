//! Pieces: runs of blocks that pass under the head, and their delivery over the bus.

use crate::devices::disk::drive::Arm;
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;
use std::ops::Range;

/// A run of consecutive blocks that pass one after the other, evenly spaced. A piece
/// takes at most one revolution, so that products of time and blocks stay below 2^64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedPiece {
    /// The blocks.
    pub extent: Extent,
    /// When the first begins to pass.
    pub first: Nanos,
    /// When the last has passed.
    pub end: Nanos,
    /// Arm position during the piece, until it has been accounted for.
    pub arm: Option<Arm>,
    /// The segment it is read into, and how many of its first blocks the segment has
    /// already dropped.
    pub segment: usize,
    pub dropped: u32,
}

impl TimedPiece {
    /// The piece of a run of blocks that passes between two times.
    #[inline]
    pub fn of(extent: Extent, first: Nanos, end: Nanos) -> Self {
        Self { extent, first, end, arm: None, segment: 0, dropped: 0 }
    }

    /// The blocks that its segment will keep.
    pub fn kept(&self) -> Extent {
        let dropped = self.dropped.min(self.extent.blocks);
        Extent { lbn: self.extent.lbn + u64::from(dropped), blocks: self.extent.blocks - dropped }
    }

    /// Whether its segment will hold a block.
    pub fn will_hold(&self, lbn: u64) -> bool {
        let kept = self.kept();
        (kept.lbn..kept.end()).contains(&lbn)
    }

    /// Drops blocks from those to keep, which stay one run.
    pub fn give_up(&mut self, blocks: &Range<u64>) {
        let kept = self.kept();
        if blocks.start <= kept.lbn && kept.lbn < blocks.end {
            let dropped = blocks.end.min(kept.end()) - self.extent.lbn;
            self.dropped = dropped as u32;
        }
    }

    /// When the first `blocks` of its blocks have passed.
    pub fn passed(&self, blocks: u64) -> Nanos {
        let all = u64::from(self.extent.blocks);
        if blocks >= all {
            return self.end;
        }
        self.first + Nanos((self.end - self.first).0 * blocks / all)
    }

    /// Number of blocks that have passed at `at`, and whether the next one is passing.
    pub fn passed_by(&self, at: Nanos) -> (u32, bool) {
        let (elapsed, all) = (at.since(self.first).0, (self.end - self.first).0);
        let blocks = u64::from(self.extent.blocks);
        if elapsed >= all {
            return (self.extent.blocks, false);
        }
        let product = elapsed * blocks;
        ((product / all) as u32, product % all != 0)
    }
}

/// Delivery of blocks to the host in LBN order: none crosses the bus before it has
/// passed, and each takes its bus time.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    ns_per_block: f64,
    /// When the blocks so far have crossed.
    pub end: Nanos,
    /// Number of blocks so far.
    pub blocks: u64,
}

impl Delivery {
    /// Starts a delivery at `start`.
    pub fn new(ns_per_block: f64, start: Nanos) -> Self {
        Self { ns_per_block, end: start, blocks: 0 }
    }

    /// The bus time of `blocks` blocks.
    pub fn bus(&self, blocks: u64) -> Nanos {
        Nanos((blocks as f64 * self.ns_per_block + 0.5) as u64)
    }

    /// Appends `blocks` that the buffer holds.
    pub fn held(&mut self, blocks: u64) {
        self.end += self.bus(blocks);
        self.blocks += blocks;
    }

    /// Appends the blocks `from..to` of `piece`.
    pub fn passing(&mut self, piece: &TimedPiece, from: u64, to: u64) {
        let lbn = piece.extent.lbn;
        let first = piece.passed(from - lbn + 1);
        let last = piece.passed(to - lbn);
        self.end = (self.end + self.bus(to - from))
            .max(first + self.bus(to - from))
            .max(last + self.bus(1));
        self.blocks += to - from;
    }
}
