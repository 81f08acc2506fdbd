//! Writes: into the buffer, or through it.

use super::ahead::ReadAheadPlan;
use super::pieces::{Delivery, TimedPiece};
use super::{Controller, Dirty, Keep, MoveResult, WriteBack};
use crate::devices::disk::power::Cause;
use crate::model::CompletionSink;
use crate::queueing::schedulers::Waiting;
use sledsim_base::request::{Extent, Extents, Flags, OWN_WORK, Op, Request};
use sledsim_base::units::Nanos;

impl Controller {
    /// Whether a write continues the last one in the buffer.
    fn appends(&self, extent: Extent) -> bool {
        self.buffer.append && self.writing.is_some_and(|(_, end)| end == extent.lbn)
    }

    /// Whether a write is complete once it is in the buffer, if the buffer accepts it.
    fn writes_back(&self, request: &Request) -> bool {
        self.buffer.write_back != WriteBack::None
            && self.buffer.keep != Keep::Nothing
            && Self::may_be_early(request)
    }

    /// Whether a write may be complete before it is on the media.
    pub(super) fn may_be_early(request: &Request) -> bool {
        request.extents.len() == 1 && !request.flags.contains(Flags::FUA)
    }

    /// Whether the buffer accepts a write at once: if all earlier writes are on the
    /// media and no waiting request is next, or if it continues the last write and no
    /// request waits.
    pub(super) fn may_accept(&self, request: &Request, at: Nanos) -> bool {
        if !self.writes_back(request) {
            return false;
        }
        let extent = request.extents[0];
        let alone = self.waiting == 0 && (self.free <= at || !self.dirty.is_empty());
        if self.buffer.write_back == WriteBack::Appends && !alone {
            return false;
        }
        if self.dirty.is_empty() {
            return self.waiting == 0 || self.free > at;
        }
        self.appends(extent) && self.waiting == 0
    }

    /// When the write segment has room for `blocks` blocks, as older ones reach the
    /// media.
    fn room_at(&self, blocks: u64) -> Nanos {
        let count = |dirty: &Dirty| u64::from(dirty.extent.blocks);
        let mut held: u64 = self.dirty.iter().map(count).sum();
        let mut at = Nanos::ZERO;
        for dirty in &self.dirty {
            if held + blocks <= self.buffer.segment_blocks {
                break;
            }
            held -= count(dirty);
            at = dirty.until;
        }
        at
    }

    /// Accepts a write into the buffer and plans its write-back.
    pub(super) fn accept(&mut self, waiting: &Waiting, at: Nanos, sink: &mut dyn CompletionSink) {
        let request = &waiting.request;
        let extent = request.extents[0];
        let appends = self.appends(extent);
        let same_track = self.before.write
            && (self.drive.geometry.track_around(self.before.end - 1)).contains(&extent.lbn);
        let overhead = self.settings.overheads.write_hit[usize::from(same_track)];
        let blocks = u64::from(extent.blocks);
        self.missed = (0, Nanos::MAX);

        let start = (at + overhead).max(self.room_at(blocks));
        let mut crossing = Delivery::new(self.settings.bus.write_ns_per_block, start);
        crossing.held(blocks);
        let bus = crossing.bus(blocks);
        let mut crossed = self.bus.take(request.id, start, crossing.end);

        let (free, planned) = self.stop(at);
        // Whether the media are still writing the last write and can continue.
        let last = self.dirty.back().map(|dirty| dirty.until);
        let mut how = self.drive.access(Op::Write);
        how.continues = appends && free > at + overhead && last == Some(free);
        let woken = self.disk.begin(free).0;
        let begin = (free + woken).max(at + overhead);
        let mut moved = self.write_data(begin, &[extent], how, crossed - bus);
        self.show_write(request.id, &[extent]);
        moved.parts.other += woken;
        self.spend(begin, &moved, Cause::Destage);
        self.occupy(OWN_WORK, &moved);
        crossed = crossed.max(self.fits_at(extent));
        let until = moved.end.max(crossed);
        self.free = self.free.max(until);
        self.disk.engage(moved.end, until);
        self.dirty.push_back(Dirty { extent, crossed, written: (begin, moved.end), until });

        let own = self.writing.filter(|_| appends).map(|(index, _)| index);
        self.overwrite(extent, own);
        let index = own.unwrap_or_else(|| self.take_segment(true));
        self.segments.touch(index);
        self.segments.add(index, extent);
        self.writing = Some((index, extent.end()));
        if self.buffer.ahead_after_write
            && index != self.reading
            && let Some(mut ahead) = planned.filter(ReadAheadPlan::has_more)
        {
            ahead.resume(until, self.disk.arm());
            self.ahead = Some(ahead);
        }

        let mut row = self.row(waiting, at);
        let completion = crossed + self.settings.overheads.write_completion;
        row.parts.overhead += overhead + self.settings.overheads.write_completion;
        row.parts.bus = bus;
        self.answer(&mut row, completion, sink);
        self.remember(request);
    }

