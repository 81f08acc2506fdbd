//! The distribution of one kind of time: sums and histogram, and what they come to.

mod report;

pub use report::Report;

use crate::cells::Cells;
use serde::{Deserialize, Serialize};

/// The most values that [`Distribution::record_all`] takes.
pub const MOST_AT_ONCE: usize = 256;
/// So few are recorded one by one.
const FEW: usize = 16;
/// The low half of 64 bits.
const LOW: u64 = u32::MAX as u64;

/// Exact sums, maximum and histogram of one kind of time in nanoseconds.
///
/// The caller counts the values (once for many distributions), and passes that
/// `count` in for a [`Report`]. Zeros are not recorded: their number is `count` minus the number
/// of values in the histogram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    sum: u128,
    /// Stays at `u128::MAX` once there (34,000 values of three years).
    squares: u128,
    max: u64,
    /// The values above zero.
    above_zero: Cells,
}

impl Default for Distribution {
    fn default() -> Self {
        Self::new()
    }
}

impl Distribution {
    /// Nothing recorded, and nothing allocated.
    pub fn new() -> Self {
        Self { sum: 0, squares: 0, max: 0, above_zero: Cells::new() }
    }

    /// Records one value. Allocates 8 KiB if it is the first above zero from its
    /// power of two to the next.
    #[inline]
    pub fn record(&mut self, value: u64) {
        if value == 0 {
            return;
        }
        let wide = u128::from(value);
        self.sum += wide;
        self.squares = self.squares.saturating_add(wide * wide);
        self.max = self.max.max(value);
        self.above_zero.record(value);
    }

    /// Records `values`, at most [`MOST_AT_ONCE`]: the same as one after the other.
    pub fn record_all(&mut self, values: &[u64]) {
        debug_assert!(values.len() <= MOST_AT_ONCE);
        if values.len() < FEW {
            for &value in values {
                self.record(value);
            }
            return;
        }
        let (any, all) = (values.iter()).fold((0, u64::MAX), |(any, all), v| (any | v, all & v));
        if any == 0 {
            return;
        }
        if any == all {
            return self.record_times(any, values.len() as u64);
        }
        if any < 1 << 28 {
            // The sums fit in 64 bits, and so few bits are multiplied fast. A difference
            // below zero sets the top bit.
            let (mut sum, mut squares, mut zeros, mut above) = (0, 0, 0, 0);
            for &v in values {
                sum += v;
                squares += (v & LOW) * (v & LOW);
                zeros |= v.wrapping_sub(1);
                above |= self.max.wrapping_sub(v);
            }
            self.sum += u128::from(sum);
            self.squares = self.squares.saturating_add(u128::from(squares));
            if above >> 63 == 1 {
                self.max = values.iter().fold(self.max, |max, &v| max.max(v));
            }
            if zeros >> 63 == 0 {
                return self.above_zero.record_all(values);
            }
        } else {
            for &value in values {
                let wide = u128::from(value);
                self.sum += wide;
                self.squares = self.squares.saturating_add(wide * wide);
                self.max = self.max.max(value);
            }
        }
        // Gathered without a branch that depends on the values.
        let (mut above_zero, mut count) = ([0; MOST_AT_ONCE], 0);
        for &value in values {
            above_zero[count % MOST_AT_ONCE] = value;
            count += usize::from(value > 0);
        }
        self.above_zero.record_all(&above_zero[..count]);
    }

    /// Records a value above zero some `times`.
    fn record_times(&mut self, value: u64, times: u64) {
        let (wide, count) = (u128::from(value), u128::from(times));
        self.sum += wide * count;
        let squares = (wide * wide).saturating_mul(count);
        self.squares = self.squares.saturating_add(squares);
        self.max = self.max.max(value);
        self.above_zero.add(value, times);
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
        self.max = self.max.max(other.max);
        self.above_zero.merge(&other.above_zero);
    }

    /// The sum.
    #[inline]
    pub fn sum_ns(&self) -> u128 {
        self.sum
    }

