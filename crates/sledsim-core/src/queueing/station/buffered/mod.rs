//! The station with a buffer: read-ahead, write-back, speed matching.
//!
//! The buffer is [`Segments`], its keys are [`Buffer`]. What it does:
//!
//! *Reads.* When its command has been processed, a read whose blocks are all
//! held takes the bus at once: no queue, no mechanism, no passes. One whose
//! other blocks the mechanism is reading at that moment, for another request
//! or ahead, waits for that to end, and takes the bus then. Any other waits
//! for the mechanism, and is looked up again when its turn has come; what is
//! held from its first block on takes the bus then, and the mechanism reads
//! from the first block that is missing to the end of the request (all of a
//! request of several extents). What has been read is kept; where the buffer
//! held newer data, those stay and are what the host gets.
//!
//! *Read-ahead.* While nothing waits for the mechanism, it goes on behind the
//! last block of the last read, hit or miss, row by row, until it has come as
//! far as `read_ahead` says or the segment holds nothing but blocks that the
//! host has not had. Another read, a write to the media and a flush end it. Rows
//! are whole: the last one may go past the goal, and none is begun that would not
//! fit; a read that is to be followed takes the rest of its last row along, which
//! costs no time. It is given up only between rows, and no row is begun while the
//! command of a request is being processed that needs the mechanism, unless its
//! first missing block lies before the goal. So it delays a request by at most
//! one pass with the positioning before it; if that was begun before the
//! request arrived, as for all requests elsewhere, the command overhead hides
//! as much of it.
//!
//! *Writes.* With write-back, a write of one extent that fits a segment is
//! complete when its data are in and there is room ([`Segments::place`]).
//! Where there is none it waits for the mechanism like a read; when its turn
//! has come, the run in its way is destaged: one that it overlaps, or the one
//! that has been dirty longest. Writes with `fua`, of several extents, or
//! larger than a segment go to the media and are complete then; clean copies of
//! their blocks are dropped, dirty ones take the new data.
//!
//! *Destaging.* While nothing waits and there is nothing to read ahead, the run
//! that has been dirty longest is written, row by row, under the same rule. A
//! flush is complete when everything that was dirty at the next moment at which
//! the mechanism is free has been written; it goes before all that waits.
//! Written data stay as clean copies. Until a flush, completed writes are not
//! durable. A trim leaves the buffer alone.
//!
//! *Rows and energy.* Hits and writes into the buffer have no passes and no
//! energy. Waiting for blocks that are being read, or for room, is `queue`;
//! the seeks and transfers of a flush are those of its destaging. What
//! read-ahead and destaging spend is not in any row, but in the report.

mod background;
mod bus;
mod serving;

use super::{Buffer, Interface, Segments, SpeedMatching};
use crate::model::mechanism::{Mechanism, Step};
use crate::model::{CompletionSink, Energy, Events, Model, Report};
use crate::queueing::schedulers::{Scheduler, Waiting};
use background::Stream;
use sledsim_base::request::{Extent, Extents, Op, Request};
use sledsim_base::row::{Parts, Row, Status};
use sledsim_base::units::Nanos;
use std::collections::VecDeque;
use std::ops::Range;

/// What the mechanism is doing until [`Buffered::mechanism_free`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnderWay {
    Request,
    Background,
}

/// One mechanism with queue, scheduler, command overhead, bus and buffer.
pub struct Buffered<M: Mechanism> {
    name: String,
    device: u16,
    mechanism: M,
    scheduler: Box<dyn Scheduler>,
    interface: Interface,
    buffer: Buffer,
    segments: Segments,
    /// Commands on their way through the bus, in the order of `ready`.
    incoming: VecDeque<Waiting>,
    bus_free: Nanos,
    mechanism_free: Nanos,
    busy: Nanos,
    under_way: Option<UnderWay>,
    /// What the mechanism is reading.
    bringing: Extents,
    /// One past the last block of it that the host wants, unless it wants all.
    wanted_end: Option<u64>,
    /// The request in service, and its passes.
    row: Row,
    steps: Vec<Step>,
    /// The pass whose blocks take the bus next, while a read is in service.
    reading: Option<usize>,
    /// Requests the scheduler holds.
    waiting: usize,
    /// Reads whose blocks the mechanism is reading.
    awaiting: Vec<Waiting>,
    flushes: VecDeque<Waiting>,
    stream: Option<Stream>,
    /// Spent in the background: by the mechanism's causes, and by ours.
    spent: Energy,
    /// When something is next due: [`Buffered::due`], kept up to date.
    next: Option<Nanos>,
}

