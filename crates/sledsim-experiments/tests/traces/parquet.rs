//! Generic Parquet traces, and the rows of a run as a trace.

use crate::common::refusals::{refuse, replaced};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, DurationMicrosecondArray,
    Float32Array, Float64Array, Int16Array, Int32Array, Int64Array, LargeStringArray, RecordBatch,
    StringArray, StringViewArray, TimestampMillisecondArray, TimestampNanosecondArray, UInt8Array,
    UInt32Array, UInt64Array,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use sledsim_base::error::Result;
use sledsim_base::request::Op;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_experiments::formats::{all, options};
use sledsim_experiments::stats::RowsFile;
use sledsim_traces::{Format, Input, Options, Record};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

use Op::{Flush, Read, Write};

const MAP: &str = "time=t:us, offset=o:512B, bytes=b:B, op=p";

fn save(path: &Path, columns: &[(&str, ArrayRef)], compression: Compression) {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.iter().map(|(name, array)| (*name, Arc::clone(array), true)),
    );
    let batch = batch.unwrap();
    let properties = WriterProperties::builder().set_compression(compression).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn read(path: &Path, columns: Option<&str>) -> Result<(Vec<Record>, Vec<Option<String>>)> {
    let options = Options { columns: columns.map(str::to_owned), ..Options::default() };
    let format = all().readers.get("parquet");
    let mut reader = format.unwrap().open(Input::open(path)?, &options)?;
    let (mut records, mut names) = (Vec::new(), Vec::new());
    while let Some(record) = reader.next()? {
        names.push(reader.device_name(record.device).map(str::to_owned));
        records.push(record);
    }
    assert_eq!(reader.bytes_read(), std::fs::metadata(path).unwrap().len());
    Ok((records, names))
}

/// What a file of these columns holds, read with `map`.
fn made(columns: &[(&str, ArrayRef)], map: &str) -> Result<(Vec<Record>, Vec<Option<String>>)> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t");
    save(&path, columns, Compression::UNCOMPRESSED);
    read(&path, Some(map))
}

fn message(columns: &[(&str, ArrayRef)], map: &str) -> String {
    let text = made(columns, map).unwrap_err().to_string();
    text.split_once("/t: ").map_or(text.clone(), |(_, text)| text.to_owned())
}

fn record(time_ns: u64, device: u32, op: Op, offset: u64, bytes: u64) -> Record {
    Record { time: Nanos(time_ns), device, op, offset, bytes, ..Record::default() }
}

fn array<T: Array + 'static>(array: T) -> ArrayRef {
    Arc::new(array)
}

/// Two good requests in plain columns.
fn plain() -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("unused", array(StringArray::from(vec!["x", "y"]))),
        ("t", array(Int64Array::from(vec![5, 7]))),
        ("o", array(Int64Array::from(vec![1, 3]))),
        ("b", array(Int32Array::from(vec![512, 1]))),
        ("p", array(StringArray::from(vec!["r", "write"]))),
    ]
}

/// The plain columns with one replaced.
fn with(name: &'static str, column: ArrayRef) -> Vec<(&'static str, ArrayRef)> {
    let mut columns = plain();
    columns.retain(|(known, _)| *known != name);
    columns.push((name, column));
    columns
}

fn expected() -> [Record; 2] {
    [record(5_000, 0, Read, 512, 512), record(7_000, 0, Write, 1_536, 1)]
}

#[test]
fn every_compression_that_tools_write_is_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t");
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ] {
        save(&path, &plain(), compression);
        assert_eq!(read(&path, Some(MAP)).unwrap().0, expected(), "{compression:?}");
    }
    let numbers = "time=2:us, offset=3:512B, bytes=4:B, op=5";
    assert_eq!(read(&path, Some(numbers)).unwrap().0, expected());
}

