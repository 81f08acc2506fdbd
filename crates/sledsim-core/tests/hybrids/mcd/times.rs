//! Does a caching tier ask its children what MSST 2005 says, and when?
//!
//! Worked by hand, with memories as children: n blocks take the front
//! 1000 + 10 n ns, the back 100000 + 100 n ns, and the segment buffer 7 + n ns.
//! Segments are of 8 blocks; with its header a slot takes 9 of the front. Of a
//! child's request the number of blocks and when it was submitted are told,
//! and times say the rest.

use super::tiers::{memory, tier};
use crate::common::{Rows, run_open};
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::compose::hybrids::mcd::Mcd;

const R: Op = Op::Read;
const W: Op = Op::Write;

/// A tier with so many blocks in front, and 204 (25 segments and a half) behind.
fn small(front_blocks: u64, keys: &str) -> Mcd {
    let keys =
        format!("segment_kib = 4\nbuffer_latency_ms = 7e-6\nbuffer_ms_per_block = 1e-6\n{keys}");
    let front = memory(1, front_blocks, 1000, 10);
    tier(&keys, front, memory(2, 204, 100_000, 100))
}

/// All techniques off.
const PLAIN: &str = "shortcut = false\nimmediate_report = false\npartial_write = false";

/// When, which child, what, first block and how many, for whom.
type Asked = (u64, &'static str, Op, u64, u32, Option<u64>);

struct Case {
    rows: Rows,
}

/// Plays requests: arrival, operation, first block and how many.
fn run(mut model: Mcd, requests: &[(u64, Op, u64, u32)]) -> Case {
    let requests: Vec<Request> = (0..)
        .zip(requests)
        .map(|(id, &(at, op, lbn, blocks))| Request::new(id, Nanos(at), op, lbn, blocks))
        .collect();
    let rows = run_open(&mut model, &requests);
    assert_eq!(rows.done.len(), requests.len());
    Case { rows }
}

impl Case {
    fn row(&self, id: u64) -> &Row {
        let row = self.rows.done.iter().find(|row| row.id == id);
        let row = row.expect("it was answered");
        assert_eq!(row.parts.total(), row.response());
        row
    }

    /// When each request was complete.
    fn completions(&self) -> Vec<u64> {
        let ids = 0..self.rows.done.len() as u64;
        ids.map(|id| self.row(id).completion.0).collect()
    }

    /// What the children were asked.
    fn asked(&self) -> Vec<Asked> {
        let mut notes: Vec<&Row> = self.rows.notes.iter().collect();
        notes.sort_by_key(|note| note.id);
        let child = |device| ["front", "back"][usize::from(device) - 1];
        let tell = |note: &&Row| {
            let (at, child) = (note.arrival.0, child(note.device));
            (at, child, note.op, note.lbn, note.blocks, note.parent)
        };
        notes.iter().map(tell).collect()
    }
}

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
    let requests = [
        (0, R, 3, 2),
        (50, R, 6, 1),
        (101_000, R, 0, 4),
        (101_891, R, 0, 1),
    ];
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
    assert_eq!(
        (row.parts.transfer.0, row.passes, row.queue_depth),
        (1, 0, 1)
    );
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
        let expected = [
            (0, "front", W, 0, 9, Some(0)),
            (5000, "front", R, 2, 7, Some(1)),
        ];
        assert_eq!(case.asked(), expected);
    }
}

