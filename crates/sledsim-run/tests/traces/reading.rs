//! Traces: what is read, what is done to it, and what bad files are told.

use crate::common::reference;
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::Keys;
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;
use sledsim_run::replay::{TraceSource, TraceSpec};
use sledsim_traces::trace_info;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const SMALL: &str = "\
# time dev block blocks flags
0.5 0 100 8 1
1.25 0 108 8 0
1.25 0 50 2 1

4 0 9990 10 2
";

/// A file of these bytes; the folder goes when the first part is dropped.
fn file(content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("bad.trace");
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn open(path: &Path, keys: &str, blocks: u64) -> Result<TraceSource> {
    let mut keys = Keys::parse(keys, "my.toml")?;
    let spec = TraceSpec::read(path, &mut keys)?;
    keys.finish()?;
    spec.source(blocks, &mut |_| Ok(()))
}

/// All requests of an open replay and the facts after it.
fn replay(path: &Path, keys: &str, blocks: u64) -> Result<(Vec<Request>, Value)> {
    let mut source = open(path, keys, blocks)?;
    let mut requests = Vec::new();
    while let Some(at) = source.next_arrival()? {
        let request = source.take()?;
        assert_eq!((request.arrival, request.id), (at, requests.len() as u64));
        requests.push(request);
    }
    assert!(source.take().is_err());
    Ok((requests, source.facts()))
}

/// The message of a failing replay, without the folder.
fn message(content: impl AsRef<[u8]>, keys: &str, blocks: u64) -> String {
    let (folder, path) = file(content);
    let error = replay(&path, keys, blocks).unwrap_err().to_string();
    error.replace(&format!("{}/", folder.path().display()), "")
}

fn lbns(requests: &[Request]) -> Vec<u64> {
    requests.iter().map(Request::lbn).collect()
}

#[test]
fn fields_are_read_as_written() {
    let (_folder, path) = file(SMALL);
    let (requests, facts) = replay(&path, "", 10_000).unwrap();
    let seen: Vec<_> = requests
        .iter()
        .map(|r| (r.arrival.0, r.op, r.lbn(), r.blocks(), r.stream))
        .collect();
    let expected = [
        (500_000, Op::Read, 100, 8, 0),
        (1_250_000, Op::Write, 108, 8, 0),
        (1_250_000, Op::Read, 50, 2, 0),
        (4_000_000, Op::Write, 9990, 10, 0),
    ];
    assert_eq!(seen, expected);
    assert_eq!(
        facts,
        json!({
            "workload": "trace",
            "path": path.display().to_string(),
            "format": "disksim_ascii",
            "format_from": "content",
            "format_others": [],
            "compression": "none",
            "requests": 4,
            "trace_device": 0,
            "devices": [{ "device": 0, "requests": 4, "first_block": 0 }],
            "other_devices_requests": 0,
            "not_requests": 0,
            "empty_requests": 0,
            "glitches_dropped": 0,
            "first_glitch": null,
            "address": "error",
            "address_offset": 0,
            "span_blocks": null,
            "widened": 0,
            "wrapped": 0,
            "scaled": 0,
            "moved": 0,
            "time_scale": 1.0,
            "time_origin": "file",
            "first_time_s": 0.0005,
            "subtracted_s": 0.0,
            "sort_ms": null,
            "sorted": 0,
            "sorted_most_ms": 0.0,
        })
    );
}

/// `SMALL` as the programs zstd (with its checksum) and xz write it.
const SMALL_ZST: [u8; 82] = [
    0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x58, 0x2d, 0x02, 0x00, 0x42, 0x04, 0x0e, 0x12, 0x90, 0xcf, 0x01,
    0x20, 0x2f, 0x1b, 0xcc, 0xb4, 0xbb, 0x53, 0x3e, 0xf3, 0x89, 0x8b, 0x92, 0x17, 0x9e, 0x19, 0x2b,
    0xce, 0x7d, 0x36, 0xc6, 0x9c, 0x3f, 0x76, 0xfb, 0xe2, 0x4c, 0xf8, 0xe5, 0x45, 0x84, 0xde, 0x7e,
    0x39, 0x73, 0x9f, 0x4f, 0x02, 0xef, 0x6c, 0x07, 0xb2, 0xcf, 0x97, 0x24, 0x44, 0xaf, 0x4b, 0x7d,
    0x45, 0x47, 0x0f, 0x02, 0x03, 0x00, 0x80, 0xe8, 0x64, 0x8e, 0x21, 0x43, 0x01, 0x03, 0x73, 0x4b,
    0x24, 0x7c,
];
const SMALL_XZ: [u8; 132] = [
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01,
    0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0xe0, 0x00, 0x57, 0x00, 0x45, 0x5d, 0x00, 0x11,
    0x88, 0x0b, 0x06, 0xf1, 0xf5, 0xd3, 0x21, 0xfa, 0x77, 0x81, 0x8e, 0x31, 0xf4, 0xe9, 0x61, 0x62,
    0xd6, 0x24, 0xb6, 0x65, 0x7d, 0xeb, 0x09, 0x56, 0xbd, 0x08, 0xf6, 0xc6, 0x81, 0x25, 0x02, 0xc5,
    0xf1, 0x33, 0x83, 0xf8, 0x89, 0xf9, 0xdd, 0x4e, 0xcc, 0xcc, 0x00, 0x9f, 0x7b, 0x36, 0xf7, 0x53,
    0x30, 0xac, 0xf0, 0xa3, 0xdf, 0x41, 0x97, 0xd6, 0x96, 0xe7, 0x33, 0x73, 0xc8, 0x57, 0xd0, 0x8f,
    0x26, 0xc3, 0xe0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x4e, 0x2c, 0xc0, 0xb8, 0x77, 0x2b, 0x28, 0x51,
    0x00, 0x01, 0x61, 0x58, 0x0b, 0x36, 0xd0, 0x39, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x04, 0x59, 0x5a,
];

/// The same as the program bzip2 writes it.
const SMALL_BZ2: [u8; 101] = [
    0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xb4, 0x31, 0xae, 0x91, 0x00, 0x00,
    0x0d, 0xd9, 0x80, 0x00, 0x10, 0x48, 0x01, 0x76, 0x60, 0x3f, 0xae, 0x8d, 0x00, 0x20, 0x00, 0x54,
    0x35, 0x4c, 0x98, 0x00, 0x01, 0xa3, 0x41, 0xa6, 0x93, 0x29, 0xea, 0x3d, 0x4d, 0x34, 0x00, 0x33,
    0xe1, 0xea, 0xc3, 0x4c, 0xa4, 0xc5, 0x1c, 0x21, 0x23, 0xfe, 0xf8, 0x9a, 0xce, 0x62, 0x2b, 0x62,
    0x29, 0xa2, 0xb1, 0x76, 0x0a, 0x14, 0x14, 0x16, 0x0a, 0x66, 0x3f, 0xf9, 0x6d, 0x09, 0x24, 0x0e,
    0x84, 0x77, 0x69, 0xc9, 0x90, 0xe7, 0x01, 0xc0, 0x19, 0x3c, 0xbc, 0x2e, 0xe4, 0x8a, 0x70, 0xa1,
    0x21, 0x68, 0x63, 0x5d, 0x22,
];

/// The frame that is to be skipped.
fn skippable(length: u32) -> Vec<u8> {
    let mut frame = vec![0x5a, 0x2a, 0x4d, 0x18];
    frame.extend(length.to_le_bytes());
    frame.extend(vec![b'x'; length as usize]);
    frame
}

fn zstd(content: &[u8]) -> Vec<u8> {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    compress_to_vec(content, CompressionLevel::Fastest)
}

#[test]
fn line_ends_blanks_flags_and_compression_make_no_difference() {
    let (_folder, path) = file(SMALL);
    let (expected, _) = replay(&path, "", 10_000).unwrap();
    let crlf = SMALL.replace('\n', "\r\n");
    let mixed = SMALL.replacen('\n', "\r\n", 3);
    let marked = format!("\u{feff}{SMALL}");
    let tabs = SMALL
        .replace(' ', " \t ")
        .replace("100", "  0100")
        .replace("4 ", "04.000 ");
    let flags = SMALL
        .replace("8 1\n", "8 0xF1\n")
        .replace("10 2\n", "10 ffffFFFFffffFFF0");
    let (one, two) = SMALL.as_bytes().split_at(60);
    let gzips = [gzip(one), gzip(two)].concat();
    let zstds = [
        skippable(7),
        zstd(one),
        skippable(0),
        zstd(b""),
        zstd(two),
        skippable(100_000),
    ];
    for (other, compression) in [
        (crlf.as_bytes(), "none"),
        (mixed.as_bytes(), "none"),
        (marked.as_bytes(), "none"),
        (tabs.as_bytes(), "none"),
        (flags.as_bytes(), "none"),
        (SMALL.trim_end().as_bytes(), "none"),
        (crlf.trim_end_matches('\n').as_bytes(), "none"),
        (&gzip(SMALL.as_bytes()), "gzip"),
        (&gzips, "gzip"),
        (&SMALL_ZST, "zstd"),
        (&zstds.concat(), "zstd"),
        (&SMALL_XZ, "xz"),
        (&SMALL_BZ2, "bzip2"),
    ] {
        let (_folder, path) = file(other);
        let (requests, facts) = replay(&path, "", 10_000).unwrap();
        assert_eq!(requests, expected);
        assert_eq!(facts["compression"], compression);
    }
    // Twice the same trace goes back in time.
    for twice in [
        [SMALL_XZ.as_slice(), &SMALL_XZ].concat(),
        [SMALL_BZ2.as_slice(), &SMALL_BZ2].concat(),
    ] {
        let found = message(&twice, "", 10_000);
        assert!(
            found.starts_with("bad.trace:8: time 0.500000 ms is before 4.000000"),
            "{found}"
        );
    }
}

#[test]
fn times_are_exact_to_the_nanosecond() {
    for (text, ns) in [
        ("0", 0),
        ("0.", 0),
        (".5", 500_000),
        ("1532949.045363", 1_532_949_045_363),
        // Beyond the 53 bits of a double.
        ("9007199254.740993", 9_007_199_254_740_993),
        ("8999999999999.999999", 8_999_999_999_999_999_999),
        ("0.0000004", 0),
        ("0.0000005", 1),
        ("0.00000049999999999999999999999", 0),
        ("2.9999999", 3_000_000),
        ("000001.1000000000000000000000", 1_100_000),
    ] {
        let (_folder, path) = file(format!("{text} 0 1 1 1"));
        let (requests, _) = replay(&path, "", 10).unwrap();
        assert_eq!(requests[0].arrival, Nanos(ns), "{text}");
    }
}

#[test]
fn bad_lines_are_named_with_what_is_allowed() {
    let good = "1 0 5 1 1\n";
    for (line, expected) in [
        (
            "2 0 abc 1 1",
            "field 3 (blkno) is 'abc': must be a whole number of 512-byte blocks from 0 to 2^53",
        ),
        (
            "2 0 9007199254740993 1 1",
            "field 3 (blkno) is '9007199254740993': must be",
        ),
        (
            "2 0 99999999999999999999999 1 1",
            "field 3 (blkno) is '99999999999999999999999': must",
        ),
        ("2 0 -5 1 1", "field 3 (blkno) is '-5': must be"),
        ("2 0 5.0 1 1", "field 3 (blkno) is '5.0': must be"),
        (
            "x 0 5 1 1",
            "field 1 (time) is 'x': must be a number of milliseconds from 0 to 9e12",
        ),
        ("-2 0 5 1 1", "field 1 (time) is '-2': must be"),
        ("1e3 0 5 1 1", "field 1 (time) is '1e3': must be"),
        ("1,5 0 5 1 1", "field 1 (time) is '1,5': must be"),
        ("1.2.3 0 5 1 1", "field 1 (time) is '1.2.3': must be"),
        (". 0 5 1 1", "field 1 (time) is '.': must be"),
        ("nan 0 5 1 1", "field 1 (time) is 'nan': must be"),
        (
            "9000000000000.000001 0 5 1 1",
            "field 1 (time) is '9000000000000.000001': must be",
        ),
        (
            "99999999999999999999 0 5 1 1",
            "field 1 (time) is '99999999999999999999': must be",
        ),
        (
            "2 4294967296 5 1 1",
            "field 2 (devno) is '4294967296': must be a whole number from 0",
        ),
        ("2 sda 5 1 1", "field 2 (devno) is 'sda': must be"),
        (
            "2 0 5 0 1",
            "field 4 (blocks) is '0': must be a whole number of 512-byte blocks from 1",
        ),
        (
            "2 0 5 4294967296 1",
            "field 4 (blocks) is '4294967296': must be",
        ),
        (
            "2 0 5 1 R",
            "field 5 (flags) is 'R': must be a hexadecimal number",
        ),
        ("2 0 5 1 0x", "field 5 (flags) is '0x': must be"),
        (
            "2 0 5 1 11111111111111111",
            "field 5 (flags) is '11111111111111111': must be",
        ),
        (
            "2 0 5 1",
            "4 fields ('2 0 5 1'): must be 5, time devno blkno blocks flags",
        ),
        ("2 0 5 1 1 7", "6 fields ('2 0 5 1 1 7'): must be 5"),
        ("2 0 5 1 1 # ok", "7 fields ("),
        (
            "0.5 0 5 1 1",
            "time 0.500000 ms is before 1.000000 ms, the request above",
        ),
    ] {
        let found = message(format!("{good}\n{line}\n{good}"), "", 1 << 62);
        let wanted = format!("bad.trace:3: {expected}");
        assert!(
            found.starts_with(&wanted),
            "{line}\n found {found}\n wanted {wanted}"
        );
    }
}

#[test]
fn files_that_are_no_traces_are_told_so() {
    for (content, expected) in [
        (Vec::new(), "bad.trace: no requests"),
        (b"# only\n\n \t\r\n".to_vec(), "bad.trace: no requests"),
        (b"\xef\xbb\xbf".to_vec(), "bad.trace: no requests"),
        (gzip(b""), "bad.trace: no requests"),
        (zstd(b""), "bad.trace: no requests"),
        (skippable(3), "bad.trace: no requests"),
        (
            b"1 0 \xff\xfe 1 1".to_vec(),
            "bad.trace:1: field 3 (blkno) is '\\xff\\xfe': must be",
        ),
        (
            vec![b'a'; 100_000],
            "bad.trace:1: no end of line within 65536 bytes ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...')",
        ),
        (
            vec![b'a'; 1_000_000],
            "bad.trace:1: no end of line within 65536 bytes",
        ),
        (
            b"1 0 5 1 1\n2 0 \x005 1 1\n".to_vec(),
            "bad.trace:2: a NUL byte (byte 5 of '2 0 \\x005 1 1'): must be text whose lines end in",
        ),
        (
            b"1 0 5 1 1\n\n2 0 5 1 1\r3 0 5 1 1\r".to_vec(),
            "bad.trace:3: a carriage return inside the line (byte 10 of",
        ),
        (
            b"1 0 5 1\r1\n".to_vec(),
            "bad.trace:1: a carriage return inside the line (byte 8 of",
        ),
        (
            b"\xff\xfe1\0 \x000\0 \0".to_vec(),
            "bad.trace:1: the text is UTF-16: must be UTF-8 or ASCII",
        ),
        (
            b"\xfe\xff\x001\0 \x000\0 ".to_vec(),
            "bad.trace:1: the text is UTF-16: must be UTF-8 or ASCII",
        ),
        (
            b"BZh91AY&SY".to_vec(),
            "bad.trace:1: the bzip2 data end in the middle: the file is cut off",
        ),
        (
            b"PK\x03\x04....".to_vec(),
            "bad.trace: a zip archive: must be plain, or compressed by gzip, zstd, xz or bzip2",
        ),
        (
            vec![0x1f, 0x8b],
            "bad.trace:1: the gzip data end in the middle: the file is cut off",
        ),
        (
            vec![0x1f, 0x8b, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "bad.trace:1: the gzip data are damaged (",
        ),
        (
            vec![0x28, 0xb5, 0x2f, 0xfd, 0x04, b'\n'],
            "bad.trace:1: the zstd data end in the middle: the file is cut off",
        ),
        (
            [zstd(b"1.5 0 5 1 1\n"), b"more".to_vec()].concat(),
            "bad.trace:2: the zstd data are damaged (",
        ),
    ] {
        let found = message(&content, "", 100);
        assert!(
            found.starts_with(expected),
            "found {found}\n wanted {expected}"
        );
        let found = message(&content, "trace_format = \"disksim_ascii\"", 100);
        assert!(
            found.starts_with(expected),
            "found {found}\n wanted {expected}"
        );
    }
    let missing = open(Path::new("no/such.trace"), "", 10)
        .err()
        .unwrap()
        .to_string();
    assert!(
        missing.starts_with("no/such.trace: No such file"),
        "{missing}"
    );
    let folder = TempDir::new().unwrap();
    assert!(open(folder.path(), "", 10).is_err());
}

/// Cut off anywhere, a compressed file never passes for a shorter trace; with
/// any bit flipped, it never passes for another one.
#[test]
fn compressed_files_that_are_cut_or_damaged_are_told_so() {
    let (_folder, path) = file(SMALL);
    let (expected, _) = replay(&path, "", 10_000).unwrap();
    // Times that rise too slowly to be compressed well, past several blocks.
    let long: String = (0..40_000_u64)
        .map(|i| {
            format!(
                "{}.{:06} 0 {} 8 1\n",
                i,
                i * i * 7919 % 1_000_000,
                i * i % 9999
            )
        })
        .collect();
    let frames = [zstd(b"0 0 1 1 1\n"), skippable(9), zstd(SMALL.as_bytes())];
    let between = [frames[0].len(), frames[0].len() + frames[1].len()];
    for (name, whole, between) in [
        ("gzip", gzip(SMALL.as_bytes()), &[][..]),
        ("zstd", SMALL_ZST.to_vec(), &[]),
        ("zstd", frames.concat(), &between),
        ("xz", SMALL_XZ.to_vec(), &[]),
        ("bzip2", SMALL_BZ2.to_vec(), &[]),
    ] {
        // Between frames, a file ends well.
        for length in (6..whole.len()).filter(|length| !between.contains(length)) {
            let found = message(&whole[..length], "", 10_000);
            let told = format!("the {name} data end in the middle: the file is cut off");
            assert!(found.contains(&told), "{name} {length}: {found}");
        }
        for bit in 8 * 6..8 * whole.len() {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let (_folder, path) = file(&damaged);
            // Some bits have no meaning: a time stamp, what a skipped frame holds.
            match replay(&path, "", 10_000) {
                Ok((requests, _)) if between.is_empty() => {
                    assert_eq!(requests, expected, "{name}, bit {bit}");
                }
                Ok((requests, _)) => assert_eq!(requests.len(), 5),
                Err(error) => assert!(error.to_string().contains("bad.trace"), "{error}"),
            }
        }
    }
    for (name, whole) in [
        ("gzip", gzip(long.as_bytes())),
        ("zstd", zstd(long.as_bytes())),
    ] {
        for length in [whole.len() / 3, whole.len() / 2, whole.len() - 1] {
            let found = message(&whole[..length], "", 10_000);
            let line: u64 = found.split(':').nth(1).unwrap().parse().unwrap();
            assert!(line > 1000 && line <= 40_001, "{found}");
            assert!(
                found.contains("the file is cut off (read as disksim_ascii)"),
                "{name} {found}"
            );
        }
        let mut wrong = whole.clone();
        let end = wrong.len();
        wrong[end - if name == "gzip" { 6 } else { 2 }] ^= 1;
        let found = message(&wrong, "", 10_000);
        assert!(
            found.contains(&format!("the {name} data are damaged (")),
            "{found}"
        );
    }
}

const TWO: &str = "1 3 10 1 1\n2 3 11 1 1\n3 7 90 2 0\n4 3 12 1 1\n";

#[test]
fn several_devices_need_a_choice() {
    assert_eq!(
        message(TWO, "", 100),
        "bad.trace:3: device 7, after requests of device 3: give trace_device = 3 (or another), \
         \"all\" for one shared address space, or \"separate\" to lay the devices one after the other"
    );
    assert_eq!(
        message(TWO, "trace_device = 5", 100),
        "bad.trace: no requests of trace_device = 5; the trace has 3, 7"
    );
    assert_eq!(
        message(TWO, "trace_device = \"sda\"", 100),
        "bad.trace: no requests of trace_device = \"sda\"; the trace has 3, 7"
    );
    let (_folder, path) = file(TWO);
    for name in ["7", "\"7\""] {
        let (one, facts) = replay(&path, &format!("trace_device = {name}"), 100).unwrap();
        assert_eq!(
            (lbns(&one), one[0].arrival, one[0].stream),
            (vec![90], Nanos(3_000_000), 7)
        );
        assert_eq!(
            (&facts["trace_device"], &facts["other_devices_requests"]),
            (&json!(7), &json!(3))
        );
    }
    let (all, facts) = replay(&path, "trace_device = \"all\"", 100).unwrap();
    assert_eq!(lbns(&all), [10, 11, 90, 12]);
    assert_eq!(
        all.iter().map(|r| r.stream).collect::<Vec<_>>(),
        [3, 3, 7, 3]
    );
    assert_eq!(facts["trace_device"], "all");
    assert_eq!(
        facts["devices"],
        json!([
            { "device": 3, "requests": 3, "first_block": 0 },
            { "device": 7, "requests": 1, "first_block": 0 },
        ])
    );
    // Device 3 ends at 13: device 7 begins at the next multiple of 8.
    let (separate, facts) = replay(&path, "trace_device = \"separate\"", 108).unwrap();
    assert_eq!(lbns(&separate), [10, 11, 16 + 90, 12]);
    assert_eq!(
        (&facts["trace_device"], &facts["span_blocks"]),
        (&json!("separate"), &json!(108))
    );
    assert_eq!(facts["devices"][1]["first_block"], 16);
    assert_eq!(
        message(TWO, "trace_device = \"separate\"", 107),
        "bad.trace:3: blocks 106 to 107: the device has 107; give address = \"wrap\" or address = \
         \"scale\" to fit the trace to the device"
    );
    // Only as far as it is read.
    let (two, facts) = replay(&path, "requests = 2", 100).unwrap();
    assert_eq!((two.len(), &facts["requests"]), (2, &json!(2)));
    // The times of other devices do not matter.
    let back = "9 3 1 1 1\n1 7 2 1 1\n2 7 3 1 1\n";
    let (_folder, path) = file(back);
    let (one, _) = replay(&path, "trace_device = 7", 100).unwrap();
    assert_eq!(lbns(&one), [2, 3]);
}

#[test]
fn the_format_is_told_by_content_then_by_what_is_plausible_then_by_the_ending() {
    // One in 15 s in ms, 66,662 per s in ns.
    let both = "15001 0 5 1 1\n30002 0 6 1 0\n";
    let folder = TempDir::new().unwrap();
    let said = |name: &str, content: &[u8], keys: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let said = replay(&path, keys, 100).map(|(requests, facts)| {
            let text = |key| facts[key].as_str().unwrap().to_owned();
            (text("format"), text("format_from"), requests[0].arrival.0)
        });
        let root = format!("{}/", folder.path().display());
        said.map_err(|error| error.to_string().replace(&root, ""))
    };
    let ok = |format: &str, from: &str, ns| Ok((format.to_owned(), from.to_owned(), ns));
    let both = both.as_bytes();
    let disksim = || ok("disksim_ascii", "ending", 15_001_000_000);
    assert_eq!(said("a.disksim", both, ""), disksim());
    assert_eq!(said("a.ascii", both, ""), disksim());
    assert_eq!(said("a.mqsim", both, ""), ok("mqsim", "ending", 15_001));
    assert_eq!(said("a.SSDSIM", both, ""), ok("mqsim", "ending", 15_001));
    for (ending, packed) in [
        ("gz", gzip(both)),
        ("zst", zstd(both)),
        ("xz", both.to_vec()),
        ("bz2", both.to_vec()),
    ] {
        let name = format!("a.mqsim.{ending}");
        assert_eq!(said(&name, &packed, ""), ok("mqsim", "ending", 15_001));
    }
    for unclear in ["a", "a.txt2", "mqsim", "a.mqsim.bak", "a.trace"] {
        assert_eq!(
            said(unclear, both, ""),
            Err(format!(
                "{unclear}: fits several formats, disksim_ascii (0.07 requests per s) and mqsim \
                 (66662 requests per s): give --format disksim_ascii or --format mqsim \
                 (trace_format)"
            ))
        );
        let key = "trace_format = \"mqsim\"";
        assert_eq!(
            said(unclear, both, key),
            ok("mqsim", "trace_format", 15_001)
        );
    }
    let key = "trace_format = \"disksim_ascii\"";
    assert_eq!(
        said("a.mqsim", both, key),
        ok("disksim_ascii", "trace_format", 15_001_000_000)
    );
    // One reading is plausible. It is taken under every name but one that speaks for the other.
    let slow = b"938513000 4 20 16 0\n938828000 4 30 16 0\n942828000 4 30 16 0\n";
    let quick = b"1 0 5 1 1\n2 0 6 1 0\n";
    for name in ["b.trace", "b", "b.csv", "b.trace.gz"] {
        let found = said(name, slow, "");
        assert_eq!(found, ok("mqsim", "plausibility", 938_513_000));
        let found = said(name, quick, "");
        assert_eq!(found, ok("disksim_ascii", "plausibility", 1_000_000));
    }
    let found = said("b.mqsim", slow, "");
    assert_eq!(found, ok("mqsim", "plausibility", 938_513_000));
    for (name, content, formats) in [
        ("b.disksim", &slow[..], ["mqsim", "disksim_ascii"]),
        ("b.mqsim", quick, ["disksim_ascii", "mqsim"]),
    ] {
        let error = said(name, content, "").unwrap_err();
        let [one, other] = formats;
        let flags = format!("but the ending of the file): give --format {one} or --format {other}");
        assert!(error.contains(&flags), "{error}");
    }
    // Where they differ in nothing, any will do.
    let same = b"0 0 5 1 1\n";
    assert_eq!(said("c", same, ""), ok("disksim_ascii", "ending", 0));
    assert_eq!(said("c.mqsim", same, ""), ok("mqsim", "ending", 0));
    // Content goes before the ending.
    let content = b"1.5 0 5 1 1\n";
    assert_eq!(
        said("b.mqsim", content, ""),
        ok("disksim_ascii", "content", 1_500_000)
    );
    // A wrong format says what it expects.
    assert_eq!(
        said("b.trace", content, "trace_format = \"mqsim\""),
        Err(
            "b.trace:1: field 1 (time) is '1.5': must be a whole number of nanoseconds from 0 to \
             9e18 (read as mqsim)"
                .to_owned()
        )
    );
    // What comes after the first hundred lines does not count; then the error
    // names the formats that fit them.
    let lines: String = (0..200)
        .map(|index| format!("{} 0 5 1 1\n", 15_001 * index))
        .collect();
    let late = format!("{lines}4000000.5 0 5 1 1\n");
    let also = "(read as mqsim; its first lines fit disksim_ascii too: --format disksim_ascii)";
    assert_eq!(
        said("c.mqsim", late.as_bytes(), ""),
        Err(format!(
            "c.mqsim:201: field 1 (time) is '4000000.5': must be a whole number of nanoseconds \
             from 0 to 9e18 {also}"
        ))
    );
    let falls = format!("{lines}15 0 5 1 1\n");
    let error = said("c.mqsim", falls.as_bytes(), "").unwrap_err();
    assert!(error.ends_with(also), "{error}");
    // The one that came farthest is blamed, and all are listed.
    let third = "1 0 5 1 1\n2 0 5 1 1\n2.5 0 5 1 x\n";
    let error = said("d", third.as_bytes(), "").unwrap_err();
    assert!(
        error.starts_with(
            "d:3: field 5 (flags) is 'x': must be a hexadecimal number (read as disksim_ascii, \
             which came farthest; known are disksim_ascii, mqsim, "
        ) && error.contains("blkparse"),
        "{error}"
    );
    // Nothing reads as much as the ending's own format.
    let error = said("d.mqsim", b"1 0 5 1\n", "").unwrap_err();
    assert!(error.contains("(read as mqsim, which"), "{error}");
    // Options for other formats have no effect.
    for (key, takes) in [
        (
            "columns = \"time=t:s\"",
            "columns: has no effect with trace_format = \"mqsim\", only with csv and parquet",
        ),
        (
            "blk_action = \"D\"",
            "blk_action: has no effect with trace_format = \"mqsim\", only with blkparse",
        ),
    ] {
        let keys = format!("{key}\ntrace_format = \"mqsim\"");
        assert_eq!(said("a.mqsim", both, &keys), Err(takes.to_owned()));
    }
    let closed = b"R Hit 5 1 100 200\n";
    assert_eq!(
        said("a.validate", closed, "glitches = \"drop\""),
        Err(
            "glitches: has no effect with trace_format = \"disksim_validate\", which has no \
             times of arrival"
                .to_owned()
        )
    );
}

/// The first bytes that are looked at end in the middle of a line, wherever.
#[test]
fn long_heads_are_cut_without_harm() {
    for start in 0..40 {
        let mut text = format!("#{}\n", "x".repeat(start));
        // 70 records in the first 128 KiB, in long lines.
        while text.len() < 200_000 {
            text.push_str(&format!("1{}0 5 1 1\n", " ".repeat(1900)));
        }
        let (folder, _) = file("");
        let path = folder.path().join("x.disksim");
        std::fs::write(&path, &text).unwrap();
        let (requests, facts) = replay(&path, "", 10).unwrap();
        assert_eq!(requests.len(), text.lines().count() - 1);
        assert_eq!(facts["format"], "disksim_ascii");
    }
    // One line longer than is looked at for each hundred of them.
    let comments = format!("{}1.5 0 5 1 1\n", "# nothing yet\n".repeat(20_000));
    let found = message(comments, "", 10);
    assert!(found.contains("first bytes are needed to tell"), "{found}");
}

#[test]
fn addresses_are_refused_wrapped_or_scaled() {
    let text = "1 0 0 4 1\n2 0 97 3 1\n3 0 98 4 1\n4 0 205 2 1\n5 0 399 1 1\n";
    assert_eq!(
        message(text, "", 100),
        "bad.trace:3: blocks 98 to 101: the device has 100; give address = \"wrap\" or \
         address = \"scale\" to fit the trace to the device"
    );
    let (_folder, path) = file(text);
    let (wrapped, facts) = replay(&path, "address = \"wrap\"", 100).unwrap();
    assert_eq!(lbns(&wrapped), [0, 97, 96, 5, 99]);
    let counts = |facts: &Value| ["wrapped", "scaled", "moved"].map(|key| facts[key].as_u64());
    assert_eq!(counts(&facts), [Some(2), Some(0), Some(1)]);
    // The span is 400: a quarter, lengths kept.
    let (scaled, facts) = replay(&path, "address = \"scale\"", 100).unwrap();
    assert_eq!(lbns(&scaled), [0, 24, 24, 51, 99]);
    assert_eq!(counts(&facts), [Some(0), Some(4), Some(0)]);
    assert_eq!(facts["span_blocks"], 400);
    let blocks: Vec<_> = scaled.iter().map(Request::blocks).collect();
    assert_eq!(blocks, [4, 3, 4, 2, 1]);
    // Half as many blocks again: 399 * 10 / 400 is 9, 205 * 10 / 400 is 5; the
    // first four fit, and so does the last.
    let (tiny, facts) = replay(&path, "address = \"scale\"", 4).unwrap();
    assert_eq!(lbns(&tiny), [0, 0, 0, 2, 3]);
    assert_eq!(counts(&facts), [Some(0), Some(4), Some(0)]);
    let (_folder, end) = file("1 0 0 1 1\n2 0 7 3 1");
    let (moved, facts) = replay(&end, "address = \"scale\"", 5).unwrap();
    assert_eq!(lbns(&moved), [0, 2]);
    assert_eq!(counts(&facts), [Some(0), Some(1), Some(1)]);
    // Scaling looks at the chosen device only, at all of its requests, and up
    // as well as down; and it knows how many there are.
    let (_folder, path) = file(TWO);
    let keys = "trace_device = 3\naddress = \"scale\"\nrequests = 2";
    assert_eq!(open(&path, keys, 130).unwrap().requests(), Some(2));
    let (scaled, facts) = replay(&path, keys, 130).unwrap();
    assert_eq!(
        (lbns(&scaled), &facts["span_blocks"]),
        (vec![100, 110], &json!(13))
    );
    for address in ["error", "wrap", "scale"] {
        let found = message(
            "1 0 0 4 1\n2 0 0 5 1",
            &format!("address = \"{address}\""),
            4,
        );
        assert_eq!(found, "bad.trace:2: 5 blocks: the device has 4");
    }
    // The highest block there is.
    let huge = "1.0 0 9007199254740992 4294967295 1";
    let (_folder, path) = file(huge);
    let (requests, _) = replay(&path, "address = \"scale\"", u64::MAX).unwrap();
    assert_eq!(requests[0].blocks(), u32::MAX);
}

#[test]
fn time_scale_divides_the_times() {
    let (_folder, path) = file("10 0 1 1 1\n13 0 1 1 1\n1532949.045363 0 1 1 1");
    let times = |keys: &str| -> Vec<u64> {
        replay(&path, keys, 10)
            .unwrap()
            .0
            .iter()
            .map(|r| r.arrival.0)
            .collect()
    };
    assert_eq!(times(""), [10_000_000, 13_000_000, 1_532_949_045_363]);
    assert_eq!(
        times("time_scale = 2"),
        [5_000_000, 6_500_000, 766_474_522_682]
    );
    assert_eq!(
        times("time_scale = 0.5"),
        [20_000_000, 26_000_000, 3_065_898_090_726]
    );
    let (_folder, late) = file("0.0 0 1 1 1\n9000000000000 0 1 1 1");
    let error = replay(&late, "time_scale = 0.1", 10)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("bad.trace:2: arrives after") && error.contains("292 years"),
        "{error}"
    );
}

