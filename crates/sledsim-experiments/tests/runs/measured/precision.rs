//! Runs that stop when they are precise enough.

use super::{g2, load, number, planned, tried};
use serde_json::{Value, json};
use sledsim_base::keys::Keys;
use sledsim_experiments::load::Load;
use sledsim_experiments::run::{Plan, Run};
use std::fs;
use tempfile::tempdir;

fn precise(precision: f64) -> Plan {
    Plan { precision: Some(precision), ..Plan::default() }
}

/// All but what is about the precision and its interval.
fn rest(run: &Run) -> Value {
    let mut document = json!(run.document);
    let summary = document["summary"].as_object_mut().unwrap();
    summary.remove("precision");
    summary.remove("confidence");
    document
}

#[test]
fn a_run_stopped_by_precision_equals_the_run_of_as_many_requests() {
    for arrivals in ["rate = 700.0\n", "queue_depth = 5\n", ""] {
        let stopped = planned(&g2(), &load(arrivals), &precise(0.02));
        let said = &json!(stopped.document)["summary"]["precision"];
        assert_eq!(said["met"], true, "{said}");
        assert_eq!(said["missed"], Value::Null);
        assert!(number(&said["reached"]) <= 0.02);
        let requests = &json!(stopped.document)["summary"]["requests"];
        assert_eq!(json!(stopped.document)["workload"]["requests"], *requests);
        let bounded = load(&format!("{arrivals}requests = {requests}\n"));
        let bounded = planned(&g2(), &bounded, &Plan::default());
        assert_eq!(rest(&stopped), rest(&bounded));
    }
}

#[test]
fn a_load_that_ends_before_its_precision_is_reported() {
    let said = |text: &str| {
        let run = planned(&g2(), &load(text), &precise(0.001));
        json!(run.document)["summary"]["precision"].clone()
    };
    let ended = said("requests = 2000\n");
    assert_eq!(ended["met"], false);
    assert!(number(&ended["reached"]) > 0.001);
    assert_eq!(ended["missed"], "the load ended after 2000 requests");
    let few = said("rate = 700.0\nrequests = 200\n");
    assert_eq!(few["missed"], "the load ended after 200 requests (too few requests)");
    let none = said("rate = 700.0\nrequests = 1\n");
    assert_eq!(none["reached"], Value::Null);
    let outrun = said("rate = 9000.0\nmax_queue = 1000\n");
    assert_eq!(outrun["missed"], "the load outran the device (saturated)");
    // Longer than 285 years: the longest load there is, then.
    let text = "rate = 2e-6\n";
    let rare = planned(&g2(), &load(&format!("{text}requests = 20\n")), &Plan::default());
    assert_eq!(json!(rare.document)["summary"]["requests"], 20);
    let rare = said(text);
    assert_eq!(rare["missed"], "the limit of 18000 requests came first");
}

#[test]
fn the_precision_also_stops_a_trace() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.trace");
    let lines: String = (0..50).map(|i| format!("{i} 0 {} 8 1\n", 977 * i)).collect();
    fs::write(&path, lines).unwrap();
    let load = Load::trace(&path, Keys::empty("trace")).unwrap();
    let said =
        json!(planned(&g2(), &load, &precise(0.01)).document)["summary"]["precision"].clone();
    assert_eq!(said["missed"], "the load ended after 50 requests (too few requests)");
    let seeds = Plan { seeds: 2, ..Plan::default() };
    let error = tried(&g2(), &load, &seeds).map(drop).unwrap_err();
    assert!(error.to_string().contains("a trace has no seed"), "{error}");
}
