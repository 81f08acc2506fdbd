//! Pieces: blocks that pass under the head one after the other, and when they
//! have crossed the bus.

use crate::devices::disk::drive::{Arm, Pass};
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;
use std::ops::Range;

/// Blocks side by side that pass one after the other. Their times are taken
/// to be evenly spaced, which slipped sectors between them disturb by less than
/// a sector. A piece takes a revolution at most, so that times by blocks stay
/// below 2^64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The blocks.
    pub extent: Extent,
    /// When the first begins to pass.
    pub first: Nanos,
    /// When the last has passed.
    pub end: Nanos,
    /// Where the arm is meanwhile, if that is not said elsewhere.
    pub arm: Option<Arm>,
    /// The segment that it goes into, and how many of its first blocks that
    /// has given up already.
    pub segment: usize,
    pub gone: u32,
}

impl Piece {
    /// The pieces of a pass in the order of LBNs; the second is empty unless
    /// zero latency begins inside, and then it passes first.
    #[must_use]
    pub fn of(pass: &Pass) -> [Self; 2] {
        let begin = pass.blocks - pass.last;
        let share =
            |blocks: u32| Nanos(pass.transfer.0 * u64::from(blocks) / u64::from(pass.blocks));
        let piece = |lbn: u64, blocks: u32, first: Nanos, end: Nanos| Self {
            extent: Extent { lbn, blocks },
            first,
            end,
            arm: None,
            segment: 0,
            gone: 0,
        };
        if pass.last == 0 {
            let none = piece(pass.lbn, 0, pass.end, pass.end);
            return [piece(pass.lbn, begin, pass.first, pass.end), none];
        }
        let behind = pass.lbn + u64::from(pass.last);
        [
            piece(pass.lbn, pass.last, pass.end - share(pass.last), pass.end),
            piece(behind, begin, pass.first, pass.first + share(begin)),
        ]
    }

    /// The blocks that its segment will keep.
    #[must_use]
    pub fn kept(&self) -> Extent {
        let gone = self.gone.min(self.extent.blocks);
        Extent {
            lbn: self.extent.lbn + u64::from(gone),
            blocks: self.extent.blocks - gone,
        }
    }

    /// Whether its segment will have a block.
    #[must_use]
    pub fn will_hold(&self, lbn: u64) -> bool {
        let kept = self.kept();
        (kept.lbn..kept.end()).contains(&lbn)
    }

    /// Its segment gives up blocks. What it is to keep stays in one run.
    pub fn give_up(&mut self, blocks: &Range<u64>) {
        let kept = self.kept();
        if blocks.start <= kept.lbn && kept.lbn < blocks.end {
            let gone = blocks.end.min(kept.end()) - self.extent.lbn;
            self.gone = gone as u32;
        }
    }

    /// When so many of its blocks, at most all, have passed.
    #[must_use]
    pub fn passed(&self, blocks: u64) -> Nanos {
        let all = u64::from(self.extent.blocks);
        if blocks >= all {
            return self.end;
        }
        self.first + Nanos((self.end - self.first).0 * blocks / all)
    }

    /// How many of its blocks have passed at `at`, and whether the next is
    /// passing.
    #[must_use]
    pub fn passed_by(&self, at: Nanos) -> (u32, bool) {
        let (gone, all) = (at.since(self.first).0, (self.end - self.first).0);
        let blocks = u64::from(self.extent.blocks);
        if gone >= all {
            return (self.extent.blocks, false);
        }
        let product = gone * blocks;
        ((product / all) as u32, product % all != 0)
    }
}

/// Blocks on their way to the host, in the order of LBNs: none crosses the bus
/// before it has passed, and each takes its time there.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    ns_per_block: f64,
    /// When the blocks so far have crossed.
    pub end: Nanos,
    /// How many they are.
    pub blocks: u64,
}

impl Delivery {
    /// The bus is there from `start` on.
    #[must_use]
    pub fn new(ns_per_block: f64, start: Nanos) -> Self {
        Self {
            ns_per_block,
            end: start,
            blocks: 0,
        }
    }

    /// The bus time of so many blocks.
    #[must_use]
    pub fn bus(&self, blocks: u64) -> Nanos {
        Nanos((blocks as f64 * self.ns_per_block + 0.5) as u64)
    }

    /// `blocks` that are held follow.
    pub fn held(&mut self, blocks: u64) {
        self.end += self.bus(blocks);
        self.blocks += blocks;
    }

    /// Those of `piece` follow that lie in `from..to`.
    pub fn passing(&mut self, piece: &Piece, from: u64, to: u64) {
        let lbn = piece.extent.lbn;
        let first = piece.passed(from - lbn + 1);
        let last = piece.passed(to - lbn);
        self.end = (self.end + self.bus(to - from))
            .max(first + self.bus(to - from))
            .max(last + self.bus(1));
        self.blocks += to - from;
    }
}