#[test]
fn a_closed_replay_keeps_the_order_and_not_the_times() {
    let (_folder, path) = file(SMALL);
    let mut source = open(&path, "queue_depth = 2\nthink_ms = 1", 10_000).unwrap();
    let mut take = |expected: Option<u64>| {
        assert_eq!(source.next_arrival().unwrap(), expected.map(Nanos));
        if expected.is_none() {
            return;
        }
        let request = source.take().unwrap();
        assert_eq!(Some(request.arrival), expected.map(Nanos));
        if request.id == 1 {
            source.completed(0, Nanos(7));
        }
        if request.id == 2 {
            source.completed(1, Nanos(9));
        }
    };
    for expected in [Some(0), Some(0), Some(1_000_007), Some(1_000_009), None] {
        take(expected);
    }
    assert_eq!(source.facts()["queue_depth"], 2);
    assert_eq!(source.facts()["think_ms"], 1.0);
}

#[test]
fn bad_keys_are_refused() {
    for (keys, expected) in [
        (
            "time_scale = 0",
            "my.toml:1: time_scale = 0: must be at least 0.000001",
        ),
        (
            "time_scale = 2\nqueue_depth = 1",
            "my.toml:1: time_scale = 2: must not be given with queue_depth or think_ms: a closed \
             replay ignores the times",
        ),
        (
            "trace_device = 1.5",
            "my.toml:1: trace_device = 1.5: must be an integer from 0 to 4294967295, or a string in quotes",
        ),
        (
            "trace_device = -1",
            "my.toml:1: trace_device = -1: must be an integer from 0",
        ),
        (
            "address = \"eror\"",
            "my.toml:1: address = \"eror\": must be \"error\", \"wrap\" or",
        ),
        (
            "requests = 0",
            "my.toml:1: requests = 0: must be an integer of at least 1",
        ),
        (
            "trace_format = \"srt\"",
            "my.toml:1: trace_format = \"srt\": must be \"disksim_ascii\"",
        ),
        ("rate = 3", "my.toml:1: unknown key 'rate'"),
    ] {
        let found = message(SMALL, keys, 10_000);
        assert!(
            found.starts_with(expected),
            "{keys}\n found {found}\n wanted {expected}"
        );
    }
}

