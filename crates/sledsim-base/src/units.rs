//! Units: integer nanoseconds for events and results.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// An instant or a span of simulated time in integer nanoseconds.
///
/// Instants count from the start of the simulation. The range is 584 years.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Nanos(pub u64);

/// In the sum with 2^52 the unit in the last place is one nanosecond, so that the addition
/// rounds; on baseline x86-64 this is a fraction of what a cast costs.
const TWO_52: f64 = 4_503_599_627_370_496.0;

impl Nanos {
    /// Time zero, and the empty span.
    pub const ZERO: Self = Self(0);
    /// The latest instant.
    pub const MAX: Self = Self(u64::MAX);

    /// Seconds to nanoseconds, rounded to the nearest.
    ///
    /// Negative and not-a-number inputs give zero, inputs past the range the
    /// largest value.
    #[inline]
    pub fn from_s(seconds: f64) -> Self {
        let nanoseconds = seconds * 1e9;
        // Compared as bits: those of negative numbers and of not-a-number are larger.
        if nanoseconds.to_bits() < (0.5 * TWO_52).to_bits() {
            Self((nanoseconds + TWO_52).to_bits() - TWO_52.to_bits())
        } else {
            Self(nanoseconds.round() as u64)
        }
    }

    /// As [`Nanos::from_s`], of several at once.
    #[inline(always)] // hot: becomes one vector operation each
    pub fn from_each_s<const N: usize>(seconds: [f64; N]) -> [Self; N] {
        let nanoseconds = seconds.map(|seconds| seconds * 1e9);
        let is_small = |ns: &f64| ns.to_bits() < (0.5 * TWO_52).to_bits();
        match nanoseconds.iter().fold(true, |all, ns| all & is_small(ns)) {
            true => nanoseconds.map(|ns| Self((ns + TWO_52).to_bits() - TWO_52.to_bits())),
            false => seconds.map(Self::from_s),
        }
    }

    /// Milliseconds to nanoseconds, rounded to the nearest.
    #[inline]
    pub fn from_ms(milliseconds: f64) -> Self {
        Self::from_s(milliseconds * 1e-3)
    }

    /// In seconds.
    #[inline]
    pub fn s(self) -> f64 {
        // Signed: converting an unsigned number takes several instructions.
        self.0.min(i64::MAX as u64) as i64 as f64 * 1e-9
    }

    /// In milliseconds.
    #[inline]
    pub fn ms(self) -> f64 {
        self.0 as f64 * 1e-6
    }

    /// The span from `earlier` to `self`, zero if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

/// Bytes in one logical block (LBN).
pub const BLOCK_BYTES: u64 = 512;
