//! Trace formats: what each field means, and what bad ones are told. The
//! bytes are made here from the descriptions of the formats.

use crate::common::reference;
use proptest::prelude::*;
use sledsim_base::error::Result;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_run::formats::{all, options};
use sledsim_traces::{Clock, END_BYTES, Format, Input, Options, Record};
use std::io::Cursor;

fn format(name: &str) -> Format {
    let found = all()
        .readers
        .iter()
        .copied()
        .find(|format| format.name == name);
    found.expect("a format of this name")
}

/// All records and the names of their devices.
fn read_with(
    name: &str,
    bytes: impl AsRef<[u8]>,
    columns: Option<&str>,
) -> Result<(Vec<Record>, Vec<Option<String>>)> {
    let input = Input::new("t", Box::new(Cursor::new(bytes.as_ref().to_vec())))?;
    let options = Options {
        columns: columns.map(str::to_owned),
        ..Options::default()
    };
    let mut reader = format(name).open(input, &options)?;
    let (mut records, mut names) = (Vec::new(), Vec::new());
    while let Some(record) = reader.next()? {
        names.push(reader.device_name(record.device).map(str::to_owned));
        records.push(record);
    }
    assert_eq!(reader.bytes_read(), bytes.as_ref().len() as u64);
    assert_eq!(reader.next()?, None, "the end stays the end");
    Ok((records, names))
}

fn read(name: &str, bytes: impl AsRef<[u8]>) -> Vec<Record> {
    read_with(name, bytes, None).unwrap().0
}

fn message(name: &str, bytes: impl AsRef<[u8]>) -> String {
    message_with(name, bytes, None)
}

fn message_with(name: &str, bytes: impl AsRef<[u8]>, columns: Option<&str>) -> String {
    let bytes = bytes.as_ref();
    match read_with(name, bytes, columns) {
        Err(error) => error.to_string(),
        Ok(read) => panic!("{} was read as {read:?}", bytes.escape_ascii()),
    }
}

fn record(time_ns: u64, device: u32, op: Op, offset: u64, bytes: u64) -> Record {
    Record {
        time: Nanos(time_ns),
        device,
        op,
        offset,
        bytes,
        ..Record::default()
    }
}

fn with_response(record: Record, response_ns: u64) -> Record {
    Record {
        response: Some(Nanos(response_ns)),
        ..record
    }
}

use Op::{Flush, Read, Trim, Write};

/// A table of bad inputs: what replaces what in `good`, and what the message
/// must hold.
fn refuses(name: &str, good: &str, columns: Option<&str>, line: u64, table: &[(&str, &str, &str)]) {
    assert!(read_with(name, good, columns).is_ok(), "{name}: {good}");
    for (old, new, expected) in table {
        assert!(good.contains(old), "{name}: {old}");
        let bad = good.replacen(old, new, 1);
        let message = message_with(name, &bad, columns);
        let start = format!("t:{line}: ");
        assert!(message.starts_with(&start), "{name}, {new}: {message}");
        assert!(message.contains(expected), "{name}, {new}: {message}");
    }
}

// Text formats, one a test.

#[test]
fn spc_as_in_its_specification() {
    // ASU, LBA of 512 bytes, bytes, opcode, seconds; perhaps more.
    let text = "0,20941264,8192,W,0.551706\r\n\
                # no record\n\n\
                1, 20939840, 8192, r, 0.554041, 17, anything\n\
                4294967295,0,1,R,9000000000";
    let expected = [
        record(551_706_000, 0, Write, 20_941_264 * 512, 8_192),
        record(554_041_000, 1, Read, 20_939_840 * 512, 8_192),
        record(9_000_000_000_000_000_000, u32::MAX, Read, 0, 1),
    ];
    assert_eq!(read("spc", text), expected);
    assert_eq!(format("spc").clock, Clock::Start);
    // Size 0 is legal, and moves nothing.
    let empty = format!("0,7,0,R,0.5\n{text}\n5,7,0,w,9000000000\n");
    assert_eq!(read("spc", &empty), expected);
    let input = Input::new("t", Box::new(Cursor::new(empty.into_bytes()))).unwrap();
    let mut reader = format("spc").open(input, &options()).unwrap();
    while reader.next().unwrap().is_some() {}
    assert_eq!((reader.empty(), reader.not_requests()), (2, 0));
    refuses(
        "spc",
        "0,20,8192,W,0.5\n3,40,512,R,1.5\n",
        None,
        2,
        &[
            (
                "3,40",
                "-3,40",
                "field 1 (ASU) is '-3': must be a whole number from 0",
            ),
            ("3,40", "4294967296,40", "field 1 (ASU) is '4294967296'"),
            (",40", ",4e1", "field 2 (LBA) is '4e1'"),
            (",40", ",18014398509481985", "field 2 (LBA)"),
            (",40", ",18446744073709551616", "field 2 (LBA)"),
            (",40", ",18014398509481984", "field 3 (size) is '512'"),
            (
                ",512",
                ",-1",
                "field 3 (size) is '-1': must be a whole number of bytes from 0",
            ),
            (",512", ",", "field 3 (size) is ''"),
            (",R", ",X", "field 4 (opcode) is 'X': must be R or W"),
            (",1.5", ",1e400", "field 5 (timestamp) is '1e400'"),
            (",1.5", ",-1.5", "field 5 (timestamp) is '-1.5'"),
            (",1.5", ",NaN", "field 5 (timestamp) is 'NaN'"),
            (",1.5", ",9000000001", "field 5 (timestamp)"),
            (",1.5", ",1.5\0", "a NUL byte (byte 15"),
            (
                ",R,1.5",
                "",
                "3 fields ('3,40,512'): must be 5, ASU LBA size opcode timestamp",
            ),
        ],
    );
}

