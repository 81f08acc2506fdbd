//! MEMS caching disk: a fast model as a cache of a slow one (MSST 2005,
//! section 4.2), and with memory as the fast one the cache of a controller.
//!
//! The back is cut into segments, the front into slots for them; any segment
//! may be in any slot. All host requests go to the front, but for reads that
//! are passed on to the back because they stream. Data move between front and
//! back through a segment buffer of non-volatile memory, in whole segments,
//! several neighbours with one request to the back where that is allowed.
//!
//! - **Read miss**: the segment gets a slot; it is read from the back into the
//!   buffer, from there written to its slot, and then read by the host. With
//!   *Shortcut* pending requests are served by the buffer.
//! - **Write miss**: the same, and then the write; with *Shortcut* the write
//!   goes into the buffered data. With *Partial Write* nothing is read: a bit
//!   per block says what is valid; a read of what is not fetches the segment,
//!   of which only the blocks that are not valid are written to the slot. A
//!   write of a whole segment never reads it.
//! - **Giving up a segment**: a clean one at once. A dirty one is read into the
//!   buffer and written to the back; its slot is free when that is done, with
//!   *Immediate Report* as soon as the data are in the buffer, which are written
//!   when the back has nothing to read, when the buffer is full, or when
//!   somebody waits for them. Dirty neighbours in the back are written along,
//!   and stay.
//! - **Cleaning**: dirty segments, the longest dirty first, are written one
//!   request after another to a back that has had nothing else to do for a
//!   while, or while too many are dirty.
//!
//! Of the requests that concern one segment at a time only those go on that do
//! not contradict each other: what is being fetched, given up or made valid is
//! waited for. Slots, and room in the buffer, are handed out in the order in
//! which they were asked for; who waits for a slot holds no buffer, and who has
//! both needs nothing else, so that something always goes on.
//!
//! Does not model: the time of the processor that does all this; a flush (all
//! that is complete is in non-volatile memory) and a trim take no time and do
//! nothing.
//!
//! See `contents.rs` for what survives when power fails.

mod contents;
mod counts;
mod jobs;
pub mod kind;
mod operations;
mod pieces;
mod queues;
mod sizes;
mod spec;
mod streams;
mod table;

pub use spec::{Fetch, McdSpec};

