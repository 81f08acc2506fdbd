//! Parses numbers in text: exact, strict and fast.

use super::eights::EACH;

/// This many decimal digits always fit into 64 bits.
const SAFE_DIGITS: usize = 19;

/// Decimal digits as an integer; `None` for other text and on overflow.
#[inline]
pub fn integer(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    if text.len() <= SAFE_DIGITS {
        let (value, rest) = leading_digits(0, text);
        return rest.is_empty().then_some(value);
    }
    text.iter().try_fold(0, |value, &byte| push(value, byte))
}

/// Hexadecimal digits, with or without `0x`.
#[inline]
pub fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let mut value = 0;
    for &byte in digits {
        value = value << 4 | u64::from(char::from(byte).to_digit(16)?);
    }
    Some(value)
}

/// A decimal number such as `12` or `12.5`, times `factor`, if it has at most 19 digits and
/// the product is whole; `None` for all others, valid or not.
#[inline]
pub fn whole_product(text: &[u8], factor: u64) -> Option<u64> {
    if text.len() > SAFE_DIGITS + 1 {
        return None;
    }
    let (whole, rest) = leading_digits(0, text);
    let [b'.', fraction @ ..] = rest else {
        let fits = rest.is_empty() && !text.is_empty() && text.len() <= SAFE_DIGITS;
        return if fits { whole.checked_mul(factor) } else { None };
    };
    let (value, rest) = leading_digits(whole, fraction);
    if !rest.is_empty() || text.len() == 1 {
        return None;
    }
    let one = TEN_TO[fraction.len()];
    if !factor.is_multiple_of(one) {
        return None;
    }
    value.checked_mul(factor / one)
}

const TEN_TO: [u64; SAFE_DIGITS + 1] = {
    let mut powers = [1; SAFE_DIGITS + 1];
    let mut place = 1;
    while place < powers.len() {
        powers[place] = 10 * powers[place - 1];
        place += 1;
    }
    powers
};

/// Appends the digits at the front of `text` to those of `value`, wrong on overflow; returns
/// the rest, too.
#[inline]
fn leading_digits(mut value: u64, mut text: &[u8]) -> (u64, &[u8]) {
    while let [byte @ b'0'..=b'9', rest @ ..] = text {
        value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        text = rest;
    }
    (value, text)
}

#[inline]
fn push(value: u64, byte: u8) -> Option<u64> {
    let digit = byte.wrapping_sub(b'0');
    if digit > 9 {
        return None;
    }
    value.checked_mul(10)?.checked_add(u64::from(digit))
}

/// Parses numbers separated by blanks (spaces and tabs) in one pass: twice as
/// fast as splitting first.
///
/// It parses usual lines and returns `None` for all others, valid or not; the
/// caller then parses the line word by word.
pub struct Quick<'a>(&'a [u8]);

impl<'a> Quick<'a> {
    /// The numbers of `line`.
    #[inline]
    pub fn new(line: &'a [u8]) -> Self {
        Self(line)
    }

    /// As [`integer`].
    #[inline(always)] // hot: several a line
    pub fn integer(&mut self) -> Option<u64> {
        self.skip_blanks();
        let (value, digits) = self.digits();
        let ends = is_blank_or_end(self.0.first());
        (digits > 0 && digits <= SAFE_DIGITS && ends).then_some(value)
    }

    /// A decimal number such as `12.5`, times 10^`places`.
    #[inline]
    pub fn decimal(&mut self, places: usize) -> Option<u64> {
        self.skip_blanks();
        let (value, digits) = self.digits();
        let (mut fraction, mut decimals) = (0, 0);
        if let [b'.', rest @ ..] = self.0 {
            self.0 = rest;
            (fraction, decimals) = self.digits();
        }
        let fits = digits > 0 && digits + places <= SAFE_DIGITS && decimals <= places;
        (fits && is_blank_or_end(self.0.first()))
            .then(|| value * TEN_TO[places] + fraction * TEN_TO[places - decimals])
    }

    /// The next word; `None` for the last one.
    #[inline]
    pub fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let end = (self.0.iter()).position(|byte| is_blank_or_end(Some(byte)))?;
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(word)
    }

    /// Whether only blanks are left.
    #[inline]
    pub fn is_done(&mut self) -> bool {
        self.skip_blanks();
        self.0.is_empty()
    }

    /// The rest of the line, trimmed.
    #[inline]
    pub fn rest(self) -> &'a [u8] {
        self.0.trim_ascii()
    }

    #[inline]
    fn skip_blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.0 {
            self.0 = rest;
        }
    }

    /// Takes the digits at the front: returns their value (wrong on overflow) and their
    /// number.
    #[inline]
    fn digits(&mut self) -> (u64, usize) {
        let (before, mut value) = (self.0.len(), 0_u64);
        while let Some(bytes) = self.0.first_chunk() {
            let (more, count) = first_digits(u64::from_le_bytes(*bytes));
            value = value.wrapping_mul(TEN_TO[count]).wrapping_add(more);
            self.0 = &self.0[count..];
            if count < 8 {
                return (value, before - self.0.len());
            }
        }
        (value, self.0) = leading_digits(value, self.0);
        (value, before - self.0.len())
    }
}

/// The value of the digits at the start of eight bytes, the first one lowest, and their
/// number. Without a branch on it: the lengths of numbers are hard to predict.
#[inline]
fn first_digits(bytes: u64) -> (u64, usize) {
    let digits = bytes ^ (EACH * 0x30);
    // The top bit of what is above 9, right up to the first such byte.
    let others = (digits.wrapping_add(EACH * 0x76) | digits) & (EACH * 0x80);
    let count = others.trailing_zeros() as usize / 8;
    // Zeros come in front; then neighbours are joined to numbers of 2, 4 and 8 digits.
    let digits = digits.checked_shl(64 - 8 * count as u32).unwrap_or(0);
    let pairs = (digits.wrapping_mul(10) + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let value = (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff;
    (value, count)
}

#[inline]
fn is_blank_or_end(byte: Option<&u8>) -> bool {
    matches!(byte, None | Some(b' ' | b'\t'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Lines that the quick way reads are read as word by word.
        #[test]
        fn quick_numbers_are_those_of_their_words(
            words in prop::collection::vec("[0-9]{0,21}|[0-9]{0,13}\\.[0-9]{0,8}|[0-9]{1,9}[!/:x]", 1..6),
            blanks in prop::collection::vec("[ \t]{1,9}", 6),
        ) {
            let line: String = (words.iter().zip(&blanks))
                .map(|(word, blank)| format!("{word}{blank}"))
                .collect();
            for line in [line.as_str(), line.trim_end(), &format!("{}\u{ff}", line.trim_end())] {
                let (mut whole, mut parts) = (Quick::new(line.as_bytes()), Quick::new(line.as_bytes()));
                for word in line.split([' ', '\t']).filter(|word| !word.is_empty()) {
                    match (whole.integer(), integer(word.as_bytes())) {
                        (Some(found), expected) => prop_assert_eq!(Some(found), expected),
                        (None, Some(_)) => prop_assert!(word.len() > SAFE_DIGITS),
                        (None, None) => break,
                    }
                }
                for word in line.split([' ', '\t']).filter(|word| !word.is_empty()) {
                    let Some(found) = parts.decimal(6) else {
                        break;
                    };
                    let whole = || integer(word.as_bytes())?.checked_mul(1_000_000);
                    let expected = whole().or_else(|| whole_product(word.as_bytes(), 1_000_000));
                    prop_assert_eq!(Some(found), expected, "{}", word);
                }
            }
        }
    }
}
