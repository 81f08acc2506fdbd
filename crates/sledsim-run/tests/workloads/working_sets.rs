//! Bursts at many scales, sizes from a list, working sets, and the workloads
//! that are files: against closed forms, brute force and TPC-C.

use proptest::prelude::*;
use serde_json::Value;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::progress::Progress;
use sledsim_base::request::Request;
use sledsim_run::generate::{Place, generate};
use sledsim_run::load::Load;
use sledsim_traces::{InfoSpec, trace_info};

use sledsim_core::model::source::Source;
use sledsim_core::workloads::{Generator, GeneratorSpec, Mix, MixSpec, PRESETS};
use sledsim_run::info::load_info;
use sledsim_run::load::show;
use std::collections::{BTreeMap, BTreeSet};
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
        requests.push(source.take().unwrap());
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

fn end(request: &Request) -> u64 {
    request.lbn() + u64::from(request.blocks())
}

/// Within five standard errors of a share.
fn assert_share(found: f64, n: f64, p: f64, what: &str) {
    let bound = 5.0 * (p * (1.0 - p) / n).sqrt();
    assert!(
        (found / n - p).abs() <= bound,
        "{what}: {} for {p}",
        found / n
    );
}

/// Chi square in standard deviations from its expectation, over cells in which
/// at least 20 are expected; the others go together.
fn chi_square(counts: &[f64], shares: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    let (mut sum, mut cells) = (0.0, -1.0);
    let mut rest = (0.0, 0.0);
    for (count, share) in counts.iter().zip(shares) {
        let expected = total * share;
        if expected < 20.0 {
            rest = (rest.0 + count, rest.1 + expected);
            continue;
        }
        sum += (count - expected).powi(2) / expected;
        cells += 1.0;
    }
    if rest.1 > 0.0 {
        sum += (rest.0 - rest.1).powi(2) / rest.1.max(20.0);
        cells += 1.0;
    }
    (sum - cells) / (2.0_f64 * cells).sqrt()
}

// ---------------------------------------------------------------------------
// Bursts at many scales

const S: u64 = 1_000_000_000;

/// Arrivals in windows of so many ns.
fn counts(requests: &[Request], window: u64, windows: usize) -> Vec<f64> {
    let mut counts = vec![0.0; windows];
    for request in requests {
        if let Some(count) = counts.get_mut((request.arrival.0 / window) as usize) {
            *count += 1.0;
        }
    }
    counts
}

#[test]
fn each_half_gets_the_bias_or_the_rest_at_every_level() {
    // A steady clock of many ticks shows the shares without any scatter.
    let (rate, cascades, levels) = (100_000.0, 40, 6);
    for bias in [0.5, 0.6, 0.72, 0.9] {
        let text = format!(
            "rate = {rate}\narrivals = \"constant\"\nbias = {bias}\ncascade_s = 0.5\n\
             cascade_levels = {levels}"
        );
        let n = (rate * 0.5 * f64::from(cascades)) as usize;
        let requests = open("random", n, &text);
        let (mut heads, mut agree) = (0.0, 0.0);
        for level in 0..=levels {
            let windows = (cascades << level) as usize;
            let found = counts(&requests, (S / 2) >> level, windows);
            if level == 0 {
                // Cascades all have the same share.
                assert!(found.iter().all(|count| (count - rate / 2.0).abs() <= 2.0));
                continue;
            }
            for halves in found.chunks(2) {
                let whole = halves[0] + halves[1];
                let busier = halves[0].max(halves[1]);
                assert!((busier - bias * whole).abs() <= 3.0, "{bias} {halves:?}");
                heads += f64::from(halves[0] > halves[1]);
            }
            // Two neighbours toss coins of their own.
            for pair in found.chunks(4).filter(|_| level > 1) {
                agree += f64::from((pair[0] > pair[1]) == (pair[2] > pair[3]));
            }
        }
        // Below the last level the clock is steady.
        let finest = counts(
            &requests,
            (S / 2) >> (levels + 1),
            (cascades << (levels + 1)) as usize,
        );
        let even = |halves: &[f64]| (halves[0] - halves[1]).abs() <= 2.0;
        assert!(finest.chunks(2).all(even));
        if bias > 0.55 {
            let coins = f64::from((cascades << levels) - cascades);
            assert_share(heads, coins, 0.5, "heads");
            let pairs = f64::from((cascades << (levels - 1)) - cascades);
            assert_share(agree, pairs, 0.5, "neighbours that agree");
        }
    }
}

