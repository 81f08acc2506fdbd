//! Random numbers and the `random` workload against closed forms. Bounds are
//! five standard errors of the number of samples: one honest failure in a
//! million, and the seeds are fixed.

use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::{Geometric, Stream};
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
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
        let request = source.take().unwrap();
        assert_eq!(request.arrival, at);
        assert_eq!(request.id, requests.len() as u64);
        requests.push(request);
    }
    assert!(source.take().is_err());
    assert_eq!(source.requests(), Some(requests.len() as u64));
    requests
}

fn message(text: &str) -> String {
    try_source(text, DEVICE).unwrap_err().to_string()
}

fn mean(samples: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = samples
        .into_iter()
        .fold((0.0, 0.0), |(s, n), x| (s + x, n + 1.0));
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
    let (mx, my) = (
        mean(pairs.iter().map(|p| p.0)),
        mean(pairs.iter().map(|p| p.1)),
    );
    let moment = |f: fn(f64, f64) -> f64| mean(pairs.iter().map(|p| f(p.0 - mx, p.1 - my)));
    moment(|x, y| x * y) / (moment(|x, _| x * x) * moment(|_, y| y * y)).sqrt()
}

#[test]
fn streams_give_the_numbers_they_always_gave() {
    // From an implementation of FNV-1a, SplitMix64 and xoshiro256++ in another
    // language, itself checked against the published values of the hashes.
    for (seed, purpose, expected) in [
        (
            1,
            "arrival",
            [
                5335607439830301461,
                4066153045028037177,
                14384021047315992311,
            ],
        ),
        (
            1,
            "place",
            [
                2489272743270801153,
                14612667123993408926,
                8699647769553584653,
            ],
        ),
        (
            0,
            "",
            [
                10861341569925573951,
                7329133115056000641,
                17115643607007501025,
            ],
        ),
        (
            i64::MAX as u64,
            "fault",
            [
                2744656439605215651,
                9162301191546761415,
                15799700442108718196_u64,
            ],
        ),
    ] {
        let mut stream = Stream::new(seed, purpose);
        assert_eq!(
            [stream.u64(), stream.u64(), stream.u64()],
            expected,
            "{seed} {purpose}"
        );
    }
}

#[test]
fn the_default_load_is_the_one_it_always_was() {
    // Same provenance.
    let expected = [
        (2480970, 9, Op::Read, 910870),
        (5505351, 4, Op::Write, 5347041),
        (6002891, 12, Op::Read, 3183359),
        (7097554, 5, Op::Read, 5201100),
    ];
    let requests = open("rate = 500", DEVICE);
    assert_eq!(requests.len(), 10_000);
    for (request, (at, blocks, op, lbn)) in requests.iter().zip(expected) {
        assert!(request.arrival.0.abs_diff(at) <= 1, "{:?}", request.arrival);
        assert_eq!(
            (request.blocks(), request.op, request.lbn()),
            (blocks, op, lbn)
        );
    }
    // Closed by default, with the same requests.
    let mut closed = try_source("", DEVICE).unwrap();
    for request in &requests {
        assert_eq!(closed.next_arrival().unwrap(), Some(Nanos(request.id * 7)));
        let other = closed.take().unwrap();
        assert_eq!(
            (other.lbn(), other.blocks()),
            (request.lbn(), request.blocks())
        );
        assert_eq!(closed.next_arrival().unwrap(), None);
        closed.completed(other.id, Nanos((request.id + 1) * 7));
    }
    assert_eq!(closed.next_arrival().unwrap(), None);
    let facts = GeneratorSpec::read("random", &mut Keys::empty("workload"))
        .unwrap()
        .facts();
    for (key, value) in [
        ("requests", 10_000.0),
        ("seed", 1.0),
        ("read_fraction", 0.67),
        ("mean_size_kib", 4.0),
        ("blocking", 1.0),
        ("queue_depth", 1.0),
        ("think_ms", 0.0),
    ] {
        assert_eq!(facts[key].as_f64(), Some(value), "{key}");
    }
    assert_eq!(facts["size"], "geometric");
    assert!(facts.get("rate").is_none());
}

