//! The electronics of a drive: bus, overheads, queue and buffer around the mechanics,
//! as a [`Model`]. The rules reproduce measured drives; see `BEHAVIOUR.md`, sections 4
//! to 7, for the evidence.
//!
//! *Requests.* A request first takes the bus for its command. A read whose blocks are
//! in the buffer, or will be because the drive is reading them, never waits for other
//! requests: its blocks cross the bus as they arrive. A write accepted by the buffer is
//! complete when its data have crossed the bus. It is written to the media before any
//! waiting request is served, and no other write is accepted until then, unless it
//! continues that write and no request waits. When the mechanics are free, waiting
//! requests are served first, so that none starves. All other requests wait for the
//! mechanics, in the order of the scheduler.
//!
//! *Bus.* Reservations for commands and blocks are made in the order of requests. A
//! read takes the bus as late as possible without ending later or, with `hold_reads`,
//! from its first block on. A reported completion is final: blocks promised to a hit
//! are read even if another request waits.
//!
//! *Read-ahead* begins where a read from the media ends, continues while the mechanics
//! are otherwise idle, and stops when a request needs them.
//!
//! *Flush and trim.* A flush completes when all written data are on the media; a trim
//! when its command has been processed.
//!
//! *Rows.* Waiting for the bus, for room in the buffer and for blocks being read is
//! `queue`. Hits and writes into the buffer have no passes: read-ahead and write-back
//! appear in the report only.
//!
//! *Drives of today.* With `[queue]` the drive holds so many requests and orders them by
//! position; the scheduler orders those that wait in the host. With `[cache]` writes are
//! complete in a cache that is written to the media later, and a FLUSH makes all wait: see
//! `destaging`. With `physical_sector_blocks` writes that do not fill sectors read them first.
//!
//! *Errors.* With `[faults]`, moves meet what [`faults`](super::faults) describes. A read whose
//! data could not be read keeps nothing in the buffer.
//!
//! *Power.* On a disk with power states the spindle starts before the mechanics
//! move for a request or a write in the buffer; this is `other` in the rows.
//!
//! In reading order:
//!
//! * `settings`: the keys of bus, overheads and buffer.
//! * `bus`: reservations of the bus.
//! * `pieces`: runs of blocks under the head, and their delivery over the bus.
//! * `recency`: the order in which its segments were used.
//! * `segments`: the contents of the buffer.
//! * `ahead`: read-ahead.
//! * `reads`: hits, misses and what they keep in the buffer.
//! * `writes`: writes into the buffer, or through it.
//! * `cache`: the write cache of a drive of today.
//! * `destaging`: its work on that cache, and FLUSH.

mod ahead;
mod bus;
mod cache;
mod destaging;
mod pieces;
mod reads;
mod recency;
mod segments;
mod settings;
mod writes;

pub use settings::{
    Buffer, BusTimes, CacheSettings, ControllerSettings, Keep, Overheads, QueueSettings, ReadAhead,
    Share, WriteBack,
};

use super::arm::Disk;
use super::drive::{Drive, PassMode};
use super::faults::FaultsMet;
use super::geometry::Track;
use crate::devices::disk::power::Cause;
use crate::model::mechanism::{BlockOrder, Mechanism, Positions};
use crate::model::media_writes::{MediaWrite, MediaWrites};
use crate::model::{Busy, CompletionSink, Model, Report};
use crate::queueing::schedulers::{Rpo, Scheduler, Waiting, pick};
use ahead::ReadAheadPlan;
use bus::Bus;
use cache::{Run, WriteCache};
use pieces::{Delivery, TimedPiece};
use segments::Segments;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::{Parts, Path, Row, Status};
use sledsim_base::units::Nanos;
use std::collections::VecDeque;
use std::sync::Arc;

/// The request served last.
#[derive(Clone, Copy, Debug)]
struct LastRequest {
    write: bool,
    /// One past its last block; `u64::MAX` at first.
    end: u64,
}

impl Default for LastRequest {
    fn default() -> Self {
        Self { write: false, end: u64::MAX }
    }
}

/// Written data not yet on the media.
#[derive(Clone, Copy, Debug)]
struct Dirty {
    extent: Extent,
    /// When the host has sent them.
    crossed: Nanos,
    /// When the arm writes them, and when they are on the media.
    written: (Nanos, Nanos),
    until: Nanos,
}

