//! Keeps the requests in flight, until each has both its completion and its answer.

use super::reply::{Answer, CompletionObserver, Reply};
use rustc_hash::FxBuildHasher;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::{Parts, Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::model::{CompletionQueue, CompletionSink};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// A request in flight.
pub(super) struct Pending {
    /// Its row. Until the model has completed it, it is never complete.
    row: Row,
    /// Its answer, once its data have been moved.
    pub(super) answer: Option<(Box<dyn Reply>, Answer)>,
}

impl Pending {
    /// That of `request`, whose arrival is on the timeline.
    pub(super) fn of(request: &Request) -> Self {
        Self { row: Row { completion: Nanos::MAX, ..Row::of(request, 0) }, answer: None }
    }
}

/// A request that is due and has its answer.
pub(super) struct Ready {
    pub(super) row: Row,
    pub(super) reply: Box<dyn Reply>,
    pub(super) answer: Answer,
}

/// The requests in flight, and their announced completions.
pub(super) struct InFlight {
    pub(super) pending: HashMap<u64, Pending, FxBuildHasher>,
    /// Ids of requests by completion time.
    pub(super) completions: CompletionQueue<u64>,
    observer: Arc<dyn CompletionObserver>,
    /// Zero of the model's clock on that of the timeline: when power came on last.
    pub(super) zero: Nanos,
    /// Whether the model keeps contents.
    keeps: bool,
    /// Ids and completions of requests since power came on last, if they are kept.
    pub(super) completed: Option<Vec<(u64, Nanos)>>,
    /// Reads no longer in flight, whose contents the model still keeps.
    pub(super) read: Vec<u64>,
}

impl InFlight {
    /// None yet. `keeps` says whether the model keeps contents.
    pub(super) fn new(observer: Arc<dyn CompletionObserver>, keeps: bool) -> Self {
        Self {
            pending: HashMap::default(),
            completions: CompletionQueue::default(),
            observer,
            zero: Nanos::ZERO,
            keeps,
            completed: None,
            read: Vec::new(),
        }
    }

    /// The row with the times of the timeline.
    fn on_timeline(&self, row: &Row) -> Row {
        Row {
            arrival: row.arrival + self.zero,
            start: row.start + self.zero,
            completion: row.completion + self.zero,
            ..*row
        }
    }

    /// Removes the request if its completion time has passed and its answer is there.
    pub(super) fn take(&mut self, id: u64, now: Nanos) -> Option<Ready> {
        let Entry::Occupied(entry) = self.pending.entry(id) else {
            return None;
        };
        let pending = entry.get();
        if pending.answer.is_none() || pending.row.completion > now {
            return None;
        }
        let Pending { row, answer, .. } = entry.remove();
        if self.keeps && row.op == Op::Read {
            self.read.push(id);
        }
        let (reply, answer) = answer?;
        Some(Ready { row, reply, answer })
    }

    /// The first announced completion of a request still in flight.
    pub(super) fn first(&mut self) -> Option<Nanos> {
        while let Some((at, id)) = self.completions.peek() {
            if self.pending.contains_key(id) {
                return Some(at);
            }
            self.completions.pop();
        }
        None
    }

    /// Fails all requests that are not complete at `at`.
    pub(super) fn fail(&mut self, at: Nanos) {
        let mut open: Vec<Row> = self.pending.values().map(|pending| pending.row).collect();
        open.retain(|row| row.completion > at);
        open.sort_unstable_by_key(|row| row.id);
        for row in open {
            let at = at.max(row.arrival);
            let parts = Parts { queue: at - row.arrival, ..Parts::default() };
            self.decide(Row { start: at, completion: at, parts, status: Status::Error, ..row });
        }
    }

    /// Takes the row of a request, with the times of the timeline.
    fn decide(&mut self, row: Row) {
        self.observer.decided(&row);
        self.completions.push(row.completion, row.id);
        self.pending.get_mut(&row.id).expect("what completes is in flight").row = row;
        if let Some(completed) = &mut self.completed {
            completed.push((row.id, row.completion));
        }
    }
}

impl CompletionSink for InFlight {
    fn done(&mut self, row: &Row) {
        self.decide(self.on_timeline(row));
    }

    fn note(&mut self, _row: &Row) {}
}
