//! Serving a request with the mechanism.

use super::{Buffered, Operation};
use crate::model::CompletionSink;
use crate::model::mechanism::{Mechanism, Span};
use crate::queueing::controllers::SpeedMatching;
use crate::queueing::schedulers::Waiting;
use sledsim_base::request::{Extent, OWN_WORK, Op, Request};
use sledsim_base::row::{Parts, Row, Status};
use sledsim_base::units::Nanos;

impl<M: Mechanism> Buffered<M> {
    /// Serves a request that the scheduler picked, if it still needs the
    /// mechanism.
    pub(super) fn serve(&mut self, mut waiting: Waiting, at: Nanos, sink: &mut dyn CompletionSink) {
        let row = self.row_at(&waiting, at);
        let request = &mut waiting.request;
        if request.op == Op::Read {
            if self.segments.hit(&request.extents) {
                return self.complete_hit(&waiting, at, sink);
            }
            self.begin_read(request, at);
        } else {
            self.ahead = None;
            if self.is_write_back(request) {
                self.make_room(request.extents[0], at);
                return self.complete_write_back(&waiting, at.max(self.mechanism_free), sink);
            }
            for extent in &request.extents {
                self.segments.overwrite(*extent);
            }
        }
        self.access(&waiting.request, row, at);
        if waiting.request.op == Op::Read && self.interface.bus_ns_per_block > 0.0 {
            let all_at_once = self.buffer.speed_matching == SpeedMatching::None;
            self.reading = Some(if all_at_once { self.steps.len() - 1 } else { 0 });
        } else {
            self.complete(self.mechanism_free.max(waiting.data_in), sink);
        }
    }

    /// Begins a read: the blocks held take the bus, and `request` is reduced to
    /// those that the mechanism reads.
    fn begin_read(&mut self, request: &mut Request, at: Nanos) {
        self.follow_read(request);
        self.requested_end = None;
        if let [extent] = request.extents.as_mut_slice() {
            let missing = self.segments.missing_from(extent.lbn);
            let held = (missing - extent.lbn) as u32;
            if held > 0 {
                self.take_bus(request.id, held, at);
            }
            extent.lbn = missing;
            extent.blocks -= held;
            self.requested_end = Some(extent.end());
            extent.blocks += self.rest_of_row(*extent);
        }
        self.fetching.clone_from(&request.extents);
    }

    /// Destages runs to make room for a write into the buffer.
    fn make_room(&mut self, extent: Extent, at: Nanos) {
        while !self.segments.place(extent) {
            let Some(index) = self.segments.in_the_way(extent) else {
                break;
            };
            let run = self.segments.dirty_run(index);
            self.destage(OWN_WORK, index, run, false, at);
        }
    }

    /// Serves `request` with the mechanism from `at` on, and completes `row`.
    fn access(&mut self, request: &Request, mut row: Row, at: Nanos) {
        self.steps.clear();
        let service = self.mechanism.serve(at, request, &mut self.steps);
        if request.op == Op::Write {
            self.show_write(at, Some(request.id), request);
        }
        let media = service.parts.total();
        self.mechanism_free = at + media;
        self.busy.add(request.id, media);
        self.under_way = Some(Operation::Request);
        row.passes = service.passes;
        row.retries = service.retries;
        row.path = service.path;
        if service.status == Status::Error {
            let is_wanted = |lbn: &u64| {
                request.op == Op::Write || self.requested_end.is_none_or(|end| *lbn < end)
            };
            if self.mechanism.media().lost_blocks().iter().any(is_wanted) {
                row.status = Status::Error;
            }
            self.drop_lost();
        }
        row.energy_nj = service.energy_nj;
        let before = row.parts;
        row.parts = Parts {
            overhead: before.overhead,
            queue: before.queue,
            bus: before.bus,
            ..service.parts
        };
        self.row = row;
    }

    /// How many blocks behind `extent` the same pass covers; 0 without read-ahead.
    fn rest_of_row(&self, extent: Extent) -> u32 {
        let last = extent.end() - 1;
        if self.ahead.is_none_or(|ahead| ahead.goal <= extent.end()) {
            return 0;
        }
        let row_end = self.mechanism.media().end_of(last, Span::Row);
        // A pass may continue from the last row of a track to the first of the
        // next; the rest of that row may then need another pass.
        let mut track = extent.lbn;
        while track <= last {
            let end = self.mechanism.media().end_of(track, Span::Track);
            if end <= last && self.mechanism.media().end_of(end, Span::Row) == row_end {
                return 0;
            }
            track = end;
        }
        row_end.min(self.mechanism.positions().blocks()).saturating_sub(extent.end()) as u32
    }

    /// Keeps only the blocks read before the first lost one.
    #[cold]
    pub(super) fn drop_lost(&mut self) {
        let Some(&first) = self.mechanism.media().lost_blocks().iter().min() else {
            return;
        };
        match self.fetching.as_mut_slice() {
            [extent] if extent.lbn < first => {
                let kept = (first - extent.lbn).min(u64::from(extent.blocks));
                extent.blocks = kept as u32;
            }
            _ => self.fetching.clear(),
        }
    }
}
