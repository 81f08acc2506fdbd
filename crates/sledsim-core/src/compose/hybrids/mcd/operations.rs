//! Operations on segments: slots, buffer, and transfers between the children.

use super::bits::runs;
use super::jobs::{Job, Op, Operation, Piece};
use super::table::NONE;
use super::{BACK, FRONT, Mcd, OP};
use crate::model::CompletionSink;
use sledsim_base::request::{Extents, Op as RequestOp, append, blocks_in};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

impl Mcd {
    /// Advances all operations and pieces that can proceed.
    #[inline]
    pub(super) fn advance_all(&mut self, sink: &mut dyn CompletionSink) {
        if !(self.resumed.served_requests.is_empty()
            && self.resumed.pieces.is_empty()
            && self.slot_queue.ops.is_empty()
            && self.buffer.ops.is_empty()
            && self.deferred.ops.is_empty())
        {
            self.advance_any(sink);
        }
    }

    /// As [`Mcd::advance_all`], where some might.
    fn advance_any(&mut self, sink: &mut dyn CompletionSink) {
        loop {
            if !self.resumed.served_requests.is_empty() {
                let mut served = std::mem::take(&mut self.resumed.served_requests);
                for host_request in served.drain(..) {
                    self.pieces_done(host_request, 1, sink);
                }
                self.resumed.served_requests = served;
            }
            if !self.resumed.pieces.is_empty() {
                self.arriving.newest = None;
                let mut pieces = std::mem::take(&mut self.resumed.pieces);
                for piece in pieces.drain(..) {
                    self.place(piece, self.request_op(&piece), false);
                }
                self.resumed.pieces = pieces;
                self.access_ready(sink);
                self.send_bypassing(sink);
            } else if self.assign_slots() {
                self.access_ready(sink);
                self.send_bypassing(sink);
            } else if !self.assign_buffer(sink) && !self.write_deferred(sink) {
                return;
            }
        }
    }

    /// Assigns slots to the first operation in the queue; returns whether an
    /// operation got all it needs.
    fn assign_slots(&mut self) -> bool {
        while let Some(&op) = self.slot_queue.ops.front()
            && let Some(&segment) = self.slot_queue.need_slot.front()
        {
            if let Some(slot) = self.slots.take(segment, op as u32) {
                self.slot_queue.need_slot.pop_front();
                self.policy.insert(slot, segment);
                self.directory.insert(segment, slot);
                let state = &mut self.ops[op];
                state.slots.push(slot);
                if state.slots.len() as u32 == state.count {
                    self.slot_queue.ops.pop_front();
                    self.has_slots(op);
                    return true;
                }
            } else if self.slot_queue.being_freed < self.slot_queue.need_slot.len() {
                let segment = self.slot_queue.need_slot[self.slot_queue.being_freed];
                if !self.evict_slot(segment) {
                    return false;
                }
            } else {
                return false;
            }
        }
        false
    }

    fn has_slots(&mut self, op: usize) {
        if self.ops[op].kind == Operation::Fill {
            self.buffer.ops.push_back(op);
        } else {
            let op = self.ops.remove(op);
            for &slot in &op.slots {
                self.slots.set_op(slot, NONE);
            }
            // The pieces go on at once, as those in `resumed`, of which there are none.
            self.arriving.newest = None;
            for &piece in &op.waiting {
                let slot = op.slots[(piece.segment - op.first) as usize];
                self.place_in(slot, piece, self.request_op(&piece), false);
            }
            self.spare_ops.push(op);
        }
    }

    /// The operation of the request of a piece.
    fn request_op(&self, piece: &Piece) -> RequestOp {
        self.host_requests[piece.host_request].row.op
    }

    /// Evicts a slot for `segment`, now or after a destage; returns whether a slot
    /// was evictable.
    fn evict_slot(&mut self, segment: u64) -> bool {
        let slots = &mut self.slots;
        if !slots.has_idle() {
            return false;
        }
        while let Some(slot) = slots.pop_idle_again() {
            self.policy.idle_again(slot);
        }
        let mut is_idle = |slot| slots.may_evict(slot);
        let evicted = self.policy.evict(segment, &mut is_idle);
        let slot = evicted.expect("a policy evicts a slot where one is idle");
        let entry = self.slots.at(slot);
        self.counts.evicted += 1;
        if entry.is_dirty {
            self.counts.evicted_dirty += 1;
            self.slot_queue.being_freed += 1;
            self.destage(slot, true);
        } else {
            self.directory.remove(entry.segment);
            self.release(slot);
        }
        true
    }