/// Whether `whole` has all that `part` has, item by item.
fn assert_holds(whole: &Value, part: &Value) {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            for (key, value) in part {
                assert_holds(&whole[key], value);
            }
        }
        (Value::Array(whole), Value::Array(part)) => {
            assert_eq!(whole.len(), part.len());
            for (whole, part) in whole.iter().zip(part) {
                assert_holds(whole, part);
            }
        }
        _ => assert_eq!(whole, part),
    }
}

#[test]
fn info_says_what_is_in_a_trace() {
    let (_folder, path) = file(format!("{TWO}5 3 40 1 1\n"));
    let info = trace_info(&path, None).unwrap();
    let expected = json!({
        "path": path.display().to_string(),
        "format": "disksim_ascii",
        "compression": "none",
        "requests": 5,
        "read_fraction": 0.8,
        "sequential_fraction": 0.4,
        "mean_size_blocks": 1.2,
        "max_size_blocks": 2,
        "total_blocks": 6,
        "end_block": 92,
        "first_time_s": 0.001,
        "last_time_s": 0.005,
        "duration_s": 0.004,
        "mean_rate_per_s": 1000.0,
        "devices": [
            { "id": 3, "requests": 4, "highest_block": 40 },
            { "id": 7, "requests": 1, "highest_block": 91 },
        ],
    });
    assert_holds(&info, &expected);
    let (_folder, one) = file("5 0 0 1 1");
    let info = trace_info(&one, None).unwrap();
    assert!(info["mean_rate_per_s"].is_null());
    let (_folder, none) = file("");
    assert!(
        trace_info(&none, None)
            .unwrap_err()
            .to_string()
            .ends_with("no requests")
    );
}

