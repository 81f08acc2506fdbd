//! Division by a number that does not change: a multiplication is faster.

/// A divisor of at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    by: u32,
    /// 2^64 / `by`, rounded up; 0 for a divisor of 1.
    inverse: u64,
}

impl Divisor {
    /// Divides by `by`, which is at least 1.
    ///
    /// # Panics
    /// `by` is 0.
    pub fn new(by: u32) -> Self {
        let inverse = (u64::MAX / u64::from(by)).wrapping_add(1);
        Self { by, inverse }
    }

    /// The divisor.
    #[inline]
    pub fn by(self) -> u32 {
        self.by
    }

    /// Quotient and remainder.
    ///
    /// For a value below 2^32 the error of the product, below `by` times 2^-32, does not
    /// reach the next whole number (Granlund and Montgomery, PLDI 1994).
    #[inline]
    pub fn divide(self, value: u64) -> (u64, u32) {
        let quotient = match u32::try_from(value) {
            Ok(_) if self.inverse != 0 => {
                ((u128::from(self.inverse) * u128::from(value)) >> 64) as u64
            }
            _ => value / u64::from(self.by),
        };
        (quotient, (value - quotient * u64::from(self.by)) as u32)
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
        for by in [1, 2, 3, 7, 20, 27, 641, 65_535, 65_536, 65_537, u32::MAX - 1, u32::MAX] {
            for quotient in [0, 1, 2, u64::from(u32::MAX / by), u64::from(u32::MAX), 1 << 40] {
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
    proptest! {
        #[test]
        fn divisors_divide(
            by in prop_oneof![1..5000_u32, 1..=u32::MAX],
            number in prop_oneof![any::<u64>(), 0..1_u64 << 32, 0..1_000_000_u64],
            near in 0..3_u64,
        ) {
            let wide = u64::from(by);
            for number in [number, (number / wide * wide).saturating_add(near).saturating_sub(1)] {
                prop_assert_eq!(Divisor::new(by).divide(number), (number / wide, (number % wide) as u32));
            }
        }
    }
}