#[test]
fn poisson_counts_disperse_at_every_scale_as_the_closed_form_says() {
    // In a window k levels down the rate is a product of k factors 2b or
    // 2(1 - b), independent and equally likely: its square has the mean
    // (2 (b^2 + (1 - b)^2))^k. Poisson scatter adds the mean.
    let (rate, cascade_s, levels, cascades) = (400.0, 1.0, 8_u32, 4_000_usize);
    for bias in [0.5_f64, 0.65, 0.8] {
        let text = format!(
            "rate = {rate}\nbias = {bias}\ncascade_s = {cascade_s}\ncascade_levels = {levels}"
        );
        let n = (rate * cascade_s) as usize * (cascades + 5);
        let requests = open("random", n, &text);
        for level in 0..=levels {
            let windows = cascades << level;
            let found = counts(&requests, S >> level, windows);
            let mean = rate / f64::from(1 << level);
            let square = 2.0 * (bias * bias + (1.0 - bias) * (1.0 - bias));
            let expected = mean + mean * mean * (square.powi(level as i32) - 1.0);
            // Cascades are independent of each other: the error from them.
            let sums: Vec<f64> = found
                .chunks(1 << level)
                .map(|windows| {
                    let squares = windows.iter().map(|count| (count - mean).powi(2));
                    squares.sum::<f64>() / windows.len() as f64
                })
                .collect();
            let average = sums.iter().sum::<f64>() / sums.len() as f64;
            let spread = sums.iter().map(|sum| (sum - average).powi(2)).sum::<f64>();
            let error = (spread / (sums.len() * sums.len()) as f64).sqrt();
            assert!(
                (average - expected).abs() <= 5.0 * error,
                "{bias} {level}: {average} for {expected} +- {error}"
            );
        }
    }
}

#[test]
fn bursts_lie_where_they_lie_whatever_the_rate_and_the_scale() {
    let keys = "arrivals = \"constant\"\nbias = 0.8\ncascade_s = 8\ncascade_levels = 7";
    let busy = open("random", 400_000, &format!("rate = 5000\n{keys}"));
    let calm = open("random", 40_000, &format!("rate = 500\n{keys}"));
    let (busy_counts, calm_counts) = (counts(&busy, S / 16, 1200), counts(&calm, S / 16, 1200));
    for (busy, calm) in busy_counts.iter().zip(&calm_counts) {
        assert!((busy / 10.0 - calm).abs() <= 2.0, "{busy} {calm}");
    }
    let fast = open(
        "random",
        40_000,
        &format!("rate = 500\ntime_scale = 4\n{keys}"),
    );
    for (calm, fast) in calm.iter().zip(&fast) {
        assert!(calm.arrival.0.abs_diff(4 * fast.arrival.0) <= 8);
    }
    // Other seeds, other bursts.
    let other = open("random", 40_000, &format!("rate = 500\nseed = 2\n{keys}"));
    assert_ne!(counts(&other, S / 16, 1200), calm_counts);
}

#[test]
fn an_even_split_is_no_burst_at_all() {
    let plain = open("random", 50_000, "rate = 500");
    let even = open("random", 50_000, "rate = 500\nbias = 0.5");
    for (plain, even) in plain.iter().zip(&even) {
        assert!(plain.arrival.0.abs_diff(even.arrival.0) <= 1);
        assert_eq!(
            (plain.lbn(), plain.blocks(), plain.op),
            (even.lbn(), even.blocks(), even.op)
        );
    }
}

#[test]
fn gaps_of_many_cascades_keep_the_rate_and_fall_where_the_work_is() {
    // 0.01 arrivals to a cascade: each lies in one of its halves.
    let n = 200_000;
    let text = "rate = 0.01\nbias = 0.8\ncascade_s = 1\ncascade_levels = 10";
    let requests = open("random", n, text);
    let took_s = requests[n - 1].arrival.s();
    assert!((took_s * 0.01 / n as f64 - 1.0).abs() < 5.0 / (n as f64).sqrt());
    // Two in one cascade are in one half with b^2 + (1 - b)^2.
    let mut by_cascade: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for request in &requests {
        by_cascade
            .entry(request.arrival.0 / S)
            .or_default()
            .push(request.arrival.0 % S);
    }
    let pairs: Vec<_> = by_cascade
        .values()
        .filter(|times| times.len() == 2)
        .collect();
    let together = pairs
        .iter()
        .filter(|times| (times[0] < S / 2) == (times[1] < S / 2));
    assert_share(together.count() as f64, pairs.len() as f64, 0.68, "pairs");
}

