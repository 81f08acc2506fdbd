//! Host requests, piece by piece: what can go on, and what has to wait.

use super::jobs::{Job, Op, Operation, Piece, Placed};
use super::table::NONE;
use super::{BACK, FRONT, Fetch, Mcd, OP};
use crate::model::CompletionSink;
use sledsim_base::request::{Extents, Op as RequestOp, append};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use smallvec::SmallVec;

impl Mcd {
    /// Says where `piece` stands: ready, waiting for an operation (one that
    /// goes on or one that it begins), or to be passed on. The policy hears of
    /// it the first time.
    pub(super) fn place(&mut self, piece: Piece, op: RequestOp, is_first: bool) {
        let found = self.directory.get(piece.segment);
        if is_first {
            self.count(op, found);
        }
        match found {
            None => self.miss(piece, op),
            Some(found) if found & OP != 0 => self.wait_for(found & !OP, piece, op),
            Some(slot) => {
                if is_first {
                    self.policy.touch(slot);
                }
                let entry = self.slots.at(slot);
                let (busy, is_growing) = (entry.op, entry.is_growing);
                if busy != NONE {
                    self.wait_for(busy, piece, op);
                    return;
                }
                let has_all = self.slots.holds(slot, piece.from, piece.blocks);
                let is_whole = piece.blocks == self.blocks_of(piece.segment);
                let may_write = has_all
                    || !is_growing && (self.spec.partial_write || is_whole || self.is_full(slot));
                let grows = op == RequestOp::Write && !has_all;
                let is_ready = match op {
                    RequestOp::Write => may_write,
                    _ => has_all,
                };
                if is_ready {
                    let entry = self.slots.at_mut(slot);
                    entry.pins += 1;
                    entry.is_growing |= grows;
                    if op == RequestOp::Write {
                        self.slots.mark_dirty(slot);
                    }
                    self.arriving.ready.push(Placed { slot, piece, grows });
                } else {
                    self.fill_up(slot, piece);
                }
            }
        }
    }

    /// Counts a segment that was asked for.
    fn count(&mut self, op: RequestOp, found: Option<u32>) {
        let op_of = |found: u32| self.ops.get(found & !OP).map(|op| op.what);
        let gone = |what| matches!(what, Some(Operation::Destage { .. }));
        let found = found.is_some_and(|found| found & OP == 0 || !gone(op_of(found)));
        let counts = &mut self.counts;
        let (asked, had) = match op {
            RequestOp::Write => (&mut counts.written, &mut counts.written_found),
            _ => (&mut counts.read, &mut counts.read_found),
        };
        *asked += 1;
        *had += u64::from(found);
    }

    fn is_full(&self, slot: u32) -> bool {
        let blocks = self.blocks_of(self.slots.at(slot).segment);
        self.slots.holds(slot, 0, blocks)
    }

    /// A piece of a segment that the front does not hold.
    fn miss(&mut self, piece: Piece, op: RequestOp) {
        let streams = self.open.get(piece.open).is_some_and(|open| open.streams);
        if streams {
            self.arriving.passed.push(piece);
            return;
        }
        let is_whole = piece.blocks == self.blocks_of(piece.segment);
        let is_write = op == RequestOp::Write;
        let what = if is_write && (self.spec.partial_write || is_whole) {
            Operation::Take
        } else {
            Operation::Fill
        };
        let most = self.most_together();
        if let Some(newest) = self.arriving.newest
            && let Some(op) = self.ops.get_mut(newest)
            && op.what == what
            && op.end() == piece.segment
            && op.count < most
        {
            op.count += 1;
            op.waiting.push(piece);
            self.slot_queue.lacking.push_back(piece.segment);
            self.directory.insert(piece.segment, OP | newest);
            return;
        }
        let (first, end) = match what {
            Operation::Fill => self.group(piece.segment),
            _ => (piece.segment, piece.segment + 1),
        };
        let mut op = Op::new(what, first, (end - first) as u32);
        op.waiting.push(piece);
        self.slot_queue.lacking.extend(first..end);
        let op = self.ops.insert(op);
        for segment in first..end {
            self.directory.insert(segment, OP | op);
        }
        self.slot_queue.ops.push_back(op);
        self.arriving.newest = Some(op);
    }

