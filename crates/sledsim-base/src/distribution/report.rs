//! What the values of a distribution come to: moments, percentiles, distribution function.

use super::Distribution;

/// Figures of a [`Distribution`] of a known number of values.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    pub(super) values: &'a Distribution,
    pub(super) count: u64,
}

impl Report<'_> {
    /// The mean, not a number if there are none.
    #[inline]
    pub fn mean_ns(&self) -> f64 {
        self.values.sum as f64 / self.count as f64
    }

    /// The population variance, not a number if there are none
    /// or their squares went out of range.
    pub fn variance_ns2(&self) -> f64 {
        if self.count == 0 || self.values.squares == u128::MAX {
            return f64::NAN;
        }
        // Exact sum of squared distances from the integer part of the mean,
        // then the shift by its fraction: nothing large cancels in f64.
        let mean = self.values.sum / u128::from(self.count);
        let rest = self.values.sum % u128::from(self.count);
        let distances = self.values.squares - mean * self.values.sum - mean * rest;
        let fraction = rest as f64 / self.count as f64;
        (distances as f64 / self.count as f64 - fraction * fraction).max(0.0)
    }

    /// The cumulative distribution: values in milliseconds (upper edges of the
    /// cells), ascending, each with the share of the values at or below it.
    pub fn cdf_ms(&self) -> Vec<(f64, f64)> {
        let mut seen = self.count - self.values.above_zero.values();
        let zeros = (seen > 0).then_some((0.0, seen as f64 / self.count as f64));
        let above = self.values.above_zero.iter().map(|(highest, values)| {
            seen += values;
            let value = highest.min(self.values.max);
            (value as f64 / 1e6, seen as f64 / self.count as f64)
        });
        zeros.into_iter().chain(above).collect()
    }

    /// For each share, given in ten-thousandths and ascending, the smallest
    /// value that at least this share of the values does not exceed.
    /// It is the upper edge of its cell, so up to 1/1024 too high.
    pub fn percentiles_ns<const N: usize>(&self, shares: [u64; N]) -> [u64; N] {
        let mut cells = self.values.above_zero.iter();
        let mut seen = self.count - self.values.above_zero.values();
        let mut value = 0;
        shares.map(|share| {
            let rank = (u128::from(self.count) * u128::from(share)).div_ceil(10_000);
            while u128::from(seen) < rank {
                let Some((highest, values)) = cells.next() else {
                    break;
                };
                seen += values;
                value = highest.min(self.values.max);
            }
            value
        })
    }
}