// ---------------------------------------------------------------------------
// Sizes from a list

#[test]
fn listed_sizes_come_in_their_shares() {
    let text =
        "rate = 9\nsize = \"listed\"\nsizes_kib = [0.5, 8, 64, 3]\nsize_shares = [1, 5, 0.5, 3]";
    let n = 200_000;
    let mut found: BTreeMap<u32, f64> = BTreeMap::new();
    for request in open("random", n, text) {
        *found.entry(request.blocks()).or_default() += 1.0;
    }
    let sizes: Vec<u32> = found.keys().copied().collect();
    assert_eq!(sizes, [1, 6, 16, 128]);
    let counts: Vec<f64> = found.values().copied().collect();
    assert!(chi_square(&counts, &[1.0 / 9.5, 3.0 / 9.5, 5.0 / 9.5, 0.5 / 9.5]) < 5.0);
    // Rounded up to whole places, like all sizes.
    let blocked = open("random", 5_000, &format!("{text}\nblocking = 5"));
    assert!(
        blocked
            .iter()
            .all(|request| [5, 10, 20, 130].contains(&request.blocks()))
    );
}

// ---------------------------------------------------------------------------
// Working sets

/// The unit of 8 KiB of a request, from the extent it lies in.
fn extent_of(lbn: u64, extents: u64, extent_blocks: u64, blocking: u64) -> Option<(u64, u64)> {
    let distance = DEVICE / blocking / extents * blocking;
    let (extent, inside) = (lbn / distance, lbn % distance);
    (extent < extents && inside < extent_blocks).then_some((extent, inside))
}

#[test]
fn units_of_files_are_asked_for_as_zipf_says() {
    // 64 MiB in extents of 64 KiB: 1024 extents, 8192 units.
    let (n, units, exponent) = (400_000, 8192_usize, 1.08);
    for clustered in [true, false] {
        let text = format!(
            "rate = 9\nset_mib = 64\nsize = \"fixed\"\nmean_size_kib = 8\nblocking = 16\n\
             zipf_exponent = {exponent}\nclustered = {clustered}"
        );
        let mut found: BTreeMap<(u64, u64), f64> = BTreeMap::new();
        for request in open("files", n, &text) {
            let place = extent_of(request.lbn(), 1024, 128, 16).expect("in an extent");
            *found.entry(place).or_default() += 1.0;
            assert!(place.1.is_multiple_of(16) && request.blocks() == 16);
        }
        let mut shares: Vec<f64> = (1..=units).map(|k| (k as f64).powf(-exponent)).collect();
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        let mut ranked: Vec<_> = found.iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(a.1));
        // The first ranks are told apart by their counts.
        for (rank, (_, count)) in ranked.iter().take(8).enumerate() {
            assert_share(**count, n as f64, shares[rank], "rank");
        }
        let top: f64 = ranked.iter().take(819).map(|(_, count)| **count).sum();
        let expected: f64 = shares.iter().take(819).sum();
        assert!((top / n as f64 - expected).abs() < 0.01, "{top} {expected}");
        // How many were asked for at all: sum of 1 - (1 - p)^n.
        let some = |share: &f64| 1.0 - (1.0 - share).powi(n as i32);
        let expected: f64 = shares.iter().map(some).sum();
        let spread: f64 = shares.iter().map(|p| some(p) * (1.0 - some(p))).sum();
        let unique = found.len() as f64;
        assert!(
            (unique - expected).abs() < 5.0 * spread.sqrt(),
            "{unique} {expected}"
        );
        // Clustered, the first eight ranks share an extent.
        let extents: BTreeSet<u64> = ranked.iter().take(8).map(|(place, _)| place.0).collect();
        assert_eq!(extents.len() == 1, clustered, "{extents:?}");
    }
}

#[test]
fn parts_of_a_set_share_what_they_should_and_are_everywhere() {
    let touched = |part: &str, seed: u32| -> BTreeSet<u64> {
        let text = format!(
            "rate = 9\nset_mib = 64\nsize = \"fixed\"\nmean_size_kib = 8\nblocking = 2\n\
             zipf_exponent = 0\nseed = {seed}\n{part}"
        );
        let extent = |request: &Request| {
            extent_of(request.lbn(), 1024, 128, 2)
                .expect("in the set")
                .0
        };
        open("files", 60_000, &text).iter().map(extent).collect()
    };
    let (read, written) = (touched("part_to = 0.85", 1), touched("part_from = 0.58", 2));
    // 60,000 draws leave none of 1024 extents out, but once in 1e22.
    assert_eq!((read.len(), written.len()), (870, 430));
    assert_eq!(read.union(&written).count(), 1024);
    assert_eq!(read.intersection(&written).count(), 870 - 594);
    for tenth in 0..10 {
        let inside = |extent: &&u64| *extent * 10 / 1024 == tenth;
        let share = written.iter().filter(inside).count() as f64 / 102.4;
        assert!((share - 0.42).abs() < 0.04, "{tenth}: {share}");
    }
}

