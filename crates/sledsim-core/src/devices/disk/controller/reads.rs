//! Reads, and what is read ahead.

use super::ahead::{Ahead, Followed};
use super::pieces::{Delivery, Piece};
use super::{Controller, Keep, Moved, Share};
use crate::model::Answers;
use crate::request::{Extent, Op};
use crate::row::Parts;
use crate::schedulers::Waiting;
use crate::units::Nanos;
use std::ops::Range;

impl Controller {
    /// Takes in what has been read by `at`.
    pub(super) fn read_by(&mut self, at: Nanos) {
        loop {
            let Some(piece) = self.coming.front().copied() else {
                let begins = |ahead: &Ahead| ahead.at() < at;
                if self.ahead.as_ref().is_some_and(begins) && self.plan_on() {
                    continue;
                }
                return;
            };
            if piece.end > at {
                return;
            }
            self.coming.pop_front();
            if let Some(arm) = piece.arm {
                self.disk.leave(arm);
                self.busy += piece.end - piece.first;
            }
            if let Some(index) = self.reading {
                self.segments.get_mut(index).add(piece.extent);
            }
        }
    }

    /// Plans the next pass of reading ahead.
    fn plan_on(&mut self) -> bool {
        let ahead = self.ahead.as_mut();
        let piece = ahead.and_then(|ahead| ahead.next(&self.drive));
        if let Some(piece) = piece {
            self.coming.push_back(piece);
        } else {
            self.ahead = None;
        }
        piece.is_some()
    }

    /// Ends read-ahead at `at`, or when what was announced is done; when the
    /// mechanics are free.
    pub(super) fn stop(&mut self, at: Nanos) -> Nanos {
        self.read_by(at);
        let mut free = at.max(self.free);
        self.ahead = None;
        let announced = (self.coming.iter())
            .take_while(|piece| piece.end <= free)
            .count();
        self.coming.truncate(announced + 1);
        if let Some(piece) = self.coming.get_mut(announced) {
            let (mut blocks, inside) = piece.passed_by(free);
            if inside && !self.buffer.stops_in_sector {
                blocks += 1;
                free = piece.passed(u64::from(blocks));
            }
            piece.end = piece.passed(u64::from(blocks));
            piece.extent.blocks = blocks;
        }
        // The arm goes on from here, whatever is still to be taken in.
        for piece in &mut self.coming {
            if let Some(arm) = piece.arm.take() {
                self.disk.leave(arm);
                self.busy += piece.end - piece.first;
            }
        }
        self.coming.retain(|piece| piece.extent.blocks > 0);
        free
    }

    /// Whether something is still being read into segment `index`.
    fn is_reading(&self, index: usize) -> bool {
        self.reading == Some(index) && (self.ahead.is_some() || !self.coming.is_empty())
    }

    /// Whether more may be planned for somebody: not while others wait.
    fn may_promise(&self) -> bool {
        self.waiting == 0
    }

    /// The segment to read `lbn` from.
    fn find(&self, lbn: u64) -> Option<usize> {
        let promise = self.may_promise();
        let coming = || {
            let has = |piece: &Piece| (piece.extent.lbn..piece.extent.end()).contains(&lbn);
            self.coming.iter().any(has)
                || (promise && self.ahead.as_ref().is_some_and(|ahead| ahead.covers(lbn)))
        };
        (self.segments).find(lbn, self.buffer.read_written, |index| {
            self.is_reading(index) && coming()
        })
    }

    /// Delivers what segment `index` holds, or will hold, from `lbn` on and
    /// before `end`; one past the last of these blocks.
    fn deliver(&mut self, index: usize, mut lbn: u64, end: u64, delivery: &mut Delivery) -> u64 {
        while lbn < end {
            if let Some(run_end) = self.segments.get(index).run_end(lbn) {
                let to = run_end.min(end);
                delivery.held(to - lbn);
                lbn = to;
                continue;
            }
            if self.reading != Some(index) {
                break;
            }
            let has = |piece: &&Piece| (piece.extent.lbn..piece.extent.end()).contains(&lbn);
            if let Some(piece) = self.coming.iter().find(has) {
                let to = piece.extent.end().min(end);
                delivery.passing(piece, lbn, to);
                self.free = self.free.max(piece.passed(to - piece.extent.lbn));
                lbn = to;
                continue;
            }
            let covered = self.ahead.as_ref().is_some_and(|ahead| ahead.covers(lbn));
            if !(covered && self.may_promise() && self.plan_on()) {
                break;
            }
        }
        lbn
    }

