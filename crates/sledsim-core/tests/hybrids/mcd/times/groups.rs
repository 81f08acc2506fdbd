//! Segments that move together, and cleaning.

use super::{PLAIN, R, W, run, small};

#[test]
fn neighbouring_segments_move_together_as_far_as_allowed() {
    let read = [(0, R, 6, 4)];
    // One by one: the second is fetched when the first is.
    let case = run(small(72, PLAIN), &read);
    let expected = [
        (0, "back", R, 0, 8, Some(0)),
        (0, "back", R, 8, 8, Some(0)),
        (100_800, "front", W, 0, 9, None),
        (101_890, "front", R, 7, 2, Some(0)),
        (201_600, "front", W, 9, 9, None),
        (202_690, "front", R, 10, 2, Some(0)),
    ];
    assert_eq!(case.asked(), expected);
    assert_eq!(case.completions(), [203_710]);
    // Together: one request each.
    let together = format!("{PLAIN}\nexchange_kib = 8");
    let case = run(small(72, &together), &read);
    let expected = [
        (0, "back", R, 0, 16, Some(0)),
        (101_600, "front", W, 0, 18, None),
        (102_780, "front", R, 7, 4, Some(0)),
    ];
    assert_eq!(case.asked(), expected);
    assert_eq!(case.completions(), [103_820]);
    // Three: two together, and one.
    let case = run(small(72, &together), &[(0, R, 0, 24)]);
    let expected = [(0, "back", R, 0, 16, Some(0)), (0, "back", R, 16, 8, Some(0))];
    assert_eq!(case.asked()[..2], expected);
    // With a segment between them in the front already: apart.
    let case = run(small(72, &together), &[(0, W, 8, 8), (10_000, R, 0, 24)]);
    let expected = [
        (10_000, "front", R, 1, 8, Some(1)),
        (10_000, "back", R, 0, 8, Some(1)),
        (10_000, "back", R, 16, 8, Some(1)),
    ];
    assert_eq!(case.asked()[1..4], expected);
    // Two writes of whole segments take two slots, and one request.
    let case = run(small(72, ""), &[(0, W, 0, 16)]);
    let expected = [(0, "front", W, 0, 9, Some(0)), (0, "front", W, 9, 9, Some(0))];
    assert_eq!(case.asked(), expected);
    let case = run(small(72, "exchange_kib = 8"), &[(0, W, 0, 16)]);
    assert_eq!(case.asked(), [(0, "front", W, 0, 18, Some(0))]);
}

#[test]
fn dirty_neighbours_are_written_along_and_stay() {
    // Three slots: 1, 0 and 2 are written, then 5 wants a slot, and 6.
    let keys = "exchange_kib = 8\nimmediate_report = false";
    let requests = [
        (0, W, 8, 8),
        (10_000, W, 0, 8),
        (20_000, W, 16, 8),
        (500_000, W, 40, 8),
        (1_000_000, W, 48, 8),
        (1_500_000, R, 16, 1),
    ];
    let case = run(small(27, keys), &requests);
    let expected = [
        // Segment 1 is evicted, and segment 0 is written with it: slots 1 and 0.
        (500_000, "front", R, 10, 16, None),
        (501_160, "back", W, 0, 16, None),
        (602_760, "front", W, 0, 9, Some(3)),
        // Segment 0 is clean now, and is evicted at once.
        (1_000_000, "front", W, 9, 9, Some(4)),
        (1_500_000, "front", R, 19, 1, Some(5)),
    ];
    assert_eq!(case.asked()[3..], expected);
}

#[test]
fn a_segment_written_during_its_destage_is_dirty_again() {
    let keys = "exchange_kib = 8\nimmediate_report = false\nclean_after_idle_ms = 1";
    let requests = [(0, W, 0, 8), (1, W, 8, 8), (1_050_000, W, 8, 1), (1_060_000, R, 0, 1)];
    let case = run(small(27, keys), &requests);
    let expected = [
        // Both by one, a millisecond after the begin.
        (1_000_000, "front", R, 1, 16, None),
        (1_001_160, "back", W, 0, 16, None),
        // Neither the write nor the read has to wait for that.
        (1_050_000, "front", W, 10, 1, Some(2)),
        (1_060_000, "front", R, 1, 1, Some(3)),
        // One after another, and the second has only segment 1.
        (1_102_760, "front", R, 10, 8, None),
        (1_103_840, "back", W, 8, 8, None),
    ];
    assert_eq!(case.asked()[2..], expected);
}