#[test]
fn short_requests_lie_anywhere_in_their_unit_and_long_ones_end_with_the_extent() {
    let text = "rate = 9\nset_mib = 4\nsize = \"listed\"\nsizes_kib = [2, 8, 24, 64, 100]\n\
                size_shares = [4, 2, 2, 1, 1]\nblocking = 2\nzipf_exponent = 0";
    let mut offsets: BTreeMap<u64, f64> = BTreeMap::new();
    let source = || try_source("files", &format!("requests = 100_000\n{text}")).unwrap();
    for request in all(source()) {
        let (_, inside) = extent_of(request.lbn(), 64, 128, 2).expect("in the set");
        let blocks = u64::from(request.blocks());
        assert!(inside + blocks <= 128, "{inside} {blocks}");
        match blocks {
            4 => {
                assert!(inside / 16 == (inside + 3) / 16, "in one unit");
                *offsets.entry(inside % 16).or_default() += 1.0;
            }
            16 | 48 => assert!(inside.is_multiple_of(16)),
            other => assert_eq!((other, inside), (128, 0)),
        }
    }
    // Seven places of 2 KiB on boundaries of 1 KiB in a unit of 8 KiB.
    assert_eq!(
        offsets.keys().copied().collect::<Vec<_>>(),
        [0, 2, 4, 6, 8, 10, 12]
    );
    let counts: Vec<f64> = offsets.values().copied().collect();
    assert!(chi_square(&counts, &[1.0 / 7.0; 7]) < 5.0);
    // What was longer than the extent is counted.
    let mut again = source();
    while again.next_arrival().unwrap().is_some() {
        again.take().unwrap();
    }
    assert_share(
        again.facts()["shortened"].as_f64().unwrap(),
        1e5,
        0.1,
        "shortened",
    );
}

#[test]
fn runs_go_on_with_their_probability_while_there_is_room() {
    let keys = "rate = 9\nset_mib = 512\nsize = \"fixed\"\nmean_size_kib = 8\nblocking = 16\n\
                zipf_exponent = 0\nsequential_fraction = 0.6";
    let share = |extent_kib: u32| {
        let text = format!("{keys}\nextent_kib = {extent_kib}");
        let requests = open("files", 200_000, &text);
        let follows = |pair: &&[Request]| pair[1].lbn() == end(&pair[0]);
        requests.windows(2).filter(follows).count() as f64
    };
    assert_eq!(share(8), 0.0);
    // Of two units, the first is drawn half the time; a run is over after the
    // second. With q = P(room) = P(at the first unit): q = (1 - 0.6 q) / 2.
    assert_share(share(16), 2e5, 0.6 / 2.6, "two units");
    // Of 1024 units, one in 1024 runs meets the end.
    assert!((share(8192) / 2e5 - 0.6).abs() < 0.01);
}

#[test]
fn a_scan_reads_all_of_the_set_in_turn_again_and_again() {
    let text = "rate = 9\nset_mib = 16\nextent_kib = 146\nblocking = 4\nmean_size_kib = 50";
    let requests = open("scan", 4_000, text);
    // 112 extents, rounded from 112.2.
    let (extents, length) = (112, 292);
    let distance = DEVICE / 4 / extents * 4;
    let mut next = 0_u64; // as if the extents were one file
    let mut jumps = 0;
    for (index, request) in requests.iter().enumerate() {
        let (pass, at) = (next / (extents * length), next % (extents * length));
        assert_eq!(
            request.lbn(),
            at / length * distance + at % length,
            "{pass}"
        );
        jumps += u64::from(index > 0 && request.lbn() != end(&requests[index - 1]));
        next += u64::from(request.blocks());
        assert!((at % length) + u64::from(request.blocks()) <= length);
    }
    assert!(next > 3 * extents * length);
    assert_eq!(jumps, (next - 1) / length);
    // The mean number of requests to an extent of 73 pages: 1 + 72 p, where a
    // size ends with a page with probability p.
    let p = 1.0 - (1.0_f64 - 1.0 / 100.0).powi(4);
    let found = requests.len() as f64 / (next as f64 / length as f64);
    assert!((found - (1.0 + 72.0 * p)).abs() < 0.3, "{found}");
}

