//! Slots are evicted, and assigned again.

use super::{PLAIN, R, W, run, small};

#[test]
fn a_clean_segment_is_evicted_at_once_and_a_dirty_one_through_the_buffer() {
    // One slot. Clean:
    let case = run(small(9, PLAIN), &[(0, R, 0, 8), (500_000, R, 8, 8)]);
    assert_eq!(case.completions()[1], 500_000 + 100_800 + 1090 + 1080);
    // Dirty: read by 501080, on the back by 601880; only then the new one.
    let writes = [(0, W, 0, 8), (500_000, W, 8, 8)];
    let case = run(small(9, PLAIN), &writes);
    let mut expected = [
        (0, "front", W, 0, 9, Some(0)),
        (500_000, "front", R, 1, 8, None),
        (501_080, "back", W, 0, 8, None),
        (601_880, "front", W, 0, 9, Some(1)),
    ];
    assert_eq!(case.asked(), expected);
    assert_eq!(case.completions(), [1090, 602_970]);
    assert_eq!(case.row(1).parts.queue.0, 101_880);
    // With Immediate Report as soon as the buffer has it; the back can wait.
    let case = run(small(9, "immediate_report = true"), &writes);
    expected[3].0 = 501_080;
    expected.swap(2, 3);
    assert_eq!(case.asked(), expected);
    assert_eq!(case.completions(), [1090, 502_170]);
    // Of a partial segment, only the valid blocks are written.
    let case = run(small(9, ""), &[(0, W, 1, 1), (2000, W, 4, 2), (500_000, W, 8, 8)]);
    let expected = [
        (500_000, "front", R, 2, 3, None),
        (501_030, "front", W, 0, 9, Some(2)),
        (501_030, "back", W, 1, 3, None),
    ];
    assert_eq!(case.asked()[2..], expected);
}

#[test]
fn an_evicted_segment_is_read_from_the_buffer_until_it_is_on_the_back() {
    // Segment 0 leaves for segment 1; it is in the buffer from 501080 to 601880.
    let requests = [
        (0, W, 0, 8),
        (500_000, W, 8, 8),
        (500_500, R, 2, 1),
        (550_000, R, 0, 8),
        (560_000, W, 4, 1),
    ];
    let case = run(small(9, ""), &requests);
    // The write begins anew when it is there, and segment 1 leaves for it.
    assert_eq!(case.completions()[2..], [501_088, 550_015, 601_880 + 1080 + 1020]);
    assert_eq!(case.row(4).queue_depth, 0);
    let expected = [
        (601_880, "front", R, 1, 8, None),
        (602_960, "front", W, 0, 2, Some(4)),
        (602_960, "back", W, 8, 8, None),
    ];
    assert_eq!(case.asked()[4..], expected);
}

#[test]
fn operations_wait_for_room_in_the_buffer() {
    // One slot; the segment that leaves is in the buffer from 501080 on. A
    // buffer of one segment has no room for the next until it is on the back.
    let requests = [(0, W, 0, 8), (500_000, R, 8, 8)];
    let case = run(small(9, "buffer_kib = 4"), &requests);
    let expected = [
        (501_080, "back", W, 0, 8, None),
        (601_880, "back", R, 8, 8, Some(1)),
        (702_680, "front", W, 0, 9, None),
    ];
    assert_eq!(case.asked()[2..], expected);
    assert_eq!(case.completions()[1], 702_680 + 15);
    // A buffer of two has, and what leaves yields to what comes.
    let case = run(small(9, "buffer_kib = 8"), &requests);
    let expected = [
        (501_080, "back", R, 8, 8, Some(1)),
        (601_880, "front", W, 0, 9, None),
        (601_880, "back", W, 0, 8, None),
    ];
    assert_eq!(case.asked()[2..], expected);
    assert_eq!(case.completions()[1], 601_880 + 15);
}

#[test]
fn without_read_priority_immediate_report_writes_at_once() {
    // As above with a buffer of two segments: the slot is free at 501080 in both
    // cases. The back serves in the order of arrival, so that the read waits for
    // the write.
    let requests = [(0, W, 0, 8), (500_000, R, 8, 8)];
    let case = run(small(9, "buffer_kib = 8\nread_priority = false"), &requests);
    let expected = [
        (501_080, "back", W, 0, 8, None),
        (501_080, "back", R, 8, 8, Some(1)),
        (702_680, "front", W, 0, 9, None),
    ];
    assert_eq!(case.asked()[2..], expected);
    assert_eq!(case.completions()[1], 702_680 + 15);
    // For a write that takes the slot, no read of the back is in the way.
    let requests = [(0, W, 0, 8), (500_000, W, 8, 8)];
    let case = run(small(9, "read_priority = false"), &requests);
    let expected = [(501_080, "back", W, 0, 8, None), (501_080, "front", W, 0, 9, Some(1))];
    assert_eq!(case.asked()[2..], expected);
    assert_eq!(case.completions(), [1090, 502_170]);
}

