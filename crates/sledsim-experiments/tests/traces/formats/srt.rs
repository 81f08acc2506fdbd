//! HP SRT: its fields, what bad records are told, and the week of a workstation:
//! FACTS of the reference folder.

use super::{
    SRT, SRT_HEADER, Srt, big_endian, format, message, read_with, record, srt, with_response,
};
use crate::common::reference;
use crate::common::refusals::{refuse, replaced};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_experiments::formats::options;
use sledsim_traces::{Clock, Format, Record};

use Op::{Read, Write};

#[test]
fn srt_fields_sizes_and_disks() {
    let records = [
        SRT.bytes(),
        // Another section of the disk, then the disk's character device.
        Srt { device: 0x0800_000e, flags: 0x100, ..SRT }.bytes(),
        Srt { device: 0x0700_0001, ..SRT }.bytes(),
        // Disk 3 with its own sectors; its record is longer.
        big_endian(&Srt { device: 0x0800_0302, sec: u32::MAX, usec: 999_999, ..SRT }.words(9)),
        // Disk 3 of another major: the next free number.
        Srt { device: 0x0900_0300, ..SRT }.bytes(),
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
    with(0, 48, "size of the record is 48: must be a multiple of 4 from 52 to 4096");
    with(0, 57, "size of the record is 57");
    with(0, 0, "size of the record is 0");
    with(0, u32::MAX, "size of the record is 4294967295");
    with(0, 60, "the file ends in the middle of a record: 56 of 60 bytes");
    with(1, 4 << 16 | 2, "id is version 4, type 2: must be version 1 to 4 and type 1");
    with(1, 5 << 16 | 1, "id is version 5, type 1");
    with(3, 1_000_000, "usec is 1000000: must be below 1000000");
    with(6, 0, "bytes is 0: must be at least 1");
    with(5, 173, "start is 174 us: must be at most stop, 173 us");
    for (words, expected) in table {
        let message = message("hp_srt", srt(SRT_HEADER, &[SRT.bytes(), big_endian(&words)]));
        let start = format!("t: byte {}: ", header + 56);
        assert!(message.starts_with(&start) && message.contains(expected), "{message}");
    }
    let table = r#"
    $$TR_IOREC -> $$TR_OTHER => : byte 0: | begins with '$$TR_OTHER': an HP SRT trace begins with
    = 256 -> = big =>
        : byte 0: | header: sectorsize of disk 0 is 'big': must be a whole number from 1
    = 256 -> = 0 => : byte 0: | header: sectorsize of disk 0 is '0'
    blockmajor = 8 -> blockmajor = 256 => : byte 0: | blockmajor of disk 0 is '256'
    }, ;   3 -> }, ;   0 => : byte 0: | header: disk 0 occurs twice
    }, ;   3 -> }, ;   x => : byte 0: | header: disk number is 'x'
    "#;
    refuse(table, |change| {
        let header = replaced(SRT_HEADER, change);
        read_with("hp_srt", srt(&header, &[SRT.bytes()]), None).map(drop)
    });
    let message = message("hp_srt", SRT_HEADER);
    assert!(message.contains("no form feed (0x0c) that ends the header"), "{message}");
}

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
    assert!((320_000_000..=1_449 * 8 * 113 * 256).contains(&end), "{end}");
    assert_eq!(first, 0);
    let days = last as f64 / 86_400e9;
    assert!((6.0..=7.1).contains(&days), "{days}");
}
