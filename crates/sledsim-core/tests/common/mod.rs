//! Helpers shared by the integration tests.

pub mod policies;
mod reference;
pub mod refusals;
pub mod sleds;

pub use reference::reference;

use flate2::read::GzDecoder;
use sledsim_base::request::{NO_REQUEST, OWN_WORK, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::{Device, Override};
use sledsim_core::model::{CompletionSink, Energy, Model, Report};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// Power values of a disk as in docs/reference/power.md, for a spindle that is up in 40 ms.
pub const DISK_POWER: [(&str, &str); 6] = [
    ("power.seek_w", "12.5"),
    ("power.transfer_w", "12"),
    ("power.idle_w", "7.5"),
    ("power.standby_w", "1"),
    ("power.spin_up_w", "20"),
    ("power.spin_up_ms", "40"),
];

/// A device with overrides written as in TOML.
pub fn device(name: &str, overrides: &[(&str, &str)]) -> Device {
    let overrides: Vec<Override> = overrides
        .iter()
        .map(|(key, value)| {
            let value = value.parse().expect("a TOML value");
            ((*key).to_owned(), value, format!("test {key}"))
        })
        .collect();
    Device::resolve(name, &overrides).expect("a device")
}

/// The value of a resolved key of a device, its source and its origin.
pub fn entry<'a>(device: &'a Device, key: &str) -> (&'a toml_edit::Value, Option<&'a str>, String) {
    let found = device.resolved_keys().entries().find(|(other, ..)| *other == key);
    let (_, value, source, origin) = found.expect("a key");
    (value, source, origin)
}

/// Lines of a CSV file, gzip or plain, split into fields; the header left out.
pub fn csv(path: &PathBuf) -> Vec<Vec<String>> {
    let mut text = String::new();
    let mut file = File::open(path).expect("a reference file");
    if path.extension().is_some_and(|ending| ending == "gz") {
        GzDecoder::new(file).read_to_string(&mut text).expect("gzip text");
    } else {
        file.read_to_string(&mut text).expect("text");
    }
    let fields = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().skip(1).map(fields).collect()
}

/// The request that a row of an inner device serves; none if it is for work of the outer
/// device's own, which the row's id says, too.
pub fn served(row: &Row) -> Option<u64> {
    let parent = row.parent.expect("a parent");
    assert_eq!(row.id >= OWN_WORK, parent == NO_REQUEST, "{row:?}");
    (parent != NO_REQUEST).then_some(parent)
}

/// Rows as they are announced.
#[derive(Default)]
pub struct Rows {
    pub done: Vec<Row>,
    pub notes: Vec<Row>,
}

impl CompletionSink for Rows {
    fn done(&mut self, row: &Row) {
        self.done.push(*row);
    }

    fn note(&mut self, row: &Row) {
        self.notes.push(*row);
    }
}

/// Submits the requests to `model` at their arrivals, and wakes it on time.
pub fn run_open(model: &mut dyn Model, requests: &[Request]) -> Rows {
    let mut rows = Rows::default();
    run_through(model, requests, &mut rows);
    rows
}

/// As [`run_open`], with another sink.
pub fn run_through(model: &mut dyn Model, requests: &[Request], sink: &mut dyn CompletionSink) {
    for request in requests {
        while let Some(at) = model.next_event().filter(|at| *at < request.arrival) {
            model.wake(at, sink);
        }
        model.submit(request.clone(), sink);
    }
    while let Some(at) = model.next_event() {
        model.wake(at, sink);
    }
}

/// What a model and its parts did until then.
pub fn reports(model: &dyn Model, until: Nanos) -> Vec<Report> {
    let mut reports = Vec::new();
    model.report(until, &mut reports);
    reports
}

/// The energy of a model and its parts until then.
pub fn energy(model: &dyn Model, until: Nanos) -> Energy {
    let energies = reports(model, until).into_iter().map(|report| report.energy.expect("energy"));
    energies.fold(Energy::default(), |sum, one| sum + one)
}