#[test]
fn without_read_priority_every_write_is_sent_before_later_reads() {
    // One slot: segments 0, 1 and 2 are written and leave one after the other while
    // the back reads. Each write is on its way when its data are in the buffer, at
    // 501080 and, when the slot has been read again, at 503250.
    let requests = [
        (0, W, 0, 8),
        (490_000, R, 2, 1),
        (500_000, W, 8, 8),
        (500_001, W, 16, 8),
        (510_000, R, 24, 8),
    ];
    let writes = |keys: &str| -> Vec<_> {
        let case = run(small(9, keys), &requests);
        let back = case.asked().into_iter().filter(|asked| asked.1 == "back");
        back.map(|asked| (asked.0, asked.2, asked.3)).collect()
    };
    let at_once = [(501_080, W, 0), (503_250, W, 8), (511_080, W, 16), (511_080, R, 24)];
    assert_eq!(writes("buffer_kib = 32\nread_priority = false"), at_once);
    // With read priority, only the first finds the back idle.
    let with = writes("buffer_kib = 32");
    assert_eq!(with[0], at_once[0]);
    assert_eq!(with[1], at_once[3]);
}

#[test]
fn deferred_writes_are_sent_when_a_request_waits_for_them() {
    // One slot. Segment 0 is evicted for segment 1 at 501080; its write is deferred
    // behind the read of segment 1 and the next ones, of segments 2 and 3. A write
    // to segment 0 at 550000 must not wait for these: the deferred write follows
    // the read under way.
    let requests = [
        (0, W, 0, 8),
        (500_000, R, 8, 8),
        (550_000, R, 16, 8),
        (550_000, R, 24, 8),
        (560_000, W, 0, 8),
    ];
    let case = run(small(9, "buffer_kib = 32"), &requests);
    let back: Vec<_> = (case.asked().into_iter())
        .filter(|asked| asked.1 == "back")
        .map(|asked| (asked.0, asked.2, asked.3))
        .collect();
    assert_eq!(back[..2], [(501_080, R, 8), (560_000, W, 0)]);
}

#[test]
fn deferred_writes_are_sent_when_the_buffer_is_full() {
    // One slot, a buffer of one segment, and a stream that bypasses the front and
    // keeps the back busy from 2490000 to 2994000. Segment 0 is evicted at 2501080;
    // its write is deferred, but the next segment needs its room in the buffer. The
    // same again 2500000 later.
    let mut requests = vec![(0, R, 8, 8), (500_000, R, 16, 8), (1_000_000, R, 24, 8)];
    for (again, ahead) in [(0, 4), (2_500_000, 9)] {
        requests.push((2_000_000 + again, W, 0, 8));
        let stream = ahead..ahead + 5;
        requests.extend(stream.map(|segment| (2_490_000 + again, R, 8 * segment, 8)));
        requests.push((2_500_000 + again, R, 160, 8));
    }
    let case = run(small(9, "buffer_kib = 4\nbypass_after_kib = 8"), &requests);
    let back = |from| -> Vec<_> {
        (case.asked().into_iter())
            .filter(|asked| asked.1 == "back" && (from + 1..from + 2_000_000).contains(&asked.0))
            .map(|asked| (asked.0 - from, asked.2, asked.3))
            .collect()
    };
    let expected = [(11_080, W, 0), (6 * 100_800, R, 160)];
    assert_eq!(back(2_490_000), expected);
    assert_eq!(back(4_990_000), expected);
}

#[test]
fn slots_are_assigned_first_come_first_served() {
    // One slot, four whole segments at once: each waits for its turn.
    let requests = [(0, W, 0, 8), (1, W, 8, 8), (2, R, 16, 8), (3, W, 24, 8)];
    let case = run(small(9, PLAIN), &requests);
    let turn = 1080 + 100_800;
    let second = 1090 + turn + 1090;
    let third = second + turn + 100_800 + 1090 + 1080;
    assert_eq!(case.completions(), [1090, second, third, third + 1090]);
    let depths: Vec<u32> = (0..4).map(|id| case.row(id).queue_depth).collect();
    assert_eq!(depths, [0, 1, 2, 3]);
}
