//! Random permutations in constant memory.

use super::Stream;

/// A random permutation of 0..n in constant memory.
///
/// Each round multiplies by an odd number, adds, and folds the upper half of
/// the bits into the lower, all modulo the power of two at or above n; each
/// step is invertible. A result that is not below n is permuted again until it
/// is (cycle walking), in fewer than two iterations on average.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    n: u64,
    mask: u64,
    fold: u32,
    rounds: [(u64, u64); 4],
}

impl Permutation {
    /// A permutation of 0..n, chosen by `stream`; n is from 1 to 2^63.
    pub fn new(n: u64, stream: &mut Stream) -> Self {
        let size = n.max(1).next_power_of_two();
        Self {
            n,
            mask: size - 1,
            fold: size.trailing_zeros().div_ceil(2),
            rounds: std::array::from_fn(|_| (stream.u64() | 1, stream.u64())),
        }
    }

    /// The image of `i`, which is below n.
    #[inline]
    pub fn at(&self, i: u64) -> u64 {
        let mut x = i;
        loop {
            for (factor, addend) in self.rounds {
                x = x.wrapping_mul(factor).wrapping_add(addend) & self.mask;
                x ^= x >> self.fold;
            }
            if x < self.n {
                return x;
            }
        }
    }
}
