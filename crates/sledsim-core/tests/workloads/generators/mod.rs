//! Generators other than `random`, against closed forms, brute force and each
//! other. Bounds are five standard errors, as in the tests of `random`.

mod arrivals;
mod keys;
mod places;
mod speed;
mod zipf;

use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::request::Request;
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;
use sledsim_core::workloads::{Generator, GeneratorSpec};
use std::collections::BTreeSet;

/// Blocks of the device (a g2).
const DEVICE: u64 = 6_750_000;

pub(super) fn try_source(kind: &str, text: &str, blocks: u64) -> Result<Generator> {
    let mut keys = Keys::parse(text, "load.toml")?;
    let spec = GeneratorSpec::read(kind, &mut keys)?;
    keys.finish()?;
    spec.source(blocks)
}

/// All requests of an open load of `n`.
fn open(kind: &str, n: usize, text: &str, blocks: u64) -> Vec<Request> {
    let text = format!("requests = {n}\nrate = 500\n{text}");
    let mut source = try_source(kind, &text, blocks).unwrap_or_else(|error| panic!("{error}"));
    let mut requests = Vec::new();
    while source.next_arrival().unwrap().is_some() {
        requests.push(source.take());
    }
    assert_eq!(requests.len(), n);
    requests
}

fn end(request: &Request) -> u64 {
    request.lbn() + u64::from(request.blocks())
}

pub(super) fn mean(samples: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = samples.into_iter().fold((0.0, 0.0), |(s, n), x| (s + x, n + 1.0));
    sum / count
}

/// Five standard errors of a mean of `n` samples.
pub(super) fn five_errors(sd: f64, n: usize) -> f64 {
    5.0 * sd / (n as f64).sqrt()
}

fn assert_share(found: usize, n: usize, p: f64) {
    let share = found as f64 / n as f64;
    let bound = five_errors((p * (1.0 - p)).sqrt(), n);
    assert!((share - p).abs() <= bound, "{share} for {p} of {n}");
}

/// Counts against shares: chi square in standard deviations from its
/// expectation. Cells of few samples go together with the cells after them.
pub(super) fn chi_square(counts: &[u64], share: impl Fn(usize) -> f64) -> f64 {
    let total = counts.iter().sum::<u64>() as f64;
    let (mut cells, mut sum) = (0.0, 0.0);
    let (mut found, mut expected) = (0.0, 0.0);
    let mut rest = total;
    for (cell, &count) in counts.iter().enumerate() {
        found += count as f64;
        let here = total * share(cell);
        expected += here;
        rest -= here;
        if expected >= 20.0 && (rest >= 20.0 || cell + 1 == counts.len()) {
            sum += (found - expected).powi(2) / expected;
            cells += 1.0;
            (found, expected) = (0.0, 0.0);
        }
    }
    if expected > 0.0 {
        sum += (found - expected).powi(2) / expected.max(20.0);
        cells += 1.0;
    }
    if cells < 2.0 {
        return 0.0;
    }
    (sum - (cells - 1.0)) / (2.0_f64 * (cells - 1.0)).sqrt()
}

/// Serves a load on `servers` FCFS servers with these service times; gives
/// the requests' (arrival, completion).
fn serve(
    source: &mut dyn Source,
    servers: usize,
    mut service: impl FnMut() -> Nanos,
) -> Vec<(Request, Nanos)> {
    let mut free = vec![Nanos::ZERO; servers];
    let mut under_way: BTreeSet<(Nanos, u64)> = BTreeSet::new();
    let mut done = Vec::new();
    loop {
        let arrival = source.next_arrival().unwrap();
        if let Some(&(at, id)) = under_way.first()
            && arrival.is_none_or(|arrival| at <= arrival)
        {
            under_way.pop_first();
            source.completed(id, at);
        } else if let Some(arrival) = arrival {
            let request = source.take();
            assert_eq!(request.arrival, arrival);
            let server = free.iter_mut().min().unwrap();
            *server = (*server).max(arrival) + service();
            under_way.insert((*server, request.id));
            done.push((request, *server));
        } else {
            return done;
        }
    }
}
