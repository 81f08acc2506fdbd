//! The Reed-Solomon words of blocks.
//!
//! A block is cut into one sector for each data tip; a byte of every sector makes a
//! word of a systematic Reed-Solomon code over the field of 256 elements, whose check
//! symbols are the sectors of the ECC tips. Check `i` of data `j` has the coefficient
//! `1 / (x_i + y_j)` with all `x` and `y` different. Every square part of such a matrix
//! (Cauchy's) can be inverted, so that any as many right sectors as there are data tips
//! determine the others.

use super::columns::Columns;
use super::galois::{inverse, multiply};
use sledsim_base::units::BLOCK_BYTES;

/// Bytes of a block.
pub(super) const BLOCK: usize = BLOCK_BYTES as usize;
/// The most sectors of a word: the elements of the field.
pub(crate) const MOST_SECTORS: u32 = 256;
/// Check sectors that are computed together, one to each byte of an integer.
const TOGETHER: usize = 8;

/// More sectors are missing than the code can recover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unrecoverable;

/// The sectors of a block: those of its data tips, then those of its ECC tips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The block, filled up with zeros to whole sectors.
    pub data: Vec<u8>,
    /// The check sectors.
    pub checks: Vec<u8>,
}

/// The code of a device.
#[derive(Clone, Debug)]
pub(super) struct WordCode {
    /// Data tips and ECC tips of a block.
    data: usize,
    checks: usize,
    /// Bytes of a sector.
    sector: usize,
    /// By group of check sectors and by data sector: the products of each byte with the
    /// coefficients of the group.
    products: Vec<[u64; 256]>,
}

impl WordCode {
    /// The code over `data` + `checks` tips, at most [`MOST_SECTORS`].
    pub(super) fn new(data: usize, checks: usize) -> Self {
        let mut code = Self { data, checks, sector: BLOCK.div_ceil(data), products: Vec::new() };
        for group in 0..checks.div_ceil(TOGETHER) {
            let rows = group * TOGETHER..checks.min((group + 1) * TOGETHER);
            for column in 0..data {
                let factors: Vec<u8> = rows.clone().map(|row| code.factor(row, column)).collect();
                let products = std::array::from_fn(|byte| {
                    let mut bytes = [0; TOGETHER];
                    for (product, factor) in bytes.iter_mut().zip(&factors) {
                        *product = multiply(byte as u8, *factor);
                    }
                    u64::from_le_bytes(bytes)
                });
                code.products.push(products);
            }
        }
        code
    }

    /// Bytes of the check sectors of a block.
    pub(super) fn check_bytes(&self) -> usize {
        self.checks * self.sector
    }

    /// Data sectors of a block.
    pub(super) fn data_columns(&self) -> usize {
        self.data
    }

    /// A word of zeros.
    pub(super) fn zeros(&self) -> Word {
        Word { data: vec![0; self.data * self.sector], checks: vec![0; self.check_bytes()] }
    }

    /// The coefficient of a data sector in a check sector.
    fn factor(&self, row: usize, column: usize) -> u8 {
        inverse((self.data + row) as u8 ^ column as u8)
    }

    /// Computes the check sectors of a block.
    pub(super) fn encode(&self, block: &[u8], checks: &mut [u8]) {
        for (group, products) in self.products.chunks(self.data).enumerate() {
            let first = group * TOGETHER;
            let rows = TOGETHER.min(self.checks - first);
            if let (8, Ok(block)) = (self.sector, <&[u8; BLOCK]>::try_from(block)) {
                let mut sums = [0; 8];
                for (sector, products) in block.as_chunks::<8>().0.iter().zip(products) {
                    for (sum, byte) in sums.iter_mut().zip(sector) {
                        *sum ^= products[usize::from(*byte)];
                    }
                }
                self.spread(&sums, first, rows, checks);
                continue;
            }
            let mut sums = vec![0; self.sector];
            for (sector, products) in block.chunks(self.sector).zip(products) {
                for (sum, byte) in sums.iter_mut().zip(sector) {
                    *sum ^= products[usize::from(*byte)];
                }
            }
            self.spread(&sums, first, rows, checks);
        }
    }

    /// Distributes the bytes of `sums` over the check sectors from `first` on.
    fn spread(&self, sums: &[u64], first: usize, rows: usize, checks: &mut [u8]) {
        for (place, sum) in sums.iter().enumerate() {
            let bytes = sum.to_le_bytes();
            for (row, byte) in bytes.iter().enumerate().take(rows) {
                checks[(first + row) * self.sector + place] = *byte;
            }
        }
    }

    /// The bytes of a column in the data or in the check sectors.
    pub(super) fn place(&self, column: usize) -> std::ops::Range<usize> {
        let index = if column < self.data { column } else { column - self.data };
        index * self.sector..(index + 1) * self.sector
    }

    /// Sets a column to zero.
    pub(super) fn erase(&self, word: &mut Word, column: usize) {
        let place = self.place(column);
        match column < self.data {
            true => word.data[place].fill(0),
            false => word.checks[place].fill(0),
        }
    }

