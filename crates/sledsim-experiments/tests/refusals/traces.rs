//! Lines and keys of traces.

use crate::common::refusals::refuse;
use crate::traces::formats::read_with;
use crate::traces::reading::{SMALL, file, replay};

#[test]
fn lines() {
    let table = r#"
    2 0 abc 1 1 => :3: field 3 (first block) is 'abc': must be a whole number of 512-byte blocks
        from 0 to byte 2^63
    2 0 18014398509481985 1 1 => :3: field 3 (first block) is '18014398509481985': must be
    2 0 99999999999999999999999 1 1 => :3: field 3 (first block) is '99999999999999999999999': must
    2 0 -5 1 1 => :3: field 3 (first block) is '-5': must be
    2 0 5.0 1 1 => :3: field 3 (first block) is '5.0': must be
    x 0 5 1 1 => :3: field 1 (time) is 'x': must be a number of milliseconds from 0 to 9e9 s
    -2 0 5 1 1 => :3: field 1 (time) is '-2': must be
    1,5 0 5 1 1 => :3: field 1 (time) is '1,5': must be
    1.2.3 0 5 1 1 => :3: field 1 (time) is '1.2.3': must be
    . 0 5 1 1 => :3: field 1 (time) is '.': must be
    nan 0 5 1 1 => :3: field 1 (time) is 'nan': must be
    9000000000000.000001 0 5 1 1 => :3: field 1 (time) is '9000000000000.000001': must be
    99999999999999999999 0 5 1 1 => :3: field 1 (time) is '99999999999999999999': must be
    2 4294967296 5 1 1 => :3: field 2 (device) is '4294967296': must be a whole number from 0
    2 sda 5 1 1 => :3: field 2 (device) is 'sda': must be
    2 0 5 0 1 => :3: field 4 (blocks) is '0': must be a whole number of 512-byte blocks from 1
    2 0 5 18014398509481980 1 => :3: field 4 (blocks) is '18014398509481980': must be
    2 0 5 1 R => :3: field 5 (flags) is 'R': must be a hexadecimal number
    2 0 5 1 0x => :3: field 5 (flags) is '0x': must be
    2 0 5 1 11111111111111111 => :3: field 5 (flags) is '11111111111111111': must be
    2 0 5 1 => :3: 4 fields ('2 0 5 1'): must be 5, time device first block blocks flags
    2 0 5 1 1 7 => :3: 6 fields ('2 0 5 1 1 7'): must be 5
    2 0 5 1 1 # ok => :3: 7 fields (
    0.5 0 5 1 1 => :3: time 0.500000 ms is before 1.000000 ms, the request above
    "#;
    let good = "1 0 5 1 1\n";
    refuse(table, |line| {
        let (_folder, path) = file(format!("{good}\n{line}\n{good}"));
        replay(&path, "", 1 << 62).map(drop)
    });
}

#[test]
fn keys() {
    let table = r#"
    time_scale = 0 => :1: time_scale = 0: must be at least 0.000001
    time_scale = 2 ; queue_depth = 1 => :1: time_scale = 2: must not be given with queue_depth or
        think_ms: a closed replay ignores the times
    trace_device = 1.5 => :1: trace_device = 1.5: must be an integer from 0 to 4294967295, or a
        string in quotes
    trace_device = -1 => :1: trace_device = -1: must be an integer from 0
    address = "eror" => :1: address = "eror": must be "error", "wrap", "scale" or
    requests = 0 => :1: requests = 0: must be an integer of at least 1
    trace_format = "srt" => :1: trace_format = "srt": must be "disksim_ascii"
    rate = 3 => :1: unknown key 'rate'
    "#;
    let (_folder, path) = file(SMALL);
    refuse(table, |keys| replay(&path, keys, 10_000).map(drop));
}

