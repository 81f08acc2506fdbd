//! Cleaning: moves the oldest logs to the back.
//!
//! It sends one request at a time, so that a host request waits for at most one
//! of the cleaner's. Between two requests it yields: if the host uses the back
//! again, cleaning waits until that is idle, unless too many logs are in use.

use super::media::Block;
use super::model::Mwb;
use super::timing::{Next, Sent};
use crate::compose::hybrids::{BACK, FRONT};
use crate::model::CompletionSink;
use sledsim_base::request::{Flags, Op, Request};
use sledsim_base::units::Nanos;

impl Mwb {
    /// When the idle detector lets cleaning continue, if cleaning waits for it.
    pub(super) fn clean_at(&self) -> Option<Nanos> {
        let cleaner = &self.timing.cleaner;
        let is_wanted = cleaner.when_idle || cleaner.next.is_some();
        let at = self.timing.idle_at(cleaner.idle_after)?;
        (is_wanted && !cleaner.is_busy && self.can_clean()).then_some(at)
    }

    /// Whether the next step is possible.
    fn can_clean(&self) -> bool {
        let logs = &self.timing.logs;
        match self.timing.cleaner.next {
            Some(Next::Mark) => !logs.are_being_read(self.timing.cleaner.logs),
            Some(_) => true,
            None => logs.cleanable(1) > 0 || logs.sole_open_log().is_some(),
        }
    }

    /// Does the steps of cleaning that are allowed at `at`.
    pub(super) fn clean(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        loop {
            self.update_demand();
            let timing = &self.timing;
            let cleaner = &timing.cleaner;
            let is_idle = (timing.idle_at(cleaner.idle_after)).is_some_and(|idle| idle <= at);
            let is_wanted = cleaner.when_idle || cleaner.next.is_some();
            let is_allowed = cleaner.always || (is_wanted && is_idle);
            if cleaner.is_busy || !is_allowed || !self.can_clean() {
                return;
            }
            match cleaner.next {
                None => self.choose(at, sink),
                Some(Next::Read(from)) => self.read_log(from, at, sink),
                Some(Next::Write(from)) => self.write_run(from, at, sink),
                Some(Next::Mark) => self.mark(at, sink),
            }
        }
    }

    /// Updates whether to clean from the number of logs in use.
    fn update_demand(&mut self) {
        let spec = &self.spec;
        let in_use = self.timing.logs.in_use();
        let blocked = self.timing.is_blocked();
        let cleaner = &mut self.timing.cleaner;
        cleaner.when_idle = in_use > spec.to && (cleaner.when_idle || in_use > spec.idle_above);
        cleaner.always = blocked || (in_use > spec.to && (cleaner.always || in_use > spec.above));
    }

    /// Chooses the logs to clean next, and collects their live blocks.
    fn choose(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        if let Some(only) = self.timing.logs.sole_open_log() {
            self.timing.logs.at(only).closed = true;
            self.summarise(only, at, sink);
            return;
        }
        let timing = &mut self.timing;
        let too_many = timing.logs.in_use().saturating_sub(self.spec.to).max(1);
        let cleaner = &mut timing.cleaner;
        let most = self.spec.clean_logs.min(too_many);
        cleaner.logs = timing.logs.cleanable(most);
        cleaner.pieces.clear();
        for log in timing.logs.iter().take(cleaner.logs as usize) {
            for &placed in &log.placed {
                timing.table.live(placed, |live| cleaner.pieces.push(live));
            }
        }
        cleaner.next = Some(Next::Read(0));
    }

    /// Reads a log from its first live block to its last.
    fn read_log(&mut self, from: usize, at: Nanos, sink: &mut dyn CompletionSink) {
        let shape = self.spec.shape;
        let cleaner = &mut self.timing.cleaner;
        // All are read.
        let Some(first) = cleaner.pieces.get(from) else {
            cleaner.pieces.sort_unstable_by_key(|piece| piece.lbn);
            cleaner.next = Some(Next::Write(0));
            return;
        };
        let log = shape.log(first.address);
        let rest = &cleaner.pieces[from..];
        let count = rest.partition_point(|piece| shape.log(piece.address) == log);
        let last = rest[count - 1];
        let blocks = last.address + u64::from(last.blocks) - first.address;
        let lbn = shape.front(first.address);
        cleaner.then = Next::Read(from + count);
        cleaner.is_busy = true;
        let read = Request::new(0, at, Op::Read, lbn, blocks as u32);
        self.send(FRONT, read, Some(Sent::Cleaning), &[], sink);
    }

    /// Writes a run of contiguous blocks to the back.
    fn write_run(&mut self, from: usize, at: Nanos, sink: &mut dyn CompletionSink) {
        let timing = &mut self.timing;
        let cleaner = &mut timing.cleaner;
        // All are written.
        let Some(first) = cleaner.pieces.get(from) else {
            for &piece in &cleaner.pieces {
                timing.table.remove(piece);
            }
            cleaner.next = Some(Next::Mark);
            return;
        };
        let (lbn, mut end, mut to) = (first.lbn, first.end(), from + 1);
        while let Some(piece) = cleaner.pieces.get(to).filter(|piece| piece.lbn == end) {
            end = piece.end();
            to += 1;
        }
        cleaner.then = Next::Write(to);
        cleaner.is_busy = true;
        let tokens = match &self.content_state {
            Some(state) => state.volatile.cleaned_tokens(lbn..end),
            None => Vec::new(),
        };
        let write = Request {
            flags: Flags::FUA,
            ..Request::new(0, at, Op::Write, lbn, (end - lbn) as u32)
        };
        self.send(BACK, write, Some(Sent::Cleaning), &tokens, sink);
    }

    /// Writes a mark over the first block of the last log cleaned: this log and all
    /// older ones are free.
    fn mark(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        let shape = self.spec.shape;
        let first = self.timing.logs.first() + self.timing.cleaner.logs;
        let lbn = shape.front(shape.start(first - 1));
        let mut tokens = Vec::new();
        if let Some(state) = &mut self.content_state {
            tokens.push(state.durable.announce(lbn, Block::Mark { first }));
        }
        self.timing.cleaner.is_busy = true;
        let mark = Request { flags: Flags::FUA, ..Request::new(0, at, Op::Write, lbn, 1) };
        self.send(FRONT, mark, Some(Sent::Cleaning), &tokens, sink);
    }

    /// Handles the completion of the cleaner's request.
    pub(super) fn cleaned(&mut self, id: u64) {
        let shape = self.spec.shape;
        let timing = &mut self.timing;
        let cleaner = &mut timing.cleaner;
        cleaner.is_busy = false;
        match cleaner.next {
            Some(Next::Read(from)) => {
                if let Some(state) = &mut self.content_state
                    && let Next::Read(to) = cleaner.then
                {
                    state.volatile.store_cleaned(id, &cleaner.pieces[from..to]);
                }
                cleaner.next = Some(cleaner.then);
            }
            Some(Next::Write(_)) => cleaner.next = Some(cleaner.then),
            Some(Next::Mark) | None => {
                let (first, count) = (timing.logs.first(), cleaner.logs);
                timing.logs.free(count);
                cleaner.next = None;
                if let Some(state) = &mut self.content_state {
                    let lbn = shape.front(shape.start(first + count - 1));
                    state.durable.confirm(lbn, 1);
                    state.volatile.clear_cleaned();
                }
            }
        }
    }
}
