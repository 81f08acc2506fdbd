//! Converted and generated traces: nothing lost, nothing added, in order.

use proptest::prelude::*;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::formats::{all, options};
use sledsim_experiments::generate::{Target, generate};
use sledsim_experiments::load::Load;
use sledsim_traces::{ConvertSpec, Format, Sample, trace_info};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use tempfile::TempDir;

/// Time in us, device, first block, blocks, flags.
type Line = (u64, u32, u64, u32, u8);

fn text(lines: &[Line]) -> String {
    let line = |(us, device, block, blocks, flags): &Line| {
        let (ms, us) = (us / 1000, us % 1000);
        format!("{ms}.{us:03}000 {device} {block} {blocks} {flags}\n")
    };
    lines.iter().map(line).collect()
}

fn lines(text: &str) -> Vec<Line> {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let digits = fields[0].replace('.', "");
        (
            digits.parse::<u64>().unwrap() / 1000,
            fields[1].parse().unwrap(),
            fields[2].parse().unwrap(),
            fields[3].parse().unwrap(),
            fields[4].parse().unwrap(),
        )
    };
    text.lines().map(line).collect()
}

struct Work {
    folder: TempDir,
    spec: ConvertSpec,
}

impl Work {
    fn new(traces: &[Vec<Line>]) -> Self {
        let folder = TempDir::new().unwrap();
        let mut inputs: Vec<PathBuf> = Vec::new();
        for (at, trace) in traces.iter().enumerate() {
            let path = folder.path().join(format!("in{at}"));
            std::fs::write(&path, text(trace)).unwrap();
            inputs.push(path);
        }
        let mut spec = ConvertSpec::new(&inputs, &folder.path().join("out.trace"));
        spec.options = options();
        spec.format = Some(disksim());
        Self { folder, spec }
    }

    fn run(&self) -> Result<(Vec<Line>, Value)> {
        let report = json!(self.spec.convert(&mut |_| Ok(()))?);
        let out = std::fs::read_to_string(&self.spec.output).unwrap();
        Ok((lines(&out), report))
    }

    fn files(&self) -> usize {
        std::fs::read_dir(self.folder.path()).unwrap().count()
    }
}

fn disksim() -> Format {
    let mut formats = all().readers.iter().copied();
    formats.find(|format| format.name == "disksim_ascii").unwrap()
}

fn trace(seed: u64, count: usize) -> Vec<Line> {
    let mut random = Stream::new(seed, "trace to convert");
    let mut time = random.below(1000);
    let line = |_| {
        time += random.below(2000);
        let (device, block) = (random.below(4) as u32, random.below(5000));
        (time, device, block, 1 + random.below(40) as u32, random.below(2) as u8)
    };
    (0..count).map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn merging_is_sorting_what_is_put_end_to_end(
        traces in prop::collection::vec(
            prop::collection::vec((0_u64..3, 0_u32..3, 0_u64..99, 1_u32..9, 0_u8..2), 1..60), 1..6),
        keep in any::<bool>(),
    ) {
        let rise = |trace: Vec<Line>| -> Vec<Line> {
            let mut time = 0;
            trace.into_iter().map(|line| { time += line.0; (time, line.1, line.2, line.3, line.4) }).collect()
        };
        let traces: Vec<Vec<Line>> = traces.into_iter().map(rise).collect();
        let mut work = Work::new(&traces);
        work.spec.keep_devices = keep;
        let (found, report) = work.run().unwrap();
        // A stable sort: at one time in the order of the inputs, then of the lines.
        let mut all: Vec<(usize, Line)> = Vec::new();
        for (input, trace) in traces.iter().enumerate() {
            all.extend(trace.iter().map(|line| (input, *line)));
        }
        all.sort_by_key(|(_, line)| line.0);
        let mut table: BTreeMap<(usize, u32), (u32, u64)> = BTreeMap::new();
        let expected: Vec<Line> = all.iter().map(|(input, line)| {
            let new = table.len() as u32;
            let new = if keep || traces.len() == 1 { line.1 } else { new };
            let entry = table.entry((*input, line.1)).or_insert((new, 0));
            entry.1 += 1;
            (line.0, entry.0, line.2, line.3, line.4)
        }).collect();
        prop_assert_eq!(found, expected);
        for line in report["devices"].as_array().unwrap() {
            let input = line["input"].as_str().unwrap().rsplit("in").next().unwrap();
            let device = line["device"].as_u64().unwrap() as u32;
            let (new, requests) = table.remove(&(input.parse().unwrap(), device)).unwrap();
            prop_assert_eq!(&line["output_device"], &json!(new));
            prop_assert_eq!(&line["requests"], &json!(requests));
        }
        prop_assert!(table.is_empty(), "every device is listed");
    }
}

