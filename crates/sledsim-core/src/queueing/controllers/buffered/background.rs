//! Background work of the station: read-ahead and destaging.

use super::{Buffered, Operation};
use crate::model::mechanism::{Mechanism, Service, Span};
use crate::model::{CompletionSink, Energy};
use crate::queueing::controllers::ReadAhead;
use crate::queueing::schedulers::Waiting;
use sledsim_base::request::{Extent, Extents, Flags, OWN_WORK, Op, Request};
use sledsim_base::row::Status;
use sledsim_base::units::Nanos;

/// The id of background requests, which are also flagged as such.
const BACKGROUND_ID: u64 = u64::MAX;

/// The state of read-ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadAheadState {
    /// One past the last block that the host has read.
    pub(super) after: u64,
    /// One past the last block read ahead.
    pub(super) next: u64,
    /// The block at which to stop.
    pub(super) goal: u64,
}

impl<M: Mechanism> Buffered<M> {
    /// Starts read-ahead behind this read.
    pub(super) fn follow_read(&mut self, request: &Request) {
        let Some(last) = request.extents.last() else {
            return;
        };
        let after = last.end();
        let end_of = |span| self.mechanism.media().end_of(after - 1, span);
        let goal = match self.buffer.read_ahead {
            ReadAhead::None => after,
            ReadAhead::Blocks(blocks) => after + u64::from(blocks),
            ReadAhead::Track => end_of(Span::Track),
            ReadAhead::Cylinder => end_of(Span::Cylinder),
            ReadAhead::Full => after + self.segments.capacity(),
        };
        self.ahead = Some(ReadAheadState {
            after,
            next: after,
            goal: goal.min(self.mechanism.positions().blocks()),
        });
    }

    /// Writes all dirty blocks to the media, then completes a flush.
    pub(super) fn flush(&mut self, waiting: &Waiting, at: Nanos, sink: &mut dyn CompletionSink) {
        let mut row = self.row_at(waiting, at);
        while let Some(index) = self.segments.longest_dirty() {
            self.ahead = None;
            let run = self.segments.dirty_run(index);
            let service = self.destage(row.id, index, run, true, at);
            row.parts = row.parts + service.parts;
            row.passes += service.passes;
            row.retries += service.retries;
            if service.status == Status::Error {
                row.status = service.status;
            }
            row.completion = self.mechanism_free;
        }
        sink.done(&row);
    }

    /// Reads the next row ahead; returns `false` without a row to read.
    pub(super) fn read_ahead(&mut self, at: Nanos) -> bool {
        let Some(ahead) = self.ahead else {
            return false;
        };
        let first = self.segments.missing_from(ahead.next);
        if first >= ahead.goal || self.mechanism_is_needed(first..ahead.goal) {
            return false;
        }
        let row = self.mechanism.media().end_of(first, Span::Row);
        let room = ahead.after + self.segments.capacity();
        let mut end = row.min(room);
        if end <= first || (end < row && first > ahead.after) {
            return false;
        }
        end = end.min(self.segments.held_after(first).unwrap_or(end));
        self.ahead = Some(ReadAheadState { next: end, ..ahead });
        let extent = Extent { lbn: first, blocks: (end - first) as u32 };
        self.fetching.push(extent);
        let (service, joules) = self.background(OWN_WORK, Op::Read, extent, at);
        if service.status == Status::Error {
            self.drop_lost();
            self.ahead = None;
        }
        self.background_energy.read_ahead_j += joules;
        true
    }

    /// Writes the next row of the run that has been dirty longest, if there is one.
    pub(super) fn destage_row(&mut self, at: Nanos) {
        let dirty = self.segments.longest_dirty();
        if let Some(index) = dirty.filter(|_| !self.mechanism_is_needed(0..0)) {
            let mut run = self.segments.dirty_run(index);
            let row = self.mechanism.media().end_of(run.lbn, Span::Row);
            run.blocks = (run.end().min(row) - run.lbn) as u32;
            self.destage(OWN_WORK, index, run, true, at);
        }
    }

    /// Writes the first dirty blocks of a segment, for request `id` or as work of its own.
    /// If `busy`, the segment cannot be replaced until they are written.
    pub(super) fn destage(
        &mut self,
        id: u64,
        index: usize,
        run: Extent,
        busy: bool,
        at: Nanos,
    ) -> Service {
        self.segments.destage(index, run.end(), busy);
        let (service, joules) = self.background(id, Op::Write, run, at);
        self.background_energy.destage_j += joules;
        service
    }

    /// Serves a background request for request `id`, at `at` or as soon as the mechanism is
    /// free; returns the service and its energy in joules.
    fn background(&mut self, id: u64, op: Op, extent: Extent, at: Nanos) -> (Service, f64) {
        let start = at.max(self.mechanism_free);
        let request = Request {
            id: BACKGROUND_ID,
            arrival: start,
            op,
            flags: Flags::BACKGROUND,
            extents: Extents::from_buf([extent]),
            ..Request::default()
        };
        let before = self.mechanism.energy(start).unwrap_or_default();
        self.steps.clear();
        let service = self.mechanism.serve(start, &request, &mut self.steps);
        if op == Op::Write {
            self.show_write(start, None, &request);
        }
        let media = service.parts.total();
        self.mechanism_free = start + media;
        self.busy.add(id, media);
        self.under_way = Some(Operation::Background);
        let spent = Energy {
            idle_j: 0.0,
            inactive_j: 0.0,
            ..self.mechanism.energy(self.mechanism_free).unwrap_or_default() - before
        };
        self.background_energy = self.background_energy + spent;
        (service, spent.total_j())
    }
}
