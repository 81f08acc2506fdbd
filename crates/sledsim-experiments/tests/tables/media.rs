//! A table on a remote device: the host writes whole blocks, uses only data it
//! has read, and reports failures.

use crate::common::device;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, RecordBatch, RecordBatchIterator};
use proptest::prelude::*;
use serde_json::json;
use sledsim_base::error::{Error, Result};
use sledsim_base::request::{Extent, Op};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::catalog::Device;
use sledsim_experiments::relational::{
    Cost, Drive, Medium, PageSettings, SledTable, Store, TableLayoutKind,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const KINDS: [TableLayoutKind; 3] =
    [TableLayoutKind::Normal, TableLayoutKind::Vertical, TableLayoutKind::Capsule];
/// Capsules of 8 records and 1, 2 and 4 pages: groups of 2,160.
const WIDTHS: [usize; 3] = [60, 120, 240];

/// The number of the request that fails; later ones succeed.
type Trap = Arc<AtomicU64>;

/// A device that only gets requests and stores written data. Reads deliver data
/// at `wait`.
struct Apart {
    drive: Drive,
    bytes: Store,
    pages: Store,
    reads: Vec<Extent>,
    trap: Trap,
    failed: bool,
}

fn trapped() -> Error {
    Error::Request("it was a trap".to_owned())
}

impl Apart {
    fn boxed(device: &Device, trap: &Trap) -> Box<Self> {
        Box::new(Self {
            drive: Drive::new(device).expect("a sled"),
            bytes: Store::default(),
            pages: Store::default(),
            reads: Vec::new(),
            trap: Arc::clone(trap),
            failed: false,
        })
    }

    fn copy(from: &Store, to: &mut Store, extent: Extent) {
        let mut block = [0; BLOCK_BYTES as usize];
        for lbn in extent.lbn..extent.end() {
            from.read(lbn * BLOCK_BYTES, &mut block);
            to.write(lbn * BLOCK_BYTES, &block);
        }
    }
}

impl Medium for Apart {
    fn device(&self) -> &Device {
        self.drive.device()
    }

    fn pages(&self) -> &Store {
        &self.pages
    }

    fn pages_mut(&mut self) -> &mut Store {
        &mut self.pages
    }

    fn is_simulated(&self) -> bool {
        false
    }

    fn submit(&mut self, op: Op, extents: &[Extent]) -> Result<()> {
        self.drive.submit(op, extents)?;
        if self.trap.fetch_sub(1, Ordering::Relaxed) == 1 {
            // Some are known to have failed at once, some only later.
            if extents[0].lbn.is_multiple_of(2) {
                return Err(trapped());
            }
            self.failed = true;
        } else if op == Op::Read {
            self.reads.extend_from_slice(extents);
        } else {
            for &extent in extents {
                Self::copy(&self.pages, &mut self.bytes, extent);
            }
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<()> {
        for extent in std::mem::take(&mut self.reads) {
            Self::copy(&self.bytes, &mut self.pages, extent);
        }
        match std::mem::take(&mut self.failed) {
            true => Err(trapped()),
            false => Ok(()),
        }
    }

    fn took(&mut self) -> Cost {
        assert!(self.reads.is_empty(), "some are under way");
        self.pages.clear();
        self.drive.took()
    }

    fn clock(&self) -> Nanos {
        self.drive.clock()
    }

    fn restart(&mut self) {
        self.drive.restart();
    }

    fn idle(&mut self, time: Nanos) {
        self.drive.idle(time);
    }
}

/// Any bytes, which the seed fixes: no two records alike.
fn data(records: usize, seed: u64) -> RecordBatch {
    let column = |(index, width): (usize, &usize)| {
        let value = |record: usize| {
            let mut bytes = vec![seed as u8 | 1; *width];
            let number = seed ^ ((record as u64) << 8 | index as u64).wrapping_mul(0x9e37_79b9);
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            bytes
        };
        let array: ArrayRef = match records {
            0 => {
                let kind = arrow_schema::DataType::FixedSizeBinary(*width as i32);
                arrow_array::new_empty_array(&kind)
            }
            _ => {
                let values = (0..records).map(value);
                Arc::new(FixedSizeBinaryArray::try_from_iter(values).expect("of one width"))
            }
        };
        (["a", "b", "c"][index], array)
    };
    RecordBatch::try_from_iter(WIDTHS.iter().enumerate().map(column)).expect("of one length")
}

fn loaded(data: &RecordBatch, medium: Box<dyn Medium>, settings: PageSettings) -> SledTable {
    // In parts, as a reader hands them out.
    let part = |first: usize| Ok(data.slice(first, 1000.min(data.num_rows() - first)));
    let parts: Vec<_> = (0..data.num_rows()).step_by(1000).map(part).collect();
    let mut reader = RecordBatchIterator::new(parts, data.schema());
    SledTable::load(&mut reader, medium, settings).expect("a table")
}

/// All values, column by column.
fn values(batches: &[RecordBatch]) -> Vec<Vec<Vec<u8>>> {
    let mut all = vec![Vec::new(); batches[0].num_columns()];
    for batch in batches {
        for (column, into) in batch.columns().iter().zip(&mut all) {
            let column = column.as_any().downcast_ref::<FixedSizeBinaryArray>();
            let column = column.expect("binaries");
            into.extend((0..column.len()).map(|record| column.value(record).to_vec()));
        }
    }
    all
}

fn whole(table: &mut SledTable) -> (Vec<Vec<Vec<u8>>>, Cost) {
    let (batches, cost) = table.scan(&[0, 1, 2], 0, table.records()).expect("all");
    (values(&batches), cost)
}

fn small() -> Device {
    let device = device("cmu2003", &[("travel_x_um", "1.2")]);
    assert_eq!(device.blocks(), 81_000);
    device
}

fn settings(kind: TableLayoutKind) -> PageSettings {
    PageSettings { kind, ..PageSettings::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn bytes_and_times_are_those_of_a_table_in_process(
        kind in 0_usize..3,
        start in 0_usize..6000,
        changes in prop::collection::vec((any::<bool>(), 0_usize..5000, 0_usize..6000, any::<u64>(), 1_usize..8), 1..5),
    ) {
        let device = small();
        let first = data(start, 5);
        let trap = Trap::default();
        let drive = Box::new(Drive::new(&device).expect("a sled"));
        let mut near = loaded(&first, drive, settings(KINDS[kind]));
        let mut far = loaded(&first, Apart::boxed(&device, &trap), settings(KINDS[kind]));
        prop_assert_eq!(far.clock(), Nanos::ZERO);
        let mut kept = values(std::slice::from_ref(&first));
        for (is_append, count, at, seed, some) in changes {
            let records = near.records() as usize;
            let change = if is_append {
                let change = data(count, seed);
                for (column, new) in kept.iter_mut().zip(values(std::slice::from_ref(&change))) {
                    column.extend(new);
                }
                let costs = [&mut near, &mut far].map(|table| table.append(std::slice::from_ref(&change)).expect("room"));
                (costs[0].blocks, costs[1].blocks)
            } else {
                let at = at.min(records);
                let columns: Vec<usize> = (0..3).filter(|c| some >> c & 1 == 1).collect();
                let change = data(count.min(records - at), seed).project(&columns).expect("columns");
                for (column, new) in columns.into_iter().zip(values(std::slice::from_ref(&change))) {
                    kept[column].splice(at..at + new.len(), new);
                }
                let costs = [&mut near, &mut far].map(|table| table.update(at as u64, std::slice::from_ref(&change)).expect("records"));
                (costs[0].blocks, costs[1].blocks)
            };
            prop_assert_eq!(change.0, change.1);
            let (one, two) = (whole(&mut near), whole(&mut far));
            prop_assert!(one.0 == kept, "in process");
            prop_assert!(two.0 == kept, "apart");
            prop_assert_eq!((one.1.blocks, one.1.requests), (two.1.blocks, two.1.requests));
        }
        let some: Vec<u64> = (0..near.records()).step_by(777).collect();
        let (one, two) = (near.read(&[2, 0], &some).expect("some"), far.read(&[2, 0], &some).expect("some"));
        prop_assert_eq!(values(&[one.0]), values(&[two.0]));
        prop_assert_eq!(one.1.blocks, two.1.blocks);
    }

    #[test]
    fn a_request_that_fails_spoils_no_other_value(
        kind in 0_usize..3,
        fails in 1_u64..40,
        count in 1_usize..3000,
        at in 0_usize..3000,
        is_append: bool,
    ) {
        let trap = Trap::default();
        let first = data(4000, 9);
        let mut table = loaded(&first, Apart::boxed(&small(), &trap), settings(KINDS[kind]));
        let before = values(&[first]);
        let new = data(count.min(4000 - at), 77);
        let change = values(std::slice::from_ref(&new));
        trap.store(fails, Ordering::Relaxed);
        let done = match is_append {
            true => table.append(std::slice::from_ref(&new)),
            false => table.update(at as u64, std::slice::from_ref(&new)),
        };
        // It counts down, past zero.
        let left = trap.swap(0, Ordering::Relaxed);
        let is_failed = left == 0 || left > fails;
        prop_assert_eq!(done.is_err(), is_failed);
        if let Err(error) = done {
            prop_assert!(error.to_string().contains("a trap"));
        }
        let (after, _) = whole(&mut table);
        for ((now, before), change) in after.iter().zip(&before).zip(&change) {
            let grown = if is_append && !is_failed { change.len() } else { 0 };
            prop_assert_eq!(now.len(), before.len() + grown);
            for (record, (now, before)) in now.iter().zip(before).enumerate() {
                let changed = (!is_append).then(|| change.get(record.wrapping_sub(at))).flatten();
                let is_torn = || {
                    let mut bytes = now.iter().zip(before).zip(changed.unwrap_or(before));
                    KINDS[kind] == TableLayoutKind::Normal && bytes.all(|((n, b), c)| n == b || n == c)
                };
                prop_assert!(now == before || Some(now) == changed || is_torn(), "record {}", record);
                if let Some(changed) = changed.filter(|_| !is_failed) {
                    prop_assert_eq!(now, changed);
                }
            }
        }
    }
}

/// Whole tracks are written; pages of the capsules at both ends keep their values.
#[test]
fn updates_of_nearly_whole_groups_keep_the_rest() {
    const GROUP: usize = 270 * 8;
    let first = data(3 * GROUP, 21);
    let mut table = loaded(
        &first,
        Apart::boxed(&small(), &Trap::default()),
        settings(TableLayoutKind::Capsule),
    );
    let mut kept = values(&[first]);
    for from in 0..9 {
        for until in [2 * GROUP - 9 + from, 2 * GROUP - 1, 2 * GROUP + from] {
            let at = GROUP + from;
            let change = data(until - at, (from * 1000 + until) as u64);
            table.update(at as u64, std::slice::from_ref(&change)).expect("there");
            for (column, new) in kept.iter_mut().zip(values(&[change])) {
                column.splice(at..until, new);
            }
            assert!(whole(&mut table).0 == kept, "{at} to {until}");
        }
    }
}

#[test]
fn a_failed_scan_is_reported_and_the_next_one_succeeds() {
    for kind in KINDS {
        let trap = Trap::default();
        let first = data(5000, 3);
        let mut table = loaded(&first, Apart::boxed(&small(), &trap), settings(kind));
        for fails in [1, 3] {
            trap.store(fails, Ordering::Relaxed);
            let error = table.scan(&[0, 1, 2], 0, 5000).expect_err("a trap").to_string();
            assert!(error.contains("a trap"), "{error}");
        }
        let (now, cost) = whole(&mut table);
        assert!(now == values(std::slice::from_ref(&first)));
        let facts = json!(table.facts().expect("facts"));
        // What the scans that failed took is no part of it.
        assert_eq!(
            facts["blocks"].as_u64().expect("a number").div_ceil(270),
            cost.blocks.div_ceil(270)
        );
    }
}