#[test]
fn scans_side_by_side_each_read_it_all() {
    let text =
        "rate = 9\nset_mib = 16\nextent_kib = 128\nblocking = 16\nmean_size_kib = 32\nscans = 3";
    let requests = open("scan", 6_000, text);
    let mut by_scan: BTreeMap<u32, Vec<&Request>> = BTreeMap::new();
    for request in &requests {
        by_scan.entry(request.stream).or_default().push(request);
    }
    assert_eq!(by_scan.len(), 3);
    for (scan, requests) in by_scan {
        let place = |request: &Request| {
            let (extent, inside) = extent_of(request.lbn(), 128, 256, 16).expect("in the set");
            extent * 256 + inside
        };
        assert_eq!(place(requests[0]), u64::from(scan) * 128 / 3 * 256);
        for pair in requests.windows(2) {
            let expected = (place(pair[0]) + u64::from(pair[0].blocks())) % (128 * 256);
            assert_eq!(place(pair[1]), expected);
        }
    }
}

/// Shares of pages by every pair of numbers that NURand may draw.
fn brute_nurand(rows: u64, mask: u64, per_page: u64, constant: u64) -> Vec<f64> {
    let mut shares = vec![0.0; rows.div_ceil(per_page) as usize];
    for a in 0..=mask {
        for b in 0..rows {
            let row = ((a | b) + constant) % rows;
            shares[(row / per_page) as usize] += 1.0 / ((mask + 1) * rows) as f64;
        }
    }
    shares
}

#[test]
fn rows_are_chosen_as_by_every_pair_of_numbers() {
    // Two tables and a half of 7 pages.
    let text = "rate = 9\nset_mib = 0.13671875\nsize = \"fixed\"\nmean_size_kib = 8\n\
                blocking = 16\nrows = 20\nrow_mask = 15\nrows_per_page = 3";
    let n = 200_000;
    let mut found = vec![0.0; 18];
    for request in open("nurand", n, text) {
        let (page, inside) = extent_of(request.lbn(), 18, 16, 16).expect("in the set");
        assert_eq!(inside, 0);
        found[page as usize] += 1.0;
    }
    // The constant is one of 16; exactly one fits.
    let fits = (0..16).filter(|constant| {
        let table = brute_nurand(20, 15, 3, *constant);
        let shares: Vec<f64> = (0..18).map(|page| table[page % 7]).collect();
        let sum: f64 = shares.iter().sum();
        chi_square(&found, &shares.iter().map(|p| p / sum).collect::<Vec<_>>()) < 5.0
    });
    assert_eq!(fits.count(), 1);
}

