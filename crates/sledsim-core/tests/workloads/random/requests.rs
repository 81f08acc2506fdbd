//! Arrivals, places, sizes and kinds of requests.

use super::{DEVICE, chi_square, correlation, five_errors, mean, open, try_source};
use sledsim_base::keys::Keys;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;
use sledsim_core::workloads::GeneratorSpec;

#[test]
fn open_arrivals_are_poisson() {
    let n = 200_000;
    let requests = open(&format!("rate = 800\nrequests = {n}"), DEVICE);
    let times = || std::iter::once(0).chain(requests.iter().map(|r| r.arrival.0));
    let mut gaps: Vec<f64> =
        times().zip(times().skip(1)).map(|(a, b)| (b - a) as f64 * 1e-9).collect();
    assert!((mean(gaps.iter().copied()) * 800.0 - 1.0).abs() < five_errors(1.0, n));
    let pairs: Vec<_> = gaps.windows(2).map(|w| (w[0], w[1])).collect();
    assert!(correlation(&pairs).abs() < five_errors(1.0, n));
    // Kolmogorov-Smirnov against 1 - exp(-rate t); 2.69 / sqrt(n) is passed
    // by chance once in a million.
    gaps.sort_by(f64::total_cmp);
    let worst = gaps
        .iter()
        .enumerate()
        .map(|(i, gap)| (1.0 - (-800.0 * gap).exp() - (i as f64 + 0.5) / n as f64).abs())
        .fold(0.0, f64::max);
    assert!(worst < 2.69 / (n as f64).sqrt(), "{worst}");
    // Requests in windows of 100 ms: as variable as a Poisson count, whose
    // variance is its mean (80); the ratio is good to sqrt(2 / windows).
    let mut counts = vec![0.0; (requests[n - 1].arrival.0 / 100_000_000) as usize];
    for request in &requests {
        if let Some(count) = counts.get_mut((request.arrival.0 / 100_000_000) as usize) {
            *count += 1.0;
        }
    }
    let centre = mean(counts.iter().copied());
    let variance = mean(counts.iter().map(|c| (c - centre) * (c - centre)));
    let bound = five_errors(2.0_f64.sqrt(), counts.len());
    assert!((variance / centre - 1.0).abs() < bound, "{variance} {centre}");
}

#[test]
fn arrivals_below_a_nanosecond_do_not_drift() {
    // A mean gap of 1 ns: dropping or rounding each gap alone would be off by
    // a third, far more than the 0.1 % of a million samples.
    let requests = open("rate = 1e9\nrequests = 1_000_000", DEVICE);
    let last = requests.last().unwrap().arrival.0 as f64;
    assert!((last / 1e6 - 1.0).abs() < five_errors(1.0, 1_000_000), "{last}");
}

#[test]
fn rate_and_time_scale_stretch_the_same_arrivals() {
    let base = open("rate = 100\nrequests = 2000", DEVICE);
    let scaled = open("rate = 100\nrequests = 2000\ntime_scale = 2", DEVICE);
    let faster = open("rate = 200\nrequests = 2000", DEVICE);
    assert_eq!(scaled, faster);
    for (slow, fast) in base.iter().zip(&faster) {
        assert!(slow.arrival.0.abs_diff(2 * fast.arrival.0) <= 2);
    }
}

#[test]
fn places_are_uniform_over_those_where_the_request_fits() {
    // Three of ten blocks: eight places.
    let n = 80_000;
    let text = format!("requests = {n}\nrate = 1\nsize = \"fixed\"\nmean_size_kib = 1.5\n");
    let mut counts = [0; 8];
    for request in open(&format!("{text}first_lbn = 100\nlast_lbn = 109"), DEVICE) {
        assert_eq!(request.blocks(), 3);
        counts[(request.lbn() - 100) as usize] += 1;
    }
    assert!(chi_square(&counts, |_| 0.125) < 5.0);
    // Any size in ten blocks: uniform given the size.
    let text = format!("requests = {}\nrate = 1\nmean_size_kib = 1.5", 4 * n);
    let mut counts = vec![vec![0; 10]; 11];
    for request in open(&text, 10) {
        counts[request.blocks() as usize][request.lbn() as usize] += 1;
    }
    for (blocks, counts) in counts.iter().enumerate().skip(1).take(9) {
        let places = 11 - blocks;
        assert!(counts[places..].iter().all(|&count| count == 0));
        assert!(chi_square(&counts[..places], |_| 1.0 / places as f64) < 5.0, "{blocks}");
    }
    // Aligned places inside LBNs 9 to 40: 16, 24 and 32, nothing outside.
    let text = format!("requests = {n}\nrate = 1\nsize = \"fixed\"\nblocking = 8");
    let mut counts = [0; 3];
    for request in open(&format!("{text}\nfirst_lbn = 9\nlast_lbn = 40"), DEVICE) {
        assert_eq!((request.lbn() % 8, request.blocks()), (0, 8));
        counts[(request.lbn() / 8 - 2) as usize] += 1;
    }
    assert!(chi_square(&counts, |_| 1.0 / 3.0) < 5.0);
    // The whole device in 200 bins (the ends are short by a request's length).
    let mut counts = [0; 200];
    for request in open(&format!("requests = {n}\nrate = 1"), DEVICE) {
        assert!(request.lbn() + u64::from(request.blocks()) <= DEVICE);
        counts[(request.lbn() * 200 / DEVICE) as usize] += 1;
    }
    assert!(chi_square(&counts, |_| 0.005) < 5.0);
}

