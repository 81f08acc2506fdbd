//! Sleds as mechanisms, and a spy that records the calls of one.

use super::device;
use sledsim_base::request::{Flags, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::devices::mems::sled::Sled;
use sledsim_core::model::mechanism::{Mechanism, Media, Passes, Positions, Tips};
use sledsim_core::model::{Background, BatchPlanner, CompletionSink, Energy};
use std::cell::Cell;
use std::sync::{Arc, Mutex};

/// The sled of a device, on its own.
pub fn sled(name: &str, overrides: &[(&str, &str)]) -> Box<dyn Mechanism> {
    let device = device(name, overrides);
    let spec = device.mems().expect("a MEMS device");
    Box::new(Sled::new(spec.motion(), spec.behaviour).with_parallel(spec.parallel.clone()))
}

/// The events of a station, in order.
#[derive(Clone, Debug)]
pub enum Event {
    /// The mechanism served this from `at` to `end`.
    Served { at: Nanos, end: Nanos, request: Request },
    /// This was announced.
    Done(Row),
}

/// The events of a station, shared by its mechanism and its sink.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<Event>>>);

impl Log {
    fn push(&self, event: Event) {
        self.0.lock().expect("one thread").push(event);
    }

    pub fn events(&self) -> Vec<Event> {
        self.0.lock().expect("one thread").clone()
    }

    pub fn rows(&self) -> Vec<Row> {
        let row = |event| match event {
            Event::Done(row) => Some(row),
            Event::Served { .. } => None,
        };
        let mut rows: Vec<Row> = self.events().into_iter().filter_map(row).collect();
        rows.sort_by_key(|row| row.id);
        rows
    }

    /// The background requests of the station: (at, end, request).
    pub fn background(&self) -> Vec<(Nanos, Nanos, Request)> {
        let own = |event| match event {
            Event::Served { at, end, request } if request.flags.contains(Flags::BACKGROUND) => {
                Some((at, end, request))
            }
            _ => None,
        };
        self.events().into_iter().filter_map(own).collect()
    }
}

impl CompletionSink for Log {
    fn done(&mut self, row: &Row) {
        assert_eq!(row.parts.total(), row.completion - row.arrival, "{row:?}");
        assert!(row.arrival <= row.start && row.start <= row.completion);
        self.push(Event::Done(*row));
    }

    fn note(&mut self, _row: &Row) {}
}

/// A mechanism that records the requests it serves, and counts estimates.
pub struct Spy {
    inner: Box<dyn Mechanism>,
    log: Log,
    pub estimates: Cell<u64>,
}

impl Spy {
    pub fn new(inner: Box<dyn Mechanism>, log: &Log) -> Self {
        Self { inner, log: log.clone(), estimates: Cell::new(0) }
    }
}

impl Positions for Spy {
    fn blocks(&self) -> u64 {
        self.inner.positions().blocks()
    }

    fn estimate(&self, at: Nanos, request: &Request) -> Nanos {
        self.estimates.set(self.estimates.get() + 1);
        self.inner.positions().estimate(at, request)
    }

    fn target_cylinder(&self, request: &Request) -> i64 {
        self.inner.positions().target_cylinder(request)
    }

    fn cylinder(&self, at: Nanos) -> i64 {
        self.inner.positions().cylinder(at)
    }

    fn seek_lower_bound(&self, at: Nanos, cylinder: i64) -> Nanos {
        self.inner.positions().seek_lower_bound(at, cylinder)
    }
}

impl Mechanism for Spy {
    fn positions(&self) -> &dyn Positions {
        self
    }

    fn media(&self) -> &dyn Media {
        self.inner.media()
    }

    fn tips(&mut self) -> Option<&mut dyn Tips> {
        self.inner.tips()
    }

    fn background(&self) -> Option<&dyn Background> {
        None
    }

    fn rest(&mut self, at: Nanos) -> bool {
        let _ = at;
        false
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    fn pass_by(&mut self, lbn: u64) {
        self.inner.pass_by(lbn);
    }

    fn access(&mut self, at: Nanos, request: &Request, passes: &mut Passes, row: &mut Row) {
        self.inner.access(at, request, passes, row);
        let end = at + row.parts.total();
        let request = request.clone();
        self.log.push(Event::Served { at, end, request });
    }

    fn batches(&self) -> Option<&dyn BatchPlanner> {
        self.inner.batches()
    }

    fn energy(&self, until: Nanos) -> Option<Energy> {
        self.inner.energy(until)
    }
}
