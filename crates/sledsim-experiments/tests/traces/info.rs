//! Statistics of traces against slow, obvious implementations.

use crate::common::reference;
use proptest::prelude::*;
use serde_json::{Value, json};
use sledsim_base::error::Error;
use sledsim_base::random::Stream;
use sledsim_experiments::formats::all;
use sledsim_traces::{InfoSpec, trace_info};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::PathBuf;
use tempfile::TempDir;

/// Time in ns, device, first block, blocks, whether it is a read.
type Line = (u64, u32, u64, u64, bool);

/// A DiskSim ascii trace of these lines; the folder goes when it is dropped.
fn file(lines: &[Line]) -> (TempDir, PathBuf) {
    let mut text = String::new();
    for (ns, device, block, blocks, read) in lines {
        let (ms, ns) = (ns / 1_000_000, ns % 1_000_000);
        let flags = u8::from(*read);
        writeln!(text, "{ms}.{ns:06} {device} {block} {blocks} {flags}").unwrap();
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.disksim");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn info(lines: &[Line]) -> Value {
    spec_info(lines, |_| {})
}

fn spec_info(lines: &[Line], change: impl FnOnce(&mut InfoSpec)) -> Value {
    let (_folder, path) = file(lines);
    let mut spec = InfoSpec::new(&path);
    spec.format = disksim();
    change(&mut spec);
    json!(spec.read(&mut |_| Ok(())).unwrap())
}

fn disksim() -> Option<sledsim_traces::Format> {
    all().readers.get("disksim_ascii").copied()
}

/// The units of 4 KiB a line touches.
fn units((_, device, block, blocks, _): Line) -> impl Iterator<Item = (u32, u64)> {
    (block / 8..(block + blocks).div_ceil(8)).map(move |unit| (device, unit))
}

/// Distances from an LRU stack kept as a plain list: `None` the first time.
fn stack_distances(lines: &[Line]) -> Vec<Option<usize>> {
    let mut stack: Vec<(u32, u64)> = Vec::new();
    let mut distances = Vec::new();
    for unit in lines.iter().flat_map(|line| units(*line)) {
        let found = stack.iter().rev().position(|other| *other == unit);
        if let Some(distance) = found {
            stack.remove(stack.len() - 1 - distance);
        }
        stack.push(unit);
        distances.push(found);
    }
    distances
}

/// The hit ratio of an LRU cache that is really kept.
fn lru_hit_ratio(lines: &[Line], capacity: usize) -> f64 {
    let mut cache: VecDeque<(u32, u64)> = VecDeque::new();
    let (mut hits, mut all) = (0, 0);
    for unit in lines.iter().flat_map(|line| units(*line)) {
        all += 1;
        if let Some(place) = cache.iter().position(|other| *other == unit) {
            hits += 1;
            cache.remove(place);
        } else if cache.len() == capacity {
            cache.pop_back();
        }
        cache.push_front(unit);
    }
    f64::from(hits) / f64::from(all)
}

fn hit_ratio(info: &Value, cache_mib: u64) -> f64 {
    let lines = info["reuse"]["lru_hit_ratio"].as_array().unwrap();
    let line = lines.iter().find(|line| line["cache_mib"] == cache_mib);
    line.unwrap()["hit_ratio"].as_f64().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn distances_and_footprint_are_those_of_a_plain_stack(
        lines in prop::collection::vec((0_u64..3, 0_u32..3, 0_u64..400, 1_u64..40, any::<bool>()), 1..300),
    ) {
        let mut time = 0;
        let lines: Vec<Line> = lines.into_iter().map(|(gap, device, block, blocks, read)| {
            time += gap;
            (time, device, block, blocks, read)
        }).collect();
        // Three devices of 55 units: 4 x 168 slots are used up by up to 1,800 references.
        let found = spec_info(&lines, |spec| spec.max_units = 168);
        let distances = stack_distances(&lines);
        let reuse = &found["reuse"];
        prop_assert_eq!(&reuse["exact"], &json!(true));
        prop_assert_eq!(&reuse["references"], &json!(distances.len()));
        let first = distances.iter().filter(|distance| distance.is_none()).count();
        prop_assert_eq!(&reuse["first_references"], &json!(first));
        for line in reuse["histogram"].as_array().unwrap() {
            let range = line["from_units"].as_u64().unwrap()..=line["to_units"].as_u64().unwrap();
            let inside = |distance: &&Option<usize>| distance.is_some_and(|d| range.contains(&(d as u64)));
            prop_assert_eq!(&line["references"], &json!(distances.iter().filter(inside).count()));
        }
        let mut again: Vec<usize> = distances.iter().flatten().copied().collect();
        again.sort_unstable();
        if again.is_empty() {
            prop_assert!(reuse["distance_units"].is_null());
        } else {
            let rank = |share: f64| (share * again.len() as f64).ceil() as usize - 1;
            for (key, share) in [("p50", 0.5), ("p90", 0.9)] {
                // Cells above 128 are 1/64 wide.
                let (found, exact) = (reuse["distance_units"][key].as_u64().unwrap(), again[rank(share)] as u64);
                prop_assert!(found >= exact && found <= exact + exact / 64, "{key}: {found} for {exact}");
            }
        }

        let set = |kind: fn(&Line) -> bool| -> BTreeSet<(u32, u64)> {
            lines.iter().filter(|line| kind(line)).flat_map(|line| units(*line)).collect()
        };
        let footprint = &found["footprint"];
        prop_assert_eq!(&footprint["units"], &json!(set(|_| true).len()));
        prop_assert_eq!(&footprint["bytes"], &json!(4096 * set(|_| true).len()));
        prop_assert_eq!(&footprint["read_bytes"], &json!(4096 * set(|line| line.4).len()));
        prop_assert_eq!(&footprint["written_bytes"], &json!(4096 * set(|line| !line.4).len()));
    }
}

/// Requests with some locality: most go to a few places.
fn skewed(count: usize, places: u64, seed: u64) -> Vec<Line> {
    let mut random = Stream::new(seed, "skewed trace");
    let line = |at| {
        // Popularity falls as 1/rank, nearly: a power of a uniform number.
        let place = (places as f64).powf(random.unit()) as u64 - 1;
        (at as u64 * 1000, 0, place * 8, 8, random.chance(0.7))
    };
    (0..count).map(line).collect()
}

#[test]
fn hit_ratios_match_simulated_caches() {
    let lines = skewed(40_000, 6_000, 1);
    let info = info(&lines);
    for (mib, units) in [(1, 256), (4, 1024), (16, 4096)] {
        assert_eq!(hit_ratio(&info, mib), lru_hit_ratio(&lines, units), "{mib} MiB");
    }
    let first = info["footprint"]["units"].as_u64().unwrap() as f64;
    assert_eq!(hit_ratio(&info, 256), 1.0 - first / 40_000.0);
    assert!(hit_ratio(&info, 1) > 0.4 && hit_ratio(&info, 1) < hit_ratio(&info, 4));
}

/// Waldspurger et al. (2015) found a mean absolute error of the miss ratio
/// below 0.01 with 8,192 units in memory. Caches of fewer than ten sampled
/// units are below what the sample resolves.
#[test]
fn a_sample_of_8192_units_is_within_a_hundredth() {
    let lines = skewed(1_500_000, 1 << 20, 2);
    let curve = |max_units| {
        spec_info(&lines, |spec| {
            spec.max_units = max_units;
            spec.picture = true;
        })
    };
    let (exact, sampled) = (curve(1 << 20), curve(8192));
    assert_eq!(exact["reuse"]["exact"], true);
    assert_eq!(sampled["reuse"]["exact"], false);
    let number = |info: &Value, at: &str| info.pointer(at).unwrap().as_f64().unwrap();
    let units = number(&exact, "/footprint/units");
    let rate = number(&sampled, "/reuse/sampling_rate");
    // 8,192 of the units by chance: one sigma is 1.1 %.
    assert!((rate * units / 8192.0 - 1.0).abs() < 0.05, "{rate}");
    for key in ["/footprint/units", "/footprint/read_bytes", "/footprint/written_bytes"] {
        let off = number(&sampled, key) / number(&exact, key) - 1.0;
        assert!(off.abs() < 0.05, "{key}: {off}");
    }
    for key in ["/reuse/references", "/requests"] {
        assert_eq!(number(&sampled, key), number(&exact, key));
    }
    let points = |info: &Value| -> BTreeMap<u64, f64> {
        let points = info["lru_curve"].as_array().unwrap().iter();
        points.map(|p| (p[0].as_u64().unwrap(), p[1].as_f64().unwrap())).collect()
    };
    let (exact, sampled) = (points(&exact), points(&sampled));
    let errors: Vec<f64> = (exact.iter())
        .filter(|(size, _)| **size as f64 * rate >= 10.0 * 4096.0)
        .filter_map(|(size, ratio)| Some((sampled.get(size)? - ratio).abs()))
        .collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(errors.len() > 60 && mean < 0.01, "{mean} over {}", errors.len());
}

/// Whole windows from the first arrival on, counted one by one.
fn brute_windows(times: &[u64], length: u64) -> (u64, Option<f64>) {
    let (first, last) = (times[0], times[times.len() - 1]);
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for time in times {
        *counts.entry((time - first) / length).or_default() += 1;
    }
    let peak = *counts.values().max().unwrap();
    let complete = (last - first) / length;
    if complete < 2 {
        return (peak, None);
    }
    let count = |window| *counts.get(&window).unwrap_or(&0) as f64;
    let n = complete as f64;
    let mean = (0..complete).map(count).sum::<f64>() / n;
    let square = |window| (count(window) - mean) * (count(window) - mean);
    let variance = (0..complete).map(square).sum::<f64>() / (n - 1.0);
    (peak, Some(variance / mean))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn windows_are_those_counted_one_by_one(
        gaps in prop::collection::vec(prop_oneof![0_u64..1_000_000, 0_u64..900_000_000], 1..200),
        start in 0_u64..20_000_000_000,
    ) {
        let mut time = start;
        let times: Vec<u64> = gaps.iter().map(|gap| { time += gap; time }).collect();
        let lines: Vec<Line> = times.iter().map(|time| (*time, 0, 0, 1, true)).collect();
        let info = info(&lines);
        let windows = info["arrivals"]["windows"].as_array().unwrap();
        prop_assert_eq!(windows.len(), 5);
        for (window, power) in windows.iter().zip(6..) {
            let length = 10_u64.pow(power);
            prop_assert_eq!(window["window_s"].as_f64().unwrap(), length as f64 * 1e-9);
            let (peak, dispersion) = brute_windows(&times, length);
            prop_assert_eq!(&window["peak_requests"], &json!(peak));
            match (window["index_of_dispersion"].as_f64(), dispersion) {
                (Some(found), Some(exact)) => {
                    prop_assert!((found - exact).abs() <= 1e-9 * exact.max(1.0), "{found} {exact}");
                }
                (found, exact) => prop_assert_eq!(found, exact),
            }
        }
    }
}

#[test]
fn a_poisson_stream_has_dispersion_one_and_gaps_of_variation_one() {
    let mut random = Stream::new(7, "poisson trace");
    let mut time = 0.0;
    let lines: Vec<Line> = (0..300_000)
        .map(|_| {
            time += random.exponential(1e6); // 1,000 per s
            (time as u64, 0, 0, 1, true)
        })
        .collect();
    let info = info(&lines);
    let arrivals = &info["arrivals"];
    // Of n exponential gaps: sd of the estimate is about sqrt(8 / n).
    let scv = arrivals["gap_scv"].as_f64().unwrap();
    assert!((scv - 1.0).abs() < 0.02, "{scv}");
    assert!((info["mean_rate_per_s"].as_f64().unwrap() / 1000.0 - 1.0).abs() < 0.01);
    for window in arrivals["windows"].as_array().unwrap() {
        // Of n windows: sqrt(2 / (n - 1)), and 1 / sqrt(n mean) where counts are small.
        let n = window["complete_windows"].as_f64().unwrap();
        let mean = 1000.0 * window["window_s"].as_f64().unwrap();
        let sigma = ((2.0 + 1.0 / mean) / (n - 1.0)).sqrt();
        let found = window["index_of_dispersion"].as_f64().unwrap();
        assert!((found - 1.0).abs() < 4.0 * sigma, "{window}: sigma {sigma}");
    }
}

#[test]
fn batches_disperse_as_their_size_and_a_clock_not_at_all() {
    let mut random = Stream::new(8, "batches");
    let mut time = 0.0;
    let mut lines: Vec<Line> = Vec::new();
    for _ in 0..30_000 {
        time += random.exponential(1e6);
        lines.extend([(time as u64, 0, 0, 1, true); 7]);
    }
    // A compound Poisson process of batches of 7: variance over mean is 7.
    let dispersion = |lines: &[Line], window: usize| {
        let found = info(lines)["arrivals"]["windows"][window]["index_of_dispersion"].clone();
        found.as_f64().unwrap()
    };
    assert!((dispersion(&lines, 1) / 7.0 - 1.0).abs() < 0.15);
    let clock: Vec<Line> = (0..20_000).map(|tick| (tick * 500_000, 0, 0, 1, true)).collect();
    for window in 0..3 {
        assert_eq!(dispersion(&clock, window), 0.0);
    }
    let info = info(&clock);
    assert_eq!(info["arrivals"]["gap_scv"], 0.0);
    assert_eq!(info["arrivals"]["windows"][0]["peak_requests"], 2);
    assert!((info["mean_rate_per_s"].as_f64().unwrap() - 2000.0).abs() < 1e-9);
}

#[test]
fn sequential_shares_are_counted_per_device_and_operation() {
    let mut random = Stream::new(3, "sequential");
    let mut next = [0_u64; 3];
    let lines: Vec<Line> = (0..5000)
        .map(|at| {
            let device = random.below(3) as usize;
            let block = match random.below(4) {
                0 => next[device],
                1 => next[device] + 4,
                _ => random.below(100_000),
            };
            let blocks = 1 + random.below(8);
            next[device] = block + blocks;
            (at, device as u32, block, blocks, random.chance(0.5))
        })
        .collect();
    for interleave in [None, Some(4)] {
        let found = spec_info(&lines, |spec| spec.interleave_blocks = interleave);
        let share = |keep: &dyn Fn(&Line) -> bool| {
            let (mut all, mut sequential) = (0, 0);
            for (at, line) in lines.iter().enumerate() {
                if !keep(line) {
                    continue;
                }
                all += 1;
                let before = lines[..at].iter().rev().find(|other| other.1 == line.1);
                sequential += u32::from(before.is_some_and(|before| {
                    let end = before.2 + before.3;
                    line.2 == end || interleave.is_some_and(|gap| line.2 == end + gap)
                }));
            }
            json!(f64::from(sequential) / f64::from(all))
        };
        assert_eq!(found["sequential_fraction"], share(&|_| true));
        assert_eq!(found["sequential"]["read_fraction"], share(&|line| line.4));
        assert_eq!(found["sequential"]["write_fraction"], share(&|line| !line.4));
        for device in 0..3 {
            let line = &found["devices"][device as usize];
            assert_eq!(line["sequential_fraction"], share(&|l| l.1 == device));
            let reads = share(&|l| l.1 == device && l.4);
            assert_eq!(line["sequential_read_fraction"], reads);
            let of_device = || lines.iter().filter(|l| l.1 == device);
            assert_eq!(line["lowest_block"], json!(of_device().map(|l| l.2).min()));
            assert_eq!(line["total_blocks"], json!(of_device().map(|l| l.3).sum::<u64>()));
        }
    }
}

#[test]
fn sizes_are_those_of_a_sorted_list() {
    let mut random = Stream::new(4, "sizes");
    let lines: Vec<Line> =
        (0..4000).map(|at| (at, 0, 0, random.geometric(20.0), random.chance(0.3))).collect();
    let found = info(&lines);
    for (name, keep) in [("read", Some(true)), ("write", Some(false)), ("all", None)] {
        let mut sizes: Vec<u64> = (lines.iter())
            .filter(|line| keep.is_none_or(|read| line.4 == read))
            .map(|line| 512 * line.3)
            .collect();
        sizes.sort_unstable();
        let of = &found["sizes"][name];
        assert_eq!(of["requests"], sizes.len());
        assert_eq!(of["total_bytes"], sizes.iter().sum::<u64>());
        assert_eq!(of["max_bytes"], sizes[sizes.len() - 1]);
        for (key, share) in [("p10_bytes", 0.1), ("p50_bytes", 0.5), ("p99_bytes", 0.99)] {
            let exact = sizes[(share * sizes.len() as f64).ceil() as usize - 1];
            assert_eq!(of[key], exact, "{name} {key}: whole blocks are cells of their own");
        }
    }
    for line in found["size_histogram"].as_array().unwrap() {
        let range = line["from_bytes"].as_u64().unwrap()..=line["to_bytes"].as_u64().unwrap();
        for (key, read) in [("reads", true), ("writes", false)] {
            let inside = lines.iter().filter(|l| l.4 == read && range.contains(&(512 * l.3)));
            assert_eq!(line[key], inside.count());
        }
    }
}

#[test]
fn requests_out_of_order_are_reported_and_can_be_sorted() {
    let mut random = Stream::new(5, "late");
    let mut lines: Vec<Line> =
        (0..2000).map(|at| (at * 1_000_000 + random.below(5_000_000), 0, at, 1, true)).collect();
    let found = info(&lines);
    let (mut late, mut most, mut latest) = (0, 0, 0);
    for line in &lines {
        late += u64::from(line.0 < latest);
        most = most.max(latest.saturating_sub(line.0));
        latest = latest.max(line.0);
    }
    assert!(late > 500);
    assert_eq!(found["arrivals"]["late_requests"], late);
    assert_eq!(found["arrivals"]["late_by_up_to_ms"], most as f64 * 1e-6);
    // With what was told, all are in order: then it is the sorted trace.
    let sorted = spec_info(&lines, |spec| spec.sort.0 = most);
    lines.sort_by_key(|line| line.0);
    let expected = info(&lines);
    for key in ["arrivals", "reuse", "sequential", "duration_s", "first_time_s"] {
        assert_eq!(sorted[key], expected[key], "{key}");
    }
    assert_eq!(sorted["arrivals"]["late_requests"], 0);
}

#[test]
fn pictures_hold_every_request_at_its_place() {
    let mut random = Stream::new(6, "picture");
    let mut time = 0;
    let lines: Vec<Line> = (0..5000)
        .map(|_| {
            time += random.below(40_000_000);
            let device = u32::from(random.chance(0.3));
            (time, device, random.below(1_000_000), 8, random.chance(0.5))
        })
        .collect();
    let found = spec_info(&lines, |spec| spec.picture = true);
    let numbers = |value: &Value| -> Vec<u64> {
        value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
    };
    let first = lines[0].0;
    let timeline = &found["timeline"];
    let bin = timeline["bin_s"].as_f64().unwrap();
    let (reads, others) = (numbers(&timeline["reads"]), numbers(&timeline["others"]));
    assert!(reads.len() > 256 && reads.len() <= 512);
    let mut brute = vec![[0; 2]; reads.len()];
    for line in &lines {
        brute[((line.0 - first) as f64 * 1e-9 / bin) as usize][usize::from(!line.4)] += 1;
    }
    assert!(brute.iter().map(|pair| pair[0]).eq(reads));
    assert!(brute.iter().map(|pair| pair[1]).eq(others));

    let map = &found["map"];
    assert_eq!(map["device"], 0, "most requests went there");
    let bin = map["time_bin_s"].as_f64().unwrap();
    let height = map["place_bin_blocks"].as_u64().unwrap();
    let rows: Vec<Vec<u64>> = map["counts"].as_array().unwrap().iter().map(numbers).collect();
    let mut brute = vec![vec![0; rows[0].len()]; rows.len()];
    for line in lines.iter().filter(|line| line.1 == 0) {
        brute[((line.0 - first) as f64 * 1e-9 / bin) as usize][(line.2 / height) as usize] += 1;
    }
    assert_eq!(rows, brute);
}

#[test]
fn quick_info_omits_only_reuse() {
    let lines = skewed(2000, 500, 9);
    let (whole, quick) = (info(&lines), spec_info(&lines, |spec| spec.quick = true));
    let (whole, quick) = (whole.as_object().unwrap(), quick.as_object().unwrap());
    assert!(whole.keys().eq(quick.keys()));
    for (key, value) in quick {
        if ["footprint", "reuse"].contains(&key.as_str()) {
            assert!(value.is_null());
        } else if key != "path" {
            assert_eq!(value, &whole[key], "{key}");
        }
    }
}

#[test]
fn devices_too_many_to_list_are_counted_together() {
    let lines: Vec<Line> = (0..70_000).map(|at| (at, at as u32, 0, 8, true)).collect();
    let found = info(&lines);
    assert_eq!(found["devices"].as_array().unwrap().len(), 65_536);
    assert_eq!(found["other_devices_requests"], 70_000 - 65_536);
    assert_eq!(found["requests"], 70_000);
    assert_eq!(found["footprint"]["units"], 70_000);
}

#[test]
fn enormous_requests_are_left_out_of_reuse_and_counted() {
    let found = info(&[(0, 0, 0, 4_294_967_295, true), (1, 0, 8, 8, true), (2, 0, 8, 8, false)]);
    assert_eq!(found["reuse"]["requests_left_out"], 1);
    assert_eq!(found["reuse"]["references"], 2);
    assert_eq!(found["footprint"]["units"], 1);
    assert_eq!(found["max_size_blocks"], 4_294_967_295_u64);
}

#[test]
fn one_request_has_no_rate() {
    let found = info(&[(5, 0, 3, 1, true)]);
    for at in ["/mean_rate_per_s", "/arrivals/gap_scv", "/arrivals/gap_ms", "/reuse/distance_units"]
    {
        assert!(found.pointer(at).unwrap().is_null(), "{at}");
    }
    assert_eq!(found["arrivals"]["windows"][0]["peak_requests"], 1);
    assert!(found["arrivals"]["windows"][0]["index_of_dispersion"].is_null());
}

#[test]
fn reading_can_be_interrupted_and_reports_its_progress() {
    let (_folder, path) = file(&skewed(20_000, 100, 10));
    let size = std::fs::metadata(&path).unwrap().len();
    let mut spec = InfoSpec::new(&path);
    spec.format = disksim();
    let mut seen = Vec::new();
    let stopped = spec.read(&mut |at| {
        assert_eq!(at.of, Some(size));
        seen.push(at.bytes);
        if seen.len() == 3 { Err(Error::Interrupted) } else { Ok(()) }
    });
    assert!(matches!(stopped, Err(Error::Interrupted)));
    assert!(seen.is_sorted() && seen[2] > size / 3 && seen[2] < size, "{seen:?} of {size}");
    for wrong in [0, 63, (1 << 26) + 1] {
        spec.max_units = wrong;
        let error = spec.read(&mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains(&format!("max_units = {wrong}")), "{error}");
    }
}

/// The shares were counted by a script in another language.
#[test]
fn the_footprint_of_a_real_trace() {
    let Some(path) = reference("traces/disksim-ascii-100k.trace") else {
        return;
    };
    let info = json!(trace_info(&path, disksim()).unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    let mut units = BTreeSet::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (block, blocks): (u64, u64) = (fields[2].parse().unwrap(), fields[3].parse().unwrap());
        units.extend((block / 8..(block + blocks).div_ceil(8)).map(|unit| (fields[1], unit)));
    }
    assert_eq!(info["footprint"]["units"], units.len());
    assert_eq!(info["read_fraction"], 0.79634);
    assert_eq!(info["sequential_fraction"], 0.08475);
}