#[test]
fn blocked_requests_are_aligned_and_as_long_as_the_closed_forms_say() {
    let n = 200_000;
    let (m, b) = (8.0_f64, 8.0_f64);
    // A continuous exponential rounded up to units of b has mean
    // b / (1 - exp(-b/m)), a geometric one b / (1 - q^b).
    for (size, blocking, expected) in [
        ("geometric", 1, m),
        ("geometric", 8, b / (1.0 - (1.0 - 1.0 / m).powf(b))),
        ("exponential", 1, 1.0 / (1.0 - (-1.0 / m).exp())),
        ("exponential", 8, b / (1.0 - (-b / m).exp())),
        ("fixed", 1, 8.0),
        ("fixed", 8, 8.0),
        ("fixed", 5, 10.0),
        ("fixed", 12, 12.0),
    ] {
        let text = format!(
            "requests = {n}\nrate = 1\nsize = \"{size}\"\nblocking = {blocking}\nfirst_lbn = 3"
        );
        let requests = open(&text, DEVICE);
        for request in &requests {
            assert_eq!(request.lbn() % blocking, 0);
            assert_eq!(u64::from(request.blocks()) % blocking, 0);
            assert!(request.blocks() > 0 && request.lbn() >= 3);
            assert!(request.lbn() + u64::from(request.blocks()) <= DEVICE);
        }
        let found = mean(requests.iter().map(|r| f64::from(r.blocks())));
        // No distribution here varies more than its mean, give or take a unit.
        let bound = five_errors(expected, n);
        assert!((found - expected).abs() < bound, "{size} {blocking}: {found} for {expected}");
    }
}

#[test]
fn reads_have_their_share() {
    let n = 100_000;
    for fraction in [0.0, 0.25, 0.67, 1.0_f64] {
        let requests =
            open(&format!("requests = {n}\nrate = 1\nread_fraction = {fraction}"), DEVICE);
        let share = mean(requests.iter().map(|r| f64::from(u8::from(r.op == Op::Read))));
        let bound = five_errors((fraction * (1.0 - fraction)).sqrt(), n);
        assert!((share - fraction).abs() <= bound, "{share} for {fraction}");
    }
}

#[test]
fn a_load_without_a_count_can_go_on_and_other_seeds_are_a_number_away() {
    let spec = |text: &str| {
        GeneratorSpec::read("random", &mut Keys::parse(text, "load.toml").unwrap()).unwrap()
    };
    assert!(!spec("rate = 500\nrequests = 10_000").extend_to(u64::MAX));
    let mut endless = spec("rate = 500");
    assert!(endless.extend_to(u64::MAX));
    let mut source = endless.source(DEVICE).unwrap();
    assert!(source.requests() > Some(1_000_000_000));
    for request in open("rate = 500\nrequests = 30_000", DEVICE) {
        assert_eq!(source.take(), request);
    }
    assert!(source.next_arrival().unwrap().is_some());
    let mut third = (spec("rate = 500\nseed = 5").with_seed_offset(2)).source(DEVICE).unwrap();
    for request in open("rate = 500\nseed = 7", DEVICE) {
        assert_eq!(third.take(), request);
    }
}

#[test]
fn closed_loads_keep_their_depth_and_think() {
    let mut source = try_source("queue_depth = 3\nthink_ms = 2.5\nrequests = 5", DEVICE).unwrap();
    for id in 0..3 {
        assert_eq!(source.next_arrival().unwrap(), Some(Nanos::ZERO));
        assert_eq!(source.take().id, id);
    }
    assert_eq!(source.next_arrival().unwrap(), None);
    source.completed(1, Nanos(1_000));
    source.completed(0, Nanos(1_500));
    assert_eq!(source.next_arrival().unwrap(), Some(Nanos(2_501_000)));
    let request = source.take();
    assert_eq!((request.id, request.arrival), (3, Nanos(2_501_000)));
    assert_eq!(source.take().arrival, Nanos(2_501_500));
    source.completed(2, Nanos(9_000_000));
    assert_eq!(source.next_arrival().unwrap(), None, "all five were given out");
}

#[test]
fn lengths_beyond_the_region_are_cut_to_it_and_counted() {
    // P(more than 10 blocks) of a geometric size with mean 5 is 0.8^10.
    let n = 50_000;
    let text = format!("requests = {n}\nrate = 1\nmean_size_kib = 2.5");
    let mut source = try_source(&text, 10).unwrap();
    let mut whole = 0;
    while source.next_arrival().unwrap().is_some() {
        let request = source.take();
        assert!(request.lbn() + u64::from(request.blocks()) <= 10);
        whole += u64::from(request.blocks() == 10);
    }
    let p = 0.8_f64.powi(10);
    let share = source.shortened() as f64 / n as f64;
    assert!((share - p).abs() < five_errors((p * (1.0 - p)).sqrt(), n), "{share} for {p}");
    assert!(whole > source.shortened());
}
