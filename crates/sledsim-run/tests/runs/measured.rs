//! Are runs measured right? Conservation, brute force over the rows, and runs
//! that must be each other's equals: cut and uncut, stopped and bounded, one
//! thread and several.

use crate::common;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Float64Array, Int64Array, RecordBatch, UInt64Array};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::Keys;
use sledsim_base::progress::Progress;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::Choice;
use sledsim_run::load::Load;
use sledsim_run::run::{Plan, RowsTo, Run, SeriesTo, run};
use sledsim_run::stats::{Window, series_batch};
use std::fs::{self, File};
use std::io::Write;
use tempfile::tempdir;

fn g2() -> Device {
    common::device("g2", &[])
}

fn try_load(text: &str) -> Result<Load> {
    Load::workload("random", Keys::parse(text, "load.toml")?)
}

fn load(text: &str) -> Load {
    try_load(text).unwrap()
}

fn tried(device: &Device, load: &Load, plan: &Plan) -> Result<Run> {
    run(device, load, Choice::default(), plan, &mut |_| Ok(()))
}

fn planned(device: &Device, load: &Load, plan: &Plan) -> Run {
    tried(device, load, plan).unwrap()
}

fn in_memory() -> Plan {
    Plan {
        rows: RowsTo::Memory,
        series: SeriesTo::Memory,
        ..Plan::default()
    }
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs().max(1e-9)
}

/// What the tests need of a row.
#[derive(Clone, Copy, Debug)]
struct Seen {
    id: u64,
    arrival: u64,
    completion: u64,
    queue: u64,
    lbn: u64,
    blocks: u32,
    write: bool,
    energy_nj: u64,
}

fn rows(batches: &[RecordBatch]) -> Vec<Seen> {
    let mut rows = Vec::new();
    for batch in batches {
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let signed =
            |name: &str, i: usize| column(name).as_primitive::<Int64Type>().value(i) as u64;
        for i in 0..batch.num_rows() {
            rows.push(Seen {
                id: column("id").as_primitive::<UInt64Type>().value(i),
                arrival: signed("arrival_ns", i),
                completion: signed("completion_ns", i),
                queue: signed("queue_ns", i),
                lbn: signed("lbn", i),
                blocks: column("blocks").as_primitive::<UInt32Type>().value(i),
                write: column("op").as_any_dictionary().normalized_keys()[i] == Op::Write as usize,
                energy_nj: signed("energy_nj", i),
            });
        }
    }
    rows
}

mod warm_up {
    use super::*;

    fn energy(summary: &Value) -> f64 {
        number(&summary["energy_j"]["total"])
    }

    #[test]
    fn what_is_cut_and_what_counts_are_the_whole() {
        for (arrivals, cut) in [
            ("rate = 800.0", "warm_up_requests = 700"),
            ("rate = 800.0", "warm_up_s = 1.25"),
            ("rate = 800.0", "warm_up_s = 0.2\nwarm_up_requests = 700"),
            ("queue_depth = 7", "warm_up_requests = 700"),
            ("think_ms = 40.0", "warm_up_s = 30.0"),
        ] {
            let text = format!("{arrivals}\nrequests = 3000\n");
            let whole = planned(&g2(), &load(&text), &in_memory());
            let some = planned(&g2(), &load(&(text.clone() + cut)), &in_memory());
            // Warming up changes nothing that happens.
            assert_eq!(whole.batches, some.batches, "{cut}");
            assert_eq!(whole.series, some.series, "{cut}");
            let all = rows(&some.batches);
            let summary = &some.document["summary"];
            assert_eq!(whole.document["summary"]["warm_up"], Value::Null);
            let until = (1e9 * number(&summary["warm_up"]["until_s"])).round() as u64;
            let (cut_off, counted): (Vec<Seen>, Vec<Seen>) =
                all.iter().partition(|r| r.arrival < until);
            assert!(!cut_off.is_empty() && !counted.is_empty());
            assert_eq!(summary["warm_up"]["requests"], cut_off.len());
            assert_eq!(summary["requests"], counted.len());
            if arrivals.starts_with("rate") && cut.contains("700") {
                assert_eq!(cut_off.len(), 700, "{cut}");
            }
            // Everything starts with the first request that counts.
            let end = all.iter().map(|r| r.completion).max().unwrap();
            assert_eq!(until, counted.iter().map(|r| r.arrival).min().unwrap());
            let seconds = (end - until) as f64 / 1e9;
            assert!(close(number(&summary["duration_s"]), seconds));
            let rate = counted.len() as f64 / seconds;
            assert!(close(number(&summary["throughput_iops"]), rate));
            let response: u64 = counted.iter().map(|r| r.completion - r.arrival).sum();
            let mean = response as f64 / counted.len() as f64 / 1e6;
            assert!(close(number(&summary["response_time_ms"]["mean"]), mean));
            let nanojoules: u64 = counted.iter().map(|r| r.energy_nj).sum();
            assert!(close(
                number(&summary["request_energy_j"]),
                nanojoules as f64 / 1e9
            ));
            // Energy: that of the whole but for the window that ends there.
            let window = Some(Nanos(until));
            let plan = Plan {
                window,
                ..in_memory()
            };
            let windows = planned(&g2(), &load(&text), &plan).series.unwrap();
            assert_eq!(windows[0].end.0, until);
            let whole = energy(&whole.document["summary"]);
            assert!(close(energy(summary), whole - windows[0].energy_j), "{cut}");
            assert!(energy(summary) < 0.9 * whole, "{cut}");
            let (busy, active) = (&summary["devices"][0]["busy_s"], seconds);
            let utilisation = number(&summary["utilisation"]);
            assert!(close(number(busy) / active, utilisation));
            assert!(utilisation <= 1.0 + 1e-3, "{cut}: {utilisation}");
        }
    }

