//! The station serving plain requests: the same times as `plain`, with a queue of small
//! entries, which can be handed over to it.

use super::plain::Station;
use crate::model::CompletionSink;
use crate::model::mechanism::Mechanism;
use crate::model::plain_requests::{Plain, PlainModel};
use crate::queueing::schedulers::Waiting;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::VecDeque;

/// A plain request on its way to the mechanism; the fields are those of [`Waiting`].
#[derive(Clone, Copy, Debug)]
struct Entry {
    plain: Plain,
    queue_depth: u32,
    id: u64,
    parent: Option<u64>,
    arrival: Nanos,
    ready: Nanos,
    data_in: Nanos,
}

impl Entry {
    /// Of a plain request.
    #[inline]
    fn of(waiting: &Waiting) -> Option<Self> {
        Some(Self {
            plain: Plain::of(&waiting.request)?,
            queue_depth: waiting.queue_depth,
            id: waiting.request.id,
            parent: waiting.request.parent,
            arrival: waiting.request.arrival,
            ready: waiting.ready,
            data_in: waiting.data_in,
        })
    }

    #[inline]
    fn waiting(&self) -> Waiting {
        Waiting {
            request: Request { parent: self.parent, ..self.plain.request(self.id, self.arrival) },
            queue_depth: self.queue_depth,
            ready: self.ready,
            data_in: self.data_in,
        }
    }
}

/// The plain requests that wait.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: VecDeque<Entry>,
    /// Requests that the scheduler holds.
    in_scheduler: usize,
}

impl Queue {
    /// Whether it has no request.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.in_scheduler == 0
    }

    /// The number of requests that wait and are not with the scheduler.
    #[inline]
    pub(super) fn waiting(&self) -> usize {
        self.entries.len()
    }
}

impl<M: Mechanism> Station<M> {
    /// Takes a request that arrives now, if it is plain and all requests before it were
    /// served here; otherwise hands those that wait here over.
    #[inline]
    pub(super) fn take_plain(&mut self, request: &Request) -> bool {
        let takes = self.incoming.is_empty()
            && self.waiting == self.plain_queue.in_scheduler
            && (self.serving == 0 || self.reading.is_none())
            && self.in_batches == 0
            && !self.batches.has_incomplete()
            && !self.forms_groups()
            && self.media_writes.is_none();
        if let Some(plain) = Plain::of(request).filter(|_| takes) {
            let due = self.add_plain(request.id, request.parent, request.arrival, &plain);
            self.next = Some(due);
            return true;
        }
        if !self.plain_queue.is_empty() && request.op.moves_data() {
            self.leave();
        }
        false
    }

    /// Adds a request that arrives now; returns when the next event is due.
    #[inline]
    fn add_plain(&mut self, id: u64, parent: Option<u64>, arrival: Nanos, plain: &Plain) -> Nanos {
        let in_service = match self.mechanism_free > arrival {
            true => self.serving.max(1),
            false => 0,
        };
        self.bus_free = arrival.max(self.bus_free) + self.interface.overhead;
        let ready = self.bus_free;
        // By a product, not by a branch that cannot be foreseen.
        let data = self.interface.bus(plain.blocks);
        self.bus_free += Nanos(data.0 * u64::from(plain.op == Op::Write));
        self.bus_busy.add(id, self.bus_free - ready + self.interface.overhead);
        let entries = &mut self.plain_queue.entries;
        entries.push_back(Entry {
            plain: *plain,
            queue_depth: (entries.len() + self.waiting) as u32 + in_service,
            id,
            parent,
            arrival,
            ready,
            data_in: self.bus_free,
        });
        self.due_plain()
    }

    /// When the next event is due.
    #[inline]
    pub(super) fn due_plain(&self) -> Nanos {
        let queue = &self.plain_queue;
        if let Some(pass) = self.reading {
            return self.row.start + self.passes[pass].0;
        }
        if queue.in_scheduler > 0 {
            return self.mechanism_free;
        }
        match queue.entries.front() {
            Some(entry) => entry.ready.max(self.mechanism_free),
            None => Nanos::MAX,
        }
    }