    /// Computes the missing sectors from the others. Ignores what is in their place.
    ///
    /// # Errors
    /// More are missing than there are check sectors; the word is not changed.
    pub(super) fn recover(&self, word: &mut Word, missing: &Columns) -> Result<(), Unrecoverable> {
        if missing.count() > self.checks {
            return Err(Unrecoverable);
        }
        let unknown: Vec<usize> = missing.iter().take_while(|c| *c < self.data).collect();
        for &column in &unknown {
            self.erase(word, column);
        }
        let mut computed = vec![0; self.check_bytes()];
        if !unknown.is_empty() {
            self.encode(&word.data, &mut computed);
            let rows = (0..self.checks).filter(|row| !missing.contains(self.data + row));
            let rows: Vec<usize> = rows.take(unknown.len()).collect();
            let sums = rows.iter().map(|row| {
                let place = self.place(self.data + row);
                let both = word.checks[place.clone()].iter().zip(&computed[place]);
                both.map(|(right, part)| right ^ part).collect()
            });
            let sums = self.solve(&rows, &unknown, sums.collect());
            for (column, bytes) in unknown.iter().zip(sums) {
                let place = self.place(*column);
                word.data[place].copy_from_slice(&bytes);
            }
        }
        if missing.iter().any(|column| column >= self.data) {
            self.encode(&word.data, &mut computed);
            for column in missing.iter().filter(|column| *column >= self.data) {
                let place = self.place(column);
                word.checks[place.clone()].copy_from_slice(&computed[place]);
            }
        }
        Ok(())
    }

    /// Solves for the data sectors `columns`, whose products with the coefficients of
    /// the check sectors `rows` add up to `sums`: elimination. No pivot is zero, as
    /// every leading part of the matrix can be inverted.
    fn solve(&self, rows: &[usize], columns: &[usize], mut sums: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let factors = |row: &usize| columns.iter().map(|c| self.factor(*row, *c)).collect();
        let mut matrix: Vec<Vec<u8>> = rows.iter().map(factors).collect();
        for pivot in 0..columns.len() {
            let by = inverse(matrix[pivot][pivot]);
            scale(&mut matrix[pivot], by);
            scale(&mut sums[pivot], by);
            let (of_matrix, of_sum) = (matrix[pivot].clone(), sums[pivot].clone());
            for row in (0..columns.len()).filter(|row| *row != pivot) {
                let by = matrix[row][pivot];
                add(&mut matrix[row], &of_matrix, by);
                add(&mut sums[row], &of_sum, by);
            }
        }
        sums
    }
}

fn scale(values: &mut [u8], by: u8) {
    for value in values {
        *value = multiply(*value, by);
    }
}

/// Adds `by` times `other`.
fn add(values: &mut [u8], other: &[u8], by: u8) {
    for (value, other) in values.iter_mut().zip(other) {
        *value ^= multiply(*other, by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As many missing sectors as there are check sectors are recovered from the others,
        /// with any bytes in their place; one more is refused.
        #[test]
        fn as_many_sectors_as_there_are_checks_are_recovered(
            (data, checks) in (1usize..150, 0usize..20),
            bytes in prop::collection::vec(any::<u8>(), BLOCK),
            order in Just((0..170usize).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let code = WordCode::new(data, checks);
            let mut word = code.zeros();
            word.data[..BLOCK].copy_from_slice(&bytes);
            let mut sums = vec![0; code.check_bytes()];
            code.encode(&word.data, &mut sums);
            word.checks = sums;
            let lost: Vec<usize> = order.into_iter().filter(|c| *c < data + checks).collect();
            let (mut missing, mut read) = (Columns::default(), word.clone());
            for column in lost.into_iter().take(checks + 1) {
                prop_assert_eq!(code.recover(&mut read.clone(), &missing), Ok(()));
                let mut whole = read.clone();
                code.recover(&mut whole, &missing).unwrap();
                prop_assert!(whole == word, "{:?}", missing);
                missing.insert(column);
                match column < data {
                    true => read.data[code.place(column)].fill(0xa5),
                    false => read.checks[code.place(column)].fill(0xa5),
                }
            }
            if missing.count() > checks {
                prop_assert_eq!(code.recover(&mut read, &missing), Err(Unrecoverable));
            }
        }
    }

    /// Check sectors are sums of products, computed one by one.
    #[test]
    fn check_sectors_are_sums_of_products() {
        for (data, checks) in [(64, 4), (64, 11), (48, 3), (128, 1)] {
            let code = WordCode::new(data, checks);
            let block: Vec<u8> = (0..BLOCK).map(|at| (at * at / 7) as u8).collect();
            let mut found = vec![0; code.check_bytes()];
            code.encode(&block, &mut found);
            for row in 0..checks {
                for place in 0..code.sector {
                    let terms = (0..data).map(|column| {
                        let byte = block.get(column * code.sector + place).copied();
                        let x = (data + row) as u8 ^ column as u8;
                        let factor = (1..=255).find(|f| multiply(*f, x) == 1).unwrap();
                        multiply(byte.unwrap_or(0), factor)
                    });
                    let sum = terms.fold(0, |a, b| a ^ b);
                    assert_eq!(found[row * code.sector + place], sum);
                }
            }
        }
    }
}
