//! Text formats, read record by record from hand-written files: DiskSim
//! validation traces, fio logs, blkparse output.

use crate::reference::reference;
use sledsim_base::random::Stream;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_traces::{FORMATS, Input, Options, Reader, Record};
use std::io::Cursor;

fn reader(format: &str, text: &str, options: &Options) -> Box<dyn Reader> {
    let format = FORMATS.iter().find(|known| known.name == format).unwrap();
    let bytes = text.as_bytes().to_vec();
    let input = Input::new("bad.trace", Box::new(Cursor::new(bytes))).unwrap();
    format.open(input, options).unwrap()
}

fn records(format: &str, text: &str) -> Vec<Record> {
    let mut reader = reader(format, text, &Options::default());
    std::iter::from_fn(|| reader.next().unwrap()).collect()
}

fn refusal(format: &str, text: &str) -> String {
    let mut reader = reader(format, text, &Options::default());
    loop {
        match reader.next() {
            Ok(Some(_)) => {}
            Ok(None) => return "none".to_owned(),
            Err(error) => return error.to_string(),
        }
    }
}

/// Every bad line after the good lines is refused with its number.
fn refused(format: &str, good: &str, bad: &[(&str, &str)]) {
    let number = good.lines().count() + 1;
    for (line, wanted) in bad {
        let found = refusal(format, &format!("{good}{line}\n"));
        let wanted = format!("bad.trace:{number}: {wanted}");
        assert!(found.starts_with(&wanted), "{line}\n found {found}\n wanted {wanted}");
    }
    assert_eq!(refusal(format, good), "none");
}

fn data(us: u64, device: u32, op: Op, offset: u64, bytes: u64) -> Record {
    Record { time: Nanos(us * 1000), device, op, offset, bytes, ..Record::default() }
}

#[test]
fn validation_traces_are_read() {
    let text = "R Hit 10 4 663.25 1000.5\r\nW   Doub  1194877    15     17221.0004 0\n";
    let expected = [
        Record {
            op: Op::Read,
            offset: 5120,
            bytes: 2048,
            response: Some(Nanos(663_250)),
            think: Some(Nanos(1_000_500)),
            ..Record::default()
        },
        Record {
            op: Op::Write,
            offset: 1_194_877 * 512,
            bytes: 15 * 512,
            response: Some(Nanos(17_221_000)),
            think: Some(Nanos(0)),
            ..Record::default()
        },
    ];
    assert_eq!(records("disksim_validate", text), expected);
    refused(
        "disksim_validate",
        text,
        &[
            ("X Hit 1 1 1 1", "field 1 (R/W) is 'X': must be R or W"),
            ("r Hit 1 1 1 1", "field 1 (R/W) is 'r': must be"),
            ("R 7 1 1 1 1", "field 2 (buffer) is '7': must be a word such as"),
            ("R Hit -1 1 1 1", "field 3 (blkno) is '-1': must be"),
            ("R Hit 18014398509481985 1 1 1", "field 3 (blkno) is"),
            ("R Hit 1 0 1 1", "field 4 (blocks) is '0': must be"),
            ("R Hit 1 1 x 1", "field 5 (service) is 'x': must be a number of microseconds"),
            ("R Hit 1 1 1 -1", "field 6 (think) is '-1': must be"),
            ("R Hit 1 1 1 9000000000000.1", "field 6 (think) is"),
            ("R Hit 1 1 1", "5 fields ('R Hit 1 1 1'): must be 6, R/W buffer blkno blocks"),
            ("R Hit 1 1 1 1 1", "7 fields ("),
        ],
    );
}

