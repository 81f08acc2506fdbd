//! RAID 5 and RAID 6: one or two units of each stripe are parity.
//!
//! P is the sum of the data units D0, D1, ... of its stripe, and Q the sum of
//! `2^i` times Di in GF(2^8), as in H. P. Anvin, "The mathematics of RAID-6", and
//! in Linux md: D0 is on the slot after Q. A stripe survives the loss of as many
//! slots as it has parities.

use super::gf256::{inverse, power, times};
use super::members::Members;
use super::plan::Plan;
use super::stripes::{Piece, Role, Shape, StripeRow, cut, cut_rows};
use super::{Level, Lost, ParityWriteCounts, TokenMap, View, tokens_of};
use sledsim_base::request::Extent;
use smallvec::SmallVec;

/// Rotating parity.
pub(crate) struct Parity {
    shape: Shape,
    pieces: Vec<Piece>,
    rows: Vec<StripeRow>,
}

impl Parity {
    /// Units of `unit` blocks on `width` (at most 64) children of `child_blocks`
    /// blocks, of which whole units are used; `parities` (1 or 2) units of each
    /// stripe are parity, and two or more are data.
    pub(crate) fn new(width: u32, parities: u32, child_blocks: u64, unit: u64) -> Self {
        let shape = Shape {
            width: u64::from(width),
            parities: u64::from(parities),
            unit,
            stripes: child_blocks / unit,
        };
        Self { shape, pieces: Vec::new(), rows: Vec::new() }
    }

    /// Cuts the extents of a write into rows.
    fn cut_rows(&mut self, extents: &[Extent]) {
        cut(self.shape, extents, &mut self.pieces);
        cut_rows(self.shape, &self.pieces, &mut self.rows);
    }

    /// Whether a stripe lacks more slots than it survives.
    fn is_lost(&self, missing: u64) -> bool {
        u64::from(missing.count_ones()) > self.shape.parities
    }

    /// The slots from which all data of a stripe follow: the present data, and a
    /// parity for each missing unit of data, P first.
    fn sources(&self, stripe: u64, missing: u64) -> u64 {
        let data = self.shape.data_mask(stripe);
        let parities = (0..self.shape.parities).map(|index| 1 << self.shape.parity(stripe, index));
        parities
            .filter(|parity| missing & parity == 0)
            .take((data & missing).count_ones() as usize)
            .fold(data & !missing, |mask, parity: u64| mask | parity)
    }

    /// The slots to read before a row is written, and whether these are the old
    /// parity and the old data rather than the unchanged data.
    fn before(&self, row: &StripeRow, missing: u64) -> Result<(u64, bool), Lost> {
        let parities = self.shape.parity_mask(row.stripe);
        let (data, parity) = (self.shape.all() & !parities, parities & !missing);
        if self.is_lost(missing) {
            return Err(Lost);
        }
        if parity == 0 || row.written == data {
            return Ok((0, false));
        }
        let (old, staying) = (row.written | parity, data & !row.written);
        // The third way reconstructs missing data that stay.
        let sources = if missing == 0 { staying } else { self.sources(row.stripe, missing) };
        let ways = [(old, true), (staying, false), (sources, false)];
        let able = ways.into_iter().filter(|(reads, _)| reads & missing == 0);
        Ok(able.min_by_key(|(reads, _)| reads.count_ones()).unwrap_or((0, false)))
    }

    /// What a data unit is multiplied by in a parity: 0 is P, 1 is Q.
    fn weight(parity: u64, data: u64) -> u8 {
        power(parity * data)
    }

    /// A parity at an address, from the token at each data slot.
    fn parity_token(
        &self,
        parity: u64,
        address: u64,
        mut token: impl FnMut(usize) -> Option<u64>,
    ) -> Option<u64> {
        let stripe = address / self.shape.unit;
        (0..self.shape.data_units()).try_fold(0, |sum, index| {
            let token = token(self.shape.data(stripe, index))?;
            Some(sum ^ times(token, Self::weight(parity, index)))
        })
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
        self.shape.stripes * self.shape.stripe_blocks()
    }

    fn child_blocks(&self) -> u64 {
        self.shape.stripes * self.shape.unit
    }

    fn lock_range(&self, extent: Extent) -> (u64, u64) {
        let stripe_blocks = self.shape.stripe_blocks();
        (extent.lbn / stripe_blocks, extent.end().div_ceil(stripe_blocks))
    }

    fn lock_range_at(&self, _slot: usize, from: u64, to: u64) -> (u64, u64) {
        (from / self.shape.unit, to.div_ceil(self.shape.unit))
    }

    fn has_parity(&self) -> bool {
        true
    }

