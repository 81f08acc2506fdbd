//! Does a buffer cost and save what its description says? Times are worked out
//! by hand from the times of the sled alone, of the bus and of the command.

use crate::common::sleds::{Event, Log, Spy, sled};
use crate::common::{device, run_open, run_through};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::{Device, Override};
use sledsim_core::model::mechanism::Step;
use sledsim_core::model::{Energy, Model, Report};
use sledsim_core::queueing::schedulers::Choice;
use sledsim_core::queueing::station::{Buffer, Buffered, Interface, ReadAhead, SpeedMatching};

/// g2's command overhead, bus time of a block, and time of a row.
const OVERHEAD: Nanos = Nanos(200_000);
const BLOCK: Nanos = Nanos(5_120);
const ROW: Nanos = Nanos(128_571);

const OFF: Buffer = Buffer {
    segments: 4,
    segment_blocks: 400,
    read_ahead: ReadAhead::None,
    write_back_segments: 0,
    speed_matching: SpeedMatching::Pass,
};

fn station(buffer: Buffer, log: &Log) -> Buffered<Spy> {
    let spy = Spy::new(sled("g2", &[]), log);
    let interface = Interface {
        overhead: OVERHEAD,
        bus_ns_per_block: 5120.0,
    };
    Buffered::new("g2", 0, spy, Choice::default().make(), interface, buffer)
}

/// (arrival in us, op, lbn, blocks).
type Ask = (u64, Op, u64, u32);

fn asked(requests: &[Ask]) -> Vec<Request> {
    let requests = requests.iter().enumerate();
    requests
        .map(|(id, &(us, op, lbn, blocks))| {
            Request::new(id as u64, Nanos(us * 1000), op, lbn, blocks)
        })
        .collect()
}

fn serve(buffer: Buffer, requests: &[Ask]) -> (Vec<Row>, Log) {
    let mut log = Log::default();
    run_through(
        &mut station(buffer, &log),
        &asked(requests),
        &mut log.clone(),
    );
    let rows = log.rows();
    assert_eq!(rows.len(), requests.len());
    log = log.clone();
    (rows, log)
}

fn bus(blocks: u64) -> Nanos {
    Nanos(BLOCK.0 * blocks)
}

fn blocks_of(own: &[(Nanos, Nanos, Request)]) -> Vec<(u64, u64)> {
    own.iter()
        .map(|(_, _, r)| (r.lbn(), r.extents[0].end()))
        .collect()
}

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
                let (mut model, _) = device(name, &overrides).build(&|| Choice::default().make());
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
fn the_first_part_of_a_read_may_be_held() {
    let (rows, log) = serve(
        OFF,
        &[(0, Op::Read, 1000, 40), (50_000, Op::Read, 1010, 50)],
    );
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
        let buffer = Buffer {
            segment_blocks: 4000,
            read_ahead,
            ..OFF
        };
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
    let last = sled("g2", &[]).blocks();
    let far = Buffer {
        read_ahead: ReadAhead::Blocks(u32::MAX),
        ..OFF
    };
    let (_, log) = serve(far, &[(0, Op::Read, last - 30, 8)]);
    assert_eq!(blocks_of(&log.background()), [(last - 20, last)]);
    let (_, log) = serve(far, &[(0, Op::Read, 0, 20)]);
    assert_eq!(log.background().len(), 20, "400 blocks ahead of the host");
}

#[test]
fn the_rest_of_a_row_costs_a_read_nothing() {
    // Reads of all lengths, also across the ends of tracks and cylinders, with
    // read-ahead and without: the same start, passes and completion.
    let ahead = Buffer {
        read_ahead: ReadAhead::Full,
        ..OFF
    };
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
    let buffer = Buffer {
        segment_blocks: 6000,
        read_ahead: ReadAhead::Full,
        ..OFF
    };
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
    let buffer = Buffer {
        read_ahead: ReadAhead::Full,
        ..OFF
    };
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
        let buffer = Buffer {
            read_ahead: ReadAhead::Full,
            ..OFF
        };
        let scheduler = Choice::default().make();
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
    let buffer = Buffer {
        read_ahead: ReadAhead::Full,
        ..OFF
    };
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
        let begun = own
            .iter()
            .filter(|(at, ..)| *at > second.arrival && *at < second.start);
        assert!(begun.count() == 0 || (lbn..lbn + 408).contains(&elsewhere));
        late += usize::from(second.start > ready);
        longest = longest.max(second.start - ready);
    }
    // A row takes 129 us and the command 200: only passes that begin with a
    // turnaround (55 us more) or a cylinder switch (229 us more) can be late.
    assert!(
        late < 60 && longest < ROW + Nanos(230_000) - OVERHEAD,
        "{late} {longest}"
    );
}

