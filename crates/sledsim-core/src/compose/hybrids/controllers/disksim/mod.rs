//! The cached controller that DiskSim 4.0 ships (`disksim_cachemem` behind a smart
//! controller), probably the one of the baseline of MSST 2005.
//!
//! Lines have a valid and a dirty bit for every few blocks, and one lock each: shared for
//! hits and writes to the device, alone for fetches and host writes. Who waits for a lock
//! gets it in turn.
//!
//! - **Read**: fetches from the first missing block to the next valid one, one such run at
//!   a time, and more of the line if `prefetch` says so.
//! - **Write**: takes lines without reading them, except bits that it covers in part. It is
//!   complete when its blocks are in the lines, or with `scheme = "sync"` on the device.
//! - **Giving up a line**: the oldest that is not locked. If that is dirty, the request
//!   waits until it is written, and then looks again; the next request takes the next line.
//! - **Writing lines**: runs of valid blocks from the first to the last dirty one, on into
//!   neighbouring lines.
//! - **The device** gets one request at a time, in the order of C-LOOK over fetches and
//!   writes; adjacent ones are joined.
//!
//! A host that keeps all but one request to itself is the scheduler
//! `fcfs(host=c_look(from=start); device_depth=1)`, before any device.
//!
//! From the first flush or `fua` write of the host on, or always with `fua = true`, writes
//! pass the device's buffer: a block that was durable stays so.
//!
//! Does not model: times of the controller's processor, memory and host bus; DiskSim's set
//! associativity, segmented LRU, and locks of parts of lines. A trim does nothing.
//!
//! Differs from DiskSim where that stops: parts of a request that need more lines than half
//! of the cache are served in turn, and parts of several lines wait rather than hold lines
//! that others wait for.
//!
//! Modules in reading order:
//! - `spec`: the keys, and the kind of a device behind the controller;
//! - `lines`: what lines hold, their locks, and their order;
//! - `queue`: the queue for the device;
//! - `requests`: host requests;
//! - `cleaning`: writes of dirty lines;
//! - `contents`: what survives a power failure.

mod spec;

mod lines;

mod queue;

mod requests;

mod cleaning;

mod contents;

use super::{Controller, ControllerEntry};
use crate::compose::caches::{Directory, lists::Lists};
use crate::compose::{Children, Composite};
use crate::model::{CompletionSink, Model, Report, contents::Contents};
use contents::ContentState;
use lines::{DIRTY, Lines, VALID};
use queue::{Asked, DeviceQueue, Job};
use requests::HostRequest;
use slab::Slab;
use sledsim_base::request::{Extent, Extents, Flags, Op, Request, inner_id};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use smallvec::SmallVec;
use spec::Spec;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: ControllerEntry = ControllerEntry {
    name: "disksim",
    read: |keys, blocks| {
        let kind = Arc::new(Spec::read(keys, blocks)?);
        Ok(Controller { kind, memory: None })
    },
};

/// What is counted: host requests, and those of them that needed no fetch and found their
/// blocks valid.
const COUNTS: [&str; 4] = ["reads", "read_hits", "writes", "write_hits"];

/// The controller before its device, as a [`Model`].
struct Cached {
    name: String,
    device: u16,
    spec: Spec,
    children: Children,
    lines: Lines,
    queue: DeviceQueue,
    /// The next request to the device, which gets it at the end of the event; and the one
    /// that it has.
    sending: Option<Asked>,
    serving: Option<Asked>,
    /// Host requests, by number.
    hosts: Slab<HostRequest>,
    /// Requests that can go on, and those that have their lines.
    ready: VecDeque<usize>,
    moving: VecDeque<usize>,
    /// Requests that wait for any line to be free.
    line_waiters: VecDeque<usize>,
    /// Requests whose next part waits, and the lines that parts under way may need.
    parts: VecDeque<usize>,
    reserved: u64,
    /// Requests that are complete, until the end of the event.
    complete: Vec<Row>,
    /// Writes of the line that is cleaned because the device is idle.
    cleaning: usize,
    /// When the device has been idle for long enough, and when all lines are cleaned.
    idle_at: Option<Nanos>,
    clean_at: Option<Nanos>,
    /// Whether writes pass the device's buffer.
    fua: bool,
    /// The instant of the last event.
    now: Nanos,
    next_id: u64,
    counts: [u64; COUNTS.len()],
    content: Option<Box<ContentState>>,
}

