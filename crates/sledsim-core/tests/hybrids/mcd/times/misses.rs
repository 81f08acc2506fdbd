//! Misses and hits: which blocks are fetched, and which requests wait.

use super::{PLAIN, R, W, run, small};

#[test]
fn a_read_miss_goes_through_buffer_and_front_and_a_hit_to_the_front() {
    let case = run(small(36, PLAIN), &[(0, R, 3, 2), (200_000, R, 7, 1)]);
    // Back 100800, front 1090 with the header, front 1020.
    assert_eq!(case.completions(), [102_910, 201_010]);
    let expected = [
        (0, "back", R, 0, 8, Some(0)),
        (100_800, "front", W, 0, 9, None),
        (101_890, "front", R, 4, 2, Some(0)),
        (200_000, "front", R, 8, 1, Some(1)),
    ];
    assert_eq!(case.asked(), expected);
    let row = case.row(0);
    assert_eq!((row.parts.other.0, row.parts.transfer.0), (102_000, 910));
    assert_eq!((row.start.0, row.passes), (0, 2));
    assert_eq!((row.parts.queue.0, row.queue_depth), (0, 0));
}

#[test]
fn with_shortcut_pending_reads_are_served_by_the_buffer() {
    // One that misses, one during the fetch, one while the front is written,
    // one after that.
    let requests = [(0, R, 3, 2), (50, R, 6, 1), (101_000, R, 0, 4), (101_891, R, 0, 1)];
    let case = run(small(36, "shortcut = true"), &requests);
    assert_eq!(case.completions(), [100_809, 100_808, 101_011, 102_901]);
    let expected = [
        (0, "back", R, 0, 8, Some(0)),
        (100_800, "front", W, 0, 9, None),
        (101_891, "front", R, 1, 1, Some(3)),
    ];
    assert_eq!(case.asked(), expected);
    let row = case.row(1);
    assert_eq!((row.parts.queue.0, row.parts.other.0), (100_750, 7));
    assert_eq!((row.parts.transfer.0, row.passes, row.queue_depth), (1, 0, 1));
    // Not so without.
    let case = run(small(36, "shortcut = false"), &requests);
    assert_eq!(case.completions(), [102_910, 103_920, 104_960, 105_970]);
}

#[test]
fn a_write_miss_reads_the_segment_unless_it_may_write_parts() {
    let write = [(0, W, 3, 2)];
    // Back, front, and the write of two blocks.
    let case = run(small(36, PLAIN), &write);
    assert_eq!(case.completions(), [100_800 + 1090 + 1020]);
    let expected = [
        (0, "back", R, 0, 8, Some(0)),
        (100_800, "front", W, 0, 9, None),
        (101_890, "front", W, 4, 2, Some(0)),
    ];
    assert_eq!(case.asked(), expected);
    // Put into what was fetched.
    let case = run(small(36, "partial_write = false"), &write);
    assert_eq!(case.completions(), [100_809]);
    assert_eq!(case.asked(), expected[..2]);
    // Header and two blocks.
    for keys in ["", "shortcut = false"] {
        let case = run(small(36, keys), &write);
        assert_eq!(case.completions(), [1030]);
        assert_eq!(case.asked(), [(0, "front", W, 0, 3, Some(0))]);
    }
    // A whole segment is never read.
    for keys in ["", PLAIN] {
        let case = run(small(36, keys), &[(0, W, 16, 8), (5000, R, 17, 7)]);
        assert_eq!(case.completions(), [1090, 5000 + 1070]);
        let expected = [(0, "front", W, 0, 9, Some(0)), (5000, "front", R, 2, 7, Some(1))];
        assert_eq!(case.asked(), expected);
    }
}

#[test]
fn a_write_into_fetched_data_makes_the_segment_dirty() {
    // One slot; the write is put into the fetched data, then the slot is
    // wanted for another segment.
    let keys = "partial_write = false";
    let case = run(small(9, keys), &[(0, W, 3, 2), (500_000, R, 8, 1)]);
    let expected = [
        (0, "back", R, 0, 8, Some(0)),
        (100_800, "front", W, 0, 9, None),
        (500_000, "front", R, 1, 8, None),
        (501_080, "back", R, 8, 8, Some(1)),
        (601_880, "front", W, 0, 9, None),
        (601_880, "back", W, 0, 8, None),
    ];
    assert_eq!(case.asked(), expected);
}

