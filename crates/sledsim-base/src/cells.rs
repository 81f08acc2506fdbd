//! Counts of values in cells whose width grows with the value.
//!
//! A block of cells covers the values from each power of two to the next, and
//! the first block those below 1,024. A block is allocated with its first value,
//! so that the memory depends on the range of the values alone. These are the
//! cells of an `HdrHistogram` of three digits, which allocates all up to the
//! highest value.

use serde::{Deserialize, Serialize};

/// Cells in a block: each is at most 1/1024 of its values wide.
const CELLS: usize = 1024;
/// Bits of the number of a cell in its block.
const CELL_BITS: u32 = CELLS.ilog2();
/// Blocks up to `u64::MAX`.
const BLOCKS: usize = (u64::BITS - CELL_BITS) as usize + 1;

type Block = Box<[u64; CELLS]>;

/// The number of values in each cell, over all of `u64`.
///
/// In bytes, the cells that hold values: how far the highest of each lies above that of the
/// one before, and how many values. That does not depend on how cells are kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Vec<(u64, u64)>", try_from = "Vec<(u64, u64)>")]
pub(crate) struct Cells {
    /// A block that exists holds a value: equal counts are equal blocks.
    blocks: [Option<Block>; BLOCKS],
    values: u64,
}

/// The block of a value, and its cell in there. Values below 2,048 have cells of
/// their own.
#[inline]
fn place(value: u64) -> (usize, usize) {
    // With the low bits set, no value is treated apart.
    let filled = value | (CELLS as u64 - 1);
    // The highest bit set, in one instruction.
    let highest = filled.leading_zeros() ^ (u64::BITS - 1);
    let cell = (value >> highest.saturating_sub(CELL_BITS)) as usize % CELLS;
    ((highest - (CELL_BITS - 1)) as usize, cell)
}

/// The highest value of a cell.
fn highest(block: usize, cell: usize) -> u64 {
    let Some(shift) = block.checked_sub(1) else {
        return cell as u64;
    };
    ((CELLS + cell) as u64) << shift | ((1 << shift) - 1)
}

#[cold]
fn empty() -> Block {
    Box::new([0; CELLS])
}

impl Cells {
    /// No value yet, and no block.
    pub fn new() -> Self {
        Self { blocks: [const { None }; BLOCKS], values: 0 }
    }

    /// Counts a value. Allocates if it is the first of its block.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let (block, cell) = place(value);
        self.blocks[block].get_or_insert_with(empty)[cell] += 1;
        self.values += 1;
    }

    /// Counts `values`.
    pub fn record_all(&mut self, values: &[u64]) {
        for &value in values {
            let (block, cell) = place(value);
            self.blocks[block].get_or_insert_with(empty)[cell] += 1;
        }
        self.values += values.len() as u64;
    }

    /// Counts a value `times` times, at least once.
    pub fn add(&mut self, value: u64, times: u64) {
        let (block, cell) = place(value);
        self.blocks[block].get_or_insert_with(empty)[cell] += times;
        self.values += times;
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.blocks.iter_mut().zip(&other.blocks) {
            match (mine, theirs) {
                (_, None) => {}
                (mine @ None, Some(_)) => mine.clone_from(theirs),
                (Some(mine), Some(theirs)) => {
                    for (mine, theirs) in mine.iter_mut().zip(theirs.iter()) {
                        *mine += theirs;
                    }
                }
            }
        }
        self.values += other.values;
    }

    /// The number of values.
    #[inline]
    pub fn values(&self) -> u64 {
        self.values
    }

    /// The highest value of each cell that holds any, ascending, and how many
    /// it holds.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let blocks = self.blocks.iter().enumerate();
        let blocks = blocks.filter_map(|(block, cells)| Some((block, cells.as_ref()?)));
        blocks.flat_map(|(block, cells)| {
            let counts = cells.iter().enumerate().filter(|(_, count)| **count > 0);
            counts.map(move |(cell, count)| (highest(block, cell), *count))
        })
    }
}

impl From<Cells> for Vec<(u64, u64)> {
    fn from(cells: Cells) -> Self {
        let mut last = 0;
        let above = |(highest, values)| (highest - std::mem::replace(&mut last, highest), values);
        cells.iter().map(above).collect()
    }
}

impl TryFrom<Vec<(u64, u64)>> for Cells {
    type Error = &'static str;

    fn try_from(given: Vec<(u64, u64)>) -> Result<Self, Self::Error> {
        let (mut cells, mut last) = (Self::new(), 0_u64);
        for (above, values) in given {
            last = last.checked_add(above).ok_or("a value is too large")?;
            cells.values.checked_add(values).ok_or("there are too many values")?;
            if values > 0 {
                cells.add(last, values);
            }
        }
        Ok(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Cells {
        let mut cells = Cells::new();
        for &value in values {
            cells.record(value);
        }
        cells
    }

    /// The same by an independent implementation, which covers all values from
    /// the beginning.
    fn expected(values: &[u64]) -> Vec<(u64, u64)> {
        let mut all = Histogram::<u64>::new_with_bounds(1, u64::MAX, 3).unwrap();
        for &value in values {
            all.record(value).unwrap();
        }
        let cells = all.iter_recorded().map(|cell| {
            let highest = cell.value_iterated_to();
            // Of the last cell it tells one too little.
            let is_last = highest == u64::MAX - 1;
            (highest + u64::from(is_last), cell.count_at_value())
        });
        cells.collect()
    }

    /// Values of all magnitudes below 2 to the power of `bits`.
    fn below(bits: u32) -> impl Strategy<Value = Vec<u64>> {
        let value = (any::<u64>(), 64 - bits..64).prop_map(|(value, shift)| value >> shift);
        prop::collection::vec(value, 0..300)
    }

    /// The number of blocks of some values, by their definition.
    fn ranges(values: &[u64]) -> usize {
        let mut powers: Vec<u32> = values.iter().map(|v| v.max(&512).ilog2()).collect();
        powers.sort_unstable();
        powers.dedup();
        powers.len()
    }

    fn blocks(cells: &Cells) -> usize {
        cells.blocks.iter().flatten().count()
    }

    proptest! {
        #[test]
        fn cells_are_those_of_a_histogram_that_covers_all_values(values in below(64)) {
            let cells = of(&values);
            prop_assert_eq!(cells.iter().collect::<Vec<_>>(), expected(&values));
            prop_assert_eq!(cells.values(), values.len() as u64);
            prop_assert_eq!(blocks(&cells), ranges(&values));
        }

        #[test]
        fn small_and_large_ranges_merge_either_way(small in below(12), large in below(64)) {
            let together = of(&[small.clone(), large.clone()].concat());
            for (first, second) in [(&small, &large), (&large, &small)] {
                let mut merged = of(first);
                merged.merge(&of(second));
                prop_assert_eq!(&merged, &together);
            }
        }
    }

    #[test]
    fn both_edges_of_every_power_of_two_are_in_their_cells() {
        let powers = (0..64).map(|power| 1_u64 << power);
        let mut values: Vec<u64> = powers.flat_map(|v| [v - 1, v, v + 1]).collect();
        values.push(u64::MAX);
        let cells = of(&values);
        assert_eq!(cells.iter().collect::<Vec<_>>(), expected(&values));
        assert_eq!(cells.iter().last(), Some((u64::MAX, 1)));
    }
}
