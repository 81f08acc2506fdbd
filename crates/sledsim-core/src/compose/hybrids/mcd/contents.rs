//! What survives when power fails, and how the tier comes back.
//!
//! Four things survive: the media of the front and of the back, the segment
//! buffer, and two notes beside it in the same non-volatile memory: a bit per
//! slot that says that its header on the front is void, and the old headers of
//! the slots whose header is being written. A header says which segment a slot
//! holds and which blocks of it are valid.
//!
//! - A slot is void from the instant at which it is given up until the first
//!   header of its next segment is on the media. So no header survives its
//!   segment, and no segment has two.
//! - A header that makes blocks valid is written in one request with them, and
//!   counts when all of that request is on the media; until then the old one
//!   does. So no block is valid that was not written, whatever of the request
//!   was torn off. Only one such write at a time is under way in a slot.
//! - A valid block is overwritten in place: old or new, it is this segment's.
//! - What the buffer alone holds (a segment whose slot was given up with
//!   *Immediate Report*, a write that *Shortcut* put into fetched data) stays in
//!   it until it is on the back or in a slot that says so.
//!
//! To recover is to read all headers, to write to the back what only the buffer
//! holds, and to take every valid block for newer than the back's. With
//! `headers = false` the table is in non-volatile memory too; it follows the
//! same rules and need not be read.

use super::jobs::{Job, Operation, Piece, Placed};
use super::table::runs;
use super::{BACK, FRONT, Mcd};
use crate::compose::Children;
use crate::model::NullSink;
use crate::model::contents::Contents;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Extents, Op as RequestOp, lbns};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// The most headers that are read with one request.
const HEADERS_AT_ONCE: usize = 64;

/// What a tier knows of contents.
pub(super) struct ContentState {
    survivor: Survivor,
    /// Tokens of the write that is submitted next.
    held: Vec<u64>,
    /// Tokens of host requests under way: to be written, or read so far.
    open: BTreeMap<u32, (RequestOp, Vec<u64>)>,
    /// What reads returned, by request.
    returned: BTreeMap<u64, Vec<u64>>,
}

/// What is left when power fails, beside the media of the children.
struct Survivor {
    /// What each slot's header says, if it is not void.
    headers: Vec<Option<Header>>,
    /// The segment buffer, by operation.
    buffers: BTreeMap<u32, Buffer>,
}

#[derive(Clone)]
struct Header {
    segment: u64,
    /// A bit per block.
    valid: Vec<u64>,
}

#[derive(Default)]
struct Buffer {
    /// By block of the back.
    tokens: BTreeMap<u64, u64>,
    /// Blocks that are nowhere else.
    only_here: BTreeSet<u64>,
}

impl ContentState {
    pub(super) fn new(slots: u32) -> Self {
        Self::with(Survivor {
            headers: vec![None; slots as usize],
            buffers: BTreeMap::new(),
        })
    }

    fn with(survivor: Survivor) -> Self {
        Self {
            survivor,
            held: Vec::new(),
            open: BTreeMap::new(),
            returned: BTreeMap::new(),
        }
    }

    pub(super) fn opened(&mut self, open: u32, row: &Row) {
        let tokens = match row.op {
            RequestOp::Write => std::mem::take(&mut self.held),
            _ => vec![0; row.blocks as usize],
        };
        self.open.insert(open, (row.op, tokens));
    }

    pub(super) fn done(&mut self, open: u32, row: &Row) {
        if let Some((RequestOp::Read, tokens)) = self.open.remove(&open) {
            self.returned.insert(row.id, tokens);
        }
    }

    /// The buffer serves `piece`, which begins at `lbn` of the back.
    pub(super) fn served(&mut self, op: u32, lbn: u64, piece: &Piece) {
        let (Some(buffer), Some((request, tokens))) = (
            self.survivor.buffers.get_mut(&op),
            self.open.get_mut(&piece.open),
        ) else {
            return;
        };
        for (lbn, token) in (lbn..).zip(&mut tokens[span(piece)]) {
            if *request == RequestOp::Write {
                buffer.tokens.insert(lbn, *token);
                buffer.only_here.insert(lbn);
            } else {
                *token = buffer.tokens.get(&lbn).copied().unwrap_or(0);
            }
        }
    }

    /// The header of `slot` is on the media, with the blocks that it says are
    /// valid.
    pub(super) fn head(&mut self, slot: u32, segment: u64, valid: &[u64]) {
        self.survivor.headers[slot as usize] = Some(Header {
            segment,
            valid: valid.to_vec(),
        });
    }

    /// What the header of `slot` says does not count any more.
    pub(super) fn void(&mut self, slot: u32) {
        self.survivor.headers[slot as usize] = None;
    }

