//! Series over windows of time, against brute force and the summary.

use super::{Seen, close, g2, in_memory, load, number, planned, rows, tried};
use arrow_array::{Float64Array, Int64Array, RecordBatch, UInt64Array};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::json;
use sledsim_base::keys::Keys;
use sledsim_base::units::Nanos;
use sledsim_experiments::load::Load;
use sledsim_experiments::run::{Plan, RowsTo, SeriesTo};
use sledsim_experiments::stats::{Window, series_batch};
use std::fs::{self, File};
use std::io::Write;
use tempfile::tempdir;

/// Brute force: every row looks at every window.
fn expected(rows: &[Seen], windows: &[Window]) -> Vec<(u64, u64, f64)> {
    (windows.iter())
        .map(|window| {
            let (start, end) = (window.start.0, window.end.0);
            let ends_here = |row: &&Seen| row.completion > start && row.completion <= end;
            let overlap =
                |row: &Seen| row.completion.min(end).saturating_sub(row.arrival.max(start));
            let done: Vec<&Seen> = rows.iter().filter(ends_here).collect();
            let time: u64 = rows.iter().map(overlap).sum();
            (
                done.len() as u64,
                done.iter().map(|row| u64::from(row.blocks)).sum(),
                time as f64 / (end - start) as f64,
            )
        })
        .collect()
}

fn seconds(window: &Window) -> f64 {
    (window.end.0 - window.start.0) as f64 / 1e9
}

#[test]
fn windows_agree_with_brute_force_and_add_up_to_the_summary() {
    for (keys, window) in [
        ("rate = 1500.0\nrequests = 3000\n", None), // saturating: queues of hundreds
        ("rate = 300.0\nrequests = 3000\n", None),
        ("queue_depth = 9\nrequests = 3000\n", Some(Nanos(3_333_333))),
        ("think_ms = 150.0\nrequests = 300\n", Some(Nanos(1_000_000_000))),
        ("requests = 2\n", None),
        ("rate = 5000.0\nrequests = 9000\nmax_queue = 300\n", None),
        ("rate = 800.0\nrequests = 2000\nwarm_up_s = 1.0\n", None),
    ] {
        let plan = Plan { window, ..in_memory() };
        let run = planned(&g2(), &load(keys), &plan);
        let windows = run.series.as_ref().unwrap();
        let rows = rows(&run.batches);
        let summary = &json!(run.document)["summary"];
        assert!(windows.len() <= 1024 || window.is_some(), "{keys}: {}", windows.len());
        let expected = expected(&rows, windows);
        for (window, (requests, blocks, outstanding)) in windows.iter().zip(&expected) {
            assert_eq!(window.requests, *requests, "{keys}: {window:?}");
            assert_eq!(window.blocks, *blocks, "{keys}: {window:?}");
            assert!(close(window.outstanding, *outstanding), "{keys}: {window:?}, {outstanding}");
            assert!(window.energy_j >= Some(0.0), "{keys}: {window:?}");
        }
        // They are of equal length and leave no gaps.
        let end = (1e9 * number(&summary["simulated_s"])).round() as u64;
        assert_eq!(windows.last().unwrap().end.0, end, "{keys}");
        let length = windows[0].end.0;
        assert!(windows.windows(2).all(|w| w[0].end == w[1].start && w[0].end.0 % length == 0));
        // Sums are the totals of the summary.
        let cut = summary["warm_up"]["requests"].as_u64().unwrap_or(0);
        let requests: u64 = windows.iter().map(|w| w.requests).sum();
        assert_eq!(requests, summary["requests"].as_u64().unwrap() + cut, "{keys}");
        if cut == 0 {
            let blocks: u64 = windows.iter().map(|w| w.blocks).sum();
            let moved = ["blocks_read", "blocks_written"].map(|key| summary[key].as_u64().unwrap());
            assert_eq!(blocks, moved[0] + moved[1], "{keys}");
            let energy: f64 = windows.iter().map(|w| w.energy_j.unwrap()).sum();
            assert!(close(energy, number(&summary["energy_j"]["total"])), "{keys}: {energy}");
            // Little: mean outstanding = rate of completions x mean response.
            let time: f64 = windows.iter().map(|w| w.outstanding * seconds(w)).sum();
            let response = number(&summary["response_time_ms"]["mean"]) / 1e3;
            assert!(close(time, requests as f64 * response), "{keys}: {time}");
        }
    }
}