    /// A server of fixed service times, one request at a time: everything is
    /// known. Half of the requests are cut, and half of the busy time.
    #[test]
    fn a_metronome() {
        let text = "title = \"x\"\nkind = \"memory\"\nblocks = 1000\nlatency_ms = 1.0\nms_per_block = 0.0\n";
        let device = Device::from_keys(Keys::parse(text, "x.toml").unwrap(), None).unwrap();
        // From a completion to the next arrival 3 ms: one in 4 ms, busy 1/4.
        let keys = "think_ms = 3.0\nrequests = 1000\nwarm_up_requests = 500\n";
        let summary = &planned(&device, &load(keys), &Plan::default()).document["summary"];
        assert_eq!(summary["requests"], 500);
        assert_eq!(summary["warm_up"]["until_s"], 2.0);
        assert_eq!(summary["duration_s"], 1.997);
        assert_eq!(summary["devices"][0]["busy_s"], 0.5);
        assert!(close(number(&summary["utilisation"]), 0.5 / 1.997));
        assert_eq!(summary["simulated_s"], 3.997);
        let keys = keys.replace("warm_up_requests = 500", "warm_up_s = 1.9965");
        let late = &planned(&device, &load(&keys), &Plan::default()).document["summary"];
        assert_eq!(late["warm_up"]["until_s"], 2.0, "the next to arrive");
    }

    #[test]
    fn longer_than_the_load_is_an_error() {
        let message = |text: &str| {
            let error = try_load(text).and_then(|load| tried(&g2(), &load, &in_memory()));
            error.map(drop).unwrap_err().to_string()
        };
        for (text, says) in [
            (
                "requests = 50\nwarm_up_requests = 50\n",
                "must be below the 50 requests",
            ),
            (
                "requests = 50\nwarm_up_s = 1000.0\n",
                "warm_up_s = 1000: the load ended at",
            ),
            ("warm_up_s = -1.0\n", "warm_up_s = -1"),
            ("warm_up_requests = 0.5\n", "warm_up_requests = 0.5"),
        ] {
            let said = message(text);
            assert!(said.contains(says), "{said}");
        }
        // A device that is outrun while it warms up is reported as that.
        let text = "rate = 1e6\nrequests = 5000\nmax_queue = 100\nwarm_up_requests = 4000\n";
        let summary = &planned(&g2(), &load(text), &Plan::default()).document["summary"];
        assert!(summary["saturated"]["queue"].as_u64() > Some(0));
        assert_eq!(summary["requests"], 0);
    }
}

mod precision {
    use super::*;

    fn precise(precision: f64) -> Plan {
        Plan {
            precision: Some(precision),
            ..Plan::default()
        }
    }

    /// All but what is about the precision and its interval.
    fn rest(run: &Run) -> Value {
        let mut document = run.document.clone();
        let summary = document["summary"].as_object_mut().unwrap();
        summary.remove("precision");
        summary.remove("confidence");
        document
    }

