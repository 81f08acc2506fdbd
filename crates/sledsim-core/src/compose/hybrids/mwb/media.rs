//! The metadata blocks on the front: headers, summaries and marks.
//!
//! Children keep a token in place of the data of each block. The token of a
//! metadata block is a hash of its contents. The child decides which of the
//! blocks sent to a place survives a failure; [`Durable`] only maps tokens to
//! contents.

use super::table::Placed;
use sledsim_base::request::Extent;
use std::collections::BTreeMap;
use std::ops::Range;

/// A metadata block.
#[derive(Clone, Debug)]
pub(super) enum Block {
    /// Precedes the data of a record: its own address, the extents of the data, and
    /// a checksum over them.
    Header { address: u64, extents: Vec<Extent>, check: u64 },
    /// First block of a log whose records are all on the front: the number of the
    /// log, that of the oldest in use, and the extents of the records.
    Summary { log: u64, first: u64, placed: Vec<Placed> },
    /// First block of a free log: the number of the oldest log in use.
    Mark { first: u64 },
}

impl Block {
    /// The token of this block.
    fn token(&self) -> u64 {
        match self {
            Self::Header { address, extents, check } => {
                let extents = extents.iter().flat_map(|e| [e.lbn, u64::from(e.blocks)]);
                hash([1, *address, *check].into_iter().chain(extents))
            }
            Self::Summary { log, first, placed } => {
                let placed = placed.iter().flat_map(|p| [p.lbn, u64::from(p.blocks), p.address]);
                hash([2, *log, *first].into_iter().chain(placed))
            }
            Self::Mark { first } => hash([3, *first]),
        }
    }
}

/// The checksum over the data of a record.
pub(super) fn record_check(tokens: &[u64]) -> u64 {
    hash(tokens.iter().copied())
}

/// The token of the block `index` of a summary whose first block has `token`.
fn summary_token(token: u64, index: u64) -> u64 {
    if index == 0 { token } else { hash([token, index]) }
}

/// The 64-bit FNV-1a hash, word by word, with a round of mixing per word.
fn hash(words: impl IntoIterator<Item = u64>) -> u64 {
    let mix = |hash: u64, word: u64| {
        let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    };
    words.into_iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// The surviving state: all metadata blocks that may be on the front, by LBN,
/// with their tokens.
#[derive(Debug, Default)]
pub(super) struct Durable {
    blocks: BTreeMap<u64, Vec<(u64, Block)>>,
}

impl Durable {
    /// Records that `block` will be written at `lbn`; returns its token.
    pub(super) fn announce(&mut self, lbn: u64, block: Block) -> u64 {
        let token = block.token();
        self.blocks.entry(lbn).or_default().push((token, block));
        token
    }

    /// As [`Durable::announce`] for a summary; returns the tokens of its blocks.
    pub(super) fn summary(&mut self, lbn: u64, summary: Block, blocks: u64) -> Vec<u64> {
        let token = self.announce(lbn, summary);
        (0..blocks).map(|index| summary_token(token, index)).collect()
    }

    /// Records that the block announced last for `lbn` is on the front, and that
    /// its request overwrote `blocks` blocks.
    pub(super) fn confirm(&mut self, lbn: u64, blocks: u64) {
        let versions = self.blocks.get_mut(&lbn).expect("it was announced");
        versions.drain(..versions.len() - 1);
        while let Some((&over, _)) = self.blocks.range(lbn + 1..lbn + blocks).next() {
            self.blocks.remove(&over);
        }
    }

    /// The contents of a block read from `lbn`.
    pub(super) fn find(&self, lbn: u64, token: u64) -> Option<&Block> {
        let versions = self.blocks.get(&lbn)?;
        let found = versions.iter().find(|(other, _)| *other == token)?;
        Some(&found.1)
    }

    /// Whether these are all blocks of one summary.
    pub(super) fn is_complete(tokens: &[u64]) -> bool {
        let mut blocks = (0..).zip(tokens);
        blocks.all(|(index, &token)| token == summary_token(tokens[0], index))
    }
}

/// Tokens in transit; lost when power fails.
#[derive(Debug, Default)]
pub(super) struct Volatile {
    /// The tokens of the next host write.
    pub(super) staged: Vec<u64>,
    /// By request to a child: the host read, and the indices of its blocks there.
    reads: BTreeMap<u64, (u64, Vec<u32>)>,
    /// The tokens to return, by host request.
    returned: BTreeMap<u64, Vec<u64>>,
    /// The tokens of internal reads.
    internal_reads: BTreeMap<u64, Vec<u64>>,
    /// The speed-matching buffer, by LBN of the back.
    cleaned: BTreeMap<u64, u64>,
}

impl Volatile {
    /// Records that child request `id` reads the blocks at indices `places` of host
    /// request `host`.
    pub(super) fn begin_read(&mut self, id: u64, host: u64, places: Vec<u32>) {
        let tokens = self.returned.entry(host).or_default();
        let least = places.last().map_or(0, |last| *last as usize + 1);
        tokens.resize(least.max(tokens.len()), 0);
        self.reads.insert(id, (host, places));
    }

    /// Stores the `tokens` that child request `id` returned.
    pub(super) fn end_read(&mut self, id: u64, tokens: Vec<u64>) {
        let Some((host, places)) = self.reads.remove(&id) else {
            self.internal_reads.insert(id, tokens);
            return;
        };
        let returned = self.returned.get_mut(&host).expect("a read under way returns tokens");
        for (place, token) in places.into_iter().zip(tokens) {
            returned[place as usize] = token;
        }
    }

    /// Takes the tokens that host read `id` returned.
    pub(super) fn take(&mut self, id: u64) -> Vec<u64> {
        self.returned.remove(&id).unwrap_or_default()
    }

    /// Takes the tokens that an internal read returned.
    pub(super) fn take_internal(&mut self, id: u64) -> Vec<u64> {
        self.internal_reads.remove(&id).unwrap_or_default()
    }

    /// Stores the tokens of these pieces of one log, which the cleaner's read `id`
    /// read with the blocks between them.
    pub(super) fn store_cleaned(&mut self, id: u64, pieces: &[Placed]) {
        let tokens = self.take_internal(id);
        let first = pieces.first().map_or(0, |piece| piece.address);
        for piece in pieces {
            let from = (piece.address - first) as usize;
            let versions = tokens.iter().skip(from).copied();
            self.cleaned.extend((piece.lbn..piece.end()).zip(versions));
        }
    }

    /// The tokens of these blocks in the speed-matching buffer.
    pub(super) fn cleaned_tokens(&self, lbns: Range<u64>) -> Vec<u64> {
        let token = |lbn| self.cleaned.get(&lbn).copied().unwrap_or(0);
        lbns.map(token).collect()
    }

    /// Empties the speed-matching buffer.
    pub(super) fn clear_cleaned(&mut self) {
        self.cleaned.clear();
    }
}

/// The contents: the surviving and the volatile state.
#[derive(Debug, Default)]
pub(super) struct ContentState {
    pub(super) durable: Durable,
    pub(super) volatile: Volatile,
}
