//! Rows, in memory and in Parquet files, and their documentation.

use super::random_rows;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use sledsim_base::error::Error;
use sledsim_base::files::write_atomically;
use sledsim_base::row::{Parts, Row, UNKNOWN_ENERGY};
use sledsim_base::units::Nanos;
use sledsim_experiments::stats::{RowBuffer, RowsFile, row_schema};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tempfile::tempdir;

const DEVICES: [&str; 2] = ["mcd", "mcd.front"];

#[test]
fn every_part_of_a_row_has_a_column_in_ns() {
    for column in Parts::COLUMNS {
        assert_eq!(row_schema().field_with_name(column).unwrap().metadata()["unit"], "ns");
    }
}

/// The rows of a batch as text, cell by cell.
fn cells(batch: &RecordBatch) -> Vec<Vec<String>> {
    let cell = |column: &dyn Array, i: usize| {
        if column.is_null(i) {
            return "null".to_owned();
        }
        match column.data_type() {
            DataType::Int64 => column.as_primitive::<Int64Type>().value(i).to_string(),
            DataType::Int8 => column.as_primitive::<Int8Type>().value(i).to_string(),
            DataType::UInt32 => column.as_primitive::<UInt32Type>().value(i).to_string(),
            DataType::UInt64 => column.as_primitive::<UInt64Type>().value(i).to_string(),
            DataType::Dictionary(..) => {
                let names = column.as_dictionary::<Int32Type>();
                let key = names.keys().value(i) as usize;
                names.values().as_string::<i32>().value(key).to_owned()
            }
            other => panic!("unexpected type {other}"),
        }
    };
    let columns = batch.columns();
    (0..batch.num_rows()).map(|i| columns.iter().map(|c| cell(c, i)).collect()).collect()
}

/// A row as text, in the order of columns that the design names.
fn expected(row: &Row) -> Vec<String> {
    let p = &row.parts;
    let mut cells = vec![
        row.id.to_string(),
        row.parent.map_or("null".to_owned(), |id| id.to_string()),
        DEVICES[usize::from(row.device)].to_owned(),
        row.stream.to_string(),
        row.op.name().to_owned(),
        row.lbn.to_string(),
        row.blocks.to_string(),
        row.arrival.0.to_string(),
        row.start.0.to_string(),
        row.completion.0.to_string(),
        row.queue_depth.to_string(),
    ];
    cells.extend(
        [
            p.overhead,
            p.queue,
            p.seek,
            p.x_seek,
            p.y_seek,
            p.settle,
            p.turnaround,
            p.rotation,
            p.head_switch,
            p.transfer,
            p.bus,
            p.retry,
            p.other,
        ]
        .map(|time| time.0.to_string()),
    );
    cells.extend([row.passes, row.retries].map(|n| n.to_string()));
    cells.push(row.status.name().to_owned());
    cells.push((row.energy_nj()).map_or("null".to_owned(), |nj| nj.to_string()));
    let Some(path) = row.path else {
        cells.extend(vec!["null".to_owned(); 9]);
        return cells;
    };
    let ends = [path.from, path.to];
    let sled = ends.map(|end| end.direction != 0);
    let shown = |is_shown: bool, value: i64| match is_shown {
        true => value.to_string(),
        false => "null".to_owned(),
    };
    cells.extend(ends.map(|end| end.cylinder.to_string()));
    cells.push(path.cylinders.to_string());
    let places = ends.map(|end| i64::from(end.head_or_edge));
    cells.extend([0, 1].map(|end| shown(!sled[end], places[end])));
    cells.extend([0, 1].map(|end| shown(sled[end], places[end])));
    cells.extend([0, 1].map(|end| shown(sled[end], i64::from(ends[end].direction))));
    cells
}