impl<M: Mechanism> Buffered<M> {
    /// A station around `mechanism`. `device` and `name` mark its rows and
    /// reports.
    #[must_use]
    pub fn new(
        name: &str,
        device: u16,
        mechanism: M,
        scheduler: Box<dyn Scheduler>,
        interface: Interface,
        buffer: Buffer,
    ) -> Self {
        let segments = Segments::new(
            buffer.segments as usize,
            buffer.segment_blocks,
            buffer.write_back_segments as usize,
        );
        Self {
            name: name.to_owned(),
            device,
            mechanism,
            scheduler,
            interface,
            buffer,
            segments,
            incoming: VecDeque::new(),
            bus_free: Nanos::ZERO,
            mechanism_free: Nanos::ZERO,
            busy: Nanos::ZERO,
            under_way: None,
            bringing: Extents::new(),
            wanted_end: None,
            row: Row::default(),
            steps: Vec::new(),
            reading: None,
            waiting: 0,
            awaiting: Vec::new(),
            flushes: VecDeque::new(),
            stream: None,
            spent: Energy::default(),
            next: None,
        }
    }

    /// The next instant at which something is due.
    fn due(&self) -> Option<Nanos> {
        let command = self.incoming.front().map(|waiting| waiting.ready);
        let bus = self.reading.map(|pass| self.bus_at(pass));
        let end = self.under_way.map(|_| self.mechanism_free);
        [command, bus, end].into_iter().flatten().min()
    }

    /// Whether a request goes to the buffer if there is room.
    fn holds_back(&self, request: &Request) -> bool {
        self.buffer.write_back_segments > 0
            && request.op == Op::Write
            && !request.flags.fua
            && request.extents.len() == 1
            && u64::from(request.blocks()) <= self.segments.capacity()
    }

    /// A request whose command has been processed.
    fn take_in(&mut self, waiting: Waiting, at: Nanos, sink: &mut dyn CompletionSink) {
        let request = &waiting.request;
        if request.op == Op::Flush && self.is_durable() {
            sink.done(&self.row(&waiting, at));
        } else if request.op == Op::Flush {
            self.flushes.push_back(waiting);
        } else if request.op == Op::Read && self.segments.hit(&request.extents) {
            self.hit(&waiting, at, sink);
        } else if request.op == Op::Read
            && self
                .segments
                .hold_with(&request.extents, self.coming().as_slice())
        {
            self.awaiting.push(waiting);
        } else if self.holds_back(request) && self.segments.place(request.extents[0]) {
            self.accept(&waiting, at, sink);
        } else {
            self.queue(waiting);
        }
    }

    /// Whether all that is held is on the media.
    fn is_durable(&self) -> bool {
        let destaging = self.under_way == Some(UnderWay::Background) && self.bringing.is_empty();
        !destaging && self.segments.longest_dirty().is_none()
    }

    /// What the mechanism is reading and the buffer will keep.
    fn coming(&self) -> Option<Extent> {
        let [extent] = self.bringing.as_slice() else {
            return None;
        };
        let blocks = u64::from(extent.blocks).min(self.segments.capacity());
        Some(Extent {
            lbn: extent.end() - blocks,
            blocks: blocks as u32,
        })
    }

    fn queue(&mut self, waiting: Waiting) {
        self.scheduler.push(waiting, &self.mechanism);
        self.waiting += 1;
    }

    /// The row of a request that leaves the queue at `at`, with the parts
    /// before that. Data that had to be in before it could wait were on the
    /// bus.
    fn row(&self, waiting: &Waiting, at: Nanos) -> Row {
        let request = &waiting.request;
        let bus = if request.op == Op::Write && waiting.ready == waiting.data_in {
            self.interface.bus(request.blocks())
        } else {
            Nanos::ZERO
        };
        let parts = Parts {
            overhead: self.interface.overhead,
            queue: at - request.arrival - self.interface.overhead - bus,
            bus,
            ..Parts::default()
        };
        let status = match self.mechanism.has_failed(at) {
            true => Status::Error,
            false => Status::Ok,
        };
        Row {
            queue_depth: waiting.queue_depth,
            start: at,
            completion: at,
            parts,
            status,
            ..Row::of(request, self.device)
        }
    }

