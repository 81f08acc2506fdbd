//! Mapping of requests: devices, addresses and offsets.

use super::{TWO, file, lbns, message, open, replay};
use proptest::prelude::*;
use serde_json::{Value, json};
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;
use std::collections::BTreeSet;

#[test]
fn several_devices_need_a_choice() {
    assert_eq!(
        message(TWO, "", 100),
        "bad.trace:3: device 7, after requests of device 3: give trace_device = 3 (or another), \
         \"all\" for one shared address space, or \"separate\" to lay the devices one after the other"
    );
    assert_eq!(
        message(TWO, "trace_device = 5", 100),
        "bad.trace: no requests of trace_device = 5; the trace has 3, 7"
    );
    assert_eq!(
        message(TWO, "trace_device = \"sda\"", 100),
        "bad.trace: no requests of trace_device = \"sda\"; the trace has 3, 7"
    );
    let (_folder, path) = file(TWO);
    for name in ["7", "\"7\""] {
        let (one, facts) = replay(&path, &format!("trace_device = {name}"), 100).unwrap();
        assert_eq!((lbns(&one), one[0].arrival, one[0].stream), (vec![90], Nanos(3_000_000), 7));
        assert_eq!(
            (&facts["trace_device"], &facts["other_devices_requests"]),
            (&json!(7), &json!(3))
        );
    }
    let (all, facts) = replay(&path, "trace_device = \"all\"", 100).unwrap();
    assert_eq!(lbns(&all), [10, 11, 90, 12]);
    assert_eq!(all.iter().map(|r| r.stream).collect::<Vec<_>>(), [3, 3, 7, 3]);
    assert_eq!(facts["trace_device"], "all");
    assert_eq!(
        facts["devices"],
        json!([
            { "device": 3, "requests": 3, "first_block": 0 },
            { "device": 7, "requests": 1, "first_block": 0 },
        ])
    );
    // Device 3 ends at 13: device 7 begins at the next multiple of 8.
    let (separate, facts) = replay(&path, "trace_device = \"separate\"", 108).unwrap();
    assert_eq!(lbns(&separate), [10, 11, 16 + 90, 12]);
    assert_eq!((&facts["trace_device"], &facts["span_blocks"]), (&json!("separate"), &json!(108)));
    assert_eq!(facts["devices"][1]["first_block"], 16);
    assert_eq!(
        message(TWO, "trace_device = \"separate\"", 107),
        "bad.trace:3: blocks 106 to 107: the device has 107; give address = \"wrap\", address = \
         \"scale\" or address = \"compact\" to fit the trace to the device"
    );
    // Only as far as it is read.
    let (two, facts) = replay(&path, "requests = 2", 100).unwrap();
    assert_eq!((two.len(), &facts["requests"]), (2, &json!(2)));
    // The times of other devices do not matter.
    let back = "9 3 1 1 1\n1 7 2 1 1\n2 7 3 1 1\n";
    let (_folder, path) = file(back);
    let (one, _) = replay(&path, "trace_device = 7", 100).unwrap();
    assert_eq!(lbns(&one), [2, 3]);
}

#[test]
fn addresses_are_refused_wrapped_or_scaled() {
    let text = "1 0 0 4 1\n2 0 97 3 1\n3 0 98 4 1\n4 0 205 2 1\n5 0 399 1 1\n";
    assert_eq!(
        message(text, "", 100),
        "bad.trace:3: blocks 98 to 101: the device has 100; give address = \"wrap\", \
         address = \"scale\" or address = \"compact\" to fit the trace to the device"
    );
    let (_folder, path) = file(text);
    let (wrapped, facts) = replay(&path, "address = \"wrap\"", 100).unwrap();
    assert_eq!(lbns(&wrapped), [0, 97, 96, 5, 99]);
    let counts = |facts: &Value| ["wrapped", "scaled", "moved"].map(|key| facts[key].as_u64());
    assert_eq!(counts(&facts), [Some(2), Some(0), Some(1)]);
    // The span is 400: a quarter, lengths kept.
    let (scaled, facts) = replay(&path, "address = \"scale\"", 100).unwrap();
    assert_eq!(lbns(&scaled), [0, 24, 24, 51, 99]);
    assert_eq!(counts(&facts), [Some(0), Some(4), Some(0)]);
    assert_eq!(facts["span_blocks"], 400);
    let blocks: Vec<_> = scaled.iter().map(Request::blocks).collect();
    assert_eq!(blocks, [4, 3, 4, 2, 1]);
    // Half as many blocks again: 399 * 10 / 400 is 9, 205 * 10 / 400 is 5; the
    // first four fit, and so does the last.
    let (tiny, facts) = replay(&path, "address = \"scale\"", 4).unwrap();
    assert_eq!(lbns(&tiny), [0, 0, 0, 2, 3]);
    assert_eq!(counts(&facts), [Some(0), Some(4), Some(0)]);
    let (_folder, end) = file("1 0 0 1 1\n2 0 7 3 1");
    let (moved, facts) = replay(&end, "address = \"scale\"", 5).unwrap();
    assert_eq!(lbns(&moved), [0, 2]);
    assert_eq!(counts(&facts), [Some(0), Some(1), Some(1)]);
    // Scaling looks at the chosen device only, at all of its requests, and up
    // as well as down; and it knows how many there are.
    let (_folder, path) = file(TWO);
    let keys = "trace_device = 3\naddress = \"scale\"\nrequests = 2";
    assert_eq!(open(&path, keys, 130).unwrap().requests(), Some(2));
    let (scaled, facts) = replay(&path, keys, 130).unwrap();
    assert_eq!((lbns(&scaled), &facts["span_blocks"]), (vec![100, 110], &json!(13)));
    for address in ["error", "wrap", "scale"] {
        let found = message("1 0 0 4 1\n2 0 0 5 1", &format!("address = \"{address}\""), 4);
        assert_eq!(found, "bad.trace:2: 5 blocks: the device has 4");
    }
    // The highest block there is.
    let huge = "1.0 0 9007199254740992 4294967295 1";
    let (_folder, path) = file(huge);
    let (requests, _) = replay(&path, "address = \"scale\"", u64::MAX).unwrap();
    assert_eq!(requests[0].blocks(), u32::MAX);
}