#[test]
fn a_write_is_complete_when_it_is_in_and_is_destaged_when_nothing_waits() {
    let buffer = Buffer {
        write_back_segments: 3,
        ..OFF
    };
    let mut burst: Vec<Ask> = (0..10)
        .map(|i| (0, Op::Write, 1_000_000 + 8 * i, 8))
        .collect();
    burst.push((0, Op::Write, 3_000_000, 100));
    burst.push((200_000, Op::Read, 1_000_004, 70));
    let (rows, log) = serve(buffer, &burst);
    let mut bus_free = Nanos::ZERO;
    for row in &rows[..11] {
        bus_free = bus_free + OVERHEAD + bus(u64::from(row.blocks));
        assert_eq!(row.completion, bus_free, "one after the other over the bus");
        assert_eq!((row.passes, row.parts.bus), (0, bus(u64::from(row.blocks))));
    }
    // What was written is a hit, before and after destaging.
    assert_eq!(rows[11].passes, 0);
    let own = log.background();
    assert!(own.iter().all(|(_, _, request)| request.op == Op::Write));
    let mut destaged: Vec<(u64, u64)> = blocks_of(&own);
    destaged.sort_unstable();
    let total: u64 = destaged.iter().map(|run| run.1 - run.0).sum();
    assert_eq!(total, 180, "each block once: {destaged:?}");
    assert!(
        destaged.iter().all(|run| run.0 / 20 == (run.1 - 1) / 20),
        "row by row"
    );
}

#[test]
fn a_flush_waits_for_what_is_dirty_and_for_no_more() {
    let buffer = Buffer {
        segments: 8,
        write_back_segments: 7,
        ..OFF
    };
    let writes: Vec<Ask> = (0..5).map(|i| (0, Op::Write, 1_000_000 * i, 60)).collect();
    let mut all = writes;
    all.push((1000, Op::Flush, 0, 1));
    all.push((300_000, Op::Flush, 0, 1));
    let (rows, log) = serve(buffer, &all);
    let own = log.background();
    let total: u32 = own.iter().map(|(_, _, request)| request.blocks()).sum();
    assert_eq!(total, 300);
    let flush = &rows[5];
    assert_eq!(flush.completion, own[own.len() - 1].1);
    let ready = rows[4].completion + OVERHEAD;
    assert_eq!(flush.parts.overhead, OVERHEAD);
    // From the moment the sled was free, all of it is destaging.
    let begun = own.iter().filter(|(at, ..)| *at >= flush.start);
    let spent: u64 = begun.map(|(at, end, _)| (*end - *at).0).sum();
    assert_eq!(flush.service(), Nanos(spent));
    assert_eq!(flush.parts.seek + flush.parts.transfer, flush.service());
    assert!(flush.start >= ready && flush.start < ready + Nanos(2_000_000));
    assert!(flush.passes > 0);
    // Nothing left to do for the second.
    assert_eq!(rows[6].response(), OVERHEAD);
}

#[test]
fn a_flush_waits_for_the_row_that_is_being_written() {
    let buffer = Buffer {
        write_back_segments: 1,
        ..OFF
    };
    let write = (0, Op::Write, 1_000_000, 8);
    let (_, log) = serve(buffer, &[write]);
    let (at, end, _) = log.background()[0].clone();
    let middle = Nanos((at.0 + end.0) / 2);
    let mut all = asked(&[write]);
    all.push(Request {
        id: 1,
        arrival: middle - OVERHEAD,
        op: Op::Flush,
        ..Request::default()
    });
    let mut log = Log::default();
    run_through(&mut station(buffer, &log), &all, &mut log);
    assert_eq!(log.rows()[1].completion, end);
}

#[test]
fn a_full_buffer_writes_as_fast_as_the_media() {
    // Random writes of a row each for ever: what is let in is what is destaged.
    let buffer = Buffer {
        segments: 9,
        segment_blocks: 20,
        write_back_segments: 8,
        ..OFF
    };
    let mut random = Stream::new(5, "full");
    let all: Vec<Ask> = (0..3000)
        .map(|_| (0, Op::Write, 20 * random.below(300_000), 20))
        .collect();
    let (rows, log) = serve(buffer, &all);
    let own = log.background();
    let destaged: u32 = own.iter().map(|(_, _, request)| request.blocks()).sum();
    let written: u32 = rows.iter().map(|row| row.blocks).sum();
    assert!(
        written - destaged < 20 * 20,
        "a few were written twice in the buffer"
    );
    assert!(rows.iter().all(|row| row.passes == 0));
    // At any completion, no more than the eight segments are not on the media.
    let mut ends: Vec<Nanos> = own.iter().map(|(_, end, _)| *end).collect();
    ends.sort_unstable();
    let mut completions: Vec<Nanos> = rows.iter().map(|row| row.completion).collect();
    completions.sort_unstable();
    for (count, at) in completions.iter().enumerate() {
        let done = ends.partition_point(|end| end <= at);
        assert!(count < done + 8 + 20, "{count} complete, {done} destaged");
    }
    // The sled is never idle once the buffer is full.
    let busy: u64 = own.iter().map(|(at, end, _)| (*end - *at).0).sum();
    let first = own[0].0;
    assert_eq!(busy, (ends[ends.len() - 1] - first).0);
}

