//! The lookup table: the address on the front of each block's newest version.

use crate::compose::caches::Directory;
use std::ops::Range;

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

/// Blocks of a page of the table.
const PAGE: usize = 16;

/// One more than the address of each block of a page; 0 for blocks not in the table.
type Page = [u64; PAGE];

/// A map from blocks of the back to addresses, in pages: those without any such block
/// are not kept.
#[derive(Debug)]
pub(super) struct LogTable {
    /// Where each page is in `pages`.
    directory: Directory,
    pages: Vec<Page>,
    unused: Vec<u32>,
}

impl Default for LogTable {
    fn default() -> Self {
        Self { directory: Directory::with_capacity(1024), pages: Vec::new(), unused: Vec::new() }
    }
}

/// The parts of `blocks` blocks from `lbn` on that lie in one page each: the page, the
/// indices in it, and the offset of the first from `lbn`.
fn parts(lbn: u64, blocks: u32) -> impl Iterator<Item = (u64, Range<usize>, u64)> {
    let end = lbn + u64::from(blocks);
    let mut at = lbn;
    std::iter::from_fn(move || {
        let (page, from) = (at / PAGE as u64, at % PAGE as u64);
        let (offset, to) = (at - lbn, (PAGE as u64).min(from + (end - at)));
        at += to - from;
        (from < to).then_some((page, from as usize..to as usize, offset))
    })
}

impl LogTable {
    /// Enters written blocks, except where the table has newer ones.
    pub(super) fn put(&mut self, new: Placed) {
        for (page, inside, offset) in parts(new.lbn, new.blocks) {
            let index = self.directory.get(page).unwrap_or_else(|| {
                let index = self.unused.pop().unwrap_or_else(|| {
                    self.pages.push([0; PAGE]);
                    self.pages.len() as u32 - 1
                });
                self.directory.insert(page, index);
                index
            });
            let there = &mut self.pages[index as usize][inside];
            for (there, address) in there.iter_mut().zip(new.address + offset + 1..) {
                *there = address.max(*there);
            }
        }
    }

    /// Removes the blocks of `old` that are still the newest.
    pub(super) fn remove(&mut self, old: Placed) {
        for (page, inside, offset) in parts(old.lbn, old.blocks) {
            let Some(index) = self.directory.get(page) else {
                continue;
            };
            let there = &mut self.pages[index as usize];
            for (there, address) in there[inside].iter_mut().zip(old.address + offset + 1..) {
                *there *= u64::from(*there != address);
            }
            if *there == [0; PAGE] {
                self.directory.remove(page);
                self.unused.push(index);
            }
        }
    }

    /// Visits the blocks from `lbn` on in pieces: those in the table with their
    /// addresses, the others with `None`.
    pub(super) fn visit(&self, lbn: u64, blocks: u32, mut each: impl FnMut(u64, u32, Option<u64>)) {
        // The current piece: its first block, how many, one more than its address or 0.
        let (mut first, mut count, mut start) = (lbn, 0, 0);
        for (page, inside, _) in parts(lbn, blocks) {
            let index = self.directory.get(page);
            let there = index.map_or(&[0; PAGE], |index| &self.pages[index as usize]);
            for &address in &there[inside] {
                let next = if start == 0 { 0 } else { start + u64::from(count) };
                if address != next {
                    if count > 0 {
                        each(first, count, start.checked_sub(1));
                    }
                    (first, count, start) = (first + u64::from(count), 0, address);
                }
                count += 1;
            }
        }
        if count > 0 {
            each(first, count, start.checked_sub(1));
        }
    }

    /// Visits the parts of `placed` that are still the newest.
    pub(super) fn live(&self, placed: Placed, mut each: impl FnMut(Placed)) {
        self.visit(placed.lbn, placed.blocks, |lbn, blocks, address| {
            let there = placed.address + (lbn - placed.lbn);
            if address == Some(there) {
                each(Placed { lbn, blocks, address: there });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{LogTable, Placed};
    use sledsim_base::random::Stream;
    use std::collections::BTreeMap;

    /// Random writes and removals beside a map with an address per block.
    #[test]
    fn equals_a_map_of_blocks() {
        let mut random = Stream::new(1, "table");
        let (mut table, mut map) = (LogTable::default(), BTreeMap::<u64, u64>::new());
        let mut written = Vec::new();
        let mut next = 0;
        for step in 0..20_000 {
            let (lbn, blocks) = (random.below(100), 1 + random.below(12) as u32);
            next += u64::from(blocks);
            // Records may reach the front in another order than their addresses.
            let order = next + random.below(3) * 40;
            let address = order * 10_000_000 + step * 100;
            let new = Placed { lbn, blocks, address };
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
            let expected: Vec<_> = (first..end).map(|lbn| (lbn, map.get(&lbn).copied())).collect();
            assert_eq!(seen, expected);
        }
    }
}
