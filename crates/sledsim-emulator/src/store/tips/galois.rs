//! The field of 256 elements, in which the words of blocks are computed.

/// The primitive polynomial x^8 + x^4 + x^3 + x^2 + 1, without its highest term.
const POLYNOMIAL: u8 = 0x1d;

/// Powers of x, twice over, and their inverse.
const TABLES: ([u8; 512], [u8; 256]) = {
    let (mut powers, mut logs) = ([0; 512], [0; 256]);
    let (mut power, mut index) = (1u8, 0);
    while index < 255 {
        powers[index] = power;
        powers[index + 255] = power;
        logs[power as usize] = index as u8;
        power = (power << 1) ^ (POLYNOMIAL * (power >> 7));
        index += 1;
    }
    (powers, logs)
};

/// The product.
#[inline]
pub(super) fn multiply(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        return 0;
    }
    let (powers, logs) = (&TABLES.0, &TABLES.1);
    powers[usize::from(logs[a as usize]) + usize::from(logs[b as usize])]
}

/// The inverse of a number other than 0.
#[inline]
pub(super) fn inverse(a: u8) -> u8 {
    TABLES.0[255 - usize::from(TABLES.1[a as usize])]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long multiplication of polynomials over two elements, then the remainder.
    fn by_hand(a: u8, b: u8) -> u8 {
        let mut product = 0u16;
        for bit in 0..8 {
            if b >> bit & 1 == 1 {
                product ^= u16::from(a) << bit;
            }
        }
        for bit in (8..16).rev() {
            if product >> bit & 1 == 1 {
                product ^= 0x11d << (bit - 8);
            }
        }
        product as u8
    }

    #[test]
    fn products_and_inverses_equal_those_by_hand() {
        for a in 0..=255 {
            for b in 0..=255 {
                assert_eq!(multiply(a, b), by_hand(a, b), "{a} {b}");
            }
            assert!(a == 0 || by_hand(a, inverse(a)) == 1, "{a}");
        }
    }
}