#[test]
fn numbers_of_every_type() {
    let times: [ArrayRef; 9] = [
        array(UInt8Array::from(vec![5, 7])),
        array(Int16Array::from(vec![5, 7])),
        array(UInt32Array::from(vec![5, 7])),
        array(UInt64Array::from(vec![5, 7])),
        array(Float32Array::from(vec![5.0, 7.0])),
        array(Float64Array::from(vec![4.999_9, 7.000_4])),
        array(
            Decimal128Array::from(vec![4_999_500, 7_000_499])
                .with_precision_and_scale(20, 6)
                .unwrap(),
        ),
        array(DurationMicrosecondArray::from(vec![5, 7])),
        array(TimestampNanosecondArray::from(vec![5_000, 7_000]).with_timezone("UTC")),
    ];
    for (index, times) in times.into_iter().enumerate() {
        let kind = times.data_type().clone();
        // Types that have a unit need none, and take no other.
        let map = match index {
            7 | 8 => MAP.replace("t:us", "t"),
            _ => MAP.to_owned(),
        };
        let (records, _) = made(&with("t", Arc::clone(&times)), &map).unwrap();
        let found: Vec<u64> = records.iter().map(|record| record.time.0).collect();
        match index {
            5 => assert_eq!(found, [5_000, 7_000], "rounded to ns: {kind}"),
            6 => assert_eq!(found, [5_000, 7_000], "rounded to ns: {kind}"),
            _ => assert_eq!(found, [5_000, 7_000], "{kind}"),
        }
        if index == 8 {
            let message = message(&with("t", times), MAP);
            assert!(message.contains("time=t:us (1000 ns): the file says that column 't' is in ns; leave out the unit"), "{message}");
        }
    }
    let (records, _) =
        made(&with("o", array(Float64Array::from(vec![0.5, 3.0]))), &MAP.replace("512B", "1KiB"))
            .unwrap();
    assert_eq!([records[0].offset, records[1].offset], [512, 3_072]);
}

#[test]
fn operations_and_devices_of_every_type() {
    let dictionary = |values: Vec<&str>| values.into_iter().collect::<DictionaryArray<Int8Type>>();
    for (column, map) in [
        (array(LargeStringArray::from(vec!["R", "WS"])), "op=p"),
        (array(StringViewArray::from(vec!["Read", "W"])), "op=p"),
        (array(dictionary(vec!["read", "write"])), "op=p"),
        (array(Int64Array::from(vec![0, 1])), "op=p:0/1"),
        (array(UInt8Array::from(vec![1, 0])), "op=p:1/0"),
        (array(BooleanArray::from(vec![false, true])), "op=p:false/true"),
        (array(StringArray::from(vec!["in", "out"])), "op=p:in/out"),
    ] {
        let kind = column.data_type().clone();
        let map = MAP.replace("op=p", map);
        assert_eq!(made(&with("p", column), &map).unwrap().0, expected(), "{kind}");
    }
    let device = |column: ArrayRef, map: &str| {
        let mut columns = plain();
        columns.push(("d", column));
        made(&columns, &format!("{MAP}, device=d{map}")).unwrap()
    };
    let numbers = |found: &(Vec<Record>, _)| [found.0[0].device, found.0[1].device];
    let found = device(array(Int64Array::from(vec![7, u32::MAX.into()])), "");
    assert_eq!((numbers(&found), found.1), ([7, u32::MAX], vec![None, None]));
    for column in [
        array(StringArray::from(vec!["sdb", "sda"])),
        array(dictionary(vec!["sdb", "sda"])),
        array(StringViewArray::from(vec!["sdb", "sda"])),
    ] {
        let found = device(column, "");
        assert_eq!(numbers(&found), [0, 1]);
        assert_eq!(found.1, ["sdb", "sda"].map(|name| Some(name.to_owned())));
    }
    let found = device(array(StringArray::from(vec!["9", "4"])), "");
    assert_eq!(numbers(&found), [9, 4]);
    let found = device(array(StringArray::from(vec!["9", "4"])), ":name");
    assert_eq!((numbers(&found), found.1[1].as_deref()), ([0, 1], Some("4")));
}

#[test]
fn nulls_flushes_and_what_is_measured() {
    let mut columns = with("p", array(StringArray::from(vec!["flush", "r"])));
    columns.retain(|(name, _)| !["o", "b"].contains(name));
    columns.push(("o", array(Int64Array::from(vec![None, Some(3)]))));
    columns.push(("b", array(Int64Array::from(vec![None, Some(512)]))));
    columns.push(("r", array(Float64Array::from(vec![None, Some(0.25)]))));
    let (records, _) = made(&columns, &format!("{MAP}, response=r:ms")).unwrap();
    let expected = [
        record(5_000, 0, Flush, 0, 0),
        Record { response: Some(Nanos(250_000)), ..record(7_000, 0, Read, 1_536, 512) },
    ];
    assert_eq!(records, expected);
    let constant = "time=t:us, offset=o:B, bytes=:8KiB, op=:write";
    let (records, _) = made(&plain(), constant).unwrap();
    assert_eq!(records[1], record(7_000, 0, Write, 3, 8_192));
}

