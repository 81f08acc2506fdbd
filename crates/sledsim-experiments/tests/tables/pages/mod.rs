//! Tables: places of values as in the paper, each with its own bytes; values
//! read as written; and no unnecessary requests.

mod places;
mod refusals;
mod requests;
mod values;

use crate::common::device;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, RecordBatch};
use arrow_schema::DataType;
use serde_json::json;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::catalog::Device;
use sledsim_core::devices::mems::parallel::Parallel;
use sledsim_experiments::relational::{Drive, PageSettings, SledTable, TableLayoutKind};
use std::collections::BTreeSet;
use std::sync::Arc;

const KINDS: [TableLayoutKind; 3] =
    [TableLayoutKind::Normal, TableLayoutKind::Vertical, TableLayoutKind::Capsule];

fn settings(kind: TableLayoutKind) -> PageSettings {
    PageSettings { kind, ..PageSettings::default() }
}

/// Any bytes, which the seed fixes.
fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// Binaries of that width.
fn binary(width: usize, records: usize, seed: u64) -> ArrayRef {
    let values = bytes(seed, width * records);
    let chunks = values.chunks_exact(width);
    if records == 0 {
        return arrow_array::new_empty_array(&DataType::FixedSizeBinary(width as i32));
    }
    Arc::new(FixedSizeBinaryArray::try_from_iter(chunks).expect("of one width"))
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("of one length")
}

/// Columns of these widths, any bytes in them.
fn of_widths(widths: &[usize], records: usize, seed: u64) -> RecordBatch {
    let names: Vec<String> = (1..=widths.len()).map(|i| format!("a{i}")).collect();
    let columns = widths.iter().enumerate();
    let columns = columns.map(|(i, w)| binary(*w, records, seed + i as u64));
    batch(names.iter().map(String::as_str).zip(columns).collect())
}

fn drive(device: &Device) -> Box<Drive> {
    Box::new(Drive::new(device).expect("a single sled"))
}

fn table(data: &RecordBatch, device: &Device, settings: PageSettings) -> SledTable {
    let mut reader = arrow_array::RecordBatchIterator::new([Ok(data.clone())], data.schema());
    SledTable::load(&mut reader, drive(device), settings).expect("a table")
}

fn all(table: &SledTable) -> Vec<usize> {
    (0..table.columns().len()).collect()
}

/// All of a table, in one batch.
fn whole(table: &mut SledTable) -> RecordBatch {
    let (batches, _) = table.scan(&all(table), 0, table.records()).expect("all of it");
    assert_eq!(batches.len(), 1, "a small table");
    batches[0].clone()
}

fn parallel(device: &Device) -> Parallel {
    device.mems().expect("a sled").parallel.clone()
}

/// The report's device with few cylinders: 2,700 blocks in each.
fn small(cylinders: u32) -> Device {
    let travel = format!("{}", f64::from(cylinders) * 0.04);
    let device = device("cmu2003", &[("travel_x_um", &travel)]);
    assert_eq!(device.blocks(), u64::from(cylinders) * 2700);
    device
}

/// Checks that each value has bytes of its own, within its page and the device.
fn check_places(data: &RecordBatch, device: &Device, settings: PageSettings) {
    let widths: Vec<u64> = (data.columns().iter())
        .map(|c| c.data_type().primitive_width().unwrap_or_else(|| width(c)) as u64)
        .collect();
    let table = table(data, device, settings);
    let parallel = parallel(device);
    let in_cylinder = parallel.geometry.tracks as usize;
    let pages = json!(table.facts().expect("facts"))["capsule_blocks"].as_u64();
    let most = pages.unwrap_or(0) as usize / in_cylinder + 2;
    let header = settings.page_header_bytes.map(u64::from);
    let mut taken = Vec::new();
    for record in 0..table.records() {
        let mut classes = BTreeSet::new();
        for (column, width) in widths.iter().enumerate() {
            let (lbn, offset) = table.place(record, column).expect("a place");
            let at = lbn * BLOCK_BYTES + offset;
            assert!(lbn >= settings.first_lbn && offset < BLOCK_BYTES);
            assert!(at + width <= device.blocks() * BLOCK_BYTES);
            let (within, page, usual) = match settings.kind {
                TableLayoutKind::Normal => (at - settings.first_lbn * BLOCK_BYTES, 8192, 16),
                _ => (at, BLOCK_BYTES, 32),
            };
            let from = within % page;
            assert!(from >= header.unwrap_or(usual), "not in the header");
            assert!(from + width <= page, "no value crosses a page");
            taken.push((at, at + width));
            let spot = parallel.spot(lbn);
            classes.insert((spot.cylinder, spot.row));
        }
        if settings.kind == TableLayoutKind::Capsule {
            let first = table.place(record, 0).expect("a place").0;
            let class = parallel.equivalent(first, Nanos::ZERO).expect("a class");
            let inside = |column| class.contains(&table.place(record, column).expect("a place").0);
            let outside = (0..widths.len()).filter(|c| !inside(*c)).count();
            assert!(settings.split || outside == 0, "all pages in one class");
            assert!(classes.len() <= most, "no more cylinders than needed");
        }
    }
    taken.sort_unstable();
    let overlap = taken.windows(2).find(|pair| pair[0].1 > pair[1].0);
    assert_eq!(overlap, None, "each value has bytes of its own");
}

fn width(array: &ArrayRef) -> usize {
    match array.data_type() {
        DataType::FixedSizeBinary(width) => *width as usize,
        other => panic!("{other}"),
    }
}
