//! Statistics of a load against those of its trace and brute force.

use super::{DEVICE, info, load};
use proptest::prelude::*;
use serde_json::json;
use sledsim_experiments::generate::{Target, generate};
use sledsim_traces::trace_info;
use std::collections::BTreeSet;

#[test]
fn a_load_has_the_statistics_of_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("load.csv");
    let load = load("cello", "requests = 30_000").unwrap();
    generate(&load, Target::Blocks(DEVICE), &path, None, &mut |_| Ok(())).unwrap();
    let (direct, written) = (info(&load).unwrap(), json!(trace_info(&path, None).unwrap()));
    for key in ["requests", "read_fraction", "sizes", "arrivals", "footprint", "reuse"] {
        assert_eq!(direct[key], written[key], "{key}");
    }
    assert_eq!(direct["workload"]["preset"], "cello");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn figures_are_those_counted_one_by_one(
        lines in prop::collection::vec((0..300_000_000_u64, 0..900_u64, 1..60_u32), 2..400),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.csv");
        let mut text = String::from(
            "time_ns,device,device_name,op,offset_bytes,bytes,response_ns,think_ns,queue_ns,linked\n",
        );
        let (mut time, mut times) = (0, Vec::new());
        for (gap, lbn, blocks) in &lines {
            time += gap;
            times.push(time);
            text += &format!("{time},0,,read,{},{},,,,\n", lbn * 512, blocks * 512);
        }
        std::fs::write(&path, text).unwrap();
        let facts = json!(trace_info(&path, None).unwrap());
        let blocks: BTreeSet<u64> =
            lines.iter().flat_map(|(_, lbn, blocks)| *lbn..lbn + u64::from(*blocks)).collect();
        prop_assert_eq!(&facts["footprint"]["accessed_bytes"], blocks.len() * 512);
        let recent = lines.iter().enumerate().filter(|(index, (_, lbn, _))| {
            let before = &lines[index.saturating_sub(16)..*index];
            before.iter().any(|(_, from, blocks)| from + u64::from(*blocks) == *lbn)
        });
        let share = recent.count() as f64 / lines.len() as f64;
        prop_assert_eq!(facts["sequential"]["recent_fraction"].as_f64(), Some(share));
        for (power, scale) in facts["arrivals"]["scales"].as_array().unwrap().iter().enumerate() {
            let window = 15_625_000_u64 << power;
            let windows = (times[times.len() - 1] - times[0]) / window;
            let held = |window: u64, number: u64| {
                times.iter().filter(|time| (**time - times[0]) / window == number).count() as f64
            };
            let all: Vec<f64> = (0..windows).map(|number| held(window, number)).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let squares = all.iter().map(|count| (count - mean).powi(2)).sum::<f64>();
            let dispersion = squares / (all.len() - 1) as f64 / mean;
            let found = scale["index_of_dispersion"].as_f64().unwrap();
            prop_assert!((found - dispersion).abs() < 1e-9 * dispersion.max(1.0), "{} {}", found, dispersion);
            if power > 0 {
                let pairs = |window: u64| {
                    let count = |number| held(window, number);
                    let last = (times[times.len() - 1] - times[0]) / window;
                    (0..=last).map(count).map(|count| count * (count - 1.0)).sum::<f64>()
                };
                let (half, whole) = (pairs(window / 2), pairs(window));
                let found = scale["bias"].as_f64();
                prop_assert_eq!(found.is_some(), whole > 0.0);
                if let Some(bias) = found {
                    let together = bias * bias + (1.0 - bias) * (1.0 - bias);
                    prop_assert!((together - (half / whole).max(0.5)).abs() < 1e-9);
                }
            }
        }
    }
}

#[test]
fn the_bias_of_a_load_is_found_again() {
    let text = "requests = 400_000\nrate = 200\nbias = 0.75\ncascade_s = 8\ncascade_levels = 7";
    let facts = info(&load("random", text).unwrap()).unwrap();
    for scale in facts["arrivals"]["scales"].as_array().unwrap() {
        let window = scale["window_s"].as_f64().unwrap();
        // Windows count from the first arrival, some ms into the cascade.
        if let Some(bias) = scale["bias"].as_f64() {
            match window {
                0.25..=8.0 => assert!((bias - 0.75).abs() < 0.04, "{window}: {bias}"),
                16.0..=64.0 => assert!(bias < 0.58, "{window}: {bias}"),
                _ => {}
            }
        }
    }
}
