//! MEMS caching disk: a fast model as a cache of a slow one (MSST 2005, section
//! 4.2), and with memory as the fast one the cache of a controller.
//!
//! The back is divided into segments, the front into slots for them; any
//! segment may be in any slot. All host requests go to the front, except reads
//! of a stream, which bypass it. Data move between front and back through a
//! segment buffer of non-volatile memory, in whole segments; where allowed, one
//! request to the back moves several neighbouring segments.
//!
//! - **Read miss**: the segment gets a slot; it is read from the back into the
//!   buffer, written from there to its slot, and then read by the host. With
//!   *Shortcut* the buffer serves pending requests.
//! - **Write miss**: the same, and then the write; with *Shortcut* the write
//!   goes into the buffered data. With *Partial Write* nothing is read: one bit
//!   per block marks it as valid; a read of invalid blocks fetches the segment,
//!   of which only these are written to the slot. A write of a whole segment
//!   never reads it.
//! - **Eviction**: a clean segment is evicted at once. A dirty one is read into
//!   the buffer and written to the back; its slot is free when that is done, or
//!   with *Immediate Report* as soon as the data are in the buffer. Buffered
//!   data are then written at once; with read priority when the back is idle,
//!   when the buffer is full, or when a request waits for them. Dirty neighbours
//!   on the back are written with it, and stay cached.
//! - **Cleaning**: dirty segments, the longest dirty first, are written one
//!   request after another when the back has been idle for a while, or while
//!   too many are dirty.
//!
//! Conflicting requests for a segment run one after the other: they wait while
//! it is being fetched, evicted or made valid. Slots, and room in the buffer,
//! are assigned first come, first served. There is no deadlock: an operation
//! that waits for a slot holds no buffer, and one that has both needs nothing
//! else.
//!
//! Does not model: processor time. A flush (completed writes are in
//! non-volatile memory) and a trim take no time and do nothing.
//!
//! `contents.rs` describes what survives a power failure.
//!
//! Modules in reading order:
//! - `spec`: the keys of a caching tier;
//! - `kind`: the kind `mcd` of devices;
//! - `jobs`: host requests, operations on segments and child requests under
//!   way;
//! - `bits`: bits of blocks: which of a segment are valid;
//! - `table`: the contents of the front: one entry per slot;
//! - `queues`: queues for slots, for room in the buffer, and for the back;
//! - `pieces`: host requests, piece by piece;
//! - `operations`: operations on segments;
//! - `streams`: detection of streams;
//! - `sizes`: automatic fetch size;
//! - `counts`: the counts of a tier;
//! - `contents`: what survives a power failure, and how the tier recovers.

mod spec;

pub mod kind;

mod jobs;

mod bits;

mod table;

mod queues;

mod pieces;

mod operations;

mod streams;

mod sizes;

mod counts;

mod contents;

pub use spec::{Fetch, McdSpec};

use super::{BACK, FRONT};
use crate::compose::caches::{Directory, Policy};
use crate::compose::{Children, Composite};
use crate::model::contents::Contents;
use crate::model::{CompletionSink, Model, Report};
use contents::ContentState;
use counts::Counts;
use jobs::{HostRequest, Job, Jobs, Op, Operation, Piece};
use queues::{Arriving, BackLoad, Buffer, DeferredWrites, Resumed, SlotQueue};
use sizes::Sizes;
use slab::Slab;
use sledsim_base::request::{Extents, Flags, Op as RequestOp, Request, inner_id};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::VecDeque;
use streams::Streams;
use table::Slots;

