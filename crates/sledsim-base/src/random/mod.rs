//! Random numbers: one independent, reproducible stream per purpose.
//!
//! In reading order:
//! - `zipf`: the Zipf distribution, without a table.
//! - `permutation`: random permutations in constant memory.

mod zipf;

mod permutation;

pub use permutation::Permutation;
pub use zipf::Zipf;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers for one purpose.
///
/// The generator is xoshiro256++ (Blackman and Vigna, 2021). Its 256 bits of
/// state come from SplitMix64, started at the mixed seed xor the 64-bit FNV-1a
/// hash of the purpose. Streams of different purposes or seeds are unrelated,
/// so drawing more for one purpose changes nothing for another. Elementary
/// functions come from `libm`: the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

/// 2^-53, the spacing of [`Stream::unit`].
const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;

impl Stream {
    /// The stream of `seed` for `purpose`.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let hash = purpose.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut state = split_mix(seed) ^ hash;
        let mut bytes = [0; 32];
        for word in bytes.chunks_exact_mut(8) {
            word.copy_from_slice(&split_mix(state).to_le_bytes());
            state = state.wrapping_add(GAMMA);
        }
        Self(Xoshiro256PlusPlus::from_seed(bytes))
    }

    /// 64 random bits.
    #[inline]
    pub fn u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on the integers `0..n`, without bias (Lemire 2019). `n` must
    /// not be 0 (the result is 0 then).
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        let mut product = u128::from(self.u64()) * u128::from(n);
        if (product as u64) < n {
            let unfair = n.wrapping_neg() % n;
            while (product as u64) < unfair {
                product = u128::from(self.u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// Uniform on [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.u64() >> 11) as f64 * UNIT
    }

    /// Uniform on (0, 1], a multiple of 2^-53.
    #[inline]
    pub fn unit_positive(&mut self) -> f64 {
        ((self.u64() >> 11) + 1) as f64 * UNIT
    }

    /// Exponential with this mean, by inversion.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log(self.unit_positive()) * mean
    }

    /// Geometric on 1, 2, ... with this mean. Where the mean stays the same,
    /// [`Geometric`] is faster and draws the same numbers.
    #[inline]
    pub fn geometric(&mut self, mean: f64) -> u64 {
        Geometric::new(mean).draw(self)
    }

    /// True with probability `p`: never at 0, always at 1.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
}

/// The geometric distribution on 1, 2, ...: the number of trials up to the
/// first success, with success probability 1 / mean.
#[derive(Clone, Copy, Debug)]
pub struct Geometric {
    /// 1 / ln(1 - 1/mean); 0 for a mean of 1.
    inverse_log: f64,
}

impl Geometric {
    /// With this mean, at least 1 (a lower one is raised to 1).
    pub fn new(mean: f64) -> Self {
        Self { inverse_log: 1.0 / libm::log1p(-1.0 / mean.max(1.0)) }
    }

    /// One number, by inversion.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        1 + (libm::log(stream.unit_positive()) * self.inverse_log) as u64
    }
}

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// One step of SplitMix64 (Steele, Lea, Flood 2014): the output at `state`.
#[inline]
pub fn split_mix(state: u64) -> u64 {
    let z = state.wrapping_add(GAMMA);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