/// A drive: mechanics with queue, overheads, bus and buffer.
pub struct Controller {
    name: String,
    device: u16,
    disk: Disk,
    /// The mechanical part of the disk.
    drive: Arc<Drive>,
    scheduler: Box<dyn Scheduler>,
    /// Whether the scheduler keeps the order of arrival.
    in_order: bool,
    settings: ControllerSettings,
    buffer: Buffer,
    segments: Segments,
    bus: Bus,
    /// Requests whose command is still being processed, in the order of `ready`.
    incoming: VecDeque<Waiting>,
    /// Number of requests that the scheduler holds.
    waiting: usize,
    /// When the latest event was.
    now: Nanos,
    /// When the mechanics have finished all announced work.
    free: Nanos,
    /// Completion of the last request, for a drive that never disconnects.
    answered: Nanos,
    busy: Busy,
    before: LastRequest,
    dirty: VecDeque<Dirty>,
    /// The segment of the last write into the buffer, and one past its end.
    writing: Option<(usize, u64)>,
    /// Pieces being read into segments, in the order of passing; the read-ahead planned
    /// after them, and its segment.
    coming: Vec<TimedPiece>,
    ahead: Option<ReadAheadPlan>,
    reading: usize,
    /// The request that last missed the buffer, and when; [`Nanos::MAX`] for none.
    missed: (u64, Nanos),
    /// The pieces of the request in service, in the order of LBNs.
    pieces: Vec<TimedPiece>,
    /// The queue in the drive, and the number of requests in it.
    queue: Option<Rpo>,
    queued: u32,
    /// The write cache; writes that wait for room in it; whether the requests that wait come
    /// before it when it is nearly full.
    cache: Option<WriteCache>,
    held: VecDeque<Waiting>,
    requests_first: bool,
    /// The flush that all others wait for.
    flushing: Option<Waiting>,
    /// When cached data were written last.
    written: (Nanos, Nanos),
    /// Kept for reuse: the runs written together, and their extents.
    runs: Vec<(u64, Run)>,
    merged: Vec<Extent>,
    /// Cached value of [`Controller::due`].
    next: Option<Nanos>,
    /// Where the writes to its media are shown, if anywhere.
    media_writes: Option<MediaWrites>,
}

/// The times of moving extents.
#[derive(Default)]
struct MoveResult {
    parts: Parts,
    passes: u32,
    end: Nanos,
    path: Path,
    /// Errors met.
    met: FaultsMet,
    /// Rotation from when the head was first on track to the first sector accessed.
    wait: u64,
    /// The last track, and its first block if every sector is known to hold its block.
    track: Track,
    full: Option<u64>,
    /// Energy in J.
    energy_j: f64,
}

impl MoveResult {
    /// Adds a move that follows.
    fn add(&mut self, next: &Self) {
        if self.passes == 0 {
            self.path.from = next.path.from;
        }
        self.path.to = next.path.to;
        self.path.cylinders += next.path.cylinders;
        self.parts = self.parts + next.parts;
        self.passes += next.passes;
        self.met.add(next.met);
        (self.end, self.wait) = (next.end, next.wait);
        (self.track, self.full) = (next.track, next.full);
    }
}

impl Controller {
    /// Creates a drive around `disk`. `device` and `name` mark its rows and reports.
    pub fn new(
        name: &str,
        device: u16,
        disk: Disk,
        scheduler: Box<dyn Scheduler>,
        settings: ControllerSettings,
    ) -> Self {
        let buffer = settings.buffer.unwrap_or(Buffer {
            segments: 1,
            keep: Keep::Nothing,
            ..Buffer::default()
        });
        Self {
            name: name.to_owned(),
            device,
            drive: Arc::clone(disk.drive()),
            disk,
            in_order: scheduler.is_in_order(),
            scheduler,
            segments: Segments::new(&buffer),
            queue: settings.queue.map(|queue| Rpo::new(queue.margin, queue.age_limit)),
            queued: 0,
            cache: settings.cache.map(WriteCache::new),
            held: VecDeque::new(),
            requests_first: false,
            flushing: None,
            written: (Nanos::ZERO, Nanos::ZERO),
            runs: Vec::new(),
            merged: Vec::new(),
            settings,
            buffer,
            bus: Bus::default(),
            incoming: VecDeque::new(),
            waiting: 0,
            now: Nanos::ZERO,
            free: Nanos::ZERO,
            answered: Nanos::ZERO,
            busy: Busy::default(),
            before: LastRequest::default(),
            dirty: VecDeque::new(),
            writing: None,
            coming: Vec::new(),
            ahead: None,
            reading: 0,
            missed: (0, Nanos::MAX),
            pieces: Vec::new(),
            next: None,
            media_writes: None,
        }
    }

