//! RAID 5: one unit of each stripe is the parity of the others.
//!
//! Parity rotates as in left-symmetric arrays: it is on the last slot in the
//! first stripe and moves one slot to the front from stripe to stripe; the data
//! of a stripe begin after its parity, so that consecutive units are on
//! consecutive slots.

use super::members::Members;
use super::plan::Plan;
use super::{Level, Lost, ParityWriteCounts, TokenMap, View};
use sledsim_base::request::Extent;
use smallvec::SmallVec;

/// The location of data and parity.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Slots.
    width: u64,
    unit: u64,
    stripes: u64,
}

impl Shape {
    fn parity(self, stripe: u64) -> usize {
        (self.width - 1 - stripe % self.width) as usize
    }

    /// The slot of the data unit `index` of a stripe.
    fn data(self, stripe: u64, index: u64) -> usize {
        ((self.parity(stripe) as u64 + 1 + index) % self.width) as usize
    }

    fn all(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// The slots of the data of a stripe.
    fn data_mrequest(self, stripe: u64) -> u64 {
        self.all() & !(1 << self.parity(stripe))
    }

    /// How many stripes below this one have their parity on `slot`.
    fn parities(self, stripe: u64, slot: usize) -> u64 {
        let first = self.width - 1 - slot as u64;
        (stripe + self.width - 1 - first) / self.width
    }
}

/// Blocks of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    stripe: u64,
    slot: usize,
    /// Within the unit.
    from: u64,
    to: u64,
}

/// A range of offsets in the units of a stripe over which the same units are
/// written.
#[derive(Clone, Copy, Debug)]
struct StripeRow {
    stripe: u64,
    /// Addresses on every slot.
    from: u64,
    to: u64,
    written: u64,
}

/// Rotating parity.
pub(crate) struct Parity {
    shape: Shape,
    pieces: Vec<Piece>,
    rows: Vec<StripeRow>,
}