#[test]
fn a_round_trip_keeps_the_trace() {
    let work = Work::new(&[trace(1, 10_000)]);
    let (found, report) = work.run().unwrap();
    assert_eq!(found, trace(1, 10_000));
    let written = std::fs::read(&work.spec.output).unwrap();
    assert_eq!(written, std::fs::read(&work.spec.inputs[0]).unwrap());
    assert_eq!(report["output"]["requests"], 10_000);
    assert_eq!(report["ended_by"], "inputs");
    assert_eq!(report["lost_fields"], json!({}));
    // What info tells of both is the same, but for their names.
    let mut both = [&work.spec.inputs[0], &work.spec.output]
        .map(|path| json!(trace_info(path, work.spec.format).unwrap()));
    both[0]["path"] = Value::Null;
    both[1]["path"] = Value::Null;
    assert_eq!(both[0], both[1]);
}

#[test]
fn cuts_match_a_filter() {
    let whole = trace(2, 5000);
    let mut work = Work::new(std::slice::from_ref(&whole));
    work.spec.devices = vec!["1".to_owned(), "3".to_owned()];
    work.spec.from = Nanos(1_000_000_000);
    work.spec.until = Some(Nanos(3_000_000_000));
    let kept: Vec<Line> = (whole.iter())
        .filter(|line| [1, 3].contains(&line.1) && (1_000_000..3_000_000).contains(&line.0))
        .copied()
        .collect();
    let (found, report) = work.run().unwrap();
    assert!(kept.len() > 500);
    assert_eq!(found, kept);
    assert_eq!(report["ended_by"], "until");
    let read = whole.iter().filter(|line| line.0 < 3_000_000).count() as u64 + 1;
    assert_eq!(report["inputs"][0]["requests"], read);
    let left = |key: &str| report["left_out"][key].as_u64().unwrap();
    assert_eq!(left("other_devices") + left("outside_times") + kept.len() as u64, read);

    work.spec.sample = Sample::Every(7);
    work.spec.requests = Some(50);
    work.spec.rebase = true;
    work.spec.time_scale = 4.0;
    let (found, report) = work.run().unwrap();
    let expected = kept.iter().step_by(7).take(50);
    // In ns: a quarter of whole us.
    let out = std::fs::read_to_string(&work.spec.output).unwrap();
    for ((line, found), text) in expected.clone().zip(&found).zip(out.lines()) {
        assert_eq!((line.1, line.2, line.3, line.4), (found.1, found.2, found.3, found.4));
        let ns: u64 = text.split(' ').next().unwrap().replace('.', "").parse().unwrap();
        assert_eq!(ns, (line.0 - kept[0].0) * 250);
    }
    assert_eq!(found.len(), 50);
    assert_eq!(report["ended_by"], "requests");
    assert_eq!(report["left_out"]["not_sampled"], 6 * 49);
}

