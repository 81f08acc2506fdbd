//! The laws that the figures of a run obey, on every kind of device: see "What the figures
//! are" in docs/reference/results.md.

use super::{Seen, close, in_memory, load, number, planned, rows};
use crate::common::device;
use arrow_array::RecordBatch;
use serde_json::json;
use sledsim_base::keys::Keys;
use sledsim_core::catalog::Device;

fn composite(keys: &str) -> Device {
    let keys = format!("title = 'Composite'\n{keys}");
    Device::from_keys(Keys::parse(&keys, "device.toml").unwrap(), None).unwrap()
}

fn devices() -> Vec<(&'static str, Device)> {
    let tier = "kind = 'mcd'\nsegment_kib = 8\nfront_mib = 0.5\nbuffer_kib = 64\n\
                exchange_kib = 32\nclean_after_idle_ms = 1\nfront.base = 'msst2005'\n\
                back.base = 'atlas10k'\n";
    let array = "kind = 'raid5'\nchildren = 4\nunit_blocks = 16\nchild.base = 'g3'\n";
    vec![
        ("g2", device("g2", &[])),
        ("g2 with a buffer", device("g2-buffered", &[])),
        ("atlas10k", device("atlas10k", &[])),
        ("flash", device("flash", &[])),
        ("memory", device("memory", &[])),
        ("tier", composite(tier)),
        ("array", composite(array)),
    ]
}

/// The rows of the host's requests, by id.
fn of_the_host(batches: &[RecordBatch]) -> Vec<Seen> {
    let is_host = batches.iter().flat_map(|batch| {
        let parents = batch.column_by_name("parent").unwrap();
        (0..batch.num_rows()).map(|i| parents.is_null(i))
    });
    let mut rows: Vec<Seen> = (rows(batches).into_iter().zip(is_host))
        .filter_map(|(row, is_host)| is_host.then_some(row))
        .collect();
    rows.sort_by_key(|row| row.id);
    rows
}

#[test]
fn figures_obey_the_laws_on_every_kind_of_device() {
    for (name, device) in devices() {
        for keys in [
            "rate = 300.0",
            "rate = 300.0\nwarm_up_requests = 500",
            "rate = 1e5\nmax_queue = 60\nwarm_up_requests = 20",
            "queue_depth = 6",
            "queue_depth = 6\nwarm_up_requests = 3",
            "queue_depth = 3\nthink_ms = 5.0\nwarm_up_s = 0.25",
        ] {
            let text = format!("{keys}\nrequests = 1500\nlast_lbn = 9000\n");
            let run = planned(&device, &load(&text), &in_memory());
            let case = format!("{name}, {keys}");
            let summary = &json!(run.document)["summary"];
            let rows = of_the_host(&run.batches);
            // A run that is given up has not completed all of the warm-up.
            let cut = match summary["saturated"].is_null() {
                true => summary["warm_up"]["requests"].as_u64().unwrap_or(0),
                false => 20,
            };
            let counted: Vec<&Seen> = rows.iter().filter(|row| row.id >= cut).collect();
            assert_eq!(summary["requests"], counted.len(), "{case}");
            if counted.is_empty() {
                continue; // given up before
            }
            // Little.
            let flow = number(&summary["throughput_iops"]) / 1e3;
            let response_ms = number(&summary["response_time_ms"]["mean"]);
            let outstanding = number(&summary["mean_outstanding"]);
            assert!(close(outstanding, flow * response_ms), "{case}: {outstanding}");
            // What arrivals found, by looking at all rows. Those that a run that is given
            // up never served have none.
            if summary["saturated"].is_null() {
                let found = counted.iter().map(|row| {
                    let before = rows.iter().take_while(|other| other.id < row.id);
                    before.filter(|other| other.completion > row.arrival).count()
                });
                let found: Vec<usize> = found.collect();
                let mean = found.iter().sum::<usize>() as f64 / found.len() as f64;
                assert!(close(number(&summary["mean_queue_depth"]), mean), "{case}");
                assert_eq!(
                    summary["max_queue_depth"],
                    found.iter().copied().max().unwrap(),
                    "{case}"
                );
            }
            if keys == "queue_depth = 6\nwarm_up_requests = 3" {
                // But for the others of the first six, and a few that come when two complete at
                // one instant.
                let missing = (5.0 - number(&summary["mean_queue_depth"])) * counted.len() as f64;
                assert!((2.999..20.0).contains(&missing), "{case}: {missing}");
            }
            // Mechanisms.
            let mechanisms = summary["mechanisms"].as_array().unwrap();
            let mut most = 0.0_f64;
            for mechanism in mechanisms {
                let of = |key: &str| number(&mechanism[key]);
                let both = of("host") + of("other");
                assert!(close(both, of("utilisation")), "{case}: {mechanism}");
                most = most.max(of("utilisation"));
                // What it began before the warm-up ended does not count.
                assert!(both <= 1.0 + 1e-9 || cut > 0 && both < 1.05, "{case}: {mechanism}");
            }
            assert_eq!(number(&summary["utilisation"]), most, "{case}");
            let names = mechanisms.iter().filter(|one| one["utilisation"] == most);
            assert!(names.map(|one| &one["name"]).any(|name| *name == summary["busiest"]));
            let has_one = !matches!(name, "flash" | "tier" | "array");
            if has_one && cut == 0 && summary["saturated"].is_null() {
                let active_s =
                    number(&mechanisms[0]["busy_s"]) / number(&mechanisms[0]["utilisation"]);
                let host_s = number(&mechanisms[0]["host"]) * active_s;
                let requests = number(&summary["mechanism_requests"]);
                let service_s = number(&summary["service_time_ms"]["mean"]) / 1e3;
                assert!(close(host_s, requests * service_s), "{case}: {host_s}");
            }
            // Power is known of a device or not.
            let is_known = matches!(name, "g2" | "g2 with a buffer" | "flash" | "array");
            for key in ["energy_j", "request_energy_j"] {
                assert_eq!(!summary[key].is_null(), is_known, "{case}: {key}");
            }
        }
    }
}
