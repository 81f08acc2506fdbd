//! Are the times of devices without a buffer unchanged?
//!
//! A regression test: the checksums are outputs recorded just before stations
//! got buffers, and again when passes could continue into the next extent of a
//! request. They show that times are unchanged; other tests show that they are
//! right. After an intended change of a preset's times, take the new checksums
//! from the message of this test.

use crate::common::{Rows, device, run_open};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::queueing::schedulers::SchedulerSpec;

/// 64-bit FNV-1a over every number of every row.
fn checksum(rows: &[Row]) -> u64 {
    let numbers = rows.iter().flat_map(|row| {
        let parts = &row.parts;
        [
            row.id,
            row.arrival.0,
            row.start.0,
            row.completion.0,
            u64::from(row.queue_depth),
            parts.overhead.0,
            parts.queue.0,
            parts.seek.0,
            parts.x_seek.0,
            parts.y_seek.0,
            parts.settle.0,
            parts.turnaround.0,
            parts.transfer.0,
            parts.bus.0,
            parts.other.0,
            u64::from(row.passes),
            row.energy_nj,
        ]
    });
    numbers.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Three thousand requests: random ones, runs, batches, flushes and trims, at
/// a rate that makes some wait and lets the device park now and then.
fn requests(blocks: u64) -> Vec<Request> {
    let mut random = Stream::new(77, "unbuffered");
    let (mut arrival, mut next) = (Nanos::ZERO, 0);
    (0..3000)
        .map(|id| {
            let pause = if random.below(100) == 0 { 1000 } else { 1 };
            arrival += Nanos(random.below(2_000_000 * pause));
            let op = match random.below(20) {
                0 => Op::Flush,
                1 => Op::Trim,
                2..=7 => Op::Write,
                _ => Op::Read,
            };
            let extents = match op {
                Op::Flush => 0,
                _ => 1 + random.below(10) / 9,
            };
            let mut extent = || {
                let length = random.geometric(20.0).min(500);
                let follows = random.chance(0.4) && next + length <= blocks;
                let lbn = if follows { next } else { random.below(blocks - length + 1) };
                next = lbn + length;
                Extent { lbn, blocks: length as u32 }
            };
            Request {
                id,
                arrival,
                op,
                extents: (0..extents).map(|_| extent()).collect(),
                ..Request::default()
            }
        })
        .collect()
}

#[test]
fn times_of_presets_are_unchanged_to_the_nanosecond() {
    // The sled of osdi2000 kept ready has the times from before it had an idle mode.
    let ready = [("inactive_after_ms", "inf")];
    // That of msst2005 is g2 without overhead.
    let overhead = [("command_overhead_ms", "0.2")];
    let before = [
        ("sigmetrics2000", &[][..], 758_148_141_409_209_728),
        ("osdi2000", &ready[..], 2_797_185_553_925_729_824),
        ("g1", &[], 10_051_099_957_324_114_660),
        ("g2", &[], 9_063_958_890_286_386_900),
        ("g3", &[], 4_962_217_028_647_509_267),
        ("cmu2003", &[], 1_646_868_398_380_449_462),
        ("msst2005", &overhead, 9_063_958_890_286_386_900),
    ];
    let now = before.map(|(name, keys, _)| {
        let (mut model, _) = device(name, keys).build(&|| SchedulerSpec::default().make());
        let all = requests(model.blocks());
        let mut rows: Rows = run_open(&mut *model, &all);
        rows.done.sort_by_key(|row| row.id);
        assert_eq!(rows.done.len(), 3000);
        (name, keys, checksum(&rows.done))
    });
    assert_eq!(now, before);
}
