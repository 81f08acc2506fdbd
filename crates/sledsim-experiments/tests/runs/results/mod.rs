//! Results: statistics against brute force, the summary against its schema,
//! rows against their documentation.

mod rows;
mod schema;
mod statistics;

use serde_json::{Value, json};
use sledsim_base::request::Op;
use sledsim_base::row::{Parts, Path, Place, Row, Status};
use sledsim_base::units::Nanos;
use sledsim_experiments::stats::{RunReport, Stats, Summary};

/// The summary as a document.
fn summary(stats: &Stats, run: &RunReport) -> Value {
    json!(Summary::new(stats, run))
}

/// Rows of every kind: all columns vary, zeros are common, parts add up.
fn random_rows(seed: u64, count: u64) -> Vec<Row> {
    let mut state = seed;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let row = |id| {
        let mut part = |largest: u64| match random(3) {
            0 => Nanos::ZERO,
            _ => Nanos(random(largest)),
        };
        let parts = Parts {
            overhead: part(3),
            queue: part(40_000_000_000),
            seek: part(900_000),
            x_seek: part(900_000),
            y_seek: part(900_000),
            settle: part(2_000),
            turnaround: part(140_000),
            rotation: part(6_000_000),
            head_switch: part(176_000),
            transfer: part(300_000),
            bus: part(80_000),
            retry: part(1_000_000),
            other: part(500_000),
        };
        let mut place = || Place {
            cylinder: random(2_500) as u32,
            head_or_edge: random(28) as u32,
            direction: random(3) as i8 - 1,
        };
        let (from, to) = (place(), place());
        let path = (random(3) > 0).then(|| Path { from, to, cylinders: random(9_000) });
        let arrival = Nanos(random(1_000_000_000_000));
        let before = parts.overhead + parts.queue;
        Row {
            id,
            parent: (random(2) == 0).then(|| random(u64::MAX)),
            device: random(2) as u16,
            stream: random(5) as u32,
            op: Op::ALL[random(4) as usize],
            lbn: random(6_750_000),
            blocks: random(64) as u32 + 1,
            arrival,
            start: arrival + before,
            completion: arrival + parts.total(),
            queue_depth: random(300) as u32,
            parts,
            passes: random(4) as u32,
            retries: random(2) as u32,
            status: Status::ALL[random(2) as usize],
            path,
            energy_nj: random(2_000_000),
        }
    };
    (0..count).map(row).collect()
}

fn stats_of(rows: &[Row]) -> Stats {
    let mut stats = Stats::new();
    for row in rows {
        stats.record(row);
    }
    stats
}

fn close(found: &Value, expected: f64) -> bool {
    let found = found.as_f64().expect("a number");
    (found - expected).abs() <= 1e-12 * expected.abs()
}