    fn release(&mut self, slot: u32) {
        self.slots.release(slot);
        if let Some(content_state) = &mut self.content_state {
            content_state.void(slot);
        }
    }

    /// Begins to write the segment in `slot` to the back with as many dirty
    /// neighbours as allowed; if `evicts`, the slot is freed.
    fn destage(&mut self, slot: u32, evicts: bool) -> usize {
        let segment = self.slots.at(slot).segment;
        let most = u64::from(self.spec.exchange_segments);
        let is_dirty_neighbour = |segment: &u64| {
            let found = self.directory.get(*segment).filter(|found| found & OP == 0);
            found.is_some_and(|slot| self.slots.is_idle(slot) && self.slots.at(slot).is_dirty)
        };
        let low = segment.saturating_sub(most - 1);
        let before = (low..segment).rev().take_while(is_dirty_neighbour).count() as u64;
        let end = (segment + most - before).min(self.segments());
        let after = (segment + 1..end).take_while(is_dirty_neighbour).count() as u64;
        let (first, end) = (segment - before, segment + 1 + after);
        let victim = evicts.then_some(before as usize);
        let op = self.add_op(Operation::Destage { victim }, first, (end - first) as u32);
        let state = &mut self.ops[op];
        for other in first..end {
            let slot = match other == segment {
                true => slot,
                false => self.directory.get(other).unwrap_or(slot),
            };
            state.slots.push(slot);
            self.slots.clean(slot);
            self.slots.pin(slot);
        }
        if evicts {
            self.slots.hold_pinned(slot, op as u32);
            self.directory.insert(segment, OP | op as u32);
        }
        self.buffer.ops.push_back(op);
        op
    }

    /// The buffer blocks that an operation needs.
    fn buffer_need(&self, op: &Op) -> u64 {
        u64::from(op.count) * u64::from(self.spec.segment_blocks)
    }

    /// Starts the first operation that waits for the buffer, if there is room;
    /// returns whether there was.
    fn assign_buffer(&mut self, sink: &mut dyn CompletionSink) -> bool {
        let Some(&op) = self.buffer.ops.front() else {
            return false;
        };
        let room = self.buffer_need(&self.ops[op]);
        if room > self.buffer.free_blocks {
            return false;
        }
        self.buffer.ops.pop_front();
        self.buffer.free_blocks -= room;
        let state = &self.ops[op];
        if state.kind == Operation::Fill {
            let (moved, read) = self.missing_blocks(state);
            self.counts.fetched_blocks += u64::from(blocks_in(&read));
            self.ops[op].moved = moved;
            self.send(BACK, RequestOp::Read, Job::Fetched(op), read, sink);
        } else {
            let (mut moved, mut extents) = (Extents::new(), std::mem::take(&mut self.scratch));
            extents.clear();
            for (segment, &slot) in (state.first..).zip(&state.slots) {
                let (back, front) = (self.lbn_of(segment), self.front_lbn(slot));
                for (from, blocks) in runs(self.slots.bits(slot), self.blocks_of(segment), true) {
                    append(&mut moved, back + u64::from(from), blocks);
                    append(&mut extents, front + u64::from(from), blocks);
                }
            }
            self.ops[op].moved = moved;
            let read = Extents::from_slice(&extents);
            self.scratch = extents;
            self.send(FRONT, RequestOp::Read, Job::VictimRead(op), read, sink);
        }
        true
    }