/// Figures counted by a script in another language.
#[test]
fn the_real_traces_are_read_whole() {
    if let Some(path) = reference("traces/disksim-ascii-100k.trace") {
        let info = trace_info(&path, None).unwrap();
        for (key, value) in [
            ("requests", json!(100_000)),
            ("total_blocks", json!(1_016_678)),
            ("max_size_blocks", json!(64)),
            ("read_fraction", json!(0.79634)),
            ("sequential_fraction", json!(0.08475)),
            ("end_block", json!(2_376_020)),
        ] {
            assert_holds(&info[key], &value);
        }
        assert!((info["duration_s"].as_f64().unwrap() - 1532.935854228).abs() < 1e-9);
        let devices: Vec<_> = info["devices"]
            .as_array()
            .unwrap()
            .iter()
            .map(|device| {
                (
                    device["id"].as_u64().unwrap(),
                    device["requests"].as_u64().unwrap(),
                )
            })
            .collect();
        assert_eq!(devices.len(), 14);
        assert_eq!(
            (devices[0], devices[2], devices[13]),
            ((0, 8062), (4, 1), (30, 3212))
        );
        let error = replay(&path, "", 10_000_000).unwrap_err().to_string();
        assert!(
            error.contains(".trace:2: device 20, after requests of device 30"),
            "{error}"
        );
        let (requests, _) = replay(&path, "trace_device = 11", 10_000_000).unwrap();
        assert_eq!(requests.len(), 14_052);
        assert_eq!(requests.last().unwrap().arrival, Nanos(1_532_949_045_363));
        let (requests, facts) = replay(&path, "trace_device = \"all\"", 2_376_020).unwrap();
        assert_eq!((requests.len(), &facts["moved"]), (100_000, &json!(0)));
    }
    if let Some(path) = reference("traces/postmark-ssd.disksim") {
        let info = trace_info(&path, None).unwrap();
        for (key, value) in [
            ("requests", json!(62_257)),
            ("total_blocks", json!(27_682_080)),
            ("max_size_blocks", json!(8192)),
            ("end_block", json!(44_711_856)),
            (
                "devices",
                json!([{ "id": 0, "requests": 62_257, "highest_block": 44_711_855 }]),
            ),
        ] {
            assert_holds(&info[key], &value);
        }
        assert_eq!(info["read_fraction"].as_f64(), Some(51_780.0 / 62_257.0));
        assert_eq!(
            info["sequential_fraction"].as_f64(),
            Some(28_734.0 / 62_257.0)
        );
        let g2 = 6_750_000;
        assert!(
            replay(&path, "", g2)
                .unwrap_err()
                .to_string()
                .contains("the device has 6750000")
        );
        for (address, counts) in [("wrap", [31351, 0, 0]), ("scale", [0, 62256, 31])] {
            let (requests, facts) = replay(&path, &format!("address = \"{address}\""), g2).unwrap();
            assert_eq!(requests.len(), 62_257);
            assert!(
                requests
                    .iter()
                    .all(|r| r.lbn() + u64::from(r.blocks()) <= g2)
            );
            let found = ["wrapped", "scaled", "moved"].map(|key| facts[key].as_u64().unwrap());
            assert_eq!(found, counts, "{address}");
        }
    }
}