#[test]
fn msr_counts_ticks_from_1601_and_names_disks() {
    let text = "128166372003061629,hm,1,Read,2449408,4096,47106\n\
                128166372026382245,usr,0,write,2449408,512,0\n\
                128166372003061628,hm,1,READ,0,9223372036854775808,1\n";
    // 128166372003061629 - 116444736000000000 ticks since 1970
    let first = 11_721_636_003_061_629 * 100;
    let expected = [
        with_response(record(first, 0, Read, 2_449_408, 4_096), 4_710_600),
        with_response(record(first + 2_332_061_600, 1, Write, 2_449_408, 512), 0),
        with_response(record(first - 100, 0, Read, 0, 1 << 63), 100),
    ];
    let (records, names) = read_with("msr", text, None).unwrap();
    assert_eq!(records, expected);
    let names: Vec<_> = names.iter().flatten().collect();
    assert_eq!(names, ["hm.1", "usr.0", "hm.1"]);
    assert_eq!(format("msr").clock, Clock::Calendar);
    // Files made from these may count from anywhere.
    let rebased = "7,a,0,Read,0,512,1\n9,a,0,Read,0,512,1\n";
    let times: Vec<u64> = read("msr", rebased).iter().map(|r| r.time.0).collect();
    assert_eq!(times, [700, 900]);
    refuses(
        "msr",
        "128166372003061629,hm,1,Read,0,4096,1\n128166372003061630,hm,2,Write,8,512,2\n",
        None,
        2,
        &[
            (
                "61630",
                "61630.5",
                "field 1 (timestamp) is '128166372003061630.5'",
            ),
            ("128166372003061630", "7", "field 1 (timestamp) is '7'"),
            (
                "128166372003061630",
                "206444736000000001",
                "field 1 (timestamp)",
            ),
            (
                "128166372003061630",
                "18446744073709551615",
                "field 1 (timestamp)",
            ),
            (",hm,2", ",,2", "field 2 (host) is ''"),
            (",hm,2", ",h\0m,2", "a NUL byte (byte 21"),
            (",hm,2", ",hm,x", "field 3 (disk) is 'x'"),
            (
                "Write",
                "Trim",
                "field 4 (type) is 'Trim': must be Read or Write",
            ),
            (",8,", ",9223372036854775809,", "field 5 (offset)"),
            (",8,", ",9223372036854775807,", "field 6 (size) is '512'"),
            (",512,2", ",0,2", "field 6 (size) is '0'"),
            (",512,2", ",512,", "field 7 (response) is ''"),
            (",512,2", ",512,90000000000000001", "field 7 (response)"),
            (",512,2", ",512,2,3", "8 fields"),
        ],
    );
}

#[test]
fn systor_may_lack_responses_and_have_a_header() {
    let text = "Timestamp,Response,IOType,LUN,Offset,Size\n\
                1455592000.607085943,0.000262022,W,2,42932039680,8192\n\
                1455592000.6071,,R,2,512,1\n";
    let expected = [
        with_response(
            record(1_455_592_000_607_085_943, 2, Write, 42_932_039_680, 8_192),
            262_022,
        ),
        record(1_455_592_000_607_100_000, 2, Read, 512, 1),
    ];
    assert_eq!(read("systor", text), expected);
    let body = text.split_once('\n').unwrap().1;
    assert_eq!(read("systor", body), expected);
    assert_eq!(read("systor", text.to_uppercase()), expected);
    let twice = format!("{body}{text}");
    let message = message("systor", twice);
    assert!(
        message.starts_with("t:3: field 5 (Offset) is 'Offset'"),
        "{message}"
    );
    refuses(
        "systor",
        body,
        None,
        2,
        &[
            ("0.6071", "0.6071x", "field 1 (Timestamp)"),
            (
                "6071,,",
                "6071,-1,",
                "field 2 (Response) is '-1': must be blank or",
            ),
            (",R,", ",,", "field 3 (IOType) is '': must be R or W"),
            (",R,2", ",R,2.0", "field 4 (LUN) is '2.0'"),
            (",512,1", ",512,0", "field 6 (Size) is '0'"),
            (",512,1", ",512", "5 fields"),
        ],
    );
}

#[test]
fn alibaba_counts_microseconds_and_bytes() {
    let text =
        "419,W,8792731648,16384,1577808144360767\n725,r,59110326272,360448,1577808144360813\n";
    let expected = [
        record(1_577_808_144_360_767_000, 419, Write, 8_792_731_648, 16_384),
        record(
            1_577_808_144_360_813_000,
            725,
            Read,
            59_110_326_272,
            360_448,
        ),
    ];
    assert_eq!(read("alibaba", text), expected);
    let header = "device_id,opcode,offset,length,timestamp\n";
    assert_eq!(read("alibaba", format!("{header}{text}")), expected);
    refuses(
        "alibaba",
        text,
        None,
        2,
        &[
            ("725", "x", "field 1 (device_id) is 'x'"),
            (",r,", ",D,", "field 2 (opcode) is 'D': must be R or W"),
            (",59110326272", ",59.5", "field 3 (offset) is '59.5'"),
            (",360448", ",-1", "field 4 (length) is '-1'"),
            ("4360813", "4360813.5", "field 5 (timestamp)"),
            (
                "1577808144360813",
                "9000000000000001",
                "field 5 (timestamp)",
            ),
        ],
    );
}

#[test]
fn tencent_counts_seconds_and_blocks() {
    let text = "1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n";
    let expected = [
        record(
            1_538_323_200_000_000_000,
            1_063,
            Read,
            12_910_952 * 512,
            65_536,
        ),
        record(
            1_538_323_201_000_000_000,
            1_627,
            Write,
            6_338_688 * 512,
            4_096,
        ),
    ];
    assert_eq!(read("tencent", text), expected);
    refuses(
        "tencent",
        text,
        None,
        2,
        &[
            ("1538323201", "1538323201.5", "field 1 (Timestamp)"),
            (",6338688", ",18014398509481985", "field 2 (Offset)"),
            (",8,1", ",0,1", "field 3 (Size) is '0'"),
            (
                ",8,1",
                ",8,2",
                "field 4 (IOType) is '2': must be 0 for a read or 1 for a write",
            ),
            (",1627", ",", "field 5 (VolumeID) is ''"),
        ],
    );
}

// HP SRT.