impl Parity {
    /// Units of `unit` blocks on `width` (3 to 64) children of `child_blocks`
    /// blocks, of which whole units are used.
    pub(crate) fn new(width: u32, child_blocks: u64, unit: u64) -> Self {
        Self {
            shape: Shape { width: u64::from(width), unit, stripes: child_blocks / unit },
            pieces: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Cuts extents into pieces, in the order of stripes.
    fn cut(&mut self, extents: &[Extent]) {
        let shape = self.shape;
        self.pieces.clear();
        for extent in extents {
            let mut lbn = extent.lbn;
            while lbn < extent.end() {
                let (unit, from) = (lbn / shape.unit, lbn % shape.unit);
                let (stripe, index) = (unit / (shape.width - 1), unit % (shape.width - 1));
                let to = shape.unit.min(from + extent.end() - lbn);
                self.pieces.push(Piece { stripe, slot: shape.data(stripe, index), from, to });
                lbn += to - from;
            }
        }
        self.pieces.sort_unstable();
    }

    /// Cuts the extents of a write into rows.
    fn cut_rows(&mut self, extents: &[Extent]) {
        self.cut(extents);
        self.rows.clear();
        for pieces in self.pieces.chunk_by(|a, b| a.stripe == b.stripe) {
            let mut cuts: SmallVec<[u64; 8]> =
                pieces.iter().flat_map(|piece| [piece.from, piece.to]).collect();
            cuts.sort_unstable();
            cuts.dedup();
            for cut in cuts.windows(2) {
                let covers = |piece: &&Piece| piece.from <= cut[0] && cut[1] <= piece.to;
                let written =
                    (pieces.iter().filter(covers)).fold(0, |mask, piece| mask | 1 << piece.slot);
                let start = pieces[0].stripe * self.shape.unit;
                if written != 0 {
                    self.rows.push(StripeRow {
                        stripe: pieces[0].stripe,
                        from: start + cut[0],
                        to: start + cut[1],
                        written,
                    });
                }
            }
        }
    }

    /// The slots to read before a row is written, and whether these are the old
    /// parity and the old data rather than the unchanged data.
    fn before(&self, row: &StripeRow, missing: u64) -> Result<(u64, bool), Lost> {
        let data = self.shape.data_mrequest(row.stripe);
        let parity = self.shape.all() & !data;
        if missing.count_ones() > 1 {
            return Err(Lost);
        }
        if missing == parity || row.written == data {
            return Ok((0, false));
        }
        let (old, staying) = (row.written | parity, data & !row.written);
        let by_old = match (missing & old == 0, missing & staying == 0) {
            (true, true) => old.count_ones() <= staying.count_ones(),
            (by_old, _) => by_old,
        };
        Ok((if by_old { old } else { staying }, by_old))
    }
}

/// Adds a range of every slot in `mask`.
fn add_all(plan: &mut Plan, mask: u64, from: u64, to: u64) {
    let mut left = mask;
    while left != 0 {
        plan.add(left.trailing_zeros() as usize, from, to);
        left &= left - 1;
    }
}

impl Level for Parity {
    fn blocks(&self) -> u64 {
        self.shape.stripes * self.shape.unit * (self.shape.width - 1)
    }

    fn child_blocks(&self) -> u64 {
        self.shape.stripes * self.shape.unit
    }

    fn lock_range(&self, extent: Extent) -> (u64, u64) {
        let stripe_blocks = self.shape.unit * (self.shape.width - 1);
        (extent.lbn / stripe_blocks, extent.end().div_ceil(stripe_blocks))
    }

    fn lock_range_at(&self, from: u64, to: u64) -> (u64, u64) {
        (from / self.shape.unit, to.div_ceil(self.shape.unit))
    }

    fn has_parity(&self) -> bool {
        true
    }

    fn read(&mut self, view: &View<'_>, plan: &mut Plan) -> Result<u64, Lost> {
        self.cut(&view.request.extents);
        let mut reconstructed = 0;
        for piece in &self.pieces {
            let start = piece.stripe * self.shape.unit;
            let (from, to) = (start + piece.from, start + piece.to);
            let missing = view.members.missing(from);
            if missing & (1 << piece.slot) == 0 {
                plan.add(piece.slot, from, to);
            } else if missing.count_ones() == 1 {
                add_all(plan, self.shape.all() & !missing, from, to);
                reconstructed += to - from;
            } else {
                return Err(Lost);
            }
        }
        Ok(reconstructed)
    }

    fn before_write(
        &mut self,
        extents: &[Extent],
        members: &Members,
        plan: &mut Plan,
    ) -> Result<ParityWriteCounts, Lost> {
        self.cut_rows(extents);
        let mut ways = ParityWriteCounts::default();
        for rows in self.rows.chunk_by(|a, b| a.stripe == b.stripe) {
            let missing = members.missing(rows[0].from);
            let (mut any_old, mut any) = (false, false);
            for row in rows {
                let (reads, by_old) = self.before(row, missing)?;
                add_all(plan, reads, row.from, row.to);
                any_old |= by_old;
                any |= reads != 0;
            }
            let has_parity = missing & (1 << self.shape.parity(rows[0].stripe)) == 0;
            match (any_old, any) {
                (true, _) => ways.rmw += 1,
                (false, true) => ways.reconstruct += 1,
                // A stripe without parity needs no reads, even for a partial write.
                (false, false) => ways.full += u64::from(has_parity),
            }
        }
        Ok(ways)
    }

    fn write(
        &mut self,
        extents: &[Extent],
        members: &Members,
        plan: &mut Plan,
    ) -> Result<(), Lost> {
        self.cut_rows(extents);
        for row in &self.rows {
            let missing = members.missing(row.from);
            if missing.count_ones() > 1 {
                return Err(Lost);
            }
            let parity = 1 << self.shape.parity(row.stripe);
            add_all(plan, (row.written | parity) & !missing, row.from, row.to);
        }
        Ok(())
    }

    fn rebuild(
        &mut self,
        slot: usize,
        from: u64,
        to: u64,
        members: &Members,
        plan: &mut Plan,
    ) -> Result<(), Lost> {
        let own = 1 << slot;
        if (members.missing(from) | members.missing(to - 1)) & !own != 0 {
            return Err(Lost);
        }
        add_all(plan, self.shape.all() & !own, from, to);
        Ok(())
    }

    fn lost(&self, from: u64, to: u64, missing: u64) -> u64 {
        if missing.count_ones() < 2 {
            return 0;
        }
        let (first, end) = (from / self.shape.unit, to / self.shape.unit);
        let data = |slot: usize| {
            let parities = self.shape.parities(end, slot) - self.shape.parities(first, slot);
            end - first - parities
        };
        let slots = (0..self.shape.width as usize).filter(|slot| missing & (1 << slot) != 0);
        slots.map(data).sum::<u64>() * self.shape.unit
    }

    fn place(&self, lbn: u64) -> (usize, u64) {
        let shape = self.shape;
        let unit = lbn / shape.unit;
        let (stripe, index) = (unit / (shape.width - 1), unit % (shape.width - 1));
        let address = stripe * shape.unit + lbn % shape.unit;
        (shape.data(stripe, index), address)
    }

    fn recover(&self, slot: usize, address: u64, known: &TokenMap) -> Option<u64> {
        if let Some(token) = known.get(&(slot, address)) {
            return Some(*token);
        }
        let mut others = (0..self.shape.width as usize).filter(|other| *other != slot);
        others.try_fold(0, |sum, other| Some(sum ^ known.get(&(other, address))?))
    }

    fn written(&self, slot: usize, address: u64, new: &TokenMap, old: &TokenMap) -> Option<u64> {
        let parity = self.shape.parity(address / self.shape.unit);
        if slot != parity {
            return new.get(&(slot, address)).copied();
        }
        let mut data = (0..self.shape.width as usize).filter(|other| *other != parity);
        let latest = |place| new.get(&place).or_else(|| old.get(&place));
        let parity_token = data.clone().try_fold(0, |sum, of| Some(sum ^ latest((of, address))?));
        parity_token.or_else(|| {
            data.try_fold(*old.get(&(parity, address))?, |sum, of| match new.get(&(of, address)) {
                None => Some(sum),
                Some(token) => Some(sum ^ token ^ old.get(&(of, address))?),
            })
        })
    }
}
