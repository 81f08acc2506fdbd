//! Parses numbers in text: exact, strict and fast.

/// This many decimal digits always fit into 64 bits.
const SAFE_DIGITS: usize = 19;

/// Decimal digits as an integer; `None` for other text and on overflow.
#[inline]
pub fn integer(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    if text.len() <= SAFE_DIGITS {
        return append(0, text);
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

/// A decimal number such as `12.5`, times 10^`places` (at most 19), rounded
/// half up. The arithmetic is decimal: there is no binary rounding.
#[inline]
pub fn decimal(text: &[u8], places: usize) -> Option<u64> {
    let point = text.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = match point {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &[][..]),
    };
    if whole.len() + fraction.len() == 0 {
        return None;
    }
    let (kept, rest) = fraction.split_at(fraction.len().min(places));
    let value = if whole.len() + places <= SAFE_DIGITS {
        append(append(0, whole)?, kept)? * TEN_TO[places - kept.len()]
    } else {
        let mut digits = whole.iter().chain(kept);
        let value = digits.try_fold(0, |value, &byte| push(value, byte))?;
        value.checked_mul(TEN_TO[places - kept.len()])?
    };
    if rest.is_empty() {
        return Some(value);
    }
    if !rest.iter().all(u8::is_ascii_digit) {
        return None;
    }
    value.checked_add(u64::from(rest[0] >= b'5'))
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

/// Appends digits to those of `value`; the caller ensures that they fit.
#[inline]
fn append(mut value: u64, digits: &[u8]) -> Option<u64> {
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some(value)
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
pub struct Quick<'a>(std::slice::Iter<'a, u8>);

impl<'a> Quick<'a> {
    /// The numbers of `line`.
    #[inline]
    pub fn new(line: &'a [u8]) -> Self {
        Self(line.iter())
    }

    /// As [`integer`].
    #[inline]
    pub fn integer(&mut self) -> Option<u64> {
        let (value, digits, end) = self.digits()?;
        (digits > 0 && digits <= SAFE_DIGITS && is_blank_or_end(end)).then_some(value)
    }

    /// As [`decimal`].
    #[inline]
    pub fn decimal(&mut self, places: usize) -> Option<u64> {
        let (value, digits, end) = self.digits()?;
        let (value, decimals, end) = match end {
            Some(b'.') => self.more_digits(value),
            end => (value, 0, end),
        };
        let fits = digits > 0 && digits + places <= SAFE_DIGITS && decimals <= places;
        (fits && is_blank_or_end(end)).then(|| value * TEN_TO[places - decimals])
    }

    /// The rest of the line, trimmed.
    #[inline]
    pub fn rest(self) -> &'a [u8] {
        self.0.as_slice().trim_ascii()
    }

    /// Skips blanks and parses digits: returns their value (wrong on overflow),
    /// their number, and the byte after them.
    #[inline]
    fn digits(&mut self) -> Option<(u64, usize, Option<u8>)> {
        let mut byte = *self.0.next()?;
        while is_blank_or_end(Some(byte)) {
            byte = *self.0.next()?;
        }
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        let (value, digits, end) = self.more_digits(u64::from(digit));
        Some((value, digits + 1, end))
    }

    #[inline]
    fn more_digits(&mut self, mut value: u64) -> (u64, usize, Option<u8>) {
        let before = self.0.len();
        for &byte in self.0.by_ref() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return (value, before - self.0.len() - 1, Some(byte));
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        }
        (value, before, None)
    }
}

#[inline]
fn is_blank_or_end(byte: Option<u8>) -> bool {
    matches!(byte, None | Some(b' ' | b'\t'))
}