#[test]
fn the_skew_of_stock_is_that_of_leutenegger_and_dias() {
    // SIGMOD 1993: 84 % of the accesses to stock go to 20 % of its tuples, 71 %
    // to 10 %, 39 % to 2 %. Of 100,000 rows, one to a page.
    let text = "rate = 9\nset_mib = 48.828125\nextent_kib = 0.5\nsize = \"fixed\"\n\
                mean_size_kib = 0.5\nrows_per_page = 1";
    let n = 20_000_000;
    let mut found = vec![0_u64; 100_000];
    let mut source = try_source("nurand", &format!("requests = {n}\n{text}")).unwrap();
    while source.next_arrival().unwrap().is_some() {
        let request = source.take().unwrap();
        found[(request.lbn() / (DEVICE / 100_000)) as usize] += 1;
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    for (tuples, percent) in [(2_000, 39.0), (10_000, 71.0), (20_000, 84.0)] {
        let share = found[..tuples].iter().sum::<u64>() as f64 / f64::from(n);
        assert!((100.0 * share - percent).abs() < 1.0, "{tuples}: {share}");
    }
}

// ---------------------------------------------------------------------------
// What a load is like

fn load(name: &str, keys: &str) -> Result<Load> {
    Load::workload(name, Keys::parse(keys, "keys.toml")?)
}

fn info(load: &Load) -> Result<Value> {
    let spec = InfoSpec {
        max_units: 1 << 20,
        ..InfoSpec::new(Path::new(""))
    };
    load_info(&spec, load, DEVICE, &mut |_: Progress| Ok(()))
}

#[test]
fn a_load_is_like_the_trace_that_it_makes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("load.csv");
    let load = load("cello", "requests = 30_000").unwrap();
    generate(&load, Place::Blocks(DEVICE), &path, None, &mut |_| Ok(())).unwrap();
    let (direct, written) = (info(&load).unwrap(), trace_info(&path, None).unwrap());
    for key in [
        "requests",
        "read_fraction",
        "sizes",
        "arrivals",
        "footprint",
        "reuse",
    ] {
        assert_eq!(direct[key], written[key], "{key}");
    }
    assert_eq!(direct["workload"]["preset"], "cello");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn figures_are_those_counted_one_by_one(
        lines in prop::collection::vec((0..300_000_000_u64, 0..900_u64, 1..60_u32), 2..400),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.csv");
        let mut text = String::from(
            "time_ns,device,device_name,op,offset_bytes,bytes,response_ns,think_ns,queue_ns,linked\n",
        );
        let (mut time, mut times) = (0, Vec::new());
        for (gap, lbn, blocks) in &lines {
            time += gap;
            times.push(time);
            text += &format!("{time},0,,read,{},{},,,,\n", lbn * 512, blocks * 512);
        }
        std::fs::write(&path, text).unwrap();
        let facts = trace_info(&path, None).unwrap();
        let blocks: BTreeSet<u64> =
            lines.iter().flat_map(|(_, lbn, blocks)| *lbn..lbn + u64::from(*blocks)).collect();
        prop_assert_eq!(&facts["footprint"]["accessed_bytes"], blocks.len() * 512);
        let recent = lines.iter().enumerate().filter(|(index, (_, lbn, _))| {
            let before = &lines[index.saturating_sub(16)..*index];
            before.iter().any(|(_, from, blocks)| from + u64::from(*blocks) == *lbn)
        });
        let share = recent.count() as f64 / lines.len() as f64;
        prop_assert_eq!(facts["sequential"]["recent_fraction"].as_f64(), Some(share));
        for (power, scale) in facts["arrivals"]["scales"].as_array().unwrap().iter().enumerate() {
            let window = 15_625_000_u64 << power;
            let windows = (times[times.len() - 1] - times[0]) / window;
            let held = |window: u64, number: u64| {
                times.iter().filter(|time| (**time - times[0]) / window == number).count() as f64
            };
            let all: Vec<f64> = (0..windows).map(|number| held(window, number)).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let squares = all.iter().map(|count| (count - mean).powi(2)).sum::<f64>();
            let dispersion = squares / (all.len() - 1) as f64 / mean;
            let found = scale["index_of_dispersion"].as_f64().unwrap();
            prop_assert!((found - dispersion).abs() < 1e-9 * dispersion.max(1.0), "{} {}", found, dispersion);
            if power > 0 {
                let pairs = |window: u64| {
                    let count = |number| held(window, number);
                    let last = (times[times.len() - 1] - times[0]) / window;
                    (0..=last).map(count).map(|count| count * (count - 1.0)).sum::<f64>()
                };
                let (half, whole) = (pairs(window / 2), pairs(window));
                let found = scale["bias"].as_f64();
                prop_assert_eq!(found.is_some(), whole > 0.0);
                if let Some(bias) = found {
                    let together = bias * bias + (1.0 - bias) * (1.0 - bias);
                    prop_assert!((together - (half / whole).max(0.5)).abs() < 1e-9);
                }
            }
        }
    }
}

#[test]
fn the_bias_of_a_load_is_found_again() {
    let text = "requests = 400_000\nrate = 200\nbias = 0.75\ncascade_s = 8\ncascade_levels = 7";
    let facts = info(&load("random", text).unwrap()).unwrap();
    for scale in facts["arrivals"]["scales"].as_array().unwrap() {
        let window = scale["window_s"].as_f64().unwrap();
        // Windows count from the first arrival, some ms into the cascade.
        if let Some(bias) = scale["bias"].as_f64() {
            match window {
                0.25..=8.0 => assert!((bias - 0.75).abs() < 0.04, "{window}: {bias}"),
                16.0..=64.0 => assert!(bias < 0.58, "{window}: {bias}"),
                _ => {}
            }
        }
    }
}

// ---------------------------------------------------------------------------
// Workloads that are files

