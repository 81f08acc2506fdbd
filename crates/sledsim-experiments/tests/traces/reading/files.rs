//! Files: line ends and compression, files that are no traces, and any bytes.

use super::{SMALL, file, gzip, message, open, replay, zstd};
use proptest::prelude::*;
use sledsim_traces::trace_info;
use std::path::Path;
use tempfile::TempDir;

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

#[test]
fn line_ends_blanks_flags_and_compression_make_no_difference() {
    let (_folder, path) = file(SMALL);
    let (expected, _) = replay(&path, "", 10_000).unwrap();
    let crlf = SMALL.replace('\n', "\r\n");
    let mixed = SMALL.replacen('\n', "\r\n", 3);
    let marked = format!("\u{feff}{SMALL}");
    let tabs = SMALL.replace(' ', " \t ").replace("100", "  0100").replace("4 ", "04.000 ");
    let flags = SMALL.replace("8 1\n", "8 0xF1\n").replace("10 2\n", "10 ffffFFFFffffFFF0");
    let (one, two) = SMALL.as_bytes().split_at(60);
    let gzips = [gzip(one), gzip(two)].concat();
    let zstds = [skippable(7), zstd(one), skippable(0), zstd(b""), zstd(two), skippable(100_000)];
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
    for twice in
        [[SMALL_XZ.as_slice(), &SMALL_XZ].concat(), [SMALL_BZ2.as_slice(), &SMALL_BZ2].concat()]
    {
        let found = message(&twice, "", 10_000);
        assert!(found.starts_with("bad.trace:8: time 0.500000 ms is before 4.000000"), "{found}");
    }
}

#[test]
fn files_that_are_no_traces_are_refused() {
    for (content, expected) in [
        (Vec::new(), "bad.trace: no requests"),
        (b"# only\n\n \t\r\n".to_vec(), "bad.trace: no requests"),
        (b"\xef\xbb\xbf".to_vec(), "bad.trace: no requests"),
        (gzip(b""), "bad.trace: no requests"),
        (zstd(b""), "bad.trace: no requests"),
        (skippable(3), "bad.trace: no requests"),
        (
            b"1 0 \xff\xfe 1 1".to_vec(),
            "bad.trace:1: field 3 (first block) is '\\xff\\xfe': must be",
        ),
        (
            vec![b'a'; 100_000],
            "bad.trace:1: no end of line within 65536 bytes ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...')",
        ),
        (vec![b'a'; 1_000_000], "bad.trace:1: no end of line within 65536 bytes"),
        (
            b"1 0 5 1 1\n2 0 \x005 1 1\n".to_vec(),
            "bad.trace:2: a NUL byte (byte 5 of '2 0 \\x005 1 1'): must be text whose lines end in",
        ),
        (
            b"1 0 5 1 1\n\n2 0 5 1 1\r3 0 5 1 1\r".to_vec(),
            "bad.trace:3: a carriage return inside the line (byte 10 of",
        ),
        (b"1 0 5 1\r1\n".to_vec(), "bad.trace:1: a carriage return inside the line (byte 8 of"),
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
            "bad.trace: a zip archive: unpack it, and give the trace in it",
        ),
        (vec![0x1f, 0x8b], "bad.trace:1: the gzip data end in the middle: the file is cut off"),
        (vec![0x1f, 0x8b, 0, 0, 0, 0, 0, 0, 0, 0, 0], "bad.trace:1: the gzip data are damaged ("),
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
        assert!(found.starts_with(expected), "found {found}\n wanted {expected}");
        let found = message(&content, "trace_format = \"disksim_ascii\"", 100);
        assert!(found.starts_with(expected), "found {found}\n wanted {expected}");
    }
    let missing = open(Path::new("no/such.trace"), "", 10).err().unwrap().to_string();
    assert!(missing.starts_with("no/such.trace: No such file"), "{missing}");
    let folder = TempDir::new().unwrap();
    assert!(open(folder.path(), "", 10).is_err());
}

/// Cut off anywhere, a compressed file never passes for a shorter trace; with
/// any bit flipped, it never passes for another one.
#[test]
fn truncated_or_damaged_compressed_files_are_refused() {
    let (_folder, path) = file(SMALL);
    let (expected, _) = replay(&path, "", 10_000).unwrap();
    // Times that rise too slowly to be compressed well, past several blocks.
    let long: String = (0..40_000_u64)
        .map(|i| format!("{}.{:06} 0 {} 8 1\n", i, i * i * 7919 % 1_000_000, i * i % 9999))
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
    for (name, whole) in [("gzip", gzip(long.as_bytes())), ("zstd", zstd(long.as_bytes()))] {
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
        assert!(found.contains(&format!("the {name} data are damaged (")), "{found}");
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
        let _ = trace_info(&path, None);
    }
}
