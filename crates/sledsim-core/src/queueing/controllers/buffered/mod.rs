//! The station with a buffer: read-ahead, write-back, speed matching.
//!
//! The buffer is [`Segments`], its keys are [`Buffer`]. `serving` serves
//! requests with the mechanism, `bus` transfers over the bus, `background`
//! reads ahead and destages.
//!
//! *Reads.* When its command has been processed, a read whose blocks are all
//! held takes the bus at once: no queue, no mechanism, no passes. If the
//! mechanism is reading its missing blocks at that moment, for another request
//! or ahead, the read waits for that to end, then takes the bus. Any other read
//! waits for the mechanism, and is looked up again when its turn comes; the
//! blocks held from its first block on then take the bus, and the mechanism
//! reads from the first missing block to the end of the request (all of a
//! request with several extents). The blocks read are kept; newer data in the
//! buffer stay and are what the host receives.
//!
//! *Read-ahead.* While nothing waits for the mechanism, it continues behind the
//! last block of the last read, hit or miss, row by row, until it reaches the
//! limit of `read_ahead` or the segment holds only blocks that the host has not
//! read. Another read, a write to the media and a flush end it. Rows are read
//! whole: the last one may extend past the goal, and no row is begun that would
//! not fit; a read with read-ahead includes the rest of its last row, which
//! costs no time. Read-ahead stops only between rows, and no row is begun while
//! the command of a request that needs the mechanism is being processed, unless
//! its first missing block lies before the goal. So it delays a request by at
//! most one pass with its positioning, less the command overhead.
//!
//! *Writes.* With write-back, a write of one extent that fits a segment is
//! complete when its data are in and there is room ([`Segments::place`]).
//! Otherwise it waits for the mechanism like a read; when its turn comes, a run
//! is destaged to make room: one that it overlaps, or the one that has been
//! dirty longest. Writes with `fua`, of several extents, or larger than a
//! segment go to the media and are complete then; clean copies of their blocks
//! are dropped, dirty ones take the new data.
//!
//! *Destaging.* While nothing waits and there is nothing to read ahead, the run
//! that has been dirty longest is written, row by row, under the same rule. A
//! flush precedes all waiting requests; it is complete when everything that is
//! dirty when the mechanism becomes free has been written. Written data stay as
//! clean copies. Until a flush, completed writes are not durable. A trim does
//! not change the buffer.
//!
//! *Rows and energy.* Hits and writes into the buffer have no passes and no
//! energy. Waiting for blocks that are being read, or for room, is `queue`;
//! the seeks and transfers of a flush are those of its destaging. The energy of
//! read-ahead and destaging is in the report, not in any row. The report counts
//! `read_hits`: reads that needed no pass of their own.

mod background;
mod bus;
mod serving;

use super::{Buffer, Interface, Segments, SpeedMatching};
use crate::model::mechanism::{Mechanism, Step};
use crate::model::media_writes::MediaWrites;
use crate::model::{Busy, CompletionSink, Energy, Model, Report};
use crate::queueing::schedulers::{Scheduler, Waiting, pick};
use background::ReadAheadState;
use sledsim_base::request::{Extent, Extents, Flags, Op, Request};
use sledsim_base::row::{Parts, Row, Status};
use sledsim_base::units::Nanos;
use std::collections::VecDeque;
use std::ops::Range;

/// What the mechanism does until [`Buffered::mechanism_free`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
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
    busy: Busy,
    bus_busy: Busy,
    under_way: Option<Operation>,
    /// The extents that the mechanism is reading.
    fetching: Extents,
    /// One past the last of these blocks that the host requested; `None` if it
    /// requested all.
    requested_end: Option<u64>,
    /// The request in service, and its passes.
    row: Row,
    steps: Vec<Step>,
    /// The pass whose blocks take the bus next, while a read is in service.
    reading: Option<usize>,
    /// Requests that the scheduler holds.
    waiting: usize,
    /// Reads whose blocks the mechanism is reading.
    awaiting_fetch: Vec<Waiting>,
    flushes: VecDeque<Waiting>,
    ahead: Option<ReadAheadState>,
    /// Reads that needed no pass of their own.
    read_hits: u64,
    /// Energy of background work, by the mechanism's causes and by the station's.
    background_energy: Energy,
    /// The next event: [`Buffered::due`], kept up to date.
    next: Option<Nanos>,
    /// Where the writes to its media are shown, if anywhere.
    media_writes: Option<MediaWrites>,
}

