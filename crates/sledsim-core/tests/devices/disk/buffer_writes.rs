//! Writes, flushes and trims take the times that the electronics of a drive specify, as
//! do overheads and bus of all requests. Times worked out by hand for the drive of
//! round numbers in `small.rs`; all in us.

use super::small::{
    self, Arrival, Flush, Keys, R, Trim, W, back_to_back, batch, fua, held, last, requests,
};
use super::small::{rows_of, times};
use crate::common;

const BACK: (&str, &str) = ("buffer.write_back", "'all'");
const SEGMENT: (&str, &str) = ("buffer.read_ahead", "'segment'");

#[test]
fn a_write_through_ends_with_the_media_and_waits_for_its_data() {
    let write = [(0, W, 20, 5)];
    let with = |key, value| last(&[(key, value)], &write);
    // On track at 500 + 200; block 20 passes from 2000, block 24 until 2500.
    assert_eq!(last(&[], &write), 2500.0);
    assert_eq!(with("overheads.write_completion_ms", "0.05"), 2550.0);
    // Its first block is there 700 + 20 after the overhead: at 2000 in time, then too
    // late.
    assert_eq!(with("overheads.write_miss_after_read_ms", "1.28"), 2500.0);
    assert_eq!(with("overheads.write_miss_after_read_ms", "1.281"), 12_500.0);
    // Data are requested at 700. The last block is there at 700 + 5 x 340 = 2400, just
    // as its sector passes; then too late.
    assert_eq!(with("bus_write_ms_per_block", "0.34"), 2500.0);
    assert_eq!(with("bus_write_ms_per_block", "0.341"), 12_500.0);
    // The first is there at 2000; then too late, though the bus is fast.
    let one = [(0, W, 20, 1)];
    assert_eq!(last(&[("bus_write_ms_per_block", "1.3")], &one), 2100.0);
    assert_eq!(last(&[("bus_write_ms_per_block", "1.301")], &one), 12_100.0);
}

#[test]
fn zero_latency_writes_wait_for_their_data() {
    // On track at 700: block 7 comes first, then 8 to 19, and 0 to 6 from 10,000 on.
    let write = [(0, W, 0, 20)];
    let with = |bus| {
        let keys = [("zero_latency_write", "true"), ("bus_write_ms_per_block", bus)];
        last(&keys, &write)
    };
    assert_eq!(with("0"), 10_700.0);
    // Blocks 0 to k are there at 700 + 20 (k + 1): block 7 at 860. At 860
    // block 9 comes first, and it is there at 900, and so on: 0 to 8 come last.
    let last_of_second_turn = with("0.02");
    assert!((10_700.0..=11_100.0).contains(&last_of_second_turn));
    // All are there at 2700: 0 to 19 from 10,000 on.
    assert_eq!(with("0.1"), 12_000.0);
}

#[test]
fn a_write_into_the_buffer_is_complete_when_its_data_have_crossed() {
    let write = [(0, W, 20, 5), (200, Flush, 0, 0)];
    // The media write it from 2000 to 2500 either way.
    assert_eq!(times(&[BACK], &write), [100.0, 2500.0]);
    assert_eq!(times(&[], &write), [2500.0, 200.0]);
    let keys = [
        BACK,
        ("overheads.write_hit_after_read_ms", "0.3"),
        ("overheads.write_completion_ms", "0.05"),
    ];
    assert_eq!(times(&keys, &write), [450.0, 2500.0]);
    // Its arm moves after its overhead; on track at 2050.
    let late = [BACK, ("overheads.write_hit_after_read_ms", "1.35")];
    assert_eq!(times(&late, &write), [1450.0, 12_500.0]);
    // A sector that passes before its data does not count.
    let slow = [BACK, ("bus_write_ms_per_block", "0.6")];
    assert_eq!(times(&slow, &write), [3000.0, 12_500.0]);
    // Not kept, several extents, or forced to the media.
    assert_eq!(times(&[BACK, ("buffer.keep", "'nothing'")], &write)[0], 2500.0);
    let two = batch(0, 0, W, &[(20, 2), (60, 3)]);
    assert_eq!(rows_of(&[BACK], &[two])[0].completion.0, 6_300_000);
    let forced = fua(requests(&write)[0].clone());
    assert_eq!(rows_of(&[BACK], &[forced])[0].completion.0, 2_500_000);
}

