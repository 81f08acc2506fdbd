//! The station without a buffer.
//!
//! A request first takes the bus for the command overhead; write data follow
//! at once. It is then ready for the scheduler. Read data take the bus as each
//! pass ends, overlapping later passes and later requests; a read is complete
//! when its last block has crossed. A write is complete when its media
//! transfer ends, but not before its data have crossed the bus. The bus serves
//! first come, first served.
//!
//! Flush and trim need no media: a completed write is on the media already.
//! They complete when their command has been processed.
//!
//! In reading order:
//! - `batches`: commands that a station serves together;
//! - `merging`: waiting requests with adjoining extents, served as one.

mod batches;

mod merging;

pub use batches::Batching;

use super::Interface;
use crate::model::links::Links;
use crate::model::mechanism::{Mechanism, Passes};
use crate::model::media_writes::MediaWrites;
use crate::model::{Busy, CompletionSink, Model, Report, Rest};
use crate::queueing::schedulers::{Scheduler, Waiting, pick};
use batches::Batches;
use sledsim_base::request::{Extent, Flags, Op, Request};
use sledsim_base::row::{Row, Status, UNKNOWN_ENERGY};
use sledsim_base::units::Nanos;
use std::collections::VecDeque;

/// One mechanism with queue, scheduler, command overhead and bus.
pub struct Station<M: Mechanism> {
    name: String,
    device: u16,
    mechanism: M,
    scheduler: Box<dyn Scheduler>,
    /// Whether requests are served in the order of `incoming`, and the scheduler holds
    /// none.
    in_order: bool,
    interface: Interface,
    /// Commands on their way through the bus, in the order of `ready`.
    incoming: VecDeque<Waiting>,
    bus_free: Nanos,
    mechanism_free: Nanos,
    busy: Busy,
    bus_busy: Busy,
    /// The request in service, and its passes.
    row: Row,
    passes: Passes,
    /// The pass whose end is the next event, while a read is in service.
    reading: Option<usize>,
    /// Requests that the scheduler holds.
    waiting: usize,
    /// The next event: [`Station::due`], kept up to date.
    next: Option<Nanos>,
    batching: Batching,
    /// How long the first command of a batch waits for others.
    window: Nanos,
    /// Further commands held as parts of a batch, not counted above.
    in_batches: usize,
    /// Commands of the batch in service; 0 if a single command is in service.
    serving: u32,
    batches: Batches,
    /// Where the writes to its media are shown, if anywhere.
    media_writes: Option<MediaWrites>,
}

impl<M: Mechanism> Station<M> {
    /// A station around `mechanism`. `device` and `name` mark its rows and
    /// reports.
    pub fn new(
        name: &str,
        device: u16,
        mechanism: M,
        scheduler: Box<dyn Scheduler>,
        interface: Interface,
    ) -> Self {
        let batching = match mechanism.batches() {
            Some(_) => Batching::Explicit,
            None => Batching::None,
        };
        Self {
            name: name.to_owned(),
            device,
            mechanism,
            in_order: scheduler.is_in_order(),
            scheduler,
            interface,
            incoming: VecDeque::new(),
            bus_free: Nanos::ZERO,
            mechanism_free: Nanos::ZERO,
            busy: Busy::default(),
            bus_busy: Busy::default(),
            row: Row::default(),
            passes: Passes::default(),
            reading: None,
            waiting: 0,
            next: None,
            batching,
            window: Nanos::ZERO,
            in_batches: 0,
            serving: 0,
            batches: Batches::default(),
            media_writes: None,
        }
    }

    /// Sets the batching of a mechanism that serves batches; the default is
    /// explicit.
    pub fn with_batching(mut self, batching: Batching) -> Self {
        self.batching = batching;
        self.in_order = self.in_order && !self.forms_groups();
        if let Batching::Window(window) = batching {
            self.window = window;
        }
        self
    }

    /// Whether plain requests may be served together.
    #[inline]
    fn forms_groups(&self) -> bool {
        matches!(self.batching, Batching::Window(_) | Batching::Adjacent)
    }

    /// The time of the next event.
    #[inline]
    fn due(&self) -> Option<Nanos> {
        if let Some(pass) = self.reading {
            return Some(self.row.start + self.passes.end_and_blocks(pass).0);
        }
        if self.waiting > 0 {
            return Some(self.mechanism_free);
        }
        let ready = self.incoming.front()?.ready + self.window;
        Some(ready.max(self.mechanism_free))
    }

    /// Serves the request that is next at `at`.
    #[inline(always)] // as serve_first
    fn serve_next(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        if !self.in_order {
            return self.serve_picked(at, sink);
        }
        self.serve_first(at, sink);
    }