#[test]
fn streams_of_other_seeds_and_purposes_are_unrelated() {
    let n = 20_000;
    let numbers = |seed, purpose: &str| {
        let mut stream = Stream::new(seed, purpose);
        (0..n).map(|_| stream.u64()).collect::<Vec<_>>()
    };
    let base = numbers(1, "size");
    let mut others = vec![numbers(1, "sizf"), numbers(1, "op"), numbers(2, "op")];
    others.extend((0..64).map(|bit| numbers(1 ^ (1 << bit), "size")));
    for other in others {
        // Bits that differ: 32 of 64 on average with standard deviation 4.
        let differing = base
            .iter()
            .zip(&other)
            .map(|(a, b)| f64::from((a ^ b).count_ones()));
        assert!((mean(differing) - 32.0).abs() < five_errors(4.0, n));
        let pairs: Vec<_> = base
            .iter()
            .zip(&other)
            .map(|(&a, &b)| (a as f64, b as f64))
            .collect();
        assert!(correlation(&pairs).abs() < five_errors(1.0, n));
    }
}

#[test]
fn below_is_uniform_and_unbiased() {
    let mut stream = Stream::new(3, "test");
    let n = 300_000;
    let mut die = [0; 6];
    // Multiplying without rejection would hit every third of these twice as
    // often: 3 * 2^62 numbers share 4 * 2^62 draws.
    let mut thirds = [0; 3];
    for _ in 0..n {
        die[stream.below(6) as usize] += 1;
        thirds[(stream.below(3 << 62) % 3) as usize] += 1;
    }
    assert!(chi_square(&die, |_| 1.0 / 6.0) < 5.0);
    assert!(chi_square(&thirds, |_| 1.0 / 3.0) < 5.0);
    assert_eq!((stream.below(1), stream.below(0)), (0, 0));
    assert!((0..100).all(|_| stream.below(u64::MAX) < u64::MAX));
}

#[test]
fn units_and_chances_are_uniform() {
    let mut stream = Stream::new(4, "test");
    let n = 200_000;
    let (mut open, mut closed) = ([0; 50], [0; 50]);
    let mut yes = 0;
    for _ in 0..n {
        let (a, b) = (stream.unit(), stream.unit_positive());
        assert!((0.0..1.0).contains(&a) && b > 0.0 && b <= 1.0);
        open[(a * 50.0) as usize] += 1;
        closed[((1.0 - b) * 50.0) as usize] += 1;
        yes += u32::from(stream.chance(0.3));
        assert!(stream.chance(1.0) && !stream.chance(0.0));
    }
    assert!(chi_square(&open, |_| 0.02) < 5.0 && chi_square(&closed, |_| 0.02) < 5.0);
    let share = f64::from(yes) / f64::from(n);
    assert!((share - 0.3).abs() < five_errors((0.3_f64 * 0.7).sqrt(), n as usize));
}

#[test]
fn geometric_sizes_have_their_probabilities() {
    let n = 300_000;
    for mean_size in [1.0, 1.25, 2.0, 8.0, 100.0] {
        let mut stream = Stream::new(5, "test");
        let mut twin = stream.clone();
        let draws: Vec<u64> = (0..n).map(|_| stream.geometric(mean_size)).collect();
        let fixed = Geometric::new(mean_size);
        assert!(draws.iter().all(|&k| k == fixed.draw(&mut twin)));
        let sd = (mean_size * (mean_size - 1.0)).sqrt();
        let found = mean(draws.iter().map(|&k| k as f64));
        assert!(
            (found - mean_size).abs() <= five_errors(sd, n),
            "{mean_size}: {found}"
        );
        // P(k) = p q^(k-1), the tail in one cell.
        let (p, q) = (1.0 / mean_size, 1.0 - 1.0 / mean_size);
        let cells = (2.0 * mean_size) as usize;
        let mut counts = vec![0; cells + 1];
        for &k in &draws {
            assert!(k >= 1);
            counts[(k as usize - 1).min(cells)] += 1;
        }
        if mean_size == 1.0 {
            assert_eq!(counts[0], n as u64);
            continue;
        }
        let share = |cell: usize| {
            let reach = q.powi(cell as i32);
            if cell < cells { p * reach } else { reach }
        };
        assert!(chi_square(&counts, share) < 5.0, "{mean_size}");
    }
}

#[test]
fn open_arrivals_are_poisson() {
    let n = 200_000;
    let requests = open(&format!("rate = 800\nrequests = {n}"), DEVICE);
    let times = || std::iter::once(0).chain(requests.iter().map(|r| r.arrival.0));
    let mut gaps: Vec<f64> = times()
        .zip(times().skip(1))
        .map(|(a, b)| (b - a) as f64 * 1e-9)
        .collect();
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
    assert!(
        (variance / centre - 1.0).abs() < bound,
        "{variance} {centre}"
    );
}