#[test]
fn only_written_segments_of_a_group_are_dirty() {
    // A read fetches segments 0 to 3; a write into segment 1 waits for it.
    let keys = "partial_write = false\nfetch_kib = 16\nclean_after_idle_ms = 1";
    let case = run(small(144, keys), &[(0, R, 0, 1), (10, W, 8, 1)]);
    let expected = [
        (0, "back", R, 0, 32, Some(0)),
        (103_200, "front", W, 0, 36, None),
        // A millisecond after the fetch segment 1 is cleaned, and that is all.
        (1_103_200, "front", R, 10, 8, None),
        (1_104_280, "back", W, 8, 8, None),
    ];
    assert_eq!(case.asked(), expected);
}

#[test]
fn parts_of_a_segment_become_valid_one_write_after_the_other() {
    let requests = [
        (0, W, 3, 2),
        (10, W, 6, 1),
        (20, W, 0, 1),
        // All that it touches is valid: no header, and no waiting.
        (5000, W, 3, 2),
        (5001, W, 6, 1),
    ];
    let case = run(small(36, ""), &requests);
    assert_eq!(case.completions(), [1030, 2050, 3070, 6020, 7030]);
    let expected = [
        (0, "front", W, 0, 3, Some(0)),
        (1030, "front", W, 0, 2, Some(1)),
        (2050, "front", W, 0, 2, Some(2)),
        (5000, "front", W, 4, 2, Some(3)),
        (5001, "front", W, 7, 1, Some(4)),
    ];
    assert_eq!(case.asked(), expected);
    assert_eq!(case.row(1).parts.queue.0, 1020);
    // Without headers there is nothing to keep in step but the table.
    let case = run(small(36, "headers = false"), &requests[..2]);
    assert_eq!(case.completions(), [1020, 2030]);
    assert_eq!(case.asked()[1], (1020, "front", W, 6, 1, Some(1)));
}

#[test]
fn a_fetch_of_missing_blocks_waits_until_the_slot_is_idle() {
    let requests = [
        (0, W, 0, 1),
        (2000, W, 4, 1),
        (2001, R, 0, 1),
        (2002, W, 6, 1),
        // Later requests wait behind it, though their blocks are valid.
        (2003, R, 0, 1),
    ];
    let case = run(small(36, ""), &requests);
    assert_eq!(case.completions(), [1020, 3020, 4030, 5050, 6060]);
}

#[test]
fn of_pieces_served_at_once_the_longest_determines_the_parts() {
    let keys = "exchange_kib = 8";
    for (lbn, blocks) in [(6, 7), (3, 7)] {
        let case = run(small(72, keys), &[(0, R, lbn, blocks)]);
        let row = case.row(0);
        assert_eq!(row.completion.0, 101_600 + 7 + 5);
        let parts = (row.parts.queue.0, row.parts.other.0, row.parts.transfer.0);
        assert_eq!(parts, (0, 100_007, 1605));
    }
}

#[test]
fn a_request_is_complete_when_its_last_piece_is() {
    // Of segments 0 and 1: the front has read its block at 100803, the buffer
    // serves 8 blocks from 100800 to 100815.
    let requests = [(0, W, 0, 8), (1, R, 8, 1), (99_793, R, 7, 9)];
    let case = run(small(36, ""), &requests);
    assert_eq!(case.completions(), [1090, 100_809, 100_816]);
    assert_eq!(case.asked()[2], (99_793, "front", R, 8, 1, Some(2)));
}

#[test]
fn a_read_of_invalid_blocks_fetches_only_missing_blocks() {
    // Blocks 0 to 3 are valid; the back is read from 4 on.
    let case = run(
        small(36, PLAIN.replace("partial_write = false", "").as_str()),
        &[(0, W, 0, 4), (10_000, R, 2, 4)],
    );
    let expected = [
        (0, "front", W, 0, 5, Some(0)),
        (10_000, "back", R, 4, 4, Some(1)),
        // The header, and 4 blocks; then the read.
        (110_400, "front", W, 0, 5, None),
        (111_450, "front", R, 3, 4, Some(1)),
    ];
    assert_eq!(case.asked(), expected);
    assert_eq!(case.completions()[1], 112_490);
    // Of 3 and 4 that are valid only those around are written; the buffer
    // serves who wants nothing else.
    let case = run(small(36, ""), &[(0, W, 3, 2), (10_000, R, 5, 3), (10_001, R, 4, 2)]);
    let expected = [
        (0, "front", W, 0, 3, Some(0)),
        (10_000, "back", R, 0, 8, Some(1)),
        (110_800, "front", W, 0, 7, None),
        (111_870, "front", R, 5, 2, Some(2)),
    ];
    assert_eq!(case.asked(), expected);
    assert_eq!(case.completions()[1..], [110_810, 112_890]);
}