/// Marks an operation in the directory; entries without it are slots.
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
    /// The slot or operation that holds each segment.
    directory: Directory,
    policy: Box<dyn Policy>,
    host_requests: Slab<HostRequest>,
    ops: Slab<Box<Op>>,
    /// Operations that have ended: their memory is used again.
    #[expect(clippy::vec_box, reason = "they move to `ops` without a copy")]
    spare_ops: Vec<Box<Op>>,
    jobs: Jobs,
    slot_queue: SlotQueue,
    buffer: Buffer,
    deferred: DeferredWrites,
    back: BackLoad,
    /// Whether it ever cleans, and the operation that is cleaning.
    cleans: bool,
    cleaner: Option<usize>,
    /// The instant of the last event.
    now: Nanos,
    arriving: Arriving,
    resumed: Resumed,
    counts: Counts,
    streams: Option<Streams>,
    sizes: Option<Sizes>,
    content_state: Option<Box<ContentState>>,
    /// Extents of a request while they are collected.
    scratch: Extents,
}

impl Mcd {
    /// A tier of `spec` between `front` and `back`.
    pub fn new(
        name: &str,
        device: u16,
        spec: McdSpec,
        front: Box<dyn Model>,
        back: Box<dyn Model>,
    ) -> Self {
        let mut children = Children::new(vec![front, back]);
        let keeps = children.contents(FRONT).is_some() && children.contents(BACK).is_some();
        let content_state = keeps.then(|| Box::new(ContentState::new(spec.placement.units as u32)));
        Self::between(name, device, spec, children, content_state)
    }

