//! Reads: hits, read-ahead, and which segments are replaced.

use super::{Ask, OFF, OVERHEAD, ROW, asked, blocks_of, bus, serve, station};
use crate::common::sleds::{Event, Log, Spy, sled};
use crate::common::{device, run_open, run_through};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::model::Model;
use sledsim_core::queueing::controllers::{Buffer, Buffered, Interface, ReadAhead};
use sledsim_core::queueing::schedulers::SchedulerSpec;

#[test]
fn a_buffer_that_never_helps_changes_nothing() {
    // Requests of 9 blocks and more at random places never fit the one segment
    // of two blocks, and nothing is read ahead or held back.
    let choices: [&[(&str, &str)]; 3] = [
        &[],
        &[("idle", "'coast'"), ("inactive_after_ms", "3")],
        &[("direction", "'best_run'"), ("bus_ms_per_block", "0")],
    ];
    for name in ["g1", "g2", "g3", "sigmetrics2000"] {
        for choice in choices {
            let rows = |buffer: &[(&str, &str)]| {
                let overrides: Vec<_> = choice.iter().chain(buffer).copied().collect();
                let (mut model, _) =
                    device(name, &overrides).build(&|| SchedulerSpec::default().make());
                let mut random = Stream::new(3, "twin");
                let mut arrival = Nanos::ZERO;
                let all: Vec<Request> = (0..2000)
                    .map(|id| {
                        arrival += Nanos(random.below(2_500_000));
                        let op = [Op::Read, Op::Read, Op::Write][random.below(3) as usize];
                        let extents = (0..1 + random.below(8) / 7).map(|_| Extent {
                            lbn: random.below(4_000_000),
                            blocks: 9 + random.below(300) as u32,
                        });
                        Request {
                            id,
                            arrival,
                            op,
                            extents: extents.collect(),
                            ..Request::default()
                        }
                    })
                    .collect();
                let mut rows = run_open(&mut *model, &all).done;
                rows.sort_by_key(|row| row.id);
                rows
            };
            let small = [("buffer.size_kib", "1"), ("buffer.segments", "1")];
            for (plain, buffered) in rows(&[]).iter().zip(&rows(&small)) {
                assert_eq!(plain, buffered, "{name} {choice:?}");
            }
        }
    }
}

#[test]
fn a_hit_takes_its_command_and_the_bus() {
    let (rows, log) = serve(
        OFF,
        &[
            (0, Op::Read, 1000, 40),
            (50_000, Op::Read, 1000, 40),
            (60_000, Op::Read, 1017, 5),
            (70_000, Op::Read, 999, 5),
        ],
    );
    assert!(rows[0].passes > 0);
    for (row, blocks) in [(&rows[1], 40), (&rows[2], 5)] {
        assert_eq!(row.response(), OVERHEAD + bus(blocks), "{row:?}");
        assert_eq!(row.start, row.arrival + OVERHEAD);
        let parts = &row.parts;
        assert_eq!(
            (parts.seek, parts.transfer, parts.queue),
            (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO)
        );
        assert_eq!((row.passes, row.energy_nj), (0, 0));
    }
    // The first of its blocks is missing: the sled reads all of it.
    assert!(rows[3].passes > 0);
    assert_eq!(log.events().len(), 4 + 2, "four rows, two services");
}