    pub(super) fn empty_buffer(&mut self, op: u32) {
        self.survivor.buffers.remove(&op);
    }

    fn returns(&mut self, piece: &Piece, returned: &mut impl Iterator<Item = u64>) {
        if let Some((_, tokens)) = self.open.get_mut(&piece.open) {
            for (token, returned) in tokens[span(piece)].iter_mut().zip(returned) {
                *token = returned;
            }
        }
    }

    /// What `blocks` in the buffer hold.
    fn buffered(&self, op: u32, blocks: impl Iterator<Item = u64>) -> Vec<u64> {
        let buffer = self.survivor.buffers.get(&op);
        let token = |lbn| Some(*buffer?.tokens.get(&lbn)?);
        blocks.map(|lbn| token(lbn).unwrap_or(0)).collect()
    }
}

/// Where the blocks of a piece lie in its request.
fn span(piece: &Piece) -> std::ops::Range<usize> {
    piece.at as usize..(piece.at + piece.blocks) as usize
}

impl Mcd {
    fn hold(&mut self, child: usize, tokens: &[u64]) {
        if let Some(contents) = self.children.contents(child) {
            contents.stage_write(tokens);
        }
    }

    fn returned(&mut self, child: usize, row: &Row) -> Vec<u64> {
        let contents = self.children.contents(child);
        contents.map_or_else(Vec::new, |contents| contents.take_read_data(row.id))
    }

    /// Host data are about to be written to the front.
    pub(super) fn hold_access(&mut self, open: u32, placed: &[Placed]) {
        let Some((_, tokens)) = self.kept.as_ref().and_then(|kept| kept.open.get(&open)) else {
            return;
        };
        let mut all = Vec::new();
        for Placed { piece, grows, .. } in placed {
            all.extend((*grows && self.spec.headers).then_some(0));
            all.extend_from_slice(&tokens[span(piece)]);
        }
        self.hold(FRONT, &all);
    }

    /// The front read or wrote host data.
    pub(super) fn keep_access(&mut self, placed: &[Placed], row: &Row) {
        if row.op == RequestOp::Read {
            let mut returned = self.returned(FRONT, row).into_iter();
            if let Some(kept) = &mut self.kept {
                for Placed { piece, .. } in placed {
                    kept.returns(piece, &mut returned);
                }
            }
        }
    }

    /// The back read host data.
    pub(super) fn keep_passed(&mut self, pieces: &[Piece], row: &Row) {
        let mut returned = self.returned(BACK, row).into_iter();
        if let Some(kept) = &mut self.kept {
            for piece in pieces {
                kept.returns(piece, &mut returned);
            }
        }
    }

    /// The back read an operation's blocks.
    pub(super) fn keep_fetched(&mut self, op: u32, row: &Row) {
        let returned = self.returned(BACK, row);
        let Some((kept, state)) = self.kept.as_mut().zip(self.ops.get(op)) else {
            return;
        };
        let all = (row.lbn..).zip(returned);
        let moved = all.filter(|(lbn, _)| state.moves(*lbn, 1));
        let tokens = moved.collect();
        let only_here = BTreeSet::new();
        (kept.survivor.buffers).insert(op, Buffer { tokens, only_here });
    }

    /// An operation's blocks are about to be written to the front.
    pub(super) fn hold_filled(&mut self, op: u32) {
        let Some((kept, state)) = self.kept.as_ref().zip(self.ops.get(op)) else {
            return;
        };
        let mut all = Vec::new();
        for (segment, &slot) in (state.first..).zip(&state.slots) {
            all.extend(self.spec.headers.then_some(0));
            let lbn = self.lbn_of(segment);
            for (from, blocks) in runs(self.slots.bits(slot), self.blocks_of(segment), false) {
                let first = lbn + u64::from(from);
                all.extend(kept.buffered(op, first..first + u64::from(blocks)));
            }
        }
        self.hold(FRONT, &all);
    }

    /// The front read an operation's blocks.
    pub(super) fn keep_victim_read(&mut self, op: u32, row: &Row) {
        let returned = self.returned(FRONT, row);
        let segment_blocks = u64::from(self.spec.segment_blocks);
        let Some((kept, state)) = self.kept.as_mut().zip(self.ops.get(op)) else {
            return;
        };
        let mut buffer = Buffer {
            tokens: lbns(&state.moved).zip(returned).collect(),
            only_here: BTreeSet::new(),
        };
        if self.spec.immediate_report
            && let Operation::Destage {
                victim: Some(victim),
            } = state.what
        {
            let segment = state.first + victim as u64;
            let is_victims = |lbn: &u64| lbn / segment_blocks == segment;
            buffer.only_here = lbns(&state.moved).filter(is_victims).collect();
        }
        kept.survivor.buffers.insert(op, buffer);
    }

