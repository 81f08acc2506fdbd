//! The meaning of keys, and the messages for invalid ones.

use super::{FRONT, memories, read, requests, seen};
use crate::common::run_open;
use sledsim_base::request::Op;
use sledsim_core::compose::hybrids::mwb::MwbSpec;

use Op::Write;

#[test]
fn errors_name_the_key_and_the_allowed_values() {
    let device = |keys: &str, front: u64, back: u64| -> String {
        let text = format!(
            "title = 'M'\nkind = 'mwb'\n{keys}\n[front]\nbase = 'memory'\nblocks = {front}\n\
             [back]\nbase = 'memory'\nblocks = {back}\n"
        );
        match read(&text) {
            Ok(_) => "fine".into(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(device("", 512, 512), "fine");
    let cases: [(&str, u64, u64, &[&str]); 18] = [
        ("", 511, 9000, &["front", "two logs of 128 KiB"]),
        ("", 100, 9000, &["front", "128 KiB"]),
        ("front_mib = 0.125", 9000, 9000, &["mwb.toml:3: front_mib", "two logs"]),
        ("front_mib = 100", 9000, 9000, &["front_mib", "4.39"]),
        ("", 9000, 8000, &["front", "3.90", "of the back"]),
        ("front_mib = 4", 9000, 8000, &["front_mib = 4", "3.90"]),
        ("log_kib = 0.3", 900, 9000, &["log_kib", "multiple of 512 bytes"]),
        ("log_kib = 1", 900, 9000, &["log_kib", "1.5", "16384 KiB"]),
        ("log_kib = 0", 900, 9000, &["log_kib"]),
        ("log_kib = 32768", 1 << 22, 1 << 22, &["log_kib", "16384 KiB"]),
        ("buffer_kib = 127", 900, 9000, &["buffer_kib", "128 (a log)"]),
        ("buffer_kib = 0", 900, 9000, &["buffer_kib"]),
        ("clean_logs = 17", 9000, 9000, &["clean_logs", "1 to 16"]),
        ("clean_above = 1.1", 900, 9000, &["clean_above", "1"]),
        ("clean_to = 0", 900, 9000, &["clean_to"]),
        (
            "clean_above = 0.3\nclean_idle_above = 0.4",
            900,
            9000,
            &["mwb.toml:4: clean_idle_above", "at most clean_above, which is 0.3"],
        ),
        ("clean_to = 0.6", 900, 9000, &["clean_to", "at most clean_idle_above, which is 0.5"]),
        ("clean_after_idle_ms = -1", 900, 9000, &["clean_after_idle_ms"]),
    ];
    for (keys, front, back, says) in cases {
        let message = device(keys, front, back);
        for part in says {
            assert!(message.contains(part), "{keys}: {message}");
        }
    }
    let missing = read("title = 'M'\nkind = 'mwb'\n[front]\nbase = 'memory'\n");
    let message = missing.expect_err("no back").to_string();
    assert!(message.contains("back") && message.contains("missing; must be a table"), "{message}");
    // Thresholds that are not given follow those that are.
    assert_eq!(device("clean_above = 0.3", 900, 9000), "fine");
    assert_eq!(device("clean_idle_above = 0.3", 900, 9000), "fine");
}

#[test]
fn derived_quantities_are_shown() {
    let text = "title = 'MWB'\nkind = 'mwb'\nfront_mib = 256\n\
                [front]\nbase = 'msst2005'\n[back]\nbase = 'atlas10k-50mbps'\n";
    let device = read(text).expect("a device");
    let [front, back] = [0, 1].map(|child: usize| device.children()[child].blocks());
    let spec = MwbSpec::read(&mut device.resolved_keys().clone(), front, back).expect("a spec");
    let derived = spec.derived(back);
    // 256 MiB in logs of 128 KiB; a buffer of 2 MiB holds 16 of them.
    assert_eq!(derived.logs, 2048);
    assert_eq!(derived.clean_logs, 16);
    assert_eq!(derived.clean_above_logs, 1843);
    let mut back = text.split("[back]").skip(1);
    let back = format!("title = 'back'\n{}", back.next().expect("a back"));
    assert_eq!(device.blocks(), read(&back).expect("a disk").blocks());
    assert_eq!((device.kind(), device.has_positions()), ("mwb", true));
}

#[test]
fn the_logs_lie_where_they_are_placed() {
    let list = requests(&[(0, Write, 0, 6), (10_000, Write, 50, 6)]);
    let first = |place: &str| -> Vec<u64> {
        let keys = format!("log_kib = 4\nfront_mib = 0.0625\nfront_placement = '{place}'");
        let rows = run_open(&mut *memories(&keys, 1000, 8000), &list);
        seen(&rows, FRONT, true).iter().map(|row| row.1).collect()
    };
    // 16 logs of 8 blocks in 1,000.
    assert_eq!(first("first"), [1, 9]);
    assert_eq!(first("centre"), [1 + 436, 9 + 436]);
    assert_eq!(first("whole"), [1, 1 + 62]);
}
