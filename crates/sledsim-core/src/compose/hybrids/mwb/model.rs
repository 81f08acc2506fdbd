//! The model: host requests, and their requests to the children.

use super::logs::Logs;
use super::media::{Block, ContentState, record_check};
use super::spec::MwbSpec;
use super::table::Placed;
use super::timing::{HostRequest, PendingWrite, Sent, Timing};
use crate::compose::hybrids::{BACK, FRONT};
use crate::compose::{Children, Composite};
use crate::model::contents::Contents;
use crate::model::{CompletionSink, Model, Report};
use sledsim_base::request::{
    Extent, Extents, Flags, NO_REQUEST, Op, Request, append, blocks_in, inner_id,
};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// A MEMS write buffer; see the [module](super).
pub struct Mwb {
    name: String,
    device: u16,
    pub(super) spec: MwbSpec,
    pub(super) children: Children,
    next_id: u64,
    counts: Counts,
    pub(super) timing: Timing,
    /// Contents, if both children keep theirs.
    pub(super) content_state: Option<ContentState>,
}

/// Blocks transferred since the start.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    appended: u64,
    read_from_logs: u64,
    read_from_back: u64,
    cleaned: u64,
}

impl Counts {
    /// Counts a request to a child.
    fn count(&mut self, child: usize, request: &Request, sent: Option<&Sent>) {
        let blocks = u64::from(request.blocks());
        match sent {
            // Its header is not data.
            Some(Sent::Append { .. }) => self.appended += blocks - 1,
            Some(Sent::FromLogs(_)) => self.read_from_logs += blocks,
            Some(Sent::FromBack) if request.op == Op::Read => self.read_from_back += blocks,
            Some(Sent::Cleaning) if child == BACK => self.cleaned += blocks,
            _ => {}
        }
    }

    /// By name.
    fn named(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("appended_blocks", self.appended),
            ("read_from_logs_blocks", self.read_from_logs),
            ("read_from_back_blocks", self.read_from_back),
            ("cleaned_blocks", self.cleaned),
        ]
    }
}

impl Mwb {
    /// A write buffer on `front` for `back`, with the sizes for which the spec was
    /// read.
    pub fn new(
        name: &str,
        device: u16,
        spec: MwbSpec,
        front: Box<dyn Model>,
        back: Box<dyn Model>,
    ) -> Self {
        let mut children = Children::new(vec![front, back]);
        let keeps = [FRONT, BACK].iter().all(|&child| children.contents(child).is_some());
        Self {
            name: name.to_owned(),
            device,
            spec,
            children,
            next_id: 0,
            counts: Counts::default(),
            timing: Timing::new(&spec, Logs::new(spec.shape, 0), Nanos::ZERO),
            content_state: keeps.then(ContentState::default),
        }
    }

    /// Submits a request to a child, with tokens if it is a write and contents are
    /// kept; returns its id.
    pub(super) fn send(
        &mut self,
        child: usize,
        request: Request,
        sent: Option<Sent>,
        tokens: &[u64],
        sink: &mut dyn CompletionSink,
    ) -> u64 {
        let (id, parent) = inner_id(self.next_id, request.parent);
        self.next_id += 1;
        self.counts.count(child, &request, sent.as_ref());
        if let Some(sent) = sent {
            self.timing.sent.insert(id, sent);
        }
        let children = &mut self.children;
        if self.content_state.is_some()
            && request.op == Op::Write
            && let Some(contents) = children.contents(child)
        {
            contents.stage_write(tokens);
        }
        let request = Request { id, parent, ..request };
        children.submit(child, request, sink);
        id
    }

