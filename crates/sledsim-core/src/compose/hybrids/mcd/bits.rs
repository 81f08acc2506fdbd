//! Bits of blocks: which of a segment are valid.

/// Whether all of `from..from + blocks` are set in `bits`.
#[inline]
pub(super) fn is_valid(bits: &[u64], from: u32, blocks: u32) -> bool {
    masks(from, blocks).all(|(word, mask)| bits[word] & mask == mask)
}

/// The words and masks of `from..from + blocks`.
#[inline]
pub(super) fn masks(from: u32, blocks: u32) -> impl Iterator<Item = (usize, u64)> {
    let end = from + blocks;
    let mut at = from;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let word = at / 64;
        let stop = end.min((word + 1) * 64);
        let ones = u64::MAX >> (64 - (stop - at));
        let mask = ones << (at % 64);
        at = stop;
        Some((word as usize, mask))
    })
}

/// The runs of bits equal to `value` among the first `blocks`: first and
/// length.
pub(super) fn runs(bits: &[u64], blocks: u32, value: bool) -> impl Iterator<Item = (u32, u32)> {
    let inverted = if value { 0 } else { u64::MAX };
    let mut at = 0;
    std::iter::from_fn(move || {
        let first = first_one(bits, inverted, at, blocks);
        at = first_one(bits, !inverted, first, blocks);
        (at > first).then_some((first, at - first))
    })
}

/// The first bit from `from` on that is set in `bits`, of which those in `inverted`
/// are inverted in every word; `blocks` if none before that is.
#[inline]
fn first_one(bits: &[u64], inverted: u64, from: u32, blocks: u32) -> u32 {
    let mut at = from;
    while at < blocks {
        let ones = (bits[(at / 64) as usize] ^ inverted) >> (at % 64);
        if ones != 0 {
            return blocks.min(at + ones.trailing_zeros());
        }
        at = (at / 64 + 1) * 64;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::runs;
    use sledsim_base::random::Stream;

    /// Runs found bit by bit, of dense and of sparse bits.
    #[test]
    fn runs_equal_those_found_bit_by_bit() {
        let mut random = Stream::new(1, "runs");
        for _ in 0..20_000 {
            let blocks = 1 + random.below(200) as u32;
            let mut bits = [0_u64; 4];
            let words = [random.u64(), random.u64() & random.u64() & random.u64(), 0];
            for word in &mut bits {
                *word = words[random.below(3) as usize];
                *word ^= [0, u64::MAX][random.below(2) as usize];
            }
            for value in [false, true] {
                let is =
                    |block: u32| (bits[(block / 64) as usize] >> (block % 64) & 1 == 1) == value;
                let mut expected: Vec<(u32, u32)> = Vec::new();
                for block in (0..blocks).filter(|block| is(*block)) {
                    match expected.last_mut() {
                        Some((first, length)) if *first + *length == block => *length += 1,
                        _ => expected.push((block, 1)),
                    }
                }
                assert_eq!(runs(&bits, blocks, value).collect::<Vec<_>>(), expected);
            }
        }
    }
}
