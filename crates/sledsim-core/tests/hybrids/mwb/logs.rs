//! Writes and reads through the logs, and when there is no free log.

use super::{BACK, FRONT, memories, requests, seen};
use crate::common::{Rows, run_open};
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;

use Op::{Flush, Read, Trim, Write};

/// Completions by id.
fn completions(rows: &Rows) -> Vec<u64> {
    let by_id: BTreeMap<u64, u64> =
        (rows.done.iter()).map(|row| (row.id, row.completion.0)).collect();
    by_id.into_values().collect()
}

/// Logs of 8 blocks, a summary and 7 others.
const SMALL: &str = "log_kib = 4";

#[test]
fn a_write_completes_with_its_header_and_data_on_the_front() {
    let list = [(0, Write, 500, 2), (0, Write, 7, 3), (0, Write, 9, 1)];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    // Records of 3, 4 and 2 blocks; the first two fill the log.
    assert_eq!(completions(&rows), [1300, 2700, 3900]);
    let host = [(Write, 1, 3, 0, 1300), (Write, 4, 4, 0, 2700), (Write, 9, 2, 0, 3900)];
    assert_eq!(seen(&rows, FRONT, true), host);
    // The summary is due when both are on the front.
    assert_eq!(seen(&rows, FRONT, false), [(Write, 0, 1, 2700, 5000)]);
    assert_eq!(seen(&rows, BACK, true), []);
    assert_eq!(seen(&rows, BACK, false), []);
    let third = rows.done[2];
    assert_eq!(third.parts.queue, Nanos(2700));
    assert_eq!(third.parts.other, Nanos(1000));
    assert_eq!(third.parts.transfer, Nanos(200));
    assert_eq!((third.lbn, third.blocks, third.queue_depth), (9, 1, 2));
}

#[test]
fn a_write_continues_in_the_next_log() {
    let list = [(0, Write, 50, 10), (10_000, Read, 50, 10), (10_000, Read, 56, 4)];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    let host = [
        (Write, 1, 7, 0, 1700),
        (Write, 9, 5, 0, 3200),
        (Read, 2, 10, 10_000, 12_000),
        (Read, 10, 4, 10_000, 13_400),
    ];
    assert_eq!(seen(&rows, FRONT, true), host);
    assert_eq!(completions(&rows), [3200, 12_000, 13_400]);
    assert_eq!(rows.done[0].passes, 2);
}

#[test]
fn the_rest_of_a_log_is_filled() {
    // 1 + 3 blocks used; of a write of 5 three fit behind a header, and two go on.
    let list = [(0, Write, 0, 2), (5000, Write, 20, 5)];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    let host = [(Write, 1, 3, 0, 1300), (Write, 4, 4, 5000, 6400), (Write, 9, 3, 5000, 7700)];
    assert_eq!(seen(&rows, FRONT, true), host);
    // Two blocks left are a header and one of data.
    let list = [(0, Write, 0, 4), (5000, Write, 20, 3)];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    assert_eq!(seen(&rows, FRONT, true)[1], (Write, 6, 2, 5000, 6200));
    assert_eq!(seen(&rows, FRONT, true)[2], (Write, 9, 3, 5000, 7500));
    // One block left has no room for a record.
    let list = [(0, Write, 0, 5), (5000, Write, 20, 1)];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    assert_eq!(seen(&rows, FRONT, true)[1], (Write, 9, 2, 5000, 6200));
    assert_eq!(seen(&rows, FRONT, false)[0], (Write, 0, 1, 1600, 2700));
}

#[test]
fn a_read_gets_the_newest_version_of_each_block() {
    let list = [
        (0, Write, 100, 4),
        (5000, Write, 102, 1),
        // In the logs, out of order: 100, 101; 102; 103.
        (10_000, Read, 100, 4),
        // Not in the logs.
        (20_000, Read, 90, 3),
        // Both: 99 on the back, 100 on the front.
        (50_000, Read, 99, 2),
        (100_000, Read, 103, 3),
    ];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    let front: Vec<_> = seen(&rows, FRONT, true).into_iter().skip(2).collect();
    let expected = [
        (Read, 2, 4, 10_000, 11_400),
        (Read, 2, 1, 50_000, 51_100),
        (Read, 5, 1, 100_000, 101_100),
    ];
    assert_eq!(front, expected);
    let expected = [
        (Read, 90, 3, 20_000, 33_000),
        (Read, 99, 1, 50_000, 61_000),
        (Read, 104, 2, 100_000, 112_000),
    ];
    assert_eq!(seen(&rows, BACK, true), expected);
    let all = [1500, 6200, 11_400, 33_000, 61_000, 112_000];
    assert_eq!(completions(&rows), all);
}

#[test]
fn a_read_during_a_write_gets_the_older_version() {
    let list = [(0, Write, 100, 4), (0, Read, 100, 4), (1499, Read, 101, 1), (1500, Read, 101, 1)];
    let rows = run_open(&mut *memories(SMALL, 80, 800), &requests(&list));
    // The two that arrive before the write is complete go to the back; the
    // third arrives at that very instant, when completions come first or not at
    // all: here it arrives before the buffer has looked.
    let back: Vec<_> = seen(&rows, BACK, true).iter().map(|row| row.3).collect();
    assert_eq!(back[..2], [0, 1499]);
}