#[test]
fn read_hits_are_the_reads_without_a_pass() {
    // The reads of the test above, of which two are hits; a write into the buffer,
    // which does not count; a read of what was read ahead to the end of the track at
    // 1080, and one behind it.
    let buffer = Buffer { read_ahead: ReadAhead::Track, write_back_segments: 1, ..OFF };
    let asks = [
        (0, Op::Read, 1000, 40),
        (50_000, Op::Read, 1000, 40),
        (60_000, Op::Read, 1017, 5),
        (70_000, Op::Read, 999, 5),
        (80_000, Op::Write, 1000, 5),
        (90_000, Op::Read, 1050, 10),
        (100_000, Op::Read, 1080, 20),
    ];
    let hits_of = |requests: &[Request]| {
        let log = Log::default();
        let mut model = station(buffer, &log);
        run_through(&mut model, requests, &mut log.clone());
        let mut reports = Vec::new();
        model.report(Nanos::MAX, &mut reports);
        let counts = &reports[0].counts;
        let hits = counts.iter().find(|count| count.0 == "read_hits");
        (hits.expect("a count").1, log.rows())
    };
    let (hits, rows) = hits_of(&asked(&asks));
    let passes: Vec<bool> = rows.iter().map(|row| row.passes > 0).collect();
    assert_eq!(passes, [true, false, false, true, false, false, true]);
    assert_eq!(hits, 3);
    // Any load: some hits wait for what is being read.
    let mut random = Stream::new(9, "hits");
    let (mut at, mut next) = (0, 0);
    let load: Vec<Request> = (0..3000)
        .map(|id| {
            at += random.below(400_000);
            let op = [Op::Read, Op::Read, Op::Write][random.below(9) as usize / 4];
            let jump = random.chance(0.1) || next > 200_000;
            let lbn = if jump { random.below(3000) } else { next };
            let blocks = 1 + random.below(30) as u32;
            next = lbn + u64::from(blocks);
            Request::new(id, Nanos(at), op, lbn, blocks)
        })
        .collect();
    let (hits, rows) = hits_of(&load);
    let read = |row: &&Row| row.op == Op::Read && row.passes == 0;
    assert_eq!(hits, rows.iter().filter(read).count() as u64);
    let waited = |row: &&Row| read(row) && row.parts.queue > Nanos::ZERO;
    let waits = rows.iter().filter(waited).count();
    assert!((100..2400).contains(&hits) && waits > 20, "{hits} {waits}");
}

#[test]
fn the_first_part_of_a_read_may_be_held() {
    let (rows, log) = serve(OFF, &[(0, Op::Read, 1000, 40), (50_000, Op::Read, 1010, 50)]);
    let Event::Served { request, .. } = &log.events()[2] else {
        panic!("the sled serves the second read");
    };
    assert_eq!((request.lbn(), request.blocks()), (1040, 20));
    assert_eq!((rows[1].lbn, rows[1].blocks), (1010, 50));
}

#[test]
fn read_ahead_goes_on_in_whole_rows_to_its_goal() {
    // A row of g2 has 20 blocks, a track 27 rows, a cylinder 5 tracks.
    let goals = [
        (ReadAhead::None, 48),
        (ReadAhead::Blocks(30), 80),
        (ReadAhead::Blocks(32), 80),
        (ReadAhead::Blocks(33), 100),
        (ReadAhead::Track, 540),
        (ReadAhead::Cylinder, 2700),
        (ReadAhead::Full, 48 + 4000 - 8),
    ];
    for (read_ahead, end) in goals {
        let buffer = Buffer { segment_blocks: 4000, read_ahead, ..OFF };
        let (_, log) = serve(buffer, &[(0, Op::Read, 40, 8)]);
        let read = blocks_of(&log.background());
        // The rest of the row of the read itself comes along.
        let Event::Served { request, .. } = &log.events()[0] else {
            panic!("the read is served first");
        };
        if end == 48 {
            assert_eq!((read, request.blocks()), (vec![], 8));
            continue;
        }
        assert_eq!((read[0], request.blocks()), ((60, 80), 20));
        assert!(read.windows(2).all(|pair| pair[0].1 == pair[1].0));
        assert!(read.iter().all(|run| run.1 % 20 == 0), "whole rows");
        // Full: whole rows that fit behind block 48.
        assert_eq!(read[read.len() - 1].1, end, "{read_ahead:?}");
    }
    // The end of the device ends it too, and one segment bounds every goal.
    let last = sled("g2", &[]).positions().blocks();
    let far = Buffer { read_ahead: ReadAhead::Blocks(u32::MAX), ..OFF };
    let (_, log) = serve(far, &[(0, Op::Read, last - 30, 8)]);
    assert_eq!(blocks_of(&log.background()), [(last - 20, last)]);
    let (_, log) = serve(far, &[(0, Op::Read, 0, 20)]);
    assert_eq!(log.background().len(), 20, "400 blocks ahead of the host");
}