    /// Overhead of a hit: what follows a read that it continues is for such a
    /// read only.
    fn hit_overhead(&self, lbn: u64) -> Nanos {
        let continues = !self.before.write && lbn == self.before.end;
        self.settings.overheads.read_hit[usize::from(!continues)]
    }

    /// Serves a read from the buffer, if all its blocks are there or coming.
    pub(super) fn hit(&mut self, waiting: &Waiting, at: Nanos, answers: &mut dyn Answers) -> bool {
        let &[extent] = waiting.request.extents.as_slice() else {
            return false;
        };
        let Some(index) = self.find(extent.lbn) else {
            self.missed = Some((waiting.request.id, at));
            return false;
        };
        let overhead = self.hit_overhead(extent.lbn);
        let start = at + overhead;
        let mut delivery = Delivery::new(self.settings.bus.read_ns_per_block, start);
        let free = self.free;
        if self.deliver(index, extent.lbn, extent.end(), &mut delivery) < extent.end() {
            // Nothing was promised.
            self.free = free;
            return false;
        }
        let mut row = self.row(waiting, at);
        let bus = delivery.bus(u64::from(extent.blocks));
        let crossed = self.cross(start, delivery.end, bus);
        let completion = crossed + self.settings.overheads.read_completion;
        row.parts.overhead += overhead + self.settings.overheads.read_completion;
        row.parts.bus = bus;
        self.answer(row, completion, answers);
        self.segments.touch(index);
        if self.buffer.over_requested && !self.segments.get(index).is_written() {
            self.segments.get_mut(index).drop_before(extent.end());
        }
        if self.buffer.ahead_on_hit && self.may_promise() {
            self.follow_hit(index, extent, at);
        }
        self.remember(&waiting.request);
        true
    }

    /// The bus carries a read whose last block could cross at `end`; when it
    /// has.
    fn cross(&mut self, start: Nanos, end: Nanos, bus: Nanos) -> Nanos {
        if bus == Nanos::ZERO {
            return end;
        }
        let begin = if self.settings.bus.hold_reads {
            start
        } else {
            end - bus
        };
        self.bus.take(begin, end)
    }

    /// Reads on, or begins to, behind what a hit has shown to be wanted.
    fn follow_hit(&mut self, index: usize, extent: Extent, at: Nanos) {
        let read = Followed {
            extent,
            first: extent.lbn,
            track: self.drive.geometry.track_around(extent.end() - 1),
            streams: true,
        };
        let arm = self.disk.arm();
        let Some((wanted, _)) = Ahead::after(&self.drive, &self.buffer, read, at, arm) else {
            return;
        };
        if self.is_reading(index) {
            if let Some(ahead) = &mut self.ahead {
                ahead.reach(wanted.goal());
            }
        } else if self.ahead.is_none()
            && self.coming.is_empty()
            && self.free <= at
            && let Some(begin) = self.segments.get(index).last_end()
            && begin < wanted.goal()
        {
            self.ahead = Some(wanted.from(begin, at, arm));
            self.reading = Some(index);
        }
    }

    /// Serves a read with the mechanics, which are free at `at`.
    pub(super) fn serve_read(&mut self, waiting: &Waiting, at: Nanos, answers: &mut dyn Answers) {
        let request = &waiting.request;
        // Others may have read its blocks while it waited.
        let missed = self.missed == Some((request.id, at));
        if !missed && self.hit(waiting, at, answers) {
            return;
        }
        let keeps = self.buffer.keep != Keep::Nothing;
        let overheads = self.settings.overheads;
        let access = self.drive.access(Op::Read);
        let mut held = Delivery::new(self.settings.bus.read_ns_per_block, at);
        let mut segment = None;
        let mut extents = request.extents.clone();
        if self.missed != Some((request.id, at))
            && let [extent] = extents.as_mut_slice()
            && let Some(index) = self.find(extent.lbn)
        {
            let missing = self.deliver(index, extent.lbn, extent.end(), &mut held);
            extent.blocks = (extent.end() - missing) as u32;
            extent.lbn = missing;
            segment = Some(index);
        }
        let streams = !self.before.write && self.before.end == request.lbn();
        let (mut overhead, mut how) = (Nanos::ZERO, access);
        let start = if segment.is_some_and(|index| self.is_reading(index)) {
            // It is being read into: that goes on.
            while self.plan_on() {}
            let end = self.coming.back().map_or(at, |piece| piece.end.max(at));
            self.read_by(end);
            how.goes_on = true;
            end
        } else {
            overhead = overheads.read_miss[usize::from(self.before.write)];
            self.stop(at)
        };
        let moved = self.move_data(start + overhead, &extents, how);
        self.occupy(start, moved.end);

        let mut row = self.row(waiting, at);
        let begin = if segment.is_some() {
            at
        } else {
            start + overhead
        };
        let crossed = self.deliver_read(request.blocks(), held, begin);
        let completion = crossed + overheads.read_completion;
        row.start = start;
        row.passes = moved.passes;
        row.parts = Parts {
            overhead: row.parts.overhead + overhead + overheads.read_completion,
            queue: row.parts.queue + (start - at),
            bus: crossed - moved.end,
            ..moved.parts
        };
        self.answer(row, completion, answers);
        if keeps && let &[extent] = extents.as_slice() {
            self.keep_read(segment, request.extents[0], extent, &moved, streams);
        }
        self.remember(request);
    }