    /// Time of the next event.
    fn due(&self) -> Option<Nanos> {
        let alone = self.settings.bus.never_disconnect && self.waiting > 0;
        let command = match self.incoming.front() {
            Some(first) if !alone && self.flushing.is_none() => self.ready(first),
            _ => Nanos::MAX,
        };
        let media = match self.waiting {
            0 => Nanos::MAX,
            // A hit may have left the mechanics free since an earlier time.
            _ => self.free.max(self.now),
        };
        let next = command.min(media).min(self.cache_due());
        (next < Nanos::MAX).then_some(next)
    }

    /// When the command of a request has been processed; a drive that never disconnects
    /// starts on it when the last request completes.
    fn ready(&self, waiting: &Waiting) -> Nanos {
        if self.settings.bus.never_disconnect {
            waiting.ready.max(self.answered) + self.settings.command
        } else {
            waiting.ready
        }
    }

    /// Handles a request whose command has been processed, unless it needs the
    /// mechanics; whether it does not.
    fn take_in(&mut self, waiting: &Waiting, at: Nanos, sink: &mut dyn CompletionSink) -> bool {
        if self.cache.is_some() && self.take_in_cached(waiting, at, sink) {
            return true;
        }
        match waiting.request.op {
            Op::Read => self.hit(waiting, at, self.may_promise(), sink),
            Op::Write => {
                self.may_accept(&waiting.request, at) && {
                    self.accept(waiting, at, sink);
                    true
                }
            }
            Op::Flush | Op::Trim => {
                let flush = waiting.request.op == Op::Flush;
                let durable = self.dirty.back().map_or(at, |dirty| dirty.until);
                let done = if flush { durable } else { at };
                self.answer(&mut self.row(waiting, at), done, sink);
                true
            }
        }
    }

    /// Whether the command of the next request has been processed at `at`.
    fn is_ready(&self, at: Nanos) -> bool {
        let alone = self.settings.bus.never_disconnect && self.waiting > 0;
        let open = !alone && self.flushing.is_none();
        (self.incoming.front()).is_some_and(|first| open && self.ready(first) <= at)
    }

    /// The next request: of those in the drive, if it has a queue, which takes as many as it
    /// holds from those that wait in the host.
    fn pick(&mut self, at: Nanos) -> Option<Waiting> {
        let (Some(order), Some(settings)) = (&mut self.queue, self.settings.queue) else {
            return pick(&mut *self.scheduler, at, &mut self.disk);
        };
        while self.queued < settings.entries
            && let Some(waiting) = pick(&mut *self.scheduler, at, &mut self.disk)
        {
            order.push(waiting, at, &self.disk);
            self.queued += 1;
        }
        let picked = order.pop(at, &self.disk)?;
        self.queued -= 1;
        Some(picked)
    }

    /// Starts the mechanics, which are free at `at`, on what is next.
    fn start(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        if self.cache_is_next() {
            self.requests_first = true;
            self.destage(at);
        } else if self.waiting > 0
            && let Some(waiting) = self.pick(at)
        {
            self.requests_first = false;
            self.waiting -= 1;
            self.serve(&waiting, at, sink);
        } else if self.cache.as_ref().is_some_and(|cache| cache.idle_at() <= at) {
            self.destage(at);
        }
    }

    /// Starts the mechanics on a request.
    fn serve(&mut self, waiting: &Waiting, at: Nanos, sink: &mut dyn CompletionSink) {
        if waiting.request.op == Op::Read {
            self.serve_read(waiting, at, sink);
        } else {
            self.serve_write(waiting, at, sink);
        }
    }

    /// The row of a request started at `at`, with the parts up to then.
    fn row(&self, waiting: &Waiting, at: Nanos) -> Row {
        let command = self.settings.command;
        Row {
            queue_depth: waiting.queue_depth,
            start: at,
            completion: at,
            energy_nj: self.disk.energy_nj(0.0),
            parts: Parts {
                overhead: command,
                queue: at - waiting.request.arrival - command,
                ..Parts::default()
            },
            ..Row::of(&waiting.request, self.device)
        }
    }