#[test]
fn the_rest_of_a_row_costs_a_read_nothing() {
    // Reads of all lengths, also across the ends of tracks and cylinders, with
    // read-ahead and without: the same start, passes and completion.
    let ahead = Buffer { read_ahead: ReadAhead::Full, ..OFF };
    for track in [540, 5 * 540] {
        for lbn in track - 45..track + 25 {
            for blocks in [1, 7, 19, 20, 33] {
                let ask = [(0, Op::Read, lbn, blocks)];
                let (alone, followed) = (serve(OFF, &ask).0[0], serve(ahead, &ask).0[0]);
                let times = |row: &Row| (row.start, row.completion, row.passes, row.parts);
                assert_eq!(times(&alone), times(&followed));
            }
        }
    }
}

#[test]
fn rows_read_ahead_follow_each_other_as_in_one_long_read() {
    let buffer = Buffer { segment_blocks: 6000, read_ahead: ReadAhead::Full, ..OFF };
    let (rows, log) = serve(buffer, &[(0, Op::Read, 0, 20)]);
    let own = log.background();
    let whole = Request::new(0, Nanos::ZERO, Op::Read, 0, 6020);
    let mut steps = Vec::new();
    let once = sled("g2", &[]).serve(OVERHEAD, &whole, &mut steps);
    let end = own[own.len() - 1].1;
    assert_eq!(own.len() as u32 + 1, once.passes);
    // Each pass is rounded to nanoseconds on its own here.
    let apart = (end - rows[0].start).0.abs_diff(once.parts.total().0);
    assert!(apart <= u64::from(once.passes), "{apart} ns");
}

#[test]
fn a_read_of_blocks_being_read_waits_for_them() {
    let buffer = Buffer { read_ahead: ReadAhead::Full, ..OFF };
    // The first read takes up row 0; rows 1 to 20 are then read ahead, and a
    // read that comes when row 2 or 3 is under its tips wants blocks of it.
    let first = serve(buffer, &[(0, Op::Read, 0, 20)]).1;
    for row in [2, 3] {
        let (from, to, request) = first.background()[row].clone();
        let ready = from + Nanos((to - from).0 / 2);
        let arrival = ready - OVERHEAD;
        let (lbn, mut log) = (request.lbn(), Log::default());
        let mut station = station(buffer, &log);
        let mut all = asked(&[(0, Op::Read, 0, 20)]);
        all.push(Request::new(1, arrival, Op::Read, lbn + 3, 9));
        run_through(&mut station, &all, &mut log);
        let second = log.rows()[1];
        assert_eq!(second.passes, 0);
        assert_eq!(second.completion, to + bus(9));
        assert_eq!(second.parts.queue, to - ready, "{second:?}");
        // Read-ahead went on as before, but as far as the host now is.
        assert_eq!(log.background()[..=row], first.background()[..=row]);
        assert!(log.background().len() >= first.background().len());
    }
    // One that wants more than that row goes on from there, without a seek.
    let (from, to, request) = first.background()[2].clone();
    let mut all = asked(&[(0, Op::Read, 0, 20)]);
    let arrival = from + Nanos(1000) - OVERHEAD;
    all.push(Request::new(1, arrival, Op::Read, request.lbn(), 60));
    let mut log = Log::default();
    run_through(&mut station(buffer, &log), &all, &mut log);
    let second = log.rows()[1];
    assert_eq!((second.start, second.passes), (to, 2));
    assert_eq!(second.parts.seek, Nanos::ZERO);
}

