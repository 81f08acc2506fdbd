//! Cylinder groups: where inodes, blocks and fragments are allocated.

use std::iter::{from_fn, once, successors};

/// Fragments in a block, and inodes in one.
pub(super) const FRAGMENTS: u32 = 8;
pub(super) const INODES_IN_BLOCK: u32 = 64;

/// The inode of the root directory.
pub(super) const ROOT: u32 = 2;

/// Blocks of a group before its inodes: two for the boot program and the superblock,
/// which hold data in all groups but the first; a copy of the superblock; the maps.
const MAPS: u32 = 3;
const INODES: u32 = 4;

/// The cylinder groups of a new file system.
///
/// Addresses are numbers of fragments from the start of the file system. The order of
/// the searches is that of 4.3BSD: see each function.
#[derive(Debug)]
pub(super) struct Groups {
    /// Blocks and inodes of a group.
    blocks: u32,
    inodes: u32,
    /// The free fragments of each block, a bit each.
    free: Box<[u8]>,
    /// The used inodes, eight in each.
    used: Box<[u8]>,
    groups: Box<[Group]>,
}

/// Summary of a cylinder group.
#[derive(Clone, Debug, Default)]
struct Group {
    free_blocks: u32,
    free_inodes: u32,
    directories: u32,
    /// How many runs of free fragments of each length there are in blocks in part used.
    runs: [u32; FRAGMENTS as usize],
    /// Where the last search found a block, fragments, and an inode.
    block_rotor: u32,
    fragment_rotor: u32,
    inode_rotor: u32,
}

impl Groups {
    /// `count` empty groups of so many blocks, and so many inodes, which fill blocks.
    pub(super) fn new(count: u32, blocks: u32, inodes: u32) -> Self {
        let mut groups = Self {
            blocks,
            inodes,
            free: vec![0; (count * blocks) as usize].into(),
            used: vec![0; (count * inodes / 8) as usize].into(),
            groups: vec![Group::default(); count as usize].into(),
        };
        for group in 0..count {
            groups.groups[group as usize].free_inodes = inodes;
            for block in 0..blocks {
                let is_data = block < 2 && group > 0 || block >= Self::data_from(inodes);
                if is_data {
                    groups.set(group * blocks + block, u8::MAX);
                }
            }
        }
        // Inode 0 marks none, 1 was for bad blocks.
        groups.used[0] = 0b111;
        groups.groups[0].free_inodes -= 3;
        groups.groups[0].directories = 1;
        groups
    }

    /// The first block of data behind the inodes of a group.
    pub(super) fn data_from(inodes: u32) -> u32 {
        INODES + inodes / INODES_IN_BLOCK
    }

    /// The group of a fragment.
    pub(super) fn of(&self, at: u32) -> u32 {
        at / FRAGMENTS / self.blocks
    }

    /// Whether a fragment lies in the file system.
    pub(super) fn has(&self, at: u32) -> bool {
        at / FRAGMENTS < self.free.len() as u32
    }

    /// The group of an inode.
    pub(super) fn of_inode(&self, inode: u32) -> u32 {
        inode / self.inodes
    }

    /// Where the block of an inode lies.
    pub(super) fn inode_at(&self, inode: u32) -> u32 {
        let inside = INODES + inode % self.inodes / INODES_IN_BLOCK;
        (self.of_inode(inode) * self.blocks + inside) * FRAGMENTS
    }

    /// Where the maps of a group lie.
    pub(super) fn maps_at(&self, group: u32) -> u32 {
        (group * self.blocks + MAPS) * FRAGMENTS
    }

    /// Where the search for the first block of a file in `group` begins: the second
    /// block.
    pub(super) fn start_of(&self, group: u32) -> u32 {
        (group * self.blocks + 1) * FRAGMENTS
    }

    /// The group for a new directory: of those with free inodes at or above the mean, the
    /// first with the fewest directories.
    pub(super) fn for_directory(&self) -> u32 {
        let all: u64 = self.groups.iter().map(|g| u64::from(g.free_inodes)).sum();
        let mean = (all / self.groups.len() as u64) as u32;
        let fit = (0..)
            .zip(&self.groups)
            .filter(|(_, g)| g.free_inodes >= mean);
        fit.min_by_key(|(_, g)| g.directories)
            .map_or(0, |(at, _)| at)
    }

