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

use super::{Buffer, Interface, ReadAhead, Segments, SpeedMatching};
use crate::model::mechanism::{Mechanism, Service, Span, Step};
use crate::model::{Answers, Energy, Model, Report};
use crate::queueing::schedulers::{Scheduler, Waiting};
use sledsim_base::request::{Extent, Extents, Flags, Op, Request};
use sledsim_base::row::{Parts, Row, Status};
use sledsim_base::units::Nanos;
use std::collections::VecDeque;
use std::ops::Range;

/// The id of what the station asks of its mechanism on its own account, also
/// marked as background work.
const BACKGROUND_ID: u64 = u64::MAX;

/// What the mechanism is doing until [`Buffered::mechanism_free`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnderWay {
    Request,
    Background,
}

/// Where read-ahead is.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// One past the last block that the host has had.
    after: u64,
    /// Read ahead up to here.
    next: u64,
    /// Where to stop.
    goal: u64,
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
    /// One past the last block of it that the host wants.
    wanted_end: u64,
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
            wanted_end: u64::MAX,
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

    /// Does what is due before `until`, and at `until` too if `inclusive`.
    fn advance(&mut self, until: Nanos, inclusive: bool, answers: &mut dyn Answers) {
        while let Some(due) = self.next {
            if due > until || (due == until && !inclusive) {
                return;
            }
            self.happen(due, answers);
            self.next = self.due();
        }
    }

    /// All that is due at `at`, in this order: blocks to the bus, the end of
    /// what the mechanism does, commands processed, what it does next.
    fn happen(&mut self, at: Nanos, answers: &mut dyn Answers) {
        while let Some(pass) = self.reading.filter(|pass| self.bus_at(*pass) <= at) {
            self.cross(pass, at, answers);
        }
        if self.under_way.is_some() && self.mechanism_free <= at {
            self.end(at, answers);
        }
        while self.incoming.front().is_some_and(|w| w.ready <= at) {
            if let Some(waiting) = self.incoming.pop_front() {
                self.take_in(waiting, at, answers);
            }
        }
        if self.under_way.is_none() {
            self.decide(at, answers);
        }
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
    fn take_in(&mut self, waiting: Waiting, at: Nanos, answers: &mut dyn Answers) {
        let request = &waiting.request;
        if request.op == Op::Flush && self.is_durable() {
            answers.done(&self.row(&waiting, at));
        } else if request.op == Op::Flush {
            self.flushes.push_back(waiting);
        } else if request.op == Op::Read && self.segments.hit(&request.extents) {
            self.hit(&waiting, at, answers);
        } else if request.op == Op::Read
            && self
                .segments
                .hold_with(&request.extents, self.coming().as_slice())
        {
            self.awaiting.push(waiting);
        } else if self.holds_back(request) && self.segments.place(request.extents[0]) {
            self.accept(&waiting, at, answers);
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
        let status = match self.mechanism.is_gone(at) {
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

    /// All blocks of a read are held.
    fn hit(&mut self, waiting: &Waiting, at: Nanos, answers: &mut dyn Answers) {
        let mut row = self.row(waiting, at);
        row.completion = self.take_bus(row.blocks, at);
        row.parts.bus = row.completion - at;
        answers.done(&row);
        self.follow(&waiting.request);
    }

    /// The data of a write are in the buffer.
    fn accept(&self, waiting: &Waiting, at: Nanos, answers: &mut dyn Answers) {
        let mut row = self.row(waiting, at);
        if at == waiting.data_in {
            row.start = at - row.parts.bus;
        }
        answers.done(&row);
    }

    /// Read data take the bus at `at`; when the last block has crossed.
    fn take_bus(&mut self, blocks: u32, at: Nanos) -> Nanos {
        if self.interface.bus_ns_per_block == 0.0 {
            return at;
        }
        self.bus_free = at.max(self.bus_free) + self.interface.bus(blocks);
        self.bus_free
    }

    /// Read-ahead follows this read.
    fn follow(&mut self, request: &Request) {
        let Some(last) = request.extents.last() else {
            return;
        };
        let after = last.end();
        let end_of = |span| self.mechanism.end_of(after - 1, span);
        let goal = match self.buffer.read_ahead {
            ReadAhead::None => after,
            ReadAhead::Blocks(blocks) => after + u64::from(blocks),
            ReadAhead::Track => end_of(Span::Track),
            ReadAhead::Cylinder => end_of(Span::Cylinder),
            ReadAhead::Full => after + self.segments.capacity(),
        };
        self.stream = Some(Stream {
            after,
            next: after,
            goal: goal.min(self.mechanism.blocks()),
        });
    }

    /// What the mechanism was doing has ended.
    fn end(&mut self, at: Nanos, answers: &mut dyn Answers) {
        self.under_way = None;
        self.segments.idle();
        for extent in std::mem::take(&mut self.bringing) {
            self.segments.keep(extent);
        }
        let mut awaiting = std::mem::take(&mut self.awaiting);
        for waiting in awaiting.drain(..) {
            if self.segments.hit(&waiting.request.extents) {
                self.hit(&waiting, at, answers);
            } else {
                self.queue(waiting);
            }
        }
        self.awaiting = awaiting;
    }

    /// Gives the mechanism something to do, if there is anything.
    fn decide(&mut self, at: Nanos, answers: &mut dyn Answers) {
        while self.under_way.is_none() {
            if let Some(flush) = self.flushes.pop_front() {
                self.flush(&flush, at, answers);
            } else if self.waiting > 0 {
                let Some(waiting) = self.scheduler.pop(at, &self.mechanism) else {
                    return;
                };
                self.waiting -= 1;
                self.serve(waiting, at, answers);
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

    /// Serves a request that the scheduler picked, if it still needs the
    /// mechanism.
    fn serve(&mut self, mut waiting: Waiting, at: Nanos, answers: &mut dyn Answers) {
        let mut row = self.row(&waiting, at);
        let request = &mut waiting.request;
        if request.op == Op::Read {
            if self.segments.hit(&request.extents) {
                return self.hit(&waiting, at, answers);
            }
            self.follow(&waiting.request);
            if let [extent] = waiting.request.extents.as_slice() {
                let mut extent = *extent;
                let missing = self.segments.missing_from(extent.lbn);
                let held = (missing - extent.lbn) as u32;
                if held > 0 {
                    self.take_bus(held, at);
                }
                extent.lbn = missing;
                extent.blocks -= held;
                self.wanted_end = extent.end();
                extent.blocks += self.rest_of_row(extent);
                waiting.request.extents[0] = extent;
            } else {
                self.wanted_end = u64::MAX;
            }
            self.bringing.clone_from(&waiting.request.extents);
        } else {
            self.stream = None;
            if self.holds_back(request) {
                let extent = request.extents[0];
                while !self.segments.place(extent) {
                    let Some(index) = self.segments.in_the_way(extent) else {
                        break;
                    };
                    let run = self.segments.dirty_run(index);
                    self.destage(index, run, false, at);
                }
                return self.accept(&waiting, at.max(self.mechanism_free), answers);
            }
            for extent in &request.extents {
                self.segments.overwrite(*extent);
            }
        }
        self.steps.clear();
        let request = &waiting.request;
        let service = self.mechanism.serve(at, request, &mut self.steps);
        let media = service.parts.total();
        self.mechanism_free = at + media;
        self.busy += media;
        self.under_way = Some(UnderWay::Request);
        row.passes = service.passes;
        row.retries = service.retries;
        if service.status == Status::Error {
            let is_wanted = |lbn: &u64| request.op == Op::Write || *lbn < self.wanted_end;
            if self.mechanism.lost_blocks().iter().any(is_wanted) {
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
        if request.op == Op::Read && self.interface.bus_ns_per_block > 0.0 {
            let all_at_once = self.buffer.speed_matching == SpeedMatching::None;
            self.reading = Some(if all_at_once { self.steps.len() - 1 } else { 0 });
        } else {
            self.complete(self.mechanism_free.max(waiting.data_in), answers);
        }
    }

    /// How many blocks behind `extent` the mechanism moves over anyway when it
    /// reads it; none without read-ahead.
    fn rest_of_row(&self, extent: Extent) -> u32 {
        let last = extent.end() - 1;
        if self.stream.is_none_or(|stream| stream.goal <= extent.end()) {
            return 0;
        }
        let row_end = self.mechanism.end_of(last, Span::Row);
        // A pass may go on from the last row of a track to the first of the
        // next; then the rest of that row can be a pass more.
        let mut track = extent.lbn;
        while track <= last {
            let end = self.mechanism.end_of(track, Span::Track);
            if end <= last && self.mechanism.end_of(end, Span::Row) == row_end {
                return 0;
            }
            track = end;
        }
        row_end
            .min(self.mechanism.blocks())
            .saturating_sub(extent.end()) as u32
    }

    /// The blocks of a pass that the host wants.
    fn wanted(&self, step: &Step) -> u32 {
        if step.again {
            return 0;
        }
        let past = (step.lbn + u64::from(step.blocks)).saturating_sub(self.wanted_end);
        step.blocks - past.min(u64::from(step.blocks)) as u32
    }

    /// When the blocks of a pass take the bus.
    fn bus_at(&self, pass: usize) -> Nanos {
        let step = &self.steps[pass];
        let end = self.row.start + step.end;
        match self.buffer.speed_matching {
            SpeedMatching::None | SpeedMatching::Pass => end,
            SpeedMatching::Block => {
                let blocks = f64::from(step.blocks);
                let rest = Nanos::from_s(step.transfer_s * (blocks - 1.0) / blocks);
                Nanos(end.0 - rest.0.min(step.end.0))
            }
        }
    }

    /// The blocks of a pass of the read in service take the bus.
    fn cross(&mut self, pass: usize, at: Nanos, answers: &mut dyn Answers) {
        match self.buffer.speed_matching {
            SpeedMatching::None => {
                let blocks = self.steps.iter().map(|step| self.wanted(step)).sum();
                self.take_bus(blocks, at);
            }
            SpeedMatching::Pass => {
                self.take_bus(self.wanted(&self.steps[pass]), at);
            }
            SpeedMatching::Block if self.steps[pass].again => {}
            SpeedMatching::Block => {
                // The last block cannot cross before it has come.
                let step = &self.steps[pass];
                let last = self.row.start + step.end + self.interface.bus(1);
                self.bus_free = self.take_bus(self.wanted(step), at).max(last);
            }
        }
        if pass + 1 < self.steps.len() {
            self.reading = Some(pass + 1);
        } else {
            self.reading = None;
            self.complete(self.bus_free.max(self.mechanism_free), answers);
        }
    }

    /// Announces the completion of the request in service; what lies between
    /// the end of the media transfer and `completion` was the bus.
    fn complete(&mut self, completion: Nanos, answers: &mut dyn Answers) {
        self.row.completion = completion;
        self.row.parts.bus += completion - self.mechanism_free;
        answers.done(&self.row);
    }

    /// Everything dirty goes to the media, then a flush is complete.
    fn flush(&mut self, waiting: &Waiting, at: Nanos, answers: &mut dyn Answers) {
        let mut row = self.row(waiting, at);
        while let Some(index) = self.segments.longest_dirty() {
            self.stream = None;
            let run = self.segments.dirty_run(index);
            let service = self.destage(index, run, true, at);
            row.parts = row.parts + service.parts;
            row.passes += service.passes;
            row.retries += service.retries;
            if service.status == Status::Error {
                row.status = service.status;
            }
            row.completion = self.mechanism_free;
        }
        answers.done(&row);
    }

    /// Of what was read, only the blocks before the first one that is lost are
    /// kept.
    #[cold]
    fn drop_lost(&mut self) {
        let first = self.mechanism.lost_blocks().iter().min().copied();
        let first = first.unwrap_or(u64::MAX);
        match self.bringing.as_mut_slice() {
            [extent] if extent.lbn < first => {
                let kept = (first - extent.lbn).min(u64::from(extent.blocks));
                extent.blocks = kept as u32;
            }
            _ => self.bringing.clear(),
        }
    }

    /// Reads the next row ahead; `false` if there is none to read.
    fn read_ahead(&mut self, at: Nanos) -> bool {
        let Some(stream) = self.stream else {
            return false;
        };
        let first = self.segments.missing_from(stream.next);
        if first >= stream.goal || self.is_wanted(first..stream.goal) {
            return false;
        }
        let row = self.mechanism.end_of(first, Span::Row);
        let room = stream.after + self.segments.capacity();
        let mut end = row.min(room);
        if end <= first || (end < row && first > stream.after) {
            return false;
        }
        end = end.min(self.segments.held_after(first).unwrap_or(end));
        self.stream = Some(Stream {
            next: end,
            ..stream
        });
        let extent = Extent {
            lbn: first,
            blocks: (end - first) as u32,
        };
        self.bringing.push(extent);
        let (service, joules) = self.background(Op::Read, extent, at);
        if service.status == Status::Error {
            self.drop_lost();
            self.stream = None;
        }
        self.spent.read_ahead_j += joules;
        true
    }

    /// Writes the next row of the run that has been dirty longest, if any is.
    fn destage_row(&mut self, at: Nanos) {
        let dirty = self.segments.longest_dirty();
        if let Some(index) = dirty.filter(|_| !self.is_wanted(0..0)) {
            let mut run = self.segments.dirty_run(index);
            let row = self.mechanism.end_of(run.lbn, Span::Row);
            run.blocks = (run.end().min(row) - run.lbn) as u32;
            self.destage(index, run, true, at);
        }
    }

    /// Writes the first dirty blocks of a segment. If `busy`, the segment
    /// keeps its place until they are written.
    fn destage(&mut self, index: usize, run: Extent, busy: bool, at: Nanos) -> Service {
        self.segments.destage(index, run.end(), busy);
        let (service, joules) = self.background(Op::Write, run, at);
        self.spent.destage_j += joules;
        service
    }

    /// Has the mechanism do something for the station itself, from `at` or
    /// from when it is free; with the energy it took in joules.
    fn background(&mut self, op: Op, extent: Extent, at: Nanos) -> (Service, f64) {
        let start = at.max(self.mechanism_free);
        let request = Request {
            id: BACKGROUND_ID,
            arrival: start,
            op,
            flags: Flags {
                background: true,
                ..Flags::default()
            },
            extents: Extents::from_buf([extent]),
            ..Request::default()
        };
        let before = self.mechanism.energy(start);
        self.steps.clear();
        let service = self.mechanism.serve(start, &request, &mut self.steps);
        let media = service.parts.total();
        self.mechanism_free = start + media;
        self.busy += media;
        self.under_way = Some(UnderWay::Background);
        let spent = Energy {
            idle_j: 0.0,
            inactive_j: 0.0,
            ..self.mechanism.energy(self.mechanism_free) - before
        };
        self.spent = self.spent + spent;
        (service, spent.total_j())
    }
}

impl<M: Mechanism> Model for Buffered<M> {
    fn blocks(&self) -> u64 {
        self.mechanism.blocks()
    }

    fn submit(&mut self, request: Request, answers: &mut dyn Answers) {
        let arrival = request.arrival;
        self.advance(arrival, false, answers);
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
            answers.done(&self.row(&waiting, ready));
            return;
        }
        self.incoming.push_back(waiting);
        self.next = self.due();
    }

    fn wake(&mut self, now: Nanos, answers: &mut dyn Answers) {
        self.advance(now, true, answers);
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.next
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