    /// What `count` values, zeros included, come to.
    pub fn report(&self, count: u64) -> Report<'_> {
        Report { values: self, count }
    }

    /// The largest value.
    #[inline]
    pub fn max_ns(&self) -> u64 {
        self.max
    }

    /// The number of values above zero.
    pub fn above_zero(&self) -> u64 {
        self.above_zero.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Distribution {
        let mut distribution = Distribution::new();
        for &value in values {
            distribution.record(value);
        }
        distribution
    }

    /// Values of every magnitude, zero included.
    fn times() -> impl Strategy<Value = Vec<u64>> {
        let time = (any::<u64>(), 0u32..=64).prop_map(|(v, s)| v.checked_shr(s).unwrap_or(0));
        prop::collection::vec(time, 1..400)
    }

    proptest! {
        #[test]
        fn percentiles_match_the_sorted_values(mut values in times()) {
            let count = values.len() as u64;
            let shares = [1, 5_000, 9_000, 9_900, 9_990, 9_999, 10_000];
            let found = of(&values).report(count).percentiles_ns(shares);
            values.sort_unstable();
            for (share, found) in shares.into_iter().zip(found) {
                // Brute force: try every value, smallest first.
                let exact = *values
                    .iter()
                    .find(|&&v| {
                        let not_above = values.iter().filter(|&&w| w <= v).count() as u64;
                        not_above * 10_000 >= share * count
                    })
                    .expect("the largest value will do");
                prop_assert!(found >= exact, "{share}: {found} < {exact}");
                prop_assert!(found - exact <= exact / 1024, "{share}: {found} > {exact}");
                prop_assert!(found <= values[values.len() - 1], "{share}: above the maximum");
            }
        }

        #[test]
        fn values_recorded_at_once_are_recorded_one_by_one(
            first: u32,
            (bits, values) in (0u32..=64, prop::collection::vec(any::<u64>(), 0..=MOST_AT_ONCE)),
            (zeros, equal) in (0u64..3, any::<bool>()),
        ) {
            let below = |v: u64| v.checked_shr(64 - bits).unwrap_or(0);
            let value = |v: u64| if equal { below(u64::MAX) } else { below(v) };
            let values: Vec<u64> = values.iter().map(|v| value(v * u64::from(v % 3 >= zeros))).collect();
            let mut at_once = of(&[u64::from(first)]);
            at_once.record_all(&values);
            let mut one_by_one = of(&[u64::from(first)]);
            values.iter().for_each(|&value| one_by_one.record(value));
            prop_assert_eq!(at_once, one_by_one);
        }

        #[test]
        fn moments_match_their_definition(
            values in prop::collection::vec(0u64..100_000_000_000, 1..300),
            offset in 0u64..1_000_000_000_000,
        ) {
            let values: Vec<u64> = values.iter().map(|v| v + offset).collect();
            let distribution = of(&values);
            let n = values.len() as f64;
            let mean = values.iter().map(|&v| v as f64).sum::<f64>() / n;
            let variance = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum::<f64>() / n;
            prop_assert!((distribution.report(values.len() as u64).mean_ns() - mean).abs() <= 1e-12 * mean);
            // The two-pass sum itself is good to the rounding of the mean.
            let error = (distribution.report(values.len() as u64).variance_ns2() - variance).abs();
            prop_assert!(error <= 1e-12 * variance + 1e-24 * mean * mean, "{error} of {variance}");
            prop_assert_eq!(distribution.max_ns(), *values.iter().max().unwrap());
        }
    }

    #[test]
    fn equal_values_have_no_variance_however_large() {
        let value = 86_400_000_000_001;
        assert_eq!(of(&[value; 999]).report(999).variance_ns2(), 0.0);
        // Two values one nanosecond apart: 1/4, where f64 squares see nothing.
        assert_eq!(of(&[value, value + 1]).report(2).variance_ns2(), 0.25);
    }

    #[test]
    fn the_largest_time_can_be_recorded() {
        for largest in [u64::MAX - 1, u64::MAX] {
            let mut most = of(&[largest; 3]);
            assert_eq!(most.report(3).percentiles_ns([5_000]), [largest]);
            assert!(most.report(3).variance_ns2().is_nan(), "squares are out of range");
            most.merge(&of(&[1, 2]));
            assert_eq!(most.report(5).percentiles_ns([4_000, 4_001]), [2, largest]);
            assert!(most.report(5).variance_ns2().is_nan());
            let mut few = of(&[1, 2]);
            few.merge(&of(&[largest; 3]));
            assert_eq!(few, most);
        }
    }

    #[test]
    fn zeros_count_in_mean_and_percentiles() {
        let half = of(&[0, 7, 0, 9]);
        assert_eq!(half.report(4).mean_ns(), 4.0);
        assert_eq!(half.report(4).percentiles_ns([5_000, 5_001, 7_501]), [0, 7, 9]);
        assert!(of(&[]).report(0).mean_ns().is_nan());
        assert_eq!(of(&[]).report(0).percentiles_ns([9_999]), [0]);
    }
}
