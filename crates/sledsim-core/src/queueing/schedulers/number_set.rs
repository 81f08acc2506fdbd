//! A set of small numbers, searched for the nearest one.

/// Numbers, one bit each.
///
/// A bit of the second level stands for a word of the first that is not zero, one of the
/// third for such a word of the second: a search reads few words.
#[derive(Debug, Default)]
pub(super) struct NumberSet {
    levels: [Vec<u64>; 3],
}

impl NumberSet {
    /// Adds a number. Memory is that for the largest number so far.
    pub fn insert(&mut self, number: usize) {
        let mut at = number;
        for words in &mut self.levels {
            if at / 64 >= words.len() {
                words.resize(at / 64 + 1, 0);
            }
            let word = &mut words[at / 64];
            let had_some = *word != 0;
            *word |= 1 << (at % 64);
            if had_some {
                return;
            }
            at /= 64;
        }
    }

    /// Removes a number that is in the set.
    pub fn remove(&mut self, number: usize) {
        let mut at = number;
        for words in &mut self.levels {
            words[at / 64] &= !(1 << (at % 64));
            if words[at / 64] != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The first number in the set from `number` on.
    #[inline(always)] // hot: several times a pick
    pub fn at_or_after(&self, number: u32) -> Option<u32> {
        let first = |place: usize, word: u64| place * 64 + word.trailing_zeros() as usize;
        let [numbers, words, tops] = &self.levels;
        let at = number as usize;
        let word = numbers.get(at / 64)? & (u64::MAX << (at % 64));
        if word != 0 {
            return Some(first(at / 64, word) as u32);
        }
        let at = at / 64 + 1;
        let mut place = at / 64;
        let mut word = words.get(place)? & (u64::MAX << (at % 64));
        if word == 0 {
            let at = place + 1;
            let mut mask = u64::MAX << (at % 64);
            let mut top = at / 64;
            while tops.get(top)? & mask == 0 {
                (top, mask) = (top + 1, u64::MAX);
            }
            place = first(top, tops[top] & mask);
            word = words[place];
        }
        let place = first(place, word);
        Some(first(place, numbers[place]) as u32)
    }

    /// The last number in the set before `number`.
    #[inline]
    pub fn before(&self, number: u32) -> Option<u32> {
        let last = |place: usize, word: u64| place * 64 + 63 - word.leading_zeros() as usize;
        let [numbers, words, tops] = &self.levels;
        let at = (number as usize).min(64 * numbers.len()).checked_sub(1)?;
        let word = numbers[at / 64] & (u64::MAX >> (63 - at % 64));
        if word != 0 {
            return Some(last(at / 64, word) as u32);
        }
        let at = (at / 64).checked_sub(1)?;
        let mut place = at / 64;
        let mut word = words[place] & (u64::MAX >> (63 - at % 64));
        if word == 0 {
            let at = place.checked_sub(1)?;
            let mut mask = u64::MAX >> (63 - at % 64);
            let mut top = at / 64;
            while tops[top] & mask == 0 {
                (top, mask) = (top.checked_sub(1)?, u64::MAX);
            }
            place = last(top, tops[top] & mask);
            word = words[place];
        }
        let place = last(place, word);
        Some(last(place, numbers[place]) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::NumberSet;
    use sledsim_base::random::Stream;
    use std::collections::BTreeSet;

    /// Random numbers, few and many, up to several levels, beside a sorted set.
    #[test]
    fn equals_a_sorted_set() {
        let mut random = Stream::new(1, "numbers");
        for most in [1, 63, 64, 65, 4096, 4097, 300_000, 20_000_000] {
            let (mut numbers, mut sorted) = (NumberSet::default(), BTreeSet::new());
            for _ in 0..2000 {
                let below = 1 + random.below(most);
                let number = random.below(below) as u32;
                if sorted.remove(&number) {
                    numbers.remove(number as usize);
                } else if random.chance(0.6) {
                    numbers.insert(number as usize);
                    sorted.insert(number);
                }
                let from = random.below(2 * most) as u32;
                for from in [from, number, number + 1] {
                    assert_eq!(numbers.at_or_after(from), sorted.range(from..).next().copied());
                    assert_eq!(numbers.before(from), sorted.range(..from).next_back().copied());
                }
            }
        }
    }
}