#[test]
fn what_is_fetched_and_written_into_is_dirty_and_goes_back() {
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
fn only_those_of_a_group_that_were_written_into_are_dirty() {
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
fn who_waits_in_a_slot_waits_until_nothing_goes_on_in_it() {
    let requests = [
        (0, W, 0, 1),
        (2000, W, 4, 1),
        (2001, R, 0, 1),
        (2002, W, 6, 1),
        // Later ones stay behind it, though what they want is valid.
        (2003, R, 0, 1),
    ];
    let case = run(small(36, ""), &requests);
    assert_eq!(case.completions(), [1020, 3020, 4030, 5050, 6060]);
}

#[test]
fn of_pieces_served_at_once_the_longest_says_where_the_time_went() {
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
fn a_read_of_what_is_not_valid_fetches_only_what_is_missing() {
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
    let case = run(
        small(36, ""),
        &[(0, W, 3, 2), (10_000, R, 5, 3), (10_001, R, 4, 2)],
    );
    let expected = [
        (0, "front", W, 0, 3, Some(0)),
        (10_000, "back", R, 0, 8, Some(1)),
        (110_800, "front", W, 0, 7, None),
        (111_870, "front", R, 5, 2, Some(2)),
    ];
    assert_eq!(case.asked(), expected);
    assert_eq!(case.completions()[1..], [110_810, 112_890]);
}

#[test]
fn a_clean_segment_goes_at_once_and_a_dirty_one_through_the_buffer() {
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
    // Of a partial segment what is valid goes, and only that.
    let case = run(
        small(9, ""),
        &[(0, W, 1, 1), (2000, W, 4, 2), (500_000, W, 8, 8)],
    );
    let expected = [
        (500_000, "front", R, 2, 3, None),
        (501_030, "front", W, 0, 9, Some(2)),
        (501_030, "back", W, 1, 3, None),
    ];
    assert_eq!(case.asked()[2..], expected);
}

#[test]
fn what_leaves_is_read_from_the_buffer_and_fetched_again_after_it_is_there() {
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
    assert_eq!(
        case.completions()[2..],
        [501_088, 550_015, 601_880 + 1080 + 1020]
    );
    assert_eq!(case.row(4).queue_depth, 0);
    let expected = [
        (601_880, "front", R, 1, 8, None),
        (602_960, "front", W, 0, 2, Some(4)),
        (602_960, "back", W, 8, 8, None),
    ];
    assert_eq!(case.asked()[4..], expected);
}

#[test]
fn room_in_the_buffer_is_waited_for() {
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
fn what_yields_goes_when_it_is_waited_for() {
    // One slot. Segment 0 leaves for segment 1 at 501080 and yields to the read
    // of it and to the next ones, of segments 2 and 3. A write to segment 0 at
    // 550000 must not wait for these: it goes behind the read under way.
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
fn what_yields_goes_when_it_stands_in_the_way() {
    // One slot, a buffer of one segment, and a stream that passes by and keeps
    // the back busy from 2490000 to 2994000. Segment 0 leaves at 2501080 and
    // yields to the stream, but the segment it leaves for needs its room. The
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
fn slots_are_handed_out_first_come_first_served() {
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
    let expected = [
        (0, "back", R, 0, 16, Some(0)),
        (0, "back", R, 16, 8, Some(0)),
    ];
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
    let expected = [
        (0, "front", W, 0, 9, Some(0)),
        (0, "front", W, 9, 9, Some(0)),
    ];
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
        // Segment 1 leaves and takes segment 0 along: slots 1 and 0.
        (500_000, "front", R, 10, 16, None),
        (501_160, "back", W, 0, 16, None),
        (602_760, "front", W, 0, 9, Some(3)),
        // Segment 0 is clean now, and leaves at once.
        (1_000_000, "front", W, 9, 9, Some(4)),
        (1_500_000, "front", R, 19, 1, Some(5)),
    ];
    assert_eq!(case.asked()[3..], expected);
}

#[test]
fn what_is_written_while_it_goes_along_is_dirty_again() {
    let keys = "exchange_kib = 8\nimmediate_report = false\nclean_after_idle_ms = 1";
    let requests = [
        (0, W, 0, 8),
        (1, W, 8, 8),
        (1_050_000, W, 8, 1),
        (1_060_000, R, 0, 1),
    ];
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
fn a_group_is_fetched_as_far_as_the_front_does_not_hold_it() {
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
fn reads_that_stream_pass_by_unless_they_hit() {
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
fn dirty_segments_are_cleaned_when_the_back_rests_or_too_many_are() {
    // The back rests since the begin: as soon as the slot is idle.
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
    let case = run(
        small(36, "clean_above = 0.25"),
        &[(0, W, 16, 8), (2000, W, 8, 8)],
    );
    let expected = [
        (0, "front", W, 0, 9, Some(0)),
        (2000, "front", W, 9, 9, Some(1)),
        (2000, "front", R, 1, 8, None),
        (4170, "back", W, 16, 8, None),
    ];
    assert_eq!(case.asked(), expected);
}

#[test]
fn what_leaves_dirty_is_not_cleaned_and_all_others_are() {
    // Two slots. Segment 1 is used again, so that 3 leaves for 5; it was the
    // last to become dirty.
    let requests = [
        (0, W, 8, 8),
        (2000, W, 24, 8),
        (4000, R, 8, 1),
        (6000, W, 40, 8),
    ];
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

#[test]
fn the_last_segment_may_be_shorter() {
    let case = run(small(36, PLAIN), &[(0, W, 200, 4), (5000, R, 203, 1)]);
    let expected = [
        (0, "front", W, 0, 5, Some(0)),
        (5000, "front", R, 4, 1, Some(1)),
    ];
    assert_eq!(case.asked(), expected);
    let case = run(
        small(9, "exchange_kib = 8"),
        &[(0, W, 200, 4), (5000, W, 0, 8)],
    );
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
    let requests = [
        Request::new(0, Nanos(0), W, 0, 8),
        flush,
        Request::new(2, Nanos(20), Op::Trim, 0, 8),
    ];
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
    read.extents = [extent(16, 2), extent(0, 3), extent(17, 1)]
        .into_iter()
        .collect();
    let requests = [
        Request::new(0, Nanos(0), W, 0, 8),
        Request::new(1, Nanos(2000), W, 16, 8),
        read,
    ];
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