#[test]
fn buffered_writes_reach_the_media_first() {
    // Block 100 passes from 1000 on, and again from 11,000; the arm is free
    // at 2500.
    let read = [(0, W, 20, 5), (200, R, 100, 1)];
    assert_eq!(last(&[BACK], &read), 11_110.0);
    // Another write is not accepted before 2500; it crosses, and then is on track at
    // 2500 + 500 + 200.
    let write = [(0, W, 20, 5), (200, W, 60, 5), (2700, Flush, 0, 0)];
    assert_eq!(times(&[BACK], &write), [100.0, 2600.0, 6500.0]);
}

#[test]
fn appends_continue_the_run() {
    let run = [(0, W, 20, 5), (200, W, 25, 5), (2700, Flush, 0, 0)];
    assert_eq!(times(&[BACK], &run), [100.0, 300.0, 3000.0]);
    // Each on its own: accepted at 2500, on track at 3200, block 25 at 12,500.
    let apart = ("buffer.append_writes", "false");
    assert_eq!(times(&[BACK, apart], &run), [100.0, 2600.0, 13_000.0]);
    // A run that is on the media is not continued, only its segment is.
    let late = [(0, W, 20, 5), (2500, W, 25, 5), (2700, Flush, 0, 0)];
    assert_eq!(times(&[BACK], &late), [100.0, 2600.0, 13_000.0]);
    // Nor if the media read in between: on track at 3010 + 700.
    let between = [(0, W, 20, 5), (2500, R, 40, 5), (2600, W, 25, 5), (2700, Flush, 0, 0)];
    assert_eq!(times(&[BACK], &between)[2..], [2700.0, 13_000.0]);
    // Though the head comes from the block before: a new access, too late for block 25
    // at 12,500.
    let before = [between[0], (2500, R, 10, 14), between[2], (2900, Flush, 0, 0)];
    assert_eq!(times(&[BACK], &before)[1..], [12_410.0, 2700.0, 23_000.0]);
    // Between others it waits for its turn: the media are free at 8500, the bus when
    // the read before it has crossed, at 8510.
    let level = ("buffer.write_back", "'appends'");
    assert_eq!(times(&[level], &run), [100.0, 300.0, 3000.0]);
    let others = [(0, R, 60, 5), (10, R, 80, 5), (20, W, 20, 5)];
    assert_eq!(last(&[level], &others), 8610.0);
    assert_eq!(last(&[BACK], &others), 120.0);
    // And if others still wait then, it is written through: on track at 9200.
    let more = [others[0], others[1], others[2], (30, R, 90, 1)];
    assert_eq!(times(&[level], &more)[2], 12_500.0);
}

#[test]
fn a_write_larger_than_its_segment_crosses_as_the_media_take_it() {
    // On track at 700, block 0 passes from 10,000: block 29 until 13,000, and then
    // there is room for the last of 80 in 50.
    assert_eq!(last(&[BACK], &[(0, W, 0, 80)]), 13_020.0);
    assert_eq!(last(&[BACK], &[(0, W, 0, 50)]), 1000.0);
    // The 50 before are on the media at 15,000; blocks that continue them follow there,
    // and are in the buffer then.
    let run = [(0, W, 0, 50), (1100, W, 50, 10), (1200, Flush, 0, 0)];
    assert_eq!(times(&[BACK], &run)[..2], [1000.0, 15_200.0]);
}