#[test]
fn bad_values_are_named_by_row() {
    let int = |values: [Option<i64>; 2]| array(Int64Array::from(values.to_vec()));
    let float = |value| array(Float64Array::from(vec![1.0, value]));
    for (name, column, expected) in [
        ("t", int([Some(5), None]), "row 2: time is null: must have a value"),
        ("t", int([Some(5), Some(-7)]), "row 2: time is -7 us: must be a time from 0 to 9e9 s"),
        ("t", int([Some(5), Some(i64::MAX)]), "row 2: time is 9223372036854775807 us"),
        ("t", float(f64::NAN), "row 2: time is NaN us"),
        ("t", float(f64::INFINITY), "row 2: time is inf us"),
        ("t", float(1e300), "row 2: time is 1e300 us"),
        ("t", float(-0.5), "row 2: time is -0.5 us"),
        (
            "t",
            array(UInt64Array::from(vec![1, u64::MAX])),
            "row 2: time is 18446744073709551615 us",
        ),
        (
            "t",
            array(UInt64Array::from(vec![1, u64::MAX - 1])),
            "row 2: time is 18446744073709551614 us",
        ),
        (
            "o",
            float(0.001),
            "row 2: offset is 0.001 512B: must be a whole number of bytes from 0 to 2^63",
        ),
        (
            "o",
            int([Some(1), Some(1 << 54)]),
            "row 2: 1 bytes at 9223372036854775808: must end by byte 2^63",
        ),
        ("o", int([Some(1), Some(1 << 55)]), "row 2: offset is 36028797018963968 512B"),
        (
            "b",
            int([Some(1), Some(0)]),
            "row 2: bytes is 0 B: must be a whole number of bytes from 1",
        ),
        ("b", int([Some(1), None]), "row 2: bytes is null"),
        ("p", array(StringArray::from(vec![Some("r"), None])), "row 2: op is null"),
        (
            "p",
            array(StringArray::from(vec!["r", "x\0"])),
            "row 2: op is 'x\\x00': must be read, write, flush or trim",
        ),
        (
            "p",
            array(["r", "no"].into_iter().collect::<DictionaryArray<Int32Type>>()),
            "row 2: op is 'no'",
        ),
        // Types that will not do.
        (
            "t",
            array(StringArray::from(vec!["1", "2"])),
            "column 't' (time) has the type Utf8: must be a number, a timestamp or a duration",
        ),
        (
            "o",
            array(TimestampMillisecondArray::from(vec![1, 2])),
            "column 'o' (offset) has the type Timestamp(ms): must be a number",
        ),
        (
            "p",
            array(Float64Array::from(vec![0.0, 1.0])),
            "column 'p' (op) has the type Float64: must be text, whole numbers or true and false",
        ),
        (
            "p",
            int([Some(0), Some(1)]),
            "column 'p' (op) has the type Int64: must be text, or its values given, as in op=COLUMN:0/1",
        ),
        ("p", array(BooleanArray::from(vec![false, true])), "as in op=COLUMN:false/true"),
    ] {
        let found = message(&with(name, column), MAP);
        assert!(found.contains(expected), "{expected}: {found}");
    }
    let device = |column: ArrayRef, map: &str| {
        let mut columns = plain();
        columns.push(("d", column));
        message(&columns, &format!("{MAP}, {map}"))
    };
    let found = device(int([Some(1), Some(1 << 32)]), "device=d");
    assert!(
        found.contains("row 2: device is 4294967296: must be a whole number from 0 to 4294967295"),
        "{found}"
    );
    let found = device(array(StringArray::from(vec!["1", "a"])), "device=d");
    assert!(found.contains("row 2: device is 'a': must be a whole number"), "{found}");
    let found = device(float(2.0), "device=d");
    assert!(
        found.contains("column 'd' (device) has the type Float64: must be whole numbers or text"),
        "{found}"
    );
    let table = r#"
    o:512B -> o => columns: offset=o has no unit: must be B, KiB
    t:us -> t => columns: time=t has no unit
    t:us -> z:us => no column 'z': the file has unused, t, o, b, p
    t:us -> time:us => no column 'time'
    time=t:us, offset=o:512B, bytes=b:B, op=p -> time=2:us, offset=3:B, bytes=4:B, op=6 =>
        no column '6': the file has
    "#;
    refuse(table, |change| made(&plain(), &replaced(MAP, change)).map(drop));
    assert!(made(&plain(), &(MAP.replace("t:us", "t:s") + ", origin=first")).is_ok());
    let late = with("t", int([Some(1_700_000_000_000_000), Some(1_700_000_000_000_001)]));
    let found = message(&late, MAP);
    assert!(
        found.contains("row 1: the first time is 1700000000 s, 53.9 years: add origin=first"),
        "{found}"
    );
    let (records, _) = made(&late, &format!("{MAP}, origin=first")).unwrap();
    assert_eq!([records[0].time.0, records[1].time.0], [0, 1_000]);
}