    /// Serves the request that the scheduler picks among those ready at `at`.
    #[inline(never)] // the order of arrival is the common case
    fn serve_picked(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        if matches!(self.batching, Batching::Window(_)) {
            self.form_groups(at);
        }
        let merges = self.batching == Batching::Adjacent;
        while self.incoming.front().is_some_and(|w| w.ready + self.window <= at) {
            let waiting = self.incoming.pop_front().expect("it is ready");
            if merges {
                self.batches.merging.add(&waiting);
            }
            self.scheduler.push(waiting, self.mechanism.positions());
            self.waiting += 1;
        }
        let picked = match merges {
            true => self.pick_merged(at),
            false => pick(&mut *self.scheduler, at, &mut self.mechanism),
        };
        let Some(waiting) = picked else { return };
        self.waiting -= 1;
        self.incoming.push_front(waiting);
        self.serve_first(at, sink);
    }

    /// The request that the scheduler picks, with those that are next to it.
    #[cold]
    fn pick_merged(&mut self, at: Nanos) -> Option<Waiting> {
        let picked = loop {
            let picked = pick(&mut *self.scheduler, at, &mut self.mechanism)?;
            if !self.batches.merging.was_merged(&picked) {
                break picked;
            }
        };
        let merged = self.merge(picked);
        if self.waiting == 1 && self.batches.merging.has_merged() {
            while self.scheduler.pop(at, self.mechanism.positions()).is_some() {}
            self.batches.merging.clear_merged();
        }
        Some(merged)
    }

    /// Serves the first of `incoming`, a request or a batch, from `at` on. It stays where it
    /// is meanwhile: a copy would cost as much as the rest.
    #[inline(always)] // once a request
    fn serve_first(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        let Some(waiting) = self.incoming.front() else { return };
        let request = &waiting.request;
        if request.flags.contains(Flags::LINKED) {
            return self.serve_batch(at, sink);
        }
        self.serving = 0;
        let row = &mut self.row;
        row.id = request.id;
        row.parent = request.parent;
        row.device = self.device;
        row.stream = request.stream;
        row.op = request.op;
        row.lbn = request.lbn();
        row.blocks = request.blocks();
        row.arrival = request.arrival;
        row.start = at;
        row.queue_depth = waiting.queue_depth;
        let (mechanism, passes) = (&mut self.mechanism, &mut self.passes);
        access(mechanism, at, request, passes, row, self.media_writes.as_ref());
        let media = row.parts.total();
        self.mechanism_free = at + media;
        self.busy.add(request.id, media);
        let pays = !request.flags.contains(Flags::FOR_TASK);
        let overhead = if pays { self.interface.overhead } else { Nanos::ZERO };
        self.row.parts.overhead = overhead;
        self.row.parts.queue = at - request.arrival - overhead;
        let (op, data_in) = (request.op, waiting.data_in);
        self.incoming.pop_front();
        if op == Op::Read && pays && self.interface.bus_ns_per_block > 0.0 {
            self.reading = Some(0);
        } else {
            self.complete(self.mechanism_free.max(data_in));
            sink.done(&self.row);
        }
    }

    /// Completes a request that needs no media, when its command is processed.
    #[cold]
    fn answer(
        &self,
        request: &Request,
        queue_depth: u32,
        ready: Nanos,
        sink: &mut dyn CompletionSink,
    ) {
        let mut row = Row::of(request, self.device);
        row.queue_depth = queue_depth;
        row.parts.overhead = self.interface.overhead;
        row.parts.queue = ready - request.arrival - self.interface.overhead;
        row.start = ready;
        row.completion = ready;
        if self.mechanism.energy(self.mechanism_free).is_none() {
            row.energy_nj = UNKNOWN_ENERGY;
        }
        if self.mechanism.media().has_failed(ready) {
            row.status = Status::Error;
        }
        sink.done(&row);
    }

    /// Ends a pass of a read: its blocks take the bus. Whether the completion is known.
    #[inline]
    fn end_pass(&mut self, pass: usize, at: Nanos) -> bool {
        let bus = self.interface.bus(self.passes.end_and_blocks(pass).1);
        self.bus_free = at.max(self.bus_free) + bus;
        self.bus_busy.add(self.row.id, bus);
        if pass + 1 < self.passes.len() {
            self.reading = Some(pass + 1);
            return false;
        }
        self.reading = None;
        self.complete(self.bus_free.max(self.mechanism_free));
        true
    }

