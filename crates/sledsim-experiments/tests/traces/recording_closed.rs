//! Closed replays of recordings: the completion each request waits for.

use crate::common::{self, refusals::refuse};
use proptest::prelude::*;
use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::request::Op;
use sledsim_base::row::{Parts, Row};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::load::Load;
use sledsim_experiments::run::{RowsTo, Run, run};
use sledsim_experiments::stats::RowsFile;
use std::path::Path;
use tempfile::TempDir;

fn keys(text: &str) -> Keys {
    Keys::parse(text, "my.toml").unwrap()
}

fn workload(text: &str) -> Load {
    Load::workload("random", keys(text)).unwrap()
}

/// A run whose rows go to a file, or are listed in the order of arrival.
fn go(load: &Load, device: &Device, rows: &RowsTo) -> Result<Run> {
    let mut run = run(device, load, SchedulerSpec::default(), rows, &mut |_| Ok(()))?;
    run.list.sort_unstable_by_key(|row| (row.arrival, row.id));
    Ok(run)
}

/// A request of a recording: stream, arrival, response, lateness.
type Entry = (u32, u64, u64, u64);

/// Writes a recording, as an emulator would: in the order of completion. The
/// LBN of a request is its place in `entries`, which is in the order of arrival.
fn record(path: &Path, entries: &[Entry]) {
    let mut rows: Vec<(Row, u64)> = (entries.iter().enumerate())
        .map(|(id, &(stream, arrival, response, lateness))| {
            let row = Row {
                id: id as u64,
                stream,
                op: [Op::Read, Op::Write][id % 2],
                lbn: id as u64,
                blocks: 1,
                arrival: Nanos(arrival),
                completion: Nanos(arrival + response),
                parts: Parts { other: Nanos(response), ..Parts::default() },
                ..Row::default()
            };
            (row, lateness)
        })
        .collect();
    rows.sort_by_key(|(row, _)| row.completion);
    let mut file = RowsFile::create_recording(path, &["any"], Vec::new()).unwrap();
    for (row, lateness) in rows {
        file.push_late(&row, Some(Nanos(lateness))).unwrap();
    }
    file.finish().unwrap();
}

/// What each request waits for by the rule, looked up in all that came before:
/// its place and the think time.
fn causes(entries: &[Entry], of_all: bool) -> Vec<Option<(usize, u64)>> {
    let stream = |i: usize| if of_all { 0 } else { entries[i].0 };
    let seen = |i: usize| entries[i].1 + entries[i].2 + entries[i].3;
    let mut over = vec![false; entries.len()];
    let mut found = Vec::new();
    for (i, &(_, now, ..)) in entries.iter().enumerate() {
        let own: Vec<usize> = (0..i).filter(|&j| stream(j) == stream(i)).collect();
        let mut done: Vec<usize> = own.iter().copied().filter(|&j| seen(j) <= now).collect();
        done.sort_by_key(|&j| (seen(j), j));
        let any = (0..i).filter(|&j| seen(j) <= now).max_by_key(|&j| (seen(j), j));
        let cause = match done.split_last() {
            None => any,
            Some((last, before)) => {
                if done.len() == own.len() {
                    before.iter().for_each(|&j| over[j] = true);
                }
                let unanswered = done.iter().rev().find(|&&j| !over[j]);
                Some(*unanswered.unwrap_or(last))
            }
        };
        if let Some(cause) = cause.filter(|&cause| stream(cause) == stream(i)) {
            over[cause] = true;
        }
        found.push(cause.map(|cause| (cause, now - seen(cause))));
    }
    found
}

/// Replays a recording and checks every arrival against the rule.
fn check(entries: &[Entry], device: &Device, of_all: bool) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rec.parquet");
    record(&path, entries);
    let how = match of_all {
        true => "think = \"recorded\"\ndepends_on = \"all\"",
        false => "think = \"recorded\"",
    };
    let load = Load::trace(&path, keys(how)).unwrap();
    let run = go(&load, device, &RowsTo::List).unwrap();
    assert_eq!(run.list.len(), entries.len(), "none is lost");
    let mut replayed = vec![None; entries.len()];
    for (place, row) in run.list.iter().enumerate() {
        let entry = row.lbn as usize;
        assert_eq!(row.id, place as u64, "sent in the order of arrival");
        assert_eq!(row.stream, entries[entry].0);
        assert!(replayed[entry].replace(row).is_none(), "none comes twice");
    }
    let mut waited = 0;
    for (i, cause) in causes(entries, of_all).into_iter().enumerate() {
        let arrival = match cause {
            None => entries[i].1,
            Some((cause, think)) => {
                waited += 1;
                replayed[cause].unwrap().completion.0 + think
            }
        };
        assert_eq!(replayed[i].unwrap().arrival.0, arrival, "request {i} after {cause:?}");
    }
    let facts = &json!(run.document)["workload"];
    assert_eq!(facts["waited"], waited);
    assert_eq!(facts["think"], "recorded");
    assert_eq!(facts["depends_on"], if of_all { "all" } else { "stream" });
    let end = entries.iter().map(|e| e.1 + e.2 + e.3).max().unwrap();
    let recorded = facts["recorded_duration_s"].as_f64().unwrap();
    assert!((recorded - (end - entries[0].1) as f64 * 1e-9).abs() < 1e-12 * recorded.max(1.0));
}