    /// Appends waiting writes to logs while there is room.
    fn append_waiting(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        while let Some(write) = self.timing.waiting.front_mut() {
            // It waits until a log is free.
            let Some((blocks, extents)) = self.timing.logs.room() else {
                return;
            };
            let extents = write.take(blocks, extents);
            let address = self.timing.logs.append(&extents);
            let blocks = blocks_in(&extents);
            let lbn = self.spec.shape.front(address);
            let (host, stream) = (write.host, write.stream);
            let mut tokens = Vec::new();
            if let Some(state) = &mut self.content_state {
                tokens.push(0);
                tokens.extend(write.tokens.drain(..write.tokens.len().min(blocks as usize)));
                tokens.resize(1 + blocks as usize, 0);
                let header = Block::Header {
                    address,
                    extents: extents.to_vec(),
                    check: record_check(&tokens[1..]),
                };
                tokens[0] = state.durable.announce(lbn, header);
            }
            let is_placed = write.next == write.extents.len();
            if is_placed {
                self.timing.waiting.pop_front();
            }
            self.timing.host(host).left += u32::from(!is_placed);
            let append = Request {
                parent: Some(host),
                flags: Flags::FUA,
                stream,
                ..Request::new(0, at, Op::Write, lbn, blocks + 1)
            };
            let sent = Sent::Append { address, extents };
            self.send(FRONT, append, Some(sent), &tokens, sink);
        }
    }

    /// Reads each block from its newest version.
    fn read(&mut self, request: &Request, sink: &mut dyn CompletionSink) {
        let shape = self.spec.shape;
        let timing = &mut self.timing;
        let keeps = self.content_state.is_some();
        let mut parts = [Extents::new(), Extents::new()];
        let mut logs = SmallVec::<[u64; 2]>::new();
        // The indices in the read of each part's blocks.
        let mut read_indices = [Vec::new(), Vec::new()];
        let mut read_offset = 0;
        for extent in &request.extents {
            timing.table.visit(extent.lbn, extent.blocks, |lbn, blocks, address| {
                let (child, lbn) = match address {
                    Some(address) => (FRONT, shape.front(address)),
                    None => (BACK, lbn),
                };
                append(&mut parts[child], lbn, blocks);
                let log = address.map(|address| shape.log(address));
                if let Some(log) = log
                    && !logs.contains(&log)
                {
                    logs.push(log);
                }
                if keeps {
                    read_indices[child].extend(read_offset..read_offset + blocks);
                    read_offset += blocks;
                }
            });
        }
        for &log in &logs {
            timing.logs.at(log).reads += 1;
        }
        let left = parts.iter().filter(|part| !part.is_empty()).count();
        timing.host(request.id).left = left as u32;
        timing.back_requests += u32::from(!parts[BACK].is_empty());
        let mut sent = [Some(Sent::FromLogs(logs)), Some(Sent::FromBack)];
        for (child, extents) in parts.into_iter().enumerate() {
            if extents.is_empty() {
                continue;
            }
            let part = Request { parent: Some(request.id), extents, ..*request };
            let id = self.send(child, part, sent[child].take(), &[], sink);
            if let Some(state) = &mut self.content_state {
                let places = std::mem::take(&mut read_indices[child]);
                state.volatile.begin_read(id, request.id, places);
            }
        }
    }

    /// Enters a record that is on the front in the table.
    fn appended(
        &mut self,
        header: u64,
        extents: &[Extent],
        at: Nanos,
        sink: &mut dyn CompletionSink,
    ) {
        let timing = &mut self.timing;
        let mut address = header + 1;
        for extent in extents {
            timing.table.put(Placed { lbn: extent.lbn, blocks: extent.blocks, address });
            address += u64::from(extent.blocks);
        }
        if let Some(state) = &mut self.content_state {
            let lbn = self.spec.shape.front(header);
            state.durable.confirm(lbn, address - header);
        }
        let number = self.spec.shape.log(header);
        let log = timing.logs.at(number);
        log.writes -= 1;
        if log.closed && log.writes == 0 {
            self.summarise(number, at, sink);
        }
    }

    /// Writes the summary of a closed log whose records are all on the front;
    /// returns the id of the request.
    pub(super) fn summarise(
        &mut self,
        number: u64,
        at: Nanos,
        sink: &mut dyn CompletionSink,
    ) -> u64 {
        let shape = self.spec.shape;
        let lbn = shape.front(shape.start(number));
        let first = self.timing.logs.first();
        let mut tokens = Vec::new();
        let log = self.timing.logs.at(number);
        log.writes += 1;
        if let Some(state) = &mut self.content_state {
            let placed = log.placed.clone();
            let log = Block::Summary { log: number, first, placed };
            tokens = state.durable.summary(lbn, log, shape.summary_blocks());
        }
        let summary = Request {
            flags: Flags::FUA,
            ..Request::new(0, at, Op::Write, lbn, shape.summary_blocks() as u32)
        };
        let sent = Some(Sent::Summary(number));
        self.send(FRONT, summary, sent, &tokens, sink)
    }

