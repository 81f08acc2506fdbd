//! Energy is that of the sled, told apart by cause.

use super::{Ask, OFF, asked, station};
use crate::common::sleds::{Event, Log, sled};
use crate::common::{reports, run_through};
use sledsim_base::random::Stream;
use sledsim_base::request::{Flags, Op};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::model::{Energy, Report};
use sledsim_core::queueing::controllers::{Buffer, ReadAhead};

/// A mixed load, and what the station reports of it.
fn spend(buffer: Buffer) -> (Log, Report) {
    let mut random = Stream::new(12, "energy");
    let mut next = 0;
    let all: Vec<Ask> = (0..600)
        .map(|id| {
            let lbn = if random.chance(0.6) { next } else { random.below(1_000_000) };
            let blocks = 1 + random.below(60);
            next = lbn + blocks;
            let op = [Op::Read, Op::Read, Op::Write, Op::Flush];
            let op = op[random.below(40).min(30) as usize / 10];
            let op = if op == Op::Flush && id % 3 > 0 { Op::Read } else { op };
            (id * 3000, op, lbn, blocks as u32)
        })
        .collect();
    let log = Log::default();
    let mut station = station(buffer, &log);
    run_through(&mut station, &asked(&all), &mut log.clone());
    (log, reports(&station, Nanos(3_000_000_000)).remove(0))
}

#[test]
fn energy_is_that_of_the_sled_told_apart_by_cause() {
    let buffer = Buffer { read_ahead: ReadAhead::Blocks(100), write_back_segments: 2, ..OFF };
    let (log, report) = spend(buffer);
    // The same services, one after the other, on a sled of its own.
    let mut alone = sled("g2", &[]);
    let (mut ahead_nj, mut destage_nj, mut busy) = (0, 0, Nanos::ZERO);
    for event in log.events() {
        let Event::Served { at, request, .. } = event else {
            continue;
        };
        let service = alone.serve(at, &request, &mut Vec::new());
        busy += service.parts.total();
        match (request.flags.contains(Flags::BACKGROUND), request.op) {
            (true, Op::Read) => ahead_nj += service.energy_nj,
            (true, _) => destage_nj += service.energy_nj,
            _ => {}
        }
    }
    // For the host: what the rows say, with what was destaged for flushes.
    let rows = log.rows();
    let host: u64 = (rows.iter().filter_map(Row::service)).map(|time| time.0).sum();
    let (name, sled) = report.mechanisms[0];
    assert_eq!((name, sled.host, sled.total()), ("", Nanos(host), busy));
    assert!(sled.other.0 > 0);
    let close = |ours: f64, other: f64| {
        assert!((ours - other).abs() < 1e-5 * other, "{ours} {other}");
    };
    let spent = report.energy.expect("energy");
    close(spent.read_ahead_j, ahead_nj as f64 * 1e-9);
    close(spent.destage_j, destage_nj as f64 * 1e-9);
    let total = alone.energy(Nanos(3_000_000_000)).expect("energy");
    close(spent.total_j(), total.total_j());
    close(spent.idle_j, total.idle_j);
    let rows_nj: u64 = rows.iter().map(|row| row.energy_nj).sum();
    let Energy { seek_j, transfer_j, startup_j, .. } = spent;
    close(rows_nj as f64 * 1e-9, seek_j + transfer_j + startup_j);
    assert!(spent.read_ahead_j > 0.01 && spent.destage_j > 0.001);
}