    /// Reports a completion; time not explained by its parts is `queue`.
    fn answer(&mut self, row: &mut Row, completion: Nanos, sink: &mut dyn CompletionSink) {
        row.completion = completion;
        row.parts.queue += row.response().since(row.parts.total());
        self.answered = self.answered.max(completion);
        self.disk.engage(row.start, completion);
        sink.done(row);
    }

    /// Remembers a request for the overheads of the next one.
    fn remember(&mut self, request: &Request) {
        if let Some(last) = request.extents.last() {
            self.before = LastRequest { write: request.op == Op::Write, end: last.end() };
        }
    }

    /// Moves extents from `at` on and leaves their pieces, in LBN order within each
    /// extent, in `self.pieces`.
    fn move_data(&mut self, at: Nanos, extents: &[Extent], how: PassMode) -> MoveResult {
        let (mut wait, mut track, mut full) = (None, Track::default(), None);
        let (drive, pieces) = (&self.drive, &mut self.pieces);
        pieces.clear();
        let (parts, passes, end, path, met) = self.disk.sweep(at, extents, how, |_, _, pass| {
            wait.get_or_insert(pass.wait);
            drive.runs(*pass, |extent, first, end| {
                pieces.push(TimedPiece::of(extent, first, end));
            });
            (track, full) = (pass.track, pass.full);
        });
        let wait = wait.unwrap_or_default();
        MoveResult { parts, passes, end, path, met, wait, track, full, energy_j: 0.0 }
    }

    /// As [`Controller::move_data`] for a write whose blocks arrive one after the other
    /// from `asked` on: no sector is written before its data have arrived.
    fn write_data(
        &mut self,
        at: Nanos,
        extents: &[Extent],
        mut how: PassMode,
        asked: Nanos,
    ) -> MoveResult {
        let arm = self.disk.arm();
        let planned = self.disk.faults().map(|faults| faults.planned());
        let mut moved = self.move_data(at, extents, how);
        for _ in 0..2 {
            let first = self.pieces.iter().map(|piece| piece.first).min();
            let first = first.unwrap_or(asked);
            let mut coming = Delivery::new(self.settings.bus.write_ns_per_block, asked);
            let all: u32 = self.pieces.iter().map(|piece| piece.extent.blocks).sum();
            if asked + coming.bus(u64::from(all)) <= first {
                break;
            }
            let mut begin = Nanos::ZERO;
            for piece in &self.pieces {
                let blocks = u64::from(piece.extent.blocks);
                for (block, passes) in [(1, piece.first), (blocks, piece.passed(blocks - 1))] {
                    let is_in = asked + coming.bus(coming.blocks + block);
                    begin = begin.max(is_in.since(passes - first));
                }
                coming.held(blocks);
            }
            if begin <= first {
                break;
            }
            // From another angle the order of sectors may differ: then wait for all.
            how.not_before = if how.not_before == Nanos::ZERO { begin } else { coming.end };
            self.disk.leave(arm);
            if let (Some(faults), Some(planned)) = (self.disk.faults(), planned) {
                faults.forget(planned);
            }
            moved = self.move_data(at, extents, how);
        }
        moved
    }

    /// Shows what the last move wrote of request `id`.
    fn show_write(&self, id: u64, extents: &[Extent]) {
        let Some(writes) = &self.media_writes else {
            return;
        };
        for (piece, extent) in
            self.pieces.iter().flat_map(|one| extents.iter().map(move |of| (one, of)))
        {
            let from = extent.lbn.max(piece.extent.lbn);
            let to = extent.end().min(piece.extent.end());
            if from < to {
                writes.push(MediaWrite {
                    source: Some(id),
                    extent: Extent { lbn: from, blocks: (to - from) as u32 },
                    start: piece.passed(from - piece.extent.lbn),
                    end: piece.passed(to - piece.extent.lbn),
                    order: BlockOrder::InTurn,
                });
            }
        }
    }

    /// When the first `blocks` blocks, in LBN order, of the last move have passed.
    fn passed(&self, blocks: u64) -> Nanos {
        let mut left = blocks;
        let mut at = Nanos::ZERO;
        for piece in &self.pieces {
            let count = left.min(u64::from(piece.extent.blocks));
            if count > 0 {
                at = at.max(piece.passed(count));
            }
            left -= count;
        }
        at
    }

