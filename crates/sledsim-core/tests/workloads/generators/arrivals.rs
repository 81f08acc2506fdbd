//! Arrivals: constant, in bursts, and of customers with think times.

use super::{DEVICE, chi_square, five_errors, mean, serve, try_source};
use sledsim_base::random::Stream;
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;
use std::collections::VecDeque;

/// The largest distance between samples and a distribution function, in units
/// of what is passed by chance once in a million.
fn kolmogorov(mut samples: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let n = samples.len() as f64;
    let at = |(i, x): (usize, &f64)| (cdf(*x) - (i as f64 + 0.5) / n).abs();
    samples.iter().enumerate().map(at).fold(0.0, f64::max) * n.sqrt() / 2.69
}

fn times_s(n: usize, text: &str) -> Vec<f64> {
    let mut source = try_source("random", &format!("requests = {n}\n{text}"), DEVICE).unwrap();
    (0..n).map(|_| source.take().arrival.s()).collect()
}

#[test]
fn constant_arrivals_are_a_clock() {
    for (rate, scale) in [(7.0, 1.0), (3e8, 1.0), (1000.0, 2.5)] {
        let text = format!("arrivals = \"constant\"\nrate = {rate}\ntime_scale = {scale}");
        for (i, time) in times_s(10_000, &text).into_iter().enumerate() {
            let expected = (i as f64 + 1.0) / rate / scale;
            assert!((time - expected).abs() <= 1.01e-9, "{rate} {i}: {time} {expected}");
        }
    }
}

#[test]
fn bursts_are_an_interrupted_poisson_process() {
    // Kuczura (1973): the gaps of an interrupted Poisson process are
    // independent and hyperexponential. With lambda the rate while on,
    // a = 1/on and b = 1/off, the two rates are the roots of
    // r^2 - (lambda + a + b) r + lambda b.
    let n = 2_000_000;
    let (rate, on, off) = (500.0, 0.02, 0.08);
    let times = times_s(n, "rate = 500\non_ms = 20\noff_ms = 80");
    let (lambda, a, b) = (rate * (on + off) / on, 1.0 / on, 1.0 / off);
    let sum: f64 = lambda + a + b;
    let root = (sum * sum - 4.0 * lambda * b).sqrt();
    let (r1, r2) = ((sum + root) / 2.0, (sum - root) / 2.0);
    let p = (lambda - r2) / (r1 - r2);
    let cdf = |t: f64| 1.0 - p * (-r1 * t).exp() - (1.0 - p) * (-r2 * t).exp();
    let gaps: Vec<f64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    let second = 2.0 * (p / (r1 * r1) + (1.0 - p) / (r2 * r2));
    let sd = (second - 1.0 / (rate * rate)).sqrt();
    let found = mean(gaps.iter().copied());
    assert!((found - 1.0 / rate).abs() < five_errors(sd, n), "{found}");
    let centre = |i: usize| gaps[i] - found;
    let linked = mean((1..gaps.len()).map(|i| centre(i) * centre(i - 1))) / (sd * sd);
    assert!(linked.abs() < five_errors(1.0, n), "{linked}");
    assert!(kolmogorov(gaps, cdf) < 1.0);
    // Counts in windows of t vary as those of a Poisson process whose rate is
    // on or off: with c = a + b, the variance over the mean is
    // 1 + 2 lambda a / c^2 (1 - (1 - exp(-c t)) / (c t)), here 64; good to
    // sqrt(2 / windows).
    let t = 1.0;
    let mut counts = vec![0.0; (times[n - 1] / t) as usize];
    for time in &times {
        if let Some(count) = counts.get_mut((time / t) as usize) {
            *count += 1.0;
        }
    }
    let centre = mean(counts.iter().copied());
    let variance = mean(counts.iter().map(|c| (c - centre) * (c - centre)));
    let c = a + b;
    let expected = 1.0 + 2.0 * lambda * a / (c * c) * (1.0 - (1.0 - (-c * t).exp()) / (c * t));
    let bound = five_errors(2.0_f64.sqrt(), counts.len());
    assert!((variance / centre / expected - 1.0).abs() < bound, "{} {expected}", variance / centre);
}

#[test]
fn fixed_bursts_keep_their_hours() {
    let n = 200_000;
    let base = "rate = 40\non_ms = 300\noff_ms = 700\nburst_lengths = \"fixed\"";
    let times = times_s(n, base);
    let mut counts = [0_u64; 30];
    for time in &times {
        // In hundredths of a second after the full second.
        counts[(time.fract() * 100.0) as usize] += 1;
    }
    assert!(chi_square(&counts, |_| 1.0 / 30.0) < 5.0);
    let per_s = n as f64 / times[n - 1];
    assert!((per_s / 40.0 - 1.0).abs() < five_errors(1.0, n));
    // Gaps inside a burst are exponential at the rate while on.
    let inside: Vec<f64> = times
        .windows(2)
        .filter(|w| w[0].fract() < 0.2 && w[1] - w[0] < 0.1)
        .map(|w| w[1] - w[0])
        .collect();
    let lambda = 40.0 / 0.3;
    let whole = 1.0 - (-lambda * 0.1_f64).exp();
    assert!(kolmogorov(inside, |t| (1.0 - (-lambda * t).exp()) / whole) < 1.0);
    // A clock that stands still while off: 39.7 beats to 0.3 s on.
    let base = base.replace("rate = 40", "rate = 39.7");
    let clock = times_s(390, &format!("{base}\narrivals = \"constant\""));
    for (i, time) in clock.iter().enumerate() {
        let beats = (i as f64 + 1.0) / 39.7;
        let expected = beats.floor() + 0.3 * beats.fract();
        assert!((time - expected).abs() < 1e-8, "{i}: {time} {expected}");
    }
}