    /// Serves the next request; whether its completion is known.
    #[inline]
    fn serve_next_plain(&mut self, at: Nanos) -> bool {
        if !self.in_order {
            return self.serve_pick(at).unwrap_or(false);
        }
        let first = self.plain_queue.entries.pop_front();
        first.is_some_and(|entry| self.serve_entry(at, &entry))
    }

    /// Serves the request that the scheduler picks among those ready at `at`; whether its
    /// completion is known.
    #[inline(never)] // the order of arrival is the common case
    fn serve_pick(&mut self, at: Nanos) -> Option<bool> {
        let queue = &mut self.plain_queue;
        while let Some(entry) = queue.entries.front()
            && entry.ready <= at
        {
            self.scheduler.push(entry.waiting(), &self.mechanism);
            queue.entries.pop_front();
            queue.in_scheduler += 1;
            self.waiting += 1;
        }
        let picked = self.scheduler.pop(at, &self.mechanism)?;
        queue.in_scheduler -= 1;
        self.waiting -= 1;
        Some(self.serve_entry(at, &Entry::of(&picked)?))
    }

    /// Serves a request that a scheduler has picked, if it is plain.
    pub(super) fn serve_if_plain(
        &mut self,
        at: Nanos,
        waiting: &Waiting,
        sink: &mut dyn CompletionSink,
    ) -> bool {
        let shows = self.media_writes.is_some();
        let Some(entry) = Entry::of(waiting).filter(|_| !shows) else {
            return false;
        };
        if self.serve_entry(at, &entry) {
            sink.done(&self.row);
        }
        true
    }

    /// Serves a request; whether its completion is known.
    #[inline]
    fn serve_entry(&mut self, at: Nanos, entry: &Entry) -> bool {
        self.passes.clear();
        self.serving = 0;
        let Plain { op, lbn, blocks, stream } = entry.plain;
        let row = &mut self.row;
        row.id = entry.id;
        row.parent = entry.parent;
        row.device = self.device;
        row.stream = stream;
        row.op = op;
        row.lbn = lbn;
        row.blocks = blocks;
        row.arrival = entry.arrival;
        row.start = at;
        row.queue_depth = entry.queue_depth;
        let (passes, steps) = (&mut self.passes, &mut self.steps);
        let media = (self.mechanism).serve_plain(at, &entry.plain, row, passes, steps);
        row.parts.overhead = self.interface.overhead;
        row.parts.queue = at - entry.arrival - self.interface.overhead;
        self.mechanism_free = at + media;
        self.busy.add(entry.id, media);
        if op == Op::Read && self.interface.bus_ns_per_block > 0.0 {
            self.reading = Some(0);
            return false;
        }
        self.complete(self.mechanism_free.max(entry.data_in));
        true
    }
}

impl<M: Mechanism> PlainModel for Station<M> {
    fn foresee(&mut self, upcoming: &[Plain]) {
        if self.in_order {
            self.mechanism.foresee(upcoming);
        }
    }

    fn arrive(&mut self, id: u64, arrival: Nanos, plain: &Plain) -> Nanos {
        self.add_plain(id, None, arrival, plain)
    }

    fn happen_plain(&mut self, at: Nanos) -> (Nanos, Option<&Row>) {
        let is_known = match self.reading {
            Some(pass) => self.end_pass(pass, at),
            None => self.serve_next_plain(at),
        };
        (self.due_plain(), is_known.then_some(&self.row))
    }

    fn leave(&mut self) {
        let queue = &mut self.plain_queue;
        let waiting = |entry: Entry| entry.waiting();
        self.incoming.extend(queue.entries.drain(..).map(waiting));
        queue.in_scheduler = 0;
        self.next = self.due();
    }
}