#[test]
fn reads_hit_written_data_once_they_have_crossed() {
    let no = ("buffer.read_written", "false");
    let reads = [(0, W, 20, 5), (300, R, 20, 5)];
    assert_eq!(last(&[BACK], &reads), 350.0);
    // On track at 2500 + 500, block 20 passes at 12,000.
    assert_eq!(last(&[BACK, no], &reads), 12_510.0);
    // The data cross until 1200; and before the overhead no block does.
    let slow =
        [BACK, ("bus_write_ms_per_block", "0.2"), ("overheads.write_hit_after_read_ms", "0.2")];
    let early = [(0, W, 20, 5), (100, R, 20, 5)];
    assert_eq!(times(&slow, &early), [1200.0, 1250.0]);
    // Read data: left alone, or dropped with everything else.
    let written = [(0, R, 20, 5), (50_000, W, 22, 1)];
    for keys in [&[BACK][..], &[]] {
        assert_eq!(held(keys, &written, &[20, 22, 24]), [true; 3]);
        let given_up = [keys, &[no]].concat();
        assert_eq!(held(&given_up, &written, &[20, 22, 24]), [false; 3]);
    }
    // Also data still being read.
    let reading = [(0, R, 20, 5), (2550, W, 500, 1)];
    assert_eq!(held(&[SEGMENT], &reading, &[24, 25, 26]), [true, true, false]);
    assert_eq!(held(&[SEGMENT, no], &reading, &[24, 25, 26]), [false; 3]);
}

#[test]
fn write_segments_are_limited_or_reserved() {
    let writes = [(0, R, 20, 5), (50_000, W, 200, 1), (100_000, W, 400, 1)];
    // The second write takes the segment of the first, or that of the read.
    assert_eq!(held(&[BACK], &writes, &[20, 200, 400]), [true, false, true]);
    let two = ("buffer.write_segments", "2");
    assert_eq!(held(&[BACK, two], &writes, &[20, 200, 400]), [false, true, true]);
    // One of three is reserved: writes never take the two for reads.
    let reads = [(0, R, 20, 5), (50_000, R, 200, 5), (100_000, R, 400, 5)];
    let three = [BACK, ("buffer.segments", "3")];
    let own = [BACK, three[1], ("buffer.own_write_segment", "true")];
    assert_eq!(held(&three, &reads, &[20, 200, 400]), [true; 3]);
    assert_eq!(held(&own, &reads, &[20, 200, 400]), [false, true, true]);
    let and_write = [reads[0], reads[1], (150_000, W, 600, 1), (190_000, W, 800, 1)];
    assert_eq!(held(&own, &and_write, &[20, 200, 600, 800]), [true, true, false, true]);
}

#[test]
fn another_write_ends_a_run() {
    let keys = [BACK, ("buffer.write_segments", "2")];
    let run = [(0, W, 20, 50), (100_000, W, 70, 5)];
    assert_eq!(held(&keys, &run, &[24, 25, 74]), [false, true, true]);
    // A write-through comes between; its blocks are not kept.
    let mut all = requests(&[(0, W, 20, 50), (50_000, W, 1500, 1), (100_000, W, 70, 5)]);
    all[1] = fua(all[1].clone());
    for (probe, passes) in [(24, 0), (74, 0), (1500, 1)] {
        let mut all = all.clone();
        all.push(batch(3, 900_000, R, &[(probe, 1)]));
        assert_eq!(rows_of(&keys, &all)[3].passes, passes, "{probe}");
    }
}

