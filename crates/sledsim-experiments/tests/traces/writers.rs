//! Writing traces: contents of the files, lost fields, and round trips.

use flate2::read::GzDecoder;
use proptest::prelude::*;
use serde_json::json;
use sledsim_base::error::Result;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_experiments::formats::{all, options};
use sledsim_traces::writers::{Lost, WriteFormat};
use sledsim_traces::{Format, Input, Options, Record};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

use Op::{Flush, Trim, Write};

fn writer(name: &str) -> &'static WriteFormat {
    let found = all().writers.iter().find(|format| format.name == name);
    found.expect("a format of this name")
}

fn record(time_ns: u64, device: u32, op: Op, offset: u64, bytes: u64) -> Record {
    Record { time: Nanos(time_ns), device, op, offset, bytes, ..Record::default() }
}

/// One of everything; devices 3 and 4 have names.
fn all_kinds() -> Vec<Record> {
    vec![
        record(0, 3, Op::Read, 512, 1_024),
        Record {
            response: Some(Nanos(47_000)),
            queue: Some(Nanos(9)),
            ..record(1_499, 4, Write, 513, 1)
        },
        Record {
            think: Some(Nanos(0)),
            response: Some(Nanos(1)),
            ..record(1_500, 0, Op::Read, 511, 2)
        },
        Record { linked: true, ..record(2_000_000, 3, Op::Read, 1_024, 513) },
        record(3_000_000, 3, Flush, 0, 0),
        record(1_234_567_890_123, 3, Trim, 0, 4_096),
    ]
}

const NAMES: [(u32, &str); 2] = [(3, "disk a"), (4, "8:16, \"b\"")];

fn write(format: &WriteFormat, path: &Path, records: &[Record]) -> Result<Lost> {
    let mut writer = format.create(path)?;
    for (device, name) in NAMES {
        writer.name_device(device, name)?;
    }
    for record in records {
        writer.write(record)?;
    }
    let lost = writer.lost();
    assert_eq!(writer.finish()?, lost);
    Ok(lost)
}

fn written(name: &str, records: &[Record]) -> (String, Lost) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("out.txt");
    let lost = write(writer(name), &path, records).unwrap();
    (std::fs::read_to_string(path).unwrap(), lost)
}

/// The records of a file and the names of their devices, in a format that is
/// recognised.
fn read_back(path: &Path) -> (&'static str, Vec<Record>, Vec<Option<String>>) {
    let (format, input) = Format::detect(path, None, &options()).unwrap();
    let (records, names) = read(format, input, &options());
    (format.name, records, names)
}

fn read(format: Format, input: Input, options: &Options) -> (Vec<Record>, Vec<Option<String>>) {
    let mut reader = format.open(input, options).unwrap();
    let (mut records, mut names) = (Vec::new(), Vec::new());
    while let Some(record) = reader.next().unwrap() {
        names.push(reader.device_name(record.device).map(str::to_owned));
        records.push(record);
    }
    (records, names)
}

fn name_of(device: u32) -> Option<String> {
    let found = NAMES.iter().find(|(named, _)| *named == device);
    found.map(|(_, name)| (*name).to_owned())
}

