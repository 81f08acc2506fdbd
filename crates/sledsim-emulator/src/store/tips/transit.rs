//! Writes on their way: in the store, and not yet served by the device.
//!
//! The bytes of a write are stored when it arrives, and the device serves it later. If
//! tips fail in between, the device still writes the data, to what is left.

use std::collections::BTreeMap;

/// A range of blocks.
pub(super) type Blocks = (u64, u32);

/// Writes on their way.
#[derive(Debug, Default)]
pub(super) struct Transit {
    /// Writes that the device has not served.
    staged: Vec<Blocks>,
    /// Writes that the device has served before their bytes came, each with the squares
    /// that have lost their data since.
    early: Vec<(Blocks, Vec<u32>)>,
    /// The bytes of staged blocks whose square has lost its data.
    saved: BTreeMap<u64, Vec<u8>>,
}

impl Transit {
    /// Takes the blocks of a write whose bytes are about to be stored; returns the
    /// squares that have lost their data since the device wrote them.
    pub(super) fn stage(&mut self, blocks: Blocks) -> Vec<u32> {
        let early = self.early.iter().position(|(of, _)| *of == blocks);
        if let Some(index) = early {
            return self.early.remove(index).1;
        }
        self.staged.push(blocks);
        Vec::new()
    }

    /// Takes note that the device has served a write; returns the saved blocks that it
    /// wrote.
    pub(super) fn served(&mut self, blocks: Blocks) -> Vec<(u64, Vec<u8>)> {
        let Some(index) = self.staged.iter().position(|staged| *staged == blocks) else {
            self.early.push((blocks, Vec::new()));
            return Vec::new();
        };
        self.staged.swap_remove(index);
        let range = blocks.0..blocks.0 + u64::from(blocks.1);
        let saved: Vec<u64> = self.saved.range(range).map(|(lbn, _)| *lbn).collect();
        let done = saved.into_iter().filter(|lbn| !self.is_staged(*lbn));
        let done: Vec<u64> = done.collect();
        let take = |lbn| Some((lbn, self.saved.remove(&lbn)?));
        done.into_iter().filter_map(take).collect()
    }

    fn is_staged(&self, lbn: u64) -> bool {
        let covers =
            |(first, blocks): &Blocks| (*first..*first + u64::from(*blocks)).contains(&lbn);
        self.staged.iter().any(covers)
    }

    /// The staged blocks, some perhaps twice.
    pub(super) fn blocks(&self) -> impl Iterator<Item = u64> + '_ {
        (self.staged.iter()).flat_map(|(first, blocks)| *first..*first + u64::from(*blocks))
    }

    /// Takes note that a square has lost its data.
    pub(super) fn lose(&mut self, square: u32) {
        for (_, lost) in &mut self.early {
            lost.push(square);
        }
    }

    /// Saves the bytes of a staged block.
    pub(super) fn save(&mut self, lbn: u64, bytes: Vec<u8>) {
        self.saved.insert(lbn, bytes);
    }

    /// The saved bytes of a block.
    pub(super) fn saved(&self, lbn: u64) -> Option<&[u8]> {
        self.saved.get(&lbn).map(Vec::as_slice)
    }

    /// Whether any bytes are saved.
    pub(super) fn has_saved(&self) -> bool {
        !self.saved.is_empty()
    }
}
