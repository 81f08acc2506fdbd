//! Numbers as bytes: seven bits a byte, the lowest first; all but the last byte of
//! a number have the highest bit.

/// The most bytes of a number.
const MOST_BYTES: u32 = u128::BITS.div_ceil(7);

/// Appends a number.
pub fn put(bytes: &mut Vec<u8>, number: impl Into<u128>) {
    let mut rest = number.into();
    while rest > 0x7f {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Takes a number off the front; `None` if the bytes end before it does, or if it
/// is too large.
pub fn take<T: TryFrom<u128>>(bytes: &mut &[u8]) -> Option<T> {
    let mut number = 0_u128;
    for index in 0..MOST_BYTES {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u128::from(byte & 0x7f) << (7 * index);
        if bits >> (7 * index) != u128::from(byte & 0x7f) {
            return None;
        }
        number |= bits;
        if byte < 0x80 {
            return T::try_from(number).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_they_were() {
        let mut numbers = vec![u128::MAX, u128::from(u64::MAX)];
        for shift in 0..u128::BITS {
            numbers.extend([(1 << shift) - 1, 1 << shift]);
        }
        let mut bytes = Vec::new();
        for &number in &numbers {
            put(&mut bytes, number);
        }
        let mut rest = &*bytes;
        for &number in &numbers {
            assert_eq!(take(&mut rest), Some(number));
        }
        assert_eq!(take::<u128>(&mut rest), None);
    }

    #[test]
    fn a_number_that_is_too_large_is_none() {
        let mut bytes = Vec::new();
        put(&mut bytes, 256_u128);
        assert_eq!(take::<u8>(&mut &*bytes), None);
        assert_eq!(take::<u16>(&mut &*bytes), Some(256));
        let endless = [0xff; 40];
        assert_eq!(take::<u128>(&mut &endless[..]), None);
        let mut beyond = [0x80; 19];
        beyond[18] = 0x04;
        assert_eq!(take::<u128>(&mut &beyond[..]), None);
        beyond[18] = 0x02;
        assert_eq!(take::<u128>(&mut &beyond[..]), Some(1 << 127));
    }
}