const SRT_HEADER: &str = "\
$$TR_IOREC-1.3 (IOAdaptor Upgrade Version)
version = 1.3;
description = \"a string with { braces }; and sectorsize = 7,\";
sectorsize = 11;
disks = {
  0 -> {
    disktype = hp335h, seekparms = {616, 3450}, queue = {fcfs, 1},
    blockmajor = 8,
    charactermajor = 7,
    adaptor = 1 -> { hp_ib , 1.2 , sectorsize = 13 },
    sectorsize  = 256,
    sections = { 8 -> { \"/\", size = (171760 291362816), sectorsize = 17 } }
  },
  3 -> { sectorsize = 1024, blockmajor = 8 }
};
";

/// The fields of a record behind its size and id.
#[derive(Clone, Copy)]
struct Srt {
    sec: u32,
    usec: u32,
    stop_us: u32,
    bytes: u32,
    sector: u32,
    device: u32,
    flags: u32,
}

const SRT: Srt = Srt {
    sec: 5,
    usec: 250_000,
    stop_us: 19_687,
    bytes: 4_096,
    sector: 1_056,
    device: 0x0800_0008,
    flags: 0x1b,
};

impl Srt {
    /// With so many words behind `info`.
    fn words(self, extra: usize) -> Vec<u32> {
        let Self {
            sec,
            usec,
            stop_us,
            bytes,
            sector,
            device,
            flags,
        } = self;
        let size = 4 * (13 + extra as u32);
        let mut words = vec![
            size,
            4 << 16 | 1,
            sec,
            usec,
            174,
            stop_us,
            bytes,
            sector,
            device,
            4,
            1,
            flags,
            7 << 16,
        ];
        words.resize(13 + extra, 0xffff_ffff);
        words
    }

    fn bytes(self) -> Vec<u8> {
        big_endian(&self.words(1))
    }
}

fn big_endian(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn srt(header: &str, records: &[Vec<u8>]) -> Vec<u8> {
    let mut file = header.as_bytes().to_vec();
    file.push(0x0c);
    records.iter().for_each(|record| file.extend(record));
    file
}

#[test]
fn srt_fields_sizes_and_disks() {
    let records = [
        SRT.bytes(),
        // Another section of the disk, then the disk's character device.
        Srt {
            device: 0x0800_000e,
            flags: 0x100,
            ..SRT
        }
        .bytes(),
        Srt {
            device: 0x0700_0001,
            ..SRT
        }
        .bytes(),
        // Disk 3 with its own sectors; its record is longer.
        big_endian(
            &Srt {
                device: 0x0800_0302,
                sec: u32::MAX,
                usec: 999_999,
                ..SRT
            }
            .words(9),
        ),
        // Disk 3 of another major: the next free number.
        Srt {
            device: 0x0900_0300,
            ..SRT
        }
        .bytes(),
    ];
    let error = read_with("hp_srt", srt(SRT_HEADER, &records), None).unwrap_err();
    // The last disk is not in the header, and the others have unlike sectors.
    let place = SRT_HEADER.len() + 1 + 3 * 56 + 88;
    let expected = format!(
        "t: byte {place}: device is 0x09000300, disk 3 of major 9: the header gives no sectorsize \
         for it, nor one that all disks share"
    );
    assert_eq!(error.to_string(), expected);

    let alike = SRT_HEADER.replace("1024", "256");
    let (found, names) = read_with("hp_srt", srt(&alike, &records), None).unwrap();
    let at = 5_250_000_000;
    let one = |time, device, op| Record {
        queue: Some(Nanos(174_000)),
        ..with_response(record(time, device, op, 1_056 * 256, 4_096), 19_687_000)
    };
    let expected = [
        one(at, 0, Read),
        one(at, 0, Write),
        one(at, 0, Read),
        one(4_294_967_295_999_999_000, 3, Read),
        one(at, 4, Read),
    ];
    assert_eq!(found, expected);
    let names: Vec<_> = names.iter().flatten().collect();
    assert_eq!(names, ["8:0", "8:0", "8:0", "8:3", "9:3"]);

    let (found, _) = read_with("hp_srt", srt(SRT_HEADER, &records[..4]), None).unwrap();
    assert_eq!(found[3].offset, 1_056 * 1_024);
    assert_eq!(format("hp_srt").clock, Clock::Start);
}

#[test]
fn srt_bad_records_are_named_by_byte() {
    let header = SRT_HEADER.len() + 1;
    let mut words = SRT.words(1);
    let mut table: Vec<(Vec<u32>, &str)> = Vec::new();
    let mut with = |index: usize, word: u32, expected| {
        let old = std::mem::replace(&mut words[index], word);
        table.push((words.clone(), expected));
        words[index] = old;
    };
    with(
        0,
        48,
        "size of the record is 48: must be a multiple of 4 from 52 to 4096",
    );
    with(0, 57, "size of the record is 57");
    with(0, 0, "size of the record is 0");
    with(0, u32::MAX, "size of the record is 4294967295");
    with(
        0,
        60,
        "the file ends in the middle of a record: 56 of 60 bytes",
    );
    with(
        1,
        4 << 16 | 2,
        "id is version 4, type 2: must be version 1 to 4 and type 1",
    );
    with(1, 5 << 16 | 1, "id is version 5, type 1");
    with(3, 1_000_000, "usec is 1000000: must be below 1000000");
    with(6, 0, "bytes is 0: must be at least 1");
    with(5, 173, "start is 174 us: must be at most stop, 173 us");
    for (words, expected) in table {
        let message = message(
            "hp_srt",
            srt(SRT_HEADER, &[SRT.bytes(), big_endian(&words)]),
        );
        let start = format!("t: byte {}: ", header + 56);
        assert!(
            message.starts_with(&start) && message.contains(expected),
            "{message}"
        );
    }
    for (old, new, expected) in [
        (
            "$$TR_IOREC",
            "$$TR_OTHER",
            "begins with '$$TR_OTHER': an HP SRT trace begins with",
        ),
        (
            "= 256",
            "= big",
            "header: sectorsize of disk 0 is 'big': must be a whole number from 1",
        ),
        ("= 256", "= 0", "header: sectorsize of disk 0 is '0'"),
        (
            "blockmajor = 8",
            "blockmajor = 256",
            "blockmajor of disk 0 is '256'",
        ),
        ("3 ->", "0 ->", "header: disk 0 is there twice"),
        ("3 ->", "x ->", "header: disk number is 'x'"),
    ] {
        let header = SRT_HEADER.replacen(old, new, 1);
        let message = message("hp_srt", srt(&header, &[SRT.bytes()]));
        assert!(
            message.starts_with("t: byte 0: ") && message.contains(expected),
            "{message}"
        );
    }
    let message = message("hp_srt", SRT_HEADER);
    assert!(
        message.contains("no form feed (0x0c) that ends the header"),
        "{message}"
    );
}

// VMware vSCSI.

#[derive(Clone, Copy)]
struct Vscsi {
    opcode: u16,
    version: u16,
    bytes: u32,
    lbn: u64,
    us: u64,
    response_us: u64,
}

const VSCSI: Vscsi = Vscsi {
    opcode: 0x28,
    version: 0x0100,
    bytes: 4_096,
    lbn: 42_932_745,
    us: 5_633_898_368_802,
    response_us: 1_234,
};

impl Vscsi {
    fn v1(self) -> Vec<u8> {
        let mut record = Vec::new();
        record.extend(77_u32.to_le_bytes());
        record.extend(self.bytes.to_le_bytes());
        record.extend(1_u32.to_le_bytes());
        record.extend(self.opcode.to_le_bytes());
        record.extend(self.version.to_le_bytes());
        record.extend(self.lbn.to_le_bytes());
        record.extend(self.us.to_le_bytes());
        record
    }

    fn v2(self) -> Vec<u8> {
        let mut record = Vec::new();
        record.extend(self.opcode.to_le_bytes());
        record.extend(self.version.to_le_bytes());
        record.extend(77_u32.to_le_bytes());
        record.extend(self.bytes.to_le_bytes());
        record.extend(1_u32.to_le_bytes());
        record.extend(self.lbn.to_le_bytes());
        record.extend(self.us.to_le_bytes());
        record.extend(self.response_us.to_le_bytes());
        record
    }
}

#[test]
fn vscsi_versions_and_opcodes() {
    let opcodes = [
        (0x08, Read),
        (0x28, Read),
        (0x88, Read),
        (0xa8, Read),
        (0x0a, Write),
        (0x2a, Write),
        (0x8a, Write),
        (0xaa, Write),
        (0x2e, Write),
        (0x35, Flush),
        (0x91, Flush),
    ];
    for version in [1, 2] {
        let mut file = Vec::new();
        let mut expected = Vec::new();
        for (opcode, op) in opcodes {
            let made = Vscsi {
                opcode,
                version: version << 8 | 3,
                ..VSCSI
            };
            file.extend(if version == 1 { made.v1() } else { made.v2() });
            let (offset, bytes) = match op {
                Flush => (0, 0),
                _ => (42_932_745 * 512, 4_096),
            };
            let one = record(5_633_898_368_802_000, 0, op, offset, bytes);
            expected.push(match version {
                1 => one,
                _ => with_response(one, 1_234_000),
            });
        }
        assert_eq!(read("vscsi", &file), expected);
    }
}

#[test]
fn vscsi_bad_records_are_named_by_byte() {
    let two = Vscsi {
        version: 0x0200,
        ..VSCSI
    };
    let table = [
        (
            Vscsi {
                opcode: 0x42,
                ..VSCSI
            },
            "opcode is 0x42: must be a SCSI READ",
        ),
        (
            Vscsi {
                opcode: 0x128,
                ..VSCSI
            },
            "opcode is 0x128",
        ),
        (
            Vscsi {
                version: 0x0300,
                ..VSCSI
            },
            "version is 3: must be",
        ),
        (
            Vscsi { bytes: 0, ..VSCSI },
            "bytes is 0: must be at least 1",
        ),
        (
            Vscsi {
                lbn: u64::MAX,
                ..VSCSI
            },
            "LBN is 18446744073709551615",
        ),
        (
            Vscsi {
                lbn: (1 << 54) - 7,
                ..VSCSI
            },
            "LBN is 18014398509481977",
        ),
        (
            Vscsi {
                us: 9_000_000_000_000_001,
                ..VSCSI
            },
            "time is 9000000000000001 us",
        ),
        (
            Vscsi {
                us: u64::MAX,
                ..VSCSI
            },
            "time is 18446744073709551615 us",
        ),
    ];
    for (bad, expected) in table {
        let found = message("vscsi", [VSCSI.v1(), bad.v1()].concat());
        assert!(found.starts_with("t: byte 32: "), "{found}");
        assert!(found.contains(expected), "{found}");
        let version = bad.version << u16::from(bad.version == 0x0100);
        let found = message("vscsi", [two.v2(), Vscsi { version, ..bad }.v2()].concat());
        assert!(found.starts_with("t: byte 40: "), "{found}");
        assert!(found.contains(expected), "{found}");
    }
    let late = Vscsi {
        response_us: u64::MAX,
        ..two
    };
    let found = message("vscsi", [two.v2(), late.v2()].concat());
    assert!(
        found.contains("byte 40: response is 18446744073709551615 us"),
        "{found}"
    );
    let found = message("vscsi", [0; 64]);
    assert!(found.starts_with("t: byte 0: not a vSCSI trace"), "{found}");
    let last = (1 << 54) - 8;
    assert_eq!(
        read("vscsi", Vscsi { lbn: last, ..VSCSI }.v1())[0].offset,
        END_BYTES - 4_096
    );
    let mut cut = [VSCSI.v1(), VSCSI.v1()].concat();
    cut.truncate(63);
    let found = message("vscsi", cut);
    let expected = "t: byte 32: the file ends in the middle of a record: 31 of 32 bytes";
    assert_eq!(found, expected);
}

// oracleGeneral.

fn oracle(time: u32, size: u32, next: i64) -> Vec<u8> {
    let mut record = time.to_le_bytes().to_vec();
    record.extend(0x1234_5678_9abc_def0_u64.to_le_bytes());
    record.extend(size.to_le_bytes());
    record.extend(next.to_le_bytes());
    record
}

#[test]
fn oracle_general_is_refused_with_the_reason() {
    let file = [
        oracle(0, 4_096, 2),
        oracle(0, 512, -1),
        oracle(1, 4_096, -1),
    ]
    .concat();
    let reason = "oracleGeneral traces cannot drive a timing simulation: their times are whole \
                  seconds, and they do not say what is a read and what a write";
    let found = message("oracle_general", &file);
    assert!(
        found.contains(reason) && !found.contains("look like"),
        "{found}"
    );
    let found = message(
        "oracle_general",
        "0,20941264,8192,W,0.551706\n1,1,512,R,1\n",
    );
    assert!(found.contains("does not look like one"), "{found}");

    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("x.bin");
    std::fs::write(&path, &file).unwrap();
    let found = Format::detect(&path, None, &options()).map(|_| ());
    assert!(found.unwrap_err().to_string().contains(reason));
    // Text, and binary traces of other formats, are not taken for it.
    for other in [
        b"13.191135\t30\t0\t5\t1\n".repeat(10),
        VSCSI.v1().repeat(10),
        srt(SRT_HEADER, &[SRT.bytes()]),
    ] {
        std::fs::write(&path, &other).unwrap();
        let found = Format::detect(&path, None, &options());
        assert!(found.is_ok_and(|(format, _)| format.name != "oracle_general"));
    }
}

// Generic CSV.

const MAP: &str =
    "time=ts:us, offset=lba:512B, bytes=len:B, op=type:0/1, device=vol, response=rt:us";
const CSV: &str = "ts,rt,vol,type,lba,len\n1.5,,4,0,8,4096\n2,7.25,4,1,3,1\n";

#[test]
fn csv_columns_are_found_by_name_in_any_order_with_any_separator() {
    let expected = [
        record(1_500, 4, Read, 4_096, 4_096),
        with_response(record(2_000, 4, Write, 1_536, 1), 7_250),
    ];
    for text in [
        CSV.to_owned(),
        CSV.replace(',', ";"),
        CSV.replace(',', "\t"),
        CSV.replace('\n', "\r\n"),
        CSV.replace(',', " , "),
        format!("\u{feff}{CSV}"),
        format!("# a comment\n\n{CSV}"),
        CSV.trim_end().to_owned(),
        CSV.replace("ts", "\"ts\"")
            .replace("1.5", "\"1.5\"")
            .replace("4096", " \"4096\" "),
        CSV.replace("ts,", "ts,\"a, \"\"b\"\"\",")
            .replace("1.5,", "1.5,\"x,\"\"\",")
            .replace("2,7", "2,,7"),
        CSV.replace("\n1.5", ",more\n1.5")
            .replace("4096", "4096,")
            .replace("3,1", "3,1,x"),
    ] {
        let (records, _) = read_with("csv", &text, Some(MAP)).unwrap();
        assert_eq!(records, expected, "{text}");
    }
    // Blanks separate where nothing else does.
    let blanks = "  ts lba \t len type vol rt\n 1.5  8 4096 0 4 2.5\n";
    let (records, _) = read_with("csv", blanks, Some(MAP)).unwrap();
    assert_eq!(
        records,
        [with_response(record(1_500, 4, Read, 4_096, 4_096), 2_500)]
    );
}

#[test]
fn csv_columns_are_found_by_number_without_a_header() {
    let map = "time=1:s, offset=3:KiB, bytes=4:100B, op=2";
    let text = "0.000000001;W;0.5;1\n0.25;rs;2;0.01\n";
    let expected = [
        record(1, 0, Write, 512, 100),
        record(250_000_000, 0, Read, 2_048, 1),
    ];
    assert_eq!(read_with("csv", text, Some(map)).unwrap().0, expected);
    // A separator may be said: here the comma is a part of a field.
    let map = "time=1:ns,offset=2:B,bytes=3:B,op=4,device=5,separator=blanks";
    let (records, names) = read_with("csv", "7 0 512 r a,b\n", Some(map)).unwrap();
    assert_eq!(records, [record(7, 0, Read, 0, 512)]);
    assert_eq!(names, [Some("a,b".to_owned())]);
    // Names of digits go in quotes, and names with colons and commas.
    let map = "time=\"1\":100ns, offset=\"o:x, y\":B, bytes=:4096B, op=:write";
    let text = "1;o:x, y\n3;8\n";
    let (records, _) = read_with("csv", text, Some(map)).unwrap();
    assert_eq!(records, [record(300, 0, Write, 8, 4_096)]);
}

#[test]
fn csv_operations_devices_and_origin() {
    let ops = "t,o,b,op\n1,0,1,READ\n2,0,1,w\n3,,,Flush\n4,0,1,discard\n5,0,1,WS\n6,0,1,trim\n";
    let map = "time=t:ns, offset=o:B, bytes=b:B, op=op";
    let (records, _) = read_with("csv", ops, Some(map)).unwrap();
    let found: Vec<Op> = records.iter().map(|record| record.op).collect();
    assert_eq!(found, [Read, Write, Flush, Trim, Write, Trim]);
    let values = "t,o,b,op\n1,0,1,x\n2,0,1,y\n3,7,7,f\n4,0,1,z\n";
    let map = "time=t:ns, offset=o:B, bytes=b:B, op=op:x/y/f/z";
    let (records, _) = read_with("csv", values, Some(map)).unwrap();
    let expected = [
        record(1, 0, Read, 0, 1),
        record(2, 0, Write, 0, 1),
        record(3, 0, Flush, 0, 0),
        record(4, 0, Trim, 0, 1),
    ];
    assert_eq!(records, expected);

    // Devices are numbers or names, as the first one is.
    let text = "t,o,b,d\n1,0,1,sdb\n2,0,1,7\n3,0,1,sdb\n";
    let map = "time=t:ns, offset=o:B, bytes=b:B, op=:read, device=d";
    let (records, names) = read_with("csv", text, Some(map)).unwrap();
    let devices: Vec<u32> = records.iter().map(|record| record.device).collect();
    assert_eq!(devices, [0, 1, 0]);
    assert_eq!(
        names.into_iter().flatten().collect::<Vec<_>>(),
        ["sdb", "7", "sdb"]
    );
    let message = message_with("csv", text.replace("1,sdb\n2", "1,3\n2"), Some(map));
    assert!(
        message.starts_with("t:4: field 4 (device, column 'd') is 'sdb'"),
        "{message}"
    );
    let named = map.replace("device=d", "device=d:name");
    let (records, names) = read_with("csv", "t,o,b,d\n1,0,1,40\n", Some(&named)).unwrap();
    assert_eq!((records[0].device, names[0].as_deref()), (0, Some("40")));

    // Times from the calendar must be said to be.
    let text = "t,o,b\n1700000000.5,0,1\n1700000002,0,1\n1700000000.25,0,1\n";
    let map = "time=t:s, offset=o:B, bytes=b:B, op=:read";
    let message = message_with("csv", text, Some(map));
    assert!(
        message.starts_with("t:2: the first time is 1700000000 s, 53.9 years"),
        "{message}"
    );
    assert!(
        message.contains("add origin=first") && message.contains("origin=zero"),
        "{message}"
    );
    let zero = format!("{map}, origin=zero");
    assert_eq!(
        read_with("csv", text, Some(&zero)).unwrap().0[1].time.0,
        1_700_000_002_000_000_000
    );
    let first = format!("{map}, origin=first");
    let two = &text[..text.rfind("1700").unwrap()];
    let times = read_with("csv", two, Some(&first)).unwrap().0;
    assert_eq!(
        times.iter().map(|record| record.time.0).collect::<Vec<_>>(),
        [0, 1_500_000_000]
    );
    let message = message_with("csv", text, Some(&first));
    assert!(
        message.contains("t:4: field 1 (time, column 't') is '1700000000.25': must be at or after"),
        "{message}"
    );
}

#[test]
fn csv_bad_fields_are_named() {
    refuses(
        "csv",
        CSV,
        Some(MAP),
        3,
        &[
            (
                "2,7.25",
                "-2,7.25",
                "field 1 (time, column 'ts') is '-2': must be a number of us, from 0 to 9e9 s",
            ),
            ("2,7.25", "nan,7.25", "field 1 (time, column 'ts') is 'nan'"),
            (
                "2,7.25",
                "1e400,7.25",
                "field 1 (time, column 'ts') is '1e400'",
            ),
            (
                "2,7.25",
                "9000000000000001,7.25",
                "field 1 (time, column 'ts')",
            ),
            (
                "2,7.25",
                "18446744073709551615,7.25",
                "field 1 (time, column 'ts')",
            ),
            ("2,7.25", ",7.25", "field 1 (time, column 'ts') is ''"),
            ("2,7.25", "2,x", "field 2 (response, column 'rt') is 'x'"),
            (",4,1,3", ",,1,3", "field 3 (device, column 'vol') is ''"),
            (
                ",4,1,3",
                ",4,2,3",
                "field 4 (op, column 'type') is '2': must be 0 (read) or 1 (write)",
            ),
            (
                "1,3,1",
                "1,3.001,1",
                "field 5 (offset, column 'lba') is '3.001': must be a number of 512B that is a whole number of bytes",
            ),
            (
                "1,3,1",
                "1,18014398509481985,1",
                "field 5 (offset, column 'lba')",
            ),
            (
                "1,3,1",
                "1,18014398509481984,1",
                "field 5 (offset, column 'lba') is '18014398509481984': must be such that the request ends",
            ),
            (
                "1,3,1",
                "1,3,0",
                "field 6 (bytes, column 'len') is '0': must be a number of B that is a whole number of bytes from 1",
            ),
            ("1,3,1", "1,3,1.5", "field 6 (bytes, column 'len') is '1.5'"),
            (
                "1,3,1",
                "1,3",
                "5 fields ('2,7.25,4,1,3'): must be 6, as in the first line",
            ),
            ("1,3,1", "1,3,1,9", "7 fields"),
            ("1,3,1", "1,3,\"1", "a quote that is not closed"),
            (
                "1,3,1",
                "1,3,\"1\"1",
                "a quote that is not closed, or text behind one",
            ),
            (
                "1,3,1",
                "1,3,1\0",
                "field 6 (bytes, column 'len') is '1\\x00'",
            ),
        ],
    );
    let words = MAP.replace(":0/1", "");
    let message = message_with("csv", CSV, Some(&words));
    assert!(
        message.starts_with("t:2: field 4 (op, column 'type') is '0': must be read, write"),
        "{message}"
    );
    assert!(message.contains("op=COLUMN:0/1"), "{message}");
}

#[test]
fn columns_must_be_told_and_told_right() {
    let found = message("csv", "a,b\n1,2\n");
    assert!(
        found.starts_with(
            "t:1: a CSV needs to be told which column is what, in which unit: give --columns \""
        ),
        "{found}"
    );
    for (map, expected) in [
        ("", "columns: '' must be NAME=COLUMN or NAME=COLUMN:UNIT"),
        ("time", "columns: 'time' must be NAME=COLUMN"),
        ("time=", "columns: 'time=' names no column"),
        (
            "tme=ts:us",
            "columns: 'tme' is unknown; did you mean 'time'?",
        ),
        ("time=ts:us,time=x:us", "columns: 'time' is there twice"),
        ("op=:read,op=x", "columns: 'op' is there twice"),
        ("time=ts:us", "columns: no 'offset': give offset=lba:512B"),
        (
            "offset=o:B,bytes=b:B,op=o",
            "columns: no 'time': give time=ts:us",
        ),
        (
            "time=t:us,offset=o:B,bytes=b:B",
            "columns: no 'op': give op=type",
        ),
        (
            "time=ts:h",
            "columns: time=ts:h has an unknown unit: must be s, ms, us, ns, or a number of one such as 100ns",
        ),
        ("time=ts:0ns", "columns: time=ts:0ns has an unknown unit"),
        ("time=ts:", "columns: time=ts: has an unknown unit"),
        (
            "offset=o:KB",
            "columns: offset=o:KB has an unknown unit: must be B, KiB",
        ),
        ("offset=o:99999999999999999999B", "unknown unit"),
        ("device=d:B", "columns: device=d:B: 'device' has no unit"),
        (
            "time=:5s",
            "columns: 'time' names no column, as in time=COLUMN",
        ),
        ("op=:flush", "columns: op=:flush must be :read or :write"),
        (
            "bytes=:many",
            "columns: bytes=:many must be a size, as in :4096B",
        ),
        ("op=o:0", "columns: op values '0' must be READ/WRITE"),
        ("op=o:0/0", "columns: op values '0/0' must be"),
        ("op=o:0/1/2/3/4", "columns: op values '0/1/2/3/4' must be"),
        (
            "separator=pipe",
            "columns: separator=pipe must be comma, semicolon, tab or blanks",
        ),
        ("origin=last", "columns: origin=last must be first or zero"),
        ("time=\"t:us", "columns: a quote is not closed"),
        (
            "time=0:us",
            "columns: column 0 must be a number from 1 to 65536",
        ),
        (
            "time=1:us,offset=o:B,bytes=2:B,op=3",
            "columns: columns must be all names or all numbers",
        ),
        (
            "time=t:us,offset=o:B,bytes=b:B,op=p,device_name=n",
            "columns: device_name goes with",
        ),
        // Units are never guessed.
        (
            "time=t,offset=o:B,bytes=b:B,op=p",
            "columns: time=t has no unit: must be s, ms, us, ns, or a number of one such as 100ns, as in time=t:us",
        ),
        (
            "time=t:us,offset=o,bytes=b:B,op=p",
            "columns: offset=o has no unit: must be B, KiB, MiB, GiB, or a number of one such as 512B, as in offset=o:B",
        ),
        (
            "time=t:us,offset=o:B,bytes=b,op=p",
            "columns: bytes=b has no unit",
        ),
        (
            "time=t:us,offset=o:B,bytes=b:B,op=p,response=r",
            "columns: response=r has no unit",
        ),
        // Columns that are not there.
        (
            "time=z:us,offset=o:B,bytes=b:B,op=p",
            "t:1: no column 'z': the header has t, o, b, p",
        ),
        (
            "time=t:us,offset=o:B,bytes=b:B,op=p,separator=tab",
            "t:1: no column 't': the header has t;o;b;p",
        ),
        (
            "time=t:us,offset=t:B,bytes=b:B,op=p",
            "t:1: columns: 't' cannot be both time and offset",
        ),
        (
            "time=1:us,offset=2:B,bytes=3:B,op=9",
            "t:1: no column 9 (op): the first line has 4 fields",
        ),
        (
            "time=1:us,offset=1:B,bytes=3:B,op=4",
            "t:1: columns: 1 cannot be both time and offset",
        ),
        (
            "time=1:us,offset=2:B,bytes=3:B,op=4",
            "t:1: field 4 (op) is 'p'",
        ),
    ] {
        let found = message_with("csv", "t;o;b;p\n1;0;1;r\n", Some(map));
        assert!(found.contains(expected), "{map}: {found}");
    }
    let found = message_with(
        "csv",
        "t,o,b,p,t\n",
        Some("time=t:us,offset=o:B,bytes=b:B,op=p"),
    );
    assert!(
        found.contains("two columns are called 't': give the columns by number"),
        "{found}"
    );
}

#[test]
fn our_own_csv_needs_no_key() {
    let text = "time_ns,device,device_name,op,offset_bytes,bytes,response_ns,think_ns,queue_ns\n\
                5,7,\"a,b\",read,512,1,9,,2\n\
                1577808144360767001,9,,flush,0,0,,3,\n";
    let lines: Vec<&str> = text.lines().collect();
    let [header, one, two] = lines[..] else {
        panic!("three lines");
    };
    // Its times are kept, however large the first one is.
    let swapped = format!("{header}\n{two}\n{one}\n");
    assert_eq!(read("csv", swapped)[0].time.0, 1_577_808_144_360_767_001);
    let (records, names) = read_with("csv", text, None).unwrap();
    let expected = [
        Record {
            queue: Some(Nanos(2)),
            ..with_response(record(5, 7, Read, 512, 1), 9)
        },
        Record {
            think: Some(Nanos(3)),
            ..record(1_577_808_144_360_767_001, 9, Flush, 0, 0)
        },
    ];
    assert_eq!(records, expected);
    assert_eq!(names, [Some("a,b".to_owned()), None]);
    let message = message("csv", text.replace("\n1577", "\n6,7,c,read,0,1,,,\n1577"));
    assert!(
        message.contains(
            "t:3: field 3 (device_name) is 'c': must be the same for all requests of device 7"
        ),
        "{message}"
    );
}

#[test]
fn a_column_says_which_requests_are_linked() {
    let linked = |name: &str, text: String, map: Option<&str>| -> Vec<bool> {
        let (records, _) = read_with(name, text, map).unwrap();
        records.iter().map(|record| record.linked).collect()
    };
    let map = Some("time=t:us,offset=o:B,bytes=:512B,op=:read,linked=more");
    let with = |values: [&str; 6]| {
        let rows = values.map(|value| format!("1,0,{value}\n"));
        format!("t,o,more\n{}", rows.concat())
    };
    let found = linked("csv", with(["1", "0", "TRUE", "false", "", "true"]), map);
    assert_eq!(found, [true, false, true, false, false, true]);
    let message = read_with("csv", with(["1", "yes", "0", "0", "0", "0"]), map).unwrap_err();
    let message = message.to_string();
    assert!(
        message.contains("t:3: field 3 (linked, column 'more') is 'yes': must be 1 or true, 0"),
        "{message}"
    );
    // Our own, with and without the column.
    let old = "time_ns,device,device_name,op,offset_bytes,bytes,response_ns,think_ns,queue_ns\n\
               5,7,,read,512,1,9,,2\n";
    assert_eq!(linked("csv", old.to_owned(), None), [false]);
    let new = old
        .replace("queue_ns", "queue_ns,linked")
        .replace(",2\n", ",2,1\n");
    assert_eq!(linked("csv", new, None), [true]);
}

// Everything.

/// A small good file of each format with times, columns and records.
fn samples() -> Vec<(&'static str, Vec<u8>, Option<&'static str>)> {
    vec![
        ("disksim_ascii", b"0.5 0 100 8 1\n1.25 0 108 8 0\n".to_vec(), None),
        ("mqsim", b"5 0 100 8 1\n9 1 108 8 0\n".to_vec(), None),
        ("spc", b"0,20,8192,W,0.5\r\n3,40,512,r,1.5,x\n".to_vec(), None),
        ("msr", b"128166372003061629,hm,1,Read,24,4096,47\n128166372003061630,u,0,Write,0,1,0\n".to_vec(), None),
        ("systor", b"Timestamp,Response,IOType,LUN,Offset,Size\n1.5,,R,2,512,1\n2,0.1,W,2,0,9\n".to_vec(), None),
        ("alibaba", b"419,W,8792,16384,15778\n725,R,59,36,157781\n".to_vec(), None),
        ("tencent", b"1538323200,12910952,128,0,1063\n1538323201,6,8,1,1627\n".to_vec(), None),
        ("vscsi", [VSCSI.v1(), VSCSI.v1()].concat(), None),
        ("vscsi", [Vscsi { version: 0x200, ..VSCSI }.v2(), Vscsi { version: 0x200, ..VSCSI }.v2()].concat(), None),
        ("hp_srt", srt(SRT_HEADER, &[SRT.bytes(), SRT.bytes()]), None),
        ("csv", CSV.as_bytes().to_vec(), Some(MAP)),
        ("csv", b"\"1\" \"r\" 512\n2 w 0\n".to_vec(), Some("time=1:ms,op=2,offset=3:B,bytes=:1B")),
        ("csv", b"time_ns,device,device_name,op,offset_bytes,bytes,response_ns,think_ns,queue_ns\n5,7,\"a,b\",read,512,1,9,,\n".to_vec(), None),
        ("csv", b"time_ns,device,device_name,op,offset_bytes,bytes,response_ns,think_ns,queue_ns,linked\n5,7,\"a,b\",read,512,1,9,,,1\n6,7,\"a,b\",read,0,1,,,,\n".to_vec(), None),
    ]
}

/// Reads to the end or the first error; panics only if something panics.
fn try_to_read(name: &str, bytes: &[u8], columns: Option<&str>) -> usize {
    let Ok(input) = Input::new("t", Box::new(Cursor::new(bytes.to_vec()))) else {
        return 0;
    };
    let options = Options {
        columns: columns.map(str::to_owned),
        ..Options::default()
    };
    let Ok(mut reader) = format(name).open(input, &options) else {
        return 0;
    };
    let mut count = 0;
    while let Ok(Some(record)) = reader.next() {
        assert!(record.offset + record.bytes <= END_BYTES, "{record:?}");
        assert_eq!(record.bytes == 0, record.op == Flush, "{record:?}");
        count += 1;
    }
    count
}

#[test]
fn files_cut_or_changed_at_any_byte_never_panic() {
    for (name, bytes, columns) in samples() {
        let whole = try_to_read(name, &bytes, columns);
        for end in 0..bytes.len() {
            assert!(try_to_read(name, &bytes[..end], columns) <= whole);
            for byte in [0, b'\n', b'"', b',', b'-', b'9', 0xff] {
                let mut changed = bytes.clone();
                changed[end] = byte;
                try_to_read(name, &changed, columns);
                // What others make of it.
                if end % 7 == 0 {
                    for format in all().readers.iter() {
                        try_to_read(format.name, &changed, columns.or(Some(MAP)));
                    }
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_and_no_key_make_any_format_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        text in "[-0-9rRwW.,;\"\t\n eE+:#]{0,200}",
        key in "(time|offset|bytes|op|device|origin|separator|x)=\"?[a-z0-9]{0,3}\"?:?[a-zA-Z0-9/]{0,4}(,[a-z]{2,6}=[a-z0-9:\"]{0,5}){0,5}",
    ) {
        for format in all().readers.iter() {
            for columns in [None, Some(key.as_str()), Some("time=1:us,offset=2:B,bytes=3:B,op=4")] {
                try_to_read(format.name, &bytes, columns);
                try_to_read(format.name, text.as_bytes(), columns);
            }
        }
    }

    /// Numbers with decimals are read exactly, whatever the unit: compared
    /// with integer arithmetic on the digits.
    #[test]
    fn csv_times_are_exact(whole in 0_u64..9_000_000_000, fraction in 0_u64..1_000_000_000) {
        let text = format!("{whole}.{fraction:09},0,1,r\n");
        let map = "time=1:s,offset=2:B,bytes=3:B,op=4,origin=zero";
        let (records, _) = read_with("csv", text, Some(map)).unwrap();
        prop_assert_eq!(records[0].time.0, whole * 1_000_000_000 + fraction);
    }
}

#[test]
fn detection_tells_all_of_them_apart() {
    let folder = tempfile::TempDir::new().unwrap();
    for (name, bytes, columns) in samples() {
        if columns.is_some() || name == "mqsim" || name == "disksim_ascii" {
            continue; // told by the user, or by ending
        }
        let path = folder.path().join("trace.bin");
        std::fs::write(&path, bytes).unwrap();
        let (found, _) = Format::detect(&path, None, &options()).unwrap();
        assert_eq!(found.name, name);
    }
}

// The week of a workstation: FACTS of the reference folder.

#[test]
fn the_hplajw_week() {
    let Some(path) = reference("traces/hplajw-1992-week.srt") else {
        return;
    };
    let (found, input) = Format::detect(&path, None, &options()).unwrap();
    assert_eq!(found.name, "hp_srt");
    let mut reader = found.open(input, &options()).unwrap();
    let (mut count, mut reads, mut bytes, mut end) = ([0_u64; 2], 0, 0, 0);
    let (mut first, mut last) = (u64::MAX, 0);
    while let Some(record) = reader.next().unwrap() {
        count[record.device as usize] += 1;
        reads += u64::from(record.op == Read);
        bytes += record.bytes;
        end = end.max(record.offset + record.bytes);
        (first, last) = (first.min(record.time.0), last.max(record.time.0));
        assert!(record.is_aligned() || record.offset % 256 == 0);
        let name = format!("8:{}", record.device);
        assert_eq!(reader.device_name(record.device), Some(name.as_str()));
    }
    // 40293 + 1055 + 902 + 2 of four device numbers are disk 0, 2267 disk 1.
    assert_eq!(count, [42_252, 2_267]);
    let total = count[0] + count[1];
    assert_eq!(total, 44_519);
    assert_eq!((1_000 * reads + total / 2) / total, 293, "29.3 % reads");
    assert_eq!((bytes + total / 2) / total, 5_914);
    // A disk of 1449 cylinders of 8 tracks of 113 sectors of 256 bytes.
    assert!(
        (320_000_000..=1_449 * 8 * 113 * 256).contains(&end),
        "{end}"
    );
    assert_eq!(first, 0);
    let days = last as f64 / 86_400e9;
    assert!((6.0..=7.1).contains(&days), "{days}");
}

/// How fast reading alone is, on one core:
/// `cargo test --release -p sledsim-core formats:: -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn speed_of_reading_and_writing() {
    use std::fmt::Write as _;
    use std::time::Instant;

    // Time on a processor where the system tells it: others may be busy too.
    let begun = Instant::now();
    let now = || {
        let own = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let ns = own.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
        ns.map_or_else(|| begun.elapsed().as_secs_f64(), |ns| ns / 1e9)
    };
    const COUNT: usize = 4_000_000;
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    let mut msr = String::new();
    let mut generic = String::from("ts,op,lba,len,vol\n");
    let mut ticks = 128_166_372_003_061_629;
    for _ in 0..COUNT {
        ticks += random(100_000);
        let (op, host) = (
            ["Read", "Write"][random(2) as usize],
            ["hm", "usr", "proj"][random(3) as usize],
        );
        let (block, blocks, response) = (random(1 << 27), 8 << random(4), random(1_000_000));
        let (offset, bytes) = (block * 4_096, blocks * 512);
        writeln!(
            msr,
            "{ticks},{host},{},{op},{offset},{bytes},{response}",
            random(3)
        )
        .unwrap();
        writeln!(generic, "{ticks},{op},{block},{bytes},{host}").unwrap();
    }
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("trace");
    let map = "time=ts:100ns, offset=lba:4096B, bytes=len:B, op=op, device=vol, origin=first";
    let mut records = Vec::with_capacity(COUNT);
    let measure = |name: &str, columns: Option<&str>, keep: &mut Vec<Record>| {
        let options = Options {
            columns: columns.map(str::to_owned),
            ..Options::default()
        };
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let started = now();
            let mut reader = format(name)
                .open(Input::open(&path).unwrap(), &options)
                .unwrap();
            let (mut count, mut sum) = (0, 0_u64);
            while let Some(record) = reader.next().unwrap() {
                count += 1;
                sum = sum.wrapping_add(record.offset ^ record.time.0);
            }
            assert!(count == COUNT && sum != 0);
            best = best.min(now() - started);
        }
        let bytes = std::fs::metadata(&path).unwrap().len() as f64;
        let million = COUNT as f64 / 1e6;
        println!(
            "read {name}: {:.0} MB/s, {:.1} million/s",
            bytes / 1e6 / best,
            million / best
        );
        if keep.is_empty() {
            let mut reader = format(name)
                .open(Input::open(&path).unwrap(), &options)
                .unwrap();
            while let Some(record) = reader.next().unwrap() {
                keep.push(record);
            }
        }
        bytes / 1e6 / best
    };
    std::fs::write(&path, &msr).unwrap();
    let speed = measure("msr", None, &mut records);
    assert!(speed > 200.0, "{speed} MB/s");
    std::fs::write(&path, &generic).unwrap();
    measure("csv", Some(map), &mut records);
    for format in all().writers.iter() {
        let started = now();
        let mut writer = format.create(&path).unwrap();
        for record in &records {
            writer.write(record).unwrap();
        }
        writer.finish().unwrap();
        let speed = COUNT as f64 / 1e6 / (now() - started);
        println!("write {}: {speed:.1} million/s", format.name);
        if ["csv", "parquet"].contains(&format.name) {
            measure(format.name, None, &mut records);
        }
    }
}