    #[test]
    fn a_run_that_it_stops_is_the_run_of_so_many_requests() {
        for arrivals in ["rate = 700.0\n", "queue_depth = 5\n", ""] {
            let stopped = planned(&g2(), &load(arrivals), &precise(0.02));
            let said = &stopped.document["summary"]["precision"];
            assert_eq!(said["met"], true, "{said}");
            assert_eq!(said["missed"], Value::Null);
            assert!(number(&said["reached"]) <= 0.02);
            let requests = &stopped.document["summary"]["requests"];
            assert_eq!(stopped.document["workload"]["requests"], *requests);
            let bounded = load(&format!("{arrivals}requests = {requests}\n"));
            let bounded = planned(&g2(), &bounded, &Plan::default());
            assert_eq!(rest(&stopped), rest(&bounded));
        }
    }

    #[test]
    fn a_load_that_ends_before_says_so() {
        let said = |text: &str| {
            let run = planned(&g2(), &load(text), &precise(0.001));
            run.document["summary"]["precision"].clone()
        };
        let ended = said("requests = 2000\n");
        assert_eq!(ended["met"], false);
        assert!(number(&ended["reached"]) > 0.001);
        assert_eq!(ended["missed"], "the load ended after 2000 requests");
        let few = said("rate = 700.0\nrequests = 200\n");
        assert_eq!(
            few["missed"],
            "the load ended after 200 requests (too few requests)"
        );
        let none = said("rate = 700.0\nrequests = 1\n");
        assert_eq!(none["reached"], Value::Null);
        let outrun = said("rate = 9000.0\nmax_queue = 1000\n");
        assert_eq!(outrun["missed"], "the load outran the device (saturated)");
        // Longer than 285 years: the longest load there is, then.
        let text = "rate = 2e-6\n";
        let rare = planned(
            &g2(),
            &load(&format!("{text}requests = 20\n")),
            &Plan::default(),
        );
        assert_eq!(rare.document["summary"]["requests"], 20);
        let rare = said(text);
        assert_eq!(rare["missed"], "the limit of 18000 requests came first");
    }

    #[test]
    fn a_trace_ends_it_too() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("a.trace");
        let lines: String = (0..50)
            .map(|i| format!("{i} 0 {} 8 1\n", 977 * i))
            .collect();
        fs::write(&path, lines).unwrap();
        let load = Load::trace(&path, Keys::empty("trace")).unwrap();
        let said = planned(&g2(), &load, &precise(0.01)).document["summary"]["precision"].clone();
        assert_eq!(
            said["missed"],
            "the load ended after 50 requests (too few requests)"
        );
        let seeds = Plan {
            seeds: 2,
            ..Plan::default()
        };
        let error = tried(&g2(), &load, &seeds).map(drop).unwrap_err();
        assert!(error.to_string().contains("a trace has no seed"), "{error}");
    }
}

mod seeds {
    use super::*;

    fn seeds(seeds: u64, threads: usize) -> Plan {
        Plan {
            seeds,
            threads,
            ..Plan::default()
        }
    }

    const LOAD: &str = "rate = 900.0\nrequests = 2000\nseed = 3\nwarm_up_requests = 100\n";

    #[test]
    fn threads_make_no_difference() {
        for precision in [None, Some(0.04)] {
            let run = |threads| {
                let plan = Plan {
                    precision,
                    ..seeds(7, threads)
                };
                let load = if precision.is_some() {
                    "rate = 900.0"
                } else {
                    LOAD
                };
                let run = planned(&g2(), &load_of(load), &plan);
                (run.document.to_string(), run.stats)
            };
            let one = run(1);
            for threads in [2, 4, 0, 100] {
                assert!(one == run(threads), "{threads} threads");
            }
        }
    }

    fn load_of(text: &str) -> Load {
        load(text)
    }

