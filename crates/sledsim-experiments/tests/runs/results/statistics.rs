//! Statistics, worked out by hand and by brute force.

use super::{close, random_rows, stats_of, summary};
use serde_json::{Value, json};
use sledsim_base::request::Op;
use sledsim_base::row::{Parts, Row, Status, UNKNOWN_ENERGY};
use sledsim_base::units::Nanos;
use sledsim_core::engine::Saturated;
use sledsim_core::model::{Busy, Energy, Report};
use sledsim_experiments::stats::RunReport;

#[test]
fn a_run_worked_out_by_hand() {
    // Two reads and a write, 1 ms apart, taking 1, 2 and 3 ms, of which the
    // last two wait 0.5 ms and the last fails.
    let row = |i: u64, op| Row {
        id: i,
        op,
        blocks: 1000,
        arrival: Nanos(i * 1_000_000),
        start: Nanos(i * 1_000_000 + if i > 1 { 500_000 } else { 0 }),
        completion: Nanos(2 * i * 1_000_000),
        queue_depth: i as u32 - 1,
        parts: Parts {
            queue: Nanos(if i > 1 { 500_000 } else { 0 }),
            transfer: Nanos(i * 1_000_000 - if i > 1 { 500_000 } else { 0 }),
            ..Parts::default()
        },
        // The last met no mechanism.
        passes: if i == 3 { 0 } else { 3 },
        retries: 1,
        status: if i == 3 { Status::Error } else { Status::Ok },
        energy_nj: 250_000_000,
        ..Row::default()
    };
    let stats = stats_of(&[row(1, Op::Read), row(2, Op::Read), row(3, Op::Write)]);
    let energy = |seek_j, idle_j| Energy { seek_j, idle_j, ..Energy::default() };
    let busy = |host_ms: u64, other_ms: u64| Busy {
        host: Nanos(host_ms * 1_000_000),
        other: Nanos(other_ms * 1_000_000),
    };
    let report = |name: &str, mechanisms, energy| Report {
        name: name.into(),
        mechanisms,
        energy: Some(energy),
        counts: vec![("hits", 3)],
        ..Report::default()
    };
    let found = summary(
        &stats,
        &RunReport {
            simulated_end: Nanos(11_000_000),
            saturated: Some(Saturated { at: Nanos(11_000_000), queue: 7 }),
            reports: vec![
                report("two", vec![], energy(0.0, 0.0)),
                report("g2", vec![("", busy(3, 1)), (".bus", busy(5, 0))], energy(0.5, 0.25)),
                report("cache", vec![("", busy(0, 1))], energy(0.0, 1.25)),
            ],
            ..RunReport::default()
        },
    );
    // 6 ms is 5 ms after the first arrival; 1,024,000 bytes moved in it.
    for (key, expected) in [
        ("requests", json!(3)),
        ("reads", json!(2)),
        ("writes", json!(1)),
        ("flushes", json!(0)),
        ("trims", json!(0)),
        ("read_fraction", json!(2.0 / 3.0)),
        ("errors", json!(1)),
        ("duration_s", json!(0.005)),
        ("simulated_s", json!(0.011)),
        ("throughput_iops", json!(600.0)),
        ("throughput_mb_s", json!(204.8)),
        ("blocks_read", json!(2000)),
        ("blocks_written", json!(0)),
        ("passes", json!(6)),
        ("retries", json!(3)),
        // 1, 2 and 3 ms in 5 ms; what arrivals found is not observed.
        ("mean_outstanding", json!(1.2)),
        ("mean_queue_depth", Value::Null),
        ("max_queue_depth", Value::Null),
        ("utilisation", json!(0.5)),
        ("busiest", json!("g2.bus")),
        ("mechanism_requests", json!(2)),
        ("saturated", json!({"at_s": 0.011, "queue": 7})),
        ("interrupted", json!(false)),
        ("request_energy_j", json!(0.75)),
        ("warm_up", Value::Null),
        ("precision", Value::Null),
        ("seeds", Value::Null),
        // Two waited as long; the first of them is named.
        (
            "longest_wait",
            json!({"queue_ms": 0.5, "seed": null, "id": 2, "op": "read", "lbn": 0,
                "blocks": 1000, "arrival_s": 0.002}),
        ),
        (
            "seek_ms",
            json!({"mean": 0.0, "sd": 0.0, "scv": null, "p50": 0.0, "p90": 0.0, "p99": 0.0,
                "p99_9": 0.0, "p99_99": 0.0, "max": 0.0}),
        ),
        (
            "energy_j",
            json!({"seek": 0.5, "transfer": 0.0, "idle": 1.5, "inactive": 0.0, "startup": 0.0,
                "read_ahead": 0.0, "destage": 0.0, "background": 0.0, "retry": 0.0, "total": 2.0}),
        ),
        (
            "devices",
            json!([
                {"name": "two", "energy_j": {"seek": 0.0,
                    "transfer": 0.0, "idle": 0.0, "inactive": 0.0, "startup": 0.0,
                    "read_ahead": 0.0, "destage": 0.0, "background": 0.0, "retry": 0.0, "total": 0.0},
                    "counts": {"hits": 3}},
                {"name": "g2", "energy_j": {"seek": 0.5,
                    "transfer": 0.0, "idle": 0.25, "inactive": 0.0, "startup": 0.0,
                    "read_ahead": 0.0, "destage": 0.0, "background": 0.0, "retry": 0.0, "total": 0.75},
                    "counts": {"hits": 3}},
                {"name": "cache", "energy_j": {"seek": 0.0,
                    "transfer": 0.0, "idle": 1.25, "inactive": 0.0, "startup": 0.0,
                    "read_ahead": 0.0, "destage": 0.0, "background": 0.0, "retry": 0.0, "total": 1.25},
                    "counts": {"hits": 3}},
            ]),
        ),
        (
            "mechanisms",
            json!([
                {"name": "g2", "busy_s": 0.004, "utilisation": 0.4, "host": 0.3, "other": 0.1},
                {"name": "g2.bus", "busy_s": 0.005, "utilisation": 0.5, "host": 0.5, "other": 0.0},
                {"name": "cache", "busy_s": 0.001, "utilisation": 0.1, "host": 0.0, "other": 0.1},
            ]),
        ),
    ] {
        assert_eq!(found[key], expected, "{key}");
    }
    let response = &found["response_time_ms"];
    assert_eq!(response["mean"], json!(2.0));
    assert!(close(&response["sd"], (2.0_f64 / 3.0).sqrt()));
    assert!(close(&response["scv"], 1.0 / 6.0));
    assert_eq!(response["max"], json!(3.0));
    // Over the two that met a mechanism: 1 ms and 1.5 ms.
    let service = &found["service_time_ms"];
    assert_eq!((&service["mean"], &service["max"]), (&json!(1.25), &json!(1.5)));
    assert!(close(&service["sd"], 0.25));
    assert!((1.0..1.001).contains(&service["p50"].as_f64().unwrap()));
    assert_eq!(service["p90"], json!(1.5));
    assert!(close(&found["queue_ms"]["mean"], 1.0 / 3.0));
}

