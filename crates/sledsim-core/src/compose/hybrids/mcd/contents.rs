//! What survives a power failure, and how the tier recovers.
//!
//! The media of the front and of the back survive, and so does non-volatile
//! memory: the segment buffer, a bit per slot that marks its header on the
//! front as void, and the old headers of slots whose header is being written. A
//! header names the segment in a slot and its valid blocks.
//!
//! - A slot is void from its eviction until the first header of its next
//!   segment is on the media. So no header outlives its segment, and no segment
//!   has two.
//! - A header that makes blocks valid is written in one request with them, and
//!   takes effect when the whole request is on the media; until then the old
//!   header holds. So no unwritten block is valid, even after a torn write. A
//!   slot has at most one such write under way.
//! - A valid block is overwritten in place: old or new, it belongs to the same
//!   segment.
//! - Data held by the buffer alone (a segment evicted with *Immediate Report*,
//!   a write that *Shortcut* put into fetched data) stay in it until they are
//!   on the back or in a slot with a valid header.
//!
//! Recovery reads all headers, writes the data held by the buffer alone to the
//! back, and treats every valid block as newer than the back's. With `headers =
//! false` the table is in non-volatile memory too; the same rules apply, and it
//! need not be read.

use super::bits::runs;
use super::jobs::{Job, Operation, Piece, Placed};
use super::{BACK, FRONT, Mcd};
use crate::compose::Children;
use crate::model::NullSink;
use crate::model::contents::Contents;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Extents, Op as RequestOp, lbns};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// The most headers read by one request.
const HEADERS_AT_ONCE: usize = 64;

/// What the methods of contents rely on.
const KEEPS: &str = "its contents are kept";
const HOST_REQUEST: &str = "a host request under way has tokens";

/// The contents of a tier.
pub(super) struct ContentState {
    survivor: Survivor,
    /// The tokens of the next write.
    staged: Vec<u64>,
    /// Tokens of host requests under way: to write, or read so far.
    host_requests: BTreeMap<usize, (RequestOp, Vec<u64>)>,
    /// The tokens that reads returned, by request.
    returned: BTreeMap<u64, Vec<u64>>,
}

/// The state that survives a power failure, in addition to the media of the
/// children.
struct Survivor {
    /// The header of each slot, unless it is void.
    headers: Vec<Option<Header>>,
    /// The segment buffer, by operation.
    buffers: BTreeMap<usize, Buffer>,
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
    /// Blocks whose current data are nowhere else.
    only_here: BTreeSet<u64>,
}

impl ContentState {
    pub(super) fn new(slots: u32) -> Self {
        Self::with(Survivor { headers: vec![None; slots as usize], buffers: BTreeMap::new() })
    }

    fn with(survivor: Survivor) -> Self {
        Self {
            survivor,
            staged: Vec::new(),
            host_requests: BTreeMap::new(),
            returned: BTreeMap::new(),
        }
    }

    pub(super) fn begin_request(&mut self, host_request: usize, row: &Row) {
        let tokens = match row.op {
            RequestOp::Write => std::mem::take(&mut self.staged),
            _ => vec![0; row.blocks as usize],
        };
        self.host_requests.insert(host_request, (row.op, tokens));
    }

    pub(super) fn end_request(&mut self, host_request: usize, row: &Row) {
        if let Some((RequestOp::Read, tokens)) = self.host_requests.remove(&host_request) {
            self.returned.insert(row.id, tokens);
        }
    }

    /// Serves `piece`, which begins at `lbn` of the back, from the buffer.
    pub(super) fn serve_buffered(&mut self, op: usize, lbn: u64, piece: &Piece) {
        let buffer = self.survivor.buffers.get_mut(&op).expect("buffered data have tokens");
        let (request, tokens) =
            self.host_requests.get_mut(&piece.host_request).expect(HOST_REQUEST);
        for (lbn, token) in (lbn..).zip(&mut tokens[span(piece)]) {
            if *request == RequestOp::Write {
                buffer.tokens.insert(lbn, *token);
                buffer.only_here.insert(lbn);
            } else {
                *token = buffer.tokens.get(&lbn).copied().unwrap_or(0);
            }
        }
    }

    /// Records that the header of `slot` and the blocks valid in it are on the
    /// media.
    pub(super) fn set_header(&mut self, slot: u32, segment: u64, valid: &[u64]) {
        self.survivor.headers[slot as usize] = Some(Header { segment, valid: valid.to_vec() });
    }

