//! Sets of columns: the places of tips in a word.

/// A set of columns, of which a word has at most 256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Columns([u64; 4]);

impl Columns {
    /// The columns from `first` up to `end`.
    pub(super) fn range(first: usize, end: usize) -> Self {
        let mut all = Self::default();
        (first..end).for_each(|column| all.insert(column));
        all
    }

    pub(super) fn insert(&mut self, column: usize) {
        self.0[column / 64] |= 1 << (column % 64);
    }

    pub(super) fn remove(&mut self, column: usize) {
        self.0[column / 64] &= !(1 << (column % 64));
    }

    pub(super) fn contains(&self, column: usize) -> bool {
        self.0[column / 64] >> (column % 64) & 1 == 1
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Those in either.
    pub(super) fn union(self, other: Self) -> Self {
        Self(std::array::from_fn(|index| self.0[index] | other.0[index]))
    }

    /// All of them, the lowest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(index * 64 + bit)
            })
        })
    }
}
