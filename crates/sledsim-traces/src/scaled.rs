//! Numbers times the factor of their unit, rounded once.

use crate::number;

/// A number such as `12`, `12.5`, `1.25e3` or `0x1f`, times `factor`, rounded
/// half up, and whether the product was whole. `None` for other text and on
/// overflow.
#[inline]
pub fn scaled(text: &[u8], factor: u64) -> Option<(u64, bool)> {
    match number::whole_product(text, factor) {
        Some(value) => Some((value, true)),
        None => scaled_slowly(text, factor),
    }
}

fn scaled_slowly(text: &[u8], factor: u64) -> Option<(u64, bool)> {
    /// Digits beyond this value only decide whether the number is exact.
    const ENOUGH: u128 = 10_u128.pow(25);
    if let [b'0', b'x' | b'X', digits @ ..] = text {
        let value = number::hexadecimal(digits)?.checked_mul(factor)?;
        return (!digits.starts_with(b"0x")).then_some((value, true));
    }
    let at = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let (digits, exponent) = text.split_at(at.unwrap_or(text.len()));
    let mut power = match exponent {
        [] => 0_i64,
        [_, b'-', digits @ ..] => -power_of(digits)?,
        [_, b'+', digits @ ..] | [_, digits @ ..] => power_of(digits)?,
    };
    let (mut value, mut point, mut any, mut left_over) = (0_u128, false, false, false);
    for &byte in digits {
        if byte == b'.' && !point {
            point = true;
            continue;
        }
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        any = true;
        if value < ENOUGH {
            value = value * 10 + u128::from(digit);
            power -= i64::from(point);
        } else {
            left_over |= digit > 0;
            power += i64::from(!point);
        }
    }
    if !any {
        return None;
    }
    let mut value = value.checked_mul(u128::from(factor))?;
    if value == 0 {
        return Some((0, !left_over));
    }
    for _ in 0..power.clamp(0, 40) {
        value = value.checked_mul(10)?;
    }
    if power >= 0 {
        return Some((u64::try_from(value).ok()?, !left_over));
    }
    let Some(divisor) = 10_u128.checked_pow(u32::try_from(-power).ok()?) else {
        return Some((0, false));
    };
    let (whole, rest) = (value / divisor, value % divisor);
    let rounded = whole + u128::from(rest >= divisor - rest && rest > 0);
    Some((u64::try_from(rounded).ok()?, rest == 0 && !left_over))
}

/// An exponent, limited to 10000.
fn power_of(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = number::integer(digits).unwrap_or(u64::MAX);
    Some(value.min(10_000) as i64)
}

/// [`scaled`] for a binary number.
#[inline]
pub fn scaled_float(value: f64, factor: u64) -> Option<(u64, bool)> {
    if !value.is_finite() || value.is_sign_negative() && value != 0.0 {
        return None;
    }
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    // value = mantissa * 2^power, exactly
    let (mantissa, power) = match exponent {
        0 => (fraction, -1_074),
        _ => (fraction | 1 << 52, exponent - 1_075),
    };
    let product = u128::from(mantissa) * u128::from(factor);
    if product == 0 {
        return Some((0, true));
    }
    if power >= 0 {
        let shifted = product.checked_shl(power.unsigned_abs())?;
        let kept = shifted >> power == product;
        return kept.then(|| u64::try_from(shifted).ok()).flatten().map(|value| (value, true));
    }
    let places = power.unsigned_abs();
    if places > 127 {
        return Some((0, false));
    }
    let (whole, rest) = (product >> places, product & ((1 << places) - 1));
    let rounded = whole + (rest >> (places - 1));
    Some((u64::try_from(rounded).ok()?, rest == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_scaled_exactly() {
        for (text, factor, expected) in [
            ("0", 512, Some((0, true))),
            ("12", 512, Some((6_144, true))),
            ("0.5", 1_024, Some((512, true))),
            ("4096.0", 1, Some((4_096, true))),
            ("1.5", 1, Some((2, false))),
            ("1.4999999999999999999999999999999999", 1, Some((1, false))),
            ("1577808000.000626123456789", 1_000_000_000, Some((1_577_808_000_000_626_123, false))),
            ("1.28166372003061629e17", 100, Some((12_816_637_200_306_162_900, true))),
            ("1E+3", 1, Some((1_000, true))),
            ("25e-1", 2, Some((5, true))),
            ("0e999999999999999999999", 1, Some((0, true))),
            ("1e-400", 1, Some((0, false))),
            ("1e400", 1, None),
            ("1e99999999999999999999", 1, None),
            ("18446744073709551615", 1, Some((u64::MAX, true))),
            ("18446744073709551616", 1, None),
            ("9223372036854775808", 2, None),
            ("100000000000000000000000000000000000000000e-40", 1, Some((10, true))),
            ("0x2c1A0e0000", 1, Some((0x2c_1a0e_0000, true))),
            ("0X10", 512, Some((8192, true))),
            ("0x10000000000000000", 1, None),
            (".5", 2, Some((1, true))),
            ("5.", 2, Some((10, true))),
        ] {
            assert_eq!(scaled(text.as_bytes(), factor), expected, "{text}");
        }
        for text in [
            "", ".", "-1", "+1", "1.2.3", "nan", "inf", "e5", "1e", "1e+", "1e-+1", "0x", "0x0x1",
            "0x1.5", "1 2", "\0",
        ] {
            assert_eq!(scaled(text.as_bytes(), 1), None, "{text}");
        }
    }

    #[test]
    fn binary_numbers_are_scaled_with_one_rounding() {
        for (value, factor, expected) in [
            (0.0, 1, Some((0, true))),
            (-0.0, 1, Some((0, true))),
            (1.5, 2, Some((3, true))),
            (0.5, 1, Some((1, false))),
            (0.1, 10, Some((1, false))), // 0.1 is 0.1000000000000000055...
            (1e300, 1, None),
            (-1.0, 1, None),
            (f64::NAN, 1, None),
            (f64::INFINITY, 1, None),
            (f64::MIN_POSITIVE, 1 << 50, Some((0, false))),
            (5e-324, 1, Some((0, false))),
            (9_007_199_254_740_992.0, 2, Some((18_014_398_509_481_984, true))),
            (18_446_744_073_709_551_616.0, 1, None),
            // 1464.1 = 1464.09999999999990905052982270717620849609375
            (1_464.1, 1_000_000_000, Some((1_464_100_000_000, false))),
            // 1e9 + 0.3 is stored as 1000000000.2999999523162841796875
            (1_000_000_000.3, 1_000_000_000, Some((1_000_000_000_299_999_952, false))),
        ] {
            assert_eq!(scaled_float(value, factor), expected, "{value}");
        }
    }
}