#[test]
fn presets_are_drawn_to_their_end_and_take_other_keys() {
    for (name, _) in PRESETS {
        let whole = load(name, "").unwrap();
        let short = info(&load(name, "requests = 500").unwrap()).unwrap();
        assert_eq!(short["requests"], 500);
        assert_eq!(whole.seed(), Some(1));
        let other = info(&load(name, "requests = 500\nseed = 2").unwrap()).unwrap();
        assert_ne!(short["footprint"], other["footprint"], "{name}");
        let slow = info(&load(name, "requests = 500\ntime_scale = 0.25").unwrap()).unwrap();
        let ratio = slow["last_time_s"].as_f64().unwrap() / short["last_time_s"].as_f64().unwrap();
        assert!((ratio - 4.0).abs() < 1e-6, "{name} {ratio}");
        assert_eq!(slow["footprint"], short["footprint"]);
        let shown = show(name).unwrap();
        let unsourced = |(key, entry): (&String, &Value)| {
            (entry["source"].is_null() && !key.contains("kind") && key != "title")
                .then(|| key.clone())
        };
        let unsourced: Vec<String> = shown["parameters"]
            .as_object()
            .unwrap()
            .iter()
            .filter_map(unsourced)
            .collect();
        // The two parts of a mix share comments.
        assert!(
            unsourced.iter().all(|key| key.starts_with("part.")),
            "{unsourced:?}"
        );
    }
}

#[test]
fn a_file_is_a_workload_and_may_stand_on_another() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("below")).unwrap();
    std::fs::write(
        at("mine.toml"),
        "title = \"mine\"\nbase = \"tpcc\"\nrequests = 300\n",
    )
    .unwrap();
    std::fs::write(
        at("below/far.toml"),
        "base = \"../mine.toml\"\nrate = 7 # slow\n",
    )
    .unwrap();
    let path = at("below/far.toml");
    let path = path.to_str().unwrap();
    let facts = info(&load(path, "seed = 9").unwrap()).unwrap();
    let keys = &facts["workload"];
    assert_eq!(keys["workload"], "nurand");
    assert_eq!(keys["preset"], "far");
    assert_eq!(
        (&keys["requests"], &keys["rate"], &keys["seed"]),
        (&300.into(), &7.0.into(), &9.into())
    );
    assert_eq!(keys["row_mask"], 8191);
    let shown = show(path).unwrap();
    assert_eq!(shown["parameters"]["rate"]["source"], "slow");
    assert_eq!(shown["parameters"]["title"]["value"], "mine");
    std::fs::write(at("a.toml"), "base = \"b.toml\"\n").unwrap();
    std::fs::write(at("b.toml"), "base = \"a.toml\"\n").unwrap();
    std::fs::write(at("none.toml"), "rate = 5\n").unwrap();
    std::fs::write(at("odd.toml"), "base = \"tpcc\"\nrats = 5\n").unwrap();
    for (file, says) in [
        ("a.toml", "the bases form a circle"),
        ("none.toml", "none.toml: missing key 'kind'"),
        (
            "odd.toml",
            "odd.toml:2: unknown key 'rats'; did you mean 'rate'",
        ),
        ("gone.toml", "gone.toml"),
    ] {
        let error = load(at(file).to_str().unwrap(), "")
            .unwrap_err()
            .to_string();
        assert!(error.contains(says), "{error}");
    }
    let error = load("cells", "").unwrap_err().to_string();
    assert!(
        error.contains("unknown workload 'cells'; did you mean 'cello'?"),
        "{error}"
    );
}