#[test]
fn a_group_is_fetched_without_segments_in_the_front() {
    let keys = format!("{PLAIN}\nfetch_kib = 16");
    let case = run(small(144, &keys), &[(0, R, 17, 1), (500_000, R, 0, 32)]);
    let expected = [
        (0, "back", R, 0, 32, Some(0)),
        (103_200, "front", W, 0, 36, None),
        (104_560, "front", R, 20, 1, Some(0)),
        (500_000, "front", R, 1, 32, Some(1)),
    ];
    assert_eq!(case.asked(), expected);
    // Segment 1 is there: the group of 2 ends before it. A write fetches none.
    let case = run(small(144, &keys), &[(0, W, 8, 8), (500_000, R, 17, 1)]);
    assert_eq!(case.asked()[1], (500_000, "back", R, 16, 16, Some(1)));
    // At the end of the device there are a segment and a half.
    let case = run(small(144, &keys), &[(0, R, 201, 1)]);
    assert_eq!(case.asked()[0], (0, "back", R, 192, 12, Some(0)));
    assert_eq!(case.asked()[1], (101_200, "front", W, 0, 14, None));
}

#[test]
fn dirty_segments_are_cleaned_when_the_back_is_idle_or_too_many_are_dirty() {
    // The back has been idle since the start: as soon as the slot is idle.
    let keys = "clean_after_idle_ms = 1";
    let case = run(small(36, keys), &[(5_000_000, W, 3, 2)]);
    let expected = [
        (5_000_000, "front", W, 0, 3, Some(0)),
        (5_001_030, "front", R, 4, 2, None),
        (5_002_050, "back", W, 3, 2, None),
    ];
    assert_eq!(case.asked(), expected);
    // A read of the back ends at 5100800: a millisecond later, oldest first, and
    // one after the other.
    let requests = [
        (5_000_000, R, 0, 1),
        (5_000_001, W, 16, 8),
        (5_000_002, W, 8, 8),
        // Dirty already, and longest of all it stays.
        (5_500_000, W, 16, 1),
    ];
    let case = run(small(36, keys), &requests);
    let expected = [
        (6_100_800, "front", R, 10, 8, None),
        (6_101_880, "back", W, 16, 8, None),
        (6_202_680, "front", R, 19, 8, None),
        (6_203_760, "back", W, 8, 8, None),
    ];
    assert_eq!(case.asked()[5..], expected);
    // More than a quarter of four slots: the second makes it too many.
    let case = run(small(36, "clean_above = 0.25"), &[(0, W, 16, 8), (2000, W, 8, 8)]);
    let expected = [
        (0, "front", W, 0, 9, Some(0)),
        (2000, "front", W, 9, 9, Some(1)),
        (2000, "front", R, 1, 8, None),
        (4170, "back", W, 16, 8, None),
    ];
    assert_eq!(case.asked(), expected);
}

#[test]
fn dirty_segments_being_evicted_are_not_cleaned_and_all_others_are() {
    // Two slots. Segment 1 is used again, so that 3 leaves for 5; it was the
    // last to become dirty.
    let requests = [(0, W, 8, 8), (2000, W, 24, 8), (4000, R, 8, 1), (6000, W, 40, 8)];
    let case = run(small(18, "clean_after_idle_ms = 1"), &requests);
    let expected = [
        (6000, "front", R, 10, 8, None),
        (7080, "front", W, 9, 9, Some(3)),
        (7080, "back", W, 24, 8, None),
        (1_107_880, "front", R, 1, 8, None),
        (1_108_960, "back", W, 8, 8, None),
        (1_209_760, "front", R, 10, 8, None),
        (1_210_840, "back", W, 40, 8, None),
    ];
    let mut asked = case.asked();
    asked.sort_by_key(|asked| asked.0);
    assert_eq!(asked[3..].len(), expected.len());
    assert!(asked[3..].iter().all(|asked| expected.contains(asked)));
}