    /// Sets the completion of the request in service; the time from the end of the media
    /// transfer to `completion` is bus time.
    #[inline]
    fn complete(&mut self, completion: Nanos) {
        self.row.completion = completion;
        self.row.parts.bus = completion - self.mechanism_free;
    }
}

/// Lets the mechanism serve a request, from `at` on, and shows the passes of a write. Those
/// of a batch, or if they are shown, are kept in full.
#[inline]
fn access<M: Mechanism>(
    mechanism: &mut M,
    at: Nanos,
    request: &Request,
    passes: &mut Passes,
    row: &mut Row,
    shown: Option<&MediaWrites>,
) {
    let is_batch = request.flags.contains(Flags::GATHERED);
    passes.clear(is_batch || shown.is_some());
    mechanism.access(at, request, passes, row);
    if let Some(writes) = shown
        && request.op == Op::Write
        && !is_batch
    {
        writes.push_passes(at, Some(request.id), request, &passes.steps, mechanism);
    }
}

impl<M: Mechanism> Model for Station<M> {
    fn blocks(&self) -> u64 {
        self.mechanism.positions().blocks()
    }

    fn foresee(&mut self, upcoming: &[Extent]) {
        if self.in_order {
            self.mechanism.foresee(upcoming);
        }
    }

    #[inline]
    fn submit(&mut self, mut request: Request, sink: &mut dyn CompletionSink) {
        let arrival = request.arrival;
        if self.next.is_some_and(|at| at < arrival) {
            self.advance(arrival, false, sink);
        }
        let in_service = match self.mechanism_free > arrival {
            true => self.serving.max(1),
            false => 0,
        };
        let held = self.incoming.len() + self.waiting + self.in_batches;
        let queue_depth = held as u32 + in_service;
        let (mut ready, mut data_in) = (arrival, arrival);
        if !request.flags.contains(Flags::FOR_TASK) {
            ready = arrival.max(self.bus_free) + self.interface.overhead;
            // By a product, not by a branch that cannot be foreseen.
            let data = self.interface.bus(request.blocks());
            data_in = ready + Nanos(data.0 * u64::from(request.op == Op::Write));
            self.bus_free = data_in;
            self.bus_busy.add(request.id, data_in - ready + self.interface.overhead);
        }
        if !request.op.moves_data() {
            return self.answer(&request, queue_depth, ready, sink);
        }
        if self.batching != Batching::Explicit {
            request.flags.remove(Flags::LINKED);
        }
        let joins = request.flags.contains(Flags::LINKED) || self.batches.has_incomplete();
        let waiting = Waiting { request, ..Waiting::default() };
        self.incoming.push_back(waiting);
        // Set where it stays: a copy of fields just written waits for them.
        if let Some(waiting) = self.incoming.back_mut() {
            waiting.queue_depth = queue_depth;
            waiting.ready = ready;
            waiting.data_in = data_in;
        }
        if joins {
            let batch = self.incoming.pop_back().and_then(|waiting| self.add_to_batch(waiting));
            let Some(batch) = batch else { return };
            self.incoming.push_back(batch);
        }
        if self.next.is_none() {
            self.next = self.due();
        }
    }

    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        self.next
    }

    #[inline(always)] // once an event
    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        match self.reading {
            Some(pass) if self.serving > 0 => self.end_batch_pass(pass, at, sink),
            Some(pass) => {
                if self.end_pass(pass, at) {
                    sink.done(&self.row);
                }
            }
            None => self.serve_next(at, sink),
        }
        self.next = self.due();
    }

    fn links(&self) -> Links {
        match (self.mechanism.batches(), self.batching) {
            (None, _) => Links::Refused,
            (Some(_), Batching::Explicit) => Links::Served,
            (Some(_), _) => Links::Ignored,
        }
    }

    fn show_media_writes(&mut self, writes: &MediaWrites) -> bool {
        self.media_writes = Some(writes.clone());
        true
    }

    fn mechanism(&self) -> Option<&dyn Mechanism> {
        Some(&self.mechanism)
    }

    fn rest(&mut self, now: Nanos) -> Rest {
        let is_idle = self.next.is_none() && self.mechanism_free <= now;
        match is_idle && !self.batches.has_incomplete() {
            true if self.mechanism.rest(now) => Rest::Rests,
            true => Rest::Cannot,
            false => Rest::Works,
        }
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        reports.push(Report {
            name: self.name.clone(),
            mechanisms: self.interface.mechanisms(self.busy, self.bus_busy),
            energy: self.mechanism.energy(until.max(self.mechanism_free)),
            counts: self.mechanism.counts(),
            ..Report::default()
        });
    }
}