#[test]
fn arrivals_below_a_nanosecond_do_not_drift() {
    // A mean gap of 1 ns: dropping or rounding each gap alone would be off by
    // a third, far more than the 0.1 % of a million samples.
    let requests = open("rate = 1e9\nrequests = 1_000_000", DEVICE);
    let last = requests.last().unwrap().arrival.0 as f64;
    assert!(
        (last / 1e6 - 1.0).abs() < five_errors(1.0, 1_000_000),
        "{last}"
    );
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
        assert!(
            chi_square(&counts[..places], |_| 1.0 / places as f64) < 5.0,
            "{blocks}"
        );
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
        assert!(
            (found - expected).abs() < bound,
            "{size} {blocking}: {found} for {expected}"
        );
    }
}

#[test]
fn reads_have_their_share() {
    let n = 100_000;
    for fraction in [0.0, 0.25, 0.67, 1.0_f64] {
        let requests = open(
            &format!("requests = {n}\nrate = 1\nread_fraction = {fraction}"),
            DEVICE,
        );
        let share = mean(
            requests
                .iter()
                .map(|r| f64::from(u8::from(r.op == Op::Read))),
        );
        let bound = five_errors((fraction * (1.0 - fraction)).sqrt(), n);
        assert!((share - fraction).abs() <= bound, "{share} for {fraction}");
    }
}

#[test]
fn each_key_changes_only_what_it_is_about() {
    let base = open("rate = 500", DEVICE);
    let parts = |r: &Request| (r.arrival, r.op, r.blocks(), r.lbn());
    for text in [
        "mean_size_kib = 64",
        "size = \"exponential\"",
        "size = \"fixed\"",
    ] {
        let other = open(&format!("rate = 500\n{text}"), DEVICE);
        assert!(
            base.iter()
                .zip(&other)
                .any(|(a, b)| a.blocks() != b.blocks())
        );
        let mut elsewhere = 0;
        for (a, b) in base.iter().zip(&other) {
            assert_eq!((a.arrival, a.op), (b.arrival, b.op), "{text}");
            elsewhere += u32::from(a.lbn() != b.lbn());
        }
        // Only those that did not fit at the end: 0.2 expected.
        assert!(elsewhere <= 4, "{text}: {elsewhere}");
    }
    let other = open("rate = 500\nread_fraction = 0.1", DEVICE);
    for (a, b) in base.iter().zip(&other) {
        assert_eq!(
            (a.arrival, a.blocks(), a.lbn()),
            (b.arrival, b.blocks(), b.lbn())
        );
        assert!(a.op == Op::Write || b.op == Op::Write || a.op == b.op);
    }
    let more = open("rate = 500\nrequests = 20_000", DEVICE);
    assert!(base.iter().zip(&more).all(|(a, b)| parts(a) == parts(b)));
    let seed = open("rate = 500\nseed = 2", DEVICE);
    let same = base
        .iter()
        .zip(&seed)
        .filter(|(a, b)| a.lbn() == b.lbn())
        .count();
    assert!(same < 3);
    // Within one load: size, operation, place and gap say nothing of each other.
    let n = base.len();
    let columns: [Vec<f64>; 4] = [
        base.iter().map(|r| f64::from(r.blocks())).collect(),
        base.iter()
            .map(|r| f64::from(u8::from(r.op == Op::Read)))
            .collect(),
        base.iter().map(|r| r.lbn() as f64).collect(),
        (0..n)
            .map(|i| base[i].arrival.0 - if i > 0 { base[i - 1].arrival.0 } else { 0 })
            .map(|gap| gap as f64)
            .collect(),
    ];
    for (i, a) in columns.iter().enumerate() {
        for b in &columns[..i] {
            let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
            assert!(correlation(&pairs).abs() < five_errors(1.0, n));
        }
    }
}

#[test]
fn a_load_without_a_count_can_go_on_and_other_seeds_are_a_number_away() {
    let spec = |text: &str| {
        GeneratorSpec::read("random", &mut Keys::parse(text, "load.toml").unwrap()).unwrap()
    };
    assert!(!spec("rate = 500\nrequests = 10_000").go_on(u64::MAX));
    let mut endless = spec("rate = 500");
    assert!(endless.go_on(u64::MAX));
    let mut source = endless.source(DEVICE).unwrap();
    assert!(source.requests() > Some(1_000_000_000));
    for request in open("rate = 500\nrequests = 30_000", DEVICE) {
        assert_eq!(source.take().unwrap(), request);
    }
    assert!(source.next_arrival().unwrap().is_some());
    let mut third = (spec("rate = 500\nseed = 5").with_seed_offset(2))
        .source(DEVICE)
        .unwrap();
    for request in open("rate = 500\nseed = 7", DEVICE) {
        assert_eq!(third.take().unwrap(), request);
    }
}

