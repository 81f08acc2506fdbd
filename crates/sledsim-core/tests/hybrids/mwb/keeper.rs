//! Children that keep contents, and one with random times.

use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::model::contents::Contents;
use sledsim_core::model::{CompletionSink, Model, Report};
use std::collections::{BTreeMap, BTreeSet};

pub type Make = Box<dyn Fn() -> Box<dyn Model> + Send>;

/// Serves any number of requests concurrently, each for a random time, so that
/// they complete in any order.
pub struct Fickle {
    pub blocks: u64,
    pub chance: Stream,
    pub most_ns: u64,
}

impl Model for Fickle {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        let took = Nanos(1 + self.chance.below(self.most_ns));
        let mut row = Row::of(&request, 1);
        row.start = row.arrival;
        row.completion = row.arrival + took;
        row.parts.other = took;
        sink.done(&row);
    }

    fn happen(&mut self, _now: Nanos, _answers: &mut dyn CompletionSink) {}

    fn next_event(&self) -> Option<Nanos> {
        None
    }

    fn report(&self, _until: Nanos, reports: &mut Vec<Report>) {
        reports.push(Report { name: "fickle".into(), ..Report::default() });
    }
}

/// Any device with a token for every block. A write is on the media when it is
/// complete; when power fails, any of its blocks may be.
pub struct ContentTracker {
    make: Make,
    inner: Box<dyn Model>,
    tokens: BTreeMap<u64, u64>,
    held: Option<Vec<u64>>,
    under_way: BTreeMap<u64, (Request, Vec<u64>)>,
    due: BTreeSet<(Nanos, u64, u64)>,
    results: BTreeMap<u64, Vec<u64>>,
    sequence: u64,
}

struct Tap<'a> {
    due: &'a mut BTreeSet<(Nanos, u64, u64)>,
    sequence: &'a mut u64,
    above: &'a mut dyn CompletionSink,
}

impl CompletionSink for Tap<'_> {
    fn done(&mut self, row: &Row) {
        *self.sequence += 1;
        self.due.insert((row.completion, *self.sequence, row.id));
        self.above.done(row);
    }

    fn note(&mut self, row: &Row) {
        self.above.note(row);
    }
}

fn lbns(request: &Request) -> impl Iterator<Item = u64> + '_ {
    request.extents.iter().flat_map(|e| e.lbn..e.end())
}

impl ContentTracker {
    pub fn new(make: Make) -> Self {
        Self {
            inner: make(),
            make,
            tokens: BTreeMap::new(),
            held: None,
            under_way: BTreeMap::new(),
            due: BTreeSet::new(),
            results: BTreeMap::new(),
            sequence: 0,
        }
    }

    fn complete_next(&mut self) -> u64 {
        let (_, _, id) = self.due.pop_first().expect("something is due");
        let (request, tokens) = self.under_way.remove(&id).expect("under way");
        match request.op {
            Op::Write => self.tokens.extend(lbns(&request).zip(tokens)),
            Op::Read => {
                let token = |lbn| self.tokens.get(&lbn).copied().unwrap_or(0);
                let got = lbns(&request).map(token).collect();
                self.results.insert(id, got);
            }
            Op::Flush | Op::Trim => {}
        }
        id
    }
}

impl Contents for ContentTracker {
    fn stage_write(&mut self, tokens: &[u64]) {
        assert!(self.held.is_none(), "tokens held twice");
        self.held = Some(tokens.to_vec());
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        loop {
            if let Some(tokens) = self.results.remove(&id) {
                return tokens;
            }
            self.complete_next();
        }
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        while self.due.first().is_some_and(|due| due.0 <= at) {
            self.complete_next();
        }
        let mut torn: Vec<_> = std::mem::take(&mut self.under_way).into_values().collect();
        if chance.chance(0.5) {
            torn.reverse();
        }
        for (request, tokens) in torn {
            let share = [0.0, 0.3, 0.8, 1.0][chance.below(4) as usize];
            if request.op == Op::Write {
                for (lbn, token) in lbns(&request).zip(tokens) {
                    if chance.chance(share) {
                        self.tokens.insert(lbn, token);
                    }
                }
            }
        }
        self.due.clear();
        self.results.clear();
        self.held = None;
        self.inner = (self.make)();
    }

    fn recover_until(&mut self, at: Nanos, _until: Nanos) -> Option<Nanos> {
        Some(at)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        // With nothing under way all that is due has been done.
        let due = self.due.iter().map(|(_, _, id)| &self.under_way[id]);
        let writes = due.flat_map(|(request, tokens)| lbns(request).zip(tokens));
        let last = writes.filter(|write| write.0 == lbn).last();
        let kept = || self.tokens.get(&lbn).copied().unwrap_or(0);
        last.map_or_else(kept, |write| *write.1)
    }
}

impl Model for ContentTracker {
    fn blocks(&self) -> u64 {
        self.inner.blocks()
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        let tokens = match request.op {
            Op::Write => self.held.take().expect("tokens before a write"),
            _ => Vec::new(),
        };
        if request.op == Op::Write {
            assert_eq!(tokens.len(), request.blocks() as usize, "{request:?}");
        }
        let twice = self.under_way.insert(request.id, (request.clone(), tokens));
        assert!(twice.is_none(), "an id twice");
        let mut tap = Tap { due: &mut self.due, sequence: &mut self.sequence, above: sink };
        self.inner.submit(request, &mut tap);
    }

    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        let mut tap = Tap { due: &mut self.due, sequence: &mut self.sequence, above: sink };
        self.inner.happen(at, &mut tap);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.inner.next_event()
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        Some(self)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.inner.report(until, reports);
    }
}
