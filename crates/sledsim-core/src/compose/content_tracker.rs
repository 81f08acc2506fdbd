//! Contents of a leaf: a token per block in addition to the times of a device.

use super::media_record::{MediaRecord, PowerFailure, Waiting};
use super::token_table::TokenTable;
use crate::model::Background;
use crate::model::contents::Contents;
use crate::model::links::Links;
use crate::model::mechanism::Mechanism;
use crate::model::{CompletionQueue, CompletionSink, Model, Report, Rest};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Extents, Flags, Op, Request, lbns};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;

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
    /// Whether it reports writes before they are on the media.
    volatile: bool,
    /// The tokens of the blocks at power-on, and now.
    media: TokenTable,
    now: TokenTable,
    /// The tokens of the next write.
    staged: Vec<u64>,
    /// Writes and flushes since power-on, in the order of arrival.
    log: Vec<Entry>,
    /// Reads under way, with the tokens of their blocks at arrival; log indices of
    /// writes and flushes under way.
    reading: BTreeMap<u64, (Extents, Vec<u64>)>,
    writing: BTreeMap<u64, usize>,
    /// The tokens that completed reads returned, until they are taken.
    returned: BTreeMap<u64, Vec<u64>>,
    /// Announced completions: id, and number of the announcement.
    announced: CompletionQueue<(u64, u64)>,
    coin: Stream,
    /// The media by the passes of the leaf; without it, as a host may assume them.
    record: Option<MediaRecord>,
}

/// A write, or a flush, which has no extents.
struct Entry {
    arrival: Nanos,
    /// Time and number of the announcement.
    completion: Option<(Nanos, u64)>,
    fua: bool,
    extents: Extents,
    tokens: Vec<u64>,
    /// Blocks that the leaf has shown to be written.
    shown: u32,
}

impl Entry {
    fn waiting(&self) -> Waiting<'_> {
        Waiting { extents: &self.extents, tokens: &self.tokens }
    }
}

/// Records the completions that the leaf announces, and forwards them.
struct ForwardingSink<'a> {
    announced: &'a mut CompletionQueue<(u64, u64)>,
    log: &'a mut [Entry],
    writing: &'a BTreeMap<u64, usize>,
    record: Option<&'a mut MediaRecord>,
    volatile: bool,
    above: &'a mut dyn CompletionSink,
}