    /// The group for a part of a large file: from `group` on, the first with free blocks
    /// at or above the mean.
    pub(super) fn for_more(&self, group: u32) -> u32 {
        let all: u64 = self.groups.iter().map(|g| u64::from(g.free_blocks)).sum();
        let mean = (all / self.groups.len() as u64) as u32;
        let count = self.groups.len() as u32;
        let mut turn = (group..count).chain(0..group);
        let fit = turn.find(|at| self.groups[*at as usize].free_blocks >= mean);
        fit.unwrap_or(group)
    }

    /// Allocates an inode in `home` or the next group that has one: the first free in or
    /// behind the byte of the map where the last one was found.
    pub(super) fn allocate_inode(&mut self, home: u32, is_directory: bool) -> Option<u32> {
        let count = self.groups.len() as u32;
        let group = in_turn(home, count).find(|at| self.groups[*at as usize].free_inodes > 0)?;
        let bytes = self.inodes / 8;
        let map = &mut self.used[(group * bytes) as usize..][..bytes as usize];
        let summary = &mut self.groups[group as usize];
        let from = summary.inode_rotor / 8;
        let mut turn = (from..bytes).chain(0..from);
        let byte = turn.find(|byte| map[*byte as usize] != u8::MAX)?;
        let inode = byte * 8 + map[byte as usize].trailing_ones();
        map[byte as usize] |= 1 << (inode % 8);
        summary.inode_rotor = inode;
        summary.free_inodes -= 1;
        summary.directories += u32::from(is_directory);
        Some(group * self.inodes + inode)
    }

    /// Frees the inode of a file.
    pub(super) fn free_inode(&mut self, inode: u32) {
        self.used[(inode / 8) as usize] &= !(1 << (inode % 8));
        self.groups[self.of_inode(inode) as usize].free_inodes += 1;
    }

    /// Allocates `count` fragments of one block: in the group of `near` from `near` on, or
    /// in the next group that has them. Fragments come from the shortest runs that fit,
    /// and from a free block if there are none.
    pub(super) fn allocate(&mut self, near: u32, count: u32) -> Option<u32> {
        let home = self.of(near);
        let mut turn = in_turn(home, self.groups.len() as u32);
        turn.find_map(|group| {
            let from = (group == home).then_some(near / FRAGMENTS % self.blocks);
            self.allocate_in(group, from, count)
        })
    }

    fn allocate_in(&mut self, group: u32, from: Option<u32>, count: u32) -> Option<u32> {
        let Group {
            free_blocks,
            runs,
            block_rotor,
            fragment_rotor,
            ..
        } = self.groups[group as usize];
        let length = (count..FRAGMENTS).find(|length| runs[*length as usize] > 0);
        let length = length.unwrap_or(FRAGMENTS);
        let whole = length == FRAGMENTS;
        if whole && free_blocks == 0 {
            return None;
        }
        let from = from.unwrap_or(if whole { block_rotor } else { fragment_rotor });
        let map = &self.free[(group * self.blocks) as usize..][..self.blocks as usize];
        let mut turn = (from..self.blocks).chain(0..from);
        let (block, first) = turn.find_map(|block| {
            let (first, _) = runs_of(map[block as usize]).find(|(_, run)| *run == length)?;
            Some((block, first))
        })?;
        let summary = &mut self.groups[group as usize];
        if whole {
            summary.block_rotor = block;
        } else {
            summary.fragment_rotor = block;
        }
        let at = (group * self.blocks + block) * FRAGMENTS + first;
        self.mark(at, count, false);
        Some(at)
    }

    /// Makes `old` fragments `new` ones in their place, if those behind are free; returns
    /// whether it did.
    pub(super) fn extend(&mut self, at: u32, old: u32, new: u32) -> bool {
        let wanted = bits(at + old, new - old);
        let fits = at % FRAGMENTS + new <= FRAGMENTS;
        let free = fits && self.free[(at / FRAGMENTS) as usize] & wanted == wanted;
        if free {
            self.mark(at + old, new - old, false);
        }
        free
    }

    /// Frees fragments of one block.
    pub(super) fn free(&mut self, at: u32, count: u32) {
        self.mark(at, count, true);
    }

    fn mark(&mut self, at: u32, count: u32, free: bool) {
        let block = at / FRAGMENTS;
        let old = self.free[block as usize];
        let new = if free {
            old | bits(at, count)
        } else {
            old & !bits(at, count)
        };
        self.set(block, new);
    }