    #[test]
    fn together_they_are_their_sum() {
        let all = planned(&g2(), &load(LOAD), &seeds(4, 2));
        let summary = &all.document["summary"];
        let singles: Vec<Run> = (3..7)
            .map(|seed| {
                let text = LOAD.replace("seed = 3", &format!("seed = {seed}"));
                planned(&g2(), &load(&text), &Plan::default())
            })
            .collect();
        let of = |pointer: &str| -> Vec<f64> {
            let one = |run: &Run| number(run.document["summary"].pointer(pointer).unwrap());
            singles.iter().map(one).collect()
        };
        for pointer in [
            "/requests",
            "/reads",
            "/blocks_read",
            "/duration_s",
            "/simulated_s",
            "/warm_up/requests",
            "/energy_j/total",
            "/energy_j/idle",
            "/request_energy_j",
            "/devices/0/busy_s",
        ] {
            let sum: f64 = of(pointer).iter().sum();
            assert!(
                close(number(summary.pointer(pointer).unwrap()), sum),
                "{pointer}"
            );
        }
        let requests: f64 = of("/requests").iter().sum();
        let duration: f64 = of("/duration_s").iter().sum();
        assert!(close(
            number(&summary["throughput_iops"]),
            requests / duration
        ));
        let most = of("/response_time_ms/max").into_iter().fold(0.0, f64::max);
        assert_eq!(number(&summary["response_time_ms"]["max"]), most);
        // What each gave is what it gives alone.
        for (seed, (one, alone)) in
            (3..).zip(summary["seeds"].as_array().unwrap().iter().zip(&singles))
        {
            let alone = &alone.document["summary"];
            assert_eq!(one["seed"], seed);
            assert_eq!(one["requests"], alone["requests"]);
            assert_eq!(
                one["mean_response_time_ms"],
                alone["response_time_ms"]["mean"]
            );
            assert_eq!(one["mean_queue_ms"], alone["queue_ms"]["mean"]);
            assert_eq!(one["throughput_iops"], alone["throughput_iops"]);
            assert_eq!(one["confidence"], alone["confidence"]["response_time_ms"]);
            assert_eq!(alone["seeds"], Value::Null);
        }
        // The interval by hand: t with three degrees of freedom is 3.182.
        let means = of("/response_time_ms/mean");
        let mean = means.iter().sum::<f64>() / 4.0;
        let variance = means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 3.0;
        let half = 3.182_446 * (variance / 4.0).sqrt();
        let found = &summary["confidence"]["response_time_ms"];
        assert_eq!(summary["confidence"]["method"], "replications");
        assert!((number(&found["low"]) - (mean - half)).abs() < 1e-6 * mean);
        assert!((number(&found["high"]) - (mean + half)).abs() < 1e-6 * mean);
        // The longest wait, and whose it was.
        let longest = &summary["longest_wait"];
        let seed = longest["seed"].as_u64().unwrap();
        let alone = &singles[(seed - 3) as usize].document["summary"]["longest_wait"];
        assert_eq!(longest["id"], alone["id"]);
        assert_eq!(longest["queue_ms"], alone["queue_ms"]);
        assert_eq!(alone["seed"], Value::Null);
    }

    #[test]
    fn one_seed_is_a_plain_run() {
        let plain = planned(&g2(), &load(LOAD), &Plan::default()).document;
        assert_eq!(planned(&g2(), &load(LOAD), &seeds(1, 0)).document, plain);
    }

