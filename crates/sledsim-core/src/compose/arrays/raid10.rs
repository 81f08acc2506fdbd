//! RAID 10: units are dealt out over the slots, two copies of each.
//!
//! The layout is `n2`, the near layout with two copies of Linux md (md(4), and
//! `__raid10_find_phys` of `drivers/md/raid10.c`): the copies of unit `u` are the
//! entries `2u` and `2u + 1` of a table that is filled row by row, with a column
//! for each slot and a row for each unit of a child. With an even number of slots
//! these are pairs of mirrors. With an odd number the pairs rotate: the copies of
//! every `width`-th unit are on the last slot and, one row further, on the first.
//! The last entry of an odd number is not used.

use super::members::Members;
use super::plan::Plan;
use super::reads::Reads;
use super::{Level, Lost, TokenMap, View};
use sledsim_base::request::{Extent, Op, Request};

/// The table of the copies.
#[derive(Clone, Copy, Debug)]
struct Table {
    /// Slots.
    width: u64,
    unit: u64,
    /// Units of a child.
    rows: u64,
}

/// Blocks of one unit, of which there are two copies.
struct Piece {
    /// The entry of the first copy.
    entry: u64,
    /// Within the unit.
    from: u64,
    to: u64,
}

impl Table {
    /// The slot and the address of an entry.
    fn at(self, entry: u64, offset: u64) -> (usize, u64) {
        ((entry % self.width) as usize, entry / self.width * self.unit + offset)
    }

    /// The entry of a slot and address, and the offset in its unit.
    fn entry(self, slot: usize, address: u64) -> (u64, u64) {
        (address / self.unit * self.width + slot as u64, address % self.unit)
    }

    /// The slot, the address and one past the last address of a copy: 0 is the
    /// first, 1 the second.
    fn copy(self, piece: &Piece, copy: u64) -> (usize, u64, u64) {
        let (slot, address) = self.at(piece.entry + copy, piece.from);
        (slot, address, address + piece.to - piece.from)
    }

    /// Cuts extents into pieces.
    fn pieces(self, extents: &[Extent]) -> impl Iterator<Item = Piece> {
        let units = move |extent: &Extent| {
            let (lbn, end, unit) = (extent.lbn, extent.end(), self.unit);
            (lbn / unit..end.div_ceil(unit)).map(move |index| {
                let start = index * unit;
                let (from, to) = (lbn.max(start) - start, end.min(start + unit) - start);
                Piece { entry: 2 * index, from, to }
            })
        };
        extents.iter().flat_map(units)
    }
}

/// Stripes over pairs of mirrors.
pub(crate) struct StripedMirrors {
    table: Table,
    reads: Reads,
    /// Which copy is next in turn, by the slot of the first one.
    turns: Vec<u64>,
}

impl StripedMirrors {
    /// Units of `unit` blocks, two copies of each, on `width` (2 to 64) children of
    /// `child_blocks` blocks, of which whole units are used.
    pub(crate) fn new(width: u32, child_blocks: u64, unit: u64, reads: Reads) -> Self {
        let table = Table { width: u64::from(width), unit, rows: child_blocks / unit };
        Self { table, reads, turns: vec![0; width as usize] }
    }
}

impl Level for StripedMirrors {
    fn blocks(&self) -> u64 {
        self.table.rows * self.table.width / 2 * self.table.unit
    }

    fn child_blocks(&self) -> u64 {
        self.table.rows * self.table.unit
    }

    fn lock_range(&self, extent: Extent) -> (u64, u64) {
        (extent.lbn, extent.end())
    }

    fn lock_range_at(&self, slot: usize, from: u64, to: u64) -> (u64, u64) {
        let index = |address| self.table.entry(slot, address).0 / 2;
        let unit = self.table.unit;
        (index(from) * unit, (index(to - 1) + 1) * unit)
    }

    fn has_parity(&self) -> bool {
        false
    }

    fn read(&mut self, view: &View<'_>, plan: &mut Plan) -> Result<u64, Lost> {
        let table = self.table;
        for piece in table.pieces(&view.request.extents) {
            let first = table.copy(&piece, 0).0;
            let turn = &mut self.turns[first];
            let in_turn = [*turn, 1 - *turn].map(|copy| table.copy(&piece, copy)).into_iter();
            let able = in_turn.filter(|&(slot, _, to)| to <= view.members.valid(slot)).map(
                |(slot, from, to)| {
                    (slot, Request::new(0, view.at, Op::Read, from, (to - from) as u32))
                },
            );
            let (slot, request) = self.reads.choose(view, able).ok_or(Lost)?;
            *turn = u64::from(slot == first);
            plan.add(slot, request.lbn(), request.lbn() + u64::from(request.blocks()));
        }
        Ok(0)
    }

    fn write(
        &mut self,
        extents: &[Extent],
        members: &Members,
        plan: &mut Plan,
    ) -> Result<(), Lost> {
        for piece in self.table.pieces(extents) {
            let copies = [0, 1].map(|copy| self.table.copy(&piece, copy));
            if copies.iter().all(|&(slot, _, to)| to > members.valid(slot)) {
                return Err(Lost);
            }
            for (slot, from, to) in copies {
                // Blocks beyond the valid part will be rebuilt.
                plan.add(slot, from, to.min(members.valid(slot)));
            }
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
        let Table { width, unit, rows } = self.table;
        for start in (from..to).step_by(unit as usize) {
            let other = self.table.entry(slot, start).0 ^ 1;
            // The last entry of an odd number has no other copy.
            if other < rows * width {
                let (source, address) = self.table.at(other, 0);
                if members.valid(source) < address + unit {
                    return Err(Lost);
                }
                plan.add(source, address, address + unit);
            }
        }
        Ok(())
    }

    fn lost(&self, members: &Members) -> u64 {
        let Table { width, unit, rows } = self.table;
        let valid = |slot: u64| members.valid(slot as usize).min(self.child_blocks()) / unit;
        let lost = |first: u64| {
            let second = (first + 1) % width;
            // The second copy of a unit that begins on the last slot is a row further.
            let wraps = u64::from(second == 0);
            let from = valid(first).max(valid(second).saturating_sub(wraps));
            // First copies are in even entries.
            let firsts = |row: u64| match (width % 2, first % 2) {
                (0, 0) => row,
                (0, _) => 0,
                (_, odd) => (row + 1 - odd) / 2,
            };
            firsts(rows - wraps).saturating_sub(firsts(from))
        };
        (0..width).map(lost).sum::<u64>() * unit
    }

    fn place(&self, lbn: u64) -> (usize, u64) {
        self.table.at(lbn / self.table.unit * 2, lbn % self.table.unit)
    }

    fn recover(
        &self,
        slot: usize,
        address: u64,
        known: &mut dyn FnMut(usize, u64) -> Option<u64>,
    ) -> Option<u64> {
        let (entry, offset) = self.table.entry(slot, address);
        let (other, there) = self.table.at(entry ^ 1, offset);
        known(slot, address).or_else(|| known(other, there))
    }

    fn written(&self, slot: usize, address: u64, new: &TokenMap, _old: &TokenMap) -> Option<u64> {
        let (entry, offset) = self.table.entry(slot, address);
        new.get(&self.table.at(entry & !1, offset)).copied()
    }
}
