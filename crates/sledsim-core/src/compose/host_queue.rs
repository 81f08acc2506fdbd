//! The queue of a host in front of a device.

use super::by_id::{HashById, UNDER_WAY};
use super::{Children, Composite};
use crate::devices::memory::Memory;
use crate::model::Background;
use crate::model::contents::Contents;
use crate::model::mechanism::Mechanism;
use crate::model::{CompletionSink, Model, Report};
use crate::queueing::schedulers::{Scheduler, Waiting};
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;

/// A device whose requests the host queues: the host gives the device at most
/// `depth` at once, in the order of the host's scheduler.
///
/// A scheduler that needs positioning times gets those of the device at the
/// time of the pick, as a host with a perfect model of it would. They do not
/// include requests that the device holds and has not begun.
///
/// A pick happens when the device can take another request, among those that
/// have arrived by then. The time in the host's queue is `queue` in the rows.
pub struct HostQueue {
    name: String,
    device: u16,
    child: Children,
    scheduler: Box<dyn Scheduler>,
    /// The mechanism that a scheduler sees if the device has none.
    placeholder: Memory,
    depth: u32,
    waiting: usize,
    /// The rows of requests that the device holds, by id.
    outstanding: HashById<Row>,
    /// When the device last became free for another request, and when the first
    /// waiting request arrived.
    free: Nanos,
    waiting_since: Nanos,
    /// If the device keeps contents: the tokens of the next write, and of waiting
    /// writes.
    staged: Vec<u64>,
    tokens: BTreeMap<u64, Vec<u64>>,
}

impl HostQueue {
    /// A queue in front of `child`, which gets at most `depth` requests at once (at
    /// least 1).
    pub fn new(
        name: &str,
        device: u16,
        child: Box<dyn Model>,
        scheduler: Box<dyn Scheduler>,
        depth: u32,
    ) -> Self {
        Self {
            name: name.to_owned(),
            device,
            placeholder: Memory {
                blocks: child.blocks(),
                latency: Nanos::ZERO,
                block_time: Nanos::ZERO,
                battery: true,
            },
            child: Children::new(vec![child]),
            scheduler,
            depth,
            waiting: 0,
            outstanding: HashById::default(),
            free: Nanos::ZERO,
            waiting_since: Nanos::ZERO,
            staged: Vec::new(),
            tokens: BTreeMap::new(),
        }
    }

    /// When the next pick is due.
    fn pick_at(&self) -> Option<Nanos> {
        let is_due = self.waiting > 0 && self.outstanding.len() < self.depth as usize;
        is_due.then(|| self.free.max(self.waiting_since))
    }

    /// Submits the next request to the device at `at`.
    fn pick(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        let mechanism = self.child.mechanism(0).unwrap_or(&self.placeholder);
        let picked = self.scheduler.pop(at, mechanism.positions()).expect("a request waits");
        let Waiting { request, queue_depth, .. } = picked;
        self.waiting -= 1;
        let mut row = Row::of(&request, self.device);
        row.queue_depth = queue_depth;
        self.outstanding.insert(request.id, row);
        if let Some(tokens) = self.tokens.remove(&request.id)
            && let Some(contents) = self.child.contents(0)
        {
            contents.stage_write(&tokens);
        }
        let part = Request { parent: Some(request.id), arrival: at, ..request };
        self.child.submit(0, part, sink);
    }
}

impl Composite for HostQueue {
    fn children(&self) -> &Children {
        &self.child
    }

    fn children_mut(&mut self) -> &mut Children {
        &mut self.child
    }

    fn blocks(&self) -> u64 {
        self.child.blocks(0)
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        let arrival = request.arrival;
        self.advance(arrival, false, sink);
        if self.waiting == 0 {
            self.waiting_since = arrival;
        }
        if request.op == Op::Write && !self.staged.is_empty() {
            self.tokens.insert(request.id, std::mem::take(&mut self.staged));
        }
        let waiting = Waiting {
            queue_depth: (self.waiting + self.outstanding.len()) as u32,
            ready: arrival,
            data_in: arrival,
            request,
        };
        let mechanism = self.child.mechanism(0).unwrap_or(&self.placeholder);
        self.scheduler.push(waiting, mechanism.positions());
        self.waiting += 1;
    }

    fn mechanism(&self) -> Option<&dyn Mechanism> {
        self.child.mechanism(0)
    }

    fn background(&self) -> Option<&dyn Background> {
        self.child.background(0)
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        self.child.contents(0)?;
        Some(self)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.child.report(&self.name, Vec::new(), until, reports);
    }

    fn child_done(&mut self, _child: usize, child_row: &Row, sink: &mut dyn CompletionSink) {
        self.free = child_row.completion;
        let row = self.outstanding.remove(&child_row.id).expect(UNDER_WAY);
        let mut done = Row {
            parent: row.parent,
            device: row.device,
            arrival: row.arrival,
            queue_depth: row.queue_depth,
            ..*child_row
        };
        done.parts.queue += child_row.arrival - row.arrival;
        sink.done(&done);
    }

    fn timer(&self) -> Option<Nanos> {
        self.pick_at()
    }

    fn timer_due(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        self.pick(at, sink);
    }
}

/// It keeps the tokens of waiting writes; requests keep their ids.
impl Contents for HostQueue {
    fn stage_write(&mut self, tokens: &[u64]) {
        tokens.clone_into(&mut self.staged);
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        let contents = self.child.contents(0);
        contents.map_or_else(Vec::new, |contents| contents.take_read_data(id))
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        let mechanism = self.child.mechanism(0).unwrap_or(&self.placeholder);
        while self.scheduler.pop(at, mechanism.positions()).is_some() {}
        (self.waiting, self.free, self.waiting_since) = (0, Nanos::ZERO, Nanos::ZERO);
        self.outstanding.clear();
        self.staged.clear();
        self.tokens.clear();
        self.child.lose_power(at, chance);
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        self.child.recover_until(at, until)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        let contents = self.child.contents(0);
        contents.map_or(0, |contents| contents.token(lbn))
    }
}
