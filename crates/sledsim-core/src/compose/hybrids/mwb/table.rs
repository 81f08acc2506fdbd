//! The lookup table: the address on the front of each block's newest version.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Blocks of the back that are contiguous on the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// First LBN on the back.
    pub(super) lbn: u64,
    /// How many blocks.
    pub(super) blocks: u32,
    /// Address of the first on the front.
    pub(super) address: u64,
}

impl Placed {
    /// One past the last LBN.
    pub(super) fn end(&self) -> u64 {
        self.lbn + u64::from(self.blocks)
    }
}

/// A map from blocks of the back to addresses, in pieces that do not overlap.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Blocks and address by first LBN.
    pieces: BTreeMap<u64, (u32, u64)>,
    scratch: Vec<Placed>,
}

impl Table {
    /// Enters written blocks, except where the table has newer ones.
    pub(super) fn put(&mut self, new: Placed) {
        let end = new.end();
        // In most cases the table has exactly this piece, or no part of it.
        match self.pieces.range_mut(..end).next_back() {
            Some((&lbn, (blocks, address))) if lbn == new.lbn && *blocks == new.blocks => {
                *address = new.address.max(*address);
                return;
            }
            Some((&lbn, (blocks, _))) if lbn + u64::from(*blocks) > new.lbn => {}
            _ => {
                self.pieces.insert(new.lbn, (new.blocks, new.address));
                return;
            }
        }
        self.cut(new.lbn);
        self.cut(end);
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let inside = self.pieces.range(new.lbn..end);
        scratch.extend(inside.map(|(&lbn, &(blocks, address))| Placed {
            lbn,
            blocks,
            address,
        }));
        let mut from = new.lbn;
        for old in &scratch {
            if old.address > new.address {
                self.fill(new, from, old.lbn);
                from = old.end();
            } else {
                self.pieces.remove(&old.lbn);
            }
        }
        self.fill(new, from, end);
        self.scratch = scratch;
    }

    /// Enters the part of `new` from LBN `from` up to `to`.
    fn fill(&mut self, new: Placed, from: u64, to: u64) {
        if from < to {
            let address = new.address + (from - new.lbn);
            self.pieces.insert(from, ((to - from) as u32, address));
        }
    }

    /// Splits a piece that extends past `lbn`.
    fn cut(&mut self, lbn: u64) {
        let Some((&start, piece)) = self.pieces.range_mut(..lbn).next_back() else {
            return;
        };
        let (blocks, address) = *piece;
        let before = lbn - start;
        if before < u64::from(blocks) {
            piece.0 = before as u32;
            let after = (blocks - before as u32, address + before);
            self.pieces.insert(lbn, after);
        }
    }

    /// Removes the blocks of `old` that are still the newest.
    pub(super) fn remove(&mut self, old: Placed) {
        if let Entry::Occupied(there) = self.pieces.entry(old.lbn)
            && *there.get() == (old.blocks, old.address)
        {
            there.remove();
            return;
        }
        let mut from = old.lbn;
        while from < old.end()
            && let Some((&lbn, &(blocks, address))) = self.pieces.range(from..old.end()).next()
        {
            from = lbn + u64::from(blocks);
            if address == old.address + (lbn - old.lbn) {
                self.pieces.remove(&lbn);
            }
        }
    }

    /// Visits the blocks from `lbn` on in pieces: those in the table with their
    /// addresses, the others with `None`.
    pub(super) fn visit(&self, lbn: u64, blocks: u32, mut each: impl FnMut(u64, u32, Option<u64>)) {
        let end = lbn + u64::from(blocks);
        let mut from = lbn;
        let before = self.pieces.range(..lbn).next_back();
        for (&start, &(blocks, address)) in before.into_iter().chain(self.pieces.range(lbn..end)) {
            let stop = end.min(start + u64::from(blocks));
            if stop <= from {
                continue;
            }
            if from < start {
                each(from, (start - from) as u32, None);
                from = start;
            }
            each(from, (stop - from) as u32, Some(address + (from - start)));
            from = stop;
        }
        if from < end {
            each(from, (end - from) as u32, None);
        }
    }

    /// Visits the parts of `placed` that are still the newest.
    pub(super) fn live(&self, placed: Placed, mut each: impl FnMut(Placed)) {
        if self.pieces.get(&placed.lbn) == Some(&(placed.blocks, placed.address)) {
            return each(placed);
        }
        self.visit(placed.lbn, placed.blocks, |lbn, blocks, address| {
            let there = placed.address + (lbn - placed.lbn);
            if address == Some(there) {
                each(Placed {
                    lbn,
                    blocks,
                    address: there,
                });
            }
        });
    }
}
