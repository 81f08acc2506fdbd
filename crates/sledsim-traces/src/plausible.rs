//! Checks whether the first records, as read in one format, are plausible.

use crate::format::Clock;
use crate::record::Record;

/// The highest plausible rate in requests per s: ten times a fast SSD's.
const HIGHEST_RATE: f64 = 1e7;
/// The lowest plausible rate: one request in 100 s.
const LOWEST_RATE: f64 = 0.01;
/// Common rates. A format with a rate outside is not chosen by the file's
/// ending if another format gives a common rate.
const COMMON_RATES: std::ops::RangeInclusive<f64> = 0.05..=1e6;
/// Rates below one per s with all times in whole seconds are rare, too.
const SECOND_NS: u64 = 1_000_000_000;
/// The longest plausible time since the start of a recording: ten years, in s.
const LONGEST_S: f64 = 3.2e8;
/// The shortest plausible recording, in s.
const SHORTEST_S: f64 = 1e-6;
/// The largest plausible request: 1 GiB.
const LARGEST_BYTES: u64 = 1 << 30;
/// If this many records have all different devices, the field is no device.
const ALL_DEVICES: usize = 20;

/// The reason why `records` are implausible, if there is one.
pub fn doubt(records: &[Record], clock: Clock) -> Option<String> {
    let last = records.iter().map(|record| record.time).max()?.s();
    if clock != Clock::Closed {
        if let Some(rate) = rate(records).filter(|rate| *rate > HIGHEST_RATE) {
            return Some(format!("{rate:.2e} requests per s, more than any host sends"));
        }
        if let Some(rate) = rate(records).filter(|rate| *rate < LOWEST_RATE) {
            let gap = 1.0 / rate;
            return Some(format!("one request in {gap:.0} s, which is no load"));
        }
    }
    if clock == Clock::Start && last > LONGEST_S {
        return Some(format!("a time of {last:.2e} s, longer than any recording"));
    }
    if clock == Clock::Start && last > 0.0 && last < SHORTEST_S {
        return Some(format!("no time above {last:.1e} s, shorter than any recording"));
    }
    let largest = records.iter().map(|record| record.bytes).max()?;
    if largest > LARGEST_BYTES {
        return Some(format!("a request of {largest} bytes"));
    }
    let mut devices: Vec<u32> = records.iter().map(|record| record.device).collect();
    devices.sort_unstable();
    devices.dedup();
    if devices.len() == records.len() && devices.len() >= ALL_DEVICES {
        return Some("another device in every request".to_owned());
    }
    None
}

/// Whether `records` are plausible, but rare.
pub fn is_rare(records: &[Record], clock: Clock) -> bool {
    let Some(rate) = rate(records).filter(|_| clock != Clock::Closed) else {
        return false;
    };
    let whole_seconds = || (records.iter()).all(|record| record.time.0.is_multiple_of(SECOND_NS));
    !COMMON_RATES.contains(&rate) || (rate < 1.0 && whole_seconds())
}

/// The mean number of requests per s; `None` if all are at one time.
fn rate(records: &[Record]) -> Option<f64> {
    let times = || records.iter().map(|record| record.time);
    let span = times().max()?.since(times().min()?).s();
    (span > 0.0).then(|| (records.len() - 1) as f64 / span)
}

/// The rate of `records`, for messages.
pub fn describe(records: &[Record]) -> String {
    match rate(records) {
        Some(rate) if (0.01..100.0).contains(&rate) => format!("{rate:.2} requests per s"),
        Some(rate) if (100.0..1e6).contains(&rate) => format!("{rate:.0} requests per s"),
        Some(rate) => format!("{rate:.2e} requests per s"),
        None => {
            let time = records.first().map_or(0.0, |record| record.time.s());
            format!("requests at {time:e} s only")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sledsim_base::units::Nanos;

    fn records(times: impl IntoIterator<Item = f64>) -> Vec<Record> {
        let at = |s: f64| Record { time: Nanos::from_s(s), bytes: 512, ..Record::default() };
        times.into_iter().map(at).collect()
    }

    fn every(gap_s: f64) -> Vec<Record> {
        records((0..100).map(|index| f64::from(index) * gap_s))
    }

    #[test]
    fn rates_of_real_traces_are_plausible_and_those_off_by_a_million_are_not() {
        // A workstation's week of 1992 (one in 13.6 s), a disk, and an SSD at
        // a million per s.
        for gap_s in [13.6, 0.01, 1e-6] {
            assert_eq!(doubt(&every(gap_s), Clock::Start), None, "{gap_s}");
        }
        for (gap_s, expected) in [
            (0.01e6, "one request in 10000 s"),
            (101.0, "one request in 101 s"),
            (0.01e-6, "1.00e8 requests per s"),
            (9e-8, "1.11e7 requests per s"),
        ] {
            let found = doubt(&every(gap_s), Clock::Start).unwrap();
            assert!(found.starts_with(expected), "{found}");
            assert_eq!(doubt(&every(gap_s), Clock::Closed), None);
        }
    }

    #[test]
    fn rates_at_the_edge_are_rare() {
        for (gap_s, rare) in [(13.6, false), (25.0, true), (2.0, true), (1.0, false), (2.5, false)]
        {
            assert_eq!(is_rare(&every(gap_s), Clock::Start), rare, "{gap_s}");
            assert!(!is_rare(&every(gap_s), Clock::Closed));
        }
        assert!(is_rare(&every(0.9e-6), Clock::Start));
        assert!(!is_rare(&records([1.0]), Clock::Start));
    }

    #[test]
    fn implausible_times_sizes_and_devices_are_detected() {
        let one = |s| records([s]);
        assert_eq!(doubt(&one(0.0), Clock::Start), None);
        assert_eq!(doubt(&one(1.5e9), Clock::Calendar), None);
        assert!(doubt(&one(1.5e9), Clock::Start).unwrap().contains("longer"));
        assert!(doubt(&one(5e-9), Clock::Start).unwrap().contains("shorter"));
        let mut many = every(0.01);
        many[7].bytes = LARGEST_BYTES + 1;
        assert!(doubt(&many, Clock::Start).unwrap().contains("1073741825 bytes"));
        let mut many = every(0.01);
        (0..).zip(&mut many).for_each(|(number, record)| record.device = number);
        assert!(doubt(&many, Clock::Start).unwrap().contains("every request"));
        many[1].device = 0;
        assert_eq!(doubt(&many, Clock::Start), None);
    }
}
