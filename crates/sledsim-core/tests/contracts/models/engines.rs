//! Alternative engines: one on a clock that is late, and one with a sorted list of
//! events.

use super::list::MODELS;
use super::{Load, Rows, requests, run};
use sledsim_base::error::Result;
use sledsim_base::random::Stream;
use sledsim_base::request::Request;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::engine::{Limits, simulate};
use sledsim_core::model::source::Source;
use sledsim_core::model::{CompletionSink, Model};
use std::collections::BTreeMap;

/// As a real clock does: sleeps until something is due, oversleeps at random, then
/// hands over all that has arrived by now and wakes the model for now.
fn late_clock(model: &mut dyn Model, requests: &[Request], seed: u64) -> Vec<Row> {
    let mut rows = Rows::default();
    let mut lateness = Stream::new(seed, "lateness");
    let mut arrivals = requests.iter().peekable();
    let mut now = Nanos::ZERO;
    loop {
        let arrival = arrivals.peek().map(|request| request.arrival);
        let Some(due) = [arrival, model.next_event()].into_iter().flatten().min() else {
            return rows.done;
        };
        let late = lateness.below(3_000_000) * lateness.below(2) + lateness.below(100_000);
        now = now.max(due) + Nanos(late);
        while let Some(request) = arrivals.next_if(|request| request.arrival <= now) {
            model.submit(request.clone(), &mut rows);
        }
        model.wake(now, &mut rows);
    }
}

#[test]
fn a_late_clock_changes_no_completion() {
    for (name, make) in MODELS {
        let all = requests(400, 1500.0, 11, make().blocks());
        let by_id = |rows: Vec<Row>| -> BTreeMap<u64, Row> {
            rows.into_iter().map(|row| (row.id, row)).collect()
        };
        let (virtual_rows, _) = run(&mut *make(), &mut Load::new(all.clone(), None));
        let virtual_rows = by_id(virtual_rows.done);
        for seed in [1, 2] {
            let late_rows = by_id(late_clock(&mut *make(), &all, seed));
            assert_eq!(late_rows, virtual_rows, "{name}");
        }
    }
}

/// What happened, in order.
#[derive(Debug, PartialEq)]
enum Event {
    Submit(Nanos, u64),
    Happened(Nanos),
    Completed(Nanos, u64),
}

/// Records every call of a model or a source.
struct Log<T> {
    inner: T,
    events: std::sync::Arc<std::sync::Mutex<Vec<Event>>>,
}

impl<T> Log<T> {
    fn push(&self, event: Event) {
        self.events.lock().expect("one thread").push(event);
    }
}

impl Model for Log<Box<dyn Model>> {
    fn blocks(&self) -> u64 {
        self.inner.blocks()
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        self.push(Event::Submit(request.arrival, request.id));
        self.inner.submit(request, sink);
    }

    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        self.push(Event::Happened(at));
        self.inner.happen(at, sink);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.inner.next_event()
    }

    fn report(&self, until: Nanos, reports: &mut Vec<sledsim_core::model::Report>) {
        self.inner.report(until, reports);
    }
}

impl Source for Log<Load> {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        self.inner.next_arrival()
    }

    fn take(&mut self) -> Request {
        self.inner.take()
    }

    fn completed(&mut self, id: u64, at: Nanos) {
        self.push(Event::Completed(at, id));
        self.inner.completed(id, at);
    }

    fn requests(&self) -> Option<u64> {
        None
    }
}

/// The naive engine: one list of all future events, sorted again each time by
/// time, then kind (completion, arrival, wake), then order of entry.
fn sorted_list_engine(source: &mut dyn Source, model: &mut dyn Model) -> Vec<Row> {
    let mut rows = Rows::default();
    let mut completions: Vec<(Nanos, u64)> = Vec::new();
    let mut seen = 0;
    loop {
        for row in &rows.done[seen..] {
            completions.push((row.completion, row.id));
        }
        seen = rows.done.len();
        let mut list: Vec<(Nanos, u8, usize)> = Vec::new();
        list.extend(completions.iter().enumerate().map(|(entry, due)| (due.0, 0, entry)));
        list.extend(source.next_arrival().expect("no errors").map(|at| (at, 1, 0)));
        list.extend(model.next_event().map(|at| (at, 2, 0)));
        list.sort_unstable();
        match list.first().copied() {
            None => return rows.done,
            Some((_, 0, entry)) => {
                let (at, id) = completions.remove(entry);
                source.completed(id, at);
            }
            Some((_, 1, _)) => model.submit(source.take(), &mut rows),
            Some((at, _, _)) => model.wake(at, &mut rows),
        }
    }
}

#[test]
fn a_sorted_list_engine_agrees_event_for_event() {
    for (name, make) in MODELS {
        for depth in [None, Some(1), Some(16)] {
            let all = requests(800, 1100.0, 9, make().blocks());
            let logged = |fast: bool| {
                let events = std::sync::Arc::default();
                let mut model = Log { inner: make(), events: std::sync::Arc::clone(&events) };
                let inner = Load::new(all.clone(), depth);
                let mut source = Log { inner, events: std::sync::Arc::clone(&events) };
                let rows = if fast {
                    let mut rows = Rows::default();
                    let limits = Limits::default();
                    simulate(&mut source, &mut model, &mut rows, limits, &mut |_| Ok(()))
                        .expect("a run without errors");
                    rows.done
                } else {
                    sorted_list_engine(&mut source, &mut model)
                };
                let events = std::mem::take(&mut *events.lock().expect("one thread"));
                (rows, events)
            };
            let (fast, slow) = (logged(true), logged(false));
            assert_eq!(fast.1.len(), slow.1.len(), "{name}: number of events");
            assert!(fast == slow, "{name}, depth {depth:?}: events differ");
        }
    }
}
