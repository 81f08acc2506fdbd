//! Statistics of runs: conservation, brute force over the rows, and runs with
//! equal results: with and without warm-up, stopped and bounded, on one thread
//! and on several.

mod distributions;
mod laws;
mod precision;
mod seeds;
mod series;
mod warm_up;

use super::planned::{planned, tried};
use crate::common;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use serde_json::Value;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::request::Op;
use sledsim_core::catalog::Device;
use sledsim_experiments::load::Load;
use sledsim_experiments::run::{Plan, RowsTo, SeriesTo};

fn g2() -> Device {
    common::device("g2", &[])
}

fn try_load(text: &str) -> Result<Load> {
    Load::workload("random", Keys::parse(text, "load.toml")?)
}

fn load(text: &str) -> Load {
    try_load(text).unwrap()
}

fn in_memory() -> Plan {
    Plan { rows: RowsTo::Memory, series: SeriesTo::Memory, ..Plan::default() }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs().max(1e-9)
}

/// What the tests need of a row.
#[derive(Clone, Copy, Debug)]
struct Seen {
    id: u64,
    arrival: u64,
    completion: u64,
    queue: u64,
    lbn: u64,
    blocks: u32,
    write: bool,
    energy_nj: u64,
}

fn rows(batches: &[RecordBatch]) -> Vec<Seen> {
    let mut rows = Vec::new();
    for batch in batches {
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let signed =
            |name: &str, i: usize| column(name).as_primitive::<Int64Type>().value(i) as u64;
        for i in 0..batch.num_rows() {
            rows.push(Seen {
                id: column("id").as_primitive::<UInt64Type>().value(i),
                arrival: signed("arrival_ns", i),
                completion: signed("completion_ns", i),
                queue: signed("queue_ns", i),
                lbn: signed("lbn", i),
                blocks: column("blocks").as_primitive::<UInt32Type>().value(i),
                write: column("op").as_any_dictionary().normalized_keys()[i] == Op::Write as usize,
                energy_nj: signed("energy_nj", i),
            });
        }
    }
    rows
}
