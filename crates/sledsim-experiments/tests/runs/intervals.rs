//! Coverage of the confidence intervals. Queues whose mean
//! response time is known in closed form (Pollaczek and Khinchine: service
//! plus rate * E[S^2] / 2 / (1 - load)) are run many times over; the truth has
//! to lie in the stated share of the intervals, within a binomial band.

use super::planned::planned;
use serde_json::{Value, json};
use sledsim_base::keys::Keys;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_experiments::load::Load;
use sledsim_experiments::run::Plan;
use sledsim_experiments::stats::{Interval, Pieces, Stats};

/// A single server: every request takes `latency_ms` and `ms_per_block`.
fn server(latency_ms: f64, ms_per_block: f64) -> Device {
    let text = format!(
        "title = \"server\"\nkind = \"memory\"\nblocks = 1000000\nlatency_ms = {latency_ms:?}\nms_per_block = {ms_per_block:?}\n"
    );
    Device::from_keys(Keys::parse(&text, "server.toml").unwrap(), None).unwrap()
}

fn load(text: &str) -> Load {
    Load::workload("random", Keys::parse(text, "load.toml").unwrap()).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// A queue with Poisson arrivals, its load, and its mean response time in ms.
struct Queue {
    name: &'static str,
    device: Device,
    keys: String,
    response_ms: f64,
}

/// Fixed service times of 1 ms.
fn md1(rho: f64) -> Queue {
    Queue {
        name: "M/D/1",
        device: server(1.0, 0.0),
        keys: format!("rate = {:?}\nsize = \"fixed\"\n", rho * 1e3),
        response_ms: 1.0 + rho / 2.0 / (1.0 - rho),
    }
}

/// 0.125 ms per block, geometric with mean m = 8 blocks: E[B^2] = m (2m - 1).
fn mg1(rho: f64) -> Queue {
    let second = 8.0 * 15.0 * 0.125 * 0.125;
    Queue {
        name: "M/G/1",
        device: server(0.0, 0.125),
        keys: format!("rate = {:?}\nsize = \"geometric\"\n", rho * 1e3),
        response_ms: 1.0 + rho * second / 2.0 / (1.0 - rho),
    }
}

/// Of `of` intervals: how many hold the truth, how many carry a warning.
fn coverage(queue: &Queue, more: &str, of: u64, precision: Option<f64>) -> (f64, f64, Value) {
    let plan = Plan { seeds: of, precision, ..Plan::default() };
    let done = planned(&queue.device, &load(&(queue.keys.clone() + more)), &plan);
    let summary = &json!(done.document)["summary"];
    let runs = summary["seeds"].as_array().unwrap();
    assert_eq!(runs.len() as u64, of);
    let sound: Vec<_> = runs.iter().map(|run| &run["confidence"]).collect();
    let warned = sound.iter().filter(|c| !c["caution"].is_null()).count();
    let hold = |c: &&&Value| (number(&c["low"])..=number(&c["high"])).contains(&queue.response_ms);
    let held = sound.iter().filter(hold).count();
    (held as f64 / of as f64, warned as f64 / of as f64, summary.clone())
}

/// Three standard errors of a share of `of`, around `share`.
fn band(share: f64, of: u64) -> std::ops::RangeInclusive<f64> {
    let error = (share * (1.0 - share) / of as f64).sqrt();
    share - 3.0 * error..=share + 3.0 * error
}

#[test]
fn intervals_contain_the_truth_as_often_as_stated() {
    const RUNS: u64 = 200;
    for (queue, requests) in [
        (md1(0.3), 8_000),
        (md1(0.5), 12_000),
        (md1(0.7), 16_000),
        (mg1(0.3), 8_000),
        (mg1(0.5), 16_000),
    ] {
        let keys = format!("requests = {requests}\nwarm_up_requests = 300\n");
        let (held, warned, summary) = coverage(&queue, &keys, RUNS, None);
        let (name, truth) = (queue.name, queue.response_ms);
        println!("{name}, {truth:.3} ms: {held} hold it, {warned} warned");
        assert!(band(0.95, RUNS).contains(&held), "{name} {truth}: {held}");
        assert!(warned <= 0.03, "{name} {truth}: {warned} warned");
        // The runs taken together: their interval holds the truth, too, and
        // those of any few of them as often as they say.
        let all = &summary["confidence"]["response_time_ms"];
        let error = (number(&all["mean"]) - truth).abs();
        let half = (number(&all["high"]) - number(&all["low"])) / 2.0;
        assert!(error < 1.5 * half, "{name}: {all}, truth {truth}");
        assert_eq!(all["batches"], RUNS);
        let runs = summary["seeds"].as_array().unwrap();
        let means: Vec<f64> =
            (runs.iter()).map(|run| number(&run["mean_response_time_ms"])).collect();
        let groups = means.chunks(5).filter(|five| {
            let interval = Interval::of_runs(five, 5 * requests).unwrap();
            (interval.mean - truth).abs() <= interval.half_width
        });
        let held = groups.count() as f64 / (RUNS / 5) as f64;
        assert!(band(0.95, RUNS / 5).contains(&held), "{name}: {held} of 5");
    }
}

#[test]
fn runs_that_are_too_short_for_their_queues_have_a_caution() {
    // Intervals of these hold the truth far less often than 95 %.
    for (queue, requests) in [(md1(0.7), 1000), (mg1(0.7), 1000), (mg1(0.9), 16_000)] {
        let keys = format!("requests = {requests}\n");
        let (held, warned, _) = coverage(&queue, &keys, 120, None);
        println!("{}: {held} hold the truth, {warned} warned", queue.name);
        assert!(held < 0.9, "{}: {held}", queue.name);
        assert!(warned > 0.98, "{}: {warned}", queue.name);
    }
    let (_, warned, summary) = coverage(&md1(0.3), "requests = 100\n", 20, None);
    assert_eq!(warned, 1.0);
    let caution = &summary["seeds"][0]["confidence"]["caution"];
    assert_eq!(caution, "too few requests");
}

#[test]
fn a_precision_that_is_met_is_nearly_as_good() {
    const RUNS: u64 = 150;
    for (queue, precision) in
        [(md1(0.3), 0.02), (md1(0.5), 0.05), (mg1(0.3), 0.05), (mg1(0.5), 0.05)]
    {
        let (held, warned, summary) =
            coverage(&queue, "warm_up_requests = 300\n", RUNS, Some(precision));
        let runs = summary["seeds"].as_array().unwrap();
        let widest = (runs.iter())
            .map(|run| number(&run["confidence"]["half_width_share"]))
            .fold(0.0, f64::max);
        let mean = number(&summary["requests"]) / RUNS as f64;
        println!("{}: {held} hold the truth after {mean} requests", queue.name);
        assert!(widest <= precision, "{widest}");
        assert_eq!(summary["precision"]["met"], true);
        assert_eq!(summary["precision"]["reached"], widest);
        assert_eq!(warned, 0.0);
        // A rule that stops when it likes what it sees holds a little less.
        assert!((0.87..=0.99).contains(&held), "{}: {held}", queue.name);
    }
}

/// Cuts values into pieces as the book says, from a list of all of them.
#[test]
fn batches_agree_with_a_list_of_all_values() {
    let response = |i: u64| 1_000 + i.wrapping_mul(2_654_435_761) % 977 + i / 50;
    for requests in [1_u64, 15, 16, 100, 127, 128, 255, 256, 257, 5_000, 65_535, 65_536] {
        let (mut stats, mut pieces) = (Stats::new(), Pieces::default());
        for i in 0..requests {
            stats.record(&Row { completion: Nanos(response(i)), ..Row::default() });
            if pieces.count() {
                pieces.end_piece(&stats);
            }
        }
        // The least power of two that leaves fewer than 256 pieces.
        let length = (0..).map(|j| 1_u64 << j).find(|l| requests / l < 256).unwrap();
        let batches = requests / length / 8;
        let Some(found) = pieces.interval(0) else {
            assert!(batches < 2, "{requests}");
            continue;
        };
        let mean_of = |from: u64, count: u64| {
            (from..from + count).map(response).sum::<u64>() as f64 / count as f64
        };
        let means: Vec<f64> = (0..batches).map(|b| mean_of(b * 8 * length, 8 * length)).collect();
        let n = batches as f64;
        let mean = means.iter().sum::<f64>() / n;
        let variance = means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        assert_eq!(found.batches as u64, batches, "{requests}");
        assert_eq!(found.batch_requests, 8 * length, "{requests}");
        assert!((found.mean / mean - 1.0).abs() < 1e-12, "{requests}");
        // Tables: t for 15 to 30 degrees of freedom is 2.131 to 2.042.
        if (16..=31).contains(&batches) {
            let t = found.half_width / (variance / n).sqrt();
            assert!((2.0415..=2.1315).contains(&t), "{requests}: t = {t}");
        }
        let parts: Vec<f64> = (0..batches * 8).map(|p| mean_of(p * length, length)).collect();
        let m = parts.iter().sum::<f64>() / parts.len() as f64;
        let sum = |f: &dyn Fn(usize) -> f64, to: usize| (0..to).map(f).sum::<f64>();
        let lag1 = sum(&|i| (parts[i] - m) * (parts[i + 1] - m), parts.len() - 1)
            / sum(&|i| (parts[i] - m).powi(2), parts.len());
        assert!((found.lag1 - lag1).abs() < 1e-9, "{requests}: {}, {lag1}", found.lag1);
    }
}

#[test]
fn constant_times_have_intervals_of_zero_width() {
    // 0.1 ms has no exact binary form; one at a time, each takes just that.
    let load = load("size = \"fixed\"\nqueue_depth = 1\n");
    let plan = Plan { precision: Some(1e-9), ..Plan::default() };
    let summary = &json!(planned(&server(0.1, 0.0), &load, &plan).document)["summary"];
    let interval = &summary["confidence"]["response_time_ms"];
    assert_eq!(interval["mean"], 0.1);
    assert_eq!(interval["low"], interval["high"]);
    assert_eq!(interval["caution"], Value::Null);
    assert_eq!(interval["lag1"], 0.0);
    assert!(number(&summary["requests"]) < 3_000.0, "{}", summary["requests"]);
    // Nothing waits: a mean of zero has no relative width.
    assert_eq!(summary["confidence"]["queue_ms"]["half_width_share"], Value::Null);
    assert_eq!(summary["longest_wait"], Value::Null);
}
