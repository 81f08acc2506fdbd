//! Contents of a leaf: a token per block in addition to the times of a device.

use crate::model::Background;
use crate::model::contents::Contents;
use crate::model::links::Links;
use crate::model::mechanism::Mechanism;
use crate::model::{CompletionSink, Model, Report};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extents, Op, Request, lbns};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

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
    media: BTreeMap<u64, u64>,
    now: BTreeMap<u64, u64>,
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
    announced_queue: Announced,
    coin: Stream,
}

/// A write, or a flush, which has no extents.
struct Entry {
    arrival: Nanos,
    /// Time and number of the announcement.
    completion: Option<(Nanos, u64)>,
    fua: bool,
    extents: Extents,
    tokens: Vec<u64>,
}

/// Announced completions: time, number of the announcement, id.
#[derive(Default)]
struct Announced {
    due: BinaryHeap<Reverse<(Nanos, u64, u64)>>,
    announced: u64,
}

/// Records the completions that the leaf announces, and forwards them.
struct ForwardingSink<'a> {
    announced_queue: &'a mut Announced,
    above: &'a mut dyn CompletionSink,
}

impl CompletionSink for ForwardingSink<'_> {
    fn done(&mut self, row: &Row) {
        // A failed request does not complete here; its blocks may be old or new.
        if row.status == Status::Ok {
            let due = (row.completion, self.announced_queue.announced, row.id);
            self.announced_queue.due.push(Reverse(due));
            self.announced_queue.announced += 1;
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
    #[must_use]
    pub fn new(volatile: bool, build: Build) -> Self {
        Self {
            leaf: build(),
            build,
            volatile,
            media: BTreeMap::new(),
            now: BTreeMap::new(),
            staged: Vec::new(),
            log: Vec::new(),
            reading: BTreeMap::new(),
            writing: BTreeMap::new(),
            returned: BTreeMap::new(),
            announced_queue: Announced::default(),
            coin: Stream::new(0, "keeper"),
        }
    }

    fn current_token(&self, lbn: u64) -> u64 {
        self.now.get(&lbn).copied().unwrap_or(0)
    }

    /// Applies the completions up to and including `until`.
    fn settle(&mut self, until: Nanos) {
        while (self.announced_queue.due.peek()).is_some_and(|Reverse((at, ..))| *at <= until) {
            self.complete_next();
        }
    }

    /// Applies the next completion; returns whether there was one.
    fn complete_next(&mut self) -> bool {
        let Some(Reverse((at, number, id))) = self.announced_queue.due.pop() else {
            return false;
        };
        if let Some(index) = self.writing.remove(&id) {
            let entry = &mut self.log[index];
            entry.completion = Some((at, number));
            for (lbn, token) in lbns(&entry.extents).zip(&entry.tokens) {
                self.now.insert(lbn, *token);
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
                let media = self.media.get(&lbn).copied().unwrap_or(0);
                let block_versions =
                    (versions.entry(lbn)).or_insert_with(|| vec![(Nanos::ZERO, media)]);
                if entry.fua || !self.volatile {
                    block_versions.clear();
                }
                block_versions.push((end, *token));
            }
            if entry.extents.is_empty() {
                for block_versions in versions.values_mut() {
                    let durable = block_versions
                        .iter()
                        .rposition(|(end, _)| *end <= entry.arrival);
                    block_versions.drain(..durable.unwrap_or(0));
                }
            }
        }
        let mut media: BTreeMap<u64, u64> = versions
            .into_iter()
            .map(|(lbn, block_versions)| {
                (
                    lbn,
                    block_versions[chance.below(block_versions.len() as u64) as usize].1,
                )
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
                let tokens = lbns(&request.extents)
                    .map(|lbn| self.current_token(lbn))
                    .collect();
                let reading = (request.extents.clone(), tokens);
                self.reading.insert(request.id, reading);
            }
            Op::Write | Op::Flush => {
                self.writing.insert(request.id, self.log.len());
                self.log.push(Entry {
                    arrival: request.arrival,
                    completion: None,
                    fua: request.flags.fua,
                    extents: request.extents.clone(),
                    tokens: if request.op == Op::Write {
                        std::mem::take(&mut self.staged)
                    } else {
                        Vec::new()
                    },
                });
            }
            Op::Trim => {}
        }
        let mut forwarding = ForwardingSink {
            announced_queue: &mut self.announced_queue,
            above: sink,
        };
        self.leaf.submit(request, &mut forwarding);
    }

    fn wake(&mut self, now: Nanos, sink: &mut dyn CompletionSink) {
        let mut forwarding = ForwardingSink {
            announced_queue: &mut self.announced_queue,
            above: sink,
        };
        self.leaf.wake(now, &mut forwarding);
    }

    fn wake_at(&self) -> Option<Nanos> {
        self.leaf.wake_at()
    }

    fn links(&self) -> Links {
        self.leaf.links()
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
        while !self.returned.contains_key(&id) && self.complete_next() {}
        self.returned.remove(&id).unwrap_or_default()
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        self.settle(Nanos::MAX);
        let survivors = self.survivors(at, chance);
        // Includes writes that are undone.
        let touched: Vec<u64> = (self.log.iter())
            .flat_map(|entry| lbns(&entry.extents))
            .collect();
        for lbn in touched {
            if let Some(token) = survivors.get(&lbn) {
                self.media.insert(lbn, *token);
            }
            let token = self.media.get(&lbn).copied().unwrap_or(0);
            self.now.insert(lbn, token);
        }
        self.staged.clear();
        self.log.clear();
        self.reading.clear();
        self.writing.clear();
        self.returned.clear();
        self.announced_queue = Announced::default();
        self.coin = Stream::new(chance.u64(), "keeper");
        self.leaf = (self.build)();
    }

    fn recover_until(&mut self, at: Nanos, _until: Nanos) -> Option<Nanos> {
        Some(at)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        self.settle(Nanos::MAX);
        self.current_token(lbn)
    }
}