#[test]
fn every_time_agrees_with_brute_force() {
    let rows = random_rows(1, 25_000);
    let found = summary(&stats_of(&rows), &RunReport::default());
    type TimeOf = fn(&Row) -> Nanos;
    let moves: TimeOf = |r| {
        let arm = r.parts.seek + r.parts.rotation + r.parts.head_switch;
        arm + r.parts.transfer + r.parts.retry + r.parts.other
    };
    let time_of: [(&str, TimeOf); 15] = [
        ("response_time_ms", |r| r.completion - r.arrival),
        ("service_time_ms", moves),
        ("queue_ms", |r| r.parts.queue),
        ("overhead_ms", |r| r.parts.overhead),
        ("seek_ms", |r| r.parts.seek),
        ("x_seek_ms", |r| r.parts.x_seek),
        ("y_seek_ms", |r| r.parts.y_seek),
        ("settle_ms", |r| r.parts.settle),
        ("turnaround_ms", |r| r.parts.turnaround),
        ("rotation_ms", |r| r.parts.rotation),
        ("head_switch_ms", |r| r.parts.head_switch),
        ("transfer_ms", |r| r.parts.transfer),
        ("bus_ms", |r| r.parts.bus),
        ("retry_ms", |r| r.parts.retry),
        ("other_ms", |r| r.parts.other),
    ];
    for (key, time) in time_of {
        // Service times only of those that met a mechanism.
        let has = |r: &&Row| key != "service_time_ms" || r.passes > 0;
        let mut ms: Vec<f64> = (rows.iter().filter(has)).map(|r| time(r).0 as f64 / 1e6).collect();
        let n = ms.len() as f64;
        ms.sort_by(f64::total_cmp);
        let mean = ms.iter().sum::<f64>() / n;
        let variance = ms.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        let found = &found[key];
        for (name, expected) in [
            ("mean", mean),
            ("sd", variance.sqrt()),
            ("scv", variance / mean / mean),
            ("max", ms[ms.len() - 1]),
        ] {
            let found = found[name].as_f64().unwrap();
            assert!(
                (found / expected - 1.0).abs() < 1e-10,
                "{key}.{name}: {found} is not {expected}"
            );
        }
        for (name, share) in
            [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999)]
        {
            // 25,000 times each share is a whole number, up to f64 noise.
            let exact = ms[(share * n - 1e-6).ceil() as usize - 1];
            let found = found[name].as_f64().unwrap();
            assert!(
                (exact..=exact * (1.0 + 1.0 / 1024.0)).contains(&found),
                "{key}.{name}: {found} is not {exact}"
            );
        }
    }
}

