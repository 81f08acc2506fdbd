//! The speed of drawing workloads.

use super::{DEVICE, load, try_source};
use sledsim_core::model::source::Source;
use sledsim_core::workloads::PRESETS;
use sledsim_experiments::info::load_info;
use sledsim_traces::InfoSpec;
use std::path::Path;

#[test]
#[ignore = "measures speed"]
fn speed() {
    for (name, _) in PRESETS {
        let mut best = f64::MAX;
        for _ in 0..5 {
            let load = load(name, "requests = 1_000_000").unwrap();
            let start = std::time::Instant::now();
            let spec = InfoSpec { quick: true, ..InfoSpec::new(Path::new("")) };
            load_info(&spec, &load, DEVICE, &mut |_| Ok(())).unwrap();
            best = best.min(start.elapsed().as_secs_f64() / 1e6);
        }
        println!("{:6.1} ns a request with its figures: {name}", best * 1e9);
    }
    for (kind, text) in [
        ("random", "rate = 500"),
        ("random", "rate = 500\nbias = 0.75"),
        ("files", "rate = 500\nbias = 0.72\nset_mib = 958\nzipf_exponent = 0.8"),
        ("scan", "rate = 500\nset_mib = 1242"),
        ("nurand", "rate = 500\nset_mib = 1284"),
    ] {
        let (mut best, n) = (f64::MAX, 5_000_000);
        for _ in 0..5 {
            let mut source = try_source(kind, &format!("requests = {n}\n{text}")).unwrap();
            let source: &mut dyn Source = &mut source;
            let start = std::time::Instant::now();
            while source.next_arrival().unwrap().is_some() {
                source.take();
            }
            best = best.min(start.elapsed().as_secs_f64() / f64::from(n));
        }
        println!("{:6.1} ns a request: {kind} {text:?}", best * 1e9);
    }
}
