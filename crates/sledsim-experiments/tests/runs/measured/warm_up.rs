//! The warm-up of runs.

use super::{Seen, close, g2, in_memory, load, number, planned, rows, tried, try_load};
use crate::common::refusals::refuse;
use serde_json::{Value, json};
use sledsim_base::keys::Keys;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_experiments::run::Plan;

fn energy(summary: &Value) -> f64 {
    number(&summary["energy_j"]["total"])
}

#[test]
fn warm_up_and_counted_requests_add_up_to_the_whole() {
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
        let summary = &json!(some.document)["summary"];
        assert_eq!(json!(whole.document)["summary"]["warm_up"], Value::Null);
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
        assert!(close(number(&summary["request_energy_j"]), nanojoules as f64 / 1e9));
        // Energy: that of the whole but for the window that ends there.
        let window = Some(Nanos(until));
        let plan = Plan { window, ..in_memory() };
        let windows = planned(&g2(), &load(&text), &plan).series.unwrap();
        assert_eq!(windows[0].end.0, until);
        let whole = energy(&json!(whole.document)["summary"]);
        let warm_up_j = windows[0].energy_j.unwrap();
        assert!(close(energy(summary), whole - warm_up_j), "{cut}");
        assert!(energy(summary) < 0.9 * whole, "{cut}");
        let mechanisms = summary["mechanisms"].as_array().unwrap();
        assert_eq!([&mechanisms[0]["name"], &mechanisms[1]["name"]], ["g2", "g2.bus"]);
        for mechanism in mechanisms {
            let of = |key: &str| number(&mechanism[key]);
            assert!(close(of("busy_s") / seconds, of("utilisation")));
            assert!(of("utilisation") <= 1.0 + 1e-3, "{cut}: {mechanism}");
            assert_eq!((of("host"), of("other")), (of("utilisation"), 0.0));
        }
        // The sled is busier than its bus.
        assert_eq!(summary["busiest"], "g2");
        assert_eq!(summary["utilisation"], mechanisms[0]["utilisation"]);
    }
}

/// A server of fixed service times, one request at a time: everything is
/// known. Half of the requests are cut, and half of the busy time.
#[test]
fn half_the_requests_of_a_constant_server_are_warm_up() {
    let text =
        "title = \"x\"\nkind = \"memory\"\nblocks = 1000\nlatency_ms = 1.0\nms_per_block = 0.0\n";
    let device = Device::from_keys(Keys::parse(text, "x.toml").unwrap(), None).unwrap();
    // From a completion to the next arrival 3 ms: one in 4 ms, busy 1/4.
    let keys = "think_ms = 3.0\nrequests = 1000\nwarm_up_requests = 500\n";
    let summary = &json!(planned(&device, &load(keys), &Plan::default()).document)["summary"];
    assert_eq!(summary["requests"], 500);
    assert_eq!(summary["warm_up"]["until_s"], 2.0);
    assert_eq!(summary["duration_s"], 1.997);
    assert_eq!(summary["mechanisms"][0]["busy_s"], 0.5);
    assert!(close(number(&summary["utilisation"]), 0.5 / 1.997));
    assert_eq!(summary["simulated_s"], 3.997);
    let keys = keys.replace("warm_up_requests = 500", "warm_up_s = 1.9965");
    let late = &json!(planned(&device, &load(&keys), &Plan::default()).document)["summary"];
    assert_eq!(late["warm_up"]["until_s"], 2.0, "the next to arrive");
}

/// Of requests that arrive together, those of the warm-up do not count, whenever they
/// complete.
#[test]
fn requests_that_arrive_together_are_cut_by_number() {
    let keys = "queue_depth = 7\nrequests = 100\nwarm_up_requests = 3\n";
    let run = planned(&g2(), &load(keys), &in_memory());
    let summary = &json!(run.document)["summary"];
    assert_eq!(summary["warm_up"]["until_s"], 0.0);
    assert_eq!(summary["warm_up"]["requests"], 3);
    assert_eq!(summary["requests"], 97);
    let counted = rows(&run.batches).into_iter().filter(|row| row.id >= 3);
    let response: u64 = counted.map(|row| row.completion - row.arrival).sum();
    let mean_ms = number(&summary["response_time_ms"]["mean"]);
    assert!(close(mean_ms, response as f64 / 97e6));
}

#[test]
fn a_warm_up_longer_than_the_load_is_refused() {
    let table = r#"
    requests = 50 ; warm_up_requests = 50 => must be below the 50 requests
    requests = 50 ; warm_up_s = 1000.0 => warm_up_s = 1000: the load ended at
    warm_up_s = -1.0 => warm_up_s = -1
    warm_up_requests = 0.5 => warm_up_requests = 0.5
    "#;
    refuse(table, |text| tried(&g2(), &try_load(text)?, &in_memory()).map(drop));
    // A device that is outrun while it warms up is reported as that.
    let text = "rate = 1e6\nrequests = 5000\nmax_queue = 100\nwarm_up_requests = 4000\n";
    let summary = &json!(planned(&g2(), &load(text), &Plan::default()).document)["summary"];
    assert!(summary["saturated"]["queue"].as_u64() > Some(0));
    assert_eq!(summary["requests"], 0);
}