#[test]
fn totals_agree_with_brute_force() {
    let rows = random_rows(2, 10_000);
    let found = summary(&stats_of(&rows), &RunReport::default());
    let count = |wanted: &dyn Fn(&&Row) -> bool| rows.iter().filter(wanted).count();
    let blocks = |op| -> u64 {
        let served = rows.iter().filter(|r| r.op == op && r.status == Status::Ok);
        served.map(|r| u64::from(r.blocks)).sum()
    };
    for (key, expected) in [
        ("reads", count(&|r| r.op == Op::Read)),
        ("writes", count(&|r| r.op == Op::Write)),
        ("flushes", count(&|r| r.op == Op::Flush)),
        ("trims", count(&|r| r.op == Op::Trim)),
        ("errors", count(&|r| r.status == Status::Error)),
        ("blocks_read", blocks(Op::Read) as usize),
        ("blocks_written", blocks(Op::Write) as usize),
    ] {
        assert_eq!(found[key], json!(expected), "{key}");
    }
    let energy_nj: u64 = rows.iter().map(|r| r.energy_nj).sum();
    assert!(close(&found["request_energy_j"], energy_nj as f64 * 1e-9));
    let served = count(&|r| r.passes > 0);
    assert_eq!(found["mechanism_requests"], json!(served));
    // Little: of rows alone, the sum of their response times.
    let response: u64 = rows.iter().map(|r| r.response().0).sum();
    let first = rows.iter().map(|r| r.arrival).min().unwrap();
    let last = rows.iter().map(|r| r.completion).max().unwrap();
    let outstanding = response as f64 / (last - first).0 as f64;
    assert!(close(&found["mean_outstanding"], outstanding));
}

/// One request, or one device, of unknown energy makes the sum unknown.
#[test]
fn what_is_partly_unknown_is_unknown() {
    let mut rows = random_rows(2, 100);
    let device = |energy| Report { energy, ..Report::default() };
    let known =
        RunReport { reports: vec![device(Some(Energy::default())); 2], ..RunReport::default() };
    let unknown = RunReport {
        reports: vec![device(Some(Energy::default())), device(None)],
        ..RunReport::default()
    };
    let energies = |rows: &[Row], run| {
        let found = summary(&stats_of(rows), run);
        ["energy_j", "request_energy_j"].map(|key| !found[key].is_null())
    };
    assert_eq!(energies(&rows, &known), [true, true]);
    assert_eq!(energies(&rows, &unknown), [false, false]);
    rows[70].energy_nj = UNKNOWN_ENERGY;
    assert_eq!(energies(&rows, &known), [true, false]);
    // Likewise of the parts of a whole, in both orders.
    for [one, other] in [[&rows[..70], &rows[70..]], [&rows[70..], &rows[..70]]] {
        let mut sum = stats_of(one);
        sum.merge(&stats_of(other));
        let found = summary(&sum, &known);
        assert_eq!(found["request_energy_j"], Value::Null);
    }
    // No request met a mechanism.
    rows.iter_mut().for_each(|row| row.passes = 0);
    let found = summary(&stats_of(&rows), &known);
    assert_eq!(found["service_time_ms"]["mean"], Value::Null);
    assert_eq!(found["mechanism_requests"], json!(0));
}

#[test]
fn parts_merged_are_the_whole_bit_for_bit() {
    let rows = random_rows(3, 3_000);
    let whole = stats_of(&rows);
    for cuts in [[0, 0], [1, 2_999], [500, 501], [1_000, 2_000], [3_000, 3_000]] {
        let [a, b] = cuts;
        let [x, y, z] = [&rows[..a], &rows[a..b], &rows[b..]].map(stats_of);
        let mut left = x.clone();
        left.merge(&y);
        left.merge(&z);
        let mut right = z;
        right.merge(&x);
        right.merge(&y);
        assert_eq!(left, whole, "{cuts:?}");
        assert_eq!(right, whole, "{cuts:?}");
        let text = |stats| summary(stats, &RunReport::default()).to_string();
        assert_eq!(text(&left), text(&whole));
    }
    let mut more = whole.clone();
    more.merge(&stats_of(&rows[..1]));
    assert_ne!(more, whole);
}