#[test]
fn closed_loads_keep_their_depth_and_think() {
    let mut source = try_source("queue_depth = 3\nthink_ms = 2.5\nrequests = 5", DEVICE).unwrap();
    for id in 0..3 {
        assert_eq!(source.next_arrival().unwrap(), Some(Nanos::ZERO));
        assert_eq!(source.take().unwrap().id, id);
    }
    assert_eq!(source.next_arrival().unwrap(), None);
    source.completed(1, Nanos(1_000));
    source.completed(0, Nanos(1_500));
    assert_eq!(source.next_arrival().unwrap(), Some(Nanos(2_501_000)));
    let request = source.take().unwrap();
    assert_eq!((request.id, request.arrival), (3, Nanos(2_501_000)));
    assert_eq!(source.take().unwrap().arrival, Nanos(2_501_500));
    source.completed(2, Nanos(9_000_000));
    assert_eq!(
        source.next_arrival().unwrap(),
        None,
        "all five were given out"
    );
    assert!(source.take().is_err());
}

#[test]
fn lengths_beyond_the_region_are_cut_to_it_and_counted() {
    // P(more than 10 blocks) of a geometric size with mean 5 is 0.8^10.
    let n = 50_000;
    let text = format!("requests = {n}\nrate = 1\nmean_size_kib = 2.5");
    let mut source = try_source(&text, 10).unwrap();
    let mut whole = 0;
    while source.next_arrival().unwrap().is_some() {
        let request = source.take().unwrap();
        assert!(request.lbn() + u64::from(request.blocks()) <= 10);
        whole += u64::from(request.blocks() == 10);
    }
    let p = 0.8_f64.powi(10);
    let share = source.shortened() as f64 / n as f64;
    assert!(
        (share - p).abs() < five_errors((p * (1.0 - p)).sqrt(), n),
        "{share} for {p}"
    );
    assert!(whole > source.shortened());
}

