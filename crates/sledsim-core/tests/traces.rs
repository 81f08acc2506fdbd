//! Traces: what is read, what is done to it, and what bad files are told.

mod common;

use common::reference;
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use serde_json::{Value, json};
use sledsim_core::error::Result;
use sledsim_core::keys::Keys;
use sledsim_core::request::{Op, Request};
use sledsim_core::traces::{Format, TraceSource, TraceSpec, trace_info};
use sledsim_core::units::Nanos;
use sledsim_core::workloads::Source;
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
    spec.source(blocks)
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
            "compression": "none",
            "requests": 4,
            "trace_device": 0,
            "devices_seen": [0],
            "other_devices_requests": 0,
            "address": "error",
            "span_blocks": null,
            "wrapped": 0,
            "scaled": 0,
            "moved": 0,
            "time_scale": 1.0,
            "time_origin": "file",
            "first_time_s": 0.0005,
        })
    );
}

#[test]
fn line_ends_blanks_flags_and_gzip_make_no_difference() {
    let (_folder, path) = file(SMALL);
    let (expected, _) = replay(&path, "", 10_000).unwrap();
    let crlf = SMALL.replace('\n', "\r\n");
    let tabs = SMALL
        .replace(' ', " \t ")
        .replace("100", "  0100")
        .replace("4 ", "04.000 ");
    let flags = SMALL
        .replace("8 1\n", "8 0xF1\n")
        .replace("10 2\n", "10 ffffFFFFffffFFF0");
    let mut twice = gzip(&SMALL.as_bytes()[..60]);
    twice.extend(gzip(&SMALL.as_bytes()[60..]));
    for other in [
        crlf.as_bytes(),
        tabs.as_bytes(),
        flags.as_bytes(),
        SMALL.trim_end().as_bytes(),
        &gzip(SMALL.as_bytes()),
        &twice,
    ] {
        let (_folder, path) = file(other);
        let (requests, facts) = replay(&path, "", 10_000).unwrap();
        assert_eq!(requests, expected);
        let zipped = other.starts_with(&[0x1f, 0x8b]);
        assert_eq!(facts["compression"], if zipped { "gzip" } else { "none" });
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
            "field 3 (blkno) is 'abc': must be a whole number of 512-byte blocks from 0 to 2^63",
        ),
        (
            "2 0 9223372036854775809 1 1",
            "field 3 (blkno) is '9223372036854775809': must be",
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
        (gzip(b""), "bad.trace: no requests"),
        (
            vec![0x28, 0xb5, 0x2f, 0xfd, 0x04, b'\n'],
            "bad.trace:1: 1 fields ('(\\xb5/\\xfd\\x04'): must be 5",
        ),
        (
            b"1 0 \xff\xfe 1 1".to_vec(),
            "bad.trace:1: field 3 (blkno) is '\\xff\\xfe': must be",
        ),
        (
            vec![b'a'; 100_000],
            "bad.trace:1: no end of line within 65536 bytes ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...')",
        ),
        (
            vec![0x1f, 0x8b],
            "bad.trace:1: the gzip data end in the middle: the file is cut off",
        ),
        (
            vec![0x1f, 0x8b, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "bad.trace:1: the gzip data are damaged (",
        ),
    ] {
        let found = message(&content, "", 100);
        assert!(
            found.starts_with(expected),
            "found {found}\n wanted {expected}"
        );
    }
    // Cut off anywhere, a gzip file never passes for a shorter trace.
    let zipped = gzip(SMALL.as_bytes());
    for length in 2..zipped.len() {
        let found = message(&zipped[..length], "", 10_000);
        assert!(
            found.contains("the gzip data end in the middle"),
            "{length}: {found}"
        );
    }
    let mut damaged = gzip(SMALL.as_bytes());
    let end = damaged.len();
    damaged[end - 6] ^= 1;
    assert!(message(&damaged, "", 10_000).contains("the gzip data are damaged"));
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

const TWO: &str = "1 3 10 1 1\n2 3 11 1 1\n3 7 90 2 0\n4 3 12 1 1\n";

#[test]
fn several_devices_need_a_choice() {
    assert_eq!(
        message(TWO, "", 100),
        "bad.trace:3: device 7, after requests of device 3: give trace_device = 3 (or another), \
         or trace_device = \"all\" for one shared address space"
    );
    assert_eq!(
        message(TWO, "trace_device = 5", 100),
        "bad.trace: no requests of trace_device = 5; the trace has 3, 7"
    );
    let (_folder, path) = file(TWO);
    let (one, facts) = replay(&path, "trace_device = 7", 100).unwrap();
    assert_eq!(
        (lbns(&one), one[0].arrival, one[0].stream),
        (vec![90], Nanos(3_000_000), 7)
    );
    assert_eq!(
        (&facts["trace_device"], &facts["other_devices_requests"]),
        (&json!(7), &json!(3))
    );
    let (all, facts) = replay(&path, "trace_device = \"all\"", 100).unwrap();
    assert_eq!(lbns(&all), [10, 11, 90, 12]);
    assert_eq!(
        all.iter().map(|r| r.stream).collect::<Vec<_>>(),
        [3, 3, 7, 3]
    );
    assert_eq!(facts["trace_device"], "all");
    assert_eq!(facts["devices_seen"], json!([3, 7]));
    // Only as far as it is read.
    let (two, facts) = replay(&path, "requests = 2", 100).unwrap();
    assert_eq!((two.len(), &facts["requests"]), (2, &json!(2)));
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
    let huge = "1 0 9223372036854775808 4294967295 1";
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
    let (_folder, late) = file("0 0 1 1 1\n9000000000000 0 1 1 1");
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
            "trace_device = \"al\"",
            "my.toml:1: trace_device = \"al\": must be an integer from 0 to 4294967295, or \"all\"",
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

#[test]
fn info_says_what_is_in_a_trace() {
    let (_folder, path) = file(format!("{TWO}5 3 40 1 1\n"));
    let info = trace_info(&path, Format::default()).unwrap();
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
    assert_eq!(info, expected);
    let (_folder, one) = file("5 0 0 1 1");
    let info = trace_info(&one, Format::default()).unwrap();
    assert!(info["mean_rate_per_s"].is_null());
    let (_folder, none) = file("");
    assert!(
        trace_info(&none, Format::default())
            .unwrap_err()
            .to_string()
            .ends_with("no requests")
    );
}

/// Figures counted by a script in another language.
#[test]
fn the_real_traces_are_read_whole() {
    if let Some(path) = reference("traces/disksim-ascii-100k.trace") {
        let info = trace_info(&path, Format::default()).unwrap();
        for (key, value) in [
            ("requests", json!(100_000)),
            ("total_blocks", json!(1_016_678)),
            ("max_size_blocks", json!(64)),
            ("read_fraction", json!(0.79634)),
            ("sequential_fraction", json!(0.08475)),
            ("end_block", json!(2_376_020)),
        ] {
            assert_eq!(info[key], value, "{key}");
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
        let info = trace_info(&path, Format::default()).unwrap();
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
            assert_eq!(info[key], value, "{key}");
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

proptest! {
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
        let _ = trace_info(&path, Format::default());
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
