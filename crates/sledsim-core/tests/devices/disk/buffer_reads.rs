//! Reads take the times that the electronics of a drive specify. Times worked out by
//! hand for the drive of round numbers in `small.rs`; all in us.

use super::small::{self, Keys, R, W, batch, held, last, rows_of, times};

const SLOW_BUS: (&str, &str) = ("bus_ms_per_block", "0.3");
const SEGMENT: (&str, &str) = ("buffer.read_ahead", "'segment'");

#[test]
fn a_miss_ends_with_the_media_or_with_the_bus() {
    // On track at 500; block 20 passes from 2000, block 24 until 2500.
    let read = [(0, R, 20, 5)];
    assert_eq!(last(&[], &read), 2510.0);
    // Block 20 is available at 2100; five cross in 1500.
    assert_eq!(last(&[SLOW_BUS], &read), 3600.0);
    // As fast as the media: the last block decides.
    assert_eq!(last(&[("bus_ms_per_block", "0.1")], &read), 2600.0);
}

#[test]
fn command_reselect_and_completion_overheads() {
    let read = [(0, R, 20, 5)];
    assert_eq!(last(&[("command_overhead_ms", "1.4")], &read), 2510.0);
    // On track at 2050: block 20 passes again at 12,000.
    assert_eq!(last(&[("command_overhead_ms", "1.55")], &read), 12_510.0);
    assert_eq!(last(&[("overheads.read_completion_ms", "0.07")], &read), 2580.0);
    // The bus is taken 250 after the first block is available, at 2350.
    let reselect = ("overheads.reselect_ms", "0.25");
    assert_eq!(last(&[reselect], &read), 2510.0);
    assert_eq!(last(&[reselect, SLOW_BUS], &read), 3850.0);
    // A hit takes its command overhead, but no reselect.
    let twice = [(0, R, 20, 5), (5000, R, 20, 5)];
    let keys = [reselect, ("command_overhead_ms", "0.2")];
    assert_eq!(last(&keys, &twice), 5250.0);
}

#[test]
fn the_high_water_mark_is_a_share_of_the_request_or_of_a_segment() {
    // Block 20 + k is available at 2100 + 100 k; ten cross in 3000.
    let read = [(0, R, 20, 10)];
    let with = |share, of| {
        let keys = [SLOW_BUS, ("buffer.high_water", share), ("buffer.high_water_of", of)];
        last(&keys, &read)
    };
    assert_eq!(with("0", "'request'"), 5100.0);
    assert_eq!(with("0.5", "'request'"), 5500.0);
    assert_eq!(with("1", "'request'"), 6000.0);
    assert_eq!(with("0.04", "'segment'"), 5200.0);
    assert_eq!(with("0.1", "'segment'"), 5500.0);
    // At most the request.
    assert_eq!(with("1", "'segment'"), 6000.0);
}

#[test]
fn blocks_that_were_read_are_kept() {
    let twice = [(0, R, 20, 5), (5000, R, 20, 5)];
    assert_eq!(last(&[], &twice), 5050.0);
    // Not kept: on track at 5500, block 20 at 12,000.
    for keep in ["'nothing'", "'ahead'"] {
        assert_eq!(last(&[("buffer.keep", keep)], &twice), 12_510.0);
    }
    // Blocks read ahead are kept until they are read.
    let keys = [("buffer.keep", "'ahead'"), SEGMENT];
    let read = [(0, R, 20, 5)];
    assert_eq!(held(&keys, &read, &[24, 25, 69, 70]), [false, true, true, false]);
    let hit = [(0, R, 20, 5), (100_000, R, 30, 5)];
    let probes = [29, 30, 34, 35];
    assert_eq!(held(&keys, &hit, &probes), [true, false, false, true]);
    assert_eq!(held(&[SEGMENT], &hit, &probes), [true; 4]);
    // Also if they are read while they pass, or if only a part was held.
    let passing = [(0, R, 20, 5), (2550, R, 25, 5)];
    assert_eq!(held(&keys, &passing, &[25, 29, 30]), [false, false, true]);
    let part = [(0, R, 20, 5), (100_000, R, 60, 15)];
    assert_eq!(
        held(&keys, &part, &[59, 60, 69, 70, 74, 75]),
        [true, false, false, false, false, true]
    );
}

