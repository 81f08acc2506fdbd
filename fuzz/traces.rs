// Properties of reading any bytes as a trace: the bodies of fuzz targets, and of
// property tests of sledsim-experiments (tests/any_bytes.rs).

use sledsim_base::request::Op;
use sledsim_traces::{END_BYTES, FORMATS, Format, InfoSpec, Input, Options, Reader};
use std::io::Cursor;
use std::path::Path;

/// The most bytes read: compressed files may be of any length.
const ENOUGH_BYTES: u64 = 1 << 24;

/// The key `columns` for formats that need it.
const COLUMNS: &str = "time=1:us, offset=2:512B, bytes=3:B, op=4:R/W, device=5";

/// Reads all records, checks each, and returns their number.
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
        assert!(count <= reader.bytes_read(), "a record takes a byte at least");
    }
    count
}

/// The first byte picks the format, the rest is the file.
pub fn trace_reader(data: &[u8]) {
    let Some((&pick, file)) = data.split_first() else {
        return;
    };
    let count = FORMATS.iter().count();
    let Some(format) = FORMATS.iter().nth(pick as usize % count) else {
        return;
    };
    let options =
        Options { columns: (pick & 0x80 != 0).then(|| COLUMNS.to_owned()), ..Options::default() };
    let input = Input::new("fuzz.trace", Box::new(Cursor::new(file.to_vec())));
    if let Ok(mut reader) = input.and_then(|input| format.open(input, &options)) {
        read_all(&mut *reader);
        let error = reader.refuse("some problem".to_owned()).to_string();
        assert!(error.contains("fuzz.trace") && error.contains("some problem"));
    }
}

/// A file of these bytes at `path`: recognised or refused, the same each time,
/// and a recognised file can be described.
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
            return Err(sledsim_base::error::Error::Interrupted);
        }
        Ok(())
    });
    if let Ok(info) = info {
        assert!(info.statistics.requests > 0);
        assert!(!format!("{info:?}").is_empty());
    }
}

/// The most bytes of a compressed file repeated.
const REPEATED_BYTES: usize = 1 << 16;

/// The bytes of a compressed file, the same many times over, and the same with the checksum
/// of its first block header mended, if it is one of xz: else no changed header is looked at.
pub fn compressed(data: &[u8]) {
    same_however_read(data);
    let times = REPEATED_BYTES / data.len().max(1);
    if times > 1 {
        same_however_read(&data.repeat(times));
    }
    let mut mended = data.to_vec();
    let size = mended.get(12).map_or(0, |size| 4 * usize::from(*size));
    if data.starts_with(b"\xfd7zXZ") && mended.len() >= 16 + size {
        let sum = crc32(&mended[12..12 + size]);
        mended[12 + size..16 + size].copy_from_slice(&sum.to_le_bytes());
        same_however_read(&mended);
    }
}

/// The CRC-32 of the .xz format (ISO 3309).
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        let shifted = |sum: u32| sum >> 1 ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| shifted(sum))
    })
}

/// What comes out of a compressed file ends, and ends the same way however it is read.
fn same_however_read(data: &[u8]) {
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
                    sum = bytes
                        .fold(sum, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
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
