//! Reads, read-ahead and hits.

use super::ahead::{PrecedingRead, ReadAheadPlan};
use super::pieces::{Delivery, TimedPiece};
use super::{Controller, Dirty, Keep, MoveResult, Share};
use crate::devices::disk::drive::Arm;
use crate::devices::disk::power::Cause;
use crate::devices::disk::rotation::Rotation;
use crate::model::CompletionSink;
use crate::queueing::schedulers::Waiting;
use sledsim_base::request::{Extent, OWN_WORK, Op, Request};
use sledsim_base::units::Nanos;
use std::ops::Range;
use std::slice;

impl Controller {
    /// Adds to the segments all pieces read by `at`.
    pub(super) fn read_by(&mut self, at: Nanos) {
        loop {
            let mut read = 0;
            while let Some(&piece) = self.coming.get(read)
                && piece.end <= at
            {
                read += 1;
                if let Some(arm) = piece.arm {
                    self.read_ahead(arm, &piece);
                }
                let kept = piece.kept();
                if kept.blocks > 0 {
                    self.segments.add(piece.segment, kept);
                }
            }
            if read > 0 {
                self.coming.drain(..read);
            }
            let begins = |ahead: &ReadAheadPlan| ahead.at() < at;
            let goes_on = self.coming.is_empty() && self.ahead.as_ref().is_some_and(begins);
            if !(goes_on && self.plan_on()) {
                return;
            }
        }
    }

    /// Plans the next pass of read-ahead; whether there is one.
    fn plan_on(&mut self) -> bool {
        let ahead = self.ahead.as_mut();
        let begin = ahead.as_ref().map(|ahead| ahead.at());
        let Some(mut piece) = ahead.and_then(|ahead| ahead.next(&self.drive)) else {
            return false;
        };
        if let (Some(faults), Some(begin), Some(arm)) = (self.disk.faults(), begin, piece.arm)
            && faults.stops(begin, arm.head, piece.extent)
        {
            self.ahead = None;
            return false;
        }
        piece.segment = self.reading;
        self.disk.expect(piece.end);
        self.coming.push(piece);
        true
    }

    /// Accounts for a finished piece of read-ahead, which leaves the arm at `arm`.
    fn read_ahead(&mut self, arm: Arm, piece: &TimedPiece) {
        let reads = piece.end - piece.first;
        self.disk.leave(arm);
        self.busy.add(OWN_WORK, reads);
        let took = [Nanos::ZERO, reads];
        (self.disk).work([piece.first, piece.end], took, Cause::ReadAhead);
    }

    /// Stops read-ahead at `at`, or when announced work is done. Returns when the
    /// mechanics are free, and the remaining plan.
    pub(super) fn stop(&mut self, at: Nanos) -> (Nanos, Option<ReadAheadPlan>) {
        self.read_by(at);
        let mut free = at.max(self.free);
        let mut planned = self.ahead.take();
        let mut take_back = |extent: Extent| {
            if let Some(ahead) = &mut planned {
                ahead.take_back(extent);
            }
        };
        let announced = (self.coming.iter()).take_while(|piece| piece.end <= free).count();
        while self.coming.len() > announced + 1
            && let Some(piece) = self.coming.pop()
        {
            take_back(piece.extent);
        }
        if let Some(piece) = self.coming.get_mut(announced) {
            let (mut blocks, inside) = piece.passed_by(free);
            let finishes = inside && !self.buffer.stops_in_sector;
            blocks += u32::from(finishes);
            piece.end = piece.passed(u64::from(blocks));
            if finishes {
                free = piece.end;
            }
            take_back(Extent {
                lbn: piece.extent.lbn + u64::from(blocks),
                blocks: piece.extent.blocks - blocks,
            });
            piece.extent.blocks = blocks;
        }
        self.leave_behind();
        self.coming.retain(|piece| piece.extent.blocks > 0);
        (free, planned)
    }

