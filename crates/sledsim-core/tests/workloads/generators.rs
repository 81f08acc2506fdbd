//! Generators other than `random`, against closed forms, brute force and each
//! other. Bounds are five standard errors, as in `random.rs`.

use proptest::prelude::*;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::{Permutation, Stream, Zipf};
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;
use sledsim_core::workloads::{Generator, GeneratorSpec};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Blocks of the device (a g2).
const DEVICE: u64 = 6_750_000;

fn try_source(kind: &str, text: &str, blocks: u64) -> Result<Generator> {
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
        requests.push(source.take().unwrap());
    }
    assert_eq!(requests.len(), n);
    requests
}

fn end(request: &Request) -> u64 {
    request.lbn() + u64::from(request.blocks())
}

fn mean(samples: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = samples
        .into_iter()
        .fold((0.0, 0.0), |(s, n), x| (s + x, n + 1.0));
    sum / count
}

fn five_errors(sd: f64, n: usize) -> f64 {
    5.0 * sd / (n as f64).sqrt()
}

fn assert_share(found: usize, n: usize, p: f64) {
    let share = found as f64 / n as f64;
    let bound = five_errors((p * (1.0 - p)).sqrt(), n);
    assert!((share - p).abs() <= bound, "{share} for {p} of {n}");
}