#[test]
fn a_read_takes_blocks_as_they_pass() {
    // Block 25 follows at 2500; 26 to 30 pass from 2600 to 3100.
    let reads = [(0, R, 20, 5), (2550, R, 26, 5)];
    assert_eq!(last(&[SEGMENT], &reads), 3110.0);
    // Not being read: on track at 3050, 26 passes at 12,600.
    assert_eq!(last(&[], &reads), 13_110.0);
    // The first read has the bus until 3600; 26 was available at 2700.
    assert_eq!(last(&[SEGMENT, SLOW_BUS], &reads), 5100.0);
    // Blocks read for a request are available to others as they pass.
    let same = [(0, R, 20, 5), (100, R, 21, 2)];
    assert_eq!(times(&[], &same), [2510.0, 2310.0]);
}

#[test]
fn the_rest_of_a_read_continues_or_is_an_access() {
    let keys = [
        SEGMENT,
        ("buffer.read_ahead_max_blocks", "10"),
        ("overheads.read_miss_after_read_ms", "0.04"),
    ];
    // Read ahead to block 34 until 3500; 35 to 39 follow without an access.
    assert_eq!(last(&keys, &[(0, R, 20, 5), (2550, R, 30, 10)]), 4010.0);
    // Another read finds block 33 when it has passed, at 3400.
    let third = [(0, R, 20, 5), (2550, R, 30, 10), (2600, R, 33, 1)];
    assert_eq!(last(&keys, &third), 3410.0);
    // Too late for that: on track at 3600 + 40 + 500, block 35 at 13,500.
    let late = [(0, R, 20, 5), (3600, R, 30, 10)];
    assert_eq!(last(&keys, &late), 14_010.0);
    let row = rows_of(&keys, &small::requests(&late))[1];
    assert_eq!((row.parts.overhead.0, row.passes), (40_000, 1));
    // The five held blocks cross from 3600 on, the others from 13,600.
    let slow = [keys[0], keys[1], SLOW_BUS];
    assert_eq!(last(&slow, &late), 15_100.0);
    // Only when all are available, at 14,000.
    let whole = ("buffer.partial_hits_at_once", "false");
    assert_eq!(last(&[keys[0], keys[1], SLOW_BUS, whole], &late), 17_000.0);
    assert_eq!(last(&[keys[0], keys[1], whole], &late), 14_100.0);
}

#[test]
fn blocks_that_pass_before_the_request_are_free() {
    // On track at 500, as block 5 begins to pass.
    let free = ("buffer.read_free_blocks", "true");
    let read = [(0, R, 20, 5)];
    assert_eq!(held(&[free], &read, &[4, 5, 19, 24]), [false, true, true, true]);
    assert_eq!(held(&[], &read, &[19, 20]), [false, true]);
    // They are dropped first: 15 + 45 blocks, 50 have room.
    assert_eq!(held(&[free], &[(0, R, 20, 45)], &[14, 15, 64]), [false, true, true]);
}

#[test]
fn only_blocks_on_the_track_are_free() {
    let keys = |bad, sectors| {
        [
            ("buffer.read_free_blocks", "true"),
            ("sparing", "'zone_end'"),
            ("zone[0].spares", "10"),
            (bad, sectors),
        ]
    };
    // Sector 10 is slipped: block 30 is in sector 31, and of 26 sectors that
    // pass from 500 on 25 hold blocks.
    let read = [(0, R, 30, 5)];
    let probes = [4, 5, 10, 29];
    let slipped = keys("zone[0].slips", "[10]");
    assert_eq!(held(&slipped, &read, &probes), [false, true, true, true]);
    // Remapped: the blocks after it are kept.
    let remapped = keys("zone[0].defects", "[[10, 1995]]");
    let probes = [9, 10, 11, 29];
    assert_eq!(held(&remapped, &read, &probes), [false, false, true, true]);
    // The block read is remapped: no free block passes before it there.
    assert_eq!(held(&remapped, &[(0, R, 10, 5)], &[8, 9, 10]), [false, false, true]);
}

#[test]
fn a_track_is_completed() {
    let keys = |word| {
        [
            ("buffer.read_ahead", word),
            ("buffer.whole_track", "true"),
            ("buffer.segment_blocks", "100"),
        ]
    };
    // 25 to 99 until 10,000, 0 to 19 until 12,000.
    let reads = [(0, R, 20, 5), (11_000, R, 5, 10)];
    for word in ["'track'", "'tracks'"] {
        assert_eq!(last(&keys(word), &reads), 11_510.0);
        let (read, round) = ([(0, R, 20, 5)], [0, 19, 20, 25, 99, 100]);
        let found = held(&keys(word), &read, &round);
        assert_eq!(found, [true, true, true, true, true, false]);
    }
    // A read up to the end of its track is followed by the rest of it, too.
    assert_eq!(last(&keys("'track'"), &[(0, R, 95, 5), (11_000, R, 5, 10)]), 11_510.0);
    // A read of two tracks read the last one from its beginning: there is no rest, and
    // room for 90 more. No read-ahead means none at all.
    let two = [(0, R, 95, 10)];
    assert_eq!(held(&keys("'track'"), &two, &[94, 95, 194, 195]), [false, true, true, false]);
    assert_eq!(held(&keys("'none'"), &[(0, R, 20, 5)], &[19, 25]), [false, false]);
}