#[test]
fn mistakes_are_told() {
    let files = "set_mib = 10\n";
    for (kind, text, says) in [
        (
            "random",
            "rate = 5\nbias = 0.4",
            ":2: bias = 0.4: must be at least 0.5",
        ),
        (
            "random",
            "bias = 0.7",
            ":1: bias = 0.7: shapes the arrivals of an open load",
        ),
        (
            "random",
            "rate = 5\ncascade_s = 3",
            ":2: cascade_s = 3: needs bias",
        ),
        (
            "random",
            "rate = 5\nbias = 0.7\ncascade_levels = 31",
            ":3: cascade_levels = 31",
        ),
        (
            "random",
            "rate = 5\nbias = 0.7\non_ms = 5\noff_ms = 5",
            ":2: bias = 0.7: must not be given with on_ms",
        ),
        (
            "random",
            "sizes_kib = [1]",
            ":1: sizes_kib = [1]: needs size = \"listed\"",
        ),
        (
            "random",
            "size = \"listed\"",
            "sizes_kib: size = \"listed\" needs at least one",
        ),
        (
            "random",
            "size = \"listed\"\nsizes_kib = [1, 2]\nsize_shares = [1]",
            ":3: size_shares = [1]: must be a list of 2",
        ),
        (
            "random",
            "size = \"listed\"\nsizes_kib = [1, 2.2]\nsize_shares = [1, 1]",
            ":2: sizes_kib[1] = 2.2: must be a multiple of 0.5 KiB",
        ),
        (
            "random",
            "size = \"listed\"\nsizes_kib = [1]\nsize_shares = [0]",
            ":3: size_shares[0] = 0: must be",
        ),
        (
            "random",
            "size = \"listed\"\nsizes_kib = [1]\nsize_shares = [1]\nmean_size_kib = 4",
            ":4: mean_size_kib = 4: has no effect",
        ),
        ("files", "", "load.toml: missing key 'set_mib'"),
        (
            "files",
            "set_mib = 9000",
            ":1: set_mib = 9000: must be at most the 8759.",
        ),
        (
            "files",
            "set_mib = 10\nextent_kib = 10\nblocking = 16",
            ":2: extent_kib = 10: must be a multiple of blocking, which is 8 KiB",
        ),
        (
            "files",
            "set_mib = 10\nunit_kib = 3",
            ":2: unit_kib = 3: must be a multiple of blocking, and divide",
        ),
        (
            "files",
            "set_mib = 10\npart_from = 0.5\npart_to = 0.5",
            ":3: part_to = 0.5: must be above 0.5",
        ),
        (
            "files",
            "set_mib = 0.0625\npart_from = 0.4\npart_to = 0.45",
            ":2: part_from = 0.4: must leave an extent",
        ),
        (
            "scan",
            "set_mib = 1\nscans = 9",
            ":2: scans = 9: must be at most the 8 extents",
        ),
        (
            "nurand",
            "set_mib = 1\nrows = 0",
            ":2: rows = 0: must be an integer from 1",
        ),
    ] {
        let error = try_source(kind, text).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}\n{says}");
    }
    assert!(try_source("files", files).is_ok());
    let closed = info(&load("random", "").unwrap()).unwrap_err().to_string();
    assert!(closed.contains("closed"), "{closed}");
    let parts = "time_scale = 2\n[part.a]\nqueue_depth = 2";
    let error = MixSpec::read(&mut Keys::parse(parts, "mix.toml").unwrap()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("mix.toml:1: time_scale = 2: scales the arrivals")
    );
}

#[test]
fn a_mix_is_scaled_in_all_its_open_parts() {
    let read = |text: &str| -> Mix {
        let mut keys = Keys::parse(text, "mix.toml").unwrap();
        MixSpec::read(&mut keys).unwrap().source(DEVICE).unwrap()
    };
    let parts = "[part.a]\nrate = 100\ntime_scale = 2\n[part.b]\nrate = 50\nbias = 0.7\n";
    let (plain, fast) = (
        all(read(parts)),
        all(read(&format!("time_scale = 8\n{parts}"))),
    );
    for (plain, fast) in plain.iter().zip(&fast) {
        assert!(plain.arrival.0.abs_diff(8 * fast.arrival.0) <= 16);
        assert_eq!((plain.lbn(), plain.stream), (fast.lbn(), fast.stream));
    }
}

#[test]
#[ignore = "measures speed"]
fn speed() {
    for (name, _) in PRESETS {
        let mut best = f64::MAX;
        for _ in 0..5 {
            let load = load(name, "requests = 1_000_000").unwrap();
            let start = std::time::Instant::now();
            let spec = InfoSpec {
                quick: true,
                ..InfoSpec::new(Path::new(""))
            };
            load_info(&spec, &load, DEVICE, &mut |_| Ok(())).unwrap();
            best = best.min(start.elapsed().as_secs_f64() / 1e6);
        }
        println!("{:6.1} ns a request with its figures: {name}", best * 1e9);
    }
    for (kind, text) in [
        ("random", "rate = 500"),
        ("random", "rate = 500\nbias = 0.75"),
        (
            "files",
            "rate = 500\nbias = 0.72\nset_mib = 958\nzipf_exponent = 0.8",
        ),
        ("scan", "rate = 500\nset_mib = 1242"),
        ("nurand", "rate = 500\nset_mib = 1284"),
    ] {
        let (mut best, n) = (f64::MAX, 5_000_000);
        for _ in 0..5 {
            let mut source = try_source(kind, &format!("requests = {n}\n{text}")).unwrap();
            let source: &mut dyn Source = &mut source;
            let start = std::time::Instant::now();
            while source.next_arrival().unwrap().is_some() {
                source.take().unwrap();
            }
            best = best.min(start.elapsed().as_secs_f64() / f64::from(n));
        }
        println!("{:6.1} ns a request: {kind} {text:?}", best * 1e9);
    }
}