#[test]
fn a_sample_of_places_keeps_the_reuse() {
    let whole = trace(3, 30_000);
    let mut work = Work::new(std::slice::from_ref(&whole));
    let unit = |line: &Line| (line.1, line.2 / 8);
    let units = |lines: &[Line]| -> BTreeSet<(u32, u64)> { lines.iter().map(unit).collect() };
    let mut sample = |share, seed| {
        work.spec.sample = Sample::Places { share, seed };
        work.run().unwrap().0
    };
    let all = units(&whole);
    let first = sample(0.2, 1);
    let taken = units(&first);
    let expected: Vec<Line> =
        whole.iter().filter(|line| taken.contains(&unit(line))).copied().collect();
    assert_eq!(first, expected, "a unit is taken with all its requests, or not at all");
    // 2,500 units: a sigma of the share is 0.008.
    let share = taken.len() as f64 / all.len() as f64;
    assert!((share - 0.2).abs() < 0.032, "{share}");
    assert_eq!(sample(0.2, 1), first);
    let other = units(&sample(0.2, 2));
    let both = taken.intersection(&other).count() as f64 / all.len() as f64;
    assert!((both - 0.04).abs() < 0.016, "independent of the other seed: {both}");
    assert!(units(&sample(0.5, 1)).is_superset(&taken), "a larger share holds the smaller");
    assert_eq!(sample(1.0, 1), whole);
}

#[test]
fn late_requests_are_sorted_or_refused() {
    let mut lines = trace(4, 3000);
    lines.sort();
    lines.dedup_by_key(|line| line.0);
    let sorted = lines.clone();
    let mut random = Stream::new(4, "shuffle");
    // Each moves by at most 3 places: 8 ms.
    for at in (3..lines.len()).step_by(4) {
        lines.swap(at, at - 1 - random.below(3) as usize);
    }
    assert_ne!(lines, sorted);
    let mut work = Work::new(&[lines]);
    let error = work.run().unwrap_err().to_string();
    assert!(error.contains("in0:") && error.contains("--sort"), "{error}");
    assert_eq!(work.files(), 1, "nothing but the input");
    work.spec.sort = Nanos(8_000_000);
    assert_eq!(work.run().unwrap().0, sorted);
    // Equal times keep their order.
    let equal = vec![(5, 0, 9, 1, 1), (3, 0, 1, 1, 1), (5, 0, 2, 1, 1), (5, 0, 7, 1, 1)];
    let mut work = Work::new(&[equal]);
    work.spec.sort = Nanos(1_000_000);
    let blocks: Vec<u64> = work.run().unwrap().0.iter().map(|line| line.2).collect();
    assert_eq!(blocks, [1, 9, 2, 7]);
}

#[test]
fn no_partial_file_is_left() {
    let work = Work::new(&[trace(5, 20_000)]);
    std::fs::write(&work.spec.output, "old").unwrap();
    let mut calls = 0;
    let stopped = work.spec.convert(&mut |_| {
        calls += 1;
        if calls == 3 { Err(Error::Interrupted) } else { Ok(()) }
    });
    assert!(matches!(stopped, Err(Error::Interrupted)));
    let mut text = text(&trace(5, 5000));
    text.push_str("9999999 0 bad 1 1\n");
    std::fs::write(&work.spec.inputs[0], text).unwrap();
    let error = work.run().unwrap_err().to_string();
    assert!(error.contains("in0:5001: field 3"), "{error}");
    assert_eq!(std::fs::read(&work.spec.output).unwrap(), b"old");
    assert_eq!(work.files(), 2);
}

#[test]
fn impossible_conversions_are_refused() {
    type Change = fn(&mut ConvertSpec);
    let cases: [(Change, &str); 9] = [
        (|spec| spec.inputs.clear(), "at least one trace"),
        (|spec| spec.until = Some(Nanos(0)), "until = 0 s: must be after from = 0 s"),
        (|spec| spec.sample = Sample::Every(0), "every = 0"),
        (|spec| spec.sample = Sample::Places { share: 0.0, seed: 1 }, "sample = 0: must"),
        (|spec| spec.sample = Sample::Places { share: f64::NAN, seed: 1 }, "sample = NaN"),
        (|spec| spec.requests = Some(0), "requests = 0"),
        (|spec| spec.time_scale = 0.0, "time_scale = 0"),
        (|spec| spec.to = Some("punch_card".to_owned()), "punch_card"),
        (|spec| spec.from = Nanos(u64::MAX), "none of 100 requests are left"),
    ];
    for (change, expected) in cases {
        let mut work = Work::new(&[trace(6, 100)]);
        change(&mut work.spec);
        let error = work.run().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}: {expected}");
        assert_eq!(work.files(), 1);
    }
    let empty = Work::new(&[trace(6, 100), Vec::new()]);
    assert!(empty.run().unwrap_err().to_string().ends_with("in1: no requests"));
}

