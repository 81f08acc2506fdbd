//! Host requests, piece by piece: which are ready, and which have to wait.

use super::jobs::{Job, Operation, Piece, Placed};
use super::table::NONE;
use super::{BACK, FRONT, Fetch, Mcd, OP};
use crate::model::CompletionSink;
use sledsim_base::request::{Extents, Op as RequestOp, append};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

impl Mcd {
    /// Classifies `piece`: ready, waiting for an operation (a current or a new
    /// one), or bypassing the front. The first time, the policy counts the access.
    pub(super) fn place(&mut self, piece: Piece, op: RequestOp, is_first: bool) {
        let found = self.directory.find(piece.segment);
        if is_first {
            self.count(op, found.ok());
        }
        match found {
            Err(place) => self.miss(place, piece, op),
            Ok(found) if found & OP != 0 => self.wait_for((found & !OP) as usize, piece, op),
            Ok(slot) => self.place_in(slot, piece, op, is_first),
        }
    }

    /// As [`Mcd::place`], for a piece of the segment in `slot`.
    pub(super) fn place_in(&mut self, slot: u32, piece: Piece, op: RequestOp, is_first: bool) {
        if is_first {
            self.policy.touch(slot);
        }
        let entry = self.slots.at(slot);
        let (busy, is_growing) = (entry.op, entry.is_growing);
        if busy != NONE {
            self.wait_for(busy as usize, piece, op);
            return;
        }
        let has_all = self.slots.is_valid(slot, piece.from, piece.blocks);
        let is_write = op == RequestOp::Write;
        let is_ready = has_all
            || is_write
                && !is_growing
                && (self.spec.partial_write
                    || piece.blocks == self.blocks_of(piece.segment)
                    || self.is_full(slot));
        if !is_ready {
            self.fill_up(slot, piece);
            return;
        }
        let grows = is_write && !has_all;
        self.slots.pin(slot);
        if grows {
            self.slots.set_growing(slot, true);
        }
        if is_write {
            self.slots.mark_dirty(slot);
        }
        self.arriving.ready.push(Placed { slot, piece, grows });
    }

    /// Counts a requested segment.
    fn count(&mut self, op: RequestOp, found: Option<u32>) {
        let is_leaving =
            |op: u32| matches!(self.ops[(op & !OP) as usize].kind, Operation::Destage { .. });
        let found = found.is_some_and(|found| found & OP == 0 || !is_leaving(found));
        let counts = &mut self.counts;
        let (requested, found_count) = match op {
            RequestOp::Write => (&mut counts.written, &mut counts.written_found),
            _ => (&mut counts.read, &mut counts.read_found),
        };
        *requested += 1;
        *found_count += u64::from(found);
    }

    fn is_full(&self, slot: u32) -> bool {
        let blocks = self.blocks_of(self.slots.at(slot).segment);
        self.slots.is_valid(slot, 0, blocks)
    }

    /// Handles a piece of a segment that is not in the front, nor at `place` in the
    /// directory.
    fn miss(&mut self, place: usize, piece: Piece, op: RequestOp) {
        if self.host_requests[piece.host_request].streams {
            self.arriving.bypassing.push(piece);
            return;
        }
        let is_whole = piece.blocks == self.blocks_of(piece.segment);
        let is_write = op == RequestOp::Write;
        let kind = if is_write && (self.spec.partial_write || is_whole) {
            Operation::Take
        } else {
            Operation::Fill
        };
        let most = self.most_together();
        let newest = self.arriving.newest.filter(|&newest| {
            let op = &self.ops[newest];
            op.kind == kind && op.end() == piece.segment && op.count < most
        });
        if let Some(newest) = newest {
            let op = &mut self.ops[newest];
            op.count += 1;
            op.waiting.push(piece);
            self.slot_queue.need_slot.push_back(piece.segment);
            self.directory.fill(place, piece.segment, OP | newest as u32);
            return;
        }
        let (first, end) = match kind {
            Operation::Fill => self.group(piece.segment),
            _ => (piece.segment, piece.segment + 1),
        };
        let op = self.add_op(kind, first, (end - first) as u32);
        self.ops[op].waiting.push(piece);
        self.directory.fill(place, piece.segment, OP | op as u32);
        for segment in first..end {
            self.slot_queue.need_slot.push_back(segment);
            if segment != piece.segment {
                self.directory.insert(segment, OP | op as u32);
            }
        }
        self.slot_queue.ops.push_back(op);
        self.arriving.newest = Some(op);
    }