    /// The blocks of a read cross the bus from `begin` on, `held` ones first;
    /// when the last has.
    fn deliver_read(&mut self, blocks: u32, held: Delivery, begin: Nanos) -> Nanos {
        let share = match self.buffer.high_water_of {
            Share::Request => f64::from(blocks),
            Share::Segment => self.buffer.segment_blocks as f64,
        };
        let mark = ((self.buffer.high_water * share) as u32).clamp(1, blocks);
        let at_once = held.blocks == 0 || self.buffer.partial_at_once;
        let mut left = u64::from(if at_once { mark } else { blocks }).saturating_sub(held.blocks);
        let mut ready = begin;
        for piece in &self.pieces {
            let count = left.min(u64::from(piece.extent.blocks));
            if count > 0 {
                ready = ready.max(piece.passed(count));
            }
            left -= count;
        }
        let reconnect = ready + self.settings.overheads.reselect;
        let mut delivery = Delivery::new(self.settings.bus.read_ns_per_block, reconnect);
        delivery.held(held.blocks);
        delivery.end = delivery.end.max(held.end);
        for piece in &self.pieces {
            delivery.passing(piece, piece.extent.lbn, piece.extent.end());
        }
        let bus = delivery.bus(u64::from(blocks));
        self.cross(reconnect, delivery.end, bus)
    }

    /// What a read has brought goes into a segment, and read-ahead begins.
    fn keep_read(
        &mut self,
        segment: Option<usize>,
        request: Extent,
        read: Extent,
        moved: &Moved,
        streams: bool,
    ) {
        let index = segment.unwrap_or_else(|| self.take_segment(false));
        self.segments.touch(index);
        self.reading = Some(index);
        self.coming.clear();
        // In the order of passing.
        self.pieces.sort_by_key(|piece| piece.first);
        let mut first_read = read.lbn;
        let track = self.drive.geometry.blocks_on(&moved.track);
        if self.buffer.free_blocks
            && segment.is_none()
            && let Some(free) = self.free_blocks(moved.arrive, &track)
        {
            first_read = first_read.min(free.extent.lbn);
            self.coming.push_back(free);
        }
        if self.buffer.keep == Keep::All {
            self.coming.extend(&self.pieces);
        }
        let followed = Followed {
            extent: request,
            first: first_read,
            track,
            streams,
        };
        let arm = self.disk.arm();
        let ahead = Ahead::after(&self.drive, &self.buffer, followed, moved.end, arm);
        if let Some((_, true)) = ahead {
            self.segments.give_all(index);
        }
        self.ahead = ahead.map(|(ahead, _)| ahead);
    }

    /// The blocks of the first track that pass before the first one read, of
    /// a read that ends on `last_track`.
    fn free_blocks(&self, arrive: Nanos, last_track: &Range<u64>) -> Option<Piece> {
        let piece = self.pieces.first()?;
        let first = piece.extent.lbn;
        let sector = piece.passed(1) - piece.first;
        let passing = piece.first.since(arrive).0 / sector.0.max(1);
        let before = if last_track.contains(&first) {
            first - last_track.start
        } else {
            first - self.drive.geometry.track_around(first).start
        };
        let blocks = passing.min(before).min(self.buffer.segment_blocks) as u32;
        (blocks > 0).then(|| Piece {
            extent: Extent {
                lbn: piece.extent.lbn - u64::from(blocks),
                blocks,
            },
            first: piece.first - Nanos(sector.0 * u64::from(blocks)),
            end: piece.first,
            arm: None,
        })
    }

    /// A segment for new data.
    pub(super) fn take_segment(&mut self, written: bool) -> usize {
        let index = self.segments.take(written);
        if self.reading == Some(index) {
            self.reading = None;
            self.coming.clear();
            self.ahead = None;
        }
        if self.writing.is_some_and(|(own, _)| own == index) {
            self.writing = None;
        }
        index
    }
}
