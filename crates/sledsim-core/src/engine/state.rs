//! What a run has counted so far, and when its next observations are due.

use super::{Backlog, Observer, Occupancy, Outcome, Saturated};
use crate::model::{Background, CompletionQueue, CompletionSink, Model, Source};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// How many events pass between two calls of `check`.
const CHECK_EVERY: u64 = 1024;

/// Queues announced completions until they are due, and forwards the rows.
pub(super) struct Collector<'a> {
    pub(super) observer: &'a mut dyn Observer,
    /// The ids of the requests.
    pub(super) completions: CompletionQueue<u64>,
    /// The latest completion.
    pub(super) end: Nanos,
    pub(super) occupancy: Occupancy,
    pub(super) failed: Option<Error>,
}

impl Collector<'_> {
    /// The failure to record a row, if one failed.
    #[inline]
    pub(super) fn check(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

impl CompletionSink for Collector<'_> {
    #[inline]
    fn done(&mut self, row: &Row) {
        debug_assert_eq!(row.parts.total(), row.completion - row.arrival);
        self.completions.push(row.completion, row.id);
        self.end = self.end.max(row.completion);
        self.occupancy.announce(row.id, row.arrival);
        if let Err(error) = self.observer.done(row) {
            self.failed.get_or_insert(error);
        }
    }

    fn note(&mut self, row: &Row) {
        if let Err(error) = self.observer.note(row) {
            self.failed.get_or_insert(error);
        }
    }
}

/// The state of a run between two events.
pub(super) struct RunState<'a> {
    pub(super) collector: Collector<'a>,
    pub(super) submitted: u64,
    pub(super) events: u64,
    /// The latest wake of the model.
    pub(super) idle: Nanos,
    /// When the observer is called next; [`Nanos::MAX`] for never.
    pub(super) tick: Nanos,
    /// The request before which the observer is called.
    pub(super) observe_next: Option<u64>,
    /// Whether no more requests are taken.
    pub(super) enough: bool,
    pub(super) backlog: Backlog,
    pub(super) saturated: Option<Saturated>,
}

impl<'a> RunState<'a> {
    /// The state at the start.
    pub(super) fn new(observer: &'a mut dyn Observer, model: &dyn Model) -> Result<Self> {
        let tick = observer.tick(Nanos::ZERO, model)?.unwrap_or(Nanos::MAX);
        Ok(Self {
            collector: Collector {
                observer,
                completions: CompletionQueue::default(),
                end: Nanos::ZERO,
                occupancy: Occupancy::default(),
                failed: None,
            },
            submitted: 0,
            events: 0,
            idle: Nanos::ZERO,
            tick,
            observe_next: Some(0),
            enough: false,
            backlog: Backlog::new(model.servers()),
            saturated: None,
        })
    }

    /// Tells the observer of the next arrival, if it wants to know.
    #[inline]
    pub(super) fn observe_arrival(&mut self, now: Nanos, model: &dyn Model) {
        let id = self.submitted;
        if self.observe_next == Some(id) {
            let Collector { observer, occupancy, .. } = &mut self.collector;
            self.observe_next = observer.arriving(now, id, model, occupancy);
        }
    }

    /// Counts an arrival.
    #[inline]
    pub(super) fn arrive(&mut self, now: Nanos) {
        let found = self.backlog.arrive(now);
        self.collector.occupancy.arrive(now, found);
    }

    /// Counts the completion that is due at `at`; returns the id of the request.
    #[inline]
    pub(super) fn complete(&mut self, at: Nanos) -> u64 {
        let (_, id) = self.collector.completions.pop().expect("one is due");
        self.backlog.complete(at);
        self.collector.occupancy.complete(id, at);
        id
    }

    /// Whether more than `most` requests are outstanding `now`: the load has then
    /// saturated the device.
    #[inline]
    pub(super) fn is_saturated(&mut self, now: Nanos, most: u64) -> bool {
        let completions = &self.collector.completions;
        let queue = self.submitted - completions.announced();
        let is_saturated = queue + completions.len() as u64 > most;
        if is_saturated {
            self.saturated = Some(Saturated { at: now, queue });
        }
        is_saturated
    }

    /// Counts an event, and periodically calls `check` and asks whether the run has enough
    /// requests; whether no more are taken from now on.
    #[inline]
    pub(super) fn count_event(
        &mut self,
        source: &dyn Source,
        model: &dyn Model,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<bool> {
        self.events += 1;
        if !self.events.is_multiple_of(CHECK_EVERY) {
            return Ok(false);
        }
        check(Progress {
            completed: self.collector.completions.announced(),
            requests: source.requests(),
            share: source.share(),
        })?;
        let is_done = model.background().is_some_and(Background::ends_run);
        let ends = !self.enough && (is_done || self.collector.observer.enough());
        self.enough |= ends;
        Ok(ends)
    }

    /// How the run ended.
    pub(super) fn outcome(mut self) -> Outcome {
        // Of a run that is given up, some completions are still to come.
        while let Some((at, id)) = self.collector.completions.pop() {
            self.collector.occupancy.complete(id, at);
        }
        self.collector.occupancy.give_up();
        Outcome {
            submitted: self.submitted,
            completed: self.collector.completions.announced(),
            end: self.collector.end,
            idle: self.idle.max(self.collector.end),
            saturated: self.saturated,
            backlog: self.saturated.is_none().then_some(self.backlog),
            occupancy: self.collector.occupancy,
        }
    }
}
