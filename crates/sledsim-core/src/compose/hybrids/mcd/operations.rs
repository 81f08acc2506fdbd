//! Operations on segments: slots, buffer, and what moves between the children.

use super::jobs::{Job, Op, Operation, Piece};
use super::table::{NONE, runs};
use super::{BACK, FRONT, Mcd, OP};
use crate::model::CompletionSink;
use sledsim_base::request::{Extents, Op as RequestOp, append, blocks_in};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

impl Mcd {
    /// Does all that has become possible.
    pub(super) fn go_on(&mut self, sink: &mut dyn CompletionSink) {
        loop {
            while let Some(open) = self.resumed.served.pop_front() {
                self.pieces_done(open, 1, sink);
            }
            if !self.resumed.pieces.is_empty() {
                self.arriving.newest = None;
                while let Some(piece) = self.resumed.pieces.pop_front() {
                    let op = self.open.get(piece.open).map(|open| open.row.op);
                    self.place(piece, op.unwrap_or_default(), false);
                }
                self.access_ready(sink);
                self.pass_on(sink);
            } else if !self.hand_out_slots()
                && !self.hand_out_buffer(sink)
                && !self.write_late(sink)
            {
                return;
            }
        }
    }

    /// Gives slots to the first operation that wants some; whether one has all
    /// it needs.
    fn hand_out_slots(&mut self) -> bool {
        while let Some(&op) = self.slot_queue.ops.front()
            && let Some(&segment) = self.slot_queue.lacking.front()
        {
            if let Some(slot) = self.slots.take(segment, op) {
                self.slot_queue.lacking.pop_front();
                self.policy.insert(slot, segment);
                self.directory.insert(segment, slot);
                let Some(state) = self.ops.get_mut(op) else {
                    continue;
                };
                state.slots.push(slot);
                if state.slots.len() as u32 == state.count {
                    self.slot_queue.ops.pop_front();
                    self.has_slots(op);
                    return true;
                }
            } else if self.slot_queue.coming < self.slot_queue.lacking.len() {
                let segment = self.slot_queue.lacking[self.slot_queue.coming];
                if !self.give_up(segment) {
                    return false;
                }
            } else {
                return false;
            }
        }
        false
    }

    fn has_slots(&mut self, op: u32) {
        if (self.ops.get(op)).is_some_and(|op| op.what == Operation::Fill) {
            self.buffer.ops.push_back(op);
        } else if let Some(op) = self.ops.remove(op) {
            for slot in op.slots {
                self.slots.at_mut(slot).op = NONE;
            }
            self.resumed.pieces.extend(op.waiting);
        }
    }

    /// Gives up a slot for `segment`, now or soon; whether there is one.
    fn give_up(&mut self, segment: u64) -> bool {
        let slots = &self.slots;
        let mut is_idle = |slot| slots.is_idle(slot);
        let Some(slot) = self.policy.evict(segment, &mut is_idle) else {
            return false;
        };
        let entry = self.slots.at(slot);
        self.counts.given_up += 1;
        if entry.is_dirty {
            self.counts.given_up_dirty += 1;
            self.slot_queue.coming += 1;
            self.destage(slot, true);
        } else {
            self.directory.remove(entry.segment);
            self.release(slot);
        }
        true
    }

    fn release(&mut self, slot: u32) {
        self.slots.release(slot);
        if let Some(kept) = &mut self.kept {
            kept.void(slot);
        }
    }

    /// Begins to write the segment in `slot` to the back, which gives the slot
    /// up or not, with as many dirty neighbours as may go along.
    fn destage(&mut self, slot: u32, gives_up: bool) -> u32 {
        let segment = self.slots.at(slot).segment;
        let most = u64::from(self.spec.exchange_segments);
        let goes_along = |segment: &u64| {
            let found = self.directory.get(*segment).filter(|found| found & OP == 0);
            found.is_some_and(|slot| self.slots.is_idle(slot) && self.slots.at(slot).is_dirty)
        };
        let low = segment.saturating_sub(most - 1);
        let before = (low..segment).rev().take_while(goes_along).count() as u64;
        let end = (segment + most - before).min(self.segments());
        let after = (segment + 1..end).take_while(goes_along).count() as u64;
        let (first, end) = (segment - before, segment + 1 + after);
        let victim = gives_up.then_some(before as usize);
        let mut op = Op::new(Operation::Destage { victim }, first, (end - first) as u32);
        for other in first..end {
            let slot = self.directory.get(other).unwrap_or(slot);
            op.slots.push(slot);
            self.slots.clean(slot);
            self.slots.at_mut(slot).pins += 1;
        }
        let op = self.ops.insert(op);
        if gives_up {
            let entry = self.slots.at_mut(slot);
            entry.pins = 0;
            entry.op = op;
            self.directory.insert(segment, OP | op);
        }
        self.buffer.ops.push_back(op);
        op
    }