#[test]
fn durable_writes_wait_for_the_media() {
    let buffer = Buffer {
        write_back_segments: 3,
        ..OFF
    };
    let mut all = asked(&[
        (0, Op::Write, 5000, 8),
        (50_000, Op::Read, 5000, 8),
        (60_000, Op::Write, 5000, 401),
    ]);
    all[0].flags.fua = true;
    let mut log = Log::default();
    run_through(&mut station(buffer, &log), &all, &mut log);
    let rows = log.rows();
    assert!(rows[0].passes > 0 && rows[0].parts.transfer > Nanos::ZERO);
    // It left no copy; and what does not fit a segment goes to the media too.
    assert!(rows[1].passes > 0 && rows[2].passes > 0);
    assert!(log.background().is_empty());
}

#[test]
fn speed_matching_overlaps_bus_and_media() {
    // 60 blocks: three rows of 20, one after the other.
    let completion = |speed_matching, op| {
        let buffer = Buffer {
            speed_matching,
            ..OFF
        };
        let (rows, log) = serve(buffer, &[(0, op, 2_000_000, 60)]);
        let Event::Served { at, end, .. } = log.events()[0] else {
            panic!("served first");
        };
        assert_eq!(rows[0].start, at);
        (at, end, rows[0].completion)
    };
    let (_, media, stored) = completion(SpeedMatching::None, Op::Read);
    assert_eq!(stored, media + bus(60));
    let (_, media, by_row) = completion(SpeedMatching::Pass, Op::Read);
    assert_eq!(by_row, media + bus(20), "the bus is faster than the media");
    let (_, media, by_block) = completion(SpeedMatching::Block, Op::Read);
    assert_eq!(by_block, media + bus(1));
    let (at, media, end) = completion(SpeedMatching::None, Op::Write);
    assert_eq!(
        at,
        OVERHEAD + bus(60),
        "the data are in before the sled starts"
    );
    assert_eq!(end, media);
    let (at, media, end) = completion(SpeedMatching::Pass, Op::Write);
    assert_eq!((at, end), (OVERHEAD, media.max(OVERHEAD + bus(60))));
}

#[test]
fn a_bus_slower_than_the_media_is_the_limit_however_they_overlap() {
    for speed_matching in [SpeedMatching::Pass, SpeedMatching::Block] {
        let buffer = Buffer {
            speed_matching,
            ..OFF
        };
        let spy = sled("g2", &[]);
        let log = Log::default();
        let interface = Interface {
            overhead: Nanos::ZERO,
            bus_ns_per_block: 50_000.0,
        };
        let spy = Spy::new(spy, &log);
        let scheduler = Choice::default().make();
        let mut station = Buffered::new("slow", 0, spy, scheduler, interface, buffer);
        run_through(
            &mut station,
            &asked(&[(0, Op::Read, 2_000_000, 60)]),
            &mut log.clone(),
        );
        let Event::Served { request, .. } = log.events()[0].clone() else {
            panic!("served first");
        };
        let mut steps: Vec<Step> = Vec::new();
        sled("g2", &[]).serve(Nanos::ZERO, &request, &mut steps);
        // The bus starts when the first row, or block, is there, and then
        // never waits.
        let first = match speed_matching {
            SpeedMatching::Block => steps[0].end.0 - ROW.0 * 19 / 20,
            _ => steps[0].end.0,
        };
        let expected = first + 60 * 50_000;
        assert!(log.rows()[0].completion.0.abs_diff(expected) <= 2);
    }
}

#[test]
fn segments_are_given_up_least_recently_used_first() {
    // Four segments; five places in turn, the second used again in between.
    let places = [0, 100_000, 200_000, 300_000, 100_000, 400_000];
    let mut all: Vec<Ask> = Vec::new();
    for (turn, place) in places.into_iter().chain([100_000, 300_000, 0]).enumerate() {
        all.push((50_000 * turn as u64, Op::Read, place, 50));
    }
    let (rows, _) = serve(OFF, &all);
    let hits: Vec<bool> = rows.iter().map(|row| row.passes == 0).collect();
    assert_eq!(
        hits,
        [false, false, false, false, true, false, true, true, false]
    );
    // A read larger than a segment leaves its end.
    let (rows, _) = serve(
        OFF,
        &[
            (0, Op::Read, 0, 500),
            (50_000, Op::Read, 100, 400),
            (100_000, Op::Read, 99, 2),
        ],
    );
    assert_eq!((rows[1].passes, rows[2].passes > 0), (0, true));
}