#[test]
fn an_offset_lays_the_trace_on_the_rest_of_the_device() {
    let text = "1 0 0 4 1\n2 0 97 3 1\n3 0 205 2 1\n";
    let (_folder, path) = file(text);
    let keys = |address: &str| format!("address = \"{address}\"\naddress_offset = 1000");
    let (requests, facts) = replay(&path, &keys("error"), 1207).unwrap();
    assert_eq!(lbns(&requests), [1000, 1097, 1205]);
    assert_eq!(facts["address_offset"], 1000);
    assert_eq!(
        message(text, &keys("error"), 1206),
        "bad.trace:3: blocks 205 to 206: the device has 206 from address_offset = 1000 on; give \
         address = \"wrap\" or address = \"scale\" to fit the trace to the device"
    );
    let (requests, _) = replay(&path, &keys("wrap"), 1100).unwrap();
    assert_eq!(lbns(&requests), [1000, 1097, 1005]);
    // The span is 207: 97 * 100 / 207 is 46, 205 * 100 / 207 is 99, moved.
    let (requests, facts) = replay(&path, &keys("scale"), 1100).unwrap();
    assert_eq!(lbns(&requests), [1000, 1046, 1098]);
    assert_eq!((&facts["scaled"], &facts["moved"]), (&json!(2), &json!(1)));
    assert_eq!(
        message(text, &keys("wrap"), 1003),
        "bad.trace:1: 4 blocks: the device has 3 from address_offset = 1000 on"
    );
    assert_eq!(
        message(text, &keys("wrap"), 1000),
        "address_offset = 1000: must be below the 1000 blocks of the device"
    );
}