impl CompletionSink for ForwardingSink<'_> {
    fn done(&mut self, row: &Row) {
        if let Some(record) = &mut self.record {
            take_shown(record, self.log, self.writing);
            if let Some(index) = self.writing.get(&row.id).filter(|_| row.status == Status::Ok) {
                let entry = &self.log[*index];
                let held = self.volatile && entry.shown == 0;
                match entry.shown < entry.tokens.len() as u32 {
                    true if held => record.hold(&entry.waiting()),
                    true => record.land(&entry.waiting(), row.completion),
                    false => {}
                }
            }
        }
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
        Self {
            leaf: build(),
            build,
            volatile,
            media: TokenTable::default(),
            now: TokenTable::default(),
            staged: Vec::new(),
            log: Vec::new(),
            reading: BTreeMap::new(),
            writing: BTreeMap::new(),
            returned: BTreeMap::new(),
            announced: CompletionQueue::default(),
            coin: Stream::new(0, "keeper"),
            record: None,
        }
    }

    /// Tracks the media of the leaf that `build` makes, pass by pass.
    pub fn on_media(volatile: bool, build: Build, failure: PowerFailure) -> Self {
        let mut tracker = Self::new(volatile, build);
        let record = MediaRecord::new(failure);
        record.watch(&mut *tracker.leaf);
        tracker.record = Some(record);
        tracker
    }

    /// The leaf, and the sink through which it announces completions to `above`.
    fn parts<'a>(
        &'a mut self,
        above: &'a mut dyn CompletionSink,
    ) -> (&'a mut dyn Model, ForwardingSink<'a>) {
        let sink = ForwardingSink {
            announced: &mut self.announced,
            log: &mut self.log,
            writing: &self.writing,
            record: self.record.as_mut(),
            volatile: self.volatile,
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
        if let Some(index) = self.writing.remove(&id) {
            let entry = &mut self.log[index];
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

    /// The token on the media of every block written since power-on, if power fails
    /// at `at`.
    fn survivors(&self, at: Nanos, chance: &mut Stream) -> BTreeMap<u64, u64> {
        let arrived = self.log.iter().filter(|entry| entry.arrival <= at);
        let (mut complete, mut under_way): (Vec<&Entry>, Vec<&Entry>) =
            arrived.partition(|entry| entry.completion.is_some_and(|(end, _)| end <= at));
        complete.sort_by_key(|entry| entry.completion);
        // The versions that may be on the media, with their completions.
        let mut versions: BTreeMap<u64, Vec<(Nanos, u64)>> = BTreeMap::new();
        for entry in complete {
            let end = entry.completion.map_or(Nanos::ZERO, |(end, _)| end);
            for (lbn, token) in lbns(&entry.extents).zip(&entry.tokens) {
                let media = self.media.get(lbn);
                let block_versions =
                    (versions.entry(lbn)).or_insert_with(|| vec![(Nanos::ZERO, media)]);
                if entry.fua || !self.volatile {
                    block_versions.clear();
                }
                block_versions.push((end, *token));
            }
            if entry.extents.is_empty() {
                for block_versions in versions.values_mut() {
                    let durable = block_versions.iter().rposition(|(end, _)| *end <= entry.arrival);
                    block_versions.drain(..durable.unwrap_or(0));
                }
            }
        }
        let mut media: BTreeMap<u64, u64> = versions
            .into_iter()
            .map(|(lbn, block_versions)| {
                (lbn, block_versions[chance.below(block_versions.len() as u64) as usize].1)
            })
            .collect();
        // The device may have served the requests under way in any order.
        for last in (1..under_way.len()).rev() {
            under_way.swap(last, chance.below(last as u64 + 1) as usize);
        }
        for entry in under_way {
            let blocks = entry.tokens.len() as u64;
            let (first, end) = match chance.below(4) {
                0 => (0, 0),
                1 => (0, blocks),
                // A prefix.
                2 => (0, chance.below(blocks + 1)),
                _ => (blocks, blocks),
            };
            for (index, (lbn, token)) in lbns(&entry.extents).zip(&entry.tokens).enumerate() {
                let index = index as u64;
                let at_random = first == blocks && chance.chance(0.5);
                if (first..end).contains(&index) || at_random {
                    media.insert(lbn, *token);
                }
            }
        }
        media
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
                self.writing.insert(request.id, self.log.len());
                self.log.push(Entry {
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
        let survivors = match &mut self.record {
            None => self.survivors(at, chance),
            Some(record) => {
                take_shown(record, &mut self.log, &self.writing);
                record.lose_power(at, &mut self.media);
                if record.failure.forgets {
                    self.now = TokenTable::default();
                }
                BTreeMap::new()
            }
        };
        // Includes writes that are undone.
        let touched: Vec<u64> = (self.log.iter()).flat_map(|entry| lbns(&entry.extents)).collect();
        for lbn in touched {
            if let Some(token) = survivors.get(&lbn) {
                self.media.set(lbn, *token);
            }
            self.now.set(lbn, self.media.get(lbn));
        }
        self.staged.clear();
        self.log.clear();
        self.reading.clear();
        self.writing.clear();
        self.returned.clear();
        self.announced = CompletionQueue::default();
        self.coin = Stream::new(chance.u64(), "keeper");
        self.leaf = (self.build)();
        if let Some(record) = &self.record {
            record.watch(&mut *self.leaf);
        }
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        let startup = self.record.as_ref().map_or(Nanos::ZERO, |record| record.failure.startup);
        Some(at + startup).filter(|ready| self.record.is_none() || *ready <= until)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        self.settle(Nanos::MAX);
        self.current_token(lbn)
    }
}

/// Takes the writes to the media that the leaf has shown.
fn take_shown(record: &mut MediaRecord, log: &mut [Entry], writing: &BTreeMap<u64, usize>) {
    let mut covered: Vec<usize> = Vec::new();
    let covers = |index: &usize, lbn: u64, by: Nanos| {
        let entry = &log[*index];
        let has = |extent: &Extent| (extent.lbn..extent.end()).contains(&lbn);
        entry.arrival <= by && entry.extents.iter().any(has)
    };
    record.take_shown(
        |id| writing.get(&id).copied(),
        |lbn, by| writing.values().copied().find(|index| covers(index, lbn, by)),
        |index| log[index].waiting(),
        |index| covered.push(index),
    );
    for index in covered {
        log[index].shown += 1;
    }
}
