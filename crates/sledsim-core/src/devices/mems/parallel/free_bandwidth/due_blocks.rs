//! The blocks that a task has still to access, indexed by sled position.

use crate::devices::mems::parallel::{MediaAddress, Parallel};

/// A bit for each block of a device: by row, then by cylinder, then by square,
/// so that an equivalence class lies together.
#[derive(Clone, Debug)]
pub(super) struct DueBlocks {
    bits: Vec<u64>,
    /// Words of one class.
    words: usize,
    cylinders: usize,
    rows: usize,
    /// Blocks due in each cylinder.
    in_cylinder: Vec<u32>,
    count: u64,
}

impl DueBlocks {
    /// Creates an empty set for a device of this shape.
    pub fn none(parallel: &Parallel) -> Self {
        let words = parallel.squares().div_ceil(64) as usize;
        let cylinders = parallel.geometry.cylinders as usize;
        let rows = parallel.geometry.rows as usize;
        Self {
            bits: vec![0; words * cylinders * rows],
            words,
            cylinders,
            rows,
            in_cylinder: vec![0; cylinders],
            count: 0,
        }
    }

    /// Number of blocks due.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn first_word(&self, cylinder: u32, row: u32) -> usize {
        (row as usize * self.cylinders + cylinder as usize) * self.words
    }

    /// The squares due at a cylinder and row, 64 to a word.
    pub fn class(&self, cylinder: u32, row: u32) -> &[u64] {
        let first = self.first_word(cylinder, row);
        &self.bits[first..first + self.words]
    }

    /// Adds or removes a block; returns whether that changed anything.
    pub fn set(&mut self, spot: &MediaAddress, due: bool) -> bool {
        let word = self.first_word(spot.cylinder, spot.row) + spot.square as usize / 64;
        let bit = 1 << (spot.square % 64);
        if (self.bits[word] & bit != 0) == due {
            return false;
        }
        self.bits[word] ^= bit;
        let in_cylinder = &mut self.in_cylinder[spot.cylinder as usize];
        if due {
            *in_cylinder += 1;
            self.count += 1;
        } else {
            *in_cylinder -= 1;
            self.count -= 1;
        }
        true
    }

    /// The cylinder with due blocks nearest to `cylinder`; the lower one of two.
    pub fn nearest(&self, cylinder: u32) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        let here = cylinder as usize;
        let some = |at: &usize| self.in_cylinder[*at] > 0;
        let below = (0..=here.min(self.cylinders - 1)).rev().find(some);
        let above = (here + 1..self.cylinders).find(some);
        let nearest = match (below, above) {
            (Some(below), Some(above)) if above - here < here - below => above,
            (below, above) => below.or(above)?,
        };
        Some(nearest as u32)
    }

    /// The first due block of each row of a cylinder.
    pub fn rows(&self, cylinder: u32) -> impl Iterator<Item = MediaAddress> + '_ {
        (0..self.rows as u32).filter_map(move |row| {
            let class = self.class(cylinder, row).iter().enumerate();
            let (word, bits) = class.into_iter().find(|(_, bits)| **bits != 0)?;
            Some(MediaAddress { cylinder, row, square: word as u32 * 64 + bits.trailing_zeros() })
        })
    }
}
