//! The meaning of keys.

use super::{FRONT, memories, read, requests, seen};
use crate::common::run_open;
use sledsim_base::request::Op;
use sledsim_core::compose::hybrids::mwb::MwbSpec;

use Op::Write;

/// Thresholds that are not given follow those that are.
#[test]
fn any_threshold_may_be_given_alone() {
    for keys in ["clean_above = 0.3", "clean_idle_above = 0.3"] {
        let _ = memories(keys, 900, 9000);
    }
    let _ = memories("", 512, 512);
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
