//! Random numbers and the `random` workload against closed forms. Bounds are
//! five standard errors of the number of samples: one honest failure in a
//! million, and the seeds are fixed.

mod keys;
mod numbers;
mod requests;
mod unchanged;

use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::request::Request;
use sledsim_core::model::source::Source;
use sledsim_core::workloads::{Generator, GeneratorSpec};

/// Blocks of the device (a g2).
const DEVICE: u64 = 6_750_000;

fn try_source(text: &str, blocks: u64) -> Result<Generator> {
    let mut keys = Keys::parse(text, "load.toml")?;
    let spec = GeneratorSpec::read("random", &mut keys)?;
    keys.finish()?;
    spec.source(blocks)
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

fn mean(samples: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = samples.into_iter().fold((0.0, 0.0), |(s, n), x| (s + x, n + 1.0));
    sum / count
}

/// Five standard errors of a mean of `n` samples.
fn five_errors(sd: f64, n: usize) -> f64 {
    5.0 * sd / (n as f64).sqrt()
}

/// Chi square of counts against equal or given shares, in standard
/// deviations from its expectation (the number of cells less one).
fn chi_square(counts: &[u64], shares: impl Fn(usize) -> f64) -> f64 {
    let total: u64 = counts.iter().sum();
    let sum: f64 = counts
        .iter()
        .enumerate()
        .map(|(cell, &count)| {
            let expected = total as f64 * shares(cell);
            assert!(expected > 20.0, "too few samples for cell {cell}");
            (count as f64 - expected).powi(2) / expected
        })
        .sum();
    let freedom = counts.len() as f64 - 1.0;
    (sum - freedom) / (2.0 * freedom).sqrt()
}

fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let (mx, my) = (mean(pairs.iter().map(|p| p.0)), mean(pairs.iter().map(|p| p.1)));
    let moment = |f: fn(f64, f64) -> f64| mean(pairs.iter().map(|p| f(p.0 - mx, p.1 - my)));
    moment(|x, y| x * y) / (moment(|x, _| x * x) * moment(|_, y| y * y)).sqrt()
}