#[test]
fn waiting_reads_interrupt_the_completion_of_a_track() {
    // 80 to 84 until 8500, 85 to 99 until 10,000, 0 to 79 until 18,000.
    let keys = |ahead| {
        [
            ("buffer.read_ahead", ahead),
            ("buffer.whole_track", "true"),
            ("buffer.segment_blocks", "100"),
        ]
    };
    let first = (0, R, 80, 5);
    // Alone, a read past the end of the track waits for all of it ...
    let alone = [first, (9000, R, 95, 10)];
    assert_eq!(last(&keys("'track'"), &alone), 21_510.0);
    // ... and with another one waiting, it continues at once.
    let others = [first, (9000, R, 95, 10), (9000, R, 700, 1)];
    assert_eq!(times(&keys("'track'"), &others)[1], 11_510.0);
    // There is no room for the next track: a read there is a miss, which begins at
    // 12,100 with the head switch; block 160 passes at 17,000.
    let next = [first, (12_050, R, 160, 5)];
    assert_eq!(last(&keys("'cylinder'"), &next), 17_510.0);
}

/// The end of the blocks held after a read of blocks 20 to 24.
fn end_after(keys: Keys<'_>) -> u64 {
    let read = [(0, R, 20, 5)];
    let is_held = |lbn: &u64| held(keys, &read, &[*lbn]) == [true];
    (25..600).find(|lbn| !is_held(lbn)).expect("an end")
}

#[test]
fn read_ahead_ends_at_its_goal() {
    let ahead =
        |word, blocks| end_after(&[("buffer.read_ahead", word), ("buffer.segment_blocks", blocks)]);
    assert_eq!(ahead("'none'", "500"), 25);
    assert_eq!(ahead("'track'", "500"), 100);
    assert_eq!(ahead("'cylinder'", "500"), 200);
    assert_eq!(ahead("'segment'", "500"), 520);
    // The request keeps its blocks.
    assert_eq!(ahead("'track'", "50"), 70);
    // Whole tracks: room for five, for one, for none.
    assert_eq!(ahead("'tracks'", "500"), 200);
    assert_eq!(ahead("'tracks'", "199"), 100);
    assert_eq!(ahead("'tracks'", "99"), 25);

    let limited = |word, key, blocks| end_after(&[("buffer.read_ahead", word), (key, blocks)]);
    assert_eq!(limited("'none'", "buffer.read_ahead_min_blocks", "7"), 32);
    assert_eq!(limited("'segment'", "buffer.read_ahead_max_blocks", "12"), 37);
    let over_the_end = [("buffer.read_ahead", "'track'"), ("buffer.read_ahead_min_blocks", "7")];
    let probes = [100, 106, 107];
    assert_eq!(held(&over_the_end, &[(0, R, 95, 5)], &probes), [true, true, false]);
    // The disk has 2000 blocks.
    let end = [(0, R, 1990, 5), (100_000, R, 1995, 5)];
    assert_eq!(last(&[SEGMENT], &end), 100_050.0);
}

#[test]
fn a_sequential_stream_gets_the_whole_buffer_and_returns_it() {
    // Four segments of 50: a track of 100 does not fit into one.
    let keys = [("buffer.read_ahead", "'tracks'"), ("buffer.segments", "4")];
    let probes = [0, 19, 20, 30, 99, 100, 194, 195, 200];
    let alone = [(0, R, 20, 5)];
    let lone = [false, false, true, false, false, false, false, false, false];
    assert_eq!(held(&keys, &alone, &probes), lone);
    // Not even at block 0, before which nothing was read.
    assert_eq!(held(&keys, &[(0, R, 0, 5)], &[4, 5]), [true, false]);
    // 25 to 29 continue it: the track is read to its end and then from its start to
    // block 24, then the next one to its end: 175 more. In all 5 + 70 + 25 + 100 = 200
    // blocks.
    let stream = [(0, R, 20, 5), (20_000, R, 25, 5)];
    let found = held(&keys, &stream, &[0, 24, 25, 99, 100, 199, 200]);
    assert_eq!(found, [true, true, true, true, true, true, false]);
    // Blocks of other reads are gone; other reads take back their room, dropping the
    // oldest blocks.
    let other = [(0, R, 1000, 50), (50_000, R, 20, 5), (90_000, R, 25, 5)];
    assert_eq!(held(&keys, &other, &[1000, 1049]), [false, false]);
    let back = [stream[0], stream[1], (100_000, R, 1000, 50)];
    let found = held(&keys, &back, &[25, 74, 75, 199, 1000]);
    assert_eq!(found, [false, false, true, true, true]);
}