/// Counts against shares: chi square in standard deviations from its
/// expectation. Cells of few samples go together with the cells after them.
fn chi_square(counts: &[u64], share: impl Fn(usize) -> f64) -> f64 {
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

/// The largest distance between samples and a distribution function, in units
/// of what is passed by chance once in a million.
fn kolmogorov(mut samples: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let n = samples.len() as f64;
    let at = |(i, x): (usize, &f64)| (cdf(*x) - (i as f64 + 0.5) / n).abs();
    samples.iter().enumerate().map(at).fold(0.0, f64::max) * n.sqrt() / 2.69
}

// ---------------------------------------------------------------------------
// Zipf

#[test]
fn zipf_ranks_have_the_normalised_probabilities() {
    let n = 200_000;
    let exponents = [
        0.0,
        0.2,
        0.99,
        1.0 - 1e-12,
        // So near that exp(y) - 1 is mostly rounding.
        1.0 - 1e-15,
        1.0,
        1.0 + 1e-9,
        1.3,
        2.0,
        5.0,
        10.0,
    ];
    for ranks in [1_u64, 2, 3, 17, 400] {
        for exponent in exponents {
            let weight = |k: u64| (k as f64).powf(-exponent);
            let sum: f64 = (1..=ranks).map(weight).sum();
            let zipf = Zipf::new(ranks, exponent);
            let mut stream = Stream::new(11, "test");
            let mut counts = vec![0_u64; ranks as usize];
            for _ in 0..n {
                counts[zipf.draw(&mut stream) as usize - 1] += 1;
            }
            let off = chi_square(&counts, |cell| weight(cell as u64 + 1) / sum);
            assert!(off < 5.0, "{ranks} {exponent}: {off}");
            assert_share(counts[0] as usize, n, 1.0 / sum);
        }
    }
}

#[test]
fn zipf_over_a_whole_device_has_its_head_and_its_tail() {
    // Cumulative probabilities at powers of ten, summed one by one.
    let (n, ranks) = (400_000, DEVICE);
    for exponent in [0.0, 0.5, 0.99, 1.0, 1.5] {
        let mut sums = vec![0.0];
        let mut edges = vec![0];
        let mut sum = 0.0;
        for k in 1..=ranks {
            sum += (k as f64).powf(-exponent);
            if k < 10 || k == 10_u64.pow(k.ilog10()) || k == ranks {
                edges.push(k);
                sums.push(sum);
            }
        }
        let zipf = Zipf::new(ranks, exponent);
        let mut stream = Stream::new(12, "test");
        let mut counts = vec![0_u64; edges.len() - 1];
        for _ in 0..n {
            let k = zipf.draw(&mut stream);
            assert!((1..=ranks).contains(&k));
            counts[edges.partition_point(|&edge| edge < k) - 1] += 1;
        }
        let off = chi_square(&counts, |cell| (sums[cell + 1] - sums[cell]) / sum);
        assert!(off < 5.0, "{exponent}: {off}");
    }
    // The most there may be, and more.
    for ranks in [Zipf::MOST, u64::MAX] {
        for exponent in [0.0, 1.0, 10.0] {
            let mut stream = Stream::new(13, "test");
            let zipf = Zipf::new(ranks, exponent);
            assert!((0..1000).all(|_| (1..=Zipf::MOST).contains(&zipf.draw(&mut stream))));
        }
    }
}

#[test]
fn permutations_take_every_place_once() {
    let sizes = (1..=130).chain([255, 256, 257, 4095, 65_537, 100_000]);
    for n in sizes {
        for seed in 0..3 {
            let permutation = Permutation::new(n, &mut Stream::new(seed, "test"));
            let mut taken = vec![false; n as usize];
            for i in 0..n {
                let place = &mut taken[permutation.at(i) as usize];
                assert!(!std::mem::replace(place, true), "{n}");
            }
        }
    }
    // Large ones stay inside and give each place once among many.
    for n in [DEVICE, 1 << 40, (1 << 40) + 1, 1 << 63] {
        let permutation = Permutation::new(n, &mut Stream::new(7, "test"));
        let places: BTreeSet<u64> = (0..100_000.min(n)).map(|i| permutation.at(i)).collect();
        assert_eq!(places.len(), 100_000);
        assert!(places.iter().all(|&place| place < n));
    }
}

#[test]
fn permutations_scatter() {
    let n = 100_000_u64;
    for seed in 0..8 {
        let permutation = Permutation::new(n, &mut Stream::new(seed, "test"));
        let places: Vec<f64> = (0..n)
            .map(|i| permutation.at(i) as f64 / n as f64)
            .collect();
        // The first thousand ranks, which get most requests, are spread evenly.
        let mut counts = [0_u64; 10];
        for place in &places[..1000] {
            counts[(place * 10.0) as usize] += 1;
        }
        assert!(chi_square(&counts, |_| 0.1) < 5.0, "{seed} {counts:?}");
        // Neighbours of independent places are a third apart (sd 0.236).
        let apart = mean(places.windows(2).map(|w| (w[0] - w[1]).abs()));
        assert!((apart - 1.0 / 3.0).abs() < 0.01, "{seed}: {apart}");
        let moment =
            mean((places.iter().enumerate()).map(|(i, p)| (i as f64 / n as f64 - 0.5) * (p - 0.5)));
        // In units of the variance, 1/12.
        assert!(
            (12.0 * moment).abs() < five_errors(1.0, n as usize),
            "{seed}: {moment}"
        );
    }
    let at = |seed| Permutation::new(n, &mut Stream::new(seed, "test")).at(0);
    assert!((0..20).map(at).collect::<BTreeSet<_>>().len() == 20);
}

#[test]
fn zipf_places_follow_rank_scattered_or_not() {
    // 30 units of 8 blocks and a last one of 3; requests of one place.
    let (n, blocks, units) = (200_000, 4 + 30 * 16 + 6, 31);
    let text = "blocking = 2\nmean_size_kib = 1\nsize = \"fixed\"\nunit_blocks = 16\n\
                zipf_exponent = 0.8\nfirst_lbn = 3\n";
    let weight = |k: usize| (k as f64 + 1.0).powf(-0.8);
    let sum: f64 = (0..units).map(weight).sum();
    let unit = |r: &Request| (r.lbn() as usize - 4) / 16;
    let plain = open("zipf", n, &format!("{text}scatter = false"), blocks);
    let mut counts = vec![0_u64; units];
    let (mut within, mut last) = ([0_u64; 8], [0_u64; 3]);
    for request in &plain {
        assert_eq!((request.lbn() % 2, request.blocks()), (0, 2));
        counts[unit(request)] += 1;
        if unit(request) < units - 1 {
            within[(request.lbn() as usize - 4) % 16 / 2] += 1;
        } else {
            last[(request.lbn() as usize - 4) % 16 / 2] += 1;
        }
    }
    assert!(chi_square(&counts, |k| weight(k) / sum) < 5.0);
    assert!(chi_square(&within, |_| 1.0 / 8.0) < 5.0);
    assert!(chi_square(&last, |_| 1.0 / 3.0) < 5.0);
    // Scattered, the same ranks stand for other units, one for one.
    let scattered = open("zipf", n, text, blocks);
    let mut map = BTreeMap::new();
    for (a, b) in plain.iter().zip(&scattered) {
        assert_eq!(*map.entry(unit(a)).or_insert(unit(b)), unit(b));
        assert_eq!((a.arrival, a.op, a.blocks()), (b.arrival, b.op, b.blocks()));
    }
    assert_eq!(map.len(), units);
    assert_eq!(map.values().collect::<BTreeSet<_>>().len(), units);
    assert!(map.iter().filter(|(a, b)| a == b).count() < 6);
    // Another seed, another place for the most popular unit.
    let favourite = |seed: u64| {
        let requests = open("zipf", 4000, &format!("{text}seed = {seed}"), blocks);
        let mut counts = vec![0; units];
        requests.iter().for_each(|r| counts[unit(r)] += 1);
        (0..units).max_by_key(|&u| counts[u]).unwrap()
    };
    assert!((1..=10).map(favourite).collect::<BTreeSet<_>>().len() > 3);
}

// ---------------------------------------------------------------------------
// Hot and cold

#[test]
fn hot_places_get_their_share_and_both_parts_are_uniform() {
    let n = 200_000;
    for (fraction, share, start) in [
        (0.2, 0.8, 0.0),
        (0.1, 0.9, 0.45),
        (0.3, 0.3, 0.7),
        (0.9, 0.05, 0.1),
        (0.5, 0.0, 0.25),
        (0.5, 1.0, 0.5),
    ] {
        let text = format!(
            "hot_fraction = {fraction}\nhot_share = {share}\nhot_start = {start}\n\
             size = \"fixed\"\nmean_size_kib = 0.5\nfirst_lbn = 1_000_000\nlast_lbn = 1_999_999"
        );
        let requests = open("hot_cold", n, &text, DEVICE);
        let (mut hot, mut cold) = ([0_u64; 20], [0_u64; 20]);
        for request in &requests {
            let x = (request.lbn() - 1_000_000) as f64 / 1e6;
            // Into the hot part, else along the cold part, as 0..1.
            let into = (x - start) / fraction;
            if (0.0..1.0).contains(&into) {
                hot[(into * 20.0) as usize] += 1;
            } else {
                let before = if x < start { x } else { x - fraction };
                cold[((before / (1.0 - fraction) * 20.0) as usize).min(19)] += 1;
            }
        }
        assert_share(hot.iter().sum::<u64>() as usize, n, share);
        for counts in [hot, cold] {
            if counts.iter().sum::<u64>() > 0 {
                assert!(chi_square(&counts, |_| 0.05) < 5.0, "{text} {counts:?}");
            }
        }
    }
    // Place by place: three of ten are hot.
    let text =
        "hot_fraction = 0.3\nhot_start = 0.4\nlast_lbn = 9\nmean_size_kib = 0.5\nsize = \"fixed\"";
    let mut counts = [0_u64; 10];
    for request in open("hot_cold", 50_000, text, DEVICE) {
        counts[request.lbn() as usize] += 1;
    }
    let share = |place| {
        if (4..7).contains(&place) {
            0.8 / 3.0
        } else {
            0.2 / 7.0
        }
    };
    assert!(chi_square(&counts, share) < 5.0, "{counts:?}");
    // The smallest region there may be has one place of each.
    let pair = open(
        "hot_cold",
        1000,
        "last_lbn = 1\nmean_size_kib = 0.5",
        DEVICE,
    );
    assert_share(pair.iter().filter(|r| r.lbn() == 0).count(), 1000, 0.8);
}

// ---------------------------------------------------------------------------
// Sequential

#[test]
fn one_endless_stream_goes_through_the_region_again_and_again() {
    let text = "first_lbn = 101\nlast_lbn = 1101";
    let requests = open("sequential", 5000, text, DEVICE);
    assert_eq!(requests[0].lbn(), 101);
    let mut rounds = 0;
    for pair in requests.windows(2) {
        if pair[1].lbn() == 101 && end(&pair[0]) != 101 {
            // Only where it did not fit any more.
            assert!(end(&pair[0]) + u64::from(pair[1].blocks()) > 1102);
            rounds += 1;
        } else {
            assert_eq!(pair[1].lbn(), end(&pair[0]));
        }
        assert_eq!(pair[1].stream, 0);
    }
    // 40,000 blocks in rounds of 1001 less what the next request left over.
    assert!((39..=42).contains(&rounds), "{rounds}");
}

#[test]
fn streams_take_turns_and_each_goes_on_where_it_was() {
    let requests = open("sequential", 10_000, "streams = 7", DEVICE);
    let mut next: Vec<u64> = (0..7).map(|i| DEVICE * i / 7).collect();
    for (i, request) in requests.iter().enumerate() {
        assert_eq!(request.stream as usize, i % 7);
        let next = &mut next[i % 7];
        assert_eq!(request.lbn(), *next);
        *next = end(request);
    }
    let n = 70_000;
    let text = "streams = 7\ninterleave = \"random\"";
    let requests = open("sequential", n, text, DEVICE);
    let mut next: Vec<u64> = (0..7).map(|i| DEVICE * i / 7).collect();
    let (mut counts, mut pairs) = ([0_u64; 7], [0_u64; 49]);
    for (i, request) in requests.iter().enumerate() {
        let stream = request.stream as usize;
        assert_eq!(request.lbn(), next[stream]);
        next[stream] = end(request);
        counts[stream] += 1;
        if i > 0 {
            pairs[requests[i - 1].stream as usize * 7 + stream] += 1;
        }
    }
    assert!(chi_square(&counts, |_| 1.0 / 7.0) < 5.0);
    assert!(chi_square(&pairs, |_| 1.0 / 49.0) < 5.0);
}

#[test]
fn runs_are_geometric_and_jumps_uniform() {
    let n = 200_000;
    for (p, text) in [
        (0.0, "sequential_fraction = 0"),
        (0.14, "sequential_fraction = 0.14"),
        (0.727, "sequential_fraction = 0.727\nstreams = 3"),
        (0.9, "mean_run_requests = 10"),
    ] {
        let requests = open("sequential", n, text, 1 << 40);
        let mut last: BTreeMap<u32, (u64, usize)> = BTreeMap::new();
        let (mut sequential, mut runs, mut jumps) = (0, vec![0_u64; 60], [0_u64; 32]);
        for request in &requests {
            let entry = last.entry(request.stream).or_insert((u64::MAX, 0));
            if entry.0 == request.lbn() {
                sequential += 1;
                entry.1 += 1;
            } else {
                if entry.0 != u64::MAX {
                    runs[(entry.1 - 1).min(59)] += 1;
                    jumps[(request.lbn() >> 35) as usize] += 1;
                }
                entry.1 = 1;
            }
            entry.0 = end(request);
        }
        assert_share(sequential, n, p);
        let share = |k: usize| p.powi(k as i32) * if k < 59 { 1.0 - p } else { 1.0 };
        assert!(chi_square(&runs, share) < 5.0, "{text} {runs:?}");
        assert!(chi_square(&jumps, |_| 1.0 / 32.0) < 5.0, "{text}");
    }
    // Without runs it is the random workload.
    let text = "mean_size_kib = 64\nlast_lbn = 9999\nblocking = 4";
    let same = open(
        "sequential",
        3000,
        &format!("{text}\nsequential_fraction = 0"),
        DEVICE,
    );
    assert_eq!(same, open("random", 3000, text, DEVICE));
}

// ---------------------------------------------------------------------------
// Arrivals

fn times_s(n: usize, text: &str) -> Vec<f64> {
    let mut source = try_source("random", &format!("requests = {n}\n{text}"), DEVICE).unwrap();
    (0..n).map(|_| source.take().unwrap().arrival.s()).collect()
}

#[test]
fn constant_arrivals_are_a_clock() {
    for (rate, scale) in [(7.0, 1.0), (3e8, 1.0), (1000.0, 2.5)] {
        let text = format!("arrivals = \"constant\"\nrate = {rate}\ntime_scale = {scale}");
        for (i, time) in times_s(10_000, &text).into_iter().enumerate() {
            let expected = (i as f64 + 1.0) / rate / scale;
            assert!(
                (time - expected).abs() <= 1.01e-9,
                "{rate} {i}: {time} {expected}"
            );
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
    assert!(
        (variance / centre / expected - 1.0).abs() < bound,
        "{} {expected}",
        variance / centre
    );
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
    let (slow, fast) = (
        times_s(5000, base),
        times_s(5000, &format!("{base}\ntime_scale = 4")),
    );
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
        let (a, b) = (plain.take().unwrap(), bursts.take().unwrap());
        assert_eq!((a.op, a.extents), (b.op, b.extents));
    }
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
            let request = source.take().unwrap();
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
        let done = serve(&mut source, 1, || {
            Nanos::from_s(stream.exponential(s_ms * 1e-3))
        });
        let mut weights = vec![1.0];
        for k in 0..customers {
            weights.push(weights[k] * (customers - k) as f64 * s_ms / z_ms);
        }
        let busy = 1.0 - 1.0 / weights.iter().sum::<f64>();
        let (throughput, end_s) = (busy / (s_ms * 1e-3), done[n - 1].1.s());
        let found = n as f64 / end_s;
        assert!(
            (found / throughput - 1.0).abs() < 0.01,
            "{found} {throughput}"
        );
        let response = mean(done.iter().map(|(r, at)| at.s() - r.arrival.s()));
        let expected = customers as f64 / throughput - z_ms * 1e-3;
        assert!(
            (response / expected - 1.0).abs() < 0.02,
            "{response} {expected}"
        );
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
        let request = source.take().unwrap();
        thinks.push((request.arrival - last).ms());
        assert_eq!(source.next_arrival().unwrap(), None);
        last = request.arrival + Nanos(12_345);
        source.completed(request.id, last);
    }
    assert!((mean(thinks.iter().copied()) / 3.0 - 1.0).abs() < five_errors(1.0, n));
    assert!(kolmogorov(thinks, |t| 1.0 - (-t / 3.0).exp()) < 1.0);
    // With a server for each the customers are independent: throughput
    // N / (Z + S) whatever the distributions.
    let text = "queue_depth = 50\nthink_ms = 3\nthink = \"exponential\"";
    let mut source = try_source("random", &format!("requests = 300_000\n{text}"), DEVICE).unwrap();
    let done = serve(&mut source, 50, || Nanos(7_000_000));
    let per_s = 300_000.0 / done[300_000 - 1].0.arrival.s();
    assert!((per_s / 5000.0 - 1.0).abs() < 0.01, "{per_s}");
}

// ---------------------------------------------------------------------------
// All of them

fn any_load() -> impl Strategy<Value = (String, String, u64)> {
    let blocks = prop_oneof![2_u64..200, 2_u64..100_000, Just(DEVICE), Just(1_u64 << 62)];
    let arrivals = prop_oneof![
        Just("rate = 500".to_owned()),
        Just("rate = 1e7\narrivals = \"constant\"".to_owned()),
        Just("rate = 900\non_ms = 3\noff_ms = 0.1".to_owned()),
        Just(
            "rate = 900\ntime_scale = 9\non_ms = 1\noff_ms = 9\nburst_lengths = \"fixed\""
                .to_owned()
        ),
        (1..40_u32).prop_map(|depth| format!("queue_depth = {depth}\nthink_ms = 0.5")),
        (1..40_u32).prop_map(|depth| format!(
            "queue_depth = {depth}\nthink_ms = 2\nthink = \"exponential\""
        )),
    ];
    let places = prop_oneof![
        Just(("random", String::new())),
        (0.0..4.0, 1..5_u64, any::<bool>()).prop_map(|(s, unit, scatter)| {
            let text =
                format!("zipf_exponent = {s}\nscatter = {scatter}\nunit_blocks = {{{unit}}}");
            ("zipf", text)
        }),
        (0.01..0.99, 0.0..=1.0, 0.0..=1.0).prop_map(|(f, share, start)| {
            let start = start * (1.0 - f);
            (
                "hot_cold",
                format!("hot_fraction = {f}\nhot_share = {share}\nhot_start = {start}"),
            )
        }),
        (2..9_u32, 0.0..=1.0, any::<bool>()).prop_map(|(streams, p, random)| {
            let way = if random { "random" } else { "round_robin" };
            let text =
                format!("streams = {streams}\ninterleave = \"{way}\"\nsequential_fraction = {p}");
            ("sequential", text)
        }),
    ];
    let region = (
        0.0..0.5,
        0.0..=1.0,
        1..20_u64,
        any::<u32>(),
        0..3_usize,
        0.5..70.0,
    );
    (blocks, arrivals, places, region).prop_map(|(blocks, arrivals, (kind, places), region)| {
        let (first, last, blocking, seed, size, kib) = region;
        let first = (first * blocks as f64) as u64;
        let last = first + (last * (blocks - 1 - first) as f64) as u64;
        let last = last.min(blocks - 1).min(i64::MAX as u64);
        let size = ["geometric", "exponential", "fixed"][size];
        let places = places
            .replace('{', "")
            .replace('}', &format!("_{blocking}"));
        let places = match places.split_once("unit_blocks = ") {
            Some((head, unit)) => {
                let unit: u64 = unit.split('_').map(|n| n.parse::<u64>().unwrap()).product();
                format!("{head}unit_blocks = {unit}")
            }
            None => places,
        };
        let text = format!(
            "requests = 400\nseed = {seed}\nsize = \"{size}\"\nmean_size_kib = {kib}\n\
             blocking = {blocking}\nfirst_lbn = {first}\nlast_lbn = {last}\n{arrivals}\n{places}"
        );
        (kind.to_owned(), text, blocks)
    })
}

fn number(text: &str, key: &str) -> u64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{key} = ")));
    line.unwrap().parse().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_request_keeps_to_its_keys((kind, text, blocks) in any_load()) {
        let (first, last) = (number(&text, "first_lbn"), number(&text, "last_lbn"));
        let blocking = number(&text, "blocking");
        match try_source(&kind, &text, blocks) {
            Err(error) => {
                // The only reasons there may be: the region is too small.
                let says = error.to_string();
                let room = (last + 1).saturating_sub(first.next_multiple_of(blocking)) / blocking;
                let expected = match room {
                    0 => "blocking",
                    1 if kind == "hot_cold" && !says.contains("mean_size_kib") => "hot_fraction",
                    _ if says.contains("unit_blocks") => "at most 4503599627370496 units",
                    _ => "KiB of the region",
                };
                prop_assert!(says.contains(expected), "{says} {expected}\n{text}");
                prop_assert!(room < 300 || says.contains("units"), "{says}\n{text}");
            }
            Ok(mut source) => {
                let mut twin = try_source(&kind, &text, blocks).unwrap();
                let mut time = Nanos::ZERO;
                let mut service = Stream::new(1, "test");
                let mut ids = 0..400;
                for (request, done) in serve(&mut source, 3, || Nanos(service.below(3_000_000))) {
                    prop_assert_eq!(Some(request.id), ids.next());
                    prop_assert!(request.arrival >= time && done >= request.arrival);
                    time = request.arrival;
                    prop_assert!(request.op == Op::Read || request.op == Op::Write);
                    prop_assert!(request.blocks() > 0);
                    prop_assert!(request.lbn() >= first && end(&request) <= last + 1, "{request:?}");
                    prop_assert_eq!(request.lbn() % blocking, 0);
                    prop_assert_eq!(u64::from(request.blocks()) % blocking, 0);
                }
                prop_assert!(ids.is_empty());
                // The same again.
                let mut service = Stream::new(1, "test");
                let again = serve(&mut twin, 3, || Nanos(service.below(3_000_000)));
                prop_assert_eq!(again.last().map(|(r, _)| r.arrival), Some(time));
            }
        }
    }
}