#[test]
fn read_ahead_may_continue_after_a_write() {
    let after = ("buffer.read_ahead_after_write_hit", "true");
    // The write arrives while block 30 passes; 31 to 69 are still to be read.
    let write = [(0, R, 20, 5), (3050, W, 900, 1)];
    let probes = [20, 30, 31, 69, 70];
    let continues = [true, true, true, true, false];
    assert_eq!(held(&[BACK, SEGMENT, after], &write, &probes), continues);
    let stays = [true, true, false, false, false];
    assert_eq!(held(&[BACK, SEGMENT], &write, &probes), stays);
    // Not after a write-through.
    assert_eq!(held(&[SEGMENT, after], &write, &probes), stays);
    // Completing a track, and not into the written segment.
    let round = [BACK, after, ("buffer.read_ahead", "'track'"), ("buffer.whole_track", "true")];
    let roomy = [round[0], round[1], round[2], round[3], ("buffer.segment_blocks", "100")];
    for at in [3050, 10_500] {
        let write = [(0, R, 20, 5), (at, W, 900, 1)];
        assert_eq!(held(&roomy, &write, &[0, 19, 20, 31, 99]), [true; 5], "{at}");
    }
    let only = [BACK, SEGMENT, ("buffer.segments", "1")];
    let inside = [(0, R, 20, 5), (2550, W, 500, 1)];
    assert_eq!(held(&only, &inside, &[25, 500]), [false, true]);
    let only = [BACK, SEGMENT, after, ("buffer.segments", "1")];
    assert_eq!(held(&only, &write, &[20, 31, 69, 900]), [false, false, false, true]);
}

#[test]
fn flush_waits_for_the_media_and_trim_does_not() {
    let keys = [BACK, ("command_overhead_ms", "0.1")];
    let all = [(0, W, 20, 5), (300, Trim, 20, 5), (400, Flush, 0, 0), (3000, Flush, 0, 0)];
    assert_eq!(times(&keys, &all), [200.0, 400.0, 2500.0, 3100.0]);
}

/// Overheads of requests far apart, in us.
fn overheads(keys: Keys<'_>, all: &[(Arrival, u64)]) {
    let arrivals: Vec<Arrival> = all.iter().map(|(arrival, _)| *arrival).collect();
    for (row, (arrival, expected_us)) in rows_of(keys, &requests(&arrivals)).iter().zip(all) {
        assert_eq!(row.parts.overhead.0, 1000 * expected_us, "{arrival:?}");
    }
}

#[test]
fn overheads_depend_on_the_request_before() {
    let ms = [
        ("overheads.read_hit_after_read_ms", "0.01"),
        ("overheads.read_hit_after_write_ms", "0.02"),
        ("overheads.read_miss_after_read_ms", "0.03"),
        ("overheads.read_miss_after_write_ms", "0.04"),
        ("overheads.write_hit_after_read_ms", "0.05"),
        ("overheads.write_hit_after_write_ms", "0.06"),
        ("overheads.write_miss_after_read_ms", "0.07"),
        ("overheads.write_miss_after_write_ms", "0.08"),
    ];
    let all = [
        ((0, R, 20, 5), 30),
        // It begins where the one before ended; then it does not.
        ((100_000, R, 25, 5), 10),
        ((200_000, R, 31, 1), 20),
        ((300_000, W, 50, 5), 50),
        // A write on the track of the one before, anywhere; then not.
        ((400_000, W, 10, 5), 60),
        ((450_000, W, 95, 5), 60),
        ((480_000, W, 20, 5), 60),
        ((500_000, W, 115, 5), 50),
        // A hit that follows a write does not continue a read.
        ((600_000, R, 120, 1), 40),
        ((700_000, R, 500, 1), 30),
        ((800_000, W, 501, 1), 50),
        ((900_000, R, 502, 1), 20),
    ];
    let back = [&ms[..], &[BACK, SEGMENT]].concat();
    overheads(&back, &all);
    let through = [
        ((0, W, 20, 5), 70),
        ((100_000, W, 200, 5), 80),
        ((200_000, R, 20, 5), 40),
        ((300_000, W, 25, 5), 70),
    ];
    overheads(&ms, &through);
}

