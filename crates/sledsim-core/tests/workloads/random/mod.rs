//! Random numbers and the `random` workload against closed forms. Bounds are
//! five standard errors of the number of samples: one honest failure in a
//! million, and the seeds are fixed.

mod keys;
mod numbers;
mod requests;
mod unchanged;

use super::generators::{chi_square, five_errors, mean};
use sledsim_base::error::Result;
use sledsim_base::request::Request;
use sledsim_core::model::source::Source;
use sledsim_core::workloads::Generator;

/// Blocks of the device (a g2).
const DEVICE: u64 = 6_750_000;

fn try_source(text: &str, blocks: u64) -> Result<Generator> {
    super::generators::try_source("random", text, blocks)
}

/// All requests of an open load.
fn open(text: &str, blocks: u64) -> Vec<Request> {
    let mut source = try_source(text, blocks).unwrap();
    let mut requests = Vec::new();
    while let Some(at) = source.next_arrival().unwrap() {
        let request = source.take();
        assert_eq!(request.arrival, at);
        assert_eq!(request.id, requests.len() as u64);
        requests.push(request);
    }
    assert_eq!(source.requests(), Some(requests.len() as u64));
    requests
}

fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let (mx, my) = (mean(pairs.iter().map(|p| p.0)), mean(pairs.iter().map(|p| p.1)));
    let moment = |f: fn(f64, f64) -> f64| mean(pairs.iter().map(|p| f(p.0 - mx, p.1 - my)));
    moment(|x, y| x * y) / (moment(|x, _| x * x) * moment(|_, y| y * y)).sqrt()
}
