//! Numbers in text, read by hand: exact, strict and fast.

/// Decimal digits as an integer; `None` if there is anything else, or too
/// much.
#[inline]
pub fn integer(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut value = 0_u64;
    for &byte in text {
        value = push(value, byte)?;
    }
    Some(value)
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

/// A decimal number such as `12.5`, times 10^`places`, rounded half up. The
/// digits are taken as they are: no binary fraction comes in between.
#[inline]
pub fn decimal(text: &[u8], places: usize) -> Option<u64> {
    let mut value = 0_u64;
    let mut rest = text.iter();
    let mut digits = 0;
    for &byte in rest.by_ref() {
        if byte == b'.' {
            break;
        }
        value = push(value, byte)?;
        digits += 1;
    }
    let mut taken = 0;
    let mut round_up = false;
    for &byte in rest {
        digits += 1;
        if taken < places {
            value = push(value, byte)?;
        } else {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            round_up |= taken == places && digit >= 5;
        }
        taken += 1;
    }
    for _ in taken..places {
        value = value.checked_mul(10)?;
    }
    if digits == 0 {
        return None;
    }
    value.checked_add(u64::from(round_up))
}

#[inline]
fn push(value: u64, byte: u8) -> Option<u64> {
    let digit = byte.wrapping_sub(b'0');
    if digit > 9 {
        return None;
    }
    value.checked_mul(10)?.checked_add(u64::from(digit))
}