#[test]
fn columns_are_those_of_the_design() {
    let names = "id, parent, device, stream, op, lbn, blocks, arrival_ns, start_ns, \
        completion_ns, queue_depth, overhead_ns, queue_ns, seek_ns, x_seek_ns, y_seek_ns, \
        settle_ns, turnaround_ns, rotation_ns, head_switch_ns, transfer_ns, bus_ns, retry_ns, \
        other_ns, passes, retries, status, energy_nj, from_cylinder, to_cylinder, cylinders, \
        from_head, to_head, from_row, to_row, from_direction, to_direction";
    let schema = row_schema();
    let found: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    assert_eq!(found.join(", "), names);
    // A name that ends in a unit has that unit.
    for field in schema.fields() {
        let unit = field.metadata().get("unit").map_or("", String::as_str);
        let suffix = field.name().rsplit('_').next().unwrap();
        assert_eq!(suffix == "ns", unit == "ns", "{}", field.name());
        assert_eq!(suffix == "nj", unit == "nJ", "{}", field.name());
    }
}

#[test]
fn the_documented_table_is_the_schema() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/rows.md");
    let text = fs::read_to_string(path).unwrap();
    let rows = text.split("\n## ").find(|s| s.starts_with("Rows\n"));
    let lines = rows.expect("a section Rows").lines();
    let documented: Vec<String> = lines
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>())
        .map(|cells| cells.join("|"))
        .collect();
    let actual: Vec<String> = row_schema()
        .fields()
        .iter()
        .map(|field| {
            let data_type = match field.data_type() {
                DataType::Dictionary(_, of) if **of == DataType::Utf8 => "string".to_owned(),
                other => other.to_string().to_lowercase(),
            };
            let or_null = if field.is_nullable() { " or null" } else { "" };
            let unit = field.metadata().get("unit").map_or("", String::as_str);
            let what = &field.metadata()["description"];
            format!("`{}`|{data_type}{or_null}|{unit}|{what}", field.name())
        })
        .collect();
    assert_eq!(documented, actual);
}

#[test]
fn batches_hold_the_rows_and_start_over() {
    let mut rows = random_rows(5, 250);
    (rows.iter_mut().step_by(7)).for_each(|row| row.energy_nj = UNKNOWN_ENERGY);
    let mut buffer = RowBuffer::new(&DEVICES, 100);
    let mut found = Vec::new();
    for row in &rows {
        buffer.push(row);
        if buffer.is_full() {
            let batch = buffer.finish();
            assert_eq!(batch.num_rows(), 100);
            found.extend(cells(&batch));
        }
    }
    assert_eq!(buffer.len(), 50);
    found.extend(cells(&buffer.finish()));
    assert!(buffer.is_empty());
    let expected: Vec<_> = rows.iter().map(expected).collect();
    assert_eq!(found, expected);
}

#[test]
fn values_beyond_signed_columns_saturate() {
    let mut buffer = RowBuffer::new(&DEVICES, 1);
    buffer.push(&Row { completion: Nanos::MAX, id: u64::MAX, ..Row::default() });
    let batch = buffer.finish();
    let cells = &cells(&batch)[0];
    assert_eq!(cells[0], u64::MAX.to_string());
    assert_eq!(cells[9], i64::MAX.to_string());
}

fn read(path: &Path) -> Vec<Vec<String>> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    assert_eq!(*reader.schema(), row_schema(), "metadata included");
    let batches = reader.build().unwrap();
    batches.flat_map(|batch| cells(&batch.unwrap())).collect()
}

fn write(path: &Path, rows: &[Row]) -> Result<u64, Error> {
    let mut file = RowsFile::create(path, &DEVICES)?;
    for row in rows {
        file.push(row)?;
    }
    file.finish()
}

#[test]
fn parquet_gives_the_rows_back() {
    let folder = tempdir().unwrap();
    for count in [0, 1, 8_191, 8_192, 20_000] {
        let rows = random_rows(6, count);
        let path = folder.path().join(format!("{count}.parquet"));
        assert_eq!(write(&path, &rows).unwrap(), count);
        let expected: Vec<_> = rows.iter().map(expected).collect();
        assert!(read(&path) == expected, "{count} rows differ");
        let again = folder.path().join("again.parquet");
        write(&again, &rows).unwrap();
        assert!(fs::read(&path).unwrap() == fs::read(&again).unwrap());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 6, "no more");
}