    fn between(
        name: &str,
        device: u16,
        spec: McdSpec,
        children: Children,
        content_state: Option<Box<ContentState>>,
    ) -> Self {
        let slots = spec.placement.units as u32;
        Self {
            name: name.to_owned(),
            device,
            blocks: children.blocks(BACK),
            slots: Slots::new(slots, spec.segment_blocks),
            directory: Directory::with_capacity(slots as usize),
            policy: spec.policy.make(slots),
            host_requests: Slab::new(),
            ops: Slab::new(),
            spare_ops: Vec::new(),
            jobs: Jobs::default(),
            slot_queue: SlotQueue::default(),
            buffer: Buffer { ops: VecDeque::new(), free_blocks: spec.buffer_blocks },
            deferred: DeferredWrites::default(),
            back: BackLoad::default(),
            cleans: spec.clean_after_idle.is_some() || spec.clean_above < 1.0,
            cleaner: None,
            now: Nanos::ZERO,
            arriving: Arriving::default(),
            resumed: Resumed::default(),
            counts: Counts::default(),
            streams: spec.bypass_after_blocks.map(Streams::new),
            sizes: (spec.fetch == Fetch::Automatic).then(|| Sizes::new(&spec)),
            content_state,
            scratch: Extents::new(),
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

    /// Submits a request to a child; its id is that of the job.
    fn send(
        &mut self,
        child: usize,
        op: RequestOp,
        job: Job,
        extents: Extents,
        sink: &mut dyn CompletionSink,
    ) {
        let host_request = match &job {
            Job::Access(host_request, _) | Job::Bypass(host_request, _) => Some(*host_request),
            Job::Fetched(op) => self.ops[*op].waiting.first().map(|piece| piece.host_request),
            _ => None,
        };
        let row = host_request.map(|host_request| &self.host_requests[host_request].row);
        if child == BACK && !self.is_cleaning(&job) {
            self.back.busy += 1;
        }
        let number = self.jobs.add(job);
        let (id, parent) = inner_id(number, row.map(|row| row.id));
        let mut request = Request {
            id,
            parent,
            stream: row.map_or(0, |row| row.stream),
            arrival: self.now,
            op,
            extents,
            ..Request::default()
        };
        // Children may report other writes before they are on their media.
        request.flags.set(Flags::FUA, op == RequestOp::Write);
        self.children.submit(child, request, sink);
    }

    /// Whether a job is part of cleaning.
    fn is_cleaning(&self, job: &Job) -> bool {
        matches!(job, Job::Destaged(op) if Some(*op) == self.cleaner)
    }

    /// Counts completed pieces of a host request, which is complete after the last.
    fn pieces_done(&mut self, host_request: usize, pieces: u32, sink: &mut dyn CompletionSink) {
        let request = &mut self.host_requests[host_request];
        request.left -= pieces;
        if request.left > 0 {
            return;
        }
        let row = request.complete();
        if let Some(content_state) = &mut self.content_state {
            content_state.end_request(host_request, row);
        }
        sink.done(row);
        self.host_requests.remove(host_request);
    }

    /// Adds an operation on these segments, without slots.
    fn add_op(&mut self, kind: Operation, first: u64, count: u32) -> usize {
        let mut op = self.spare_ops.pop().unwrap_or_default();
        op.set(kind, first, count);
        self.ops.insert(op)
    }
}

impl Composite for Mcd {
    fn children(&self) -> &Children {
        &self.children
    }

    fn children_mut(&mut self) -> &mut Children {
        &mut self.children
    }

    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        self.advance(request.arrival, false, sink);
        self.now = request.arrival;
        let mut row = Row::of(&request, self.device);
        row.queue_depth = self.host_requests.len() as u32;
        if !request.op.moves_data() {
            row.start = row.arrival;
            row.completion = row.arrival;
            sink.done(&row);
            return;
        }
        let streams = request.op == RequestOp::Read
            && (self.streams.as_mut()).is_some_and(|streams| streams.continues_stream(&request));
        let host_request = self.host_requests.insert(HostRequest::new(row, streams));
        if let Some(content_state) = &mut self.content_state {
            content_state.begin_request(host_request, &row);
        }
        self.arriving.newest = None;
        if let Some(sizes) = &mut self.sizes {
            sizes.begin();
        }
        let segment_blocks = u64::from(self.spec.segment_blocks);
        let (mut at, mut pieces) = (0, 0);
        for extent in &request.extents {
            let mut lbn = extent.lbn;
            let mut segment = lbn / segment_blocks;
            while lbn < extent.end() {
                let from = (lbn - segment * segment_blocks) as u32;
                let blocks = (segment_blocks - u64::from(from)).min(extent.end() - lbn) as u32;
                let piece = Piece { host_request, segment, from, blocks, at };
                if let Some(sizes) = &mut self.sizes
                    && !streams
                {
                    let is_whole = u64::from(blocks) == segment_blocks;
                    let is_written = request.op == RequestOp::Write;
                    sizes.record_access(
                        segment,
                        !(is_written && (is_whole || self.spec.partial_write)),
                    );
                }
                self.place(piece, request.op, true);
                at += blocks;
                pieces += 1;
                lbn += u64::from(blocks);
                segment += 1;
            }
        }
        self.host_requests[host_request].left = pieces;
        self.access_ready(sink);
        self.send_bypassing(sink);
        self.advance_all(sink);
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        self.content_state.is_some().then_some(self as &mut dyn Contents)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        let counts = self.counts.named();
        self.children.report(&self.name, counts, until, reports);
    }

    fn child_done(&mut self, child: usize, row: &Row, sink: &mut dyn CompletionSink) {
        self.now = row.completion;
        let job = self.jobs.remove(row.id);
        if child == BACK && !self.is_cleaning(&job) {
            self.back.done(self.now);
        }
        if let (Some(sizes), Job::Fetched(_)) = (&mut self.sizes, &job) {
            sizes.measure(row);
        }
        match job {
            Job::Access(host_request, pieces) => {
                self.accessed(host_request, &pieces, row, sink);
                self.jobs.placed.reuse(pieces);
            }
            Job::Bypass(host_request, pieces) => {
                self.bypassed(host_request, &pieces, row, sink);
                self.jobs.pieces.reuse(pieces);
            }
            Job::Fetched(op) => self.fetched(op, row, sink),
            Job::Filled(op) => self.filled(op, row),
            Job::VictimRead(op) => self.victim_read(op, row, sink),
            Job::Destaged(op) => self.destaged(op),
            Job::Recovered => {}
        }
        self.advance_all(sink);
    }

    #[inline]
    fn timer(&self) -> Option<Nanos> {
        self.clean_at()
    }

    fn timer_due(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        self.now = at;
        self.clean();
        self.advance_all(sink);
    }

    fn children_first(&self) -> bool {
        true
    }
}