impl Cached {
    fn new(name: &str, device: u16, spec: Spec, children: Vec<Box<dyn Model>>) -> Self {
        let mut cached = Self::before(name, device, spec, Children::new(children));
        cached.content = cached.children.contents(0).map(|_| Box::default());
        cached
    }

    fn before(name: &str, device: u16, spec: Spec, children: Children) -> Self {
        let [ready, moving, line_waiters, parts] = Default::default();
        Self {
            name: name.to_owned(),
            device,
            children,
            lines: Lines::new(spec.lines, spec.line_blocks),
            queue: DeviceQueue::default(),
            sending: None,
            serving: None,
            hosts: Slab::new(),
            ready,
            moving,
            line_waiters,
            parts,
            reserved: 0,
            complete: Vec::new(),
            cleaning: 0,
            idle_at: None,
            clean_at: None,
            fua: spec.fua,
            now: Nanos::ZERO,
            next_id: 0,
            counts: Default::default(),
            content: None,
            spec,
        }
    }

    /// Whether the device has nothing to do.
    fn is_idle(&self) -> bool {
        self.serving.is_none() && self.sending.is_none() && self.queue.waiting.is_empty()
    }

    /// Asks the device for something, now or when its turn comes.
    fn ask(&mut self, op: Op, of: Range<u64>, job: Job) {
        let (lbn, blocks) = (of.start, (of.end - of.start) as u32);
        let extent = Extent { lbn, blocks };
        let jobs = SmallVec::from_iter([(job, extent)]);
        let most = self.spec.joined_blocks;
        self.queue.push(Asked { op, extent, jobs }, most);
        self.choose();
    }

    /// Chooses the next request to the device, if that has none.
    fn choose(&mut self) {
        if self.serving.is_none() && self.sending.is_none() {
            self.sending = self.queue.pop();
        }
    }

    /// Ends an event: gives the device its next request, and announces what is complete.
    fn end_event(&mut self, sink: &mut dyn CompletionSink) {
        if let Some(asked) = self.sending.take() {
            let writes = asked.op == Op::Write;
            // A line that is given up is no work of the request that waits for it.
            let host = match asked.jobs[0].0 {
                Job::Resume(host) | Job::Written(host) => Some(&self.hosts[host]),
                Job::Cleaned | Job::Unwaited => None,
            };
            let host = host.filter(|host| !writes || host.is_placed);
            let (id, parent) = inner_id(self.next_id, host.map(|host| host.row.id));
            self.next_id += 1;
            let lbns = asked.extent.lbn..asked.extent.end();
            if let Some(device) = self.children.contents(0).filter(|_| writes) {
                let content = self.content.iter();
                let tokens = content.flat_map(|held| lbns.clone().map(|lbn| held.token(lbn)));
                device.stage_write(&tokens.collect::<Vec<_>>());
            }
            let mut request = Request {
                id,
                parent,
                arrival: self.now,
                op: asked.op,
                extents: Extents::from_elem(asked.extent, usize::from(asked.op.moves_data())),
                ..Request::default()
            };
            request.flags.set(Flags::FUA, self.fua && writes);
            self.serving = Some(asked);
            self.children.submit(0, request, sink);
        }
        self.complete.drain(..).for_each(|row| sink.done(&row));
    }

