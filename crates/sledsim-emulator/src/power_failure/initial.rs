//! What blocks held before their first write.

use std::collections::HashMap;

/// Blocks in a page.
const PAGE: u64 = 512;

/// What blocks held before their first write: zeroes, but for those with tokens.
#[derive(Default)]
pub(super) struct Initial {
    /// The blocks that were written, a bit each, by page.
    written: HashMap<u64, [u64; PAGE as usize / 64]>,
    tokens: HashMap<u64, u64>,
}

impl Initial {
    /// Whether a block was written.
    pub(super) fn has(&self, lbn: u64) -> bool {
        let (word, bit) = place(lbn);
        let page = self.written.get(&(lbn / PAGE));
        page.is_some_and(|page| page[word] & bit != 0)
    }

    /// A block is about to be written; it holds the data of this token, 0 for zeroes.
    pub(super) fn keep(&mut self, lbn: u64, token: u64) {
        let (word, bit) = place(lbn);
        self.written.entry(lbn / PAGE).or_default()[word] |= bit;
        if token != 0 {
            self.tokens.insert(lbn, token);
        }
    }

    /// The token of what a block held; 0 for zeroes.
    pub(super) fn token(&self, lbn: u64) -> u64 {
        self.tokens.get(&lbn).copied().unwrap_or(0)
    }
}

/// The word and the bit of a block within its page.
fn place(lbn: u64) -> (usize, u64) {
    ((lbn % PAGE / 64) as usize, 1 << (lbn % 64))
}
