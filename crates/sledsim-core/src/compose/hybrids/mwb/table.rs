//! The lookup table: the address on the front of each block's newest version.

use smallvec::SmallVec;
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
        // One search: from the last piece back to the one that holds `lbn`.
        let mut pieces = SmallVec::<[Placed; 8]>::new();
        for (&start, &(blocks, address)) in self.pieces.range(..end).rev() {
            if start + u64::from(blocks) <= lbn {
                break;
            }
            pieces.push(Placed {
                lbn: start,
                blocks,
                address,
            });
            if start <= lbn {
                break;
            }
        }
        for piece in pieces.iter().rev() {
            if from < piece.lbn {
                each(from, (piece.lbn - from) as u32, None);
                from = piece.lbn;
            }
            let stop = end.min(piece.end());
            let address = piece.address + (from - piece.lbn);
            each(from, (stop - from) as u32, Some(address));
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

#[cfg(test)]
mod tests {
    use super::{Placed, Table};
    use sledsim_base::random::Stream;
    use std::collections::BTreeMap;

    /// Random writes and removals beside a map with an address per block.
    #[test]
    fn equals_a_map_of_blocks() {
        let mut random = Stream::new(1, "table");
        let (mut table, mut map) = (Table::default(), BTreeMap::<u64, u64>::new());
        let mut written = Vec::new();
        let mut next = 0;
        for step in 0..20_000 {
            let (lbn, blocks) = (random.below(100), 1 + random.below(12) as u32);
            next += u64::from(blocks);
            // Records may reach the front in another order than their addresses.
            let order = next + random.below(3) * 40;
            let address = order * 10_000_000 + step * 100;
            let new = Placed {
                lbn,
                blocks,
                address,
            };
            written.push(new);
            table.put(new);
            for (lbn, address) in (lbn..new.end()).zip(new.address..) {
                let entry = map.entry(lbn).or_insert(address);
                *entry = address.max(*entry);
            }
            let old = written[random.below(written.len() as u64) as usize];
            let is_live = |lbn: u64| map.get(&lbn) == Some(&(old.address + lbn - old.lbn));
            let expected: Vec<u64> = (old.lbn..old.end()).filter(|lbn| is_live(*lbn)).collect();
            let mut live = Vec::new();
            table.live(old, |part| live.extend(part.lbn..part.end()));
            assert_eq!(live, expected);
            if random.chance(0.5) {
                table.remove(old);
                for lbn in expected {
                    map.remove(&lbn);
                }
            }
            let (first, blocks) = (random.below(100), 1 + random.below(30) as u32);
            let mut seen = Vec::new();
            table.visit(first, blocks, |lbn, blocks, address| {
                for offset in 0..u64::from(blocks) {
                    seen.push((lbn + offset, address.map(|address| address + offset)));
                }
            });
            let end = first + u64::from(blocks);
            let expected: Vec<_> = (first..end)
                .map(|lbn| (lbn, map.get(&lbn).copied()))
                .collect();
            assert_eq!(seen, expected);
        }
    }
}