    /// The missing blocks of an operation, and the extent read for them, from the
    /// first to the last.
    fn missing_blocks(&self, op: &Op) -> (Extents, Extents) {
        let mut moved = Extents::new();
        for (segment, &slot) in (op.first..).zip(&op.slots) {
            let lbn = self.lbn_of(segment);
            for (from, blocks) in runs(self.slots.bits(slot), self.blocks_of(segment), false) {
                append(&mut moved, lbn + u64::from(from), blocks);
            }
        }
        let mut read = Extents::new();
        if let (Some(first), Some(last)) = (moved.first(), moved.last()) {
            append(&mut read, first.lbn, (last.end() - first.lbn) as u32);
        }
        (moved, read)
    }

    /// Handles the end of an operation's read of the back into the buffer.
    pub(super) fn fetched(&mut self, op: usize, row: &Row, sink: &mut dyn CompletionSink) {
        if self.content_state.is_some() {
            self.store_fetched(op, row);
        }
        self.serve_waiting(op, row);
        let state = &self.ops[op];
        let mut extents = std::mem::take(&mut self.scratch);
        extents.clear();
        for (segment, &slot) in (state.first..).zip(&state.slots) {
            let data = self.front_lbn(slot);
            if self.spec.headers {
                append(&mut extents, data - 1, 1);
            }
            for (from, blocks) in runs(self.slots.bits(slot), self.blocks_of(segment), false) {
                append(&mut extents, data + u64::from(from), blocks);
            }
        }
        if self.content_state.is_some() {
            self.stage_fill(op);
        }
        let written = Extents::from_slice(&extents);
        self.scratch = extents;
        self.send(FRONT, RequestOp::Write, Job::Filled(op), written, sink);
    }

    /// Serves the pieces that wait for an operation from the buffer, where allowed.
    fn serve_waiting(&mut self, op: usize, row: &Row) {
        let state = &mut self.ops[op];
        state.is_buffered = true;
        let is_fill = state.kind == Operation::Fill;
        let mut waiting = std::mem::take(&mut state.waiting);
        let is_fresh = is_fill && state.slots.iter().all(|&slot| self.slots.is_empty(slot));
        if is_fill {
            if let Some(piece) = waiting.first() {
                self.host_requests[piece.host_request].row.charge(row);
            }
            self.account_wait(&waiting, row);
        }
        let mut left = 0;
        for index in 0..waiting.len() {
            let piece = waiting[index];
            let is_read = self.request_op(&piece) == RequestOp::Read;
            let may = if is_read { self.is_in_buffer(op, &piece) } else { is_fresh };
            if self.spec.shortcut && may {
                let written = self.directory.get(piece.segment).filter(|_| !is_read);
                if let Some(slot) = written {
                    self.slots.mark_dirty(slot);
                }
                self.serve_from_buffer(op, piece);
            } else {
                waiting[left] = piece;
                left += 1;
            }
        }
        waiting.truncate(left);
        self.ops[op].waiting = waiting;
    }

    /// Accounts for the time that these pieces waited for a child's request.
    fn account_wait(&mut self, pieces: &[Piece], row: &Row) {
        for piece in pieces {
            self.host_requests[piece.host_request].account(row);
        }
    }

    /// Handles the end of an operation's write to the front.
    pub(super) fn filled(&mut self, op: usize, row: &Row) {
        let op_state = self.ops.remove(op);
        self.buffer.free_blocks += self.buffer_need(&op_state);
        for (segment, &slot) in (op_state.first..).zip(&op_state.slots) {
            self.slots.set_valid(slot, 0, self.blocks_of(segment));
            self.slots.set_op(slot, NONE);
            if let Some(content_state) = &mut self.content_state {
                content_state.set_header(slot, segment, self.slots.bits(slot));
            }
        }
        if let Some(content_state) = &mut self.content_state {
            content_state.empty_buffer(op);
        }
        self.account_wait(&op_state.waiting, row);
        self.resumed.pieces.extend_from_slice(&op_state.waiting);
        self.spare_ops.push(op_state);
    }

    /// Handles the end of an operation's read of the front into the buffer.
    pub(super) fn victim_read(&mut self, op: usize, row: &Row, sink: &mut dyn CompletionSink) {
        if self.content_state.is_some() {
            self.store_victim_read(op, row);
        }
        self.serve_waiting(op, row);
        let state = &self.ops[op];
        if self.spec.immediate_report
            && let Operation::Destage { victim: Some(victim) } = state.kind
        {
            let (slot, waiting) = (state.slots[victim], state.waiting.len() as u32);
            self.slot_queue.being_freed -= 1;
            self.release(slot);
            if self.spec.read_priority {
                self.defer(op, waiting);
                return;
            }
        }
        self.write_back(op, sink);
    }