#[test]
fn time_scale_stretches_bursts_and_bursts_leave_the_rest_alone() {
    let base = "rate = 100\non_ms = 5\noff_ms = 15";
    let (slow, fast) = (times_s(5000, base), times_s(5000, &format!("{base}\ntime_scale = 4")));
    for (slow, fast) in slow.iter().zip(&fast) {
        assert!((slow / 4.0 - fast).abs() < 2e-9);
    }
    // With the off times taken out it is the Poisson load at four times the
    // rate.
    let fixed = times_s(5000, &format!("{base}\nburst_lengths = \"fixed\""));
    for (time, poisson) in fixed.iter().zip(times_s(5000, "rate = 400")) {
        let cycles = (time / 0.02).floor();
        let on = time - 0.015 * cycles;
        assert!((on - poisson).abs() < 1e-8, "{time} {on} {poisson}");
    }
    let text = "requests = 500\nrate = 100";
    let mut plain = try_source("random", text, DEVICE).unwrap();
    let mut bursts =
        try_source("random", &format!("{text}\non_ms = 5\noff_ms = 15"), DEVICE).unwrap();
    for _ in 0..500 {
        let (a, b) = (plain.take(), bursts.take());
        assert_eq!((a.op, a.extents), (b.op, b.extents));
    }
}

#[test]
fn thinking_customers_are_the_machine_repairman() {
    // N customers who think Z, one exponential server with mean S: with
    // weights w(k) = N!/(N-k)! (S/Z)^k for k at the server, the throughput is
    // (1 - 1/sum w) / S, and Little's law gives the response time.
    let n = 400_000;
    for (customers, z_ms, s_ms) in [(1, 5.0, 2.0), (8, 10.0, 2.0), (30, 100.0, 2.0)] {
        let text = format!(
            "requests = {n}\nqueue_depth = {customers}\nthink_ms = {z_ms}\nthink = \"exponential\""
        );
        let mut source = try_source("random", &text, DEVICE).unwrap();
        let mut stream = Stream::new(21, "service");
        let done = serve(&mut source, 1, || Nanos::from_s(stream.exponential(s_ms * 1e-3)));
        let mut weights = vec![1.0];
        for k in 0..customers {
            weights.push(weights[k] * (customers - k) as f64 * s_ms / z_ms);
        }
        let busy = 1.0 - 1.0 / weights.iter().sum::<f64>();
        let (throughput, end_s) = (busy / (s_ms * 1e-3), done[n - 1].1.s());
        let found = n as f64 / end_s;
        assert!((found / throughput - 1.0).abs() < 0.01, "{found} {throughput}");
        let response = mean(done.iter().map(|(r, at)| at.s() - r.arrival.s()));
        let expected = customers as f64 / throughput - z_ms * 1e-3;
        assert!((response / expected - 1.0).abs() < 0.02, "{response} {expected}");
        // Never more at once than there are customers.
        let mut ends = VecDeque::new();
        for (request, at) in &done {
            while ends.front().is_some_and(|end| *end <= request.arrival) {
                ends.pop_front();
            }
            ends.push_back(*at);
            assert!(ends.len() <= customers);
        }
    }
}

#[test]
fn think_times_are_exponential_and_begin_with_one() {
    let n = 50_000;
    let keys = format!("requests = {n}\nthink_ms = 3\nthink = \"exponential\"");
    let mut source = try_source("random", &keys, DEVICE).unwrap();
    let mut last = Nanos::ZERO;
    let mut thinks = Vec::new();
    for _ in 0..n {
        let request = source.take();
        thinks.push((request.arrival - last).ms());
        assert_eq!(source.next_arrival().unwrap(), None);
        last = request.arrival + Nanos(12_345);
        source.completed(request.id, last);
    }
    assert!((mean(thinks.iter().copied()) / 3.0 - 1.0).abs() < five_errors(1.0, n));
    assert!(kolmogorov(thinks, |t| 1.0 - (-t / 3.0).exp()) < 1.0);
    // With a server for each the customers are independent: throughput
    // N / (Z + S) for any distributions.
    let text = "queue_depth = 50\nthink_ms = 3\nthink = \"exponential\"";
    let mut source = try_source("random", &format!("requests = 300_000\n{text}"), DEVICE).unwrap();
    let done = serve(&mut source, 50, || Nanos(7_000_000));
    let per_s = 300_000.0 / done[300_000 - 1].0.arrival.s();
    assert!((per_s / 5000.0 - 1.0).abs() < 0.01, "{per_s}");
}
