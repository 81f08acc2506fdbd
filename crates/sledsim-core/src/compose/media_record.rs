//! The contents of the media over time, by the writes that a leaf shows.

use super::token_table::TokenTable;
use crate::model::Model;
use crate::model::mechanism::BlockOrder;
use crate::model::media_writes::{MediaWrite, MediaWrites};
use crate::model::torn_blocks::{Tearing, TornBlocks};
use sledsim_base::request::{Extent, Extents, lbns};
use sledsim_base::units::Nanos;

/// How a leaf behaves when power fails.
#[derive(Clone, Debug)]
pub struct PowerFailure {
    /// What becomes of the block that is being written.
    pub tearing: Tearing,
    /// Whether all data are lost.
    pub forgets: bool,
    /// How long the passes under way go on after power has failed; no other begins.
    pub hold_up: Nanos,
    /// How long the device takes to start when power returns.
    pub startup: Nanos,
    /// The torn blocks.
    pub torn: TornBlocks,
}

/// Stands for data that the leaf does not hold: the media stay as they are.
const UNCHANGED: u64 = u64::MAX;

/// A write that waits for its data to be on the media.
pub(super) struct Waiting<'a> {
    pub(super) extents: &'a Extents,
    pub(super) tokens: &'a [u64],
}

impl Waiting<'_> {
    fn token(&self, lbn: u64) -> Option<u64> {
        let mut before = 0;
        for extent in self.extents {
            if (extent.lbn..extent.end()).contains(&lbn) {
                return self.tokens.get(before + (lbn - extent.lbn) as usize).copied();
            }
            before += extent.blocks as usize;
        }
        None
    }
}

/// A write to the media with the tokens of its blocks.
struct Landed {
    write: MediaWrite,
    tokens: Tokens,
}

enum Tokens {
    /// Consecutive ones.
    From(u64),
    Listed(Box<[u64]>),
}

impl Tokens {
    fn of(tokens: &[u64]) -> Self {
        match tokens {
            [first, ..]
                if *first != UNCHANGED
                    && tokens.iter().zip(*first..).all(|(one, other)| *one == other) =>
            {
                Self::From(*first)
            }
            _ => Self::Listed(tokens.into()),
        }
    }

    fn get(&self, index: u64) -> u64 {
        match self {
            Self::From(first) => first + index,
            Self::Listed(all) => all[index as usize],
        }
    }
}

/// The media of a leaf: what was on them at power-on is kept outside, all writes since
/// then are kept here. A block of a write that the leaf never shows is on the media when
/// the write is complete.
pub(super) struct MediaRecord {
    pub(super) failure: PowerFailure,
    shown: MediaWrites,
    taken: Vec<MediaWrite>,
    landed: Vec<Landed>,
    /// The newest data that the leaf has taken of each block, for writes from its buffer.
    held: TokenTable,
    tokens: Vec<u64>,
}

impl MediaRecord {
    pub(super) fn new(failure: PowerFailure) -> Self {
        Self {
            failure,
            shown: MediaWrites::default(),
            taken: Vec::new(),
            landed: Vec::new(),
            held: TokenTable::default(),
            tokens: Vec::new(),
        }
    }

    /// Has a leaf show its writes here.
    pub(super) fn watch(&self, leaf: &mut dyn Model) {
        leaf.show_media_writes(&self.shown);
    }

    /// Takes the writes shown so far. `by_id` finds a waiting write, `covering` one with
    /// this block that arrived by this time; both return its number. `write` returns it.
    /// Calls `cover` with its number for each of its blocks that was shown.
    pub(super) fn take_shown<'a>(
        &mut self,
        by_id: impl Fn(u64) -> Option<usize>,
        covering: impl Fn(u64, Nanos) -> Option<usize>,
        write: impl Fn(usize) -> Waiting<'a>,
        mut cover: impl FnMut(usize),
    ) {
        let mut taken = std::mem::take(&mut self.taken);
        self.shown.take(&mut taken);
        for shown in &taken {
            // A source that is not known is a task of the device: it changes no data.
            let source = match shown.source {
                Some(id) => match by_id(id) {
                    None => continue,
                    found => found,
                },
                None => None,
            };
            let extent = shown.extent;
            self.tokens.clear();
            for lbn in extent.lbn..extent.end() {
                let own = source.and_then(|source| Some((source, write(source).token(lbn)?)));
                let other = || {
                    let held = self.held.get(lbn);
                    if held != 0 {
                        return Some((None, held));
                    }
                    let found = covering(lbn, shown.start)?;
                    Some((Some(found), write(found).token(lbn)?))
                };
                let of = own.map(|(source, token)| (Some(source), token)).or_else(other);
                if let Some((Some(source), token)) = of {
                    cover(source);
                    self.held.set(lbn, token);
                }
                self.tokens.push(of.map_or(UNCHANGED, |(_, token)| token));
            }
            self.landed.push(Landed { write: *shown, tokens: Tokens::of(&self.tokens) });
        }
        self.taken = taken;
    }

    /// Records that the leaf holds the data of a write that it has completed.
    pub(super) fn hold(&mut self, write: &Waiting<'_>) {
        for (lbn, token) in lbns(write.extents).zip(write.tokens) {
            self.held.set(lbn, *token);
        }
    }

    /// Records that a write is on the media at `at`.
    pub(super) fn land(&mut self, write: &Waiting<'_>, at: Nanos) {
        let mut before = 0;
        for &extent in write.extents {
            let blocks = extent.blocks as usize;
            self.landed.push(Landed {
                write: MediaWrite {
                    source: None,
                    extent,
                    start: at,
                    end: at,
                    order: BlockOrder::Together,
                },
                tokens: Tokens::of(&write.tokens[before..before + blocks]),
            });
            before += blocks;
        }
        self.hold(write);
    }

    /// Power fails at `at`: applies all that reached the media to `media`.
    pub(super) fn lose_power(&mut self, at: Nanos, media: &mut TokenTable) {
        let PowerFailure { tearing, forgets, hold_up, ref torn, .. } = self.failure;
        for Landed { write, tokens } in self.landed.drain(..) {
            let MediaWrite { extent, start, end, .. } = write;
            if start > at {
                continue;
            }
            let until = at + hold_up;
            if end <= until {
                apply(media, extent, u64::from(extent.blocks), &tokens);
                continue;
            }
            let share = until.since(start).0 as f64 / (end - start).0 as f64;
            match write.order {
                BlockOrder::InTurn => {
                    let written = (share * f64::from(extent.blocks)) as u64;
                    apply(media, extent, written, &tokens);
                }
                BlockOrder::Together => {
                    for (index, lbn) in (extent.lbn..extent.end()).enumerate() {
                        let new = tokens.get(index as u64);
                        if new == UNCHANGED {
                            continue;
                        }
                        let token = torn.token(media.get(lbn), new, share, tearing);
                        media.set(lbn, token);
                    }
                }
            }
        }
        if forgets {
            *media = TokenTable::default();
        }
        self.held = TokenTable::default();
        self.shown.take(&mut self.taken);
    }
}

fn apply(media: &mut TokenTable, extent: Extent, blocks: u64, tokens: &Tokens) {
    for index in 0..blocks {
        let token = tokens.get(index);
        if token != UNCHANGED {
            media.set(extent.lbn + index, token);
        }
    }
}
