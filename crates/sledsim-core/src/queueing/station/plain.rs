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
//! The module `batches` describes batches.

use super::Interface;
use super::batches::{Batches, Batching};
use super::plain_requests;
use crate::model::links::Links;
use crate::model::mechanism::{Mechanism, Service, Step};
use crate::model::media_writes::MediaWrites;
use crate::model::plain_requests::PlainModel;
use crate::model::{Busy, CompletionSink, Model, Report, Rest};
use crate::queueing::schedulers::{Scheduler, Waiting};
use sledsim_base::request::{Flags, Op, Request};
use sledsim_base::row::{Row, Status, UNKNOWN_ENERGY};
use sledsim_base::units::Nanos;
use std::collections::VecDeque;

/// One mechanism with queue, scheduler, command overhead and bus.
pub struct Station<M: Mechanism> {
    name: String,
    pub(super) device: u16,
    pub(super) mechanism: M,
    pub(super) scheduler: Box<dyn Scheduler>,
    /// Whether requests are served in the order of `incoming`, and the scheduler holds
    /// none.
    pub(super) in_order: bool,
    pub(super) plain_queue: plain_requests::Queue,
    pub(super) interface: Interface,
    /// Commands on their way through the bus, in the order of `ready`.
    pub(super) incoming: VecDeque<Waiting>,
    pub(super) bus_free: Nanos,
    pub(super) mechanism_free: Nanos,
    pub(super) busy: Busy,
    pub(super) bus_busy: Busy,
    /// The request in service, its passes, and the end and blocks of each since `start`
    /// (no blocks if it will be repeated).
    pub(super) row: Row,
    pub(super) steps: Vec<Step>,
    pub(super) passes: Vec<(Nanos, u32)>,
    /// The pass whose end is the next event, while a read is in service.
    pub(super) reading: Option<usize>,
    /// Requests that the scheduler holds.
    pub(super) waiting: usize,
    /// The next event: [`Station::due`], kept up to date.
    pub(super) next: Option<Nanos>,
    batching: Batching,
    /// How long the first command of a batch waits for others.
    pub(super) window: Nanos,
    /// Further commands held as parts of a batch, not counted above.
    pub(super) in_batches: usize,
    /// Commands of the batch in service; 0 if a single command is in service.
    pub(super) serving: u32,
    pub(super) batches: Batches,
    /// Where the writes to its media are shown, if anywhere.
    pub(super) media_writes: Option<MediaWrites>,
}

impl<M: Mechanism> Station<M> {
    /// A station around `mechanism`. `device` and `name` mark its rows and
    /// reports.
    #[must_use]
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
            plain_queue: plain_requests::Queue::default(),
            scheduler,
            interface,
            incoming: VecDeque::new(),
            bus_free: Nanos::ZERO,
            mechanism_free: Nanos::ZERO,
            busy: Busy::default(),
            bus_busy: Busy::default(),
            row: Row::default(),
            steps: Vec::new(),
            passes: Vec::new(),
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
    #[must_use]
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
    pub(super) fn forms_groups(&self) -> bool {
        matches!(self.batching, Batching::Window(_) | Batching::Adjacent)
    }

    /// The interface costs of a request; none if a background task of the device
    /// issued it.
    fn interface_of(&self, request: &Request) -> Interface {
        if request.flags.contains(Flags::FOR_TASK) { Interface::default() } else { self.interface }
    }

    /// The time of the next event.
    pub(super) fn due(&self) -> Option<Nanos> {
        if let Some(pass) = self.reading {
            return Some(self.row.start + self.passes[pass].0);
        }
        if self.waiting > 0 {
            return Some(self.mechanism_free);
        }
        let ready = self.incoming.front()?.ready + self.window;
        Some(ready.max(self.mechanism_free))
    }

    /// Serves the request that is next at `at`.
    fn serve_next(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        if !self.in_order {
            return self.serve_picked(at, sink);
        }
        if let Some(waiting) = self.incoming.pop_front() {
            self.serve(at, waiting, sink);
        }
    }

    /// Serves the request that the scheduler picks among those ready at `at`.
    fn serve_picked(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        if matches!(self.batching, Batching::Window(_)) {
            self.form_groups(at);
        }
        let merges = self.batching == Batching::Adjacent;
        while self.incoming.front().is_some_and(|w| w.ready + self.window <= at) {
            if let Some(waiting) = self.incoming.pop_front() {
                if merges {
                    self.batches.merging.add(&waiting);
                }
                self.scheduler.push(waiting, &self.mechanism);
                self.waiting += 1;
            }
        }
        let waiting = loop {
            let Some(waiting) = self.scheduler.pop(at, &self.mechanism) else {
                return;
            };
            if !(merges && self.batches.merging.was_merged(&waiting)) {
                break waiting;
            }
        };
        self.waiting -= 1;
        let waiting = if merges { self.merge(waiting) } else { waiting };
        if self.waiting == 0 && merges && self.batches.merging.has_merged() {
            while self.scheduler.pop(at, &self.mechanism).is_some() {}
            self.batches.merging.clear_merged();
        }
        self.serve(at, waiting, sink);
    }

