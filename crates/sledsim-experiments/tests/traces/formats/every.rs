//! Properties of every format: no bytes make it panic, and its files are
//! recognised.

use super::{CSV, MAP, SRT, SRT_HEADER, VSCSI, Vscsi, format, srt};
use proptest::prelude::*;
use sledsim_base::request::Op;
use sledsim_experiments::formats::{all, options};
use sledsim_traces::{END_BYTES, Format, Input, Options};
use std::io::Cursor;

use Op::Flush;

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
    let options = Options { columns: columns.map(str::to_owned), ..Options::default() };
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
}

#[test]
fn detection_recognises_all_formats() {
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