    /// Sets the free fragments of a block, and keeps the summary.
    fn set(&mut self, block: u32, free: u8) {
        let summary = &mut self.groups[(block / self.blocks) as usize];
        for (_, length) in runs_of(self.free[block as usize]) {
            match summary.runs.get_mut(length as usize) {
                Some(runs) => *runs -= 1,
                None => summary.free_blocks -= 1,
            }
        }
        for (_, length) in runs_of(free) {
            match summary.runs.get_mut(length as usize) {
                Some(runs) => *runs += 1,
                None => summary.free_blocks += 1,
            }
        }
        self.free[block as usize] = free;
    }
}

/// The bits of fragments of one block.
fn bits(at: u32, count: u32) -> u8 {
    (((1_u32 << count) - 1) << (at % FRAGMENTS)) as u8
}

/// The runs of free fragments in a block: the first fragment, and the length.
fn runs_of(free: u8) -> impl Iterator<Item = (u32, u32)> {
    let (mut rest, mut at) = (u32::from(free), 0);
    from_fn(move || {
        let used = if rest == 0 {
            return None;
        } else {
            rest.trailing_zeros()
        };
        let length = (rest >> used).trailing_ones();
        let first = at + used;
        rest >>= used + length;
        at = first + length;
        Some((first, length))
    })
}

/// The groups in the order of a search: `home`, those 1, 1 + 2, 1 + 2 + 4, ... further,
/// and all behind.
fn in_turn(home: u32, count: u32) -> impl Iterator<Item = u32> {
    let steps = successors(Some(1_u32), |step| Some(step * 2));
    let doubled = steps
        .take_while(move |step| *step < count)
        .scan(home, move |at, step| {
            *at = (*at + step) % count;
            Some(*at)
        });
    once(home)
        .chain(doubled)
        .chain((2..count).map(move |step| (home + step) % count))
}

#[cfg(test)]
mod tests {
    use super::{FRAGMENTS, Groups};
    use sledsim_base::random::Stream;

    /// Fragments against a plain list of what is taken: no overlap, the shortest run that
    /// fits in the home group, and a summary as counted anew.
    #[test]
    fn fragments_are_those_of_a_search_of_all() {
        let (count, blocks) = (3, 40);
        let mut groups = Groups::new(count, blocks, 64);
        let mut free: Vec<bool> = (0..count * blocks * FRAGMENTS)
            .map(|at| {
                let (group, block) = (at / 320, at % 320 / 8);
                block >= 5 || block < 2 && group > 0
            })
            .collect();
        let runs = |free: &[bool], group: usize| {
            let blocks = free[group * 320..][..320].chunks(8);
            let runs = blocks.flat_map(|block| block.split(|free| !free).map(<[bool]>::len));
            let mut counts = [0; 9];
            runs.for_each(|run| counts[run] += 1);
            counts
        };
        let (mut held, mut draws) = (Vec::new(), Stream::new(3, "groups"));
        let mut fell = 0;
        for _ in 0..5000 {
            let length = 1 + draws.below(8) as u32;
            let near = draws.below(960) as u32 / 8 * 8;
            let home = runs(&free, (near / 320) as usize);
            if held.len() < 100
                && let Some(at) = groups.allocate(near, length)
            {
                let from = at as usize;
                assert!(at / 8 == (at + length - 1) / 8);
                assert!(free[from..from + length as usize].iter().all(|free| *free));
                let fits = (length as usize..9).find(|run| home[*run] > 0);
                if let Some(fits) = fits {
                    assert_eq!(at / 320, near / 320, "home has room");
                    let block = &free[from / 8 * 8..][..8];
                    let run = block[from % 8..].iter().take_while(|free| **free).count();
                    assert_eq!(run, fits, "the shortest");
                } else {
                    fell += 1;
                }
                free[from..from + length as usize].fill(false);
                held.push((at, length));
            } else if let Some((at, length)) = held.pop() {
                let grown = (length + 1).min(8);
                let next = (at + length) as usize;
                let can = at % 8 + grown <= 8 && (grown == length || free[next]);
                assert_eq!(groups.extend(at, length, grown), can);
                groups.free(at, if can { grown } else { length });
                free[at as usize..(at + length) as usize].fill(true);
                if !held.is_empty() {
                    let other = draws.below(held.len() as u64) as usize;
                    held.swap_remove(other);
                    let (at, length) = held.pop().unwrap_or((0, 0));
                    groups.free(at, length);
                    free[at as usize..(at + length) as usize].fill(true);
                }
            }
            for (group, summary) in groups.groups.iter().enumerate() {
                let counted = runs(&free, group);
                assert_eq!(summary.runs[1..], counted[1..8]);
                assert_eq!(summary.free_blocks, counted[8]);
            }
        }
        assert!(fell > 100, "{fell} outside their group");
    }
}
