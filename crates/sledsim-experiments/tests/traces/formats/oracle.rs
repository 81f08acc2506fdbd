//! oracleGeneral, which is refused as a trace of requests.

use super::{SRT, SRT_HEADER, VSCSI, message, srt};
use sledsim_experiments::formats::options;
use sledsim_traces::Format;

fn oracle(time: u32, size: u32, next: i64) -> Vec<u8> {
    let mut record = time.to_le_bytes().to_vec();
    record.extend(0x1234_5678_9abc_def0_u64.to_le_bytes());
    record.extend(size.to_le_bytes());
    record.extend(next.to_le_bytes());
    record
}

#[test]
fn oracle_general_is_refused_with_the_reason() {
    let file = [oracle(0, 4_096, 2), oracle(0, 512, -1), oracle(1, 4_096, -1)].concat();
    let reason = "oracleGeneral traces cannot drive a timing simulation: their times are whole \
                  seconds, and they do not say what is a read and what a write";
    let found = message("oracle_general", &file);
    assert!(found.contains(reason) && !found.contains("look like"), "{found}");
    let found = message("oracle_general", "0,20941264,8192,W,0.551706\n1,1,512,R,1\n");
    assert!(found.contains("does not look like one"), "{found}");

    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("x.bin");
    std::fs::write(&path, &file).unwrap();
    let (format, input) = Format::detect(&path, None, &options()).unwrap();
    assert_eq!(format.name, "oracle_general");
    let found = format.open(input, &options()).map(|_| ());
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
