//! Special requests: streams, flushes, trims, the last segment.

use super::{PLAIN, R, W, run, small};
use crate::common::run_open;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::units::Nanos;

#[test]
fn reads_of_streams_bypass_the_front_unless_they_hit() {
    let keys = "bypass_after_kib = 8";
    let requests = [
        (0, R, 0, 8),
        (500_000, R, 8, 8),
        // 16 blocks in sequence so far: it passes, half a segment too.
        (1_000_000, R, 16, 12),
        // In the middle of nowhere: cached.
        (1_500_000, R, 64, 8),
        // The stream again, which hits what the last left behind.
        (2_000_000, W, 32, 8),
        (2_500_000, R, 28, 12),
        // Writes do not stream.
        (3_000_000, W, 40, 8),
    ];
    let case = run(small(72, keys), &requests);
    let expected = [
        (1_000_000, "back", R, 16, 12, Some(2)),
        (1_500_000, "back", R, 64, 8, Some(3)),
        (1_600_800, "front", W, 18, 9, None),
        (2_000_000, "front", W, 27, 9, Some(4)),
        (2_500_000, "front", R, 28, 8, Some(5)),
        (2_500_000, "back", R, 28, 4, Some(5)),
        (3_000_000, "front", W, 36, 9, Some(6)),
    ];
    assert_eq!(case.asked()[4..], expected);
    assert_eq!(case.completions()[2], 1_101_200);
    assert_eq!(case.completions()[5], 2_600_400);
}

#[test]
fn the_last_segment_may_be_shorter() {
    let case = run(small(36, PLAIN), &[(0, W, 200, 4), (5000, R, 203, 1)]);
    let expected = [(0, "front", W, 0, 5, Some(0)), (5000, "front", R, 4, 1, Some(1))];
    assert_eq!(case.asked(), expected);
    let case = run(small(9, "exchange_kib = 8"), &[(0, W, 200, 4), (5000, W, 0, 8)]);
    let expected = [
        (5000, "front", R, 1, 4, None),
        (6040, "front", W, 0, 9, Some(1)),
        (6040, "back", W, 200, 4, None),
    ];
    assert_eq!(case.asked()[1..], expected);
}

#[test]
fn slots_lie_where_they_are_placed_with_headers_or_without() {
    // Two slots of 9 blocks in a front of 101.
    let at = |keys: &str| {
        let mib = 18.0 / 2048.0;
        let keys = format!("front_mib = {mib}\n{keys}");
        let case = run(small(101, &keys), &[(0, W, 0, 8), (5000, W, 8, 8)]);
        case.asked().iter().map(|asked| asked.3).collect::<Vec<_>>()
    };
    assert_eq!(at(""), [0, 9]);
    assert_eq!(at("front_placement = \"centre\""), [41, 50]);
    assert_eq!(at("front_placement = \"whole\""), [0, 50]);
    assert_eq!(at("headers = false"), [0, 8]);
}

#[test]
fn flush_and_trim_take_no_time() {
    let mut flush = Request::new(1, Nanos(10), Op::Flush, 0, 1);
    flush.extents.clear();
    let requests =
        [Request::new(0, Nanos(0), W, 0, 8), flush, Request::new(2, Nanos(20), Op::Trim, 0, 8)];
    let rows = run_open(&mut small(36, ""), &requests);
    let times: Vec<(u64, u64)> = (rows.done.iter().map(|row| (row.id, row.completion.0))).collect();
    assert_eq!(times, [(1, 10), (2, 20), (0, 1090)]);
    assert_eq!(rows.notes.len(), 1);
    assert_eq!(rows.done[1].queue_depth, 1);
}

#[test]
fn extents_in_several_segments_are_one_request_to_the_front() {
    let extent = |lbn, blocks| Extent { lbn, blocks };
    let mut read = Request::new(2, Nanos(10_000), R, 16, 2);
    read.extents = [extent(16, 2), extent(0, 3), extent(17, 1)].into_iter().collect();
    let requests =
        [Request::new(0, Nanos(0), W, 0, 8), Request::new(1, Nanos(2000), W, 16, 8), read];
    let rows = run_open(&mut small(36, ""), &requests);
    let last = rows.notes.last().expect("a row");
    assert_eq!((last.lbn, last.blocks, last.completion.0), (10, 6, 11_060));
    // Both extents of a write in one segment, of which only one may grow it at
    // a time.
    let mut write = Request::new(0, Nanos(0), W, 0, 2);
    write.extents = [extent(0, 2), extent(4, 2)].into_iter().collect();
    let rows = run_open(&mut small(36, ""), &[write]);
    assert_eq!(rows.done[0].completion.0, 1030 + 1030);
}