fn entries(unit: u64) -> impl Strategy<Value = Vec<Entry>> {
    let one = (0_u32..4, 0_u64..5, 0_u64..12, 0_u64..3);
    proptest::collection::vec(one, 1..120).prop_map(move |drawn| {
        let mut now = 0;
        let place = |(stream, gap, response, lateness): Entry| {
            now += gap * unit;
            (stream, now, response * unit, lateness * unit)
        };
        drawn.into_iter().map(place).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Small numbers: most things happen together. On a device that takes no
    /// time, on sleds that are about as fast as the recording, and on one that
    /// is far slower.
    #[test]
    fn every_request_arrives_as_long_after_what_it_waited_for(
        entries in entries(150_000),
        slower in entries(7),
        of_all in any::<bool>(),
    ) {
        let [g2, memory] = ["g2", "memory"].map(|name| common::device(name, &[]));
        check(&entries, &g2, of_all);
        check(&entries, &memory, of_all);
        check(&slower, &g2, of_all);
    }
}

#[test]
fn lateness_belongs_to_the_program_not_to_the_device() {
    // Complete at 10, seen at 13, and 5 after that the next one: it thought 5.
    let g2 = common::device("g2", &[]);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rec.parquet");
    record(&path, &[(0, 2, 8, 3), (0, 18, 4, 0)]);
    let load = Load::trace(&path, keys("think = \"recorded\"")).unwrap();
    let run = go(&load, &g2, &RowsTo::List).unwrap();
    let [first, second] = run.list.as_slice() else {
        panic!("two requests");
    };
    assert_eq!(first.arrival.0, 2);
    assert_eq!(second.arrival.0, first.completion.0 + 5);
    let facts = &json!(run.document)["workload"];
    let ns = |key: &str| facts[key].as_f64().unwrap() * 1e6;
    assert!((ns("mean_think_ms") - 5.0).abs() < 1e-9);
    assert!((ns("mean_lateness_ms") - 1.5).abs() < 1e-9);
    // Halved, as all times of the trace are.
    let load = Load::trace(&path, keys("think = \"recorded\"\ntime_scale = 0.5")).unwrap();
    let run = go(&load, &g2, &RowsTo::List).unwrap();
    assert_eq!(run.list[0].arrival.0, 4);
    assert_eq!(run.list[1].arrival.0, run.list[0].completion.0 + 10);
    let load = Load::trace(&path, keys("think = \"recorded\"\ntime_origin = \"first\"")).unwrap();
    let run = go(&load, &g2, &RowsTo::List).unwrap();
    assert_eq!(run.list[0].arrival.0, 0);
    assert_eq!(run.list[1].arrival.0, run.list[0].completion.0 + 5);
}

/// Records `load` on one device, replays it closed on another, and returns the
/// run time and the mean response time, of the load itself there and then of
/// the replay relative to it.
fn elsewhere(load: &Load, from: &Device, to: &Device) -> [f64; 2] {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rec.parquet");
    go(load, from, &RowsTo::File(path.clone())).unwrap();
    let replay = Load::trace(&path, keys("think = \"recorded\"")).unwrap();
    let [itself, replay] = [load, &replay].map(|load| go(load, to, &RowsTo::Nowhere).unwrap());
    let ratio =
        |of: &dyn Fn(&Value) -> f64| of(&json!(replay.document)) / of(&json!(itself.document));
    let ratios = [
        ratio(&|d| d["summary"]["simulated_s"].as_f64().unwrap()),
        ratio(&|d| d["summary"]["response_time_ms"]["mean"].as_f64().unwrap()),
    ];
    println!("{} -> {}: {ratios:?}", from.name(), to.name());
    ratios
}

#[test]
fn a_closed_loop_keeps_its_depth_on_another_device() {
    let device = |name| common::device(name, &[]);
    let load = |depth| {
        let keys = format!("queue_depth = {depth}\nlast_lbn = 4000000\nrequests = 4000");
        workload(&keys)
    };
    // Where requests are complete in the order of their arrival the replay is
    // the load itself, as nothing is drawn but places and sizes.
    for (depth, from, to) in [(1, "g2", "atlas10k"), (1, "atlas10k", "g2"), (8, "g2", "g1")] {
        let ratios = elsewhere(&load(depth), &device(from), &device(to));
        assert_eq!(ratios, [1.0, 1.0], "depth {depth}");
    }
    // The buffer of a disk completes some before others, and the recording says
    // which request came after which: a few change places, and places are what
    // a mean of 4000 depends on to 1 or 2 %.
    for (from, to) in [("g2", "atlas10k"), ("atlas10k", "g2")] {
        let [time, response] = elsewhere(&load(8), &device(from), &device(to));
        assert!((time - 1.0).abs() < 0.02, "run time {time}");
        assert!((response - 1.0).abs() < 0.03, "response {response}");
    }
}

#[test]
fn customers_that_think_keep_the_device_as_busy() {
    // Which of the customers asks is not in the recording. While the device has
    // always some of them waiting, it does not matter: run and response times
    // differ by the noise of think times that are paired otherwise.
    let [g2, atlas] = ["g2", "atlas10k"].map(|name| common::device(name, &[]));
    let load = |think_ms: f64| {
        workload(&format!(
            "queue_depth = 8\nthink_ms = {think_ms}\nthink = \"exponential\"\nlast_lbn = 4000000\nrequests = 8000"
        ))
    };
    for (from, to, think_ms) in [(&g2, &atlas, 0.5), (&atlas, &g2, 0.5), (&atlas, &g2, 3.0)] {
        let [time, response] = elsewhere(&load(think_ms), from, to);
        assert!((time - 1.0).abs() < 0.02, "run time {time}");
        assert!((response - 1.0).abs() < 0.05, "response {response}");
    }
}

fn replayed(path: &Path, how: &str) -> Result<()> {
    let load = Load::trace(path, keys(how))?;
    go(&load, &common::device("g2", &[]), &RowsTo::Nowhere).map(drop)
}

#[test]
fn traces_unsuitable_for_closed_replay_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rec.parquet");
    record(&path, &[(0, 2, 8, 3), (0, 18, 4, 0)]);
    let table = r#"
    think = "recorded" ; queue_depth = 2 => think | queue_depth
    think = "recorded" ; think_ms = 2 => think | think_ms
    think = "recorded" ; rate = 2 => rate
    think = "recorded" ; depends_on = "none" => depends_on | "stream" | "all"
    think = "fixed" => think | "recorded"
    depends_on = "all" => needs think = "recorded"
    "#;
    refuse(table, |how| replayed(&path, how));
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let header =
        "time_ns,device,device_name,op,offset_bytes,bytes,response_ns,think_ns,queue_ns,linked\n";
    // A file and its lines.
    let table = r#"
    plain.trace ; 0.5 0 100 8 1 ; 0.7 0 100 8 1 => plain.trace:1: no response time
    some.validate ; R Hit 5 8 100.0 7.5 ; R Hit 5 8 100.0 7.5 => think: has no effect
    linked.csv ; @ ; 5,7,a,read,512,512,9,,,1 ; 6,7,a,read,0,512,3,,, =>
        linked.csv:2: a linked request
    gap.csv ; @ ; 5,7,a,read,512,512,9,,, ; 6,7,a,read,0,512,,,, => gap.csv:3: no response time
    "#;
    refuse(table, |given| {
        let (name, lines) = given.split_once('\n').unwrap();
        let lines = format!("{}\n", lines.replace('@', header.trim()));
        replayed(&write(name, &lines), "think = \"recorded\"")
    });
    // With all responses, any format will do.
    let whole =
        write("whole.csv", &format!("{header}5,7,a,read,512,512,9,,,\n16,7,a,read,0,512,1,,,\n"));
    let load = Load::trace(&whole, keys("think = \"recorded\"")).unwrap();
    let run = go(&load, &common::device("g2", &[]), &RowsTo::List).unwrap();
    assert_eq!(run.list[1].arrival.0, run.list[0].completion.0 + 2);
}