    /// An operation's blocks are about to be written to the back.
    pub(super) fn hold_destaged(&mut self, op: u32) {
        let Some((kept, state)) = self.kept.as_ref().zip(self.ops.get(op)) else {
            return;
        };
        let all = kept.buffered(op, lbns(&state.moved));
        self.hold(BACK, &all);
    }

    /// The token of a block that nothing but the buffer holds: one that is on its
    /// way, as a tier before this one may ask for when it has recovered.
    fn only_in_buffer(&self, lbn: u64) -> Option<u64> {
        let buffers = self.kept.as_ref()?.survivor.buffers.values();
        let mut holding = buffers.filter(|buffer| buffer.only_here.contains(&lbn));
        holding.next()?.tokens.get(&lbn).copied()
    }

    /// Hands a child a request of the recovery and waits until it is done, or
    /// power fails.
    fn recovers(
        &mut self,
        child: usize,
        op: RequestOp,
        extents: Extents,
        until: Nanos,
    ) -> Option<()> {
        self.send(child, op, Job::Recovered, extents, &mut NullSink);
        loop {
            let event = self.children.step(until, false, &mut NullSink)?;
            let Some((child, row)) = event else { continue };
            self.now = row.completion;
            self.jobs.remove(row.id);
            if child == BACK {
                self.back.done(self.now);
            }
            if row.op == RequestOp::Read {
                self.returned(child, &row);
            }
            return Some(());
        }
    }
}

impl Contents for Mcd {
    fn stage_write(&mut self, tokens: &[u64]) {
        if let Some(kept) = &mut self.kept {
            kept.held = tokens.to_vec();
        }
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        let kept = self.kept.as_mut();
        kept.and_then(|kept| kept.returned.remove(&id))
            .unwrap_or_default()
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        self.children.lose_power(at, chance);
        let Some(kept) = self.kept.take() else {
            return;
        };
        let children = std::mem::replace(&mut self.children, Children::new(Vec::new()));
        let kept = Some(Box::new(ContentState::with(kept.survivor)));
        // All that says when goes with the old object.
        *self = Self::between(&self.name, self.device, self.spec.clone(), children, kept);
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        self.now = self.children.recover_until(at, until)?;
        if self.spec.headers {
            let slots: Vec<u32> = (0..self.slots.len() as u32).collect();
            for some in slots.chunks(HEADERS_AT_ONCE) {
                let header = |&slot: &u32| Extent {
                    lbn: self.front_lbn(slot) - 1,
                    blocks: 1,
                };
                let extents = some.iter().map(header).collect();
                self.recovers(FRONT, RequestOp::Read, extents, until)?;
            }
        }
        let Some(survivor) = self.kept.as_ref().map(|kept| &kept.survivor) else {
            return Some(self.now);
        };
        let only_here: BTreeMap<u64, u64> = (survivor.buffers.values())
            .flat_map(|buffer| (buffer.only_here.iter()).map(|lbn| (*lbn, buffer.tokens[lbn])))
            .collect();
        let headers = survivor.headers.clone();
        for (&lbn, &token) in &only_here {
            self.hold(BACK, &[token]);
            let extent = Extent { lbn, blocks: 1 };
            let extents = Extents::from_slice(&[extent]);
            self.recovers(BACK, RequestOp::Write, extents, until)?;
        }
        if let Some(kept) = &mut self.kept {
            kept.survivor.buffers.clear();
        }
        for (slot, header) in (0..).zip(&headers) {
            if let Some(Header { segment, valid }) = header {
                self.slots.restore(slot, *segment, valid);
                self.slots.mark_dirty(slot);
                self.directory.insert(*segment, slot);
                self.policy.insert(slot, *segment);
            }
        }
        self.slots
            .find_free(|slot| headers[slot as usize].is_none());
        Some(self.now)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        let segment = lbn / u64::from(self.spec.segment_blocks);
        let from = (lbn - self.lbn_of(segment)) as u32;
        let slot = (self.directory.get(segment))
            .filter(|&slot| slot & super::OP == 0 && self.slots.holds(slot, from, 1));
        if let (None, Some(token)) = (slot, self.only_in_buffer(lbn)) {
            return token;
        }
        let (child, lbn) = match slot {
            Some(slot) => (FRONT, self.front_lbn(slot) + u64::from(from)),
            None => (BACK, lbn),
        };
        self.children
            .contents(child)
            .map_or(0, |contents| contents.token(lbn))
    }
}