    /// Accounts for the pieces in progress, so that the arm continues from the last
    /// one.
    fn leave_behind(&mut self) {
        for index in 0..self.coming.len() {
            if let Some(arm) = self.coming[index].arm.take() {
                let piece = self.coming[index];
                self.read_ahead(arm, &piece);
            }
        }
    }

    /// Whether blocks are still being read into segment `index`.
    fn is_reading(&self, index: usize) -> bool {
        let plans = self.ahead.as_ref().is_some_and(ReadAheadPlan::has_more);
        (plans && self.reading == index) || self.coming.iter().any(|piece| piece.segment == index)
    }

    /// Whether read-ahead may be extended for a hit: not while requests wait.
    pub(super) fn may_promise(&self) -> bool {
        self.waiting == 0
    }

    /// Whether read-ahead plans to read `lbn` but has not started to.
    fn plans(&self, lbn: u64) -> bool {
        self.ahead.as_ref().is_some_and(|ahead| ahead.covers(lbn))
    }

    /// The segment to read `lbn` from; `promise` allows planned read-ahead to count.
    fn find(&self, lbn: u64, promise: bool) -> Option<usize> {
        let mut coming = self.coming.iter().rev();
        let coming = coming.find(|piece| piece.will_hold(lbn));
        let coming = coming.map(|piece| piece.segment);
        let planned = (promise && self.plans(lbn)).then_some(self.reading);
        (self.segments).find(lbn, self.buffer.read_written, [coming, planned])
    }

    /// Delivers the blocks of segment `index`, held or coming, from `lbn` on and before
    /// `end`; returns one past the last of these blocks.
    fn deliver(
        &mut self,
        index: usize,
        mut lbn: u64,
        end: u64,
        promise: bool,
        delivery: &mut Delivery,
    ) -> u64 {
        while lbn < end {
            if let Some(run_end) = self.segments.get(index).run_end(lbn) {
                let to = run_end.min(end);
                delivery.held(to - lbn);
                lbn = to;
                continue;
            }
            let has = |piece: &&TimedPiece| piece.segment == index && piece.will_hold(lbn);
            if let Some(piece) = self.coming.iter().find(has) {
                let to = piece.extent.end().min(end);
                delivery.passing(piece, lbn, to);
                self.free = self.free.max(piece.passed(to - piece.extent.lbn));
                lbn = to;
                continue;
            }
            let planned = promise && self.reading == index && self.plans(lbn);
            if !(planned && self.plan_on()) {
                break;
            }
        }
        lbn
    }

    /// Overhead of a hit: the "after read" value applies only if it continues the last
    /// read.
    fn hit_overhead(&self, lbn: u64) -> Nanos {
        let continues = !self.before.write && lbn == self.before.end;
        self.settings.overheads.read_hit[usize::from(!continues)]
    }

    /// Serves a read from the buffer, if all its blocks are there or coming.
    pub(super) fn hit(
        &mut self,
        waiting: &Waiting,
        at: Nanos,
        promise: bool,
        sink: &mut dyn CompletionSink,
    ) -> bool {
        let &[extent] = waiting.request.extents.as_slice() else {
            return false;
        };
        let Some(index) = self.find(extent.lbn, promise) else {
            self.missed = (waiting.request.id, at);
            return false;
        };
        let overhead = self.hit_overhead(extent.lbn);
        let start = (at + overhead).max(self.written_by(index, extent));
        let mut delivery = Delivery::new(self.settings.bus.read_ns_per_block, start);
        let free = self.free;
        let end = extent.end();
        if self.deliver(index, extent.lbn, end, promise, &mut delivery) < end {
            // Undo: nothing was promised.
            self.free = free;
            return false;
        }
        let mut row = self.row(waiting, at);
        let bus = delivery.bus(u64::from(extent.blocks));
        let crossed = self.cross(row.id, start, delivery.end, bus);
        let completion = crossed + self.settings.overheads.read_completion;
        row.parts.overhead += overhead + self.settings.overheads.read_completion;
        row.parts.bus = bus;
        self.answer(&mut row, completion, sink);
        self.segments.touch(index);
        if self.buffer.over_requested && !self.segments.get(index).is_written() {
            self.give_up(index, &(0..extent.end()));
        } else if self.buffer.keep == Keep::Ahead {
            self.give_up(index, &(extent.lbn..extent.end()));
        }
        if self.buffer.ahead_on_hit && self.may_promise() {
            self.follow_hit(index, extent, at);
        }
        self.remember(&waiting.request);
        true
    }

