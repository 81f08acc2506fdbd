//! Contents of a leaf: a token per block in addition to the times of a device.
//!
//! In reading order:
//! - `survival`: what of the writes survives a power failure;
//! - `promised`: as a host may assume it;
//! - `on_media`: as the leaf has written it, pass by pass.

mod on_media;

mod promised;

mod survival;

use super::media_record::PowerFailure;
use super::token_table::TokenTable;
use crate::model::Background;
use crate::model::contents::Contents;
use crate::model::links::Links;
use crate::model::mechanism::Mechanism;
use crate::model::{CompletionQueue, CompletionSink, Model, Report, Rest};
use on_media::OnMedia;
use promised::Promised;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extents, Flags, Op, Request, lbns};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;
use survival::{Entry, Survival, WriteLog};

/// Builds the timing model of a leaf, again after each power failure.
pub type Build = Box<dyn Fn() -> Box<dyn Model> + Send>;

/// A device, or any model without children that keep contents, with the tokens
/// of its blocks. Times and rows equal those of the device alone, bit for bit.
///
/// *Writes.* The blocks of a write change at its completion, regardless of when
/// that was announced. When power fails, each block of every write under way is
/// old or new. A device that reports writes early keeps them in a volatile
/// buffer: the media may hold any version of a block since the last durable
/// one, made so by `fua` or by a flush that arrived after its completion.
///
/// *On the media.* A tracker made by [`ContentTracker::on_media`] takes nothing at random:
/// the media hold what the leaf has written to them by the instant, pass by pass.
///
/// *Reads.* A read of a block that is being written may return it old or new: a
/// block that changed between arrival and completion of the read is returned as
/// it was at either, at random. A queue guarantees no more.
///
/// *Going back.* All writes since power-on are logged with their times, so that
/// power may fail at an instant in the past: writes that arrived later are
/// undone.
pub struct ContentTracker {
    build: Build,
    leaf: Box<dyn Model>,
    /// The tokens of the blocks at power-on, and now.
    media: TokenTable,
    now: TokenTable,
    /// The tokens of the next write.
    staged: Vec<u64>,
    log: WriteLog,
    /// Reads under way, with the tokens of their blocks at arrival.
    reading: BTreeMap<u64, (Extents, Vec<u64>)>,
    /// The tokens that completed reads returned, until they are taken.
    returned: BTreeMap<u64, Vec<u64>>,
    /// Announced completions: id, and number of the announcement.
    announced: CompletionQueue<(u64, u64)>,
    coin: Stream,
    survival: Box<dyn Survival>,
}

/// Records the completions that the leaf announces, and forwards them.
struct ForwardingSink<'a> {
    announced: &'a mut CompletionQueue<(u64, u64)>,
    log: &'a mut WriteLog,
    survival: &'a mut dyn Survival,
    above: &'a mut dyn CompletionSink,
}

impl CompletionSink for ForwardingSink<'_> {
    fn done(&mut self, row: &Row) {
        self.survival.announced(row, self.log);
        // A failed request does not complete here; its blocks may be old or new.
        if row.status == Status::Ok {
            let number = self.announced.announced();
            self.announced.push(row.completion, (row.id, number));
        }
        self.above.done(row);
    }

    fn note(&mut self, row: &Row) {
        self.above.note(row);
    }
}

impl ContentTracker {
    /// Tracks the leaf that `build` makes; `volatile` if it may report writes
    /// before they are on the media.
    pub fn new(volatile: bool, build: Build) -> Self {
        Self::with(Box::new(Promised { volatile }), build)
    }

    /// Tracks the media of the leaf that `build` makes, pass by pass.
    pub fn on_media(volatile: bool, build: Build, failure: PowerFailure) -> Self {
        Self::with(Box::new(OnMedia::new(volatile, failure)), build)
    }

    fn with(survival: Box<dyn Survival>, build: Build) -> Self {
        let mut leaf = build();
        survival.watch(&mut *leaf);
        Self {
            leaf,
            build,
            media: TokenTable::default(),
            now: TokenTable::default(),
            staged: Vec::new(),
            log: WriteLog::default(),
            reading: BTreeMap::new(),
            returned: BTreeMap::new(),
            announced: CompletionQueue::default(),
            coin: Stream::new(0, "keeper"),
            survival,
        }
    }

