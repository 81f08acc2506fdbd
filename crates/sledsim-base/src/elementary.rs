//! Elementary functions without branches, bit for bit those of `libm`: calls one after
//! the other overlap in the processor, and loops over them become vector code.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

/// The argument of [`arctangent`] is reduced to (a x + b) / (c x + d), whose arctangent is
/// less by atan(0), atan(1/2), atan(1), atan(3/2) or atan(infinity): a, b, c, d, and that
/// arctangent with its rounding error, by FDLIBM's s_atan.c (Sun Microsystems, 1993).
const REDUCED: [[f64; 6]; 5] = [
    [1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    [2.0, -1.0, 1.0, 2.0, 4.636_476_090_008_061e-1, 2.269_877_745_296_168_7e-17],
    [1.0, -1.0, 1.0, 1.0, FRAC_PI_4, 3.061_616_997_868_383e-17],
    [1.0, -1.5, 1.5, 1.0, 9.827_937_232_473_29e-1, 1.390_331_103_123_099_8e-17],
    [0.0, -1.0, 1.0, 0.0, FRAC_PI_2, 6.123_233_995_736_766e-17],
];
/// Where the second to the fifth of them begin.
const BOUNDS: [f64; 4] = [0.4375, 0.6875, 1.1875, 2.4375];

/// Coefficients of the odd polynomial of the arctangent, by the same source.
const ATAN: [f64; 11] = [
    3.333_333_333_333_293e-1,
    -1.999_999_999_987_648_3e-1,
    1.428_571_427_250_346_6e-1,
    -1.111_111_040_546_235_6e-1,
    9.090_887_133_436_507e-2,
    -7.691_876_205_044_83e-2,
    6.661_073_137_387_531e-2,
    -5.833_570_133_790_573_5e-2,
    4.976_877_994_615_932_4e-2,
    -3.653_157_274_421_691_6e-2,
    1.628_582_011_536_578_2e-2,
];

/// The arctangent of `x`, from 0 to 2^66: what `libm::atan` returns.
#[inline]
pub fn arctangent(x: f64) -> f64 {
    let range: usize = BOUNDS.map(|bound| usize::from(x >= bound)).iter().sum();
    let [a, b, c, d, high, low] = REDUCED[range];
    reduced((a * x + b) / (c * x + d), high, low)
}

/// The arctangent of `t`, at most 7/16 in size, plus `high` and `low`.
#[inline(always)]
fn reduced(t: f64, high: f64, low: f64) -> f64 {
    let z = t * t;
    let w = z * z;
    let odd = z
        * (ATAN[0] + w * (ATAN[2] + w * (ATAN[4] + w * (ATAN[6] + w * (ATAN[8] + w * ATAN[10])))));
    let even = w * (ATAN[1] + w * (ATAN[3] + w * (ATAN[5] + w * (ATAN[7] + w * ATAN[9]))));
    high - ((t * (odd + even) - low) - t)
}

/// Replaces each of `values`, from 0 to 2^66, by its [`arctangent`]. The range of each is
/// found by comparisons instead of a table, as vectors are.
pub fn arctangents(values: &mut [f64]) {
    for value in values {
        let x = *value;
        let [mut a, mut b, mut c, mut d, mut high, mut low] = REDUCED[0];
        for (bound, next) in BOUNDS.iter().zip(&REDUCED[1..]) {
            let is_above = x >= *bound;
            let pick = |now, next| if is_above { next } else { now };
            [a, b, c] = [pick(a, next[0]), pick(b, next[1]), pick(c, next[2])];
            [d, high, low] = [pick(d, next[3]), pick(high, next[4]), pick(low, next[5])];
        }
        *value = reduced((a * x + b) / (c * x + d), high, low);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_arctangent_is_that_of_libm_around_each_bound() {
        for bound in [0.0, 2.0_f64.powi(-28), 0.4375, 0.6875, 1.1875, 2.4375, 2.0_f64.powi(66)] {
            let first = bound.to_bits().saturating_sub(1000);
            for bits in first..first + 2000 {
                let x = f64::from_bits(bits);
                if x < 2.0_f64.powi(66) {
                    assert_eq!(arctangent(x).to_bits(), libm::atan(x).to_bits(), "{x:e}");
                    let mut all = [0.1, x, 9.0];
                    arctangents(&mut all);
                    assert_eq!(all[1].to_bits(), libm::atan(x).to_bits(), "{x:e}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200_000))]
        #[test]
        fn the_arctangent_is_that_of_libm(x in 0.0..4.0, scale in -60..60_i32) {
            for x in [x, x * 2.0_f64.powi(scale)] {
                let mut all = [x; 5];
                arctangents(&mut all);
                for result in all.into_iter().chain([arctangent(x)]) {
                    prop_assert_eq!(result.to_bits(), libm::atan(x).to_bits(), "{:e}", x);
                }
            }
        }
    }
}