    /// Whether a request was looked up at `at` in vain. Not by a comparison of pairs: that
    /// loads both numbers at once, which waits for their stores.
    fn has_missed(&self, id: u64, at: Nanos) -> bool {
        ((self.missed.0 ^ id) | (self.missed.1.0 ^ at.0)) == 0
    }

    /// When the host has sent the written data of these blocks in segment `index`. A
    /// later write may have been sent earlier, as its overhead may be less.
    fn written_by(&self, index: usize, extent: Extent) -> Nanos {
        if !self.segments.get(index).is_written() {
            return Nanos::ZERO;
        }
        let holds =
            |dirty: &&Dirty| dirty.extent.lbn < extent.end() && extent.lbn < dirty.extent.end();
        let sent = self.dirty.iter().filter(holds);
        sent.map(|dirty| dirty.crossed).max().unwrap_or_default()
    }

    /// Drops blocks from segment `index` and from the pieces on their way to it.
    pub(super) fn give_up(&mut self, index: usize, blocks: &Range<u64>) {
        self.segments.get_mut(index).give_up(blocks);
        for piece in &mut self.coming {
            if piece.segment == index {
                piece.give_up(blocks);
            }
        }
    }

    /// Reserves the bus for read `id` whose last block could cross at `end`; returns the
    /// time at which it has crossed.
    fn cross(&mut self, id: u64, start: Nanos, end: Nanos, bus: Nanos) -> Nanos {
        if bus == Nanos::ZERO {
            return end;
        }
        let begin = if self.settings.bus.hold_reads { start } else { end - bus };
        self.bus.take(id, begin, end)
    }

    /// Extends read-ahead, or starts it, after a hit.
    fn follow_hit(&mut self, index: usize, extent: Extent, at: Nanos) {
        let read = PrecedingRead {
            extent,
            first: extent.lbn,
            track: self.drive.geometry.track_around(extent.end() - 1),
            full: None,
            streams: true,
        };
        let arm = self.disk.arm();
        let Some((wanted, _)) = ReadAheadPlan::after(&self.drive, &self.buffer, read, at, arm)
        else {
            return;
        };
        if self.reading == index && self.is_reading(index) {
            if let Some(ahead) = &mut self.ahead {
                ahead.reach(wanted.goal());
            }
            return;
        }
        let begin = self.segments.get(index).held_to(extent.end());
        let idle = self.free <= at
            && self.coming.is_empty()
            && !self.ahead.as_ref().is_some_and(ReadAheadPlan::has_more)
            && self.disk.delay(at) == Nanos::ZERO;
        if idle && begin < wanted.goal() {
            self.disk.begin(at);
            self.ahead = Some(wanted.from(begin, at, arm));
            self.reading = index;
        }
    }