    /// Room in the buffer for an operation.
    fn room(&self, op: &Op) -> u64 {
        u64::from(op.count) * u64::from(self.spec.segment_blocks)
    }

    /// Gives room in the buffer to the first operation that wants some, which
    /// begins; whether there was room for it.
    fn hand_out_buffer(&mut self, sink: &mut dyn CompletionSink) -> bool {
        let Some(&op) = self.buffer.ops.front() else {
            return false;
        };
        let Some(room) = self.ops.get(op).map(|op| self.room(op)) else {
            return false;
        };
        if room > self.buffer.free_blocks {
            return false;
        }
        self.buffer.ops.pop_front();
        self.buffer.free_blocks -= room;
        let Some(state) = self.ops.get(op) else {
            return false;
        };
        if state.what == Operation::Fill {
            let (moved, read) = self.to_fetch(state);
            self.counts.fetched_blocks += u64::from(blocks_in(&read));
            if let Some(state) = self.ops.get_mut(op) {
                state.moved = moved;
            }
            self.send(BACK, RequestOp::Read, Job::Fetched(op), read, sink);
        } else {
            let (mut moved, mut extents) = (Extents::new(), Extents::new());
            for (segment, &slot) in (state.first..).zip(&state.slots) {
                let (back, front) = (self.lbn_of(segment), self.front_lbn(slot));
                for (from, blocks) in runs(self.slots.bits(slot), self.blocks_of(segment), true) {
                    append(&mut moved, back + u64::from(from), blocks);
                    append(&mut extents, front + u64::from(from), blocks);
                }
            }
            if let Some(state) = self.ops.get_mut(op) {
                state.moved = moved;
            }
            self.send(FRONT, RequestOp::Read, Job::VictimRead(op), extents, sink);
        }
        true
    }