/// The expected counts and sums come from awk: `{n += $4; s += $5; t += $6}`.
#[test]
fn traces_of_measured_drives_are_read_completely() {
    for (drive, requests, reads, words) in [
        ("atlas10k", 10_000, 6569, 1),
        ("atlas_III", 10_000, 6498, 1),
        ("cheetah9LP", 10_000, 6594, 1),
        ("ibm18es", 10_000, 6582, 1),
        ("hp_c2247a", 9999, 5115, 4),
    ] {
        let Some(path) = reference(&format!("reference/drives/{drive}.measured.trace")) else {
            return;
        };
        let (format, input) =
            sledsim_traces::Format::detect(&path, None, &Options::default()).unwrap();
        assert_eq!(format.name, "disksim_validate");
        let mut reader = format.open(input, &Options::default()).unwrap();
        let mut records = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            records.push(record);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut seen: Vec<&str> =
            text.lines().map(|l| l.split_whitespace().nth(1).unwrap()).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), words, "{seen:?}");
        let found = records.iter().filter(|r| r.op == Op::Read).count();
        assert_eq!((records.len(), found), (requests, reads), "{drive}");
        for (record, line) in records.iter().zip(text.lines()) {
            let numbers: Vec<f64> =
                (line.split_whitespace().skip(2)).map(|n| n.parse().unwrap()).collect();
            assert_eq!(record.offset, 512 * numbers[0] as u64);
            assert_eq!(record.bytes, 512 * numbers[1] as u64);
            assert!((record.response.unwrap().0 as f64 - 1e3 * numbers[2]).abs() < 1e-3);
            assert!((record.think.unwrap().0 as f64 - 1e3 * numbers[3]).abs() < 1e-3);
        }
    }
}

const FIO3: &str = "\
fio version 3 iolog
0 /dev/sda add
1 /dev/sdb add
2 /dev/sda open
10 /dev/sda read 4096 512
11 /dev/sdb write 0 1
11 /dev/sda sync 0 0
12 /dev/sda datasync 0 0
13 /dev/sdb trim 1048576 4096
14 /dev/sda write 4611686018427387904 100
20 /dev/sda close
";

#[test]
fn fio_version_3_is_read() {
    let expected = [
        data(10, 0, Op::Read, 4096, 512),
        data(11, 1, Op::Write, 0, 1),
        data(11, 0, Op::Flush, 0, 0),
        data(12, 0, Op::Flush, 0, 0),
        data(13, 1, Op::Trim, 1_048_576, 4096),
        data(14, 0, Op::Write, 1 << 62, 100),
    ];
    assert_eq!(records("fio_iolog", FIO3), expected);
    let mut reader = reader("fio_iolog", FIO3, &Options::default());
    while reader.next().unwrap().is_some() {}
    assert_eq!(reader.not_requests(), 4);
    let names = [0, 1, 2].map(|device| reader.device_name(device));
    assert_eq!(names, [Some("/dev/sda"), Some("/dev/sdb"), None]);
    refused(
        "fio_iolog",
        FIO3,
        &[
            ("x a read 0 512", "field 1 (time) is 'x': must be a whole number of microsec"),
            ("1.5 a read 0 512", "field 1 (time) is '1.5': must be"),
            ("9000000000000001 a read 0 512", "field 1 (time) is '90"),
            ("1 a fly 0 512", "field 3 (action) is 'fly': must be read, write, trim, sync"),
            ("1 a fly", "field 3 (action) is 'fly': must be"),
            ("1 a wait 7 0", "field 3 (action) is 'wait': must be"),
            ("1 a read x 512", "field 4 (offset) is 'x': must be a whole number of bytes"),
            ("1 a read -512 512", "field 4 (offset) is '-512': must be"),
            ("1 a read 4611686018427387905 1", "field 4 (offset) is '4"),
            ("1 a read 0 0", "field 5 (length) is '0': must be a whole number of bytes from 1"),
            ("1 a trim 0 x", "field 5 (length) is 'x': must be"),
            ("1 a read 0", "4 fields ('1 a read 0'): must be 5, time file action offset length"),
            ("1 a read 0 1 1", "6 fields ("),
            ("1 a open 0 0", "5 fields ('1 a open 0 0'): must be 3, time file action"),
            ("1", "1 fields ('1'): must be 5"),
            ("1 a", "2 fields ('1 a'): must be 5"),
            ("1 \u{7}a read 0 1", "field 2 (file) is '\\x07a': must be a name"),
        ],
    );
}

const FIO2: &str = "\
fio version 2 iolog
f add
wait add
f open
f read 0 512
wait 100
f write 512 1024
wait open
wait read 0 512
f wait 50 0
f sync 0 0
wait 7
g trim 0 512
f close
";