#[test]
fn trims_go_to_the_back_and_flushes_to_no_child() {
    let mut list = requests(&[(0, Write, 100, 4), (100, Flush, 0, 1), (5000, Trim, 100, 4)]);
    list[1].extents.clear();
    list.extend(requests(&[(0, Read, 0, 1); 4]).into_iter().skip(3).map(|r| Request {
        arrival: Nanos(90_000),
        extents: [Extent { lbn: 100, blocks: 4 }].into_iter().collect(),
        ..r
    }));
    let rows = run_open(&mut *memories(SMALL, 80, 800), &list);
    assert_eq!(completions(&rows), [1500, 100, 5000, 91_400]);
}

/// All full, one log cleaned at a time.
const FULL: &str =
    "log_kib = 4\nbuffer_kib = 4\nclean_above = 1\nclean_idle_above = 1\nclean_to = 1";

#[test]
fn a_write_without_a_free_log_waits_for_the_oldest_to_be_cleaned() {
    let list = [(0, Write, 0, 6), (0, Write, 100, 6), (0, Write, 200, 6)];
    let rows = run_open(&mut *memories(FULL, 16, 800), &requests(&list));
    // Both records, both summaries, six blocks read, written, and the mark:
    // 1,700 + 1,700 + 1,100 + 1,100 + 1,600 + 16,000 + 1,100.
    let own = [
        (Write, 0, 1, 1700, 4500),
        (Write, 8, 1, 3400, 5600),
        (Read, 2, 6, 4500, 7200),
        (Write, 0, 1, 23_200, 24_300),
        (Write, 0, 1, 26_000, 27_100),
    ];
    assert_eq!(seen(&rows, FRONT, false), own);
    assert_eq!(seen(&rows, BACK, false), [(Write, 0, 6, 7200, 23_200)]);
    assert_eq!(completions(&rows), [1700, 3400, 26_000]);
    assert_eq!(rows.done[2].parts.queue, Nanos(24_300));
}

#[test]
fn a_log_that_is_being_read_is_not_written_over() {
    // The read of log 0 is queued behind those of log 1 in the front; its block
    // is rewritten at once, so that the log has nothing live.
    let mut list = vec![(0, Write, 0, 6), (0, Write, 0, 6)];
    list.extend((0..30).map(|_| (1701, Read, 0, 6)));
    list.push((3401, Write, 300, 6));
    let rows = run_open(&mut *memories(FULL, 16, 800), &requests(&list));
    let reads: Vec<_> =
        (seen(&rows, FRONT, true).into_iter()).filter(|row| row.0 == Read && row.1 == 2).collect();
    let last_read = reads.iter().map(|row| row.4).max().expect("reads of log 0");
    let over = seen(&rows, FRONT, true).into_iter().rfind(|row| row.0 == Write);
    let over = over.expect("the last write");
    assert_eq!((over.1, reads.len() > 20), (1, true));
    assert!(over.3 >= last_read, "{over:?} before {last_read}");
    assert_eq!(seen(&rows, BACK, false), [], "nothing live");
}

#[test]
fn a_log_is_not_begun_while_eight_before_it_have_no_summary() {
    // Every write fills a log, and summaries queue behind all of them.
    let list: Vec<_> = (0..12).map(|n| (0, Write, n * 6, 6)).collect();
    let rows = run_open(&mut *memories(SMALL, 800, 900), &requests(&list));
    let front = seen(&rows, FRONT, true);
    assert_eq!(front[7].3, 0);
    // Summary 0: after eight records.
    assert_eq!(front[8].3, 8 * 1700 + 1100);
    assert_eq!(front[9].3, 8 * 1700 + 2 * 1100);
}

#[test]
fn a_log_is_closed_when_its_summary_is_full() {
    // 256 blocks would hold 127 records of one block; a summary has room for 60.
    let list: Vec<_> = (0..61).map(|n| (n * 10_000, Write, n * 2, 1)).collect();
    let rows = run_open(&mut *memories("", 2560, 9000), &requests(&list));
    let front = seen(&rows, FRONT, true);
    assert_eq!((front[59].1, front[60].1), (1 + 59 * 2, 257));
    // Requests of many extents become records of 60 at most.
    let extents = (0..100).map(|n| Extent { lbn: n * 2, blocks: 1 }).collect();
    let request = Request { extents, ..Request::new(0, Nanos(0), Write, 0, 1) };
    let rows = run_open(&mut *memories("log_kib = 256", 2560, 9000), &[request]);
    let host: Vec<_> = seen(&rows, FRONT, true).iter().map(|row| (row.1, row.2)).collect();
    assert_eq!(host, [(2, 61), (63, 41)]);
    assert_eq!(rows.done[0].blocks, 100);
}

#[test]
fn a_write_larger_than_the_front_goes_through_it() {
    let mut model = memories(FULL, 16, 800);
    let rows = run_open(&mut *model, &requests(&[(0, Write, 0, 100)]));
    assert_eq!(rows.done.len(), 1);
    let back: u32 = seen(&rows, BACK, false).iter().map(|row| row.2).sum();
    // 17 records of 6 blocks at most; the last two logs stay.
    assert_eq!(back, 100 - 6 - 4);
    let mut front: Vec<_> = seen(&rows, FRONT, true);
    front.sort_unstable_by_key(|row| row.4);
    assert_eq!(front.last().map(|row| row.4), Some(rows.done[0].completion.0));
}
