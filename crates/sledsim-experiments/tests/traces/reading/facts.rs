//! Statistics of small traces and of real ones.

use super::{TWO, file, replay};
use crate::common::reference;
use serde_json::{Value, json};
use sledsim_base::units::Nanos;
use sledsim_traces::trace_info;

/// Whether `whole` has all that `part` has, item by item.
fn assert_holds(whole: &Value, part: &Value) {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            for (key, value) in part {
                assert_holds(&whole[key], value);
            }
        }
        (Value::Array(whole), Value::Array(part)) => {
            assert_eq!(whole.len(), part.len());
            for (whole, part) in whole.iter().zip(part) {
                assert_holds(whole, part);
            }
        }
        _ => assert_eq!(whole, part),
    }
}

#[test]
fn info_says_what_is_in_a_trace() {
    let (_folder, path) = file(format!("{TWO}5 3 40 1 1\n"));
    let info = json!(trace_info(&path, None).unwrap());
    let expected = json!({
        "path": path.display().to_string(),
        "format": "disksim_ascii",
        "compression": "none",
        "requests": 5,
        "read_fraction": 0.8,
        "sequential_fraction": 0.4,
        "mean_size_blocks": 1.2,
        "max_size_blocks": 2,
        "total_blocks": 6,
        "end_block": 92,
        "first_time_s": 0.001,
        "last_time_s": 0.005,
        "duration_s": 0.004,
        "mean_rate_per_s": 1000.0,
        "devices": [
            { "id": 3, "requests": 4, "highest_block": 40 },
            { "id": 7, "requests": 1, "highest_block": 91 },
        ],
    });
    assert_holds(&info, &expected);
    let (_folder, one) = file("5 0 0 1 1");
    let info = json!(trace_info(&one, None).unwrap());
    assert!(info["mean_rate_per_s"].is_null());
    let (_folder, none) = file("");
    assert!(trace_info(&none, None).unwrap_err().to_string().ends_with("no requests"));
}

/// Figures counted by a script in another language.
#[test]
fn the_real_traces_are_read_whole() {
    if let Some(path) = reference("traces/disksim-ascii-100k.trace") {
        let info = json!(trace_info(&path, None).unwrap());
        for (key, value) in [
            ("requests", json!(100_000)),
            ("total_blocks", json!(1_016_678)),
            ("max_size_blocks", json!(64)),
            ("read_fraction", json!(0.79634)),
            ("sequential_fraction", json!(0.08475)),
            ("end_block", json!(2_376_020)),
        ] {
            assert_holds(&info[key], &value);
        }
        assert!((info["duration_s"].as_f64().unwrap() - 1532.935854228).abs() < 1e-9);
        let devices: Vec<_> = info["devices"]
            .as_array()
            .unwrap()
            .iter()
            .map(|device| (device["id"].as_u64().unwrap(), device["requests"].as_u64().unwrap()))
            .collect();
        assert_eq!(devices.len(), 14);
        assert_eq!((devices[0], devices[2], devices[13]), ((0, 8062), (4, 1), (30, 3212)));
        let error = replay(&path, "", 10_000_000).unwrap_err().to_string();
        assert!(error.contains(".trace:2: device 20, after requests of device 30"), "{error}");
        let (requests, _) = replay(&path, "trace_device = 11", 10_000_000).unwrap();
        assert_eq!(requests.len(), 14_052);
        assert_eq!(requests.last().unwrap().arrival, Nanos(1_532_949_045_363));
        let (requests, facts) = replay(&path, "trace_device = \"all\"", 2_376_020).unwrap();
        assert_eq!((requests.len(), &facts["moved"]), (100_000, &json!(0)));
    }
    if let Some(path) = reference("traces/postmark-ssd.disksim") {
        let info = json!(trace_info(&path, None).unwrap());
        for (key, value) in [
            ("requests", json!(62_257)),
            ("total_blocks", json!(27_682_080)),
            ("max_size_blocks", json!(8192)),
            ("end_block", json!(44_711_856)),
            ("devices", json!([{ "id": 0, "requests": 62_257, "highest_block": 44_711_855 }])),
        ] {
            assert_holds(&info[key], &value);
        }
        assert_eq!(info["read_fraction"].as_f64(), Some(51_780.0 / 62_257.0));
        assert_eq!(info["sequential_fraction"].as_f64(), Some(28_734.0 / 62_257.0));
        let g2 = 6_750_000;
        assert!(replay(&path, "", g2).unwrap_err().to_string().contains("the device has 6750000"));
        for (address, counts) in [("wrap", [31351, 0, 0]), ("scale", [0, 62256, 31])] {
            let (requests, facts) = replay(&path, &format!("address = \"{address}\""), g2).unwrap();
            assert_eq!(requests.len(), 62_257);
            assert!(requests.iter().all(|r| r.lbn() + u64::from(r.blocks()) <= g2));
            let found = ["wrapped", "scaled", "moved"].map(|key| facts[key].as_u64().unwrap());
            assert_eq!(found, counts, "{address}");
        }
    }
}