/// An idle sled takes its idle power, a working one more.
#[test]
fn power_follows_the_work() {
    let run = planned(&g2(), &load("rate = 20.0\nrequests = 400\n"), &in_memory());
    let windows = run.series.unwrap();
    let power = |w: &Window| w.energy_j.unwrap() / seconds(w);
    let quiet: Vec<f64> = windows.iter().filter(|w| w.outstanding == 0.0).map(power).collect();
    let busy: Vec<f64> = windows.iter().filter(|w| w.requests > 0).map(power).collect();
    assert!(quiet.len() > 20 && busy.len() > 20);
    let least = busy.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    assert!(mean(&busy) > 1.05 * mean(&quiet), "{} {}", mean(&busy), mean(&quiet));
    assert!(least > 0.0);
}

#[test]
fn files_hold_what_memory_holds() {
    let folder = tempdir().unwrap();
    let keys = "rate = 800.0\nrequests = 2000\n";
    let file = |name: &str| {
        let path = folder.path().join(name);
        let plan = Plan { series: SeriesTo::File(path.clone()), ..Plan::default() };
        let run = planned(&g2(), &load(keys), &plan);
        (path, series_batch(&run.series.unwrap()))
    };
    let (path, batch) = file("a.parquet");
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let read: Vec<RecordBatch> = reader.build().unwrap().map(|b| b.unwrap()).collect();
    let read = arrow_select_one(&read);
    assert_eq!(read.columns(), batch.columns());
    assert_eq!(read.schema().fields(), batch.schema().fields());
    let (path, batch) = file("a.CSV");
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names: Vec<String> = batch.schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(lines.next().unwrap(), names.join(","));
    for (i, line) in lines.clone().enumerate() {
        for (cell, column) in line.split(',').zip(batch.columns()) {
            let any = column.as_any();
            if let Some(times) = any.downcast_ref::<Int64Array>() {
                assert_eq!(cell.parse::<i64>().unwrap(), times.value(i));
            } else if let Some(counts) = any.downcast_ref::<UInt64Array>() {
                assert_eq!(cell.parse::<u64>().unwrap(), counts.value(i));
            } else {
                let numbers = any.downcast_ref::<Float64Array>().unwrap();
                assert_eq!(cell.parse::<f64>().unwrap(), numbers.value(i));
            }
        }
    }
    assert_eq!(lines.count(), batch.num_rows());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

fn arrow_select_one(batches: &[RecordBatch]) -> RecordBatch {
    assert_eq!(batches.len(), 1);
    batches[0].clone()
}

#[test]
fn a_wrong_name_or_a_failed_run_leaves_nothing() {
    let folder = tempdir().unwrap();
    for (name, keys) in [
        ("x.txt", ""),
        ("x", ""),
        ("none/x.csv", ""),
        ("x.csv", "warm_up_s = 1e6\n"),
        ("x.parquet", "warm_up_s = 1e6\n"),
    ] {
        let plan = Plan {
            rows: RowsTo::File(folder.path().join("rows.parquet")),
            series: SeriesTo::File(folder.path().join(name)),
            ..Plan::default()
        };
        assert!(tried(&g2(), &load(keys), &plan).is_err(), "{name}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");
    }
    let same = folder.path().join("same.parquet");
    let plan =
        Plan { rows: RowsTo::File(same.clone()), series: SeriesTo::File(same), ..Plan::default() };
    assert!(tried(&g2(), &load(""), &plan).is_err());
}

#[test]
fn a_long_gap_makes_long_windows() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("gap.trace");
    let mut file = File::create(&path).unwrap();
    for at_ms in [0.0, 5.0, 86_400_000.0, 172_800_000.5] {
        writeln!(file, "{at_ms} 0 1000 8 1").unwrap();
    }
    let load = Load::trace(&path, Keys::empty("trace")).unwrap();
    let run = planned(&g2(), &load, &in_memory());
    let windows = run.series.unwrap();
    assert!((512..=1024).contains(&windows.len()), "{}", windows.len());
    let requests: Vec<u64> = windows.iter().map(|w| w.requests).filter(|&n| n > 0).collect();
    assert_eq!(requests, [2, 1, 1]);
    let energy: f64 = windows.iter().map(|w| w.energy_j.unwrap()).sum();
    assert!(close(energy, number(&json!(run.document)["summary"]["energy_j"]["total"])));
}