use super::{BACK, FRONT};
use crate::compose::caches::{Directory, Policy};
use crate::compose::{Children, Composite};
use crate::model::contents::Contents;
use crate::model::{CompletionSink, Events, Model, Report};
use contents::ContentState;
use counts::Counts;
use jobs::{HostRequest, Job, Jobs, Op, Piece, Slab};
use queues::{Arriving, BackLoad, Buffer, LateWrites, Resumed, SlotQueue};
use sizes::Sizes;
use sledsim_base::request::{Extents, Op as RequestOp, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::VecDeque;
use streams::Streams;
use table::Slots;

/// Marks an operation in the directory; anything else there is a slot.
const OP: u32 = 1 << 31;

/// A caching tier as a [`Model`].
pub struct Mcd {
    name: String,
    device: u16,
    spec: McdSpec,
    children: Children,
    /// Blocks of the back.
    blocks: u64,
    slots: Slots,
    /// Which slot a segment is in, or which operation has it.
    directory: Directory,
    policy: Box<dyn Policy>,
    open: Slab<HostRequest>,
    ops: Slab<Op>,
    jobs: Jobs,
    slot_queue: SlotQueue,
    buffer: Buffer,
    late: LateWrites,
    back: BackLoad,
    /// The operation that cleans.
    cleaner: Option<u32>,
    /// The instant of the last event.
    now: Nanos,
    arriving: Arriving,
    resumed: Resumed,
    counts: Counts,
    streams: Option<Streams>,
    sizes: Option<Sizes>,
    kept: Option<Box<ContentState>>,
}

impl Mcd {
    /// A tier of `spec` between `front` and `back`.
    #[must_use]
    pub fn new(
        name: &str,
        device: u16,
        spec: McdSpec,
        front: Box<dyn Model>,
        back: Box<dyn Model>,
    ) -> Self {
        let mut children = Children::new(vec![front, back]);
        let keeps = children.contents(FRONT).is_some() && children.contents(BACK).is_some();
        let kept = keeps.then(|| Box::new(ContentState::new(spec.placement.units as u32)));
        Self::between(name, device, spec, children, kept)
    }

    fn between(
        name: &str,
        device: u16,
        spec: McdSpec,
        children: Children,
        kept: Option<Box<ContentState>>,
    ) -> Self {
        let slots = spec.placement.units as u32;
        Self {
            name: name.to_owned(),
            device,
            blocks: children.blocks(BACK),
            slots: Slots::new(slots, spec.segment_blocks),
            directory: Directory::with_capacity(slots as usize),
            policy: spec.policy.make(slots),
            open: Slab::new(),
            ops: Slab::new(),
            jobs: Jobs::new(),
            slot_queue: SlotQueue::default(),
            buffer: Buffer {
                ops: VecDeque::new(),
                free_blocks: spec.buffer_blocks,
            },
            late: LateWrites::default(),
            back: BackLoad::default(),
            cleaner: None,
            now: Nanos::ZERO,
            arriving: Arriving::default(),
            resumed: Resumed::default(),
            counts: Counts::default(),
            streams: spec.bypass_after_blocks.map(Streams::new),
            sizes: (spec.fetch == Fetch::Automatic).then(|| Sizes::new(&spec)),
            kept,
            children,
            spec,
        }
    }

    /// Segments in the back; the last may be shorter.
    fn segments(&self) -> u64 {
        self.blocks.div_ceil(u64::from(self.spec.segment_blocks))
    }

    /// The first block of `segment` in the back.
    fn lbn_of(&self, segment: u64) -> u64 {
        segment * u64::from(self.spec.segment_blocks)
    }

    /// Blocks of `segment`.
    #[inline]
    fn blocks_of(&self, segment: u64) -> u32 {
        let left = self.blocks - self.lbn_of(segment);
        left.min(u64::from(self.spec.segment_blocks)) as u32
    }

    /// The first data block of `slot` on the front; a header lies before it.
    #[inline]
    fn front_lbn(&self, slot: u32) -> u64 {
        self.spec.placement.lbn(u64::from(slot)) + u64::from(self.spec.headers)
    }

    /// Hands a request to a child; its id is that of the job.
    fn send(
        &mut self,
        child: usize,
        op: RequestOp,
        job: Job,
        extents: Extents,
        sink: &mut dyn CompletionSink,
    ) {
        let open = match &job {
            Job::Access(open, _) | Job::Pass(open, _) => self.open.get(*open),
            Job::Fetched(op) => (self.ops.get(*op))
                .and_then(|op| op.waiting.first())
                .and_then(|piece| self.open.get(piece.open)),
            _ => None,
        };
        let mut request = Request {
            parent: open.map(|open| open.row.id),
            stream: open.map_or(0, |open| open.row.stream),
            arrival: self.now,
            op,
            extents,
            ..Request::default()
        };
        // Children may report other writes before they are on their media.
        request.flags.fua = op == RequestOp::Write;
        if child == BACK && !self.is_cleaning(&job) {
            self.back.busy += 1;
        }
        request.id = self.jobs.add(job);
        self.children.submit(child, request, sink);
    }

    /// Whether a job is part of cleaning.
    fn is_cleaning(&self, job: &Job) -> bool {
        matches!(job, Job::Destaged(op) if Some(*op) == self.cleaner)
    }

    /// Pieces of a host request are done: the request is, if it was the last.
    fn pieces_done(&mut self, open: u32, pieces: u32, sink: &mut dyn CompletionSink) {
        let Some(request) = self.open.get_mut(open) else {
            return;
        };
        request.left -= pieces;
        if request.left == 0
            && let Some(request) = self.open.remove(open)
        {
            let row = request.done();
            if let Some(kept) = &mut self.kept {
                kept.done(open, &row);
            }
            sink.done(&row);
        }
    }
}

impl Composite for Mcd {
    fn children(&self) -> &Children {
        &self.children
    }

    fn children_mut(&mut self) -> &mut Children {
        &mut self.children
    }

    fn child_done(&mut self, child: usize, row: &Row, sink: &mut dyn CompletionSink) {
        self.now = row.completion;
        let Some(job) = self.jobs.remove(row.id) else {
            return;
        };
        if child == BACK && !self.is_cleaning(&job) {
            self.back.done(self.now);
        }
        if let (Some(sizes), Job::Fetched(_)) = (&mut self.sizes, &job) {
            sizes.measure(row);
        }
        match job {
            Job::Access(open, pieces) => self.accessed(open, &pieces, row, sink),
            Job::Pass(open, pieces) => self.was_passed(open, &pieces, row, sink),
            Job::Fetched(op) => self.fetched(op, row, sink),
            Job::Filled(op) => self.filled(op, row),
            Job::VictimRead(op) => self.victim_read(op, row, sink),
            Job::Destaged(op) => self.destaged(op),
            Job::Recovered => {}
        }
        self.go_on(sink);
    }

    fn timer(&self) -> Option<Nanos> {
        self.clean_at()
    }

    fn timer_due(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        self.now = at;
        self.clean();
        self.go_on(sink);
    }

    fn children_first(&self) -> bool {
        true
    }
}

impl Model for Mcd {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn servers(&self) -> u64 {
        self.children.servers()
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        self.advance(request.arrival, false, sink);
        self.now = request.arrival;
        let mut row = Row::of(&request, self.device);
        row.queue_depth = self.open.len() as u32;
        if !request.op.moves_data() {
            row.start = row.arrival;
            row.completion = row.arrival;
            sink.done(&row);
            return;
        }
        let streams = request.op == RequestOp::Read
            && (self.streams.as_mut()).is_some_and(|streams| streams.goes_on(&request));
        let mut open = HostRequest::new(row);
        open.streams = streams;
        let open = self.open.insert(open);
        if let Some(kept) = &mut self.kept {
            kept.opened(open, &row);
        }
        self.arriving.newest = None;
        if let Some(sizes) = &mut self.sizes {
            sizes.begin();
        }
        let segment_blocks = u64::from(self.spec.segment_blocks);
        let mut at = 0;
        for extent in &request.extents {
            let mut lbn = extent.lbn;
            while lbn < extent.end() {
                let segment = lbn / segment_blocks;
                let from = (lbn - segment * segment_blocks) as u32;
                let blocks = (segment_blocks - u64::from(from)).min(extent.end() - lbn) as u32;
                let piece = Piece {
                    open,
                    segment,
                    from,
                    blocks,
                    at,
                };
                if let Some(open) = self.open.get_mut(open) {
                    open.left += 1;
                }
                if let Some(sizes) = &mut self.sizes
                    && !streams
                {
                    let is_whole = u64::from(blocks) == segment_blocks;
                    let is_written = request.op == RequestOp::Write;
                    sizes.asked(
                        segment,
                        !(is_written && (is_whole || self.spec.partial_write)),
                    );
                }
                self.place(piece, request.op, true);
                at += blocks;
                lbn += u64::from(blocks);
            }
        }
        self.access_ready(sink);
        self.pass_on(sink);
        self.go_on(sink);
    }

    fn wake(&mut self, now: Nanos, sink: &mut dyn CompletionSink) {
        self.advance(now, true, sink);
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.next_event()
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        self.kept.is_some().then_some(self as &mut dyn Contents)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        let counts = self.counts.named();
        self.children.report(&self.name, counts, until, reports);
    }
}
