//! Failures of sleds cost exactly what the motion of the sled requires. The reference
//! is the same sled without failures, given the repeated passes by hand.

mod losses;
mod retries;
mod tips;

use crate::common::{device, reports, run_open};
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::devices::mems::faults::Faulty;
use sledsim_core::devices::mems::sled::Sled;
use sledsim_core::model::mechanism::Mechanism;
use sledsim_core::model::{Model, Report};
use sledsim_core::queueing::schedulers::SchedulerSpec;

type Keys<'a> = &'a [(&'a str, &'a str)];

const BUFFER: &str =
    "{ size_kib = 512, segments = 4, read_ahead = 'track', write_back_segments = 2 }";

/// An open load, a third of it writes, of 1 to 40 blocks.
fn random_load(blocks: u64, count: u64, gap_ns: u64, seed: u64) -> Vec<Request> {
    let mut random = Stream::new(seed, "load");
    let mut at = Nanos::ZERO;
    (0..count)
        .map(|id| {
            at += Nanos(random.below(2 * gap_ns));
            let size = 1 + random.below(40) as u32;
            let op = if random.chance(0.33) { Op::Write } else { Op::Read };
            Request::new(id, at, op, random.below(blocks - 40), size)
        })
        .collect()
}

fn run(device: &Device, scheduler: &str, requests: &[Request]) -> (Vec<Row>, Report) {
    let choice = SchedulerSpec::named(scheduler).expect("a scheduler");
    let (mut model, _) = device.build(&|| choice.make());
    run_model(&mut *model, requests)
}

fn run_model(model: &mut dyn Model, requests: &[Request]) -> (Vec<Row>, Report) {
    let mut rows = run_open(model, requests).done;
    rows.sort_by_key(|row| row.id);
    assert_eq!(rows.len(), requests.len());
    let mut end = Nanos::ZERO;
    for row in &rows {
        assert_eq!(row.parts.total(), row.completion - row.arrival, "{row:?}");
        end = end.max(row.completion);
    }
    (rows, reports(&*model, end).remove(0))
}

fn count(report: &Report, name: &str) -> u64 {
    let found = report.counts.iter().find(|(other, _)| *other == name);
    found.unwrap_or_else(|| panic!("no {name} in {:?}", report.counts)).1
}

/// The mechanism of g2 with faults.
fn faulty(keys: Keys<'_>) -> Box<dyn Mechanism> {
    let device = device("g2", keys);
    let mems = device.mems().expect("a sled");
    let sled = Sled::new(mems.motion(), mems.behaviour).with_parallel(mems.parallel.clone());
    let faults = mems.faults.as_ref().expect("a table [faults]");
    Box::new(Faulty::new(sled, mems.geometry, faults, 0.0))
}

/// The device of `keys`, and the same without failures.
fn with_and_without(keys: Keys<'_>) -> (Device, Device) {
    let no_faults = |(key, _): &&(&str, &str)| !key.starts_with("faults");
    let without: Vec<_> = keys.iter().filter(no_faults).copied().collect();
    (device("g2", keys), device("g2", &without))
}