#[test]
fn disksim_ascii_holds_exact_times_and_widened_blocks() {
    let (text, lost) = written("disksim_ascii", &all_kinds());
    let expected = "0.000000 3 1 2 1\n\
                    0.001499 4 1 1 0\n\
                    0.001500 0 0 2 1\n\
                    2.000000 3 2 2 1\n";
    assert_eq!(text, expected);
    let expected = Lost {
        written: 4,
        flushes: 1,
        trims: 1,
        widened: 3,
        responses: 2,
        think_times: 1,
        queue_times: 1,
        device_names: 2,
        links: 1,
        ..Lost::default()
    };
    assert_eq!(lost, expected);
    assert!(!lost.nothing());
    assert_eq!(
        json!(lost),
        json!({
            "flushes": 1, "trims": 1, "widened": 3, "responses": 2, "think_times": 1,
            "queue_times": 1, "device_names": 2, "links": 1,
        })
    );
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("big.trace");
    let long = record(0, 0, Op::Read, 0, 1 << 41);
    let error = write(writer("disksim_ascii"), &path, &[all_kinds()[0], long]).unwrap_err();
    let expected = format!(
        "{}: record 2: 2199023255552 bytes: DiskSim ascii holds less than 2 TiB",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn fio_iolog_opens_files_and_rounds_to_microseconds() {
    let (text, lost) = written("fio_iolog", &all_kinds());
    let expected = "fio version 3 iolog\n\
                    0 disk_a add\n\
                    0 disk_a open\n\
                    0 disk_a read 512 1024\n\
                    1 8:16,_\"b\" add\n\
                    1 8:16,_\"b\" open\n\
                    1 8:16,_\"b\" write 513 1\n\
                    2 device0 add\n\
                    2 device0 open\n\
                    2 device0 read 511 2\n\
                    2000 disk_a read 1024 513\n\
                    3000 disk_a sync 0 0\n\
                    1234567890 disk_a trim 0 4096\n\
                    1234567890 device0 close\n\
                    1234567890 disk_a close\n\
                    1234567890 8:16,_\"b\" close\n";
    assert_eq!(text, expected);
    let expected = Lost {
        written: 6,
        rounded_times: 3,
        responses: 2,
        think_times: 1,
        queue_times: 1,
        device_names: 2,
        links: 1,
        ..Lost::default()
    };
    assert_eq!(lost, expected);
    // Two devices never become one file.
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("x.iolog");
    let mut fio = writer("fio_iolog").create(&path).unwrap();
    fio.name_device(1, "a b").unwrap();
    fio.name_device(2, "a_b").unwrap();
    for device in [1, 2] {
        fio.write(&record(0, device, Op::Read, 0, 1)).unwrap();
    }
    assert_eq!(fio.finish().unwrap().device_names, 2);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("0 a_b read 0 1\n"), "{text}");
    assert!(text.contains("0 a_b.2 read 0 1\n"), "{text}");
}

#[test]
fn csv_holds_everything() {
    let (text, lost) = written("csv", &all_kinds());
    let expected = "time_ns,device,device_name,op,offset_bytes,bytes,response_ns,think_ns,queue_ns,\
                    linked\n\
                    0,3,disk a,read,512,1024,,,,\n\
                    1499,4,\"8:16, \"\"b\"\"\",write,513,1,47000,,9,\n\
                    1500,0,,read,511,2,1,0,,\n\
                    2000000,3,disk a,read,1024,513,,,,1\n\
                    3000000,3,disk a,flush,0,0,,,,\n\
                    1234567890123,3,disk a,trim,0,4096,,,,\n";
    assert_eq!(text, expected);
    assert_eq!((lost.written, lost.nothing()), (6, true));
}

#[test]
fn files_are_recognised_and_read_back() {
    let folder = TempDir::new().unwrap();
    assert!(WriteFormat::of(Path::new("x.parquet"), all().writers).is_ok());
    for name in ["x.csv", "x.csv.gz", "X.CSV", "x.parquet"] {
        let path = folder.path().join(name);
        let Ok(format) = WriteFormat::of(&path, all().writers) else { panic!("no format") };
        assert!(write(format, &path, &all_kinds()).unwrap().nothing());
        let (found, records, names) = read_back(&path);
        assert_eq!(found, format.name);
        assert_eq!(records, all_kinds(), "{name}");
        let expected: Vec<_> = records.iter().map(|record| name_of(record.device)).collect();
        assert_eq!(names, expected, "{name}");
    }
}

#[test]
fn endings_choose_the_format_and_the_compression() {
    for (name, format) in [
        ("a.trace", "disksim_ascii"),
        ("a.b.DISKSIM", "disksim_ascii"),
        ("a.ascii.gz", "disksim_ascii"),
        ("a.iolog", "fio_iolog"),
        ("a.csv", "csv"),
        ("folder.csv/a.csv.GZ", "csv"),
    ] {
        assert_eq!(WriteFormat::of(Path::new(name), all().writers).unwrap().name, format, "{name}");
    }
    for name in ["a", "a.gz", "csv", "a.csv.bz2", "a.srt", "a.csv/b"] {
        let error = WriteFormat::of(Path::new(name), all().writers).unwrap_err().to_string();
        let expected = format!(
            "{name}: its ending names no format: give one of disksim_ascii (.trace, .disksim, .ascii), fio_iolog (.iolog, .fio), csv (.csv)"
        );
        assert!(error.starts_with(&expected), "{error}");
    }
    // Every format that is written is one that is read, under the same name.
    for format in all().writers.iter() {
        let read = all().readers.iter().any(|known| known.name == format.name);
        assert!(read || format.name == "fio_iolog", "{}", format.name);
    }
    let folder = TempDir::new().unwrap();
    let (plain, zipped) = (folder.path().join("a.csv"), folder.path().join("a.csv.gz"));
    write(writer("csv"), &plain, &all_kinds()).unwrap();
    write(writer("csv"), &zipped, &all_kinds()).unwrap();
    let zipped = std::fs::read(zipped).unwrap();
    assert_eq!(zipped[..2], [0x1f, 0x8b]);
    let mut text = Vec::new();
    GzDecoder::new(&*zipped).read_to_end(&mut text).unwrap();
    assert_eq!(text, std::fs::read(plain).unwrap());
    for name in ["a.csv.zst", "a.csv.xz"] {
        let path = folder.path().join(name);
        let error = writer("csv").create(&path).map(drop).unwrap_err().to_string();
        assert!(error.contains("cannot be written: end the name in .gz"), "{error}");
    }
}

#[test]
fn no_partial_file_is_left() {
    let folder = TempDir::new().unwrap();
    let names = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    for format in all().writers.iter() {
        let path = folder.path().join("kept");
        std::fs::write(&path, "old").unwrap();
        let mut writer = format.create(&path).unwrap();
        for record in all_kinds().iter().cycle().take(100_000) {
            writer.write(record).unwrap();
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        drop(writer);
        assert_eq!(std::fs::read(&path).unwrap(), b"old", "{}", format.name);
        assert_eq!(names(), [path]);
        let nowhere = folder.path().join("none/x");
        let error = format.create(&nowhere).map(drop).unwrap_err().to_string();
        assert!(error.contains("its folder does not exist"), "{error}");
        if Path::new("/dev/full").exists() {
            let full = Path::new("/dev/full");
            let error = write(format, full, &all_kinds()).unwrap_err().to_string();
            assert!(error.starts_with("/dev/full: No space left"), "{}: {error}", format.name);
        }
    }
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    for format in all().writers.iter() {
        let bytes = ["a", "b"].map(|name| {
            let path = folder.path().join(name);
            let records: Vec<Record> = all_kinds().into_iter().cycle().take(20_000).collect();
            write(format, &path, &records).unwrap();
            std::fs::read(path).unwrap()
        });
        assert!(!bytes[0].is_empty() && bytes[0] == bytes[1], "{}", format.name);
    }
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let time = || prop_oneof![0..100_u64, 0..9_000_000_000_000_000_000_u64];
    let place = prop_oneof![
        (0..1_000_u64, 1..5_000_u64),
        (0..1_u64 << 62, 1..1_u64 << 40),
        Just(((1_u64 << 63) - 1, 1_u64)),
    ];
    let op = prop_oneof![Just(Op::Read), Just(Write), Just(Flush), Just(Trim)];
    let device = prop_oneof![0..5_u32, any::<u32>()];
    let maybe = || prop::option::of(time());
    let one = (time(), device, op, place, (maybe(), maybe(), maybe()));
    let one =
        one.prop_map(|(time, device, op, (offset, bytes), (response, think, queue))| Record {
            response: response.map(Nanos),
            think: think.map(Nanos),
            queue: queue.map(Nanos),
            ..match op {
                Flush => record(time, device, op, 0, 0),
                _ => record(time, device, op, offset, bytes),
            }
        });
    prop::collection::vec(one, 1..50)
}

proptest! {
    #[test]
    fn round_trips(records in records()) {
        let folder = TempDir::new().unwrap();
        for format in all().writers.iter() {
            let path = folder.path().join("trace");
            let lost = write(format, &path, &records).unwrap();
            match format.name {
                "csv" | "parquet" => {
                    prop_assert!(lost.nothing());
                    let (found, back, _) = read_back(&path);
                    prop_assert_eq!(found, format.name);
                    prop_assert_eq!(&back, &records);
                }
                "disksim_ascii" => {
                    let moves: Vec<&Record> = records.iter().filter(|r| r.op.moves_data()).collect();
                    prop_assert_eq!(lost.written, moves.len() as u64);
                    prop_assert_eq!(lost.written + lost.flushes + lost.trims, records.len() as u64);
                    // Its reader takes blocks up to 2^53.
                    if moves.is_empty() || moves.iter().any(|r| r.offset >= 1 << 62) {
                        continue;
                    }
                    let format = *all().readers.get("disksim_ascii").unwrap();
                    let (back, _) = read(format, Input::open(&path).unwrap(), &options());
                    prop_assert_eq!(back.len(), moves.len());
                    for (back, record) in back.iter().zip(moves) {
                        prop_assert_eq!((back.time, back.device, back.op), (record.time, record.device, record.op));
                        prop_assert!(back.offset <= record.offset && record.offset - back.offset < 512);
                        let (end, wanted) = (back.offset + back.bytes, record.offset + record.bytes);
                        prop_assert!(wanted <= end && end - wanted < 512 && back.is_aligned());
                        prop_assert_eq!(back == &Record { response: None, think: None, queue: None, ..*record }, record.is_aligned());
                    }
                }
                _ => {
                    // Read here, from the description of the format.
                    let text = std::fs::read_to_string(&path).unwrap();
                    let lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
                    let actions: Vec<_> = lines.filter(|fields| fields.len() == 5 && fields[0] != "fio").collect();
                    prop_assert_eq!(actions.len(), records.len());
                    let mut files = std::collections::BTreeMap::new();
                    for (fields, record) in actions.iter().zip(&records) {
                        let us: u64 = fields[0].parse().unwrap();
                        prop_assert!((us * 1_000).abs_diff(record.time.0) <= 500);
                        let action = match record.op { Op::Read => "read", Write => "write", Flush => "sync", Trim => "trim" };
                        prop_assert_eq!(fields[2], action);
                        prop_assert_eq!(fields[3].parse(), Ok(record.offset));
                        prop_assert_eq!(fields[4].parse(), Ok(record.bytes));
                        // One file a device, one device a file.
                        prop_assert_eq!(*files.entry(fields[1]).or_insert(record.device), record.device);
                    }
                    let devices: std::collections::BTreeSet<u32> = records.iter().map(|r| r.device).collect();
                    prop_assert_eq!(files.len(), devices.len());
                    let opened = text.lines().filter(|line| line.ends_with(" open")).count();
                    let closed = text.lines().filter(|line| line.ends_with(" close")).count();
                    prop_assert_eq!((opened, closed), (devices.len(), devices.len()));
                }
            }
        }
    }
}

/// Every reader's records, through every writer that holds them all.
#[test]
fn every_format_converts_without_loss() {
    let srt = {
        let mut file = b"$$TR_IOREC-1.3\ndisks = { 1 -> { sectorsize = 256 } };\x0c".to_vec();
        for word in [52_u32, 0x4_0001, 7, 8, 1, 9, 512, 3, 0x0800_0100, 0, 0, 1, 0] {
            file.extend(word.to_be_bytes());
        }
        file
    };
    let vscsi = {
        let mut file = vec![0x2a, 0, 0, 2, 1, 0, 0, 0, 0, 16, 0, 0, 1, 0, 0, 0];
        for word in [77_u64, 5_633_898, 1_234] {
            file.extend(word.to_le_bytes());
        }
        file
    };
    let samples: [(&str, Vec<u8>); 9] = [
        ("disksim_ascii", b"0.5 0 100 8 1\n1.25 7 108 8 0\n".to_vec()),
        ("mqsim", b"5 0 100 8 1\n9 1 108 8 0\n".to_vec()),
        ("spc", b"0,20,8192,W,0.5\n3,40,513,r,1.5,x\n".to_vec()),
        (
            "msr",
            b"128166372003061629,hm,1,Read,24,4096,47\n128166372003061630,u,0,Write,0,1,0\n"
                .to_vec(),
        ),
        ("systor", b"1455592000.5,,R,2,512,1\n1455592001,0.1,W,2,0,9\n".to_vec()),
        ("alibaba", b"419,W,8792,16384,1577808144360767\n725,R,59,36,1577808144360768\n".to_vec()),
        ("tencent", b"1538323200,12910952,128,0,1063\n1538323201,6,8,1,1627\n".to_vec()),
        ("hp_srt", srt),
        ("vscsi", vscsi),
    ];
    let folder = TempDir::new().unwrap();
    for (name, bytes) in samples {
        let format = *all().readers.get(name).unwrap();
        let input = Input::new("t", Box::new(Cursor::new(bytes))).unwrap();
        let (records, names) = read(format, input, &options());
        for target in ["csv", "parquet"] {
            let path = folder.path().join(format!("{name}.{target}"));
            let Ok(format) = WriteFormat::of(&path, all().writers) else { panic!("no format") };
            let mut writer = format.create(&path).unwrap();
            for (record, name) in records.iter().zip(&names) {
                if let Some(name) = name {
                    writer.name_device(record.device, name).unwrap();
                }
                writer.write(record).unwrap();
            }
            assert!(writer.finish().unwrap().nothing());
            let (found, back, called) = read_back(&path);
            assert_eq!((found, &back, &called), (target, &records, &names), "{name}");
        }
    }
}
