//! A leaf that keeps contents: a token per block beside the times of a device.

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

/// Makes the timing of a leaf anew, as after power has come back.
pub type Build = Box<dyn Fn() -> Box<dyn Model> + Send>;

/// A device, or any model without children that keep contents, with what its
/// blocks hold. Times and rows are those of the device alone, bit for bit.
///
/// *Writes.* The blocks of a write change when it completes, whenever that was
/// announced. When power fails, each block of every write under way is old or
/// new. A device that reports writes early keeps them in a volatile buffer: of
/// the versions of a block since the last that was made durable, by `fua` or by
/// a flush that arrived after it was complete, any one may be on the media.
///
/// *Reads.* Whoever reads a block while it is being written may get it old or
/// new: a block that changed between arrival and completion of a read is
/// returned as it was at either, by a coin. Nothing promises more of a queue.
///
/// *Going back.* All writes since power was switched on are remembered with
/// their times, so that power may fail at an instant that is past already: what
/// arrived later has not happened then.
pub struct ContentTracker {
    build: Build,
    leaf: Box<dyn Model>,
    /// Whether it reports writes before they are on the media.
    volatile: bool,
    /// What the blocks held when power was switched on, and hold now.
    media: BTreeMap<u64, u64>,
    now: BTreeMap<u64, u64>,
    /// The tokens of the write to come.
    held: Vec<u64>,
    /// Writes and flushes since power was switched on, as they arrived.
    log: Vec<Entry>,
    /// Reads under way, with what their blocks held at arrival; places in the
    /// log of the others.
    reading: BTreeMap<u64, (Extents, Vec<u64>)>,
    writing: BTreeMap<u64, usize>,
    /// What completed reads returned, until somebody asks.
    returned: BTreeMap<u64, Vec<u64>>,
    announced_queue: Announced,
    coin: Stream,
}

/// A write, or a flush, which has no extents.
struct Entry {
    arrival: Nanos,
    /// With the number of the announcement.
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

/// Hears what the leaf announces, and hands it on.
struct ForwardingSink<'a> {
    announced_queue: &'a mut Announced,
    above: &'a mut dyn CompletionSink,
}

impl CompletionSink for ForwardingSink<'_> {
    fn done(&mut self, row: &Row) {
        // What failed has not completed; its blocks may be old or new.
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
    /// Around the leaf that `build` makes; `volatile` says whether it may
    /// report writes before they are on the media.
    #[must_use]
    pub fn new(volatile: bool, build: Build) -> Self {
        Self {
            leaf: build(),
            build,
            volatile,
            media: BTreeMap::new(),
            now: BTreeMap::new(),
            held: Vec::new(),
            log: Vec::new(),
            reading: BTreeMap::new(),
            writing: BTreeMap::new(),
            returned: BTreeMap::new(),
            announced_queue: Announced::default(),
            coin: Stream::new(0, "keeper"),
        }
    }

    fn holds(&self, lbn: u64) -> u64 {
        self.now.get(&lbn).copied().unwrap_or(0)
    }

    /// Does what completes up to and including `until`.
    fn settle(&mut self, until: Nanos) {
        while (self.announced_queue.due.peek()).is_some_and(|Reverse((at, ..))| *at <= until) {
            self.complete_next();
        }
    }

    /// Does what completes next; whether there was anything.
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
                let new = self.holds(lbn);
                if new != *token && self.coin.chance(0.5) {
                    *token = new;
                }
            }
            self.returned.insert(id, tokens);
        }
        true
    }

    /// Of every block written since power was switched on, what is on the
    /// media when it fails at `at`.
    fn survivors(&self, at: Nanos, chance: &mut Stream) -> BTreeMap<u64, u64> {
        let happened = self.log.iter().filter(|entry| entry.arrival <= at);
        let (mut complete, mut under_way): (Vec<&Entry>, Vec<&Entry>) =
            happened.partition(|entry| entry.completion.is_some_and(|(end, _)| end <= at));
        complete.sort_by_key(|entry| entry.completion);
        // The versions that may be on the media, with their completions.
        let mut versions: BTreeMap<u64, Vec<(Nanos, u64)>> = BTreeMap::new();
        for entry in complete {
            let end = entry.completion.map_or(Nanos::ZERO, |(end, _)| end);
            for (lbn, token) in lbns(&entry.extents).zip(&entry.tokens) {
                let media = self.media.get(&lbn).copied().unwrap_or(0);
                let of_it = (versions.entry(lbn)).or_insert_with(|| vec![(Nanos::ZERO, media)]);
                if entry.fua || !self.volatile {
                    of_it.clear();
                }
                of_it.push((end, *token));
            }
            if entry.extents.is_empty() {
                for of_it in versions.values_mut() {
                    let durable = of_it.iter().rposition(|(end, _)| *end <= entry.arrival);
                    of_it.drain(..durable.unwrap_or(0));
                }
            }
        }
        let mut media: BTreeMap<u64, u64> = versions
            .into_iter()
            .map(|(lbn, of_it)| (lbn, of_it[chance.below(of_it.len() as u64) as usize].1))
            .collect();
        // Nobody knows in which order it takes up what is under way.
        for last in (1..under_way.len()).rev() {
            under_way.swap(last, chance.below(last as u64 + 1) as usize);
        }
        for entry in under_way {
            let blocks = entry.tokens.len() as u64;
            let (first, end) = match chance.below(4) {
                0 => (0, 0),
                1 => (0, blocks),
                // As far as it came.
                2 => (0, chance.below(blocks + 1)),
                _ => (blocks, blocks),
            };
            for (index, (lbn, token)) in lbns(&entry.extents).zip(&entry.tokens).enumerate() {
                let index = index as u64;
                let by_coin = first == blocks && chance.chance(0.5);
                if (first..end).contains(&index) || by_coin {
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
                let tokens = lbns(&request.extents).map(|lbn| self.holds(lbn)).collect();
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
                        std::mem::take(&mut self.held)
                    } else {
                        Vec::new()
                    },
                });
            }
            Op::Trim => {}
        }
        let mut hear = ForwardingSink {
            announced_queue: &mut self.announced_queue,
            above: sink,
        };
        self.leaf.submit(request, &mut hear);
    }

    fn wake(&mut self, now: Nanos, sink: &mut dyn CompletionSink) {
        let mut hear = ForwardingSink {
            announced_queue: &mut self.announced_queue,
            above: sink,
        };
        self.leaf.wake(now, &mut hear);
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
        tokens.clone_into(&mut self.held);
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        // What completes before it comes first.
        while !self.returned.contains_key(&id) && self.complete_next() {}
        self.returned.remove(&id).unwrap_or_default()
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        self.settle(Nanos::MAX);
        let survivors = self.survivors(at, chance);
        // Also what has not happened after all.
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
        self.held.clear();
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
        self.holds(lbn)
    }
}