    /// Marks the header of `slot` as void.
    pub(super) fn void(&mut self, slot: u32) {
        self.survivor.headers[slot as usize] = None;
    }

    pub(super) fn empty_buffer(&mut self, op: usize) {
        self.survivor.buffers.remove(&op);
    }

    fn store_returned(&mut self, piece: &Piece, returned: &mut impl Iterator<Item = u64>) {
        let (_, tokens) = self.host_requests.get_mut(&piece.host_request).expect(HOST_REQUEST);
        for (token, returned) in tokens[span(piece)].iter_mut().zip(returned) {
            *token = returned;
        }
    }

    /// The tokens of `blocks` in the buffer.
    fn buffered(&self, op: usize, blocks: impl Iterator<Item = u64>) -> Vec<u64> {
        let buffer = self.survivor.buffers.get(&op);
        let token = |lbn| Some(*buffer?.tokens.get(&lbn)?);
        blocks.map(|lbn| token(lbn).unwrap_or(0)).collect()
    }
}

/// The indices of a piece's blocks in its request.
fn span(piece: &Piece) -> std::ops::Range<usize> {
    piece.at as usize..(piece.at + piece.blocks) as usize
}

impl Mcd {
    fn stage(&mut self, child: usize, tokens: &[u64]) {
        if let Some(contents) = self.children.contents(child) {
            contents.stage_write(tokens);
        }
    }

    fn returned(&mut self, child: usize, row: &Row) -> Vec<u64> {
        let contents = self.children.contents(child);
        contents.map_or_else(Vec::new, |contents| contents.take_read_data(row.id))
    }

    /// Stages host data for a write to the front.
    pub(super) fn stage_access(&mut self, host_request: usize, placed: &[Placed]) {
        let content_state = self.content_state.as_ref().expect(KEEPS);
        let (_, tokens) = content_state.host_requests.get(&host_request).expect(HOST_REQUEST);
        let mut all = Vec::new();
        for Placed { piece, grows, .. } in placed {
            all.extend((*grows && self.spec.headers).then_some(0));
            all.extend_from_slice(&tokens[span(piece)]);
        }
        self.stage(FRONT, &all);
    }

    /// Stores host data that the front read.
    pub(super) fn store_access(&mut self, placed: &[Placed], row: &Row) {
        if row.op == RequestOp::Read {
            let mut returned = self.returned(FRONT, row).into_iter();
            let content_state = self.content_state.as_mut().expect(KEEPS);
            for Placed { piece, .. } in placed {
                content_state.store_returned(piece, &mut returned);
            }
        }
    }

    /// Stores host data that the back read.
    pub(super) fn store_bypassed(&mut self, pieces: &[Piece], row: &Row) {
        let mut returned = self.returned(BACK, row).into_iter();
        let content_state = self.content_state.as_mut().expect(KEEPS);
        for piece in pieces {
            content_state.store_returned(piece, &mut returned);
        }
    }

    /// Stores an operation's blocks that the back read.
    pub(super) fn store_fetched(&mut self, op: usize, row: &Row) {
        let returned = self.returned(BACK, row);
        let content_state = self.content_state.as_mut().expect(KEEPS);
        let state = &self.ops[op];
        let all = (row.lbn..).zip(returned);
        let moved = all.filter(|(lbn, _)| state.moves(*lbn, 1));
        let tokens = moved.collect();
        let only_here = BTreeSet::new();
        (content_state.survivor.buffers).insert(op, Buffer { tokens, only_here });
    }

    /// Stages an operation's blocks for a write to the front.
    pub(super) fn stage_fill(&mut self, op: usize) {
        let content_state = self.content_state.as_ref().expect(KEEPS);
        let state = &self.ops[op];
        let mut all = Vec::new();
        for (segment, &slot) in (state.first..).zip(&state.slots) {
            all.extend(self.spec.headers.then_some(0));
            let lbn = self.lbn_of(segment);
            for (from, blocks) in runs(self.slots.bits(slot), self.blocks_of(segment), false) {
                let first = lbn + u64::from(from);
                all.extend(content_state.buffered(op, first..first + u64::from(blocks)));
            }
        }
        self.stage(FRONT, &all);
    }

