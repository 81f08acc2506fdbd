//! The queue of a host before a device.

use super::{Children, Composite};
use crate::devices::memory::Memory;
use crate::model::Background;
use crate::model::contents::Contents;
use crate::model::mechanism::Mechanism;
use crate::model::{CompletionSink, Events, Model, Report};
use crate::queueing::schedulers::{Scheduler, Waiting};
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;

/// A device of which the host queues the requests: it lets the device have so
/// many at once, and its scheduler picks which.
///
/// A scheduler that asks for positioning times gets those of the device as it
/// is when the host picks: a host with a perfect model of it. What it has given
/// to the device and the device has not begun is not in them.
///
/// A pick happens when the device may have another request, and considers what
/// has arrived by then. The time in the host's queue is `queue` in the rows.
pub struct HostQueue {
    name: String,
    device: u16,
    child: Children,
    scheduler: Box<dyn Scheduler>,
    /// What a scheduler sees of a device without positions.
    nowhere: Memory,
    depth: u32,
    waiting: usize,
    /// Requests that the device has, with the rows that come of them.
    given: BTreeMap<u64, Row>,
    /// When the device last became free for another request, and when the
    /// first of those arrived that wait.
    free: Nanos,
    since: Nanos,
    /// Of a device that keeps contents: the tokens of the write to come, and of
    /// those that wait.
    held: Vec<u64>,
    tokens: BTreeMap<u64, Vec<u64>>,
}

impl HostQueue {
    /// A queue before `child`, which has at most `depth` requests at once (at
    /// least 1).
    #[must_use]
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
            nowhere: Memory {
                blocks: child.blocks(),
                latency: Nanos::ZERO,
                block_time: Nanos::ZERO,
            },
            child: Children::new(vec![child]),
            scheduler,
            depth,
            waiting: 0,
            given: BTreeMap::new(),
            free: Nanos::ZERO,
            since: Nanos::ZERO,
            held: Vec::new(),
            tokens: BTreeMap::new(),
        }
    }

    /// When the next pick is due.
    fn pick_at(&self) -> Option<Nanos> {
        let may = self.waiting > 0 && self.given.len() < self.depth as usize;
        may.then(|| self.free.max(self.since))
    }

    /// Gives the device a request at `at`.
    fn pick(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        let mechanism = self.child.mechanism(0).unwrap_or(&self.nowhere);
        let Some(Waiting {
            request,
            queue_depth,
            ..
        }) = self.scheduler.pop(at, mechanism)
        else {
            return;
        };
        self.waiting -= 1;
        let mut row = Row::of(&request, self.device);
        row.queue_depth = queue_depth;
        self.given.insert(request.id, row);
        if let Some(tokens) = self.tokens.remove(&request.id)
            && let Some(contents) = self.child.contents(0)
        {
            contents.stage_write(&tokens);
        }
        let part = Request {
            parent: Some(request.id),
            arrival: at,
            ..request
        };
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

    fn child_done(&mut self, _child: usize, child_row: &Row, sink: &mut dyn CompletionSink) {
        self.free = child_row.completion;
        let Some(row) = self.given.remove(&child_row.id) else {
            return;
        };
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

impl Model for HostQueue {
    fn blocks(&self) -> u64 {
        self.child.blocks(0)
    }

    fn servers(&self) -> u64 {
        self.child.servers()
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        let arrival = request.arrival;
        self.advance(arrival, false, sink);
        if self.waiting == 0 {
            self.since = arrival;
        }
        if request.op == Op::Write && !self.held.is_empty() {
            self.tokens
                .insert(request.id, std::mem::take(&mut self.held));
        }
        let waiting = Waiting {
            queue_depth: (self.waiting + self.given.len()) as u32,
            ready: arrival,
            data_in: arrival,
            request,
        };
        let mechanism = self.child.mechanism(0).unwrap_or(&self.nowhere);
        self.scheduler.push(waiting, mechanism);
        self.waiting += 1;
    }

    fn wake(&mut self, now: Nanos, sink: &mut dyn CompletionSink) {
        self.advance(now, true, sink);
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.next_event()
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
}

/// Of its own it keeps the tokens of writes that wait; requests keep their ids.
impl Contents for HostQueue {
    fn stage_write(&mut self, tokens: &[u64]) {
        tokens.clone_into(&mut self.held);
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        let contents = self.child.contents(0);
        contents.map_or_else(Vec::new, |contents| contents.take_read_data(id))
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        let mechanism = self.child.mechanism(0).unwrap_or(&self.nowhere);
        while self.scheduler.pop(at, mechanism).is_some() {}
        (self.waiting, self.free, self.since) = (0, Nanos::ZERO, Nanos::ZERO);
        self.given.clear();
        self.held.clear();
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
