//! Tables on a served sled: data read are those written, and errors are reported.

use crate::served::*;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, RecordBatch, RecordBatchIterator};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_emulator::server::ExportSpec;
use sledsim_experiments::relational::{Drive, PageSettings, SledTable, TableLayoutKind};
use sledsim_rpc::client::RemoteMedium;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The widths of CMU-CS-03-125, section 5.2.5: capsules of 60 records and 9 pages.
const WIDTHS: [usize; 4] = [8, 32, 15, 16];

/// So fast that tests do not wait for the sled.
fn fast(device: Device) -> ExportSpec {
    ExportSpec { speed: 1000.0, ..export("m", device) }
}

fn settings(kind: TableLayoutKind) -> PageSettings {
    PageSettings { kind, ..PageSettings::default() }
}

/// Records of bytes from the seed, no two values of a column alike.
fn data(records: usize, seed: u64) -> RecordBatch {
    let column = |(index, width): (usize, &usize)| {
        let value = |record: usize| {
            let mut bytes = vec![seed as u8; *width];
            let number = (seed ^ (record as u64)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            bytes
        };
        let values = FixedSizeBinaryArray::try_from_iter((0..records).map(value));
        let array: ArrayRef = Arc::new(values.expect("of one width"));
        (["a1", "a2", "a3", "a4"][index], array)
    };
    RecordBatch::try_from_iter(WIDTHS.iter().enumerate().map(column)).expect("of one length")
}

fn loaded(data: &RecordBatch, there: &Served, kind: TableLayoutKind) -> SledTable {
    let medium = RemoteMedium::new(&there.open("m")).expect("a sled");
    let mut reader = RecordBatchIterator::new([Ok(data.clone())], data.schema());
    SledTable::load(&mut reader, Box::new(medium), settings(kind)).expect("a table")
}

fn column(batch: &RecordBatch, index: usize) -> Vec<Vec<u8>> {
    let column = batch.column(index).as_any();
    let column = column.downcast_ref::<FixedSizeBinaryArray>();
    let column = column.expect("binaries");
    (0..column.len()).map(|n| column.value(n).to_vec()).collect()
}

fn whole(table: &mut SledTable) -> RecordBatch {
    let all: Vec<usize> = (0..table.columns().len()).collect();
    let (mut batches, _) = table.scan(&all, 0, table.records()).expect("all of it");
    assert_eq!(batches.len(), 1);
    batches.remove(0)
}

#[test]
fn a_remote_table_equals_a_local_one() {
    for kind in [TableLayoutKind::Normal, TableLayoutKind::Vertical, TableLayoutKind::Capsule] {
        let sled = device("cmu2003", &[]);
        let served = Served::new(vec![fast(sled.clone())]);
        let source = data(40_000, 1);
        let mut far = loaded(&source, &served, kind);
        let mut reader = RecordBatchIterator::new([Ok(source.clone())], source.schema());
        let drive = Box::new(Drive::new(&sled).unwrap());
        let mut near = SledTable::load(&mut reader, drive, settings(kind)).unwrap();
        assert_eq!((far.clock(), far.facts().unwrap()), (Nanos::ZERO, near.facts().unwrap()));
        assert!(whole(&mut far) == source);
        let mut last = far.clock();
        assert!(last > Nanos::ZERO);

        for (columns, first, count) in
            [(vec![0], 0, 40_000), (vec![3, 1], 7, 20_000), (vec![2], 39_999, 1)]
        {
            let (one, cost) = far.scan(&columns, first, count).unwrap();
            let (two, simulated) = near.scan(&columns, first, count).unwrap();
            assert!(one == two, "{columns:?}");
            assert_eq!((cost.blocks, cost.requests), (simulated.blocks, simulated.requests));
            assert!(cost.time > Nanos::ZERO && far.clock() >= last + cost.time);
            last = far.clock();
        }
        let (one, _) = far.read(&[1, 0], &[0, 17, 39_999, 17]).unwrap();
        let (two, _) = near.read(&[1, 0], &[0, 17, 39_999, 17]).unwrap();
        assert!(one == two);

        // Within pages, across capsules, and past the end.
        for (at, count) in [(5, 1), (31, 20_000), (16_200, 16_200)] {
            let change = data(count, 100 + at as u64);
            let some = change.project(&[3, 1]).unwrap();
            let costs = [&mut far, &mut near]
                .map(|table| table.update(at as u64, std::slice::from_ref(&some)).unwrap());
            assert_eq!(costs[0].blocks, costs[1].blocks);
            let costs = [&mut far, &mut near]
                .map(|table| table.append(std::slice::from_ref(&change)).unwrap());
            assert_eq!(costs[0].blocks, costs[1].blocks);
        }
        assert!(whole(&mut far) == whole(&mut near));
        assert_ne!(column(&whole(&mut far), 1), column(&source, 1));
    }
}

#[test]
fn two_tables_on_one_sled_do_not_overlap() {
    let served = Served::new(vec![fast(device("cmu2003", &[]))]);
    let there = served.open("m");
    let sources = [data(2000, 1), data(3000, 2)];
    let table = |(source, first_lbn): (&RecordBatch, u64)| {
        let medium = RemoteMedium::new(&there).unwrap();
        let mut reader = RecordBatchIterator::new([Ok(source.clone())], source.schema());
        let settings = PageSettings { first_lbn, ..settings(TableLayoutKind::Capsule) };
        SledTable::load(&mut reader, Box::new(medium), settings).unwrap()
    };
    let mut tables: Vec<_> = sources.iter().zip([0, 27_000]).map(table).collect();
    for (table, source) in tables.iter_mut().zip(&sources) {
        assert!(whole(table) == *source);
    }
}

#[test]
fn the_end_of_the_server_is_reported_and_remembered() {
    let served = Served::new(vec![export("m", device("cmu2003", &[]))]);
    let mut table = loaded(&data(20_000, 1), &served, TableLayoutKind::Capsule);
    let error = thread::scope(|scope| {
        let scans = scope.spawn(|| {
            loop {
                match table.scan(&[0, 1, 2, 3], 0, 20_000) {
                    Ok((batches, _)) => assert_eq!(batches[0].num_rows(), 20_000),
                    Err(error) => return error.to_string(),
                }
            }
        });
        served.until("a scan under way", |served| outstanding(served, "m") > 0);
        served.rpc.stop(Duration::ZERO);
        scans.join().expect("no panic")
    });
    let socket = served.socket.display().to_string();
    assert!(error.contains(&socket), "{error}");
    for _ in 0..2 {
        let again = table.scan(&[0], 0, 1).expect_err("there is no server").to_string();
        assert!(again.contains("unusable") && again.contains(&socket), "{again}");
    }
    assert_eq!(table.records(), 20_000);
}

#[test]
fn unsuitable_devices_are_refused() {
    let buffer = "{ size_kib = 64, segments = 2, read_ahead = \"none\", write_back_segments = 0, speed_matching = \"pass\" }";
    let exports = [
        ("disk", device("atlas10k", &[]), "must be on a single sled"),
        ("memory", device("memory", &[]), "must be on a single sled"),
        ("buffered", device("cmu2003", &[("buffer", buffer)]), "must be on a single sled"),
        ("still", device("cmu2003", &[]), "export 'still' of server at 'unix:"),
        ("still", device("cmu2003", &[]), "is read-only"),
    ];
    for (name, device, says) in exports {
        let spec = ExportSpec { read_only: name == "still", ..export(name, device) };
        let served = Served::new(vec![spec]);
        match RemoteMedium::new(&served.open(name)) {
            Ok(_) => panic!("{name} should be refused"),
            Err(error) => assert!(error.to_string().contains(says), "{error}"),
        }
    }
}