    /// Stores an operation's blocks that the front read.
    pub(super) fn store_victim_read(&mut self, op: usize, row: &Row) {
        let returned = self.returned(FRONT, row);
        let segment_blocks = u64::from(self.spec.segment_blocks);
        let content_state = self.content_state.as_mut().expect(KEEPS);
        let state = &self.ops[op];
        let mut buffer = Buffer {
            tokens: lbns(&state.moved).zip(returned).collect(),
            only_here: BTreeSet::new(),
        };
        if self.spec.immediate_report
            && let Operation::Destage { victim: Some(victim) } = state.kind
        {
            let segment = state.first + victim as u64;
            let is_victims = |lbn: &u64| lbn / segment_blocks == segment;
            buffer.only_here = lbns(&state.moved).filter(is_victims).collect();
        }
        content_state.survivor.buffers.insert(op, buffer);
    }

    /// Stages an operation's blocks for a write to the back.
    pub(super) fn stage_destage(&mut self, op: usize) {
        let content_state = self.content_state.as_ref().expect(KEEPS);
        let state = &self.ops[op];
        let all = content_state.buffered(op, lbns(&state.moved));
        self.stage(BACK, &all);
    }

    /// The token of a block held by the buffer alone. A tier in front of this one
    /// may ask for it after its own recovery.
    fn only_in_buffer(&self, lbn: u64) -> Option<u64> {
        let buffers = self.content_state.as_ref()?.survivor.buffers.values();
        let mut holding = buffers.filter(|buffer| buffer.only_here.contains(&lbn));
        holding.next()?.tokens.get(&lbn).copied()
    }

    /// Submits a recovery request to a child and waits for its completion; returns
    /// `None` if power fails first.
    fn run_recovery_request(
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
        self.content_state.as_mut().expect(KEEPS).staged = tokens.to_vec();
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        let content_state = self.content_state.as_mut().expect(KEEPS);
        content_state.returned.remove(&id).unwrap_or_default()
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        self.children.lose_power(at, chance);
        let content_state = self.content_state.take().expect(KEEPS);
        let children = std::mem::replace(&mut self.children, Children::new(Vec::new()));
        let content_state = Some(Box::new(ContentState::with(content_state.survivor)));
        // The timing state is dropped with the old object.
        *self = Self::between(&self.name, self.device, self.spec.clone(), children, content_state);
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        self.now = self.children.recover_until(at, until)?;
        if self.spec.headers {
            let slots: Vec<u32> = (0..self.slots.len() as u32).collect();
            for chunk in slots.chunks(HEADERS_AT_ONCE) {
                let header = |&slot: &u32| Extent { lbn: self.front_lbn(slot) - 1, blocks: 1 };
                let extents = chunk.iter().map(header).collect();
                self.run_recovery_request(FRONT, RequestOp::Read, extents, until)?;
            }
        }
        let survivor = &self.content_state.as_ref().expect(KEEPS).survivor;
        let only_here: BTreeMap<u64, u64> = (survivor.buffers.values())
            .flat_map(|buffer| (buffer.only_here.iter()).map(|lbn| (*lbn, buffer.tokens[lbn])))
            .collect();
        let headers = survivor.headers.clone();
        for (&lbn, &token) in &only_here {
            self.stage(BACK, &[token]);
            let extent = Extent { lbn, blocks: 1 };
            let extents = Extents::from_slice(&[extent]);
            self.run_recovery_request(BACK, RequestOp::Write, extents, until)?;
        }
        self.content_state.as_mut().expect(KEEPS).survivor.buffers.clear();
        for (slot, header) in (0..).zip(&headers) {
            if let Some(Header { segment, valid }) = header {
                self.slots.restore(slot, *segment, valid);
                self.slots.mark_dirty(slot);
                self.directory.insert(*segment, slot);
                self.policy.insert(slot, *segment);
            }
        }
        self.slots.find_free(|slot| headers[slot as usize].is_none());
        Some(self.now)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        let segment = lbn / u64::from(self.spec.segment_blocks);
        let from = (lbn - self.lbn_of(segment)) as u32;
        let slot = (self.directory.get(segment))
            .filter(|&slot| slot & super::OP == 0 && self.slots.is_valid(slot, from, 1));
        if let (None, Some(token)) = (slot, self.only_in_buffer(lbn)) {
            return token;
        }
        let (child, lbn) = match slot {
            Some(slot) => (FRONT, self.front_lbn(slot) + u64::from(from)),
            None => (BACK, lbn),
        };
        self.children.contents(child).map_or(0, |contents| contents.token(lbn))
    }
}
