//! The ledger of a power failure: which acknowledged writes are lost.
//!
//! A write is acknowledged if it is complete before the instant. It is promised to survive as soon as it is
//! acknowledged, or, on a device that reports writes from a volatile buffer, if it had
//! the mark `fua` or a flush that arrived later is complete. A write is lost if a block of
//! it holds older data: the initial ones, or those of a write that was acknowledged before
//! this one arrived. If a later write was cut short in a block and left neither, the block
//! is torn.

use super::history::{Epoch, Recorded};
use super::image::{Content, ContentRun, Image};
use serde::Serialize;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_core::model::contents::Promise;
use sledsim_core::model::torn_blocks::TornBlocks;

/// An acknowledged write that is lost in part or whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostWrite {
    /// The write.
    pub write: Recorded,
    /// Whether it was promised to survive.
    pub promised: bool,
    /// Blocks with older data.
    pub old_blocks: u32,
    /// Blocks that a write under way has torn.
    pub torn_blocks: u32,
}

/// The fate of the writes since power-on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Writes that arrived.
    pub writes: u64,
    /// Of these, complete at the cut.
    pub acknowledged: u64,
    /// Of these, not promised to survive.
    pub unflushed: u64,
    /// Acknowledged writes that are lost, in the order of arrival.
    pub lost: Vec<LostWrite>,
    /// Torn blocks in all.
    pub torn: u64,
    /// Of these, blocks that cannot be read.
    pub unreadable: u64,
}

impl Ledger {
    pub(super) fn of(
        epoch: &Epoch,
        promise: Promise,
        at: Nanos,
        image: &Image,
        torn: &TornBlocks,
    ) -> Self {
        let is_torn = |run: &&ContentRun| matches!(run.content, Content::Torn(_));
        let mut ledger = Self {
            torn: image.runs().iter().filter(is_torn).count() as u64,
            unreadable: image.unreadable(torn).count() as u64,
            ..Self::default()
        };
        let done = |request: &Recorded| request.completion.is_some_and(|end| end < at);
        let requests = &epoch.requests;
        // The latest arrival of a flush that is complete.
        let flushes = requests.iter().filter(|one| one.op == Op::Flush && done(one));
        let flushed = flushes.map(|flush| flush.arrival).max();
        let writes: Vec<&Recorded> = requests.iter().filter(|one| one.op == Op::Write).collect();
        let write_of = |token: u64| {
            let after = writes.partition_point(|write| write.first_token <= token);
            let write = *writes.get(after.checked_sub(1)?)?;
            (token < write.first_token + u64::from(write.blocks)).then_some(write)
        };
        for &write in &writes {
            ledger.writes += 1;
            let Some(completion) = write.completion.filter(|end| *end < at) else {
                continue;
            };
            ledger.acknowledged += 1;
            let promised = promise == Promise::Completion
                || write.fua
                || flushed.is_some_and(|flush| completion <= flush);
            ledger.unflushed += u64::from(!promised);
            let older = |token: u64| match write_of(token) {
                // Of an earlier time with power.
                None => true,
                Some(other) => {
                    other.id != write.id && other.completion.is_some_and(|end| end <= write.arrival)
                }
            };
            let (mut old_blocks, mut torn_blocks) = (0, 0);
            let (mut lbn, end) = (write.lbn, write.extent().end());
            while lbn < end {
                let piece = image.piece(lbn, end);
                lbn = piece.end();
                let blocks = piece.blocks as u32;
                match piece.content {
                    // Consecutive tokens may be of several writes.
                    Content::Written(first) => {
                        let tokens = first..first + piece.blocks;
                        let is_own = |token: &u64| {
                            (write.first_token..write.first_token + u64::from(write.blocks))
                                .contains(token)
                        };
                        if !(is_own(&first) && is_own(&(tokens.end - 1))) {
                            old_blocks += tokens.filter(|token| older(*token)).count() as u32;
                        }
                    }
                    Content::Initial => old_blocks += blocks,
                    Content::Torn(_) => torn_blocks += blocks,
                }
            }
            if old_blocks + torn_blocks > 0 {
                ledger.lost.push(LostWrite { write: *write, promised, old_blocks, torn_blocks });
            }
        }
        ledger
    }

    /// Lost writes that were promised to survive and hold older data.
    pub fn promised_lost(&self) -> u64 {
        let broken = |lost: &&LostWrite| lost.promised && lost.old_blocks > 0;
        self.lost.iter().filter(broken).count() as u64
    }

    /// All of it, with at most `most` lost writes.
    pub fn document(&self, most: usize) -> LedgerDocument {
        let torn = |lost: &&LostWrite| lost.promised && lost.torn_blocks > 0;
        LedgerDocument {
            writes: self.writes,
            acknowledged: self.acknowledged,
            acknowledged_unflushed: self.unflushed,
            lost: self.lost.len(),
            promised_lost: self.promised_lost(),
            promised_torn: self.lost.iter().filter(torn).count(),
            torn: self.torn,
            unreadable: self.unreadable,
            silent: self.torn - self.unreadable,
            lost_writes: self.lost.iter().take(most).map(Into::into).collect(),
        }
    }
}

/// A [`Ledger`] as a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LedgerDocument {
    writes: u64,
    acknowledged: u64,
    acknowledged_unflushed: u64,
    lost: usize,
    promised_lost: u64,
    promised_torn: usize,
    torn: u64,
    unreadable: u64,
    /// Torn blocks that can be read.
    silent: u64,
    lost_writes: Vec<LostWriteFacts>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct LostWriteFacts {
    id: u64,
    lbn: u64,
    blocks: u32,
    arrival_ns: Nanos,
    completion_ns: Option<Nanos>,
    fua: bool,
    promised: bool,
    old_blocks: u32,
    torn_blocks: u32,
}

impl From<&LostWrite> for LostWriteFacts {
    fn from(lost: &LostWrite) -> Self {
        Self {
            id: lost.write.id,
            lbn: lost.write.lbn,
            blocks: lost.write.blocks,
            arrival_ns: lost.write.arrival,
            completion_ns: lost.write.completion,
            fua: lost.write.fua,
            promised: lost.promised,
            old_blocks: lost.old_blocks,
            torn_blocks: lost.torn_blocks,
        }
    }
}