#[test]
fn an_unwritable_target_is_refused_before_the_first_row() {
    let folder = tempdir().unwrap();
    for name in ["missing/out.parquet", "."] {
        let path = folder.path().join(name);
        let error = RowsFile::create(&path, &DEVICES).map(drop).unwrap_err();
        assert!(matches!(&error, Error::File { path: p, .. } if *p == path), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_drop_or_a_panic_leaves_nothing_and_keeps_the_old_file() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("out.parquet");
    fs::write(&path, "old").unwrap();
    let rows = random_rows(7, 20_000);
    let begin = || {
        let mut file = RowsFile::create(&path, &DEVICES).unwrap();
        for row in &rows {
            file.push(row).unwrap();
        }
        file
    };
    let file = begin();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "out and .part");
    drop(file);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let panicked = std::panic::catch_unwind(|| {
        let _file = begin();
        panic!("planned");
    });
    assert!(panicked.is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

/// Pushes until the writing thread's error shows up, here or at the end.
fn push_until_it_fails(path: &Path) -> Error {
    let mut file = RowsFile::create(path, &DEVICES).unwrap();
    let rows = random_rows(8, 10_000);
    for _ in 0..60 {
        for row in &rows {
            if let Err(error) = file.push(row) {
                // Nothing hangs or succeeds afterwards either.
                assert!(rows.iter().any(|row| file.push(row).is_err()));
                assert!(file.finish().is_err());
                return error;
            }
        }
    }
    file.finish().unwrap_err()
}

#[test]
fn a_full_device_is_reported() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        println!("skipped: no /dev/full on this system");
        return;
    }
    let Error::File { path, problem, .. } = push_until_it_fails(full) else {
        panic!("not an error about a file");
    };
    assert_eq!(path, full);
    assert!(problem.starts_with("No space left on device"), "{problem}");
    // Few rows fail only when the last bytes are written.
    assert!(write(full, &random_rows(9, 10)).is_err());
}

/// A limit on the size of files stands in for a full disk. The test runs
/// itself under that limit, in a shell that ignores the signal.
#[cfg(unix)]
#[test]
fn a_full_disk_is_reported_and_leaves_nothing() {
    const FOLDER: &str = "SLEDSIM_TEST_LIMITED_FOLDER";
    if let Some(folder) = std::env::var_os(FOLDER) {
        let path = Path::new(&folder).join("out.parquet");
        for error in [
            push_until_it_fails(&path),
            write(&path, &random_rows(9, 10)).unwrap_err(),
            write_atomically(&path, &[0; 4096]).unwrap_err(),
        ] {
            let text = format!("{}: File too large", path.display());
            assert!(error.to_string().starts_with(&text), "{error}");
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        return;
    }
    let folder = tempdir().unwrap();
    let (_, module) = module_path!().split_once("::").unwrap();
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .env("LLVM_PROFILE_FILE", "/dev/null") // the limit would cut off that of `make coverage`
        .arg("--exact")
        .arg(format!("{module}::a_full_disk_is_reported_and_leaves_nothing"))
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}

/// A pipe without a reader: `push` must wait.
#[cfg(unix)]
#[test]
fn memory_is_bounded_however_slow_the_disk() {
    const ROWS: u64 = 1_000_000;
    let folder = tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|s| s.success()) {
        println!("skipped: no mkfifo on this system");
        return;
    }
    let pushed = AtomicU64::new(0);
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut file = RowsFile::create(&pipe, &DEVICES).unwrap();
            for row in random_rows(10, 1_000).iter().cycle().take(ROWS as usize) {
                file.push(row).unwrap();
                pushed.fetch_add(1, Ordering::Relaxed);
            }
            file.finish().unwrap()
        });
        let mut reader = File::open(&pipe).unwrap();
        let (mut before, mut still) = (0, 0);
        while still < 5 {
            thread::sleep(Duration::from_millis(100));
            let now = pushed.load(Ordering::Relaxed);
            still = if now == before && now > 0 { still + 1 } else { 0 };
            before = now;
        }
        // One row group, four batches on their way, one being filled.
        assert!(before <= 262_144 + 5 * 8_192, "{before} rows in memory");
        let copy = folder.path().join("copy.parquet");
        std::io::copy(&mut reader, &mut File::create(&copy).unwrap()).unwrap();
        assert_eq!(writing.join().unwrap(), ROWS);
        let copy = ParquetRecordBatchReaderBuilder::try_new(File::open(&copy).unwrap());
        let rows = copy.unwrap().metadata().file_metadata().num_rows();
        assert_eq!(rows, ROWS as i64);
    });
}