impl<M: Mechanism> Buffered<M> {
    /// A station around `mechanism`. `device` and `name` mark its rows and
    /// reports.
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
            busy: Busy::default(),
            bus_busy: Busy::default(),
            under_way: None,
            fetching: Extents::new(),
            requested_end: None,
            row: Row::default(),
            steps: Vec::new(),
            reading: None,
            waiting: 0,
            awaiting_fetch: Vec::new(),
            flushes: VecDeque::new(),
            ahead: None,
            read_hits: 0,
            background_energy: Energy::default(),
            next: None,
            media_writes: None,
        }
    }

    /// The time of the next event.
    fn due(&self) -> Option<Nanos> {
        let command = self.incoming.front().map(|waiting| waiting.ready);
        let bus = self.reading.map(|pass| self.bus_at(pass));
        let end = self.under_way.map(|_| self.mechanism_free);
        [command, bus, end].into_iter().flatten().min()
    }

    /// Shows the passes of a write that began at `at`.
    fn show_write(&self, at: Nanos, source: Option<u64>, request: &Request) {
        if let Some(writes) = &self.media_writes {
            writes.push_passes(at, source, request, &self.steps, &self.mechanism);
        }
    }

    /// Whether a write goes to the buffer if there is room.
    fn is_write_back(&self, request: &Request) -> bool {
        self.buffer.write_back_segments > 0
            && request.op == Op::Write
            && !request.flags.contains(Flags::FUA)
            && request.extents.len() == 1
            && u64::from(request.blocks()) <= self.segments.capacity()
    }

    /// Handles a request whose command has been processed.
    fn command_processed(&mut self, waiting: Waiting, at: Nanos, sink: &mut dyn CompletionSink) {
        let request = &waiting.request;
        if request.op == Op::Flush && self.is_durable() {
            sink.done(&self.row_at(&waiting, at));
        } else if request.op == Op::Flush {
            self.flushes.push_back(waiting);
        } else if request.op == Op::Read && self.segments.hit(&request.extents) {
            self.complete_hit(&waiting, at, sink);
        } else if request.op == Op::Read
            && self.segments.hold_with(&request.extents, self.fetch_to_keep().as_slice())
        {
            self.awaiting_fetch.push(waiting);
        } else if self.is_write_back(request) && self.segments.place(request.extents[0]) {
            self.complete_write_back(&waiting, at, sink);
        } else {
            self.enqueue(waiting);
        }
    }

    /// Whether all that is held is on the media.
    fn is_durable(&self) -> bool {
        let destaging = self.under_way == Some(Operation::Background) && self.fetching.is_empty();
        !destaging && self.segments.longest_dirty().is_none()
    }

    /// The blocks being read that the buffer will keep.
    fn fetch_to_keep(&self) -> Option<Extent> {
        let [extent] = self.fetching.as_slice() else {
            return None;
        };
        let blocks = u64::from(extent.blocks).min(self.segments.capacity());
        Some(Extent { lbn: extent.end() - blocks, blocks: blocks as u32 })
    }

    fn enqueue(&mut self, waiting: Waiting) {
        self.scheduler.push(waiting, self.mechanism.positions());
        self.waiting += 1;
    }

    /// The row of a request that leaves the queue at `at`, with the parts up to
    /// then. Bus time counts for write data that had to be in before the request
    /// could wait.
    fn row_at(&self, waiting: &Waiting, at: Nanos) -> Row {
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
        let status = match self.mechanism.media().has_failed(at) {
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

    /// Ends the current operation of the mechanism.
    fn end_operation(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        self.under_way = None;
        self.segments.idle();
        for extent in std::mem::take(&mut self.fetching) {
            self.segments.keep(extent);
        }
        let mut awaiting_fetch = std::mem::take(&mut self.awaiting_fetch);
        for waiting in awaiting_fetch.drain(..) {
            if self.segments.hit(&waiting.request.extents) {
                self.complete_hit(&waiting, at, sink);
            } else {
                self.enqueue(waiting);
            }
        }
        self.awaiting_fetch = awaiting_fetch;
    }

    /// Starts the next operation of the mechanism, if there is one.
    fn start_next(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        while self.under_way.is_none() {
            if let Some(flush) = self.flushes.pop_front() {
                self.flush(&flush, at, sink);
            } else if self.waiting > 0 {
                let Some(waiting) = pick(&mut *self.scheduler, at, &mut self.mechanism) else {
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

    /// Whether a request whose command is being processed will need the mechanism
    /// for other blocks than `planned`.
    fn mechanism_is_needed(&self, planned: Range<u64>) -> bool {
        let wants = |request: &Request| match request.op {
            Op::Read => {
                let held = self.segments.hold_with(&request.extents, &[]);
                !held && !planned.contains(&self.segments.missing_from(request.lbn()))
            }
            Op::Write => !self.is_write_back(request),
            Op::Flush | Op::Trim => false,
        };
        self.incoming.iter().any(|waiting| wants(&waiting.request))
    }
}

impl<M: Mechanism> Model for Buffered<M> {
    fn blocks(&self) -> u64 {
        self.mechanism.positions().blocks()
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        let arrival = request.arrival;
        self.advance(arrival, false, sink);
        let in_service =
            self.under_way == Some(Operation::Request) && self.mechanism_free > arrival;
        let waiting = self.incoming.len() + self.waiting + self.awaiting_fetch.len();
        let queue_depth = (waiting + self.flushes.len()) as u32 + u32::from(in_service);
        let mut ready = arrival.max(self.bus_free) + self.interface.overhead;
        self.bus_free = ready;
        self.bus_busy.add(request.id, self.interface.overhead);
        if request.op == Op::Write {
            let bus = self.interface.bus(request.blocks());
            self.bus_free += bus;
            self.bus_busy.add(request.id, bus);
            let stored = self.buffer.speed_matching == SpeedMatching::None;
            if stored || self.is_write_back(&request) {
                ready = self.bus_free;
            }
        }
        let waiting = Waiting { request, queue_depth, ready, data_in: self.bus_free };
        if waiting.request.op == Op::Trim {
            sink.done(&self.row_at(&waiting, ready));
            return;
        }
        self.incoming.push_back(waiting);
        self.next = self.due();
    }

    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        self.next
    }

    /// Does all that is due at `at`, in this order: blocks to the bus, the end of
    /// the mechanism's operation, commands processed, the mechanism's next
    /// operation.
    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        while let Some(pass) = self.reading.filter(|pass| self.bus_at(*pass) <= at) {
            self.transfer_pass(pass, at, sink);
        }
        if self.under_way.is_some() && self.mechanism_free <= at {
            self.end_operation(at, sink);
        }
        while self.incoming.front().is_some_and(|w| w.ready <= at) {
            if let Some(waiting) = self.incoming.pop_front() {
                self.command_processed(waiting, at, sink);
            }
        }
        if self.under_way.is_none() {
            self.start_next(at, sink);
        }
        self.next = self.due();
    }

    fn mechanism(&self) -> Option<&dyn Mechanism> {
        Some(&self.mechanism)
    }

    fn show_media_writes(&mut self, writes: &MediaWrites) -> bool {
        self.media_writes = Some(writes.clone());
        true
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        let spent = self.mechanism.energy(until.max(self.mechanism_free));
        let mut counts = self.mechanism.counts();
        counts.push(("read_hits", self.read_hits));
        reports.push(Report {
            name: self.name.clone(),
            mechanisms: self.interface.mechanisms(self.busy, self.bus_busy),
            energy: spent.map(|spent| Energy {
                seek_j: (spent.seek_j - self.background_energy.seek_j).max(0.0),
                transfer_j: (spent.transfer_j - self.background_energy.transfer_j).max(0.0),
                startup_j: (spent.startup_j - self.background_energy.startup_j).max(0.0),
                read_ahead_j: self.background_energy.read_ahead_j,
                destage_j: self.background_energy.destage_j,
                retry_j: (spent.retry_j - self.background_energy.retry_j).max(0.0),
                ..spent
            }),
            counts,
            ..Report::default()
        });
    }
}
