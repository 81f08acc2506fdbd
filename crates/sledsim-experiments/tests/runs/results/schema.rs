//! Summaries follow their schema, and other documents do not.

use super::{close, random_rows, stats_of, summary};
use serde_json::{Value, json};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::engine::Saturated;
use sledsim_core::model::{Busy, DelayedAccess, Energy, Episode, Report};
use sledsim_experiments::stats::{Interval, Precision, RunReport, SeedRun, Stats, WarmUpCut};
use std::fs;
use std::path::Path;

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
                if !rule.as_array().map_or(allowed(rule), |a| a.iter().any(allowed)) {
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
                let required = schema["required"].as_array().unwrap();
                let may_lack = |key: &String| !required.iter().any(|name| name == key);
                let expected =
                    rules.keys().filter(|key| members.contains_key(*key) || !may_lack(key));
                if !expected.eq(members.keys()) {
                    return Err(format!("keys differ: {:?}", members.keys()));
                }
                for (key, value) in members {
                    check(root, &rules[key], value).map_err(|e| format!("{key}: {e}"))?;
                }
                assert_eq!(schema["additionalProperties"], json!(false));
                let optional = rules.keys().filter(|key| may_lack(key));
                assert!(optional.eq(rules.keys().filter(|key| *key == "episodes")));
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
    let run = RunReport {
        simulated_end: Nanos(2_000_000_000_000),
        saturated: Some(Saturated { at: Nanos(1), queue: 2 }),
        reports: vec![Report {
            name: "g2".into(),
            mechanisms: vec![("", Busy::default()), (".bus", Busy::default())],
            energy: Some(Energy::default()),
            episodes: vec![Episode {
                begin: Nanos(5),
                end: Nanos(9),
                delayed: [Some(7), None]
                    .map(|request| DelayedAccess { request, at: Nanos(6), by: Nanos(3) })
                    .into(),
            }],
            ..Report::default()
        }],
        warm_up: Some(WarmUpCut { requests: 3, until: Nanos(4) }),
        precision: Some(Precision {
            target: 0.01,
            reached: Some(0.02),
            missed: Some("why".into()),
        }),
        ..RunReport::default()
    };
    let stats = stats_of(&random_rows(4, 100));
    let runs = [1, 2].map(|seed| SeedRun::new(seed, &stats, &run));
    let interval = Interval::of_runs(&[1.0, 2.0], 1000);
    let run = RunReport { runs: runs.into(), intervals: [interval, None, interval], ..run };
    summary(&stats, &run)
}

#[test]
fn summaries_follow_the_schema() {
    valid(&full()).unwrap();
    valid(&summary(&Stats::new(), &RunReport::default())).unwrap();
    // One request that takes no time at all: no rate, no variation.
    let instant = summary(&stats_of(&[Row::default()]), &RunReport::default());
    valid(&instant).unwrap();
    assert_eq!(instant["throughput_iops"], Value::Null);
    assert_eq!(instant["response_time_ms"]["mean"], json!(0.0));
    // The longest times there are.
    let endless = Row { completion: Nanos::MAX, ..Row::default() };
    let endless = summary(&stats_of(&[endless; 2]), &RunReport::default());
    valid(&endless).unwrap();
    assert!(close(&endless["response_time_ms"]["p50"], u64::MAX as f64 / 1e6));
}

#[test]
fn undefined_values_are_null() {
    let nothing = summary(&Stats::new(), &RunReport::default());
    for key in [
        "duration_s",
        "throughput_iops",
        "read_fraction",
        "utilisation",
        "busiest",
        "mean_outstanding",
        "mean_queue_depth",
        "max_queue_depth",
    ] {
        assert_eq!(nothing[key], Value::Null, "{key}");
    }
    let times = object(&nothing["response_time_ms"]).unwrap();
    assert!(times.values().all(Value::is_null));
}

#[test]
fn other_documents_do_not_follow_the_schema() {
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
    assert!(change(&|s| s["mechanisms"][0]["busy_s"] = Value::Null).is_err());
    assert!(change(&|s| s["mechanisms"][1]["host"] = json!("1")).is_err());
    assert!(change(&|s| s["devices"][0]["busy_s"] = json!(1)).is_err());
}
