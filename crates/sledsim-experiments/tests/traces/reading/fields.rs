//! Fields of lines: their values, and errors about bad fields and keys.

use super::{SMALL, file, replay};
use proptest::prelude::*;
use serde_json::json;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

#[test]
fn fields_are_read_as_written() {
    let (_folder, path) = file(SMALL);
    let (requests, facts) = replay(&path, "", 10_000).unwrap();
    let seen: Vec<_> =
        requests.iter().map(|r| (r.arrival.0, r.op, r.lbn(), r.blocks(), r.stream)).collect();
    let expected = [
        (500_000, Op::Read, 100, 8, 0),
        (1_250_000, Op::Write, 108, 8, 0),
        (1_250_000, Op::Read, 50, 2, 0),
        (4_000_000, Op::Write, 9990, 10, 0),
    ];
    assert_eq!(seen, expected);
    assert_eq!(
        facts,
        json!({
            "workload": "trace",
            "path": path.display().to_string(),
            "format": "disksim_ascii",
            "format_from": "content",
            "format_others": [],
            "compression": "none",
            "requests": 4,
            "trace_device": 0,
            "devices": [{ "device": 0, "requests": 4, "first_block": 0 }],
            "other_devices_requests": 0,
            "not_requests": 0,
            "empty_requests": 0,
            "times_rounded": 0,
            "unit_doubts": [],
            "glitches_dropped": 0,
            "first_glitch": null,
            "address": "error",
            "address_offset": 0,
            "span_blocks": null,
            "widened": 0,
            "wrapped": 0,
            "scaled": 0,
            "compacted": 0,
            "moved": 0,
            "time_scale": 1.0,
            "time_origin": "file",
            "first_time_s": 0.0005,
            "subtracted_s": 0.0,
            "sort_ms": null,
            "sorted": 0,
            "sorted_most_ms": 0.0,
        })
    );
}

#[test]
fn times_are_exact_to_the_nanosecond() {
    for (text, ns) in [
        ("0", 0),
        ("0.", 0),
        (".5", 500_000),
        ("1532949.045363", 1_532_949_045_363),
        // Beyond the 53 bits of a double.
        ("9007199254.740993", 9_007_199_254_740_993),
        ("8999999999999.999999", 8_999_999_999_999_999_999),
        ("0.0000004", 0),
        ("0.0000005", 1),
        ("0.00000049999999999999999999999", 0),
        ("2.9999999", 3_000_000),
        ("000001.1000000000000000000000", 1_100_000),
    ] {
        let (_folder, path) = file(format!("{text} 0 1 1 1"));
        let (requests, _) = replay(&path, "", 10).unwrap();
        assert_eq!(requests[0].arrival, Nanos(ns), "{text}");
    }
}

proptest! {
    /// Numbers with so many zeros before them that they are read the slow way
    /// say the same as those that are read the quick way.
    #[test]
    fn both_ways_of_reading_numbers_agree(
        ms in 0_u64..10_000_000,
        ns in 0_u64..1_000_000,
        device in 0_u32..,
        lbn in prop_oneof![0_u64..1000, 18_014_398_509_481_900_u64..18_014_398_509_482_100],
        blocks in prop_oneof![0_u64..4, 4_294_967_290_u64..4_294_967_300],
        flags in "[0-9a-f]{1,16}|0x[0-9A-F]{1,16}|[0-1]|g",
        blank in "[ \t]{1,3}",
        format in prop::sample::select(vec!["disksim_ascii", "mqsim"]),
    ) {
        let time = |zeros: &str| match format {
            "mqsim" => format!("{zeros}{ms}"),
            _ => format!("{zeros}{ms}.{ns:06}"),
        };
        let read = |zeros: &str| {
            let line = [
                time(zeros),
                format!("{zeros}{device}"),
                format!("{zeros}{lbn}"),
                format!("{zeros}{blocks}"),
                flags.clone(),
            ];
            let (_folder, path) = file(line.join(&blank));
            let keys = format!("trace_format = \"{format}\"");
            let read = replay(&path, &keys, u64::MAX);
            read.map(|(requests, _)| requests).map_err(|error| {
                let error = error.to_string();
                match (error.find("field"), error.find(" is '")) {
                    (Some(start), Some(end)) => error[start..end].to_owned(),
                    _ => "not on the device".to_owned(),
                }
            })
        };
        prop_assert_eq!(read(""), read(&"0".repeat(20)));
    }

    /// A decimal time of any length is what integer arithmetic says.
    #[test]
    fn any_time_is_exact(whole in 0_u64..9_000_000_000_000, digits in "[0-9]{0,12}") {
        let (_folder, path) = file(format!("{whole}.{digits} 0 1 1 1"));
        let (requests, _) = replay(&path, "", 10).unwrap();
        let fraction: u128 = format!("{digits:0<12}").parse().unwrap();
        let picoseconds_and_less = u128::from(whole) * 1_000_000_000_000 + fraction;
        let expected = (picoseconds_and_less + 500_000) / 1_000_000;
        prop_assert_eq!(u128::from(requests[0].arrival.0), expected);
    }
}