#[test]
fn a_window_follows_the_host() {
    let window = [SEGMENT, ("buffer.read_ahead_over_requested", "true")];
    let read = [(0, R, 20, 5)];
    // 50 blocks after the request have room.
    assert_eq!(held(&window, &read, &[24, 25, 74, 75]), [false, true, true, false]);
    assert_eq!(held(&[SEGMENT], &read, &[20, 25, 69, 70]), [true, true, true, false]);
    // A hit drops all blocks before its end, if they are there ...
    let hit = [(0, R, 20, 5), (100_000, R, 30, 5)];
    assert_eq!(held(&window, &hit, &[29, 34, 35]), [false, false, true]);
    // ... and if they are still passing.
    let passing = [(0, R, 20, 5), (2550, R, 30, 5)];
    assert_eq!(held(&window, &passing, &[29, 34, 35]), [false, false, true]);
    assert_eq!(held(&[SEGMENT], &passing, &[29, 34, 35]), [true, true, true]);
    // So does a write inside it, which stops read-ahead at block 44 (4500).
    for at in [4450, 100_000] {
        let write = [(0, R, 20, 5), (at, W, 30, 5)];
        assert_eq!(held(&window, &write, &[29, 34, 35, 44]), [false, false, true, true]);
        assert_eq!(held(&[SEGMENT], &write, &[29, 34, 35, 44]), [true; 4]);
    }
}

/// DiskSim's -1 for "Read-ahead over requested".
#[test]
fn a_window_may_drop_requested_blocks_at_once() {
    let over = ("buffer.read_ahead_over_requested", "true");
    let ahead = ("buffer.keep", "'ahead'");
    let most = ("buffer.read_ahead_max_blocks", "10");
    let free = ("buffer.read_free_blocks", "true");
    let read = [(0, R, 20, 5)];
    let probes = [5, 19, 20, 24, 25, 34];
    // Blocks 5 to 19 pass first, 25 to 34 are read ahead.
    let window = [SEGMENT, most, free, over];
    assert_eq!(held(&window, &read, &probes), [true; 6]);
    // Drops all blocks up to the end of the request, or the request alone.
    let drops = [SEGMENT, most, free, over, ahead];
    let found = held(&drops, &read, &probes);
    assert_eq!(found, [false, false, false, false, true, true]);
    let keeps = [SEGMENT, most, free, ahead];
    let found = held(&keeps, &read, &probes);
    assert_eq!(found, [true, true, false, false, true, true]);
    // For a hit as well.
    let hit = [(0, R, 20, 5), (100_000, R, 27, 3)];
    assert_eq!(held(&drops, &hit, &[25, 29, 30]), [false, false, true]);
    assert_eq!(held(&keeps, &hit, &[25, 29, 30]), [true, false, true]);
}

#[test]
fn hits_extend_read_ahead() {
    let keys = [SEGMENT, ("buffer.read_ahead_max_blocks", "10")];
    let on_hit = ("buffer.read_ahead_on_hit", "true");
    let with = [keys[0], keys[1], on_hit];
    // Read ahead to 34. A hit on 25 to 29 at 102,950 wants 30 to 39: on track at
    // 103,450, block 35 at 103,500.
    let idle = [(0, R, 20, 5), (102_950, R, 25, 5), (103_200, R, 35, 5)];
    assert_eq!(last(&with, &idle), 104_010.0);
    assert_eq!(last(&keys, &idle), 114_010.0);
    // While blocks up to 34 pass, it extends the goal: 35 to 39 follow.
    let busy = [(0, R, 20, 5), (2600, R, 25, 5), (3550, R, 30, 10)];
    assert_eq!(last(&with, &busy), 4010.0);
    assert_eq!(last(&keys, &busy), 14_010.0);
    // After a completed track, reading continues after all held blocks.
    let round = [
        ("buffer.read_ahead", "'cylinder'"),
        ("buffer.whole_track", "true"),
        ("buffer.segment_blocks", "100"),
        ("buffer.read_ahead_over_requested", "false"),
        on_hit,
    ];
    // 60 to 99 and 0 to 49 with the request: full. The hit on 50 to 54 leaves room for
    // 95 after it: 100 to 149 are read, not 50 again.
    let reads = [(0, R, 50, 10), (102_000, R, 50, 5), (120_000, R, 100, 5)];
    assert_eq!(last(&round, &reads), 120_050.0);
}