    /// Updates the segments other than its own for a write: windows advance past it;
    /// unless reads hit written data, read data are dropped.
    pub(super) fn overwrite(&mut self, extent: Extent, own: Option<usize>) {
        if self.buffer.read_written && !self.buffer.over_requested {
            return;
        }
        for index in 0..self.segments.count() {
            let segment = self.segments.get(index);
            if Some(index) == own || segment.is_written() {
                continue;
            }
            if !self.buffer.read_written {
                self.give_up(index, &(0..u64::MAX));
                self.segments.clear(index);
            } else if self.buffer.over_requested {
                let comes = |piece: &TimedPiece| {
                    let kept = piece.kept();
                    piece.segment == index && kept.lbn < extent.end() && extent.lbn < kept.end()
                };
                if segment.overlaps(extent) || self.coming.iter().any(comes) {
                    self.give_up(index, &(0..extent.end()));
                }
            }
        }
    }

    /// When the last block of a write larger than its segment can be in it: blocks
    /// without room arrive as the media take others.
    fn fits_at(&self, extent: Extent) -> Nanos {
        let blocks = u64::from(extent.blocks);
        let over = blocks.saturating_sub(self.buffer.segment_blocks);
        if over == 0 {
            return Nanos::ZERO;
        }
        let at = self.passed(over);
        let bus = Delivery::new(self.settings.bus.write_ns_per_block, at);
        at + bus.bus(1)
    }

    /// Writes extents to the media as their blocks arrive from `asked` on. Physical sectors
    /// that they do not fill are read first.
    fn write_through(&mut self, start: Nanos, extents: &[Extent], asked: Nanos) -> MoveResult {
        let how = self.drive.access(Op::Write);
        let sectors: Extents = extents.iter().map(|one| self.settings.sectors_of(*one)).collect();
        if sectors.as_slice() == extents {
            return self.write_data(start, extents, how, asked);
        }
        let mut moved = self.move_data(start, &sectors, self.drive.access(Op::Read));
        let written = self.write_data(moved.end, &sectors, how, asked);
        moved.add(&written);
        moved
    }

    /// Serves a write to the media; the mechanics are free at `at`.
    pub(super) fn serve_write(
        &mut self,
        waiting: &Waiting,
        at: Nanos,
        sink: &mut dyn CompletionSink,
    ) {
        let request = &waiting.request;
        let with_others = self.buffer.write_back == WriteBack::Appends && self.waiting > 0;
        if self.writes_back(request) && !with_others {
            return self.accept(waiting, at, sink);
        }
        let overheads = self.settings.overheads;
        let overhead = overheads.write_miss[usize::from(self.before.write)];
        let free = self.stop(at).0;
        let (woken, startup_j) = self.disk.begin(free);
        let start = free + woken + overhead;
        for &extent in &request.extents {
            self.overwrite(extent, None);
        }
        self.pass_cache(&request.extents);
        self.writing = None;

        // The fixed part of the access precedes the request for data.
        let fixed = self.drive.seeks.staying().0;
        let fixed = Nanos(fixed.saturating_add_signed(self.drive.write_settle_ns));
        let bus_time = Delivery::new(self.settings.bus.write_ns_per_block, start);
        let bus = bus_time.bus(u64::from(request.blocks()));
        let crossed = self.bus.take(request.id, start + fixed, start + fixed + bus);
        let mut moved = self.write_through(start, &request.extents, crossed - bus);
        self.show_write(request.id, &request.extents);
        moved.parts.other += woken;
        moved.energy_j = startup_j + self.spend(start, &moved, Cause::Request);
        self.occupy(request.id, &moved);
        let end = moved.end.max(crossed);
        let overhead = overhead + overheads.write_completion;
        let mut row = self.served(waiting, [at, free, end], overhead, &moved);
        self.answer(&mut row, end + overheads.write_completion, sink);
        self.remember(request);
    }
}
