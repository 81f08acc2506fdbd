//! A token per block, in pages.

use rustc_hash::FxBuildHasher;
use std::collections::HashMap;

/// Blocks in a page.
const PAGE: u64 = 512;

/// The tokens of blocks; 0 where none was set. Memory is proportional to the pages set.
#[derive(Debug, Default)]
pub(super) struct TokenTable {
    pages: HashMap<u64, Box<[u64; PAGE as usize]>, FxBuildHasher>,
}

impl TokenTable {
    pub(super) fn get(&self, lbn: u64) -> u64 {
        let page = self.pages.get(&(lbn / PAGE));
        page.map_or(0, |page| page[(lbn % PAGE) as usize])
    }

    pub(super) fn set(&mut self, lbn: u64, token: u64) {
        let page = self.pages.entry(lbn / PAGE);
        let page = page.or_insert_with(|| Box::new([0; PAGE as usize]));
        page[(lbn % PAGE) as usize] = token;
    }
}
