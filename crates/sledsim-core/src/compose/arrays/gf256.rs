//! Arithmetic in GF(2^8) on the bytes of a token.
//!
//! The field, polynomial 0x11d with the generator 2, is the one of H. P. Anvin,
//! "The mathematics of RAID-6", section 1, and of Linux md. A sum is the exclusive
//! or.

/// Twice each byte.
fn double(token: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    ((token & !(LOW << 7)) << 1) ^ ((token >> 7 & LOW) * 0x1d)
}

/// Each byte times `factor`.
pub(super) fn times(token: u64, factor: u8) -> u64 {
    let bits = (0..8).rev().map(|bit| factor >> bit & 1);
    bits.fold(0, |product, bit| double(product) ^ (token * u64::from(bit)))
}

/// The generator to the power of `exponent`.
pub(super) fn power(exponent: u64) -> u8 {
    (0..exponent).fold(1, |power, _| double(power)) as u8
}

/// The reciprocal of `factor`, which is not 0: its 254th power, as the 255th is 1.
pub(super) fn inverse(factor: u8) -> u8 {
    (0..254).fold(1, |power, _| times(power, factor)) as u8
}