#[test]
fn commands_and_blocks_share_the_bus() {
    let keys = |hold| {
        [("command_overhead_ms", "0.1"), ("bus_ms_per_block", "0.05"), ("hold_bus_reads", hold)]
    };
    // Five blocks cross from 2300 to 2550, or the bus is kept from 2100 on.
    // Another command comes at 2150, and its block is there.
    let reads = [(0, R, 20, 5), (2150, R, 20, 1)];
    assert_eq!(times(&keys("false"), &reads), [2550.0, 2300.0]);
    assert_eq!(times(&keys("true"), &reads), [2550.0, 2700.0]);
    // Two commands at once.
    let trims = [(0, Trim, 0, 1), (0, Trim, 0, 1)];
    assert_eq!(times(&keys("false"), &trims), [100.0, 200.0]);
    // A drive that never disconnects takes the next command when it has answered.
    let never = [("command_overhead_ms", "0.2"), ("never_disconnect", "true")];
    let reads = [(0, R, 20, 5), (1000, R, 20, 5), (1000, R, 20, 5)];
    assert_eq!(times(&never, &reads), [2510.0, 2760.0, 3010.0]);
    assert_eq!(times(&never[..1], &reads), [2510.0, 2560.0, 2610.0]);
}

#[test]
fn sequential_writes_run_at_the_media_rate() {
    let writes = || (0..250).map(|number| (W, 8 * number, 8)).chain([(Flush, 0, 0)]);
    // From 10,000 on: 2000 sectors, 10 changes of track and 9 of cylinder.
    let media_us = 10_000 + 2000 * 100 + 10 * 1000 + 9 * 2000;
    for level in ["'all'", "'appends'"] {
        let time = back_to_back(&[("buffer.write_back", level)], writes());
        assert_eq!(time.0, 1000 * media_us, "{level}");
    }
    let through = back_to_back(&[], writes());
    assert!(through.0 > 250 * 9_900_000, "{through}");
}

#[test]
fn no_request_starves() {
    // A run of 16 writes of 8 blocks, one every 800, as fast as the media: the read
    // that arrives at 1000 waits for the writes accepted before it, and the writes
    // after it wait for the read.
    let mut all: Vec<Arrival> = (0..100).map(|number| (800 * number, W, 8 * number, 8)).collect();
    all.insert(2, (1000, R, 1500, 1));
    let times = times(&[BACK], &all);
    assert!(times[2] < 40_000.0, "{times:?}");
    // Write, flush, write, flush: a host that waits for the media each time returns
    // just as they are free. A read waits for at most one of them.
    let mut model = small::build(&[BACK]);
    let mut rows = common::Rows::default();
    let submit = |model: &mut dyn sledsim_core::model::Model, rows: &mut common::Rows, arrival| {
        let id = rows.done.len() as u64 + 100;
        let mut request = requests(&[(0, arrival, 20, 5)])[0].clone();
        if arrival == Flush {
            request.extents.clear();
        }
        request.id = id;
        request.arrival = rows.done.last().map_or_else(Default::default, |row| row.completion);
        model.submit(request, rows);
    };
    submit(&mut *model, &mut rows, W);
    let at = model.next_event().expect("a write");
    model.wake(at, &mut rows);
    submit(&mut *model, &mut rows, Flush);
    model.submit(requests(&[(200, R, 1500, 1)])[0].clone(), &mut rows);
    // The write was answered with a flush; the next one is answered before any other
    // event at that time.
    let (mut answered, mut writes, mut read) = (1, 0, None);
    while read.is_none() && writes < 20 {
        let Some(row) = rows.done.get(answered).copied() else {
            let at = model.next_event().expect("something to do");
            model.wake(at, &mut rows);
            continue;
        };
        answered += 1;
        if row.id == 0 {
            read = Some(row);
            continue;
        }
        writes += u32::from(row.op == Flush);
        submit(&mut *model, &mut rows, if row.op == Flush { W } else { Flush });
    }
    assert!(read.is_some(), "{writes} writes went before a read");
    assert!(writes <= 2, "{writes} writes went before a read");
}