fn load(keys: &str) -> Load {
    Load::workload("random", Keys::parse(keys, "my.toml").unwrap()).unwrap()
}

fn generated(keys: &str, place: Target<'_>) -> Result<(Vec<Line>, Value)> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("out.trace");
    let report = generate(&load(keys), place, &path, None, &mut |_| Ok(()));
    if report.is_err() {
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
    Ok((lines(&std::fs::read_to_string(&path).unwrap_or_default()), json!(report?)))
}

#[test]
fn an_open_load_needs_blocks_only_and_is_the_same_on_a_device_of_as_many() {
    let g2 = Device::resolve("g2", &[]).unwrap();
    let keys = "rate = 800\nrequests = 20000\nseed = 3\nread_fraction = 0.25\n";
    let (found, report) = generated(keys, Target::Blocks(g2.blocks())).unwrap();
    assert_eq!(found.len(), 20_000);
    assert!(found.is_sorted_by_key(|line| line.0));
    assert!(found.iter().all(|line| line.2 + u64::from(line.3) <= g2.blocks()));
    let reads = found.iter().filter(|line| line.4 == 1).count() as f64 / 20_000.0;
    assert!((reads - 0.25).abs() < 0.0125, "{reads}");
    let rate = 20_000.0 / (found[19_999].0 as f64 * 1e-6);
    assert!((rate / 800.0 - 1.0).abs() < 0.03, "{rate}");
    assert_eq!(report["arrivals"], "open");
    let on = Target::Device(&g2, SchedulerSpec::default());
    let (again, report) = generated(keys, on.clone()).unwrap();
    assert_eq!(again, found);
    assert_eq!(report["device"], "g2");
    // More than g2 can serve: still open.
    let fast = generated("rate = 1e6\nrequests = 200000\n", on).unwrap();
    assert_eq!(fast.0.len(), 200_000);
}

#[test]
fn a_closed_load_has_the_arrivals_that_happened() {
    let memory =
        "title = \"m\"\nkind = \"memory\"\nblocks = 1000\nlatency_ms = 2\nms_per_block = 0\n";
    let memory = Device::from_keys(Keys::parse(memory, "m.toml").unwrap(), None).unwrap();
    let keys = "queue_depth = 3\nthink_ms = 0.5\nrequests = 60\nmean_size_kib = 0.5\n";
    let (found, report) =
        generated(keys, Target::Device(&memory, SchedulerSpec::default())).unwrap();
    // Whoever serves takes 2 ms each, one after the other or all at once: the
    // first three arrive at 0, and all others 2.5 ms after some request began.
    assert_eq!(found.len(), 60);
    assert!(found[..3].iter().all(|line| line.0 == 0));
    assert!(found[3].0 >= 2500, "after the first completion and its think time");
    assert!(found.is_sorted_by_key(|line| line.0));
    assert_eq!(report["arrivals"], "closed, as simulated");
    assert_eq!(report["scheduler"], "fcfs");

    let error = generated(keys, Target::Blocks(1000)).unwrap_err().to_string();
    assert!(error.contains("random") && error.contains("--device"), "{error}");
    // All that are due at the start need no completion.
    assert_eq!(
        generated("queue_depth = 9\nrequests = 9\n", Target::Blocks(1000)).unwrap().0.len(),
        9
    );
    let error = generated("rate = 5\n", Target::Blocks(0)).unwrap_err().to_string();
    assert!(error.contains("blocks = 0"), "{error}");
}