#[test]
fn a_request_that_comes_as_a_row_ends_is_next() {
    // Without command overhead it is ready at the very instant of the decision.
    let serve = |all: &[Request]| {
        let mut log = Log::default();
        let spy = Spy::new(sled("g2", &[]), &log);
        let buffer = Buffer { read_ahead: ReadAhead::Full, ..OFF };
        let scheduler = SchedulerSpec::default().make();
        let interface = Interface::default();
        let mut station = Buffered::new("g2", 0, spy, scheduler, interface, buffer);
        run_through(&mut station, all, &mut log);
        log
    };
    let first = Request::new(0, Nanos::ZERO, Op::Read, 0, 20);
    let alone = serve(std::slice::from_ref(&first));
    for (_, end, _) in &alone.background()[..5] {
        let second = Request::new(1, *end, Op::Read, 3_000_000, 8);
        let rows = serve(&[first.clone(), second]).rows();
        assert_eq!(rows[1].start, *end);
    }
}

#[test]
fn two_reads_of_the_same_blocks_need_one_pass() {
    let (rows, log) = serve(OFF, &[(0, Op::Read, 100, 8), (0, Op::Read, 102, 4)]);
    assert_eq!(rows[1].passes, 0);
    // The first one's data take the bus first.
    assert_eq!(rows[1].completion, rows[0].completion + bus(4));
    assert_eq!(log.events().len(), 3);
}

#[test]
fn read_ahead_delays_others_by_at_most_the_pass_it_is_in() {
    let buffer = Buffer { read_ahead: ReadAhead::Full, ..OFF };
    let mut random = Stream::new(8, "delay");
    let (mut late, mut longest) = (0, Nanos::ZERO);
    for _ in 0..2000 {
        // Another read, at any moment of the read-ahead after the first.
        let (lbn, elsewhere) = (random.below(5_000_000), random.below(5_000_000));
        let first = (0, Op::Read, lbn, 8);
        let done_us = serve(buffer, &[first]).0[0].completion.0.div_ceil(1000);
        let arrival = done_us + random.below(3000);
        let (rows, log) = serve(buffer, &[first, (arrival, Op::Read, elsewhere, 8)]);
        let second = &rows[1];
        let own = log.background();
        let before = |(at, end, _): &(Nanos, Nanos, Request)| (*at < second.start).then_some(*end);
        let free = own.iter().filter_map(before).max().unwrap_or_default();
        let ready = second.arrival + OVERHEAD;
        assert_eq!(second.start, ready.max(free), "{second:?}");
        // Nothing is begun between its arrival and its service, unless it lies
        // where read-ahead was going anyway.
        let begun = own.iter().filter(|(at, ..)| *at > second.arrival && *at < second.start);
        assert!(begun.count() == 0 || (lbn..lbn + 408).contains(&elsewhere));
        late += usize::from(second.start > ready);
        longest = longest.max(second.start - ready);
    }
    // A row takes 129 us and the command 200: only passes that begin with a
    // turnaround (55 us more) or a cylinder switch (229 us more) can be late.
    assert!(late < 60 && longest < ROW + Nanos(230_000) - OVERHEAD, "{late} {longest}");
}

#[test]
fn segments_are_replaced_least_recently_used_first() {
    // Four segments; five places in turn, the second used again in between.
    let places = [0, 100_000, 200_000, 300_000, 100_000, 400_000];
    let mut all: Vec<Ask> = Vec::new();
    for (turn, place) in places.into_iter().chain([100_000, 300_000, 0]).enumerate() {
        all.push((50_000 * turn as u64, Op::Read, place, 50));
    }
    let (rows, _) = serve(OFF, &all);
    let hits: Vec<bool> = rows.iter().map(|row| row.passes == 0).collect();
    assert_eq!(hits, [false, false, false, false, true, false, true, true, false]);
    // A read larger than a segment leaves its end.
    let (rows, _) = serve(
        OFF,
        &[(0, Op::Read, 0, 500), (50_000, Op::Read, 100, 400), (100_000, Op::Read, 99, 2)],
    );
    assert_eq!((rows[1].passes, rows[2].passes > 0), (0, true));
}