    /// Serves a read from the media; the mechanics are free at `at`.
    pub(super) fn serve_read(
        &mut self,
        waiting: &Waiting,
        at: Nanos,
        sink: &mut dyn CompletionSink,
    ) {
        let request = &waiting.request;
        // Other requests may have read its blocks while it waited.
        if !self.has_missed(request.id, at) && self.hit(waiting, at, true, sink) {
            return;
        }
        let keeps = self.buffer.keep != Keep::Nothing;
        let overheads = self.settings.overheads;
        let access = self.drive.access(Op::Read);
        let mut held = Delivery::new(self.settings.bus.read_ns_per_block, at);
        let mut segment = None;
        let (mut extents, rest) = (request.extents.as_slice(), &mut Extent::default());
        if !self.has_missed(request.id, at)
            && let [extent] = extents
            && let Some(index) = self.find(extent.lbn, true)
        {
            rest.lbn = self.deliver(index, extent.lbn, extent.end(), true, &mut held);
            rest.blocks = (extent.end() - rest.lbn) as u32;
            extents = slice::from_ref(rest);
            segment = Some(index);
        }
        let streams = !self.before.write && self.before.end == request.lbn();
        let (mut overhead, mut how) = (Nanos::ZERO, access);
        let start = if segment.is_some_and(|index| self.is_reading(index)) {
            // Its blocks are being read: continue.
            while self.waiting == 0 && self.plan_on() {}
            self.ahead = None;
            let end = self.coming.last().map_or(at, |piece| piece.end.max(at));
            self.leave_behind();
            how.continues = true;
            end
        } else {
            overhead = overheads.read_miss[usize::from(self.before.write)];
            self.stop(at).0
        };
        let (woken, startup_j) = self.disk.begin(start);
        let begins = start + woken + overhead;
        let mut moved = self.move_data(begins, extents, how);
        moved.parts.other += woken;
        moved.energy_j = startup_j + self.spend(begins, &moved, Cause::Request);
        self.occupy(request.id, &moved);

        let begin = if segment.is_some() { at } else { begins };
        let crossed = self.deliver_read(request, held, begin);
        let overhead = overhead + overheads.read_completion;
        let mut row = self.served(waiting, [at, start, crossed], overhead, &moved);
        self.answer(&mut row, crossed + overheads.read_completion, sink);
        if keeps
            && moved.met.unrecovered == 0
            && let &[extent] = extents
        {
            self.keep_read(segment, request.extents[0], extent, &moved, streams);
        }
        self.remember(request);
    }

    /// Delivers the blocks of a read over the bus from `begin` on, `held` ones first;
    /// returns the time at which the last has crossed.
    fn deliver_read(&mut self, request: &Request, held: Delivery, begin: Nanos) -> Nanos {
        let blocks = request.blocks();
        let share = match self.buffer.high_water_of {
            Share::Request => f64::from(blocks),
            Share::Segment => self.buffer.segment_blocks as f64,
        };
        let mark = ((self.buffer.high_water * share) as u32).clamp(1, blocks);
        let at_once = held.blocks == 0 || self.buffer.partial_at_once;
        let wanted = u64::from(if at_once { mark } else { blocks });
        let ready = begin.max(self.passed(wanted.saturating_sub(held.blocks)));
        let reconnect = ready + self.settings.overheads.reselect;
        let mut delivery = Delivery::new(self.settings.bus.read_ns_per_block, reconnect);
        if held.blocks > 0 {
            delivery.held(held.blocks);
        }
        delivery.end = delivery.end.max(held.end);
        for piece in &self.pieces {
            delivery.passing(piece, piece.extent.lbn, piece.extent.end());
        }
        let bus = delivery.bus(u64::from(blocks));
        self.cross(request.id, reconnect, delivery.end, bus)
    }

