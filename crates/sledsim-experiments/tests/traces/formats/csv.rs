//! Generic CSV: finding and decoding columns, and errors about bad ones.

use super::{CSV, MAP, message, read, read_with, record, refuses, with_response};
use proptest::prelude::*;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_traces::Record;

use Op::{Flush, Read, Trim, Write};

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
        CSV.replace("ts", "\"ts\"").replace("1.5", "\"1.5\"").replace("4096", " \"4096\" "),
        CSV.replace("ts,", "ts,\"a, \"\"b\"\"\",")
            .replace("1.5,", "1.5,\"x,\"\"\",")
            .replace("2,7", "2,,7"),
        CSV.replace("\n1.5", ",more\n1.5").replace("4096", "4096,").replace("3,1", "3,1,x"),
    ] {
        let (records, _) = read_with("csv", &text, Some(MAP)).unwrap();
        assert_eq!(records, expected, "{text}");
    }
    // Blanks separate where nothing else does.
    let blanks = "  ts lba \t len type vol rt\n 1.5  8 4096 0 4 2.5\n";
    let (records, _) = read_with("csv", blanks, Some(MAP)).unwrap();
    assert_eq!(records, [with_response(record(1_500, 4, Read, 4_096, 4_096), 2_500)]);
}

#[test]
fn csv_columns_are_found_by_number_without_a_header() {
    let map = "time=1:s, offset=3:KiB, bytes=4:100B, op=2";
    let text = "0.000000001;W;0.5;1\n0.25;rs;2;0.01\n";
    let expected = [record(1, 0, Write, 512, 100), record(250_000_000, 0, Read, 2_048, 1)];
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
    assert_eq!(names.into_iter().flatten().collect::<Vec<_>>(), ["sdb", "7", "sdb"]);
    let named = map.replace("device=d", "device=d:name");
    let (records, names) = read_with("csv", "t,o,b,d\n1,0,1,40\n", Some(&named)).unwrap();
    assert_eq!((records[0].device, names[0].as_deref()), (0, Some("40")));

    // Times from the calendar must be said to be.
    let text = "t,o,b\n1700000000.5,0,1\n1700000002,0,1\n";
    let map = "time=t:s, offset=o:B, bytes=b:B, op=:read";
    let zero = format!("{map}, origin=zero");
    assert_eq!(read_with("csv", text, Some(&zero)).unwrap().0[1].time.0, 1_700_000_002_000_000_000);
    let first = format!("{map}, origin=first");
    let times = read_with("csv", text, Some(&first)).unwrap().0;
    assert_eq!(times.iter().map(|record| record.time.0).collect::<Vec<_>>(), [0, 1_500_000_000]);
}

#[test]
fn csv_bad_fields_are_named() {
    let table = r#"
    2,7.25 -> -2,7.25 => :3: field 1 (time, column 'ts') is '-2': must be a number of us, from 0 to
        9e9 s
    2,7.25 -> nan,7.25 => :3: field 1 (time, column 'ts') is 'nan'
    2,7.25 -> 1e400,7.25 => :3: field 1 (time, column 'ts') is '1e400'
    2,7.25 -> 9000000000000001,7.25 => :3: field 1 (time, column 'ts')
    2,7.25 -> 18446744073709551615,7.25 => :3: field 1 (time, column 'ts')
    2,7.25 -> ,7.25 => :3: field 1 (time, column 'ts') is ''
    2,7.25 -> 2,x => :3: field 2 (response, column 'rt') is 'x'
    ,4,1,3 -> ,,1,3 => :3: field 3 (device, column 'vol') is ''
    ,4,1,3 -> ,4,2,3 => :3: field 4 (op, column 'type') is '2': must be 0 (read) or 1 (write)
    1,3,1 -> 1,3.001,1 => :3: field 5 (offset, column 'lba') is '3.001': must be a number of 512B
        that is a whole number of bytes
    1,3,1 -> 1,18014398509481985,1 => :3: field 5 (offset, column 'lba')
    1,3,1 -> 1,18014398509481984,1 => :3: field 5 (offset, column 'lba') is '18014398509481984':
        must be such that the request ends
    1,3,1 -> 1,3,0 => :3: field 6 (bytes, column 'len') is '0': must be a number of B that is a
        whole number of bytes from 1
    1,3,1 -> 1,3,1.5 => :3: field 6 (bytes, column 'len') is '1.5'
    1,3,1 -> 1,3 => :3: 5 fields ('2,7.25,4,1,3'): must be 6, as in the first line
    1,3,1 -> 1,3,1,9 => :3: 7 fields
    1,3,1 -> 1,3,"1 => :3: a quote that is not closed
    1,3,1 -> 1,3,"1"1 => :3: a quote that is not closed, or text behind one
    1,3,1 -> 1,3,1\0 => :3: field 6 (bytes, column 'len') is '1\x00'
    "#;
    refuses("csv", CSV, Some(MAP), table);
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
        Record { queue: Some(Nanos(2)), ..with_response(record(5, 7, Read, 512, 1), 9) },
        Record { think: Some(Nanos(3)), ..record(1_577_808_144_360_767_001, 9, Flush, 0, 0) },
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
fn a_column_marks_linked_requests() {
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
    // Our own, with and without the column.
    let old = "time_ns,device,device_name,op,offset_bytes,bytes,response_ns,think_ns,queue_ns\n\
               5,7,,read,512,1,9,,2\n";
    assert_eq!(linked("csv", old.to_owned(), None), [false]);
    let new = old.replace("queue_ns", "queue_ns,linked").replace(",2\n", ",2,1\n");
    assert_eq!(linked("csv", new, None), [true]);
}

proptest! {
    /// Numbers with decimals are read exactly in every unit: compared
    /// with integer arithmetic on the digits.
    #[test]
    fn csv_times_are_exact(whole in 0_u64..9_000_000_000, fraction in 0_u64..1_000_000_000) {
        let text = format!("{whole}.{fraction:09},0,1,r\n");
        let map = "time=1:s,offset=2:B,bytes=3:B,op=4,origin=zero";
        let (records, _) = read_with("csv", text, Some(map)).unwrap();
        prop_assert_eq!(records[0].time.0, whole * 1_000_000_000 + fraction);
    }
}
