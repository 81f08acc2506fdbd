//! A trace of 200 MB is replayed in constant memory. One test, as the peak is
//! that of the process.

use serde_json::{Value, json};
use sledsim_base::keys::Keys;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::load::Load;
use sledsim_experiments::run::{RowsTo, run};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// 200 MB or a little more: returns the number of requests.
fn write_trace(path: &Path) -> u64 {
    let mut file = std::fs::File::create(path).unwrap();
    let (mut text, mut requests, mut bytes) = (String::new(), 0, 0);
    while bytes < 200_000_000 {
        text.clear();
        for _ in 0..10_000 {
            // 500 per second; device and LBN from a multiplicative sequence.
            let at = requests * 2_000_003;
            let lbn = requests * 2_654_435_761 % 6_749_000;
            let (ms, ns) = (at / 1_000_000, at % 1_000_000);
            let (device, flags) = (requests % 3, requests % 2);
            writeln!(text, "{ms}.{ns:06}  {device}  {lbn:>12}    8  {flags:08x}").unwrap();
            requests += 1;
        }
        bytes += text.len();
        file.write_all(text.as_bytes()).unwrap();
    }
    requests
}

/// The most memory this process ever had, in MiB.
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}

fn replay(path: &Path, keys: &str) -> Value {
    let load = Load::trace(path, Keys::parse(keys, "my.toml").unwrap()).unwrap();
    let device = Device::resolve("g2", &[]).unwrap();
    let rows = RowsTo::Nowhere;
    let run = run(&device, &load, SchedulerSpec::default(), &rows, &mut |_| Ok(())).unwrap();
    json!(run.document)
}

#[test]
fn two_hundred_megabytes_are_replayed_in_constant_memory() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("long.trace");
    let requests = write_trace(&path);
    let Some(before) = peak_mib() else {
        println!("skipped: the system does not tell the peak memory");
        return;
    };
    let one = replay(&path, "trace_device = \"all\"");
    assert_eq!(one["summary"]["requests"], requests);
    // Two passes, sorted, and devices one after the other: on the same bound.
    let keys = "trace_device = \"separate\"\naddress = \"scale\"\nsort_ms = 100\nrequests = 500000";
    let two = replay(&path, keys);
    assert_eq!(two["summary"]["requests"], 500_000);
    let grown = peak_mib().unwrap() - before;
    assert!(grown < 16.0, "{grown} MiB more");
}