    /// Puts the blocks of a read into a segment and starts read-ahead.
    fn keep_read(
        &mut self,
        segment: Option<usize>,
        request: Extent,
        read: Extent,
        moved: &MoveResult,
        streams: bool,
    ) {
        let index = segment.unwrap_or_else(|| self.take_segment(false));
        self.segments.touch(index);
        self.reading = index;
        for piece in &mut self.pieces {
            piece.segment = index;
        }
        // In the order of passing.
        if self.pieces.len() > 1 {
            self.pieces.sort_by_key(|piece| piece.first);
        }
        let mut first_read = read.lbn;
        let geometry = &self.drive.geometry;
        let full = moved.full.map(|_| moved.track);
        let mut track = match moved.full {
            Some(first) => first..first + u64::from(moved.track.sectors),
            None => geometry.blocks_on(&moved.track),
        };
        if !track.contains(&(request.end() - 1)) {
            // The last block was remapped.
            track = geometry.track_around(request.end() - 1);
        }
        if self.buffer.free_blocks
            && segment.is_none()
            && let Some(free) = self.read_free(moved, &track, full.is_some())
        {
            first_read = first_read.min(free);
        }
        if self.buffer.keep == Keep::All {
            self.coming.extend_from_slice(&self.pieces);
        } else {
            let over = self.buffer.over_requested;
            let from = if over { 0 } else { request.lbn };
            self.give_up(index, &(from..request.end()));
        }
        let followed = PrecedingRead { extent: request, first: first_read, track, full, streams };
        let arm = self.disk.arm();
        let ahead = ReadAheadPlan::after(&self.drive, &self.buffer, followed, moved.end, arm);
        if let Some((_, true)) = ahead {
            self.segments.give_all(index);
        }
        self.ahead = ahead.map(|(ahead, _)| ahead);
    }

    /// Plans to keep the free blocks of the first track, which pass before the first
    /// block read; returns the first of them. The read ends on a track with the blocks
    /// `last`, every sector of which holds its block if `full`.
    fn read_free(&mut self, moved: &MoveResult, last: &Range<u64>, full: bool) -> Option<u64> {
        let geometry = &self.drive.geometry;
        let read = self.pieces.first().copied()?;
        let first = read.extent.lbn;
        let full = full && last.contains(&first);
        let (track, index) =
            if full { (moved.track, (first - last.start) as u32) } else { geometry.find(first) };
        let passing = u64::from(Rotation::sectors_within(moved.wait, track.sectors));
        let passing = passing.min(self.buffer.segment_blocks);
        // The time until the read begins, after `sectors` sectors.
        let before = |sectors: u32| read.first - self.drive.rotation.time(track.turn(sectors));
        if full {
            let blocks = passing.min(u64::from(index)) as u32;
            let lbn = first - u64::from(blocks);
            let piece = TimedPiece::of(Extent { lbn, blocks }, before(blocks), read.first);
            if blocks > 0 {
                self.coming.push(TimedPiece { segment: read.segment, ..piece });
            }
            return (blocks > 0).then_some(lbn);
        }
        let mut lbn = first - passing.min(u64::from(index)).min(first);
        while lbn < first {
            let piece = geometry.piece(lbn, (first - lbn) as u32);
            let same = (piece.track.cylinder, piece.track.head) == (track.cylinder, track.head);
            let is_before = same && piece.index + piece.span <= index;
            let sectors = u64::from(index.saturating_sub(piece.index));
            if !is_before || lbn + u64::from(piece.blocks) < first {
                lbn += u64::from(piece.blocks);
            } else if sectors > passing {
                lbn += 1;
            } else {
                break;
            }
        }
        // Run by run between slipped sectors.
        let mut next = lbn;
        while next < first {
            let blocks = geometry.together(next).min((first - next) as u32);
            let run = geometry.piece(next, blocks);
            let (from, to) = (index - run.index, index - run.index - run.blocks);
            let extent = Extent { lbn: next, blocks: run.blocks };
            self.coming.push(TimedPiece {
                segment: read.segment,
                ..TimedPiece::of(extent, before(from), before(to))
            });
            next += u64::from(run.blocks);
        }
        (lbn < first).then_some(lbn)
    }

    /// Takes a segment for new data.
    pub(super) fn take_segment(&mut self, written: bool) -> usize {
        let index = self.segments.take(written);
        if !self.coming.is_empty() {
            self.coming.retain(|piece| piece.segment != index);
        }
        if self.reading == index {
            self.ahead = None;
        }
        if self.writing.is_some_and(|(own, _)| own == index) {
            self.writing = None;
        }
        index
    }
}
