// What must hold of any bytes: the bodies of the fuzz targets, and of the
// property tests of sledsim-core (tests/any_bytes.rs), which include this file.

use sledsim_core::devices::Device;
use sledsim_core::keys::Keys;
use sledsim_core::load::Load;
use sledsim_core::request::Op;
use sledsim_core::traces::{END_BYTES, FORMATS, Format, InfoSpec, Input, Options, Reader};
use sledsim_core::workloads::Workload;
use std::io::Cursor;
use std::path::Path;

/// Reading stops here: compressed files may be as long as they like.
const ENOUGH_BYTES: u64 = 1 << 24;

/// What a format that asks for its columns is told.
const COLUMNS: &str = "time=1:us, offset=2:512B, bytes=3:B, op=4:R/W, device=5";

/// Reads all records, each of which must keep the contract; how many.
fn read_all(reader: &mut dyn Reader) -> u64 {
    let mut count = 0;
    while reader.bytes_read() < ENOUGH_BYTES {
        match reader.next() {
            Ok(Some(record)) => {
                count += 1;
                assert_eq!(record.bytes == 0, record.op == Op::Flush, "{record:?}");
                let end = record.offset.checked_add(record.bytes);
                assert!(end.is_some_and(|end| end <= END_BYTES), "{record:?}");
                let (start, end) = record.blocks();
                assert!(end > start || record.op == Op::Flush, "{record:?}");
                let _ = reader.device_name(record.device);
            }
            Ok(None) => break,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                break;
            }
        }
        assert!(
            count <= reader.bytes_read(),
            "a record takes a byte at least"
        );
    }
    count
}

/// The first byte picks the format, the rest is the file.
pub fn trace_reader(data: &[u8]) {
    let Some((&pick, file)) = data.split_first() else {
        return;
    };
    let format = FORMATS[pick as usize % FORMATS.len()];
    let options = Options {
        columns: (pick & 0x80 != 0).then(|| COLUMNS.to_owned()),
        ..Options::default()
    };
    let input = Input::new("fuzz.trace", Box::new(Cursor::new(file.to_vec())));
    if let Ok(mut reader) = input.and_then(|input| format.open(input, &options)) {
        read_all(&mut *reader);
        let error = reader.refuse("some problem".to_owned()).to_string();
        assert!(error.contains("fuzz.trace") && error.contains("some problem"));
    }
}

/// A file of these bytes at `path`: recognised or refused, the same each time,
/// and what is recognised can be told about.
pub fn trace_detect(data: &[u8], path: &Path) {
    std::fs::write(path, data).expect("the file can be written");
    let options = Options::default();
    let name = || Format::detect(path, None, &options).map(|(format, _)| format.name);
    let (first, second) = (name(), name());
    match (first, second) {
        (Ok(first), Ok(second)) => assert_eq!(first, second),
        (Err(first), Err(second)) => assert_eq!(first.to_string(), second.to_string()),
        _ => panic!("recognised once only"),
    }
    let spec = InfoSpec {
        max_units: InfoSpec::MIN_UNITS,
        picture: data.len().is_multiple_of(8),
        ..InfoSpec::new(path)
    };
    let mut calls = 0;
    let info = spec.read(&mut |_| {
        calls += 1;
        if calls > 16 {
            return Err(sledsim_core::error::Error::Interrupted);
        }
        Ok(())
    });
    if let Ok(info) = info {
        assert!(info["requests"].as_u64() > Some(0));
        assert!(!info.to_string().is_empty());
    }
}

/// A Parquet file of these bytes at `path`: read, or refused with its name, the
/// same each time.
pub fn parquet(data: &[u8], path: &Path) {
    std::fs::write(path, data).expect("the file can be written");
    let format = FORMATS.into_iter().find(|format| format.name == "parquet");
    let spec = InfoSpec {
        format,
        quick: true,
        max_units: InfoSpec::MIN_UNITS,
        ..InfoSpec::new(path)
    };
    let read = || spec.read(&mut |_| Ok(())).map(|info| info.to_string());
    match (read(), read()) {
        (Ok(first), Ok(second)) => assert_eq!(first, second),
        (Err(first), Err(second)) => {
            assert_eq!(first.to_string(), second.to_string());
            let name = path.to_string_lossy();
            assert!(first.to_string().contains(&*name), "{first}");
        }
        _ => panic!("read once only"),
    }
}

/// TOML text as a device, as a workload, and as values.
pub fn keys(text: &str) {
    if let Ok(keys) = Keys::parse(text, "fuzz.toml") {
        for (key, ..) in keys.entries() {
            assert!(!key.is_empty());
        }
        for name in Workload::names() {
            let _ = Load::workload(name, keys.clone());
        }
        let _ = Load::trace(Path::new("fuzz.trace"), keys.clone());
        // A base may be the path of any file.
        let base = keys.clone().opt_text("base").ok().flatten();
        let is_file = base.is_some_and(|base| base.contains(['/', '\\', '.']));
        if !is_file && let Ok(device) = Device::from_keys(keys, None) {
            assert!(device.blocks() > 0);
            assert!(!device.show().to_string().is_empty());
        }
    }
    let mut keys = Keys::empty("fuzz");
    if let Some((key, value)) = text.split_once('=') {
        let _ = keys.set_text(key, value, "--set fuzz");
        let _ = Load::workload("random", keys);
    }
}

/// The bytes of a compressed file: what comes out ends, and ends the same way
/// however it is read.
pub fn compressed(data: &[u8]) {
    let read = |step: usize| -> (u64, bool, u64) {
        let opened = Input::new("fuzz.gz", Box::new(Cursor::new(data.to_vec())));
        let Ok(mut input) = opened else {
            return (0, false, 0);
        };
        let mut buffer = vec![0; step];
        let mut sum = 0_u64;
        while input.bytes_read() < ENOUGH_BYTES {
            match input.read(&mut buffer) {
                Ok(0) => return (input.bytes_read(), true, sum),
                Ok(count) => {
                    let bytes = buffer[..count].iter();
                    sum = bytes.fold(sum, |sum, byte| {
                        sum.wrapping_mul(31).wrapping_add(u64::from(*byte))
                    });
                }
                Err(problem) => {
                    assert!(!problem.is_empty());
                    return (0, false, 0);
                }
            }
        }
        (0, true, 0) // too long to compare
    };
    assert_eq!(read(1 << 16), read(1009));
}