    /// The row of a request picked at `at` and served by the mechanics from `start` on,
    /// whose last block has crossed or passed at `end`. `overhead` does not include
    /// that of the command.
    fn served(
        &self,
        waiting: &Waiting,
        [at, start, end]: [Nanos; 3],
        overhead: Nanos,
        moved: &MoveResult,
    ) -> Row {
        let mut row = self.row(waiting, at);
        row.start = start;
        row.passes = moved.passes;
        row.retries = moved.met.retries;
        if moved.met.unrecovered > 0 {
            row.status = Status::Error;
        }
        row.path = Some(moved.path);
        row.energy_nj = self.disk.energy_nj(moved.energy_j);
        row.parts = Parts {
            overhead: row.parts.overhead + overhead,
            queue: row.parts.queue + (start - at),
            bus: end - moved.end,
            ..moved.parts
        };
        row
    }

    /// Accounts for the move `moved` from `begin` on; returns its energy in J.
    fn spend(&mut self, begin: Nanos, moved: &MoveResult, cause: Cause) -> f64 {
        let took = [moved.parts.seek, moved.parts.transfer];
        self.disk.work([begin, moved.end], took, cause)
    }

    /// The busy time without that of writes which go on after `until`.
    fn busy_until(&self, until: Nanos) -> Busy {
        let later = self.dirty.iter().map(|dirty| {
            let (begin, end) = dirty.written;
            end.since(begin.max(until))
        });
        let (begin, end) = self.written;
        let cached = end.since(begin.max(until));
        let other = self.busy.other.since(later.fold(cached, |sum, one| sum + one));
        Busy { other, ..self.busy }
    }

    /// Accounts for the time of the move `moved` of request `id`, and the errors met.
    fn occupy(&mut self, id: u64, moved: &MoveResult) {
        if let Some(faults) = self.disk.faults() {
            faults.enter(id, moved.met);
        }
        self.busy.add(id, moved.parts.total());
        self.free = self.free.max(moved.end);
    }
}

impl Model for Controller {
    fn blocks(&self) -> u64 {
        self.disk.blocks()
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        let arrival = request.arrival;
        self.advance(arrival, false, sink);
        self.bus.forget(arrival);
        let in_service = u32::from(self.free > arrival);
        let waiting = self.incoming.len() + self.waiting + self.held.len();
        let queue_depth = waiting as u32 + in_service;
        let ready = if self.settings.bus.never_disconnect {
            arrival
        } else {
            let end = arrival + self.settings.command;
            self.bus.take(request.id, arrival, end)
        };
        self.incoming.push_back(Waiting { request, queue_depth, ready, data_in: ready });
        self.next = self.due();
    }

    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        self.next
    }

    /// Handles all commands processed by `at`, then starts the mechanics on the next
    /// request.
    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        self.now = at;
        self.bus.forget(at);
        self.read_by(at);
        while self.dirty.front().is_some_and(|dirty| dirty.until <= at) {
            self.dirty.pop_front();
        }
        self.tend_cache(at, sink);
        while self.is_ready(at)
            && let Some(waiting) = self.incoming.pop_front()
        {
            if self.take_in(&waiting, at, sink) {
                continue;
            }
            // The only one that waits needs no scheduler.
            let only = self.in_order && self.waiting == 0 && self.free <= at;
            if only && !self.is_ready(at) && !self.cache_is_next() {
                self.serve(&waiting, at, sink);
                break;
            }
            self.scheduler.push(waiting, &self.disk);
            self.waiting += 1;
        }
        if self.free <= at {
            self.start(at, sink);
        }
        self.next = self.due();
    }

    fn show_media_writes(&mut self, writes: &MediaWrites) -> bool {
        self.media_writes = Some(writes.clone());
        true
    }

    fn mechanism(&self) -> Option<&dyn Mechanism> {
        Some(&self.disk)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        reports.push(Report {
            name: self.name.clone(),
            mechanisms: vec![("", self.busy_until(until)), (".bus", self.bus.busy)],
            energy: self.disk.energy(until),
            counts: self.disk.counts(),
            episodes: self.disk.episodes(until),
        });
    }
}
