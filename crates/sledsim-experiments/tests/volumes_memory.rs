//! A trace of 1,000 volumes is split in memory that does not depend on its length. One
//! test, as the peak is that of the process.

use sledsim_base::keys::Keys;
use sledsim_experiments::load::Load;
use sledsim_experiments::replay::By;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

const VOLUMES: u64 = 1000;

fn write_trace(path: &Path, requests: u64) {
    let mut file = std::fs::File::create(path).unwrap();
    let mut text = String::new();
    for number in 0..requests {
        // 500 per second; device and LBN from multiplicative sequences.
        let (at, device) = (2 * number, number * 2_654_435_761 % VOLUMES);
        let lbn = number * 2_654_435_761 % 6_749_000;
        writeln!(text, "{at}.000000  {device}  {lbn:>12}    8  1").unwrap();
        if text.len() > 1 << 20 || number + 1 == requests {
            file.write_all(text.as_bytes()).unwrap();
            text.clear();
        }
    }
}

/// The most memory this process ever had, in MiB.
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}

#[test]
fn a_trace_is_split_in_memory_that_does_not_depend_on_its_length() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("many.trace");
    let mut peaks = Vec::new();
    for requests in [800_000, 4_000_000] {
        write_trace(&path, requests);
        let load = Load::trace(&path, Keys::empty("trace")).unwrap();
        let parts = tempfile::TempDir::new_in(folder.path()).unwrap();
        let list = load.partition(By::Volume, parts.path(), 2, &mut |_| Ok(()));
        let list = list.unwrap();
        assert_eq!(list.requests, requests);
        assert_eq!(list.parts.len() as u64, VOLUMES);
        let sum: u64 = list.parts.iter().map(|part| part.requests).sum();
        assert_eq!(sum, requests);
        peaks.extend(peak_mib());
    }
    let [short, long] = peaks[..] else {
        println!("skipped: the system does not tell the peak memory");
        return;
    };
    assert!(long - short < 24.0, "{} MiB more", long - short);
}
