//! Is energy power times time, and do policies and savings agree with theory?

mod policies;
mod spindles;
mod states;
mod tips;

use crate::common::{DISK_POWER, device, energy, run_open};
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::model::{Energy, Model};
use sledsim_core::queueing::schedulers::Fcfs;

type Keys<'a> = [(&'a str, &'a str)];

fn disk_keys<'a>(more: &Keys<'a>) -> Vec<(&'a str, &'a str)> {
    DISK_POWER.iter().chain(more).copied().collect()
}

/// Without overhead, bus and buffer, so that rows tell all.
fn bare_disk<'a>(more: &Keys<'a>) -> Vec<(&'a str, &'a str)> {
    let bare = [
        ("buffer.keep", "'nothing'"),
        ("buffer.read_ahead", "'none'"),
        ("buffer.read_free_blocks", "false"),
        ("buffer.whole_track", "false"),
        ("buffer.write_back", "'none'"),
        ("overheads.write_miss_after_read_ms", "0"),
        ("overheads.write_miss_after_write_ms", "0"),
        ("bus_ms_per_block", "0"),
    ];
    disk_keys(&[&bare[..], more].concat())
}

fn bare_sled<'a>(more: &Keys<'a>) -> Vec<(&'a str, &'a str)> {
    let bare = [("command_overhead_ms", "0"), ("bus_ms_per_block", "0")];
    [&bare[..], more].concat()
}

fn model(name: &str, keys: &Keys<'_>) -> Box<dyn Model> {
    device(name, keys).build(&|| Box::<Fcfs>::default()).0
}

/// Requests of up to `most` blocks after exponential pauses.
fn poisson(blocks: u64, requests: u64, mean_s: f64, most: u64, seed: u64) -> Vec<Request> {
    let mut random = Stream::new(seed, "power");
    let mut at = 0.0;
    (0..requests)
        .map(|id| {
            at += random.exponential(mean_s);
            let size = 1 + random.below(most);
            let op = if random.chance(0.67) { Op::Read } else { Op::Write };
            let lbn = random.below(blocks - size);
            Request::new(id, Nanos::from_s(at), op, lbn, size as u32)
        })
        .collect()
}

fn run(name: &str, keys: &Keys<'_>, requests: &[Request]) -> (Vec<Row>, Energy, Nanos) {
    let mut model = model(name, keys);
    let rows = run_open(&mut *model, requests).done;
    let end = rows.iter().map(|row| row.completion).max().expect("rows");
    let energy = energy(&*model, end);
    (rows, energy, end)
}

fn close(ours: f64, theirs: f64, tolerance: f64) {
    assert!((ours / theirs - 1.0).abs() < tolerance, "{ours} {theirs}");
}

/// Pauses of the mechanism before each row, in ns; rows in the order of service.
fn pauses(rows: &[Row], ready: Nanos) -> Vec<u64> {
    let mut free = ready;
    rows.iter()
        .map(|row| {
            let pause = row.start.since(free);
            free = free.max(row.completion - row.parts.bus);
            pause.0
        })
        .collect()
}