#[test]
fn bytes_are_widened_to_blocks_and_counted() {
    let log = "fio version 3 iolog\n1 f read 0 512\n2 f read 511 1\n3 f read 511 2\n\
               4 f write 1024 513\n5 f sync 0 0\n6 f trim 1535 1026\n";
    let (_folder, path) = file(log);
    let (requests, facts) = replay(&path, "", 100).unwrap();
    let seen: Vec<_> = requests
        .iter()
        .map(|r| (r.lbn(), r.blocks(), r.op))
        .collect();
    let expected = [
        (0, 1, Op::Read),
        (0, 1, Op::Read),
        (0, 2, Op::Read),
        (2, 2, Op::Write),
        (0, 0, Op::Flush),
        (2, 4, Op::Trim),
    ];
    assert_eq!(seen, expected);
    assert_eq!(facts["widened"], 4);
    assert!(requests[4].extents.is_empty());
}

#[test]
fn times_count_from_the_file_or_from_the_first_request() {
    let (_folder, path) = file(TWO);
    let times = |keys: &str| {
        let (requests, facts) = replay(&path, keys, 100).unwrap();
        let text = |key: &str| facts[key].clone();
        let times: Vec<_> = requests.iter().map(|r| r.arrival.0).collect();
        (
            times,
            text("time_origin"),
            text("first_time_s"),
            text("subtracted_s"),
        )
    };
    let seven = "trace_device = 7";
    let (file, first) = (json!("file"), json!("first"));
    assert_eq!(
        times(seven),
        (vec![3_000_000], file.clone(), json!(0.003), json!(0.0))
    );
    let keys = "trace_device = \"all\"\ntime_scale = 2";
    let expected = vec![500_000, 1_000_000, 1_500_000, 2_000_000];
    assert_eq!(times(keys), (expected, file, json!(0.001), json!(0.0)));
    let expected = vec![0, 500_000, 1_000_000, 1_500_000];
    let from_first = format!("{keys}\ntime_origin = \"first\"");
    assert_eq!(
        times(&from_first),
        (expected, first.clone(), json!(0.001), json!(0.001))
    );
    // The first request is the one that comes first when sorted.
    let (_folder, path) = self::file("5 0 1 1 1\n3 0 2 1 1\n4 0 3 1 1\n");
    let (requests, facts) = replay(&path, "sort_ms = 2\ntime_origin = \"first\"", 100).unwrap();
    assert_eq!(lbns(&requests), [2, 3, 1]);
    assert_eq!(requests[2].arrival, Nanos(2_000_000));
    assert_eq!(facts["subtracted_s"], 0.003);
    let late = "8999999999999 0 1 1 1\n8999999999999.5 0 1 1 1\n";
    let (_folder, path) = self::file(late);
    let keys = "time_origin = \"first\"\ntime_scale = 0.000001";
    let (requests, _) = replay(&path, keys, 100).unwrap();
    assert_eq!(requests[1].arrival, Nanos(500_000_000_000));
}

#[test]
fn times_that_fall_are_an_error_or_sorted_within_a_window() {
    let text = "1 0 1 1 1\n5 0 2 1 1\n3.5 0 3 1 1\n5 0 4 1 1\n4 0 5 1 1\n9 0 6 1 1\n";
    assert_eq!(
        message(text, "", 100),
        "bad.trace:3: time 3.500000 ms is before 5.000000 ms, the request above: give sort_ms \
         (--sort) of at least 1.500000 to sort what is out of order"
    );
    assert_eq!(
        message(text, "sort_ms = 1.25", 100),
        "bad.trace:3: time 3.500000 ms is 1.500000 ms before one above, 5.000000 ms: sort_ms \
         (--sort) is 1.250000; give sort_ms (--sort) of at least 1.500000 to sort what is out of \
         order"
    );
    // What the whole file needs, not what the next request does; of the chosen
    // device alone.
    let worse = format!("{text}2 7 7 1 1\n4.25 0 7 1 1\n");
    assert!(message(&worse, "trace_device = \"all\"", 100).contains("of at least 7.000000 to"));
    assert!(message(&worse, "trace_device = 0", 100).contains("of at least 4.750000 to"));
    let window = "trace_device = \"all\"\nsort_ms = 1.25";
    assert!(message(&worse, window, 100).contains("of at least 7.000000 to"));
    let (_folder, path) = file(worse);
    assert!(replay(&path, "trace_device = \"all\"\nsort_ms = 7", 100).is_ok());
    let (_folder, path) = file(text);
    for window in ["1.5", "2", "1e11"] {
        let (requests, facts) = replay(&path, &format!("sort_ms = {window}"), 100).unwrap();
        assert_eq!(lbns(&requests), [1, 3, 5, 2, 4, 6]);
        assert_eq!(
            (&facts["sorted"], &facts["sorted_most_ms"]),
            (&json!(2), &json!(1.5))
        );
        assert_eq!(facts["sort_ms"], json!(window.parse::<f64>().unwrap()));
    }
    let (some, facts) = replay(&path, "sort_ms = 2\nrequests = 3", 100).unwrap();
    assert_eq!(
        (lbns(&some), &facts["requests"]),
        (vec![1, 3, 5], &json!(3))
    );
    // A bad line is named even if it is held back.
    let bad = format!("{text}8.5 0 99 2 1\n");
    assert!(message(bad, "sort_ms = 3", 100).starts_with("bad.trace:7: blocks 99 to 100: the"));
    // What is held is bounded.
    let many = "1 0 1 1 1\n".repeat(1_048_577);
    assert_eq!(
        message(many, "sort_ms = 1", 100),
        "bad.trace:1048577: more than 1048576 requests within sort_ms (--sort): it must be less"
    );
}

/// A request each ms, and one whose clock jumped to `odd` ms after so many.
fn with_a_glitch(after: u64, odd: u64) -> String {
    let line = |index: u64| match index == after {
        true => format!("{odd} 0 9 1 1\n"),
        false => format!("{}.5 0 {} 1 1\n", 10_000_000 + index, index % 9),
    };
    (0..300).map(line).collect()
}