#[test]
fn fio_version_2_is_read() {
    let expected = [
        data(0, 0, Op::Read, 0, 512),
        data(100, 0, Op::Write, 512, 1024),
        data(100, 1, Op::Read, 0, 512),
        data(150, 0, Op::Flush, 0, 0),
        data(157, 2, Op::Trim, 0, 512),
    ];
    assert_eq!(records("fio_iolog", FIO2), expected);
    refused(
        "fio_iolog",
        FIO2,
        &[
            ("wait x", "field 2 (time) is 'x': must be a whole number of microseconds"),
            ("wait -1", "field 2 (time) is '-1': must be"),
            ("f wait x 0", "field 3 (offset) is 'x': must be"),
            ("wait 9000000000000000", "the waits so far add up to more than 285 years"),
            ("f read 0", "3 fields ('f read 0'): must be 4, file action offset length"),
            ("1 f read 0 512", "field 2 (action) is 'f': must be read,"),
            ("f", "1 fields ('f'): must be 4"),
        ],
    );
    for (text, found) in
        [("fio version 1 iolog\n", "fio version 1 iolog"), ("f read 0 512\n", "f read 0 512")]
    {
        let wanted = format!(
            "bad.trace:1: '{found}': must be 'fio version 2 iolog' or 'fio version 3 iolog'"
        );
        assert_eq!(refusal("fio_iolog", text), wanted);
    }
}

const BLK: &str = "\
Input file sda.blktrace.0 added
  8,0    1        1     0.000000000  1234  A  RM 2056 + 8 <- (8,1) 8
  8,1    1        2     0.000000123  1234  Q  RM 2056 + 8 [kworker/0:1 H]
  8,1    1        3     0.000001000  1234  G  RM 2056 + 8 [cat]
  8,1    1        4     0.000002000  1234  P   N [cat]
  8,1    1        5     0.000003000  1234  U   N [cat] 1
  8,1    1        6     0.000004000  1234  I  RM 2056 + 8 [cat]
  8,1    1        7     0.000005000  1234  D  RM 2056 + 8 [cat]
  8,1    1        8     0.002005000     0  C  RM 2056 + 8 [0]
  8,16   0        1     1.500000000    77  Q  WS 100 + 16 [jbd2/sda1-8]
  8,16   0        2     1.600000000    77  Q FWFSM 116 + 8 [jbd2/sda1-8]
  8,16   0        3     1.700000000    77  Q FWS [jbd2/sda1-8]
  8,16   0        4     1.710000000    77  D  FN [kworker/0:1H]
  8,16   0        5     1.720000000    77  C  FN 0 [0]
  8,0    0        0     1.800000000     0  m   N cfq77S / schedule dispatch
  8,16   0        6     1.900000000    77  Q  DS 4096 + 1024 [fstrim]
  8,16   0        7     1.910000000    77  Q   R 36 (12 00 00 00 24 00) [hdparm]
  8,16   0        8     1.920000000    77  Q   R (12 00 00 00 24 00) [hdparm]
  8,16   0        9     1.930000000    77  Q   N [hdparm]
  8,16   0        9     1.935000000    77  Q  ZR 524288 + 524288 [mkfs]
  8,16   0       10     1.940000000    77  X  WS 100 / 108 [x]
  8,16   0       11  9000000000.000000000    77  D  RA 9007199254740992 + 1 (       7) [x]
CPU0 (8,16):
 Reads Queued:           1,        4KiB\t Writes Queued:           3,       12KiB
Total (sda):
 Read Merges:            0,        0KiB

Throughput (R/W): 4KiB/s / 12KiB/s
Events (sda): 21 entries
Skips: 0 forward (0 -   0.0%)
";