#[test]
fn bad_keys_are_refused_with_what_is_allowed() {
    for (text, expected) in [
        (
            "rate = 0",
            "load.toml:1: rate = 0: must be above 0 and at most 1000000000000",
        ),
        ("rate = -1", "load.toml:1: rate = -1: must be above 0 and"),
        ("rate = inf", "load.toml:1: rate = inf: must be above 0 and"),
        ("rate = nan", "load.toml:1: rate = nan: must be above 0 and"),
        (
            "rate = \"fast\"",
            "load.toml:1: rate = \"fast\": must be a number above 0",
        ),
        (
            "rate = 1e-7",
            "load.toml:1: rate = 1e-7: must let 10000 requests arrive within 285 years",
        ),
        (
            "think_ms = 1e9\nrequests = 9001",
            "load.toml:1: think_ms = 1e9: must let 9001 requests",
        ),
        (
            "queue_depth = 4\n\nrate = 500",
            "load.toml:3: rate = 500: must not be given with queue_depth: a load is either open or closed",
        ),
        (
            "rate = 500\nthink_ms = 0",
            "load.toml:1: rate = 500: must not be given with think_ms: a load is either open or closed",
        ),
        (
            "time_scale = 2",
            "load.toml:1: time_scale = 2: scales the arrivals of an open load and so needs rate",
        ),
        (
            "rate = 1\ntime_scale = 0",
            "load.toml:2: time_scale = 0: must be above 0",
        ),
        (
            "queue_depth = 0",
            "load.toml:1: queue_depth = 0: must be an integer from 1 to 1000000",
        ),
        (
            "think_ms = -0.5",
            "load.toml:1: think_ms = -0.5: must be at least 0",
        ),
        (
            "read_fraction = 1.1",
            "load.toml:1: read_fraction = 1.1: must be at least 0 and at most 1",
        ),
        (
            "read_fraction = -0.1",
            "load.toml:1: read_fraction = -0.1: must be at least 0 and at most 1",
        ),
        (
            "mean_size_kib = 0.4",
            "load.toml:1: mean_size_kib = 0.4: must be at least 0.5",
        ),
        (
            "mean_size_kib = 1e300",
            "load.toml:1: mean_size_kib = 1e300: must be at most the 3375000 KiB of the region",
        ),
        (
            "requests = 0",
            "load.toml:1: requests = 0: must be an integer of at least 1",
        ),
        (
            "requests = 1.5e0",
            "load.toml:1: requests = 1.5e0: must be an integer of at least 1",
        ),
        (
            "seed = -1",
            "load.toml:1: seed = -1: must be an integer of at least 0",
        ),
        (
            "blocking = 0",
            "load.toml:1: blocking = 0: must be an integer from 1 to 4294967295",
        ),
        (
            "size = \"normal\"",
            "load.toml:1: size = \"normal\": must be \"geometric\", \"exponential\", \"fixed\" or \"listed\"",
        ),
        (
            "last_lbn = 6750000",
            "load.toml:1: last_lbn = 6750000: must be below the 6750000 blocks of the device",
        ),
        (
            "first_lbn = 6750000",
            "load.toml:1: first_lbn = 6750000: must be below the 6750000 blocks of the device",
        ),
        (
            "first_lbn = 9\nlast_lbn = 8",
            "load.toml:2: last_lbn = 8: must be an integer of at least 9",
        ),
        (
            "first_lbn = 9\nlast_lbn = 14\nblocking = 8",
            "load.toml:3: blocking = 8: must leave an aligned place in LBNs 9 to 14",
        ),
        (
            "first_lbn = 9\nlast_lbn = 15",
            "load.toml: mean_size_kib: must be at most the 3.5 KiB of the region",
        ),
        (
            "read_fracton = 1",
            "load.toml:1: unknown key 'read_fracton'; did you mean 'read_fraction'?",
        ),
        (
            "mean_size_bytes = 4096",
            "load.toml:1: unknown key 'mean_size_bytes'; did you mean 'mean_size_kib' (in KiB)?",
        ),
    ] {
        let found = message(text);
        assert!(
            found.starts_with(expected),
            "{text}\n found {found}\n wanted {expected}"
        );
    }
    assert!(
        try_source("", 0)
            .unwrap_err()
            .to_string()
            .contains("below the 0 blocks")
    );
    // At the edges of what is allowed.
    let whole = open(
        "rate = 1\nsize = \"fixed\"\nmean_size_kib = 3375000\nrequests = 2",
        DEVICE,
    );
    assert_eq!((whole[1].lbn(), u64::from(whole[1].blocks())), (0, DEVICE));
    let one = open(
        "rate = 1e12\nfirst_lbn = 6749999\nmean_size_kib = 0.5\nrequests = 9",
        DEVICE,
    );
    assert!(one.iter().all(|r| r.lbn() == DEVICE - 1 && r.blocks() == 1));
}

/// FNV-1a over everything the first requests of a load are.
fn checksum(text: &str) -> u64 {
    let mut source = try_source(text, DEVICE).unwrap();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut mix = |number: u64| {
        for byte in number.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for k in 0..10_000 {
        let request = source.take().unwrap();
        mix(request.arrival.0);
        mix(request.lbn());
        mix(u64::from(request.blocks()));
        mix(u64::from(request.op == Op::Read));
        source.completed(request.id, Nanos(k * 1_000_003));
    }
    hash
}

#[test]
fn random_requests_are_bit_for_bit_what_they_were() {
    // A regression test: recorded before zipf, hot_cold, sequential and mix
    // were added beside random.
    for (text, expected) in [
        ("", 0x5aa0_a0de_d2f6_c214),
        ("rate = 500", 0x8115_3119_0be8_cac0),
        (
            "rate = 3.7e8\ntime_scale = 3\nread_fraction = 0.2\nseed = 77",
            0xfbb1_eec9_aa3e_fc5d,
        ),
        (
            "queue_depth = 9\nthink_ms = 2.5\nsize = \"exponential\"\nblocking = 8",
            0xfa3c_e27d_bfa8_2d6c,
        ),
        (
            "rate = 70\nsize = \"fixed\"\nmean_size_kib = 700\nfirst_lbn = 1001\nlast_lbn = 5000",
            0xdde6_6230_c5e9_5727,
        ),
        (
            "rate = 1\nmean_size_kib = 64\nblocking = 5\nlast_lbn = 300",
            0xe8cd_8d5b_ddd3_bd2a,
        ),
    ] {
        assert_eq!(checksum(text), expected, "{text}");
    }
}