#[test]
fn an_offset_lays_the_trace_on_the_rest_of_the_device() {
    let text = "1 0 0 4 1\n2 0 97 3 1\n3 0 205 2 1\n";
    let (_folder, path) = file(text);
    let keys = |address: &str| format!("address = \"{address}\"\naddress_offset = 1000");
    let (requests, facts) = replay(&path, &keys("error"), 1207).unwrap();
    assert_eq!(lbns(&requests), [1000, 1097, 1205]);
    assert_eq!(facts["address_offset"], 1000);
    assert_eq!(
        message(text, &keys("error"), 1206),
        "bad.trace:3: blocks 205 to 206: the device has 206 from address_offset = 1000 on; give \
         address = \"wrap\", address = \"scale\" or address = \"compact\" to fit the trace to the device"
    );
    let (requests, _) = replay(&path, &keys("wrap"), 1100).unwrap();
    assert_eq!(lbns(&requests), [1000, 1097, 1005]);
    // The span is 207: 97 * 100 / 207 is 46, 205 * 100 / 207 is 99, moved.
    let (requests, facts) = replay(&path, &keys("scale"), 1100).unwrap();
    assert_eq!(lbns(&requests), [1000, 1046, 1098]);
    assert_eq!((&facts["scaled"], &facts["moved"]), (&json!(2), &json!(1)));
    assert_eq!(
        message(text, &keys("wrap"), 1003),
        "bad.trace:1: 4 blocks: the device has 3 from address_offset = 1000 on"
    );
    assert_eq!(
        message(text, &keys("wrap"), 1000),
        "address_offset = 1000: must be below the 1000 blocks of the device"
    );
}

#[test]
fn bytes_are_widened_to_blocks_and_counted() {
    let log = "fio version 3 iolog\n1 f read 0 512\n2 f read 511 1\n3 f read 511 2\n\
               4 f write 1024 513\n5 f sync 0 0\n6 f trim 1535 1026\n";
    let (_folder, path) = file(log);
    let (requests, facts) = replay(&path, "", 100).unwrap();
    let seen: Vec<_> = requests.iter().map(|r| (r.lbn(), r.blocks(), r.op)).collect();
    let expected = [
        (0, 1, Op::Read),
        (0, 1, Op::Read),
        (0, 2, Op::Read),
        (2, 2, Op::Write),
        (0, 0, Op::Flush),
        (2, 4, Op::Trim),
    ];
    assert_eq!(seen, expected);
    assert_eq!(facts["widened"], 4);
    assert!(requests[4].extents.is_empty());
}