    /// What the mechanism was doing has ended.
    fn end(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        self.under_way = None;
        self.segments.idle();
        for extent in std::mem::take(&mut self.bringing) {
            self.segments.keep(extent);
        }
        let mut awaiting = std::mem::take(&mut self.awaiting);
        for waiting in awaiting.drain(..) {
            if self.segments.hit(&waiting.request.extents) {
                self.hit(&waiting, at, sink);
            } else {
                self.queue(waiting);
            }
        }
        self.awaiting = awaiting;
    }

    /// Gives the mechanism something to do, if there is anything.
    fn decide(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        while self.under_way.is_none() {
            if let Some(flush) = self.flushes.pop_front() {
                self.flush(&flush, at, sink);
            } else if self.waiting > 0 {
                let Some(waiting) = self.scheduler.pop(at, &self.mechanism) else {
                    return;
                };
                self.waiting -= 1;
                self.serve(waiting, at, sink);
            } else {
                if !self.read_ahead(at) {
                    self.destage_row(at);
                }
                return;
            }
        }
    }

    /// Whether a request whose command is being processed will want the
    /// mechanism, and not for blocks `coming` anyway.
    fn is_wanted(&self, coming: Range<u64>) -> bool {
        let wants = |request: &Request| match request.op {
            Op::Read => {
                let held = self.segments.hold_with(&request.extents, &[]);
                !held && !coming.contains(&self.segments.missing_from(request.lbn()))
            }
            Op::Write => !self.holds_back(request),
            Op::Flush | Op::Trim => false,
        };
        self.incoming.iter().any(|waiting| wants(&waiting.request))
    }
}

impl<M: Mechanism> Events for Buffered<M> {
    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        self.next
    }

    /// All that is due at `at`, in this order: blocks to the bus, the end of
    /// what the mechanism does, commands processed, what it does next.
    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        while let Some(pass) = self.reading.filter(|pass| self.bus_at(*pass) <= at) {
            self.cross(pass, at, sink);
        }
        if self.under_way.is_some() && self.mechanism_free <= at {
            self.end(at, sink);
        }
        while self.incoming.front().is_some_and(|w| w.ready <= at) {
            if let Some(waiting) = self.incoming.pop_front() {
                self.take_in(waiting, at, sink);
            }
        }
        if self.under_way.is_none() {
            self.decide(at, sink);
        }
        self.next = self.due();
    }
}

impl<M: Mechanism> Model for Buffered<M> {
    fn blocks(&self) -> u64 {
        self.mechanism.blocks()
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        let arrival = request.arrival;
        self.advance(arrival, false, sink);
        let in_service = self.under_way == Some(UnderWay::Request) && self.mechanism_free > arrival;
        let waiting = self.incoming.len() + self.waiting + self.awaiting.len();
        let queue_depth = (waiting + self.flushes.len()) as u32 + u32::from(in_service);
        let mut ready = arrival.max(self.bus_free) + self.interface.overhead;
        self.bus_free = ready;
        if request.op == Op::Write {
            self.bus_free += self.interface.bus(request.blocks());
            let stored = self.buffer.speed_matching == SpeedMatching::None;
            if stored || self.holds_back(&request) {
                ready = self.bus_free;
            }
        }
        let waiting = Waiting {
            request,
            queue_depth,
            ready,
            data_in: self.bus_free,
        };
        if waiting.request.op == Op::Trim {
            sink.done(&self.row(&waiting, ready));
            return;
        }
        self.incoming.push_back(waiting);
        self.next = self.due();
    }

    fn wake(&mut self, now: Nanos, sink: &mut dyn CompletionSink) {
        self.advance(now, true, sink);
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.next_event()
    }

    fn mechanism(&self) -> Option<&dyn Mechanism> {
        Some(&self.mechanism)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        let spent = self.mechanism.energy(until.max(self.mechanism_free));
        reports.push(Report {
            name: self.name.clone(),
            busy: self.busy,
            energy: Energy {
                seek_j: (spent.seek_j - self.spent.seek_j).max(0.0),
                transfer_j: (spent.transfer_j - self.spent.transfer_j).max(0.0),
                startup_j: (spent.startup_j - self.spent.startup_j).max(0.0),
                read_ahead_j: self.spent.read_ahead_j,
                destage_j: self.spent.destage_j,
                retry_j: (spent.retry_j - self.spent.retry_j).max(0.0),
                ..spent
            },
            counts: self.mechanism.counts(),
        });
    }
}