#[test]
fn blkparse_text_is_read() {
    let nanos = |ns: u64, record: Record| Record { time: Nanos(ns), ..record };
    let queued = [
        nanos(123, data(0, 0, Op::Read, 2056 * 512, 4096)),
        data(1_500_000, 1, Op::Write, 51_200, 8192),
        data(1_600_000, 1, Op::Write, 116 * 512, 4096),
        data(1_700_000, 1, Op::Flush, 0, 0),
        data(1_900_000, 1, Op::Trim, 4096 * 512, 1024 * 512),
    ];
    assert_eq!(records("blkparse", BLK), queued);
    let issued = [
        data(5, 0, Op::Read, 2056 * 512, 4096),
        data(1_710_000, 1, Op::Flush, 0, 0),
        data(9_000_000_000_000_000, 1, Op::Read, 1 << 62, 512),
    ];
    let completed =
        [data(2005, 0, Op::Read, 2056 * 512, 4096), data(1_720_000, 1, Op::Flush, 0, 0)];
    use sledsim_traces::BlkAction::{Complete, Issue, Queue};
    for (action, expected) in [(Queue, &queued[..]), (Issue, &issued), (Complete, &completed)] {
        let options = Options { blk_action: Some(action), ..Options::default() };
        let mut reader = reader("blkparse", BLK, &options);
        let mut found = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            found.push(record);
        }
        assert_eq!(found, expected);
        // All lines but the blank one are requests or counted as none.
        let lines = BLK.lines().count() - 1;
        assert_eq!(reader.not_requests() as usize, lines - expected.len());
        let names = [0, 1, 2].map(|device| reader.device_name(device));
        assert_eq!(names, [Some("8,1"), Some("8,16"), None]);
    }
    // Without requests the error lists the events.
    let lines = (BLK.lines()).filter(|line| line.split_whitespace().nth(5) != Some("Q"));
    let others: String = lines.map(|line| format!("{line}\n")).collect();
    let mut reader = reader("blkparse", &others, &Options::default());
    assert_eq!(reader.next().unwrap(), None);
    let why = reader.no_requests_reason().unwrap();
    assert!(why.starts_with("no requests: none of its events is Q, they are "), "{why}");
    assert!(why.ends_with("; give --blk-action D or --blk-action C (blk_action)"), "{why}");
    for action in ["C", "D"] {
        let of_it = |line: &&str| line.split_whitespace().nth(5) == Some(action);
        let count = others.lines().filter(of_it).count();
        assert!(why.contains(&format!("{count} {action}")), "{why}");
    }
    let events: String = (BLK.lines().take_while(|line| !line.starts_with("CPU")))
        .map(|line| format!("{line}\n"))
        .collect();
    // Letters behind the kind make no difference: WZ writes zeroes (Linux, blk_fill_rwbs).
    for (rwbs, op) in [
        ("WZ", Op::Write),
        ("FWFSMU", Op::Write),
        ("RAM", Op::Read),
        ("DE", Op::Trim),
        ("FE", Op::Trim),
    ] {
        let line = format!("8,0 0 1 2.0 7 Q {rwbs} 1 + 1 [x]\n");
        assert_eq!(records("blkparse", &line)[0].op, op, "{rwbs}");
    }
    refused(
        "blkparse",
        &events,
        &[
            ("8 0 1 2.0 7 Q R 1 + 1 [x]", "field 1 (device) is '8': must be major,minor"),
            ("8,1,2 0 1 2.0 7 Q R 1 + 1 [x]", "field 1 (device) is '8,1,2': must be"),
            ("8,0 x 1 2.0 7 Q R 1 + 1 [x]", "field 2 (cpu) is 'x': must be a whole number"),
            ("8,0 0 x 2.0 7 Q R 1 + 1 [x]", "field 3 (sequence) is 'x': must be"),
            ("8,0 0 1 -2.0 7 Q R 1 + 1 [x]", "field 4 (time) is '-2.0': must be a number"),
            ("8,0 0 1 9000000000.1 7 Q R 1 + 1 [x]", "field 4 (time) is '9"),
            ("8,0 0 1 2.0 x Q R 1 + 1 [x]", "field 5 (pid) is 'x': must be"),
            ("8,0 0 1 2.0 7 5 R 1 + 1 [x]", "field 6 (action) is '5': must be a word"),
            ("8,0 0 1 2.0 7 Q X 1 + 1 [x]", "field 7 (rwbs) is 'X': must be R, W, D"),
            ("8,0 0 1 2.0 7 Q R x + 1 [x]", "field 8 (sector) is 'x': must be"),
            ("8,0 0 1 2.0 7 Q R 18014398509481985 + 1 [x]", "field 8 (sector) is '1"),
            ("8,0 0 1 2.0 7 Q R 1 / 1 [x]", "field 9 (+) is '/': must be a plus sign"),
            ("8,0 0 1 2.0 7 Q R 1 + x [x]", "field 10 (blocks) is 'x': must be"),
            (
                "8,0 0 1 2.0 7 Q R 1 + 18014398509481985 [x]",
                "field 10 (blocks) is '18014398509481985'",
            ),
            ("8,0 0 1 2.0 7 Q", "6 fields ("),
            (" Reads Queued: 1", "field 1 (device) is 'Reads': must be"),
        ],
    );
}