/// What an address rule says, block by block and without its algebra.
fn brute_force(
    trace: &[(u64, u32, u64, u64)],
    rule: &str,
    separate: bool,
    offset: u64,
    device: u64,
) -> Option<Vec<u64>> {
    let end_of = |wanted: u32| {
        let ends = trace.iter().filter(|r| r.1 == wanted).map(|r| r.2 + r.3);
        ends.max().unwrap_or(0)
    };
    let mut bases = [0; 4];
    if separate {
        let mut free = 0;
        for wanted in 0..4 {
            while free % 8 != 0 {
                free += 1;
            }
            bases[wanted as usize] = free;
            free += end_of(wanted);
        }
    }
    let span = trace.iter().map(|r| bases[r.1 as usize] + r.2 + r.3).max()?;
    let size = device - offset;
    let mut places = Vec::new();
    let touched: BTreeSet<u64> = trace
        .iter()
        .flat_map(|r| (0..r.3).map(move |block| bases[r.1 as usize] + r.2 + block))
        .collect();
    if rule == "compact" && touched.len() as u64 > size {
        return None;
    }
    for &(_, name, lbn, blocks) in trace {
        let mut place = bases[name as usize] + lbn;
        match rule {
            "wrap" => {
                while place >= size {
                    place -= size;
                }
            }
            "scale" => {
                // The largest whole number not above place * size / span.
                let mut best = 0;
                while (best + 1) * span <= place * size {
                    best += 1;
                }
                place = best;
            }
            "compact" => place = touched.iter().filter(|block| **block < place).count() as u64,
            _ if place + blocks > size => return None,
            _ => {}
        }
        if blocks > size {
            return None;
        }
        while place + blocks > size {
            place -= 1;
        }
        places.push(place + offset);
    }
    Some(places)
}

proptest! {
    /// Every rule, offset and layout of devices against brute force.
    #[test]
    fn addresses_are_what_brute_force_says(
        trace in prop::collection::vec((0_u64..3, 0_u32..4, 0_u64..400, 1_u64..20), 1..30),
        rule in prop::sample::select(vec!["error", "wrap", "scale", "compact"]),
        separate in any::<bool>(),
        offset in 0_u64..50,
        device in 60_u64..2000,
    ) {
        let mut time = 0;
        let text: String = trace.iter().map(|(gap, name, lbn, blocks)| {
            time += gap;
            format!("{time}.5 {name} {lbn} {blocks} 1\n")
        }).collect();
        let (_folder, path) = file(text);
        let devices = if separate { "separate" } else { "all" };
        let keys = format!(
            "address = \"{rule}\"\naddress_offset = {offset}\ntrace_device = \"{devices}\""
        );
        let expected = brute_force(&trace, rule, separate, offset, device);
        match (replay(&path, &keys, device), expected) {
            (Ok((requests, facts)), Some(expected)) => {
                prop_assert_eq!(lbns(&requests), &expected[..]);
                let counts = ["scaled", "wrapped", "moved"].map(|key| facts[key].as_u64().unwrap());
                for device in facts["devices"].as_array().unwrap() {
                    let name = device["device"].as_u64().unwrap();
                    let expected = trace.iter().filter(|r| u64::from(r.1) == name).count();
                    prop_assert_eq!(&device["requests"], &json!(expected));
                }
                if rule == "compact" {
                    let before = brute_force(&trace, "error", separate, 0, u64::MAX / 8).unwrap();
                    for (i, j) in (0..before.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
                        let order = before[i].cmp(&before[j]);
                        prop_assert_eq!(order, expected[i].cmp(&expected[j]));
                    }
                    let changed = before.iter().zip(&expected);
                    let changed = changed.filter(|(old, new)| **old + offset != **new).count();
                    prop_assert_eq!(&facts["compacted"], &json!(changed));
                    let ends = before.iter().zip(&trace).map(|(lbn, r)| lbn + r.3);
                    let touched = facts["touched_blocks"].as_u64().unwrap();
                    let gaps = 512 * (ends.max().unwrap() - touched);
                    prop_assert_eq!(&facts["gap_bytes"], &json!(gaps));
                }
                if rule != "scale" {
                    prop_assert_eq!(counts[0], 0);
                }
                if rule != "wrap" {
                    prop_assert_eq!(counts[1], 0);
                }
            }
            (Err(_), None) => {}
            (found, expected) => prop_assert!(false, "{found:?} {expected:?}"),
        }
    }
}

#[test]
fn a_footprint_larger_than_the_device_is_an_error() {
    let text = "1 0 1000 4 1\n2 0 0 4 1\n3 0 4 2 1\n4 0 1002 2 1\n";
    let keys = "address = \"compact\"\naddress_offset = 5";
    let (_folder, path) = file(text);
    let (requests, facts) = replay(&path, keys, 15).unwrap();
    assert_eq!(lbns(&requests), [11, 5, 9, 13]);
    let found = ["touched_blocks", "touched_extents", "gap_bytes", "compacted"];
    let found = found.map(|key| facts[key].as_u64().unwrap());
    assert_eq!(found, [10, 2, 994 * 512, 2]);
    assert_eq!(
        message(text, keys, 14),
        "bad.trace: address = \"compact\": the trace touches 10 blocks, and the device has 9 from \
         address_offset = 5 on"
    );
}