#[test]
fn a_bad_row_far_down_is_found_by_its_number() {
    let many = 20_000;
    let mut times: Vec<i64> = (0..many).collect();
    times[15_000] = -1;
    let column = |value: i64| array(Int64Array::from(vec![value; many as usize]));
    let ops = array(StringArray::from(vec!["r"; many as usize]));
    let columns =
        [("t", array(Int64Array::from(times))), ("o", column(0)), ("b", column(512)), ("p", ops)];
    let found = message(&columns, MAP);
    assert!(found.contains("row 15001: time is -1 us"), "{found}");
}

#[test]
fn files_that_are_no_parquet_or_cut_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t");
    save(&path, &plain(), Compression::SNAPPY);
    let bytes = std::fs::read(&path).unwrap();
    for end in 0..bytes.len() {
        std::fs::write(&path, &bytes[..end]).unwrap();
        let error = read(&path, Some(MAP)).unwrap_err().to_string();
        assert!(error.contains("not a Parquet file that can be read"), "{error}");
    }
    std::fs::write(&path, &bytes).unwrap();
    let error = read(&path, None).unwrap_err().to_string();
    assert!(error.contains("the columns are not sledsim's: give roles and units"), "{error}");
    assert!(error.contains("its columns are unused, t, o, b, p"), "{error}");
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut zipped, &bytes).unwrap();
    std::fs::write(&path, zipped.finish().unwrap()).unwrap();
    let error = read(&path, Some(MAP)).unwrap_err().to_string();
    assert!(
        error.contains("Parquet inside gzip cannot be read: decompress the file first"),
        "{error}"
    );
    let error = read(Path::new("/dev/null"), Some(MAP)).unwrap_err().to_string();
    assert!(error.contains("needs random access: give a file"), "{error}");
}

#[test]
fn the_rows_of_a_run_are_a_trace_of_its_workload() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rows.parquet");
    let row = |id, parent, device, op, lbn, blocks, arrival, completion| Row {
        id,
        parent,
        device,
        stream: 40 + id as u32,
        op,
        lbn,
        blocks,
        arrival: Nanos(arrival),
        completion: Nanos(completion),
        ..Row::default()
    };
    let mut rows = RowsFile::create(&path, &["cache", "disk"]).unwrap();
    // The requests of the inner device serve those of the outer one.
    rows.push(&row(0, Some(1), 1, Read, 777, 64, 1_100, 1_900)).unwrap();
    rows.push(&row(1, None, 0, Read, 800, 8, 1_000, 2_000)).unwrap();
    rows.push(&row(2, None, 0, Flush, 0, 0, 1_500, 2_500)).unwrap();
    rows.push(&row(1, Some(3), 1, Write, 5, 1, 900, 3_000)).unwrap();
    rows.push(&row(3, None, 0, Write, 5, 1, 900, 3_100)).unwrap();
    assert_eq!(rows.finish().unwrap(), 5);
    let (format, _) = Format::detect(&path, None, &options()).unwrap();
    assert_eq!(format.name, "parquet");
    let (records, _) = read(&path, None).unwrap();
    let took = |record: Record, ns| Record { response: Some(Nanos(ns)), ..record };
    // In the order of arrival, whatever that of the rows.
    let expected = [
        took(record(900, 43, Write, 5 * 512, 512), 2_200),
        took(record(1_000, 41, Read, 800 * 512, 8 * 512), 1_000),
        took(record(1_500, 42, Flush, 0, 0), 1_000),
    ];
    assert_eq!(records, expected);
}