    /// Defers the write of an operation for which so many pieces wait.
    fn defer(&mut self, op: usize, waiting: u32) {
        self.deferred.ops.push_back(op);
        self.deferred.waiting_pieces += waiting;
        self.ops[op].is_deferred = true;
    }

    /// Writes an operation's data from the buffer to the back.
    fn write_back(&mut self, op: usize, sink: &mut dyn CompletionSink) {
        if self.content_state.is_some() {
            self.stage_destage(op);
        }
        let moved = self.ops[op].moved.clone();
        self.counts.destaged_blocks += u64::from(blocks_in(&moved));
        self.send(BACK, RequestOp::Write, Job::Destaged(op), moved, sink);
    }

    /// Writes deferred data to the back if the back is idle, if the buffer is full,
    /// or if a piece waits for them; returns whether a write was sent.
    fn write_deferred(&mut self, sink: &mut dyn CompletionSink) -> bool {
        if self.deferred.ops.is_empty() {
            return false;
        }
        let wanted = self.buffer.ops.front().map(|&op| &self.ops[op]);
        let is_full = wanted.is_some_and(|op| self.buffer_need(op) > self.buffer.free_blocks);
        let index = if self.back.busy == 0 || (is_full && self.deferred.busy == 0) {
            Some(0)
        } else if self.deferred.waiting_pieces > 0 {
            let is_waited_for = |&op: &usize| !self.ops[op].waiting.is_empty();
            self.deferred.ops.iter().position(is_waited_for)
        } else {
            None
        };
        // None is to be written now.
        let Some(op) = index.and_then(|index| self.deferred.ops.remove(index)) else {
            return false;
        };
        self.deferred.busy += 1;
        let state = &mut self.ops[op];
        state.is_deferred = false;
        self.deferred.waiting_pieces -= state.waiting.len() as u32;
        self.write_back(op, sink);
        true
    }

    /// Handles the end of an operation's write to the back.
    pub(super) fn destaged(&mut self, op: usize) {
        let state = self.ops.remove(op);
        self.buffer.free_blocks += self.buffer_need(&state);
        if let Some(content_state) = &mut self.content_state {
            content_state.empty_buffer(op);
        }
        let Operation::Destage { victim } = state.kind else {
            panic!("only a destage writes to the back");
        };
        if victim.is_some() && self.spec.immediate_report && self.spec.read_priority {
            self.deferred.busy -= 1;
        }
        for (index, &slot) in state.slots.iter().enumerate() {
            if Some(index) != victim {
                self.unpin(slot);
                continue;
            }
            self.directory.remove(state.first + index as u64);
            if !self.spec.immediate_report {
                self.slot_queue.being_freed -= 1;
                self.release(slot);
            }
        }
        if self.cleaner == Some(op) {
            self.cleaner = None;
        }
        self.resumed.pieces.extend_from_slice(&state.waiting);
        self.spare_ops.push(state);
    }

    /// When cleaning next begins.
    #[inline]
    pub(super) fn clean_at(&self) -> Option<Nanos> {
        if !self.cleans {
            return None;
        }
        let dirty = self.slots.dirty();
        if dirty == 0 || self.cleaner.is_some() {
            return None;
        }
        let share = f64::from(dirty) / self.slots.len() as f64;
        let at = if share > self.spec.clean_above {
            self.now
        } else {
            let idle = self.spec.clean_after_idle.filter(|_| self.back.busy == 0)?;
            self.now.max(self.back.free_at + idle)
        };
        self.slots.oldest_idle_dirty().map(|_| at)
    }

    /// Begins to clean the segment that has been dirty longest.
    pub(super) fn clean(&mut self) {
        let slot = self.slots.oldest_idle_dirty().expect("a dirty segment is to be cleaned");
        self.cleaner = Some(self.destage(slot, false));
    }
}