    /// Handles the completion of a summary.
    pub(super) fn summarised(&mut self, number: u64) {
        let shape = self.spec.shape;
        let log = self.timing.logs.at(number);
        log.writes -= 1;
        log.summarised = true;
        if let Some(state) = &mut self.content_state {
            let lbn = shape.front(shape.start(number));
            state.durable.confirm(lbn, shape.summary_blocks());
        }
    }

    /// Counts a completed child request that host request `host` waits for.
    fn part_done(&mut self, host: u64, child: &Row, sink: &mut dyn CompletionSink) {
        let HostRequest { row, left } = self.timing.host(host);
        *left -= 1;
        row.charge(child);
        if *left > 0 {
            return;
        }
        // Completions come in order, so this one was the last.
        row.start = child.start;
        row.completion = child.completion;
        row.parts = child.parts;
        row.parts.queue += child.arrival - row.arrival;
        sink.done(row);
        self.timing.host_requests.remove(&host);
    }
}

impl Composite for Mwb {
    fn children(&self) -> &Children {
        &self.children
    }

    fn children_mut(&mut self) -> &mut Children {
        &mut self.children
    }

    fn blocks(&self) -> u64 {
        self.children.blocks(BACK)
    }

    fn submit(&mut self, mut request: Request, sink: &mut dyn CompletionSink) {
        let at = request.arrival;
        self.advance(at, false, sink);
        let mut row = Row::of(&request, self.device);
        row.queue_depth = self.timing.host_requests.len() as u32;
        if request.op == Op::Flush {
            // Completed writes are durable on the front.
            row.start = at;
            row.completion = at;
            return sink.done(&row);
        }
        request.flags.remove(Flags::LINKED);
        self.timing.host_requests.insert(request.id, HostRequest { row, left: 1 });
        match request.op {
            Op::Write => {
                let content_state = self.content_state.as_mut();
                let tokens = content_state.map_or_else(VecDeque::new, |state| {
                    std::mem::take(&mut state.volatile.staged).into()
                });
                self.timing.waiting.push_back(PendingWrite {
                    host: request.id,
                    stream: request.stream,
                    extents: request.extents,
                    next: 0,
                    done: 0,
                    tokens,
                });
                self.append_waiting(at, sink);
            }
            Op::Read => self.read(&request, sink),
            Op::Trim | Op::Flush => {
                self.timing.back_requests += 1;
                let trim = Request { parent: Some(request.id), ..request };
                self.send(BACK, trim, Some(Sent::FromBack), &[], sink);
            }
        }
        self.clean(at, sink);
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        self.content_state.is_some().then_some(self as &mut dyn Contents)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        let counts = self.counts.named();
        self.children.report(&self.name, counts, until, reports);
    }

    fn child_done(&mut self, child: usize, row: &Row, sink: &mut dyn CompletionSink) {
        let at = row.completion;
        let sent = self.timing.sent.remove(row.id).expect("a child completes what it was sent");
        if row.op == Op::Read
            && let Some(state) = &mut self.content_state
            && let Some(contents) = self.children.contents(child)
        {
            state.volatile.end_read(row.id, contents.take_read_data(row.id));
        }
        match sent {
            Sent::Append { address, extents } => {
                self.appended(address, &extents, at, sink);
            }
            Sent::FromLogs(logs) => {
                for log in logs {
                    self.timing.logs.at(log).reads -= 1;
                }
            }
            Sent::FromBack => {
                self.timing.back_requests -= 1;
                self.timing.back_idle = at;
            }
            Sent::Summary(log) => self.summarised(log),
            Sent::Cleaning => self.cleaned(row.id),
        }
        // Work of its own serves no request.
        if let Some(host) = row.parent.filter(|host| *host != NO_REQUEST) {
            self.part_done(host, row, sink);
        }
        self.append_waiting(at, sink);
        self.clean(at, sink);
    }

    fn timer(&self) -> Option<Nanos> {
        self.clean_at()
    }

    fn timer_due(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        self.clean(at, sink);
    }
}
