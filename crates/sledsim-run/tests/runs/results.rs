//! Are the results right? Statistics against brute force, the summary against
//! its schema, rows against their documentation.

use serde_json::{Value, json};
use sledsim_base::request::Op;
use sledsim_base::row::{Parts, Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::engine::Saturated;
use sledsim_core::model::{Energy, Report};
use sledsim_run::stats::{Interval, Precision, RunFacts, SeedRun, Stats, WarmUpCut, summary};
use std::fs;
use std::path::Path;

/// Rows of every kind: all columns vary, zeros are common, parts add up.
fn random_rows(seed: u64, count: u64) -> Vec<Row> {
    let mut state = seed;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    let row = |id| {
        let mut part = |largest: u64| match random(3) {
            0 => Nanos::ZERO,
            _ => Nanos(random(largest)),
        };
        let parts = Parts {
            overhead: part(3),
            queue: part(40_000_000_000),
            seek: part(900_000),
            x_seek: part(900_000),
            y_seek: part(900_000),
            settle: part(2_000),
            turnaround: part(140_000),
            rotation: part(6_000_000),
            head_switch: part(176_000),
            transfer: part(300_000),
            bus: part(80_000),
            retry: part(1_000_000),
            other: part(500_000),
        };
        let arrival = Nanos(random(1_000_000_000_000));
        let before = parts.overhead + parts.queue;
        Row {
            id,
            parent: (random(2) == 0).then(|| random(u64::MAX)),
            device: random(2) as u16,
            stream: random(5) as u32,
            op: Op::ALL[random(4) as usize],
            lbn: random(6_750_000),
            blocks: random(64) as u32 + 1,
            arrival,
            start: arrival + before,
            completion: arrival + parts.total(),
            queue_depth: random(300) as u32,
            parts,
            passes: random(4) as u32,
            retries: random(2) as u32,
            status: Status::ALL[random(2) as usize],
            energy_nj: random(2_000_000),
        }
    };
    (0..count).map(row).collect()
}

fn stats_of(rows: &[Row]) -> Stats {
    let mut stats = Stats::new();
    for row in rows {
        stats.record(row);
    }
    stats
}

fn close(found: &Value, expected: f64) -> bool {
    let found = found.as_f64().expect("a number");
    (found - expected).abs() <= 1e-12 * expected.abs()
}

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
        passes: 2,
        retries: 1,
        status: if i == 3 { Status::Error } else { Status::Ok },
        energy_nj: 250_000_000,
        ..Row::default()
    };
    let stats = stats_of(&[row(1, Op::Read), row(2, Op::Read), row(3, Op::Write)]);
    let energy = |seek_j, idle_j| Energy {
        seek_j,
        idle_j,
        ..Energy::default()
    };
    let report = |name: &str, busy_ms: u64, energy| Report {
        name: name.into(),
        busy: Nanos(busy_ms * 1_000_000),
        energy,
        counts: vec![("hits", 3)],
    };
    let found = summary(
        &stats,
        &RunFacts {
            simulated_end: Nanos(11_000_000),
            saturated: Some(Saturated {
                at: Nanos(11_000_000),
                queue: 7,
            }),
            reports: vec![
                report("g2", 4, energy(0.5, 0.25)),
                report("cache", 1, energy(0.0, 1.25)),
            ],
            ..RunFacts::default()
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
        ("mean_queue_depth", json!(1.0)),
        ("max_queue_depth", json!(2)),
        ("utilisation", json!(0.4)),
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
                {"name": "g2", "busy_s": 0.004, "utilisation": 0.4, "energy_j": {"seek": 0.5,
                    "transfer": 0.0, "idle": 0.25, "inactive": 0.0, "startup": 0.0,
                    "read_ahead": 0.0, "destage": 0.0, "background": 0.0, "retry": 0.0, "total": 0.75},
                    "counts": {"hits": 3}},
                {"name": "cache", "busy_s": 0.001, "utilisation": 0.1, "energy_j": {"seek": 0.0,
                    "transfer": 0.0, "idle": 1.25, "inactive": 0.0, "startup": 0.0,
                    "read_ahead": 0.0, "destage": 0.0, "background": 0.0, "retry": 0.0, "total": 1.25},
                    "counts": {"hits": 3}},
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
    assert_eq!(found["service_time_ms"]["max"], json!(2.5));
    assert!(close(&found["queue_ms"]["mean"], 1.0 / 3.0));
}

#[test]
fn every_time_agrees_with_brute_force() {
    let rows = random_rows(1, 25_000);
    let found = summary(&stats_of(&rows), &RunFacts::default());
    type TimeOf = fn(&Row) -> Nanos;
    let time_of: [(&str, TimeOf); 15] = [
        ("response_time_ms", |r| r.completion - r.arrival),
        ("service_time_ms", |r| r.completion - r.start),
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
    let n = rows.len() as f64;
    for (key, time) in time_of {
        let mut ms: Vec<f64> = rows.iter().map(|r| time(r).0 as f64 / 1e6).collect();
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
        for (name, share) in [
            ("p50", 0.5),
            ("p90", 0.9),
            ("p99", 0.99),
            ("p99_9", 0.999),
            ("p99_99", 0.9999),
        ] {
            // 25,000 times each share is a whole number, up to f64 noise.
            let exact = ms[(share * n - 0.25).ceil() as usize - 1];
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
    let found = summary(&stats_of(&rows), &RunFacts::default());
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
    let depth: u64 = rows.iter().map(|r| u64::from(r.queue_depth)).sum();
    assert!(close(&found["mean_queue_depth"], depth as f64 / 10_000.0));
}

#[test]
fn parts_merged_are_the_whole_bit_for_bit() {
    let rows = random_rows(3, 3_000);
    let whole = stats_of(&rows);
    for cuts in [
        [0, 0],
        [1, 2_999],
        [500, 501],
        [1_000, 2_000],
        [3_000, 3_000],
    ] {
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
        let text = |stats| summary(stats, &RunFacts::default()).to_string();
        assert_eq!(text(&left), text(&whole));
    }
    let mut more = whole.clone();
    more.merge(&stats_of(&rows[..1]));
    assert_ne!(more, whole);
}

mod schema {
    use super::*;

    fn schema() -> Value {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/summary.schema.json");
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    fn object(value: &Value) -> Result<&serde_json::Map<String, Value>, String> {
        value.as_object().ok_or(format!("{value} is no object"))
    }

    /// The part of JSON Schema that ours uses, and keys in the schema's order.
    fn check(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
        for (keyword, rule) in object(schema)? {
            match keyword.as_str() {
                "$ref" => {
                    let place = rule.as_str().unwrap().trim_start_matches('#');
                    check(root, root.pointer(place).expect("target of $ref"), value)?;
                }
                "type" => {
                    let actual = match value {
                        Value::Null => "null",
                        Value::Bool(_) => "boolean",
                        Value::String(_) => "string",
                        Value::Array(_) => "array",
                        Value::Object(_) => "object",
                        Value::Number(n) if n.is_u64() => "integer",
                        Value::Number(_) => "number",
                    };
                    let allowed =
                        |name: &Value| name == actual || name == "number" && actual == "integer";
                    if !rule
                        .as_array()
                        .map_or(allowed(rule), |a| a.iter().any(allowed))
                    {
                        return Err(format!("{value} is not of type {rule}"));
                    }
                }
                "minimum" if value.as_f64() < rule.as_f64() && !value.is_null() => {
                    return Err(format!("{value} is below {rule}"));
                }
                "maximum" if value.as_f64() > rule.as_f64() => {
                    return Err(format!("{value} is above {rule}"));
                }
                "properties" if value.is_object() => {
                    let (rules, members) = (object(rule)?, object(value)?);
                    if !rules.keys().eq(members.keys()) {
                        return Err(format!("keys differ: {:?}", members.keys()));
                    }
                    for (key, rule) in rules {
                        check(root, rule, &members[key]).map_err(|e| format!("{key}: {e}"))?;
                    }
                    assert_eq!(schema["additionalProperties"], json!(false));
                    let required = schema["required"].as_array().unwrap();
                    assert!(required.iter().eq(rules.keys()), "not all are required");
                }
                "patternProperties" if value.is_object() => {
                    // One pattern, of lower case words, for all members.
                    let rule = &rule["^[a-z_]+$"];
                    assert!(rule.is_object(), "teach this test other patterns");
                    for (key, value) in object(value)? {
                        if !key.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
                            return Err(format!("{key} is unknown"));
                        }
                        check(root, rule, value).map_err(|e| format!("{key}: {e}"))?;
                    }
                    assert_eq!(schema["additionalProperties"], json!(false));
                }
                "items" => {
                    for item in value.as_array().into_iter().flatten() {
                        check(root, rule, item)?;
                    }
                }
                "minimum"
                | "maximum"
                | "properties"
                | "patternProperties"
                | "required"
                | "additionalProperties"
                | "title"
                | "description"
                | "$schema"
                | "$defs" => {}
                other => panic!("teach this test the keyword {other}"),
            }
        }
        Ok(())
    }

    fn valid(summary: &Value) -> Result<(), String> {
        let schema = schema();
        check(&schema, &schema, summary)
    }

    fn full() -> Value {
        let run = RunFacts {
            simulated_end: Nanos(2_000_000_000_000),
            saturated: Some(Saturated {
                at: Nanos(1),
                queue: 2,
            }),
            reports: vec![Report {
                name: "g2".into(),
                busy: Nanos(5),
                ..Report::default()
            }],
            warm_up: Some(WarmUpCut {
                requests: 3,
                until: Nanos(4),
            }),
            precision: Some(Precision {
                target: 0.01,
                reached: Some(0.02),
                missed: Some("why".into()),
            }),
            ..RunFacts::default()
        };
        let stats = stats_of(&random_rows(4, 100));
        let runs = [1, 2].map(|seed| SeedRun::new(seed, &stats, &run));
        let interval = Interval::of_runs(&[1.0, 2.0], 1000);
        let run = RunFacts {
            runs: runs.into(),
            intervals: [interval, None, interval],
            ..run
        };
        summary(&stats, &run)
    }

    #[test]
    fn summaries_follow_it() {
        valid(&full()).unwrap();
        valid(&summary(&Stats::new(), &RunFacts::default())).unwrap();
        // One request that takes no time at all: no rate, no variation.
        let instant = summary(&stats_of(&[Row::default()]), &RunFacts::default());
        valid(&instant).unwrap();
        assert_eq!(instant["throughput_iops"], Value::Null);
        assert_eq!(instant["response_time_ms"]["mean"], json!(0.0));
        // The longest times there are.
        let endless = Row {
            completion: Nanos::MAX,
            ..Row::default()
        };
        let endless = summary(&stats_of(&[endless; 2]), &RunFacts::default());
        valid(&endless).unwrap();
        assert!(close(
            &endless["response_time_ms"]["p50"],
            u64::MAX as f64 / 1e6
        ));
    }

    #[test]
    fn what_is_undefined_is_null() {
        let nothing = summary(&Stats::new(), &RunFacts::default());
        for key in [
            "duration_s",
            "throughput_iops",
            "read_fraction",
            "utilisation",
        ] {
            assert_eq!(nothing[key], Value::Null, "{key}");
        }
        let times = object(&nothing["response_time_ms"]).unwrap();
        assert!(times.values().all(Value::is_null));
    }

    #[test]
    fn other_documents_do_not() {
        let change = |edit: &dyn Fn(&mut Value)| {
            let mut summary = full();
            edit(&mut summary);
            valid(&summary)
        };
        assert!(change(&|_| {}).is_ok());
        assert!(change(&|s| s["more"] = json!(1)).is_err());
        assert!(change(&|s| drop(s.as_object_mut().unwrap().shift_remove("errors"))).is_err());
        assert!(change(&|s| s["requests"] = json!(1.5)).is_err());
        assert!(change(&|s| s["requests"] = Value::Null).is_err());
        assert!(change(&|s| s["seek_ms"]["p50"] = json!("1")).is_err());
        assert!(change(&|s| s["duration_s"] = json!(-1.0)).is_err());
        assert!(change(&|s| s["devices"][0]["busy_s"] = Value::Null).is_err());
    }
}

mod rows {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int32Type, Int64Type, UInt32Type, UInt64Type};
    use arrow_array::{Array, RecordBatch};
    use arrow_schema::DataType;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use sledsim_base::error::Error;
    use sledsim_base::files::write_atomically;
    use sledsim_run::stats::{RowBuffer, RowsFile, row_schema};
    use std::fs::File;
    use std::process::Command;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;
    use std::time::Duration;
    use tempfile::tempdir;

    const DEVICES: [&str; 2] = ["mcd", "mcd.front"];

    /// The rows of a batch as text, cell by cell.
    fn cells(batch: &RecordBatch) -> Vec<Vec<String>> {
        let cell = |column: &dyn Array, i: usize| {
            if column.is_null(i) {
                return "null".to_owned();
            }
            match column.data_type() {
                DataType::Int64 => column.as_primitive::<Int64Type>().value(i).to_string(),
                DataType::UInt32 => column.as_primitive::<UInt32Type>().value(i).to_string(),
                DataType::UInt64 => column.as_primitive::<UInt64Type>().value(i).to_string(),
                DataType::Dictionary(..) => {
                    let names = column.as_dictionary::<Int32Type>();
                    let key = names.keys().value(i) as usize;
                    names.values().as_string::<i32>().value(key).to_owned()
                }
                other => panic!("unexpected type {other}"),
            }
        };
        let columns = batch.columns();
        (0..batch.num_rows())
            .map(|i| columns.iter().map(|c| cell(c, i)).collect())
            .collect()
    }

    /// A row as text, in the order of columns that the design names.
    fn expected(row: &Row) -> Vec<String> {
        let p = &row.parts;
        let mut cells = vec![
            row.id.to_string(),
            row.parent.map_or("null".to_owned(), |id| id.to_string()),
            DEVICES[usize::from(row.device)].to_owned(),
            row.stream.to_string(),
            row.op.name().to_owned(),
            row.lbn.to_string(),
            row.blocks.to_string(),
            row.arrival.0.to_string(),
            row.start.0.to_string(),
            row.completion.0.to_string(),
            row.queue_depth.to_string(),
        ];
        cells.extend(
            [
                p.overhead,
                p.queue,
                p.seek,
                p.x_seek,
                p.y_seek,
                p.settle,
                p.turnaround,
                p.rotation,
                p.head_switch,
                p.transfer,
                p.bus,
                p.retry,
                p.other,
            ]
            .map(|time| time.0.to_string()),
        );
        cells.extend([row.passes, row.retries].map(|n| n.to_string()));
        cells.push(row.status.name().to_owned());
        cells.push(row.energy_nj.to_string());
        cells
    }

    #[test]
    fn columns_are_those_of_the_design() {
        let names = "id, parent, device, stream, op, lbn, blocks, arrival_ns, start_ns, \
            completion_ns, queue_depth, overhead_ns, queue_ns, seek_ns, x_seek_ns, y_seek_ns, \
            settle_ns, turnaround_ns, rotation_ns, head_switch_ns, transfer_ns, bus_ns, retry_ns, \
            other_ns, passes, retries, status, energy_nj";
        let schema = row_schema();
        let found: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        assert_eq!(found.join(", "), names);
        // A name that ends in a unit has that unit.
        for field in schema.fields() {
            let unit = field.metadata().get("unit").map_or("", String::as_str);
            let suffix = field.name().rsplit('_').next().unwrap();
            assert_eq!(suffix == "ns", unit == "ns", "{}", field.name());
            assert_eq!(suffix == "nj", unit == "nJ", "{}", field.name());
        }
    }

    #[test]
    fn the_documented_table_is_the_schema() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
        let text = fs::read_to_string(path).unwrap();
        let rows = text.split("\n## ").find(|s| s.starts_with("Rows\n"));
        let lines = rows.expect("a section Rows").lines();
        let documented: Vec<String> = lines
            .filter(|line| line.starts_with("| `"))
            .map(|line| {
                line.trim_matches('|')
                    .split('|')
                    .map(str::trim)
                    .collect::<Vec<_>>()
            })
            .map(|cells| cells.join("|"))
            .collect();
        let actual: Vec<String> = row_schema()
            .fields()
            .iter()
            .map(|field| {
                let data_type = match field.data_type() {
                    DataType::Dictionary(_, of) if **of == DataType::Utf8 => "string".to_owned(),
                    other => other.to_string().to_lowercase(),
                };
                let or_null = if field.is_nullable() { " or null" } else { "" };
                let unit = field.metadata().get("unit").map_or("", String::as_str);
                let what = &field.metadata()["description"];
                format!("`{}`|{data_type}{or_null}|{unit}|{what}", field.name())
            })
            .collect();
        assert_eq!(documented, actual);
    }

    #[test]
    fn batches_hold_the_rows_and_start_over() {
        let rows = random_rows(5, 250);
        let mut buffer = RowBuffer::new(&DEVICES, 100);
        let mut found = Vec::new();
        for row in &rows {
            buffer.push(row);
            if buffer.is_full() {
                let batch = buffer.finish();
                assert_eq!(batch.num_rows(), 100);
                found.extend(cells(&batch));
            }
        }
        assert_eq!(buffer.len(), 50);
        found.extend(cells(&buffer.finish()));
        assert!(buffer.is_empty());
        let expected: Vec<_> = rows.iter().map(expected).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_does_not_fit_into_signed_columns_saturates() {
        let mut buffer = RowBuffer::new(&DEVICES, 1);
        buffer.push(&Row {
            completion: Nanos::MAX,
            id: u64::MAX,
            ..Row::default()
        });
        let batch = buffer.finish();
        let cells = &cells(&batch)[0];
        assert_eq!(cells[0], u64::MAX.to_string());
        assert_eq!(cells[9], i64::MAX.to_string());
    }

    fn read(path: &Path) -> Vec<Vec<String>> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
        assert_eq!(*reader.schema(), row_schema(), "metadata included");
        let batches = reader.build().unwrap();
        batches.flat_map(|batch| cells(&batch.unwrap())).collect()
    }

    fn write(path: &Path, rows: &[Row]) -> Result<u64, Error> {
        let mut file = RowsFile::create(path, &DEVICES)?;
        for row in rows {
            file.push(row)?;
        }
        file.finish()
    }

    #[test]
    fn parquet_gives_the_rows_back() {
        let folder = tempdir().unwrap();
        for count in [0, 1, 8_191, 8_192, 20_000] {
            let rows = random_rows(6, count);
            let path = folder.path().join(format!("{count}.parquet"));
            assert_eq!(write(&path, &rows).unwrap(), count);
            let expected: Vec<_> = rows.iter().map(expected).collect();
            assert!(read(&path) == expected, "{count} rows differ");
            let again = folder.path().join("again.parquet");
            write(&again, &rows).unwrap();
            assert!(fs::read(&path).unwrap() == fs::read(&again).unwrap());
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 6, "no more");
    }

    #[test]
    fn an_unwritable_target_is_refused_before_the_first_row() {
        let folder = tempdir().unwrap();
        for name in ["missing/out.parquet", "."] {
            let path = folder.path().join(name);
            let error = RowsFile::create(&path, &DEVICES).map(drop).unwrap_err();
            assert!(
                matches!(&error, Error::File { path: p, .. } if *p == path),
                "{error}"
            );
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn given_up_or_panicked_leaves_nothing_and_keeps_the_old_file() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("out.parquet");
        fs::write(&path, "old").unwrap();
        let rows = random_rows(7, 20_000);
        let begin = || {
            let mut file = RowsFile::create(&path, &DEVICES).unwrap();
            for row in &rows {
                file.push(row).unwrap();
            }
            file
        };
        let file = begin();
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            2,
            "out and .part"
        );
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let panicked = std::panic::catch_unwind(|| {
            let _file = begin();
            panic!("planned");
        });
        assert!(panicked.is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    /// Pushes until the writing thread's error shows up, here or at the end.
    fn push_until_it_fails(path: &Path) -> Error {
        let mut file = RowsFile::create(path, &DEVICES).unwrap();
        let rows = random_rows(8, 10_000);
        for _ in 0..60 {
            for row in &rows {
                if let Err(error) = file.push(row) {
                    // Nothing hangs or succeeds afterwards either.
                    assert!(rows.iter().any(|row| file.push(row).is_err()));
                    assert!(file.finish().is_err());
                    return error;
                }
            }
        }
        file.finish().unwrap_err()
    }

    #[test]
    fn a_full_device_is_reported() {
        let full = Path::new("/dev/full");
        if !full.exists() {
            println!("skipped: no /dev/full on this system");
            return;
        }
        let Error::File { path, problem } = push_until_it_fails(full) else {
            panic!("not an error about a file");
        };
        assert_eq!(path, full);
        assert!(problem.starts_with("No space left on device"), "{problem}");
        // Few rows fail only when the last bytes are written.
        assert!(write(full, &random_rows(9, 10)).is_err());
    }

    /// A limit on the size of files stands in for a full disk. The test runs
    /// itself under that limit, in a shell that ignores the signal.
    #[cfg(unix)]
    #[test]
    fn a_full_disk_is_reported_and_leaves_nothing() {
        const FOLDER: &str = "SLEDSIM_TEST_LIMITED_FOLDER";
        if let Some(folder) = std::env::var_os(FOLDER) {
            let path = Path::new(&folder).join("out.parquet");
            for error in [
                push_until_it_fails(&path),
                write(&path, &random_rows(9, 10)).unwrap_err(),
                write_atomically(&path, &[0; 4096]).unwrap_err(),
            ] {
                let text = format!("{}: File too large", path.display());
                assert!(error.to_string().starts_with(&text), "{error}");
            }
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
            return;
        }
        let folder = tempdir().unwrap();
        let (_, module) = module_path!().split_once("::").unwrap();
        let output = Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .env("LLVM_PROFILE_FILE", "/dev/null") // the limit would cut off that of `make coverage`
            .arg("--exact")
            .arg(format!(
                "{module}::a_full_disk_is_reported_and_leaves_nothing"
            ))
            .env(FOLDER, folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("1 passed"), "{said}");
    }

    /// A pipe that nobody reads: the pushing side must come to wait.
    #[cfg(unix)]
    #[test]
    fn memory_is_bounded_however_slow_the_disk() {
        const ROWS: u64 = 1_000_000;
        let folder = tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        if !Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .is_ok_and(|s| s.success())
        {
            println!("skipped: no mkfifo on this system");
            return;
        }
        let pushed = AtomicU64::new(0);
        thread::scope(|scope| {
            let writing = scope.spawn(|| {
                let mut file = RowsFile::create(&pipe, &DEVICES).unwrap();
                for row in random_rows(10, 1_000).iter().cycle().take(ROWS as usize) {
                    file.push(row).unwrap();
                    pushed.fetch_add(1, Ordering::Relaxed);
                }
                file.finish().unwrap()
            });
            let mut reader = File::open(&pipe).unwrap();
            let (mut before, mut still) = (0, 0);
            while still < 5 {
                thread::sleep(Duration::from_millis(100));
                let now = pushed.load(Ordering::Relaxed);
                still = if now == before && now > 0 {
                    still + 1
                } else {
                    0
                };
                before = now;
            }
            // One row group, four batches on their way, one being filled.
            assert!(before <= 262_144 + 5 * 8_192, "{before} rows in memory");
            let copy = folder.path().join("copy.parquet");
            std::io::copy(&mut reader, &mut File::create(&copy).unwrap()).unwrap();
            assert_eq!(writing.join().unwrap(), ROWS);
            let copy = ParquetRecordBatchReaderBuilder::try_new(File::open(&copy).unwrap());
            let rows = copy.unwrap().metadata().file_metadata().num_rows();
            assert_eq!(rows, ROWS as i64);
        });
    }
}