    /// The most segments that one operation may have.
    fn most_together(&self) -> u32 {
        // Operations that wait for slots must leave some to be given up.
        let most = (self.slots.len() as u32 / 4).max(1);
        self.spec.exchange_segments.min(most)
    }

    /// The segments that are fetched when `segment` is missed: first, and one
    /// past the last.
    fn group(&self, segment: u64) -> (u64, u64) {
        let wanted = match (self.spec.fetch, &self.sizes) {
            (Fetch::Automatic, Some(sizes)) => sizes.segments(),
            (Fetch::Segments(segments), _) => segments,
            (Fetch::Automatic, None) => 1,
        };
        let fits = self.spec.buffer_blocks / u64::from(self.spec.segment_blocks);
        let most = (self.slots.len() as u64 / 4).clamp(1, fits);
        let width = u64::from(wanted).min(most);
        let low = segment - segment % width;
        let high = (low + width).min(self.segments());
        let is_absent = |segment: &u64| self.directory.get(*segment).is_none();
        let before = (low..segment).rev().take_while(is_absent).count() as u64;
        let after = (segment + 1..high).take_while(is_absent).count() as u64;
        (segment - before, segment + 1 + after)
    }

    /// A piece whose segment an operation has for itself.
    fn wait_for(&mut self, op: u32, piece: Piece, request_op: RequestOp) {
        let is_read = request_op == RequestOp::Read;
        if self.spec.shortcut && is_read && self.is_in_buffer(op, &piece) {
            self.serve_from_buffer(op, piece);
        } else if let Some(op) = self.ops.get_mut(op) {
            op.waiting.push(piece);
            self.late.awaited += u32::from(op.is_late);
        }
    }

    /// Whether the segment buffer holds all blocks of a piece.
    pub(super) fn is_in_buffer(&self, op: u32, piece: &Piece) -> bool {
        let lbn = self.lbn_of(piece.segment) + u64::from(piece.from);
        (self.ops.get(op)).is_some_and(|op| op.is_buffered && op.moves(lbn, piece.blocks))
    }

    /// The buffer serves a piece, a read or a write into fetched data, from now
    /// on; whether it is done is said by `go_on`.
    pub(super) fn serve_from_buffer(&mut self, op: u32, piece: Piece) {
        if let Some(kept) = &mut self.kept {
            let lbn = piece.segment * u64::from(self.spec.segment_blocks) + u64::from(piece.from);
            kept.served(op, lbn, &piece);
        }
        let transfer = Nanos(self.spec.buffer_block_time.0 * u64::from(piece.blocks));
        if let Some(open) = self.open.get_mut(piece.open) {
            open.serve(self.now, self.spec.buffer_latency, transfer);
        }
        self.resumed.served.push_back(piece.open);
    }

    /// A piece of a segment of which the front lacks blocks that it needs: the
    /// rest is fetched, as soon as nothing goes on in the slot.
    fn fill_up(&mut self, slot: u32, piece: Piece) {
        let is_idle = self.slots.is_idle(slot);
        let what = if is_idle {
            Operation::Fill
        } else {
            Operation::Wait
        };
        let mut op = Op::new(what, piece.segment, 1);
        op.slots.push(slot);
        op.waiting.push(piece);
        let op = self.ops.insert(op);
        self.slots.at_mut(slot).op = op;
        if is_idle {
            self.buffer.ops.push_back(op);
        }
    }