    fn read(&mut self, view: &View<'_>, plan: &mut Plan) -> Result<u64, Lost> {
        cut(self.shape, &view.request.extents, &mut self.pieces);
        let mut reconstructed = 0;
        for piece in &self.pieces {
            let start = piece.stripe * self.shape.unit;
            let (from, to) = (start + piece.from, start + piece.to);
            let missing = view.members.missing(from);
            if missing & (1 << piece.slot) == 0 {
                plan.add(piece.slot, from, to);
            } else if self.is_lost(missing) {
                return Err(Lost);
            } else {
                add_all(plan, self.sources(piece.stripe, missing), from, to);
                reconstructed += to - from;
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
            match (any_old, any) {
                (true, _) => ways.rmw += 1,
                (false, true) => ways.reconstruct += 1,
                // A stripe without parity needs no reads, even for a partial write.
                (false, false) => {
                    let parity = self.shape.parity_mask(rows[0].stripe) & !missing;
                    ways.full += u64::from(parity != 0);
                }
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
            if self.is_lost(missing) {
                return Err(Lost);
            }
            let parity = self.shape.parity_mask(row.stripe);
            add_all(plan, (row.written | parity) & !missing, row.from, row.to);
        }
        Ok(())
    }

    /// Reads all present slots, as Linux md does.
    fn rebuild(
        &mut self,
        slot: usize,
        from: u64,
        to: u64,
        members: &Members,
        plan: &mut Plan,
    ) -> Result<(), Lost> {
        let missing = members.missing(from) | members.missing(to - 1) | 1 << slot;
        if self.is_lost(missing) {
            return Err(Lost);
        }
        add_all(plan, self.shape.all() & !missing, from, to);
        Ok(())
    }

    fn lost(&self, members: &Members) -> u64 {
        let lost = |(from, to, missing): (u64, u64, u64)| {
            let (first, end) = (from / self.shape.unit, to / self.shape.unit);
            let slots = (0..self.shape.width as usize).filter(|slot| missing & (1 << slot) != 0);
            let data =
                |slot| self.shape.data_stripes(end, slot) - self.shape.data_stripes(first, slot);
            slots.map(data).sum::<u64>() * self.shape.unit
        };
        let ranges = members.ranges(self.child_blocks());
        ranges.filter(|(_, _, missing)| self.is_lost(*missing)).map(lost).sum()
    }

    fn place(&self, lbn: u64) -> (usize, u64) {
        let (stripe, index, offset) = self.shape.locate(lbn);
        (self.shape.data(stripe, index), stripe * self.shape.unit + offset)
    }

    fn recover(
        &self,
        slot: usize,
        address: u64,
        known: &mut dyn FnMut(usize, u64) -> Option<u64>,
    ) -> Option<u64> {
        if let Some(token) = known(slot, address) {
            return Some(token);
        }
        let (shape, stripe) = (self.shape, address / self.shape.unit);
        let own = match shape.role(stripe, slot) {
            Role::Parity(parity) => {
                let data = |other| self.recover(other, address, known);
                return self.parity_token(parity, address, data);
            }
            Role::Data(index) => index,
        };
        let mut unknown: SmallVec<[u64; 2]> = SmallVec::new();
        let mut sums = [0; 2];
        for index in 0..shape.data_units() {
            match known(shape.data(stripe, index), address) {
                None => unknown.push(index),
                Some(token) => {
                    for (parity, sum) in (0..).zip(&mut sums) {
                        *sum ^= times(token, Self::weight(parity, index));
                    }
                }
            }
        }
        // Each parity less the known data is the weighted sum of the unknown data.
        let mut rest = |parity: u64| {
            let slot = (parity < shape.parities).then(|| shape.parity(stripe, parity))?;
            Some(known(slot, address)? ^ sums[parity as usize])
        };
        let weight = |index| Self::weight(1, index);
        match unknown[..] {
            [_] => rest(0).or_else(|| Some(times(rest(1)?, inverse(weight(own))))),
            [first, second] => {
                let other = if first == own { second } else { first };
                let without_other = rest(1)? ^ times(rest(0)?, weight(other));
                Some(times(without_other, inverse(weight(own) ^ weight(other))))
            }
            _ => None,
        }
    }

    fn written(&self, slot: usize, address: u64, new: &TokenMap, old: &TokenMap) -> Option<u64> {
        let shape = self.shape;
        let Role::Parity(parity) = shape.role(address / shape.unit, slot) else {
            return new.get(&(slot, address)).copied();
        };
        let new_of = |slot| new.get(&(slot, address)).copied();
        let old_of = |slot| old.get(&(slot, address)).copied();
        let from_data = self.parity_token(parity, address, |slot| new_of(slot).or(old_of(slot)));
        let from_old = || {
            let change = |slot| match new_of(slot) {
                None => Some(0),
                Some(token) => Some(token ^ old_of(slot)?),
            };
            Some(old_of(slot)? ^ self.parity_token(parity, address, change)?)
        };
        let reconstructed = || {
            let old_data = |slot| self.recover(slot, address, &mut tokens_of(old));
            let latest = |slot| new_of(slot).or_else(|| old_data(slot));
            self.parity_token(parity, address, latest)
        };
        from_data.or_else(from_old).or_else(reconstructed)
    }
}