#[test]
fn columns() {
    let table = r#"
    => columns: '' must be NAME=COLUMN or NAME=COLUMN:UNIT
    time => columns: 'time' must be NAME=COLUMN
    time= => columns: 'time=' names no column
    tme=ts:us => columns: 'tme' is unknown; did you mean 'time'?
    time=ts:us,time=x:us => columns: 'time' is given twice
    op=:read,op=x => columns: 'op' is given twice
    time=ts:us => columns: no 'offset': give offset=lba:512B
    offset=o:B,bytes=b:B,op=o => columns: no 'time': give time=ts:us
    time=t:us,offset=o:B,bytes=b:B => columns: no 'op': give op=type
    time=ts:h => columns: time=ts:h has an unknown unit: must be s, ms, us, ns, or a number of one
        such as 100ns
    time=ts:0ns => columns: time=ts:0ns has an unknown unit
    time=ts: => columns: time=ts: has an unknown unit
    offset=o:KB => columns: offset=o:KB has an unknown unit: must be B, KiB
    offset=o:99999999999999999999B => unknown unit
    device=d:B => columns: device=d:B: 'device' has no unit
    time=:5s => columns: 'time' names no column, as in time=COLUMN
    op=:flush => columns: op=:flush must be :read or :write
    bytes=:many => columns: bytes=:many must be a size, as in :4096B
    op=o:0 => columns: op values '0' must be READ/WRITE
    op=o:0/0 => columns: op values '0/0' must be
    op=o:0/1/2/3/4 => columns: op values '0/1/2/3/4' must be
    separator=pipe => columns: separator=pipe must be comma, semicolon, tab or blanks
    origin=last => columns: origin=last must be first or zero
    time="t:us => columns: a quote is not closed
    time=0:us => columns: column 0 must be a number from 1 to 65536
    time=1:us,offset=o:B,bytes=2:B,op=3 => columns: columns must be all names or all numbers
    time=t:us,offset=o:B,bytes=b:B,op=p,device_name=n => columns: device_name goes with
    time=t,offset=o:B,bytes=b:B,op=p => columns: time=t has no unit: must be s, ms, us, ns, or a
        number of one such as 100ns, as in time=t:us
    time=t:us,offset=o,bytes=b:B,op=p => columns: offset=o has no unit: must be B, KiB, MiB, GiB,
        or a number of one such as 512B, as in offset=o:B
    time=t:us,offset=o:B,bytes=b,op=p => columns: bytes=b has no unit
    time=t:us,offset=o:B,bytes=b:B,op=p,response=r => columns: response=r has no unit
    time=z:us,offset=o:B,bytes=b:B,op=p => t:1: no column 'z': the header has t, o, b, p
    time=t:us,offset=o:B,bytes=b:B,op=p,separator=tab => t:1: no column 't': the header has t;o;b;p
    time=t:us,offset=t:B,bytes=b:B,op=p => t:1: columns: 't' cannot be both time and offset
    time=1:us,offset=2:B,bytes=3:B,op=9 => t:1: no column 9 (op): the first line has 4 fields
    time=1:us,offset=1:B,bytes=3:B,op=4 => t:1: columns: 1 cannot be both time and offset
    time=1:us,offset=2:B,bytes=3:B,op=4 => t:1: field 4 (op) is 'p'
    "#;
    refuse(table, |columns| read_with("csv", "t;o;b;p\n1;0;1;r\n", Some(columns)).map(drop));
    let table = "time=t:us,offset=o:B,bytes=b:B,op=p =>
        two columns are called 't': give the columns by number";
    refuse(table, |columns| read_with("csv", "t,o,b,p,t\n", Some(columns)).map(drop));
}

#[test]
fn fields_of_columns() {
    // Columns, if any, then lines.
    let table = r#"
    - ; a,b ; 1,2 =>
        :1: the header is not sledsim's: give roles and units of the columns by --columns "
    time=t:ns,offset=o:B,bytes=b:B,op=:read,device=d ; t,o,b,d ; 1,0,1,3 ; 2,0,1,7 ; 3,0,1,sdb =>
        :4: field 4 (device, column 'd') is 'sdb'
    time=t:s,offset=o:B,bytes=b:B,op=:read ; t,o,b ; 1700000000.5,0,1 =>
        :2: the first time is 1700000000 s, 53.9 years | add origin=first | origin=zero
    time=t:s,offset=o:B,bytes=:1B,op=:read,origin=first ; t,o ; 1700000002,0 ; 1700000000.25,0 =>
        :3: field 1 (time, column 't') is '1700000000.25': must be at or after
    time=t:us,offset=o:B,bytes=b:B,op=p ; t,o,b,p ; 1,0,1,0 =>
        :2: field 4 (op, column 'p') is '0': must be read, write | op=COLUMN:0/1
    time=t:us,offset=o:B,bytes=:512B,op=:read,linked=more ; t,o,more ; 1,0,1 ; 1,0,yes =>
        :3: field 3 (linked, column 'more') is 'yes': must be 1 or true, 0
    "#;
    refuse(table, |given| {
        let (columns, lines) = given.split_once('\n').expect("columns and lines");
        read_with("csv", lines, (columns != "-").then_some(columns)).map(drop)
    });
}
