//! The media pass by pass: what a device writes by an instant keeps all that it has
//! promised by then. The judge is that of the crash tests, which knows requests and
//! completions only.

use crate::common::device;
use sledsim_base::keys::Keys;
use sledsim_core::catalog::Device;
use sledsim_core::model::contents::Promise;
use sledsim_core::model::torn_blocks::TornBlocks;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::crash::{Plan, Report, ViolationKind, test_model};
use sledsim_experiments::load::Load;

/// Long enough for any pass under way.
const HOLD_UP: (&str, &str) = ("hold_up_us", "1000");

fn crash(device: &Device, scheduler: &str, plan: &Plan) -> (Report, TornBlocks) {
    let scheduler = SchedulerSpec::named(scheduler).expect("a scheduler");
    let keys = "requests = 1000\nread_fraction = 0.4\nlast_lbn = 299\nqueue_depth = 8\n\
                mean_size_kib = 4";
    let keys = Keys::parse(keys, "load").expect("TOML");
    let load = Load::workload("random", keys).expect("a load");
    let torn = TornBlocks::default();
    let build = || Ok(device.build_on_media(&scheduler, &torn)?.0);
    let report = test_model(&build, device.promise(), &load, plan, &mut |_| Ok(()));
    (report.expect("a crash test"), torn)
}

fn points(points: u64) -> Plan {
    Plan { points, ..Plan::default() }
}

fn stripe(child: &str, more: &str) -> Device {
    let keys = format!(
        "title = \"Stripe\"\nkind = \"stripe\"\nchildren = 3\nunit_blocks = 5\n\
         child.base = \"{child}\"\n{more}"
    );
    Device::from_keys(Keys::parse(&keys, "test").expect("TOML"), None).expect("a device")
}

#[test]
fn media_keep_what_was_promised() {
    let none = [("buffer.write_back", "\"none\"")];
    let hybrid = &[("front.hold_up_us", "1000")];
    for (device, scheduler, count) in [
        (device("memory", &[("latency_ms", "1")]), "fcfs", 500),
        (device("flash", &[]), "fcfs", 500),
        (device("g2", &[HOLD_UP]), "fcfs", 500),
        (device("g2", &[HOLD_UP]), "sptf", 500),
        (device("g2", &[HOLD_UP]), "fcfs(host=c_look; device_depth=2)", 200),
        (device("g2-buffered", &[HOLD_UP]), "fcfs", 500),
        (device("g2-buffered", &[HOLD_UP]), "sptf", 500),
        (device("cmu2003", &[HOLD_UP]), "sptf", 200),
        (device("atlas10k", &[]), "fcfs", 500),
        (device("atlas10k", &[]), "sptf", 500),
        (device("atlas10k", &none), "c_look", 500),
        (stripe("g2", "child.hold_up_us = 1000"), "sptf", 200),
        (stripe("atlas10k", ""), "fcfs", 200),
        (device("mwb", hybrid), "fcfs", 60),
        (device("mcd", hybrid), "fcfs", 60),
    ] {
        let (report, _) = crash(&device, scheduler, &points(count));
        let what = format!("{} with {scheduler}", device.name());
        assert!(report.passed(), "{what}: {}", report.shown[0]);
        let under_way = report.under_way;
        assert!(under_way.lost > 0, "{what}: {under_way:?}");
        assert!(report.blocks_checked > 5_000, "{what}");
        // It is not all that was acknowledged.
        if device.promise() == Promise::Flush {
            let plan = Plan { promise: Some(Promise::Completion), ..points(count) };
            assert!(!crash(&device, scheduler, &plan).0.passed(), "{what}");
        }
    }
}

/// Without power held up, the only blocks that hold what they may not are torn: between
/// a version that they may hold, or another mixture, and a write under way.
#[test]
fn sleds_tear_the_blocks_under_their_tips_and_no_others() {
    for name in ["g2", "g2-buffered"] {
        let plan = Plan { shown: usize::MAX, ..points(600) };
        let (report, torn) = crash(&device(name, &[]), "sptf", &plan);
        assert!(report.violations > 20, "{name}: {}", report.violations);
        for violation in &report.shown {
            let ViolationKind::Found(block) = &violation.wrong else {
                continue; // a read of the block since then
            };
            let token = block.found.expect("a token");
            let torn = torn.get(token).expect("a torn block");
            assert!(torn.detected && torn.new_bits <= torn.data_bits, "{torn:?}");
            let versions: Vec<u64> = block.history.iter().map(|one| one.token).collect();
            assert!(versions.contains(&torn.old) && versions.contains(&torn.new));
        }
    }
}