/// A mixed load, and what the station reports of it.
fn spend(buffer: Buffer) -> (Log, Report) {
    let mut random = Stream::new(12, "energy");
    let mut next = 0;
    let all: Vec<Ask> = (0..600)
        .map(|id| {
            let lbn = if random.chance(0.6) {
                next
            } else {
                random.below(1_000_000)
            };
            let blocks = 1 + random.below(60);
            next = lbn + blocks;
            let op = [Op::Read, Op::Read, Op::Write, Op::Flush];
            let op = op[random.below(40).min(30) as usize / 10];
            let op = if op == Op::Flush && id % 3 > 0 {
                Op::Read
            } else {
                op
            };
            (id * 3000, op, lbn, blocks as u32)
        })
        .collect();
    let log = Log::default();
    let mut station = station(buffer, &log);
    run_through(&mut station, &asked(&all), &mut log.clone());
    let mut reports = Vec::new();
    station.report(Nanos(3_000_000_000), &mut reports);
    (log, reports.remove(0))
}

#[test]
fn energy_is_that_of_the_sled_told_apart_by_cause() {
    let buffer = Buffer {
        read_ahead: ReadAhead::Blocks(100),
        write_back_segments: 2,
        ..OFF
    };
    let (log, report) = spend(buffer);
    // The same services, one after the other, on a sled of its own.
    let mut alone = sled("g2", &[]);
    let (mut ahead_nj, mut destage_nj, mut busy) = (0, 0, 0);
    for event in log.events() {
        let Event::Served { at, request, .. } = event else {
            continue;
        };
        let service = alone.serve(at, &request, &mut Vec::new());
        busy += service.parts.total().0;
        match (request.flags.background, request.op) {
            (true, Op::Read) => ahead_nj += service.energy_nj,
            (true, _) => destage_nj += service.energy_nj,
            _ => {}
        }
    }
    assert_eq!(report.busy, Nanos(busy));
    let close = |ours: f64, other: f64| {
        assert!((ours - other).abs() < 1e-5 * other, "{ours} {other}");
    };
    close(report.energy.read_ahead_j, ahead_nj as f64 * 1e-9);
    close(report.energy.destage_j, destage_nj as f64 * 1e-9);
    let total: Energy = alone.energy(Nanos(3_000_000_000));
    close(report.energy.total_j(), total.total_j());
    close(report.energy.idle_j, total.idle_j);
    let rows_nj: u64 = log.rows().iter().map(|row| row.energy_nj).sum();
    let Energy {
        seek_j,
        transfer_j,
        startup_j,
        ..
    } = report.energy;
    close(rows_nj as f64 * 1e-9, seek_j + transfer_j + startup_j);
    assert!(report.energy.read_ahead_j > 0.01 && report.energy.destage_j > 0.001);
}

#[test]
fn mistakes_in_a_buffer_are_named() {
    let cases: [(&[(&str, &str)], &str); 7] = [
        (&[("buffer.segments", "1")], "missing key 'buffer.size_kib'"),
        (
            &[("buffer.size_kib", "64")],
            "missing key 'buffer.segments'",
        ),
        (
            &[("buffer.size_kib", "1"), ("buffer.segments", "3")],
            "buffer.segments = 3: must be at most the 2 blocks of size_kib",
        ),
        (
            &[
                ("buffer.size_kib", "64"),
                ("buffer.segments", "4"),
                ("buffer.write_back_segments", "4"),
            ],
            "buffer.write_back_segments = 4: must be an integer from 0 to 3",
        ),
        (
            &[
                ("buffer.size_kib", "64"),
                ("buffer.segments", "4"),
                ("buffer.read_ahead", "'row'"),
            ],
            "an integer from 1 to 4294967295, or \"none\", \"track\", \"cylinder\" or \"full\"",
        ),
        (
            &[("buffer.size_kb", "64"), ("buffer.segments", "4")],
            "size_kib",
        ),
        (
            &[
                ("buffer.size_kib", "64"),
                ("buffer.segments", "4"),
                ("buffer.write_back", "true"),
            ],
            "'buffer.write_back'",
        ),
    ];
    for (overrides, says) in cases {
        let overrides: Vec<Override> = overrides
            .iter()
            .map(|(key, value)| {
                let value = value.parse().expect("TOML");
                ((*key).to_owned(), value, format!("--set {key}"))
            })
            .collect();
        let message = Device::resolve("g2", &overrides)
            .expect_err("a mistake")
            .to_string();
        assert!(message.contains(says), "{message:?} lacks {says:?}");
    }
}