#[test]
fn read_ahead_stops_at_once_or_with_the_sector() {
    let keys = [SEGMENT, ("overheads.read_miss_after_read_ms", "0.05")];
    let stops = ("buffer.read_ahead_stops_in_sector", "true");
    let with = [keys[0], keys[1], stops];
    // Block 25 passes from 2500 to 2600; the arm leaves at 2501 + 50, or at
    // 2650, for track 5, 1100 away, where block 567 passes at 3700.
    let reads = [(0, R, 20, 5), (2501, R, 567, 1)];
    assert_eq!(last(&with, &reads), 3810.0);
    assert_eq!(last(&keys, &reads), 13_810.0);
    // Blocks that had passed are kept.
    assert_eq!(held(&with, &reads, &[24, 25]), [true, false]);
    assert_eq!(held(&keys, &reads, &[24, 25, 26]), [true, true, false]);
    let later = [(0, R, 20, 5), (4250, R, 567, 1)];
    assert_eq!(held(&with, &later, &[41, 42]), [true, false]);
    assert_eq!(held(&keys, &later, &[42, 43]), [true, false]);
}

#[test]
fn least_recently_used_segments_are_evicted_first() {
    let three = [(0, R, 0, 5), (50_000, R, 300, 5), (100_000, R, 600, 5)];
    assert_eq!(held(&[], &three, &[0, 300, 600]), [false, true, true]);
    assert_eq!(held(&[("buffer.segments", "3")], &three, &[0, 300, 600]), [true; 3]);
    // A hit counts as a use.
    let used = [three[0], three[1], (90_000, R, 0, 1), three[2]];
    assert_eq!(held(&[], &used, &[0, 300, 600]), [true, false, true]);
    // A segment is a queue: of 80 blocks the last 50 are held.
    assert_eq!(held(&[], &[(0, R, 10, 80)], &[39, 40, 89]), [false, true, true]);
    let small = [SEGMENT, ("buffer.read_ahead_over_requested", "true")];
    assert_eq!(held(&small, &[(0, R, 10, 80)], &[89, 90, 139, 140]), [false, true, true, false]);
}

#[test]
fn extents_are_served_in_order() {
    // 2000 to 2500, 6000 to 6500 without an access between.
    let read = batch(0, 0, R, &[(20, 5), (60, 5)]);
    let row = rows_of(&[SEGMENT], &[read])[0];
    assert_eq!((row.completion.0, row.passes), (6_510_000, 2));
    // Their order is kept, without read-ahead: on track at 12,000.
    let back = batch(0, 0, R, &[(60, 5), (20, 5)]);
    let all = [back, batch(1, 12_500, R, &[(25, 1)])];
    let rows = rows_of(&[SEGMENT], &all);
    assert_eq!(rows[0].completion.0, 12_510_000);
    assert_eq!(rows[1].completion.0, 22_610_000);
}

#[test]
fn sequential_reads_run_at_the_rate_of_media_and_bus() {
    let keys = [SEGMENT, ("buffer.read_ahead_on_hit", "true"), ("buffer.segment_blocks", "300")];
    let window = ("buffer.read_ahead_over_requested", "true");
    let reads = || (0..250).map(|number| (R, 8 * number, 8));
    // From 10,000 on: 2000 sectors, 10 changes of track and 9 of cylinder.
    let media_us = 10_000 + 2000 * 100 + 10 * 1000 + 9 * 2000;
    for ahead in ["'segment'", "'tracks'"] {
        for over in ["true", "false"] {
            let keys = [("buffer.read_ahead", ahead), keys[1], keys[2], (window.0, over)];
            let time = small::back_to_back(&keys, reads());
            assert_eq!(time.0, 1000 * (media_us + 10), "{ahead} {over}");
        }
    }
    // A bus of half that speed: all 2000 cross one after the other once the first is
    // available, and the media wait for it.
    let slow = [keys[0], keys[1], keys[2], window, ("bus_ms_per_block", "0.2")];
    let time = small::back_to_back(&slow, reads());
    assert!((410_000..=421_000).contains(&(time.0 / 1000)), "{time}");
    // One revolution for each without.
    let none = small::back_to_back(&[], reads());
    assert!(none.0 > 250 * 9_900_000, "{none}");
}
