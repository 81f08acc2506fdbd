//! Where the data and the parity of stripes are.
//!
//! The layout is left-symmetric, as Linux md's by default (md(4), and
//! `ALGORITHM_LEFT_SYMMETRIC` of `drivers/md/raid5.c`): P is on the last slot in
//! the first stripe and moves one slot to the front from stripe to stripe. Q, if
//! any, is on the slot after P, and the data of a stripe begin after both, so that
//! consecutive units are on consecutive slots. Slot 0 comes after the last one.

use sledsim_base::request::Extent;
use smallvec::SmallVec;

/// The location of data and parity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Slots.
    pub(super) width: u64,
    /// Units of parity in a stripe: 1 is P, 2 are P and Q.
    pub(super) parities: u64,
    pub(super) unit: u64,
    pub(super) stripes: u64,
}

impl Shape {
    /// Units of data in a stripe.
    pub(super) fn data_units(self) -> u64 {
        self.width - self.parities
    }

    /// Blocks of data in a stripe.
    pub(super) fn stripe_blocks(self) -> u64 {
        self.unit * self.data_units()
    }

    /// The slot of a parity of a stripe: 0 is P, 1 is Q.
    pub(super) fn parity(self, stripe: u64, index: u64) -> usize {
        ((self.width - 1 - stripe % self.width + index) % self.width) as usize
    }

    /// The slot of the data unit `index` of a stripe.
    pub(super) fn data(self, stripe: u64, index: u64) -> usize {
        self.parity(stripe, self.parities + index)
    }

    /// What a slot holds of a stripe: a parity, or a data unit.
    pub(super) fn role(self, stripe: u64, slot: usize) -> Role {
        let first = self.parity(stripe, 0) as u64;
        let index = (slot as u64 + self.width - first) % self.width;
        index.checked_sub(self.parities).map_or(Role::Parity(index), Role::Data)
    }

    /// All slots.
    pub(super) fn all(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// The slots of the parities of a stripe.
    pub(super) fn parity_mask(self, stripe: u64) -> u64 {
        (0..self.parities).fold(0, |mask, index| mask | 1 << self.parity(stripe, index))
    }

    /// The slots of the data of a stripe.
    pub(super) fn data_mask(self, stripe: u64) -> u64 {
        self.all() & !self.parity_mask(stripe)
    }

    /// How many stripes below this one have data on `slot`.
    pub(super) fn data_stripes(self, stripe: u64, slot: usize) -> u64 {
        let parity = |index: u64| {
            let first = (2 * self.width - 1 - slot as u64 + index) % self.width;
            (stripe + self.width - 1 - first) / self.width
        };
        stripe - (0..self.parities).map(parity).sum::<u64>()
    }

    /// The stripe of a logical block, the data unit and the offset in it.
    pub(super) fn locate(self, lbn: u64) -> (u64, u64, u64) {
        let unit = lbn / self.unit;
        (unit / self.data_units(), unit % self.data_units(), lbn % self.unit)
    }
}

/// What a slot holds of a stripe, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// 0 is P, 1 is Q.
    Parity(u64),
    Data(u64),
}

/// Blocks of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    pub(super) stripe: u64,
    pub(super) slot: usize,
    /// Within the unit.
    pub(super) from: u64,
    pub(super) to: u64,
}

/// A range of offsets in the units of a stripe over which the same units are
/// written.
#[derive(Clone, Copy, Debug)]
pub(super) struct StripeRow {
    pub(super) stripe: u64,
    /// Addresses on every slot.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) written: u64,
}

/// Cuts extents into `pieces`, in the order of stripes.
pub(super) fn cut(shape: Shape, extents: &[Extent], pieces: &mut Vec<Piece>) {
    pieces.clear();
    for extent in extents {
        let mut lbn = extent.lbn;
        while lbn < extent.end() {
            let (stripe, index, from) = shape.locate(lbn);
            let to = shape.unit.min(from + extent.end() - lbn);
            pieces.push(Piece { stripe, slot: shape.data(stripe, index), from, to });
            lbn += to - from;
        }
    }
    pieces.sort_unstable();
}

/// Cuts the pieces of a write into `rows`.
pub(super) fn cut_rows(shape: Shape, pieces: &[Piece], rows: &mut Vec<StripeRow>) {
    rows.clear();
    for pieces in pieces.chunk_by(|a, b| a.stripe == b.stripe) {
        let start = pieces[0].stripe * shape.unit;
        if let &[Piece { stripe, slot, from, to }] = pieces {
            rows.push(StripeRow { stripe, from: start + from, to: start + to, written: 1 << slot });
            continue;
        }
        let mut cuts: SmallVec<[u64; 8]> =
            pieces.iter().flat_map(|piece| [piece.from, piece.to]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        for cut in cuts.windows(2) {
            let covers = |piece: &&Piece| piece.from <= cut[0] && cut[1] <= piece.to;
            let written =
                (pieces.iter().filter(covers)).fold(0, |mask, piece| mask | 1 << piece.slot);
            if written != 0 {
                rows.push(StripeRow {
                    stripe: pieces[0].stripe,
                    from: start + cut[0],
                    to: start + cut[1],
                    written,
                });
            }
        }
    }
}