    #[test]
    fn the_first_error_is_told_and_all_stop() {
        // Every one fails; told is what the first seed says, on any machine.
        let text = "requests = 50\nrate = 1000.0\nwarm_up_s = 0.06\n";
        let alone = |seed: u64| {
            let load = load(&format!("{text}seed = {seed}\n"));
            tried(&g2(), &load, &Plan::default()).map(drop)
        };
        let failing = (1..).find(|&seed| alone(seed).is_err()).unwrap();
        for threads in [1, 3] {
            let error = tried(&g2(), &load(text), &seeds(failing + 20, threads)).map(drop);
            let expected = alone(failing).unwrap_err().to_string();
            assert_eq!(error.unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn progress_is_told_and_a_wish_to_stop_is_heard() {
        let mut last = Progress {
            completed: 0,
            requests: None,
            share: None,
        };
        let load = load("requests = 1000000000\n");
        let error = run(&g2(), &load, Choice::default(), seeds(3, 2), &mut |at| {
            assert!(at.completed >= last.completed);
            last = at;
            if at.completed > 100_000 {
                return Err(Error::Interrupted);
            }
            Ok(())
        });
        assert!(matches!(error.map(drop), Err(Error::Interrupted)));
        assert_eq!(last.requests, Some(3_000_000_000));
    }

    #[test]
    fn what_there_is_only_of_one_run_is_refused() {
        for (plan, says) in [
            (
                Plan {
                    rows: RowsTo::Memory,
                    ..seeds(2, 0)
                },
                "requests",
            ),
            (
                Plan {
                    series: SeriesTo::Memory,
                    ..seeds(2, 0)
                },
                "series",
            ),
            (seeds(10_001, 0), "seeds = 10001"),
            (
                Plan {
                    precision: Some(0.0),
                    ..seeds(1, 0)
                },
                "precision = 0",
            ),
            (
                Plan {
                    precision: Some(2.0),
                    ..seeds(1, 0)
                },
                "precision = 2",
            ),
            (
                Plan {
                    precision: Some(f64::NAN),
                    ..seeds(1, 0)
                },
                "precision = NaN",
            ),
            (
                Plan {
                    window: Some(Nanos(5)),
                    ..seeds(1, 0)
                },
                "series_ms",
            ),
            (
                Plan {
                    window: Some(Nanos(5)),
                    series: SeriesTo::Memory,
                    ..seeds(1, 0)
                },
                "choose longer ones",
            ),
        ] {
            let said = tried(&g2(), &load(LOAD), &plan)
                .map(drop)
                .unwrap_err()
                .to_string();
            assert!(said.contains(says), "{said}");
        }
        let last = load("seed = 9223372036854775807\n");
        assert!(tried(&g2(), &last, &seeds(2, 0)).is_err());
    }
}

mod series {
    use super::*;

    /// Brute force: every row looks at every window.
    fn expected(rows: &[Seen], windows: &[Window]) -> Vec<(u64, u64, f64)> {
        (windows.iter())
            .map(|window| {
                let (start, end) = (window.start.0, window.end.0);
                let ends_here = |row: &&Seen| row.completion > start && row.completion <= end;
                let overlap = |row: &Seen| {
                    row.completion
                        .min(end)
                        .saturating_sub(row.arrival.max(start))
                };
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
            (
                "think_ms = 150.0\nrequests = 300\n",
                Some(Nanos(1_000_000_000)),
            ),
            ("requests = 2\n", None),
            ("rate = 5000.0\nrequests = 9000\nmax_queue = 300\n", None),
            ("rate = 800.0\nrequests = 2000\nwarm_up_s = 1.0\n", None),
        ] {
            let plan = Plan {
                window,
                ..in_memory()
            };
            let run = planned(&g2(), &load(keys), &plan);
            let windows = run.series.as_ref().unwrap();
            let rows = rows(&run.batches);
            let summary = &run.document["summary"];
            assert!(
                windows.len() <= 1024 || window.is_some(),
                "{keys}: {}",
                windows.len()
            );
            let expected = expected(&rows, windows);
            for (window, (requests, blocks, outstanding)) in windows.iter().zip(&expected) {
                assert_eq!(window.requests, *requests, "{keys}: {window:?}");
                assert_eq!(window.blocks, *blocks, "{keys}: {window:?}");
                assert!(
                    close(window.outstanding, *outstanding),
                    "{keys}: {window:?}, {outstanding}"
                );
                assert!(window.energy_j >= 0.0, "{keys}: {window:?}");
            }
            // They are of equal length and leave no gaps.
            let end = (1e9 * number(&summary["simulated_s"])).round() as u64;
            assert_eq!(windows.last().unwrap().end.0, end, "{keys}");
            let length = windows[0].end.0;
            assert!(
                windows
                    .windows(2)
                    .all(|w| w[0].end == w[1].start && w[0].end.0 % length == 0)
            );
            // Sums are the totals of the summary.
            let cut = summary["warm_up"]["requests"].as_u64().unwrap_or(0);
            let requests: u64 = windows.iter().map(|w| w.requests).sum();
            assert_eq!(
                requests,
                summary["requests"].as_u64().unwrap() + cut,
                "{keys}"
            );
            if cut == 0 {
                let blocks: u64 = windows.iter().map(|w| w.blocks).sum();
                let moved =
                    ["blocks_read", "blocks_written"].map(|key| summary[key].as_u64().unwrap());
                assert_eq!(blocks, moved[0] + moved[1], "{keys}");
                let energy: f64 = windows.iter().map(|w| w.energy_j).sum();
                assert!(
                    close(energy, number(&summary["energy_j"]["total"])),
                    "{keys}: {energy}"
                );
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
        let power = |w: &Window| w.energy_j / seconds(w);
        let quiet: Vec<f64> = windows
            .iter()
            .filter(|w| w.outstanding == 0.0)
            .map(power)
            .collect();
        let busy: Vec<f64> = windows
            .iter()
            .filter(|w| w.requests > 0)
            .map(power)
            .collect();
        assert!(quiet.len() > 20 && busy.len() > 20);
        let least = busy.iter().copied().fold(f64::INFINITY, f64::min);
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        assert!(
            mean(&busy) > 1.05 * mean(&quiet),
            "{} {}",
            mean(&busy),
            mean(&quiet)
        );
        assert!(least > 0.0);
    }

    #[test]
    fn files_hold_what_memory_holds() {
        let folder = tempdir().unwrap();
        let keys = "rate = 800.0\nrequests = 2000\n";
        let file = |name: &str| {
            let path = folder.path().join(name);
            let plan = Plan {
                series: SeriesTo::File(path.clone()),
                ..Plan::default()
            };
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
        let names: Vec<String> = batch
            .schema()
            .fields()
            .iter()
            .map(|f| f.name().clone())
            .collect();
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
        let plan = Plan {
            rows: RowsTo::File(same.clone()),
            series: SeriesTo::File(same),
            ..Plan::default()
        };
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
        let requests: Vec<u64> = windows
            .iter()
            .map(|w| w.requests)
            .filter(|&n| n > 0)
            .collect();
        assert_eq!(requests, [2, 1, 1]);
        let energy: f64 = windows.iter().map(|w| w.energy_j).sum();
        assert!(close(
            energy,
            number(&run.document["summary"]["energy_j"]["total"])
        ));
    }
}

#[test]
fn the_longest_wait_is_that_of_the_rows() {
    let run = planned(
        &g2(),
        &load("rate = 1000.0\nrequests = 5000\n"),
        &in_memory(),
    );
    let rows = rows(&run.batches);
    let queue = rows.iter().map(|row| row.queue).max().unwrap();
    let worst = rows.iter().find(|row| row.queue == queue).unwrap();
    let found = &run.document["summary"]["longest_wait"];
    assert_eq!(found["queue_ms"], queue as f64 / 1e6);
    assert_eq!(
        found["queue_ms"],
        run.document["summary"]["queue_ms"]["max"]
    );
    assert_eq!(found["id"], worst.id);
    assert_eq!(found["lbn"], worst.lbn);
    assert_eq!(found["blocks"], worst.blocks);
    assert_eq!(found["op"], if worst.write { "write" } else { "read" });
    assert_eq!(found["arrival_s"], worst.arrival as f64 / 1e9);
}

#[test]
fn distribution_functions_are_those_of_the_rows() {
    let run = planned(
        &g2(),
        &load("rate = 900.0\nrequests = 4000\n"),
        &in_memory(),
    );
    let rows = rows(&run.batches);
    type Chosen = fn(&Seen) -> bool;
    type TimeOf = fn(&Seen) -> u64;
    let response: TimeOf = |r| r.completion - r.arrival;
    let cases: [(&str, Option<Op>, Chosen, TimeOf); 4] = [
        ("response_time", None, |_| true, response),
        ("response_time", Some(Op::Read), |r| !r.write, response),
        ("response_time", Some(Op::Write), |r| r.write, response),
        ("queue", None, |_| true, |r| r.queue),
    ];
    for (time, op, chosen, of) in cases {
        let mut exact: Vec<u64> = rows.iter().filter(|r| chosen(r)).map(of).collect();
        exact.sort_unstable();
        let points = run.stats.cdf(time, op).unwrap();
        assert!(
            points
                .windows(2)
                .all(|p| p[0].0 < p[1].0 && p[0].1 < p[1].1),
            "{time}"
        );
        let last = points.last().unwrap();
        assert_eq!(*last, (*exact.last().unwrap() as f64 / 1e6, 1.0));
        for &(ms, share) in &points {
            // So many are not longer, and of those at most that are 1/1024
            // shorter none is counted beyond.
            let count = (share * exact.len() as f64).round() as usize;
            let ns = (ms * 1e6).round() as u64;
            assert!(exact[count - 1] <= ns, "{time}: {ms}");
            assert!(
                exact[count - 1] >= ns.saturating_sub(ns / 1024 + 1),
                "{time}: {ms}"
            );
            assert!(count == exact.len() || exact[count] > ns, "{time}: {ms}");
        }
    }
    assert!(
        run.stats
            .cdf("response_time", Some(Op::Flush))
            .unwrap()
            .is_empty()
    );
    let message = |time, op| run.stats.cdf(time, op).unwrap_err().to_string();
    assert!(message("respons_time", None).contains("did you mean 'response_time'"));
    assert!(message("seek", Some(Op::Read)).contains("response_time"));
}
