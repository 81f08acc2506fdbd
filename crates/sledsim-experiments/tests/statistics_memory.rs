//! Statistics take memory as the range of the times demands. One test, as it
//! measures the process.

use sledsim_base::row::{Parts, Row};
use sledsim_base::units::Nanos;
use sledsim_experiments::stats::Stats;

/// Memory that this process may write to, touched or not, in KiB.
fn data_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmData:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A row that seeks, transfers and waits for the bus for times below 2^20 ns.
fn row(ns: u64) -> Row {
    let time = Nanos(ns % (1 << 20));
    Row {
        completion: Nanos(3 * time.0),
        passes: 1,
        parts: Parts { seek: time, transfer: time, bus: time, ..Parts::default() },
        ..Row::default()
    }
}

#[test]
fn memory_grows_with_the_range_of_the_times_alone() {
    const COUNT: usize = 1000;
    let Some(before) = data_kib() else {
        println!("skipped: the system does not tell the memory of a process");
        return;
    };
    let mut all = vec![Stats::new(); COUNT];
    let fresh = (data_kib().unwrap() - before) / COUNT as u64;
    assert!(fresh < 16, "{fresh} KiB before the first row");
    for stats in &mut all {
        stats.record(&row(1_000_000));
    }
    // Five kinds of time, 8 KiB each.
    let one = (data_kib().unwrap() - before) / COUNT as u64 - fresh;
    assert!((40..48).contains(&one), "{one} KiB for a row");
    let stats = &mut all[0];
    let record = |stats: &mut Stats| (0..100_000).for_each(|i| stats.record(&row(i * 2_654_435)));
    record(stats);
    let seen = data_kib().unwrap();
    record(stats);
    let more = data_kib().unwrap().saturating_sub(seen);
    assert!(more < 100, "{more} KiB for 100,000 rows of the same range");
    assert_eq!(stats.requests(), 200_001);
}