/// The first line of a device is read word by word, the others mostly in one pass: of each
/// line both say the same.
#[test]
fn blkparse_lines_mean_the_same_first_and_later() {
    let fields: [&[&str]; 10] = [
        &["8,0", "8,0", "8,0", "8", "8,0,1"],
        &["0", "17", "x", "00000000000000000000001"],
        &["1", "4294967296", "-1"],
        &["0.5", "1", "1.", ".5", "2.0000000010", "8999999999.999999999", "9000000000.000000001"],
        &["0", "77", "7x"],
        &["Q", "Q", "Q", "D", "QM", "5"],
        &["R", "R", "WS", "RAM", "FN", "FWFS", "F", "D", "N", "ZR", "X"],
        &["0", "8", "18014398509481983", "18014398509481984", "18446744073709551615", "(12", "x"],
        &["+", "+", "+", "+", "/", "["],
        &["1", "8", "8", "0", "18014398509481984", "99999999999999999999", "x", "[0]"],
    ];
    let mut random = Stream::new(1, "lines");
    let mut read = 0;
    for _ in 0..30_000 {
        let words: Vec<_> =
            fields.iter().map(|all| all[random.below(all.len() as u64) as usize]).collect();
        let count = 10 - random.below(9).saturating_sub(4) as usize;
        let process = ["  [x]", " "][random.below(2) as usize];
        let line = format!("  {}{process}\n", words[..count].join(["  ", "\t"][count % 2]));
        let outcome = |before: &str| {
            let mut reader = reader("blkparse", &format!("{before}{line}"), &Options::default());
            let said = |problem: sledsim_base::error::Error| {
                problem.to_string().splitn(3, ':').nth(2).map(str::to_owned)
            };
            for _ in before.lines() {
                reader.next().unwrap().unwrap();
            }
            (reader.next().map_err(said), reader.not_requests())
        };
        let alone = outcome("");
        read += usize::from(matches!(alone, (Ok(Some(_)), _)));
        assert_eq!(outcome("8,0 0 1 2.0 7 Q R 1 + 1 [x]\n"), alone, "{line}");
    }
    assert!(read > 200, "{read} requests");
}

/// Fields end at the separator alone, of any length and with any bytes: next to it in ASCII,
/// and with the same lowest bits.
#[test]
fn fields_of_a_csv_are_those_between_its_separators() {
    let pieces = ["", " ", "-", "+", "a", "\u{ac}", "long text", "~", "0"];
    let mut random = Stream::new(1, "fields");
    for separator in [',', ';'] {
        let mut lines = String::new();
        let mut expected = Vec::new();
        for _ in 0..5000 {
            let mut any = || {
                (0..random.below(5)).map(|_| pieces[random.below(9) as usize]).collect::<String>()
            };
            let name = format!("{}n{}", any(), any());
            let fields = [&any(), "7", &any(), "R", &name, "512", "1024", &any()];
            let line = fields.join(&separator.to_string());
            expected.push(line.split(separator).nth(4).unwrap().trim().to_owned());
            lines += &format!("{line}\n");
        }
        let separator = if separator == ',' { "comma" } else { "semicolon" };
        let columns =
            format!("separator={separator}, time=2:ns, op=4, device=5:name, offset=6:B, bytes=7:B");
        let options = Options { columns: Some(columns), ..Options::default() };
        let mut reader = reader("csv", &lines, &options);
        for (line, name) in expected.iter().enumerate() {
            let record = reader.next().unwrap().unwrap();
            assert_eq!(reader.device_name(record.device), Some(name.as_str()), "line {line}");
            let found = (record.time, record.op, record.offset, record.bytes);
            assert_eq!(found, (Nanos(7), Op::Read, 512, 1024), "line {line}");
        }
        assert_eq!(reader.next().unwrap(), None);
    }
}

/// The first bytes contain only events of other kinds.
#[test]
fn detection_accepts_a_file_whose_first_bytes_have_no_request() {
    let line = "  8,0    0        0     1.800000000     0  m   N cfq77S / schedule dispatch\n";
    let text = format!("{}  8,0 0 1 2.0 7 Q R 1 + 1 [x]\n", line.repeat(4000));
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("late.txt");
    std::fs::write(&path, text).unwrap();
    let (format, _) = sledsim_traces::Format::detect(&path, None, &Options::default()).unwrap();
    assert_eq!(format.name, "blkparse");
}