    /// Sends what is ready to the front: one request for the pieces of a host
    /// request.
    pub(super) fn access_ready(&mut self, sink: &mut dyn CompletionSink) {
        let mut ready = std::mem::take(&mut self.arriving.ready);
        let mut left = &ready[..];
        while let Some(first) = left.first() {
            let open = first.piece.open;
            let same = left.iter().take_while(|placed| placed.piece.open == open);
            let (now, rest) = left.split_at(same.count());
            left = rest;
            self.access(open, now, sink);
        }
        ready.clear();
        self.arriving.ready = ready;
    }

    fn access(&mut self, open: u32, placed: &[Placed], sink: &mut dyn CompletionSink) {
        let Some(request) = self.open.get(open) else {
            return;
        };
        let op = request.row.op;
        let mut extents = Extents::new();
        for &Placed { slot, piece, grows } in placed {
            let data = self.front_lbn(slot);
            let lbn = data + u64::from(piece.from);
            let blocks = piece.blocks;
            if !grows || !self.spec.headers {
                append(&mut extents, lbn, blocks);
            } else {
                append(&mut extents, data - 1, 1);
                append(&mut extents, lbn, blocks);
            }
        }
        if self.kept.is_some() && op == RequestOp::Write {
            self.hold_access(open, placed);
        }
        let job = Job::Access(open, SmallVec::from_slice(placed));
        self.send(FRONT, op, job, extents, sink);
    }

    /// The front read or wrote pieces.
    pub(super) fn accessed(
        &mut self,
        open: u32,
        placed: &[Placed],
        row: &Row,
        sink: &mut dyn CompletionSink,
    ) {
        if self.kept.is_some() {
            self.keep_access(placed, row);
        }
        for &Placed { slot, piece, grows } in placed {
            if grows {
                self.slots.set_valid(slot, piece.from, piece.blocks);
                self.slots.at_mut(slot).is_growing = false;
                if let Some(kept) = &mut self.kept {
                    kept.head(slot, piece.segment, self.slots.bits(slot));
                }
            }
            self.unpin(slot);
        }
        if let Some(open) = self.open.get_mut(open) {
            open.charge(row);
            open.account(row);
        }
        self.pieces_done(open, placed.len() as u32, sink);
    }

    /// Nothing goes on any more in a slot on one account.
    pub(super) fn unpin(&mut self, slot: u32) {
        let entry = self.slots.at_mut(slot);
        entry.pins -= 1;
        if entry.pins == 0 && entry.op != NONE {
            let op = std::mem::replace(&mut entry.op, NONE);
            if let Some(op) = self.ops.remove(op) {
                self.resumed.pieces.extend(op.waiting);
            }
        }
    }

    /// Reads from the back what is not to be cached.
    pub(super) fn pass_on(&mut self, sink: &mut dyn CompletionSink) {
        let mut passed = std::mem::take(&mut self.arriving.passed);
        let mut left = &passed[..];
        while let Some(first) = left.first() {
            let mut extents = Extents::new();
            let open = first.open;
            let same = left.iter().take_while(|piece| piece.open == open);
            let (now, rest) = left.split_at(same.count());
            left = rest;
            for piece in now {
                let lbn = self.lbn_of(piece.segment) + u64::from(piece.from);
                append(&mut extents, lbn, piece.blocks);
                self.counts.passed_blocks += u64::from(piece.blocks);
            }
            let job = Job::Pass(open, SmallVec::from_slice(now));
            self.send(BACK, RequestOp::Read, job, extents, sink);
        }
        passed.clear();
        self.arriving.passed = passed;
    }

    /// The back read pieces for the host.
    pub(super) fn was_passed(
        &mut self,
        open: u32,
        pieces: &[Piece],
        row: &Row,
        sink: &mut dyn CompletionSink,
    ) {
        if self.kept.is_some() {
            self.keep_passed(pieces, row);
        }
        if let Some(open) = self.open.get_mut(open) {
            open.charge(row);
            open.account(row);
        }
        self.pieces_done(open, pieces.len() as u32, sink);
    }
}
