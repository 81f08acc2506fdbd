//! VMware vSCSI: its versions and opcodes, and errors about bad records.

use super::{VSCSI, Vscsi, message, read, record, with_response};
use sledsim_base::request::Op;
use sledsim_traces::END_BYTES;

use Op::{Flush, Read, Write};

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
            let made = Vscsi { opcode, version: version << 8 | 3, ..VSCSI };
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
    let two = Vscsi { version: 0x0200, ..VSCSI };
    let table = [
        (Vscsi { opcode: 0x42, ..VSCSI }, "opcode is 0x42: must be a SCSI READ"),
        (Vscsi { opcode: 0x128, ..VSCSI }, "opcode is 0x128"),
        (Vscsi { version: 0x0300, ..VSCSI }, "version is 3: must be"),
        (Vscsi { bytes: 0, ..VSCSI }, "bytes is 0: must be at least 1"),
        (Vscsi { lbn: u64::MAX, ..VSCSI }, "LBN is 18446744073709551615"),
        (Vscsi { lbn: (1 << 54) - 7, ..VSCSI }, "LBN is 18014398509481977"),
        (Vscsi { us: 9_000_000_000_000_001, ..VSCSI }, "time is 9000000000000001 us"),
        (Vscsi { us: u64::MAX, ..VSCSI }, "time is 18446744073709551615 us"),
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
    let late = Vscsi { response_us: u64::MAX, ..two };
    let found = message("vscsi", [two.v2(), late.v2()].concat());
    assert!(found.contains("byte 40: response is 18446744073709551615 us"), "{found}");
    let found = message("vscsi", [0; 64]);
    assert!(found.starts_with("t: byte 0: not a vSCSI trace"), "{found}");
    let last = (1 << 54) - 8;
    assert_eq!(read("vscsi", Vscsi { lbn: last, ..VSCSI }.v1())[0].offset, END_BYTES - 4_096);
    let mut cut = [VSCSI.v1(), VSCSI.v1()].concat();
    cut.truncate(63);
    let found = message("vscsi", cut);
    let expected = "t: byte 32: the file ends in the middle of a record: 31 of 32 bytes";
    assert_eq!(found, expected);
}