    /// The blocks of the back that an operation lacks, and what is read for
    /// them: all from the first to the last.
    fn to_fetch(&self, op: &Op) -> (Extents, Extents) {
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

    /// An operation's blocks are in the buffer, read from the back.
    pub(super) fn fetched(&mut self, op: u32, row: &Row, sink: &mut dyn CompletionSink) {
        if self.kept.is_some() {
            self.keep_fetched(op, row);
        }
        self.serve_waiting(op, row);
        let Some(state) = self.ops.get(op) else {
            return;
        };
        let mut extents = Extents::new();
        for (segment, &slot) in (state.first..).zip(&state.slots) {
            let data = self.front_lbn(slot);
            if self.spec.headers {
                append(&mut extents, data - 1, 1);
            }
            for (from, blocks) in runs(self.slots.bits(slot), self.blocks_of(segment), false) {
                append(&mut extents, data + u64::from(from), blocks);
            }
        }
        if self.kept.is_some() {
            self.hold_filled(op);
        }
        self.send(FRONT, RequestOp::Write, Job::Filled(op), extents, sink);
    }

    /// The buffer holds an operation's data: it serves who waits for them, as
    /// far as it may.
    fn serve_waiting(&mut self, op: u32, row: &Row) {
        let Some(state) = self.ops.get_mut(op) else {
            return;
        };
        state.is_buffered = true;
        let is_fill = state.what == Operation::Fill;
        let (slots, waiting) = (state.slots.clone(), std::mem::take(&mut state.waiting));
        let is_fresh = is_fill && slots.iter().all(|&slot| self.slots.is_empty(slot));
        if is_fill {
            if let Some(open) = waiting
                .first()
                .and_then(|piece| self.open.get_mut(piece.open))
            {
                open.charge(row);
            }
            self.waited(&waiting, row);
        }
        for piece in waiting {
            let request = self.open.get(piece.open);
            let is_read = request.is_some_and(|open| open.row.op == RequestOp::Read);
            let may = if is_read {
                self.is_in_buffer(op, &piece)
            } else {
                is_fresh
            };
            if self.spec.shortcut && may {
                let written = self.directory.get(piece.segment).filter(|_| !is_read);
                if let Some(slot) = written {
                    self.slots.mark_dirty(slot);
                }
                self.serve_from_buffer(op, piece);
            } else if let Some(state) = self.ops.get_mut(op) {
                state.waiting.push(piece);
            }
        }
    }

    /// The requests of these pieces waited for a child's request.
    fn waited(&mut self, pieces: &[Piece], row: &Row) {
        for piece in pieces {
            if let Some(open) = self.open.get_mut(piece.open) {
                open.account(row);
            }
        }
    }

    /// An operation's blocks are in the front.
    pub(super) fn filled(&mut self, op: u32, row: &Row) {
        let Some(op_state) = self.ops.remove(op) else {
            return;
        };
        self.buffer.free_blocks += self.room(&op_state);
        for (segment, &slot) in (op_state.first..).zip(&op_state.slots) {
            self.slots.set_valid(slot, 0, self.blocks_of(segment));
            self.slots.at_mut(slot).op = NONE;
            if let Some(kept) = &mut self.kept {
                kept.head(slot, segment, self.slots.bits(slot));
            }
        }
        if let Some(kept) = &mut self.kept {
            kept.empty_buffer(op);
        }
        self.waited(&op_state.waiting, row);
        self.resumed.pieces.extend(op_state.waiting);
    }

    /// An operation's blocks are in the buffer, read from the front.
    pub(super) fn victim_read(&mut self, op: u32, row: &Row, sink: &mut dyn CompletionSink) {
        if self.kept.is_some() {
            self.keep_victim_read(op, row);
        }
        self.serve_waiting(op, row);
        let Some(state) = self.ops.get(op) else {
            return;
        };
        if self.spec.immediate_report
            && let Operation::Destage {
                victim: Some(victim),
            } = state.what
        {
            let slot = state.slots[victim];
            self.late.awaited += state.waiting.len() as u32;
            self.slot_queue.coming -= 1;
            self.release(slot);
            self.late.ops.push_back(op);
            if let Some(state) = self.ops.get_mut(op) {
                state.is_late = true;
            }
        } else {
            self.write_back(op, sink);
        }
    }

    /// Sends an operation's data from the buffer to the back.
    fn write_back(&mut self, op: u32, sink: &mut dyn CompletionSink) {
        if self.kept.is_some() {
            self.hold_destaged(op);
        }
        let Some(state) = self.ops.get(op) else {
            return;
        };
        let moved = state.moved.clone();
        self.counts.destaged_blocks += u64::from(blocks_in(&moved));
        self.send(BACK, RequestOp::Write, Job::Destaged(op), moved, sink);
    }

    /// Sends data that may stay in the buffer to the back, if the back rests, if
    /// there is no room in the buffer, or if a piece waits for them; whether any
    /// were sent.
    fn write_late(&mut self, sink: &mut dyn CompletionSink) -> bool {
        let wanted = self.buffer.ops.front().and_then(|&op| self.ops.get(op));
        let is_full = wanted.is_some_and(|op| self.room(op) > self.buffer.free_blocks);
        let index = if self.back.busy == 0 || (is_full && self.late.busy == 0) {
            (!self.late.ops.is_empty()).then_some(0)
        } else if self.late.awaited > 0 {
            let is_awaited =
                |&op: &u32| (self.ops.get(op)).is_some_and(|op| !op.waiting.is_empty());
            self.late.ops.iter().position(is_awaited)
        } else {
            None
        };
        let Some(op) = index.and_then(|index| self.late.ops.remove(index)) else {
            return false;
        };
        self.late.busy += 1;
        if let Some(state) = self.ops.get_mut(op) {
            state.is_late = false;
            self.late.awaited -= state.waiting.len() as u32;
        }
        self.write_back(op, sink);
        true
    }

    /// An operation's blocks are on the back.
    pub(super) fn destaged(&mut self, op: u32) {
        let Some(state) = self.ops.remove(op) else {
            return;
        };
        self.buffer.free_blocks += self.room(&state);
        if let Some(kept) = &mut self.kept {
            kept.empty_buffer(op);
        }
        let Operation::Destage { victim } = state.what else {
            return;
        };
        if victim.is_some() && self.spec.immediate_report {
            self.late.busy -= 1;
        }
        for (index, &slot) in state.slots.iter().enumerate() {
            if Some(index) != victim {
                self.unpin(slot);
                continue;
            }
            self.directory.remove(state.first + index as u64);
            if !self.spec.immediate_report {
                self.slot_queue.coming -= 1;
                self.release(slot);
            }
        }
        if self.cleaner == Some(op) {
            self.cleaner = None;
        }
        self.resumed.pieces.extend(state.waiting);
    }

    /// When dirty segments are next written without need.
    pub(super) fn clean_at(&self) -> Option<Nanos> {
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
        if let Some(slot) = self.slots.oldest_idle_dirty() {
            self.cleaner = Some(self.destage(slot, false));
        }
    }
}