    /// The leaf, and the sink through which it announces completions to `above`.
    fn parts<'a>(
        &'a mut self,
        above: &'a mut dyn CompletionSink,
    ) -> (&'a mut dyn Model, ForwardingSink<'a>) {
        let sink = ForwardingSink {
            announced: &mut self.announced,
            log: &mut self.log,
            survival: &mut *self.survival,
            above,
        };
        (&mut *self.leaf, sink)
    }

    fn current_token(&self, lbn: u64) -> u64 {
        self.now.get(lbn)
    }

    /// Applies the completions up to and including `until`.
    fn settle(&mut self, until: Nanos) {
        while self.complete_next(until) {}
    }

    /// Applies the next completion up to and including `until`; returns whether there was
    /// one.
    fn complete_next(&mut self, until: Nanos) -> bool {
        let Some((at, (id, number))) = self.announced.pop_through(until) else {
            return false;
        };
        if let Some(index) = self.log.under_way.remove(&id) {
            let entry = &mut self.log.entries[index];
            entry.completion = Some((at, number));
            for (lbn, token) in lbns(&entry.extents).zip(&entry.tokens) {
                self.now.set(lbn, *token);
            }
        } else if let Some((extents, mut tokens)) = self.reading.remove(&id) {
            for (lbn, token) in lbns(&extents).zip(&mut tokens) {
                let new = self.current_token(lbn);
                if new != *token && self.coin.chance(0.5) {
                    *token = new;
                }
            }
            self.returned.insert(id, tokens);
        }
        true
    }
}

impl Model for ContentTracker {
    fn blocks(&self) -> u64 {
        self.leaf.blocks()
    }

    fn servers(&self) -> u64 {
        self.leaf.servers()
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        self.settle(request.arrival);
        match request.op {
            Op::Read => {
                let tokens = lbns(&request.extents).map(|lbn| self.current_token(lbn)).collect();
                let reading = (request.extents.clone(), tokens);
                self.reading.insert(request.id, reading);
            }
            Op::Write | Op::Flush => {
                self.log.under_way.insert(request.id, self.log.entries.len());
                self.log.entries.push(Entry {
                    arrival: request.arrival,
                    completion: None,
                    fua: request.flags.contains(Flags::FUA),
                    extents: request.extents.clone(),
                    tokens: if request.op == Op::Write {
                        std::mem::take(&mut self.staged)
                    } else {
                        Vec::new()
                    },
                    shown: 0,
                });
            }
            Op::Trim => {}
        }
        let (leaf, mut forwarding) = self.parts(sink);
        leaf.submit(request, &mut forwarding);
    }

    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        let (leaf, mut forwarding) = self.parts(sink);
        leaf.happen(at, &mut forwarding);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.leaf.next_event()
    }

    fn links(&self) -> Links {
        self.leaf.links()
    }

    fn rest(&mut self, now: Nanos) -> Rest {
        self.leaf.rest(now)
    }

    fn mechanism(&self) -> Option<&dyn Mechanism> {
        self.leaf.mechanism()
    }

    fn background(&self) -> Option<&dyn Background> {
        self.leaf.background()
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        Some(self)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.leaf.report(until, reports);
    }
}

impl Contents for ContentTracker {
    fn stage_write(&mut self, tokens: &[u64]) {
        tokens.clone_into(&mut self.staged);
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        // Applies earlier completions first.
        while !self.returned.contains_key(&id) && self.complete_next(Nanos::MAX) {}
        self.returned.remove(&id).unwrap_or_default()
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        self.settle(Nanos::MAX);
        self.survival.lose_power(at, &mut self.log, &mut self.media, chance);
        if self.survival.forgets() {
            self.now = TokenTable::default();
        }
        // Includes writes that are undone.
        for lbn in self.log.entries.iter().flat_map(|entry| lbns(&entry.extents)) {
            self.now.set(lbn, self.media.get(lbn));
        }
        self.staged.clear();
        self.log = WriteLog::default();
        self.reading.clear();
        self.returned.clear();
        self.announced = CompletionQueue::default();
        self.coin = Stream::new(chance.u64(), "keeper");
        self.leaf = (self.build)();
        self.survival.watch(&mut *self.leaf);
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        self.survival.recovered(at, until)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        self.settle(Nanos::MAX);
        self.current_token(lbn)
    }
}