    /// Serves a request, or a batch, from `at` on.
    #[inline]
    fn serve(&mut self, at: Nanos, waiting: Waiting, sink: &mut dyn CompletionSink) {
        if waiting.request.flags.contains(Flags::LINKED) {
            return self.serve_batch(at, waiting, sink);
        }
        if self.serve_if_plain(at, &waiting, sink) {
            return;
        }
        let request = &waiting.request;
        self.serving = 0;
        let service = self.access(at, request);
        self.row = Row {
            queue_depth: waiting.queue_depth,
            start: at,
            parts: service.parts,
            passes: service.passes,
            retries: service.retries,
            status: service.status,
            energy_nj: service.energy_nj,
            ..Row::of(request, self.device)
        };
        let interface = self.interface_of(request);
        self.row.parts.overhead = interface.overhead;
        self.row.parts.queue = at - request.arrival - interface.overhead;
        if request.op == Op::Read && interface.bus_ns_per_block > 0.0 {
            self.reading = Some(0);
        } else {
            self.complete(self.mechanism_free.max(waiting.data_in));
            sink.done(&self.row);
        }
    }

    /// Lets the mechanism serve a request, from `at` on.
    pub(super) fn access(&mut self, at: Nanos, request: &Request) -> Service {
        self.steps.clear();
        self.passes.clear();
        let service = self.mechanism.serve(at, request, &mut self.steps);
        (self.passes).extend(self.steps.iter().map(Step::end_and_blocks));
        if let Some(writes) = self
            .media_writes
            .as_ref()
            .filter(|_| request.op == Op::Write && !request.flags.contains(Flags::GATHERED))
        {
            writes.push_passes(at, Some(request.id), request, &self.steps, &self.mechanism);
        }
        let media = service.parts.total();
        self.mechanism_free = at + media;
        self.busy.add(request.id, media);
        service
    }

    /// Ends a pass of a read: its blocks take the bus. Whether the completion is known.
    #[inline]
    pub(super) fn end_pass(&mut self, pass: usize, at: Nanos) -> bool {
        let (_, blocks) = self.passes[pass];
        let bus = self.interface.bus(blocks);
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
    pub(super) fn complete(&mut self, completion: Nanos) {
        self.row.completion = completion;
        self.row.parts.bus = completion - self.mechanism_free;
    }
}

impl<M: Mechanism> Model for Station<M> {
    fn blocks(&self) -> u64 {
        self.mechanism.blocks()
    }

    fn submit(&mut self, mut request: Request, sink: &mut dyn CompletionSink) {
        let arrival = request.arrival;
        self.advance(arrival, false, sink);
        if self.take_plain(&request) {
            return;
        }
        let in_service = match self.mechanism_free > arrival {
            true => self.serving.max(1),
            false => 0,
        };
        let held =
            self.incoming.len() + self.waiting + self.in_batches + self.plain_queue.waiting();
        let queue_depth = held as u32 + in_service;
        let interface = self.interface_of(&request);
        let ready = if request.flags.contains(Flags::FOR_TASK) {
            arrival
        } else {
            self.bus_free = arrival.max(self.bus_free) + interface.overhead;
            self.bus_busy.add(request.id, interface.overhead);
            self.bus_free
        };
        if !request.op.moves_data() {
            let mut row = Row::of(&request, self.device);
            row.queue_depth = queue_depth;
            row.parts.overhead = self.interface.overhead;
            row.parts.queue = ready - arrival - self.interface.overhead;
            row.start = ready;
            row.completion = ready;
            if self.mechanism.energy(self.mechanism_free).is_none() {
                row.energy_nj = UNKNOWN_ENERGY;
            }
            if self.mechanism.has_failed(ready) {
                row.status = Status::Error;
            }
            sink.done(&row);
            return;
        }
        let mut data_in = ready;
        if request.op == Op::Write && !request.flags.contains(Flags::FOR_TASK) {
            let bus = interface.bus(request.blocks());
            self.bus_free += bus;
            self.bus_busy.add(request.id, bus);
            data_in = self.bus_free;
        }
        if self.batching != Batching::Explicit {
            request.flags.remove(Flags::LINKED);
        }
        let joins = request.flags.contains(Flags::LINKED) || self.batches.has_incomplete();
        let waiting = Waiting { request, queue_depth, ready, data_in };
        if !joins {
            self.incoming.push_back(waiting);
        } else if let Some(batch) = self.add_to_batch(waiting) {
            self.incoming.push_back(batch);
        } else {
            return;
        }
        if self.next.is_none() {
            self.next = self.due();
        }
    }

    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        self.next
    }

    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        match self.reading {
            Some(pass) if self.serving > 0 => self.end_batch_pass(pass, at, sink),
            None if self.plain_queue.is_empty() => self.serve_next(at, sink),
            _ => {
                if let (_, Some(row)) = PlainModel::happen_plain(self, at) {
                    sink.done(row);
                }
            }
        }
        self.next = match self.plain_queue.is_empty() {
            true => self.due(),
            false => Some(self.due_plain()),
        };
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

    fn plain(&mut self) -> Option<&mut dyn PlainModel> {
        let is_empty = self.next.is_none() && !self.batches.has_incomplete();
        let is_empty = is_empty && self.media_writes.is_none();
        (is_empty && !self.forms_groups()).then_some(self)
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
        });
    }
}
