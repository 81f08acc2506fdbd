//! When logs are cleaned, in which order, and what reaches the back.

use super::{BACK, FRONT, memories, requests, seen};
use crate::common::{Rows, run_open};
use sledsim_base::random::Stream;
use sledsim_base::request::Op;
use std::collections::BTreeSet;

use Op::{Read, Write};

/// Cleans all that there is as soon as the back has been idle for 1 ms.
const EAGER: &str =
    "log_kib = 4\nclean_after_idle_ms = 1\nclean_idle_above = 1e-6\nclean_to = 1e-6";

#[test]
fn an_idle_back_is_cleaned_to_from_the_oldest_log_and_runs_are_merged() {
    // Log 0: 40 to 42, 10 and 11; log 1: 43 to 45, 12 and 13, and it is full.
    let list =
        [(0, Write, 40, 3), (10_000, Write, 10, 2), (20_000, Write, 43, 3), (30_000, Write, 12, 2)];
    let rows = run_open(&mut *memories(EAGER, 80, 800), &requests(&list));
    let back: Vec<_> = (seen(&rows, BACK, false).iter()).map(|row| (row.0, row.1, row.2)).collect();
    assert_eq!(back, [(Write, 10, 4), (Write, 40, 6)]);
    let first = seen(&rows, FRONT, false).into_iter().find(|row| row.0 == Read);
    let first = first.expect("a read");
    assert_eq!((first.3, first.1), (1_000_000, 2), "idle since the start");
}

#[test]
fn the_idle_detector_counts_from_the_last_request_on_the_back() {
    let list = [(0, Write, 40, 6), (600_000, Read, 700, 1), (611_000, Read, 700, 1)];
    let rows = run_open(&mut *memories(EAGER, 80, 800), &requests(&list));
    let reads = seen(&rows, FRONT, false).into_iter().find(|row| row.0 == Read);
    // The second read of the back ends at 622,000.
    assert_eq!(reads.expect("cleaning").3, 1_622_000);
    // Between two writes of the cleaner a request of the host comes: the rest
    // waits until the back is idle again.
    let list = [
        (0, Write, 40, 1),
        (5000, Write, 60, 1),
        (10_000, Write, 80, 1),
        (1_003_000, Read, 700, 1),
    ];
    let rows = run_open(&mut *memories(EAGER, 80, 800), &requests(&list));
    let writes: Vec<_> = (seen(&rows, BACK, false).iter()).map(|row| (row.1, row.3)).collect();
    let host = seen(&rows, BACK, true)[0];
    let late = host.4 + 1_000_000;
    assert_eq!(writes[0].0, 40);
    assert!(writes[0].1 < 1_003_000 + 11_000, "{writes:?}");
    assert_eq!((writes[1].0, writes[1].1), (60, late));
    // Without host requests it continues.
    assert_eq!(writes[2], (80, late + 11_000));
}

#[test]
fn thresholds_start_and_stop_cleaning() {
    // Ten logs; each write fills one. In use above 0.7: always; above 0.4 while
    // idle; down to 0.2.
    let keys = "log_kib = 4\nclean_logs = 1\nclean_above = 0.7\nclean_idle_above = 0.4\nclean_to = 0.2\nclean_after_idle_ms = ";
    let in_use = |idle_ms: &str, writes: u64| -> (usize, usize) {
        let keys = format!("{keys}{idle_ms}");
        let list: Vec<_> = (0..writes).map(|n| (n * 1000, Write, n * 6, 6)).collect();
        let mut model = memories(&keys, 80, 800);
        let mut rows = Rows::default();
        for request in requests(&list) {
            while let Some(at) = model.next_event().filter(|at| *at < request.arrival) {
                model.wake(at, &mut rows);
            }
            model.submit(request, &mut rows);
        }
        while let Some(at) = model.next_event().filter(|at| at.0 < 10_000_000) {
            model.wake(at, &mut rows);
        }
        let written = seen(&rows, BACK, false).len();
        (written, writes as usize - written)
    };
    // Not above the share: nothing is cleaned, however idle.
    assert_eq!(in_use("0", 4), (0, 4));
    assert_eq!(in_use("0", 5), (3, 2));
    // Never idle for long enough within the 10 ms.
    assert_eq!(in_use("20", 7), (0, 7));
    assert_eq!(in_use("20", 8), (6, 2));
}

#[test]
fn logs_are_cleaned_in_the_order_in_which_they_were_begun() {
    let keys = "log_kib = 4\nclean_logs = 1\nclean_above = 0.5\nclean_to = 0.3";
    let list: Vec<_> = (0..60).map(|n| (n * 30_000, Write, n * 370 % 790, 6)).collect();
    let rows = run_open(&mut *memories(keys, 80, 800), &requests(&list));
    let cleaned: Vec<u64> = seen(&rows, BACK, false).iter().map(|row| row.1).collect();
    assert!(cleaned.len() > 50, "{}", cleaned.len());
    let written = list.iter().map(|write| write.2);
    assert!(cleaned.iter().copied().eq(written.take(cleaned.len())));
}

#[test]
fn blocks_overwritten_in_the_logs_never_reach_the_back() {
    let mut chance = Stream::new(4, "writes");
    let mut unique = BTreeSet::new();
    let list: Vec<_> = (0..300)
        .map(|n| {
            let (lbn, blocks) = (chance.below(150), 1 + chance.below(9) as u32);
            unique.extend(lbn..lbn + u64::from(blocks));
            (n * 900, Write, lbn, blocks)
        })
        .collect();
    // All fits the logs, and the back is never idle before the end.
    let keys = EAGER.replace("idle_ms = 1", "idle_ms = 50");
    let rows = run_open(&mut *memories(&keys, 8000, 9000), &requests(&list));
    let mut written = BTreeSet::new();
    let mut total = 0;
    for (op, lbn, blocks, ..) in seen(&rows, BACK, false) {
        assert_eq!(op, Write);
        written.extend(lbn..lbn + u64::from(blocks));
        total += blocks as usize;
    }
    assert_eq!(written, unique);
    assert_eq!(total, unique.len());
    // All closed logs at once, then the open one; none touches the one before.
    let runs = seen(&rows, BACK, false);
    let pairs = || runs.windows(2).map(|pair| (pair[0].1 + u64::from(pair[0].2), pair[1].1));
    assert!(pairs().all(|(end, next)| end != next));
    assert!(pairs().filter(|(end, next)| next < end).count() <= 1);
    // A host that writes has its data on the front only.
    assert_eq!(seen(&rows, BACK, true), []);
}
