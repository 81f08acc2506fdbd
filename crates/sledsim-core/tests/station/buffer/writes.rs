//! Writes: acknowledged, destaged and flushed.

use super::{Ask, OFF, OVERHEAD, asked, blocks_of, bus, serve, station};
use crate::common::run_through;
use crate::common::sleds::Log;
use sledsim_base::random::Stream;
use sledsim_base::request::{Flags, Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::queueing::controllers::Buffer;

#[test]
fn a_write_is_complete_when_it_is_in_and_is_destaged_when_nothing_waits() {
    let buffer = Buffer { write_back_segments: 3, ..OFF };
    let mut burst: Vec<Ask> = (0..10).map(|i| (0, Op::Write, 1_000_000 + 8 * i, 8)).collect();
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
    assert!(destaged.iter().all(|run| run.0 / 20 == (run.1 - 1) / 20), "row by row");
}

#[test]
fn a_flush_waits_for_dirty_blocks_only() {
    let buffer = Buffer { segments: 8, write_back_segments: 7, ..OFF };
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
    assert_eq!(flush.service(), Some(Nanos(spent)));
    assert_eq!(flush.parts.seek + flush.parts.transfer, Nanos(spent));
    assert!(flush.start >= ready && flush.start < ready + Nanos(2_000_000));
    assert!(flush.passes > 0);
    // Nothing left to do for the second.
    assert_eq!(rows[6].response(), OVERHEAD);
}

#[test]
fn a_flush_waits_for_the_row_that_is_being_written() {
    let buffer = Buffer { write_back_segments: 1, ..OFF };
    let write = (0, Op::Write, 1_000_000, 8);
    let (_, log) = serve(buffer, &[write]);
    let (at, end, _) = log.background()[0].clone();
    let middle = Nanos((at.0 + end.0) / 2);
    let mut all = asked(&[write]);
    all.push(Request { id: 1, arrival: middle - OVERHEAD, op: Op::Flush, ..Request::default() });
    let mut log = Log::default();
    run_through(&mut station(buffer, &log), &all, &mut log);
    assert_eq!(log.rows()[1].completion, end);
}

#[test]
fn a_full_buffer_writes_as_fast_as_the_media() {
    // Random writes of a row each for ever: what is let in is what is destaged.
    let buffer = Buffer { segments: 9, segment_blocks: 20, write_back_segments: 8, ..OFF };
    let mut random = Stream::new(5, "full");
    let all: Vec<Ask> = (0..3000).map(|_| (0, Op::Write, 20 * random.below(300_000), 20)).collect();
    let (rows, log) = serve(buffer, &all);
    let own = log.background();
    let destaged: u32 = own.iter().map(|(_, _, request)| request.blocks()).sum();
    let written: u32 = rows.iter().map(|row| row.blocks).sum();
    assert!(written - destaged < 20 * 20, "a few were written twice in the buffer");
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
    let buffer = Buffer { write_back_segments: 3, ..OFF };
    let mut all = asked(&[
        (0, Op::Write, 5000, 8),
        (50_000, Op::Read, 5000, 8),
        (60_000, Op::Write, 5000, 401),
    ]);
    all[0].flags.insert(Flags::FUA);
    let mut log = Log::default();
    run_through(&mut station(buffer, &log), &all, &mut log);
    let rows = log.rows();
    assert!(rows[0].passes > 0 && rows[0].parts.transfer > Nanos::ZERO);
    // It left no copy; and what does not fit a segment goes to the media too.
    assert!(rows[1].passes > 0 && rows[2].passes > 0);
    assert!(log.background().is_empty());
}
