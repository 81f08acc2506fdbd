//! The location of a block, faster: [`Geometry::locate`] without divisions.

use super::geometry::{Geometry, Location};

/// A divisor that never changes: a multiplication is faster than a division.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Divisor {
    by: u32,
    /// 2^64 / `by`, rounded up; 0 for a divisor of 1.
    inverse: u64,
}

impl Divisor {
    fn new(by: u32) -> Self {
        let inverse = (u64::MAX / u64::from(by)).wrapping_add(1);
        Self { by, inverse }
    }

    /// Quotient and remainder.
    ///
    /// For a value below 2^32 the error of the product, below `by` times 2^-32, does not
    /// reach the next whole number (Granlund and Montgomery, PLDI 1994).
    #[inline]
    fn divide(self, value: u64) -> (u64, u32) {
        let quotient = match u32::try_from(value) {
            Ok(_) if self.inverse != 0 => {
                ((u128::from(self.inverse) * u128::from(value)) >> 64) as u64
            }
            _ => value / u64::from(self.by),
        };
        (quotient, (value - quotient * u64::from(self.by)) as u32)
    }
}

/// Locates blocks of a geometry.
#[derive(Clone, Debug)]
pub struct Locator {
    blocks_per_row: Divisor,
    rows: Divisor,
    tracks: Divisor,
}

impl Locator {
    /// Of `geometry`.
    #[must_use]
    pub fn new(geometry: &Geometry) -> Self {
        Self {
            blocks_per_row: Divisor::new(geometry.blocks_per_row),
            rows: Divisor::new(geometry.rows),
            tracks: Divisor::new(geometry.tracks),
        }
    }

    /// As [`Geometry::locate`] of the same `geometry`.
    #[must_use]
    #[inline(always)] // hot: once a request
    pub fn locate(&self, geometry: &Geometry, lbn: u64) -> Location {
        let (row, cell) = self.blocks_per_row.divide(lbn);
        let (track, row) = self.rows.divide(row);
        let row = geometry.map.flip(track, row, self.rows.by);
        let (cylinder, track) = self.tracks.divide(track);
        Location {
            cylinder: cylinder as u32,
            track,
            row,
            cell,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(value: u64, by: u32) {
        let expected = (value / u64::from(by), (value % u64::from(by)) as u32);
        assert_eq!(Divisor::new(by).divide(value), expected, "{value} / {by}");
    }

    #[test]
    fn quotients_around_every_multiple_of_extreme_divisors_are_exact() {
        for by in [
            1,
            2,
            3,
            7,
            20,
            27,
            641,
            65_535,
            65_536,
            65_537,
            u32::MAX - 1,
            u32::MAX,
        ] {
            for quotient in [
                0,
                1,
                2,
                u64::from(u32::MAX / by),
                u64::from(u32::MAX),
                1 << 40,
            ] {
                let multiple = quotient * u64::from(by);
                for value in [multiple.saturating_sub(1), multiple, multiple + 1] {
                    check(value, by);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn quotients_are_exact(value: u64, shift in 0..64_u32, by in 1..=u32::MAX, less in 0..32_u32) {
            check(value >> shift, (by >> less).max(1));
        }
    }
}
