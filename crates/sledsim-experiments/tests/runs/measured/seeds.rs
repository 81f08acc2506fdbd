//! Runs of several seeds, on one thread and on several.

use super::{close, g2, load, number, planned, tried};
use serde_json::{Value, json};
use sledsim_base::error::Error;
use sledsim_base::progress::Progress;
use sledsim_base::units::Nanos;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::load::Load;
use sledsim_experiments::run::{Plan, RowsTo, Run, SeriesTo, run};

fn seeds(seeds: u64, threads: usize) -> Plan {
    Plan { seeds, threads, ..Plan::default() }
}

const LOAD: &str = "rate = 900.0\nrequests = 2000\nseed = 3\nwarm_up_requests = 100\n";

#[test]
fn results_do_not_depend_on_threads() {
    for precision in [None, Some(0.04)] {
        let run = |threads| {
            let plan = Plan { precision, ..seeds(7, threads) };
            let load = if precision.is_some() { "rate = 900.0" } else { LOAD };
            let run = planned(&g2(), &load_of(load), &plan);
            (run.document, run.stats)
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
fn several_seeds_give_the_sum_of_single_runs() {
    let all = planned(&g2(), &load(LOAD), &seeds(4, 2));
    let summary = &json!(all.document)["summary"];
    let singles: Vec<Run> = (3..7)
        .map(|seed| {
            let text = LOAD.replace("seed = 3", &format!("seed = {seed}"));
            planned(&g2(), &load(&text), &Plan::default())
        })
        .collect();
    let of = |pointer: &str| -> Vec<f64> {
        let one = |run: &Run| number(json!(run.document)["summary"].pointer(pointer).unwrap());
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
        "/mechanisms/0/busy_s",
        "/mechanism_requests",
    ] {
        let sum: f64 = of(pointer).iter().sum();
        assert!(close(number(summary.pointer(pointer).unwrap()), sum), "{pointer}");
    }
    let requests: f64 = of("/requests").iter().sum();
    let duration: f64 = of("/duration_s").iter().sum();
    assert!(close(number(&summary["throughput_iops"]), requests / duration));
    let most = of("/response_time_ms/max").into_iter().fold(0.0, f64::max);
    assert_eq!(number(&summary["response_time_ms"]["max"]), most);
    // What each gave is what it gives alone.
    for (seed, (one, alone)) in (3..).zip(summary["seeds"].as_array().unwrap().iter().zip(&singles))
    {
        let alone = &json!(alone.document)["summary"];
        assert_eq!(one["seed"], seed);
        assert_eq!(one["requests"], alone["requests"]);
        assert_eq!(one["mean_response_time_ms"], alone["response_time_ms"]["mean"]);
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
    let alone = &json!(singles[(seed - 3) as usize].document)["summary"]["longest_wait"];
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
fn the_first_error_is_reported_and_all_stop() {
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
fn progress_is_reported_and_runs_can_be_interrupted() {
    let mut last = Progress { completed: 0, requests: None, share: None };
    let load = load("requests = 1000000000\n");
    let error = run(&g2(), &load, SchedulerSpec::default(), seeds(3, 2), &mut |at| {
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
fn results_of_single_runs_are_refused() {
    for (plan, says) in [
        (Plan { rows: RowsTo::Memory, ..seeds(2, 0) }, "rows"),
        (Plan { parts: true, ..seeds(2, 0) }, "rows are kept of a single run only"),
        (Plan { parts: true, ..seeds(1, 0) }, "parts = true: no rows are kept"),
        (Plan { series: SeriesTo::Memory, ..seeds(2, 0) }, "series"),
        (seeds(10_001, 0), "replications = 10001"),
        (Plan { precision: Some(0.0), ..seeds(1, 0) }, "precision = 0"),
        (Plan { precision: Some(2.0), ..seeds(1, 0) }, "precision = 2"),
        (Plan { precision: Some(f64::NAN), ..seeds(1, 0) }, "precision = NaN"),
        (Plan { window: Some(Nanos(5)), ..seeds(1, 0) }, "series_ms"),
        (
            Plan { window: Some(Nanos(5)), series: SeriesTo::Memory, ..seeds(1, 0) },
            "choose longer ones",
        ),
    ] {
        let said = tried(&g2(), &load(LOAD), &plan).map(drop).unwrap_err().to_string();
        assert!(said.contains(says), "{said}");
    }
    let last = load("seed = 9223372036854775807\n");
    assert!(tried(&g2(), &last, &seeds(2, 0)).is_err());
}