#[test]
fn a_glitch_of_the_clock_is_named_and_dropped_if_asked_to() {
    // Ahead by 11 days and by 250 years, behind by 10,000 s.
    for (after, odd, here) in [
        (
            150,
            1_000_000_000,
            "far above those of the requests around it",
        ),
        (
            0,
            1_000_000_000,
            "far above those of the requests around it",
        ),
        (150, 8_000_000_000_000, "no sort_ms (--sort) can help"),
        (150, 0, "far below those of the requests around it"),
    ] {
        let text = with_a_glitch(after, odd);
        let found = message(&text, "", 100);
        let place = format!("bad.trace:{}: time {odd}.000000 ms is far", after + 1);
        assert!(found.starts_with(&place), "{found}");
        assert!(
            found.contains(here) && found.contains("(--drop-glitches)"),
            "{found}"
        );
        let (_folder, path) = file(&text);
        let (requests, facts) = replay(&path, "glitches = \"drop\"", 100).unwrap();
        assert_eq!(requests.len(), 299);
        assert!(requests.iter().all(|request| request.lbn() < 9));
        assert_eq!(facts["glitches_dropped"], 1);
        let first = facts["first_glitch"].as_str().unwrap();
        let end = format!("bad.trace:{}: time {odd}.000000 ms", after + 1);
        assert!(first.ends_with(&end), "{first}");
    }
    // A pause is none, and a second one is an error that offers no dropping.
    let pause = "1.5 0 5 1 1\n2 0 5 1 1\n900000 0 5 1 1\n900001 0 5 1 1\n";
    let (_folder, path) = file(pause);
    let (requests, facts) = replay(&path, "glitches = \"drop\"", 100).unwrap();
    assert_eq!((requests.len(), &facts["glitches_dropped"]), (4, &json!(0)));
    let found = message(format!("{pause}3 0 5 1 1\n"), "glitches = \"drop\"", 100);
    assert!(
        found.starts_with("bad.trace:5: time 3.000000 ms is before"),
        "{found}"
    );
    assert!(!found.contains("glitch"), "{found}");
    // A message names the line of the record handed out, not of the one read ahead.
    let beyond = "1.5 0 5 1 1\n900000 0 500 1 1\n900001 0 5 1 1\n";
    let found = message(beyond, "glitches = \"drop\"", 100);
    assert!(found.starts_with("bad.trace:2: block"), "{found}");
}

/// A pipe with a name, and the writing of `text` to it, so many times.
fn piped(text: &str, times: usize) -> (TempDir, PathBuf, std::thread::JoinHandle<()>) {
    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe.disksim");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let (writer, text) = (pipe.clone(), text.to_owned());
    let writing = std::thread::spawn(move || {
        for _ in 0..times {
            // Who reads it may have enough.
            let _ = std::fs::write(&writer, &text);
        }
    });
    (folder, pipe, writing)
}

#[test]
fn a_pipe_is_read_as_a_file_is() {
    let text: String = (0..200_000)
        .map(|i| format!("{i} 0 {} 1 1\n", i % 90))
        .collect();
    let (_folder, plain) = file(&text);
    for keys in [
        "",
        "address = \"scale\"",
        "trace_device = \"separate\"",
        "requests = 3",
    ] {
        let (_folder, pipe, writing) = piped(&text, 1);
        let (requests, mut facts) = replay(&pipe, keys, 100).unwrap();
        writing.join().unwrap();
        let (expected, wanted) = replay(&plain, keys, 100).unwrap();
        assert_eq!(requests, expected, "{keys}");
        facts["path"] = wanted["path"].clone();
        assert_eq!(facts, wanted, "{keys}");
    }
}

#[test]
fn a_pipe_is_read_once_or_kept_for_all() {
    let text = "1.5 0 5 1 1\n2.5 0 6 1 1\n";
    let spec = |path: &Path| {
        let mut keys = Keys::parse("", "my.toml").unwrap();
        TraceSpec::read(path, &mut keys).unwrap()
    };
    let (_folder, pipe, writing) = piped(text, 1);
    let one = spec(&pipe);
    assert!(one.source(100, &mut |_| Ok(())).is_ok());
    writing.join().unwrap();
    // Another run of it, or of the same pipe while it is in use, has no part of it.
    for again in [one.clone(), spec(&pipe)] {
        let error = again
            .source(100, &mut |_| Ok(()))
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("was read before: give a file"), "{error}");
        let error = again.keep(&mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("was read before: give a file"), "{error}");
    }
    let (_folder, pipe, writing) = piped(text, 1);
    let one = spec(&pipe);
    one.keep(&mut |_| Ok(())).unwrap();
    writing.join().unwrap();
    for again in [one.clone(), spec(&pipe), one] {
        let mut source = again.source(100, &mut |_| Ok(())).unwrap();
        assert_eq!(source.take().unwrap().arrival, Nanos(1_500_000));
        assert_eq!(source.take().unwrap().arrival, Nanos(2_500_000));
    }
    // When all are done with it, its name stands for what is written then.
    let writer = pipe.clone();
    let writing = std::thread::spawn(move || std::fs::write(writer, "7.5 0 5 1 1\n").unwrap());
    let mut source = spec(&pipe).source(100, &mut |_| Ok(())).unwrap();
    assert_eq!(source.take().unwrap().arrival, Nanos(7_500_000));
    writing.join().unwrap();
    // What stops a copy is an error, and the pipe was read.
    let (_folder, pipe, writing) = piped(text, 1);
    let one = spec(&pipe);
    let stopped = one.keep(&mut |_| Err(Error::Interrupted));
    assert!(matches!(stopped, Err(Error::Interrupted)));
    assert!(one.source(100, &mut |_| Ok(())).is_err());
    writing.join().unwrap();
}

#[test]
fn reading_can_be_stopped_and_says_how_far_it_is() {
    let text: String = (0..200_000)
        .map(|i| format!("{i} 3 {} 1 1\n", i % 90))
        .collect();
    let (_folder, path) = file(&text);
    for keys in ["address = \"scale\"", "trace_device = 4"] {
        let mut keys = Keys::parse(keys, "my.toml").unwrap();
        let spec = TraceSpec::read(&path, &mut keys).unwrap();
        let mut shares = Vec::new();
        let error = spec.source(100, &mut |progress| {
            shares.push(progress.share.unwrap());
            if shares.len() == 50 {
                return Err(Error::Interrupted);
            }
            Ok(())
        });
        assert_eq!(error.err().unwrap().to_string(), "interrupted");
        assert!(
            shares.is_sorted() && shares[0] > 0.0 && shares[49] < 0.6,
            "{shares:?}"
        );
    }
    let mut source = open(&path, "", 100).unwrap();
    let mut shares = Vec::new();
    while source.next_arrival().unwrap().is_some() {
        source.take().unwrap();
        shares.extend(source.share());
    }
    assert!(shares.is_sorted() && shares[0] < 0.2);
    assert_eq!(shares.last(), Some(&1.0));
}

const CLOSED: &str = "R Hit 10 4 663.25 1000.5\nW Miss 20 1 9000 0\nR Trip 30 2 1 7\n";

#[test]
fn a_closed_trace_thinks_as_recorded() {
    let (_folder, path) = file(CLOSED);
    let run = |keys: &str| {
        let mut source = open(&path, keys, 100).unwrap();
        let mut seen = Vec::new();
        let mut now = 0;
        while let Some(at) = source.next_arrival().unwrap() {
            let request = source.take().unwrap();
            assert_eq!(request.arrival, at);
            // One outstanding: nothing until it is complete.
            assert_eq!(source.next_arrival().unwrap(), None);
            seen.push((at.0, request.op, request.lbn(), request.blocks()));
            now = at.0 + 5_000;
            source.completed(request.id, Nanos(now));
        }
        assert!(now > 0);
        (seen, source.facts())
    };
    let (seen, facts) = run("");
    let expected = [
        (0, Op::Read, 10, 4),
        (5_000 + 1_000_500, Op::Write, 20, 1),
        (1_010_500, Op::Read, 30, 2),
    ];
    assert_eq!(seen, expected);
    assert_eq!(
        (&facts["queue_depth"], &facts["think_ms"]),
        (&json!(1), &Value::Null)
    );
    // Twice as fast: half the think time.
    let (seen, _) = run("time_scale = 2");
    assert_eq!(seen[1].0, 5_000 + 500_250);
    // Think times of one's own.
    let (seen, facts) = run("think_ms = 2");
    assert_eq!(
        seen.iter().map(|s| s.0).collect::<Vec<_>>(),
        [0, 2_005_000, 4_010_000]
    );
    assert_eq!(facts["think_ms"], 2.0);
    for (key, name) in [
        ("time_origin = \"first\"", "time_origin"),
        ("sort_ms = 3", "sort_ms"),
    ] {
        let wanted = format!(
            "{name}: has no effect with trace_format = \"disksim_validate\", which has no times of \
             arrival"
        );
        assert_eq!(message(CLOSED, key, 100), wanted);
    }
}

