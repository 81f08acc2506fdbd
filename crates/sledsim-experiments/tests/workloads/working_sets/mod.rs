//! Bursts at many scales, sizes from a list, working sets, and the workloads
//! that are files: against closed forms, brute force and TPC-C.

mod bursts;
mod files;
mod likeness;
mod reuse;
mod sets;
mod speed;
mod writes;

use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::progress::Progress;
use sledsim_base::request::Request;
use sledsim_core::model::source::Source;
use sledsim_core::workloads::{Generator, GeneratorSpec};
use sledsim_experiments::info::load_info;
use sledsim_experiments::load::Load;
use sledsim_traces::InfoSpec;
use std::path::Path;

/// Blocks of the disk of msst2005.
const DEVICE: u64 = 17_938_986;

fn try_source(kind: &str, text: &str) -> Result<Generator> {
    let mut keys = Keys::parse(text, "load.toml")?;
    let spec = GeneratorSpec::read(kind, &mut keys)?;
    keys.finish()?;
    spec.source(DEVICE)
}

fn all(mut source: impl Source) -> Vec<Request> {
    let mut requests = Vec::new();
    while source.next_arrival().unwrap().is_some() {
        requests.push(source.take());
    }
    requests
}

/// All requests of an open load of `n`.
fn open(kind: &str, n: usize, text: &str) -> Vec<Request> {
    let text = format!("requests = {n}\n{text}");
    let source = try_source(kind, &text).unwrap_or_else(|error| panic!("{error}"));
    let requests = all(source);
    assert_eq!(requests.len(), n);
    requests
}

/// Within five standard errors of a share.
fn assert_share(found: f64, n: f64, p: f64, what: &str) {
    let bound = 5.0 * (p * (1.0 - p) / n).sqrt();
    assert!((found / n - p).abs() <= bound, "{what}: {} for {p}", found / n);
}

fn load(name: &str, keys: &str) -> Result<Load> {
    Load::workload(name, Keys::parse(keys, "keys.toml")?)
}

fn info(load: &Load) -> Result<Value> {
    let spec = InfoSpec { max_units: 1 << 20, ..InfoSpec::new(Path::new("")) };
    Ok(json!(load_info(&spec, load, DEVICE, &mut |_: Progress| Ok(()))?))
}