    /// The most segments of one operation.
    fn most_together(&self) -> u32 {
        // Operations that wait for slots must leave some to evict.
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

    /// Handles a piece whose segment an operation holds exclusively.
    fn wait_for(&mut self, op: usize, piece: Piece, request_op: RequestOp) {
        let is_read = request_op == RequestOp::Read;
        if self.spec.shortcut && is_read && self.is_in_buffer(op, &piece) {
            self.serve_from_buffer(op, piece);
        } else {
            let op = &mut self.ops[op];
            op.waiting.push(piece);
            self.deferred.waiting_pieces += u32::from(op.is_deferred);
        }
    }

    /// Whether the segment buffer holds all blocks of a piece.
    pub(super) fn is_in_buffer(&self, op: usize, piece: &Piece) -> bool {
        let lbn = self.lbn_of(piece.segment) + u64::from(piece.from);
        let op = &self.ops[op];
        op.is_buffered && op.moves(lbn, piece.blocks)
    }

    /// Serves a piece from the buffer, a read or a write into fetched data;
    /// `advance_all` completes it.
    pub(super) fn serve_from_buffer(&mut self, op: usize, piece: Piece) {
        if let Some(content_state) = &mut self.content_state {
            let lbn = piece.segment * u64::from(self.spec.segment_blocks) + u64::from(piece.from);
            content_state.serve_buffered(op, lbn, &piece);
        }
        let transfer = Nanos(self.spec.buffer_block_time.0 * u64::from(piece.blocks));
        let request = &mut self.host_requests[piece.host_request];
        request.serve(self.now, self.spec.buffer_latency, transfer);
        self.resumed.served_requests.push(piece.host_request);
    }

    /// Handles a piece that needs blocks missing from its slot: fetches them as
    /// soon as the slot is idle.
    fn fill_up(&mut self, slot: u32, piece: Piece) {
        let is_idle = self.slots.is_idle(slot);
        let kind = if is_idle { Operation::Fill } else { Operation::Wait };
        let op = self.add_op(kind, piece.segment, 1);
        let state = &mut self.ops[op];
        state.slots.push(slot);
        state.waiting.push(piece);
        self.slots.set_op(slot, op as u32);
        if is_idle {
            self.buffer.ops.push_back(op);
        }
    }

    /// Sends the ready pieces to the front, one request per host request.
    pub(super) fn access_ready(&mut self, sink: &mut dyn CompletionSink) {
        let mut ready = std::mem::take(&mut self.arriving.ready);
        let mut left = &ready[..];
        while let Some(first) = left.first() {
            let host_request = first.piece.host_request;
            let same = left.iter().take_while(|placed| placed.piece.host_request == host_request);
            let (now, rest) = left.split_at(same.count());
            left = rest;
            self.access(host_request, now, sink);
        }
        ready.clear();
        self.arriving.ready = ready;
    }

    fn access(&mut self, host_request: usize, placed: &[Placed], sink: &mut dyn CompletionSink) {
        let op = self.host_requests[host_request].row.op;
        let mut extents = std::mem::take(&mut self.scratch);
        extents.clear();
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
        if self.content_state.is_some() && op == RequestOp::Write {
            self.stage_access(host_request, placed);
        }
        let job = Job::Access(host_request, self.jobs.placed.list(placed));
        self.send(FRONT, op, job, Extents::from_slice(&extents), sink);
        self.scratch = extents;
    }

    /// Handles the end of an access of pieces in the front.
    pub(super) fn accessed(
        &mut self,
        host_request: usize,
        placed: &[Placed],
        row: &Row,
        sink: &mut dyn CompletionSink,
    ) {
        if self.content_state.is_some() {
            self.store_access(placed, row);
        }
        for &Placed { slot, piece, grows } in placed {
            if grows {
                self.slots.set_valid(slot, piece.from, piece.blocks);
                self.slots.set_growing(slot, false);
                if let Some(content_state) = &mut self.content_state {
                    content_state.set_header(slot, piece.segment, self.slots.bits(slot));
                }
            }
            self.unpin(slot);
        }
        let request = &mut self.host_requests[host_request];
        request.row.charge(row);
        request.account(row);
        self.pieces_done(host_request, placed.len() as u32, sink);
    }

    /// Releases one pin of a slot.
    pub(super) fn unpin(&mut self, slot: u32) {
        if let Some(op) = self.slots.unpin(slot) {
            let op = self.ops.remove(op as usize);
            self.resumed.pieces.extend_from_slice(&op.waiting);
            self.spare_ops.push(op);
        }
    }

    /// Reads pieces that bypass the front from the back.
    pub(super) fn send_bypassing(&mut self, sink: &mut dyn CompletionSink) {
        if self.arriving.bypassing.is_empty() {
            return;
        }
        let mut bypassing = std::mem::take(&mut self.arriving.bypassing);
        let mut left = &bypassing[..];
        while let Some(first) = left.first() {
            let mut extents = Extents::new();
            let host_request = first.host_request;
            let same = left.iter().take_while(|piece| piece.host_request == host_request);
            let (now, rest) = left.split_at(same.count());
            left = rest;
            for piece in now {
                let lbn = self.lbn_of(piece.segment) + u64::from(piece.from);
                append(&mut extents, lbn, piece.blocks);
                self.counts.passed_blocks += u64::from(piece.blocks);
            }
            let job = Job::Bypass(host_request, self.jobs.pieces.list(now));
            self.send(BACK, RequestOp::Read, job, extents, sink);
        }
        bypassing.clear();
        self.arriving.bypassing = bypassing;
    }

    /// Handles the end of a read that bypassed the front.
    pub(super) fn bypassed(
        &mut self,
        host_request: usize,
        pieces: &[Piece],
        row: &Row,
        sink: &mut dyn CompletionSink,
    ) {
        if self.content_state.is_some() {
            self.store_bypassed(pieces, row);
        }
        let request = &mut self.host_requests[host_request];
        request.row.charge(row);
        request.account(row);
        self.pieces_done(host_request, pieces.len() as u32, sink);
    }
}
