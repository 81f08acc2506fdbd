//! Text formats, one per test.

use super::{format, message, read, read_with, record, refuses, with_response};
use sledsim_base::request::Op;
use sledsim_experiments::formats::options;
use sledsim_traces::{Clock, Input};
use std::io::Cursor;

use Op::{Read, Write};

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
    let table = r#"
    3,40 -> -3,40 => :2: field 1 (ASU) is '-3': must be a whole number from 0
    3,40 -> 4294967296,40 => :2: field 1 (ASU) is '4294967296'
    ,40 -> ,4e1 => :2: field 2 (LBA) is '4e1'
    ,40 -> ,18014398509481985 => :2: field 2 (LBA)
    ,40 -> ,18446744073709551616 => :2: field 2 (LBA)
    ,40 -> ,18014398509481984 => :2: field 3 (size) is '512'
    ,512 -> ,-1 => :2: field 3 (size) is '-1': must be a whole number of bytes from 0
    ,512 -> , => :2: field 3 (size) is ''
    ,R -> ,X => :2: field 4 (opcode) is 'X': must be R or W
    ,1.5 -> ,1e400 => :2: field 5 (timestamp) is '1e400'
    ,1.5 -> ,-1.5 => :2: field 5 (timestamp) is '-1.5'
    ,1.5 -> ,NaN => :2: field 5 (timestamp) is 'NaN'
    ,1.5 -> ,9000000001 => :2: field 5 (timestamp)
    ,1.5 -> ,1.5\0 => :2: a NUL byte (byte 15
    ,R,1.5 -> => :2: 3 fields ('3,40,512'): must be 5, ASU LBA size opcode timestamp
    "#;
    refuses("spc", "0,20,8192,W,0.5\n3,40,512,R,1.5\n", None, table);
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
    let table = r#"
    61630 -> 61630.5 => :2: field 1 (timestamp) is '128166372003061630.5'
    128166372003061630 -> 7 => :2: field 1 (timestamp) is '7'
    128166372003061630 -> 206444736000000001 => :2: field 1 (timestamp)
    128166372003061630 -> 18446744073709551615 => :2: field 1 (timestamp)
    ,hm,2 -> ,,2 => :2: field 2 (host) is ''
    ,hm,2 -> ,h\0m,2 => :2: a NUL byte (byte 21
    ,hm,2 -> ,hm,x => :2: field 3 (disk) is 'x'
    Write -> Trim => :2: field 4 (type) is 'Trim': must be Read or Write
    ,8, -> ,9223372036854775809, => :2: field 5 (offset)
    ,8, -> ,9223372036854775807, => :2: field 6 (size) is '512'
    ,512,2 -> ,0,2 => :2: field 6 (size) is '0'
    ,512,2 -> ,512, => :2: field 7 (response) is ''
    ,512,2 -> ,512,90000000000000001 => :2: field 7 (response)
    ,512,2 -> ,512,2,3 => :2: 8 fields
    "#;
    refuses(
        "msr",
        "128166372003061629,hm,1,Read,0,4096,1\n128166372003061630,hm,2,Write,8,512,2\n",
        None,
        table,
    );
}

#[test]
fn systor_may_lack_responses_and_have_a_header() {
    let text = "Timestamp,Response,IOType,LUN,Offset,Size\n\
                1455592000.607085943,0.000262022,W,2,42932039680,8192\n\
                1455592000.6071,,R,2,512,1\n";
    let expected = [
        with_response(record(1_455_592_000_607_085_943, 2, Write, 42_932_039_680, 8_192), 262_022),
        record(1_455_592_000_607_100_000, 2, Read, 512, 1),
    ];
    assert_eq!(read("systor", text), expected);
    let body = text.split_once('\n').unwrap().1;
    assert_eq!(read("systor", body), expected);
    assert_eq!(read("systor", text.to_uppercase()), expected);
    let twice = format!("{body}{text}");
    let message = message("systor", twice);
    assert!(message.starts_with("t:3: field 5 (Offset) is 'Offset'"), "{message}");
    let table = r#"
    0.6071 -> 0.6071x => :2: field 1 (Timestamp)
    6071,, -> 6071,-1, => :2: field 2 (Response) is '-1': must be blank or
    ,R, -> ,, => :2: field 3 (IOType) is '': must be R or W
    ,R,2 -> ,R,2.0 => :2: field 4 (LUN) is '2.0'
    ,512,1 -> ,512,0 => :2: field 6 (Size) is '0'
    ,512,1 -> ,512 => :2: 5 fields
    "#;
    refuses("systor", body, None, table);
}

#[test]
fn alibaba_counts_microseconds_and_bytes() {
    let text =
        "419,W,8792731648,16384,1577808144360767\n725,r,59110326272,360448,1577808144360813\n";
    let expected = [
        record(1_577_808_144_360_767_000, 419, Write, 8_792_731_648, 16_384),
        record(1_577_808_144_360_813_000, 725, Read, 59_110_326_272, 360_448),
    ];
    assert_eq!(read("alibaba", text), expected);
    let header = "device_id,opcode,offset,length,timestamp\n";
    assert_eq!(read("alibaba", format!("{header}{text}")), expected);
    let table = r#"
    725 -> x => :2: field 1 (device_id) is 'x'
    ,r, -> ,D, => :2: field 2 (opcode) is 'D': must be R or W
    ,59110326272 -> ,59.5 => :2: field 3 (offset) is '59.5'
    ,360448 -> ,-1 => :2: field 4 (length) is '-1'
    4360813 -> 4360813.5 => :2: field 5 (timestamp)
    1577808144360813 -> 9000000000000001 => :2: field 5 (timestamp)
    "#;
    refuses("alibaba", text, None, table);
}

#[test]
fn tencent_counts_seconds_and_blocks() {
    let text = "1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n";
    let expected = [
        record(1_538_323_200_000_000_000, 1_063, Read, 12_910_952 * 512, 65_536),
        record(1_538_323_201_000_000_000, 1_627, Write, 6_338_688 * 512, 4_096),
    ];
    assert_eq!(read("tencent", text), expected);
    let table = r#"
    1538323201 -> 1538323201.5 => :2: field 1 (Timestamp)
    ,6338688 -> ,18014398509481985 => :2: field 2 (Offset)
    ,8,1 -> ,0,1 => :2: field 3 (Size) is '0'
    ,8,1 -> ,8,2 => :2: field 4 (IOType) is '2': must be 0 for a read or 1 for a write
    ,1627 -> , => :2: field 5 (VolumeID) is ''
    "#;
    refuses("tencent", text, None, table);
}