    /// Does what follows a request to the device, of `row`.
    fn finish(&mut self, job: Job, extent: Extent, row: &Row) {
        let is_written = !matches!(job, Job::Resume(_));
        if is_written {
            for slot in self.slots(extent.lbn..extent.end()) {
                self.release(slot, None);
            }
        }
        if let Job::Resume(host) | Job::Written(host) = job {
            let request = &mut self.hosts[host];
            request.account(row);
            if !is_written && row.status != Status::Ok {
                request.row.status = row.status;
            }
            request.left -= usize::from(is_written);
            self.ready.extend((request.left == 0).then_some(host));
        }
        self.run();
        if job == Job::Cleaned {
            self.cleaning -= 1;
            if self.cleaning == 0 {
                self.clean_lines(Job::Cleaned);
            }
        }
    }

    /// Completes a host request.
    fn complete(&mut self, host: usize) {
        let mut request = self.hosts.remove(host);
        let row = &mut request.row;
        row.parts.queue += self.now - request.accounted;
        row.start = row.start.min(self.now);
        row.completion = self.now;
        if row.op.moves_data() {
            let of = 2 * usize::from(row.op == Op::Write);
            self.counts[of] += 1;
            self.counts[of + 1] += u64::from(!request.has_missed);
        }
        if let (Some(content), Op::Read) = (&mut self.content, row.op) {
            content.returned.insert(row.id, request.tokens);
        }
        self.complete.push(*row);
    }
}

impl Composite for Cached {
    fn children(&self) -> &Children {
        &self.children
    }

    fn children_mut(&mut self) -> &mut Children {
        &mut self.children
    }

    fn blocks(&self) -> u64 {
        self.spec.blocks
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        self.advance(request.arrival, false, sink);
        self.now = request.arrival;
        let mut state = HostRequest::default();
        state.row = Row::of(&request, self.device);
        state.row.queue_depth = self.hosts.len() as u32;
        state.row.start = Nanos::MAX;
        state.accounted = self.now;
        if let (Some(content), Op::Write) = (&mut self.content, request.op) {
            state.tokens = std::mem::take(&mut content.staged);
        }
        let flushes = request.op == Op::Flush && !self.spec.fua;
        self.fua |= flushes || request.flags.contains(Flags::FUA);
        if request.op.moves_data() {
            state.extents = request.extents;
        }
        let host = self.hosts.insert(state);
        if flushes {
            self.ask(Op::Flush, 0..0, Job::Resume(host));
        } else {
            self.next_part(host);
        }
        self.move_data();
        self.end_event(sink);
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        self.content.is_some().then_some(self as &mut dyn Contents)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        let at = reports.len();
        let counts = COUNTS.into_iter().zip(self.counts).collect();
        self.children.report(&self.name, counts, until, reports);
        // The energy of its memory is unknown.
        reports[at].energy = None;
    }

    fn child_done(&mut self, _child: usize, row: &Row, sink: &mut dyn CompletionSink) {
        self.now = row.completion;
        let asked = self.serving.take().expect("the device completes what it has");
        if let (Some(content), Op::Read) = (&mut self.content, asked.op)
            && let Some(device) = self.children.contents(0)
        {
            // What is in the cache is newer.
            for (lbn, token) in (asked.extent.lbn..).zip(device.take_read_data(row.id)) {
                content.cached.entry(lbn).or_insert(token);
            }
        }
        if self.is_idle() {
            self.idle_at = self.spec.clean_after_idle.map(|idle| self.now + idle);
        }
        for (job, extent) in asked.jobs {
            self.finish(job, extent, row);
        }
        self.choose();
        self.move_data();
        self.end_event(sink);
    }

    fn timer(&self) -> Option<Nanos> {
        [self.idle_at, self.clean_at].into_iter().flatten().min()
    }

    fn timer_due(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        self.now = at;
        if self.idle_at.take_if(|due| *due == at).is_some() {
            self.clean_lines(Job::Cleaned);
        }
        if self.clean_at.take_if(|due| *due == at).is_some() {
            self.clean_lines(Job::Unwaited);
        }
        self.end_event(sink);
    }
}