/// What an address rule says, block by block and without its algebra.
fn brute_force(
    trace: &[(u64, u32, u64, u64)],
    rule: &str,
    separate: bool,
    offset: u64,
    device: u64,
) -> Option<Vec<u64>> {
    let end_of = |wanted: u32| {
        let ends = trace.iter().filter(|r| r.1 == wanted).map(|r| r.2 + r.3);
        ends.max().unwrap_or(0)
    };
    let mut bases = [0; 4];
    if separate {
        let mut free = 0;
        for wanted in 0..4 {
            while free % 8 != 0 {
                free += 1;
            }
            bases[wanted as usize] = free;
            free += end_of(wanted);
        }
    }
    let span = trace
        .iter()
        .map(|r| bases[r.1 as usize] + r.2 + r.3)
        .max()?;
    let size = device - offset;
    let mut places = Vec::new();
    for &(_, name, lbn, blocks) in trace {
        let mut place = bases[name as usize] + lbn;
        match rule {
            "wrap" => {
                while place >= size {
                    place -= size;
                }
            }
            "scale" => {
                // The largest whole number not above place * size / span.
                let mut best = 0;
                while (best + 1) * span <= place * size {
                    best += 1;
                }
                place = best;
            }
            _ if place + blocks > size => return None,
            _ => {}
        }
        if blocks > size {
            return None;
        }
        while place + blocks > size {
            place -= 1;
        }
        places.push(place + offset);
    }
    Some(places)
}

proptest! {
    /// Every rule, offset and layout of devices against brute force.
    #[test]
    fn addresses_are_what_brute_force_says(
        trace in prop::collection::vec((0_u64..3, 0_u32..4, 0_u64..400, 1_u64..20), 1..30),
        rule in prop::sample::select(vec!["error", "wrap", "scale"]),
        separate in any::<bool>(),
        offset in 0_u64..50,
        device in 60_u64..2000,
    ) {
        let mut time = 0;
        let text: String = trace.iter().map(|(gap, name, lbn, blocks)| {
            time += gap;
            format!("{time}.5 {name} {lbn} {blocks} 1\n")
        }).collect();
        let (_folder, path) = file(text);
        let devices = if separate { "separate" } else { "all" };
        let keys = format!(
            "address = \"{rule}\"\naddress_offset = {offset}\ntrace_device = \"{devices}\""
        );
        let expected = brute_force(&trace, rule, separate, offset, device);
        match (replay(&path, &keys, device), expected) {
            (Ok((requests, facts)), Some(expected)) => {
                prop_assert_eq!(lbns(&requests), &expected[..]);
                let counts = ["scaled", "wrapped", "moved"].map(|key| facts[key].as_u64().unwrap());
                for device in facts["devices"].as_array().unwrap() {
                    let name = device["device"].as_u64().unwrap();
                    let expected = trace.iter().filter(|r| u64::from(r.1) == name).count();
                    prop_assert_eq!(&device["requests"], &json!(expected));
                }
                if rule != "scale" {
                    prop_assert_eq!(counts[0], 0);
                }
                if rule != "wrap" {
                    prop_assert_eq!(counts[1], 0);
                }
            }
            (Err(_), None) => {}
            (found, expected) => prop_assert!(false, "{found:?} {expected:?}"),
        }
    }

    /// Sorting within a window is a stable sort, or an error that names a
    /// window that would do for this line.
    #[test]
    fn sorting_is_a_stable_sort(
        times in prop::collection::vec(0_u64..60, 1..80),
        drift in 0_u64..3,
        window in 0_u64..70,
        origin in prop::sample::select(vec!["file", "first"]),
    ) {
        let times: Vec<u64> = times.iter().zip(0..).map(|(time, i)| time + drift * i * 10).collect();
        let text: String = times.iter().zip(0..)
            .map(|(time, i)| format!("{}.{} 0 {i} 1 1\n", time / 10, time % 10))
            .collect();
        let (_folder, path) = file(text);
        let keys = format!("sort_ms = {}.{}\ntime_origin = \"{origin}\"", window / 10, window % 10);
        let late: Vec<u64> = (0..times.len())
            .map(|i| times[..i].iter().max().unwrap_or(&0).saturating_sub(times[i]))
            .collect();
        let found = replay(&path, &keys, 1000);
        match late.iter().position(|by| *by > window) {
            Some(line) => {
                let error = found.unwrap_err().to_string();
                let wanted = format!("bad.trace:{}: time ", line + 1);
                prop_assert!(error.contains(&wanted), "{}", error);
                let most = late.iter().max().unwrap();
                let least = format!("at least {}.{}00000 ", most / 10, most % 10);
                prop_assert!(error.contains(&least), "{} {}", error, least);
            }
            None => {
                let (requests, facts) = found.unwrap();
                let mut sorted: Vec<(u64, u64)> = times.iter().copied().zip(0..).collect();
                sorted.sort_by_key(|(time, _)| *time);
                let from = if origin == "first" { sorted[0].0 } else { 0 };
                let expected: Vec<_> = sorted.iter().map(|(t, i)| ((t - from) * 100_000, *i)).collect();
                let seen: Vec<_> = requests.iter().map(|r| (r.arrival.0, r.lbn())).collect();
                prop_assert_eq!(seen, expected);
                prop_assert_eq!(&facts["sorted"], &json!(late.iter().filter(|by| **by > 0).count()));
            }
        }
    }

    /// Whatever a file holds, reading it ends, without a panic, in requests
    /// inside the device with times that never fall, or in an error that names
    /// the file.
    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            "([0-9]{0,3}[.]?[0-9]{0,8} [0-2] [0-9]{1,20} [0-9]{1,10} [0-9a-fx]{1,3}[ \r]?\n){0,8}"
                .prop_map(String::into_bytes),
            "[0-9. \t\r\nx#-]{0,60}".prop_map(String::into_bytes),
        ],
        zipped in any::<bool>(),
        keys in prop::sample::select(vec![
            "",
            "trace_device = \"all\"\naddress = \"wrap\"",
            "trace_device = 1\naddress = \"scale\"\ntime_scale = 3.7",
        ]),
    ) {
        let (_folder, path) = file(if zipped { gzip(&bytes) } else { bytes });
        match replay(&path, keys, 1_000_000) {
            Ok((requests, _)) => {
                prop_assert!(!requests.is_empty());
                prop_assert!(requests.is_sorted_by_key(|r| r.arrival));
                for r in &requests {
                    prop_assert!(r.blocks() > 0 && r.lbn() + u64::from(r.blocks()) <= 1_000_000);
                }
            }
            Err(error) => prop_assert!(error.to_string().contains("bad.trace")),
        }
        let _ = trace_info(&path, None);
    }

    /// Numbers with so many zeros before them that they are read the slow way
    /// say the same as those that are read the quick way.
    #[test]
    fn both_ways_of_reading_numbers_agree(
        ms in 0_u64..10_000_000,
        ns in 0_u64..1_000_000,
        device in 0_u32..,
        lbn in prop_oneof![0_u64..1000, 9_007_199_254_740_900_u64..9_007_199_254_741_100],
        blocks in prop_oneof![0_u64..4, 4_294_967_290_u64..4_294_967_300],
        flags in "[0-9a-f]{1,16}|0x[0-9A-F]{1,16}|[0-1]|g",
        blank in "[ \t]{1,3}",
        format in prop::sample::select(vec!["disksim_ascii", "mqsim"]),
    ) {
        let time = |zeros: &str| match format {
            "mqsim" => format!("{zeros}{ms}"),
            _ => format!("{zeros}{ms}.{ns:06}"),
        };
        let read = |zeros: &str| {
            let line = [
                time(zeros),
                format!("{zeros}{device}"),
                format!("{zeros}{lbn}"),
                format!("{zeros}{blocks}"),
                flags.clone(),
            ];
            let (_folder, path) = file(line.join(&blank));
            let keys = format!("trace_format = \"{format}\"");
            let read = replay(&path, &keys, u64::MAX);
            read.map(|(requests, _)| requests).map_err(|error| {
                let error = error.to_string();
                let field = error.find("field").unwrap()..error.find(" is '").unwrap();
                error[field].to_owned()
            })
        };
        prop_assert_eq!(read(""), read(&"0".repeat(20)));
    }

    /// A decimal time of any length is what integer arithmetic says.
    #[test]
    fn any_time_is_exact(whole in 0_u64..9_000_000_000_000, digits in "[0-9]{0,12}") {
        let (_folder, path) = file(format!("{whole}.{digits} 0 1 1 1"));
        let (requests, _) = replay(&path, "", 10).unwrap();
        let fraction: u128 = format!("{digits:0<12}").parse().unwrap();
        let picoseconds_and_less = u128::from(whole) * 1_000_000_000_000 + fraction;
        let expected = (picoseconds_and_less + 500_000) / 1_000_000;
        prop_assert_eq!(u128::from(requests[0].arrival.0), expected);
    }
}
