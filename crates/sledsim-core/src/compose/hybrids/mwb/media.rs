//! What the blocks on the front say that are not data of the host.
//!
//! Children keep a token in place of the data of each block. A block of the
//! buffer's own has a token, too: a hash of what it says. Which of the blocks
//! that were ever sent to a place is there after a failure is the child's to
//! know; [`Durable`] only tells what a token stands for.

use super::table::Placed;
use sledsim_base::request::Extent;
use std::collections::BTreeMap;
use std::ops::Range;

/// A block of the buffer's own.
#[derive(Clone, Debug)]
pub(super) enum Block {
    /// Before the data of a record: its own address, where the data belong, and
    /// a checksum over them.
    Header {
        address: u64,
        extents: Vec<Extent>,
        check: u64,
    },
    /// The first of a log whose records are all on the front: the number of the
    /// log, that of the oldest in use, and what the records hold.
    Summary {
        log: u64,
        first: u64,
        placed: Vec<Placed>,
    },
    /// The first of a log that is free: the number of the oldest in use.
    Mark { first: u64 },
}

impl Block {
    /// The token of a block that says this.
    fn token(&self) -> u64 {
        match self {
            Self::Header {
                address,
                extents,
                check,
            } => {
                let extents = extents.iter().flat_map(|e| [e.lbn, u64::from(e.blocks)]);
                hash([1, *address, *check].into_iter().chain(extents))
            }
            Self::Summary { log, first, placed } => {
                let placed = placed
                    .iter()
                    .flat_map(|p| [p.lbn, u64::from(p.blocks), p.address]);
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
    if index == 0 {
        token
    } else {
        hash([token, index])
    }
}

/// The 64-bit FNV-1a hash, word by word, with a round of mixing per word.
fn hash(words: impl IntoIterator<Item = u64>) -> u64 {
    let mix = |hash: u64, word: u64| {
        let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    };
    words.into_iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// What survives: all blocks of the buffer's own that may be on the front, by
/// LBN, with their tokens.
#[derive(Debug, Default)]
pub(super) struct Durable {
    blocks: BTreeMap<u64, Vec<(u64, Block)>>,
}

impl Durable {
    /// `block` is about to be written at `lbn`: its token.
    pub(super) fn announce(&mut self, lbn: u64, block: Block) -> u64 {
        let token = block.token();
        self.blocks.entry(lbn).or_default().push((token, block));
        token
    }

    /// As [`Durable::announce`] for a summary: the tokens of its blocks.
    pub(super) fn summary(&mut self, lbn: u64, summary: Block, blocks: u64) -> Vec<u64> {
        let token = self.announce(lbn, summary);
        (0..blocks)
            .map(|index| summary_token(token, index))
            .collect()
    }

    /// What was announced last for `lbn` is on the front, and with it `blocks`
    /// blocks: what was there is gone.
    pub(super) fn settle(&mut self, lbn: u64, blocks: u64) {
        if let Some(there) = self.blocks.get_mut(&lbn)
            && let Some(last) = there.pop()
        {
            there.clear();
            there.push(last);
        }
        while let Some((&over, _)) = self.blocks.range(lbn + 1..lbn + blocks).next() {
            self.blocks.remove(&over);
        }
    }

    /// What a block says that was read from `lbn`.
    pub(super) fn find(&self, lbn: u64, token: u64) -> Option<&Block> {
        let there = self.blocks.get(&lbn)?;
        let found = there.iter().find(|(other, _)| *other == token)?;
        Some(&found.1)
    }

    /// Whether these are all blocks of one summary.
    pub(super) fn is_whole(tokens: &[u64]) -> bool {
        let mut blocks = (0..).zip(tokens);
        blocks.all(|(index, &token)| token == summary_token(tokens[0], index))
    }
}

/// Tokens on their way; lost when power fails.
#[derive(Debug, Default)]
pub(super) struct Volatile {
    /// Those of the next write of the host.
    pub(super) held: Vec<u64>,
    /// Of requests to children: the read of the host, and where in it their
    /// blocks belong.
    wanted: BTreeMap<u64, (u64, Vec<u32>)>,
    /// What the host will get, by its request.
    returned: BTreeMap<u64, Vec<u64>>,
    /// What a child's read returned that is no part of one of the host.
    read: BTreeMap<u64, Vec<u64>>,
    /// The speed-matching buffer, by LBN of the back.
    cleaned: BTreeMap<u64, u64>,
}

impl Volatile {
    /// The child's request `id` reads blocks number `places` of `host`'s.
    pub(super) fn wants(&mut self, id: u64, host: u64, places: Vec<u32>) {
        let tokens = self.returned.entry(host).or_default();
        let least = places.last().map_or(0, |last| *last as usize + 1);
        tokens.resize(least.max(tokens.len()), 0);
        self.wanted.insert(id, (host, places));
    }

    /// The child's request `id` returned `tokens`.
    pub(super) fn arrived(&mut self, id: u64, tokens: Vec<u64>) {
        let Some((host, places)) = self.wanted.remove(&id) else {
            self.read.insert(id, tokens);
            return;
        };
        if let Some(returned) = self.returned.get_mut(&host) {
            for (place, token) in places.into_iter().zip(tokens) {
                returned[place as usize] = token;
            }
        }
    }

    /// What the host's read `id` returned.
    pub(super) fn take(&mut self, id: u64) -> Vec<u64> {
        self.returned.remove(&id).unwrap_or_default()
    }

    /// What a read of the buffer's own returned.
    pub(super) fn take_own(&mut self, id: u64) -> Vec<u64> {
        self.read.remove(&id).unwrap_or_default()
    }

    /// The cleaner's read `id` brought these pieces of one log, and what lies
    /// between them.
    pub(super) fn keep_cleaned(&mut self, id: u64, pieces: &[Placed]) {
        let tokens = self.take_own(id);
        let first = pieces.first().map_or(0, |piece| piece.address);
        for piece in pieces {
            let from = (piece.address - first) as usize;
            let there = tokens.iter().skip(from).copied();
            self.cleaned.extend((piece.lbn..piece.end()).zip(there));
        }
    }

    /// The tokens of these blocks in the speed-matching buffer.
    pub(super) fn being_cleaned(&self, lbns: Range<u64>) -> Vec<u64> {
        let token = |lbn| self.cleaned.get(&lbn).copied().unwrap_or(0);
        lbns.map(token).collect()
    }

    /// The speed-matching buffer is empty again.
    pub(super) fn forget_cleaned(&mut self) {
        self.cleaned.clear();
    }
}

/// Contents: what survives, and what does not.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    pub(super) durable: Durable,
    pub(super) volatile: Volatile,
}