#[test]
fn bad_keys_are_refused_with_what_is_allowed() {
    for (kind, text, expected) in [
        (
            "zipf",
            "zipf_exponent = -1",
            ":1: zipf_exponent = -1: must be at least 0 and at most 10",
        ),
        (
            "zipf",
            "unit_blocks = 12\nblocking = 8",
            ":1: unit_blocks = 12: must be a multiple of blocking (8)",
        ),
        (
            "zipf",
            "scatter = 1",
            ":1: scatter = 1: must be true or false",
        ),
        (
            "zipf",
            "zipf_exponnt = 1",
            ":1: unknown key 'zipf_exponnt'; did you mean 'zipf_exponent'?",
        ),
        (
            "random",
            "zipf_exponent = 1",
            ":1: unknown key 'zipf_exponent'",
        ),
        (
            "hot_cold",
            "hot_fraction = 0",
            ":1: hot_fraction = 0: must be above 0 and below 1",
        ),
        (
            "hot_cold",
            "hot_fraction = 1",
            ":1: hot_fraction = 1: must be above 0 and below 1",
        ),
        (
            "hot_cold",
            "hot_share = 1.5",
            ":1: hot_share = 1.5: must be at least 0 and at most 1",
        ),
        (
            "hot_cold",
            "hot_fraction = 0.9\nhot_start = 0.2",
            ":2: hot_start = 0.2: must be at least 0 and at most 0.1",
        ),
        (
            "hot_cold",
            "last_lbn = 0\nmean_size_kib = 0.5",
            ": hot_fraction: must divide a region of two places",
        ),
        (
            "sequential",
            "streams = 0",
            ":1: streams = 0: must be an integer from 1",
        ),
        (
            "sequential",
            "interleave = \"random\"",
            ":1: interleave = \"random\": needs streams = 2 or more",
        ),
        (
            "sequential",
            "streams = 2\ninterleave = \"rr\"",
            ":2: interleave = \"rr\": must be \"round_robin\" or \"random\"",
        ),
        (
            "sequential",
            "mean_run_requests = 0.5",
            ":1: mean_run_requests = 0.5: must be at least 1",
        ),
        (
            "sequential",
            "mean_run_requests = 2\nsequential_fraction = 0.5",
            ":1: mean_run_requests = 2: must not be given with sequential_fraction",
        ),
        (
            "random",
            "arrivals = \"poisson\"",
            ":1: arrivals = \"poisson\": shapes the arrivals of an open load and so needs rate",
        ),
        (
            "random",
            "rate = 1\narrivals = \"uniform\"",
            ":2: arrivals = \"uniform\": must be \"poisson\" or \"constant\"",
        ),
        (
            "random",
            "on_ms = 5\noff_ms = 5",
            ":1: on_ms = 5: shapes the arrivals of an open load and so needs rate",
        ),
        (
            "random",
            "rate = 9\non_ms = 5",
            ":2: on_ms = 5: needs off_ms",
        ),
        (
            "random",
            "rate = 9\noff_ms = 5",
            ":2: off_ms = 5: needs on_ms",
        ),
        (
            "random",
            "rate = 9\noff_ms = 0\non_ms = 5",
            ":2: off_ms = 0: must be above 0",
        ),
        (
            "random",
            "rate = 9\nburst_lengths = \"fixed\"",
            ":2: burst_lengths = \"fixed\": needs on_ms and off_ms",
        ),
        (
            "random",
            "rate = 1\non_ms = 5\noff_ms = 4",
            ":2: on_ms = 5: must leave 0.01 requests or more to a burst in the mean, not 0.009",
        ),
        (
            "random",
            "think = \"exponential\"",
            ":1: think = \"exponential\": needs think_ms above 0",
        ),
        (
            "random",
            "think_ms = 0\nthink = \"fixed\"",
            ":2: think = \"fixed\": needs think_ms above 0",
        ),
        (
            "random",
            "rate = 9\nthink = \"fixed\"",
            ":2: think = \"fixed\": needs think_ms above 0",
        ),
        (
            "random",
            "rate = 9\nthink_ms = 1\nthink = \"exponential\"",
            ":1: rate = 9: must not be given with think_ms",
        ),
        (
            "random",
            "think_ms = 1\nthink = \"long\"",
            ":2: think = \"long\": must be \"fixed\" or \"exponential\"",
        ),
        (
            "zipff",
            "",
            "unknown workload 'zipff'; did you mean 'zipf'?",
        ),
    ] {
        let found = try_source(kind, text, DEVICE).unwrap_err().to_string();
        let found = found.strip_prefix("load.toml").unwrap_or(&found);
        assert!(
            found.starts_with(expected),
            "{text}\n found {found}\n wanted {expected}"
        );
    }
    let found = try_source("zipf", "blocking = 1\nunit_blocks = 1", u64::MAX / 2);
    assert!(
        found
            .unwrap_err()
            .to_string()
            .contains("at most 4503599627370496 units")
    );
}

#[test]
fn facts_tell_every_value_in_effect() {
    let facts = |kind, text| try_source(kind, text, DEVICE).unwrap().facts().to_string();
    for (kind, text, expected) in [
        (
            "zipf",
            "",
            r#""zipf_exponent":1.0,"unit_blocks":8,"scatter":true,"queue_depth":1"#,
        ),
        ("zipf", "blocking = 3", r#""unit_blocks":9"#),
        (
            "hot_cold",
            "",
            r#""hot_fraction":0.2,"hot_share":0.8,"hot_start":0.0"#,
        ),
        (
            "sequential",
            "",
            r#""streams":1,"interleave":"round_robin","sequential_fraction":1.0"#,
        ),
        (
            "sequential",
            "mean_run_requests = 4",
            r#""sequential_fraction":0.75"#,
        ),
        (
            "random",
            "rate = 5",
            r#""rate":5.0,"time_scale":1.0,"arrivals":"poisson""#,
        ),
        (
            "random",
            "rate = 5\non_ms = 1000\noff_ms = 2",
            r#""arrivals":"poisson","on_ms":1000.0,"off_ms":2.0,"burst_lengths":"exponential""#,
        ),
        (
            "random",
            "think_ms = 1",
            r#""queue_depth":1,"think_ms":1.0,"think":"fixed""#,
        ),
    ] {
        let found = facts(kind, text);
        assert!(found.contains(expected), "{found}\n{expected}");
        assert!(
            found.starts_with(&format!(r#"{{"workload":"{kind}""#)),
            "{found}"
        );
    }
}

#[test]
#[ignore = "measures speed"]
fn speed() {
    for (kind, text) in [
        ("random", "rate = 500"),
        ("random", "queue_depth = 1"),
        ("random", "rate = 500\non_ms = 10\noff_ms = 90"),
        (
            "random",
            "queue_depth = 100\nthink_ms = 9\nthink = \"exponential\"",
        ),
        ("zipf", "queue_depth = 1"),
        ("hot_cold", "queue_depth = 1"),
        ("sequential", "queue_depth = 1\nstreams = 4"),
    ] {
        let (mut best, n) = (f64::MAX, 5_000_000);
        for _ in 0..5 {
            let text = format!("requests = {n}\n{text}");
            let source: &mut dyn Source = &mut try_source(kind, &text, DEVICE).unwrap();
            let start = std::time::Instant::now();
            while let Some(at) = source.next_arrival().unwrap() {
                let request = source.take().unwrap();
                source.completed(request.id, at);
            }
            best = best.min(start.elapsed().as_secs_f64() / f64::from(n));
        }
        println!("{:6.1} ns a request: {kind} {text:?}", best * 1e9);
    }
}
