//! Zipf, and the permutations that scatter its ranks.

use super::{DEVICE, assert_share, chi_square, five_errors, mean, open};
use sledsim_base::random::{Permutation, Stream, Zipf};
use sledsim_base::request::Request;
use std::collections::{BTreeMap, BTreeSet};

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
        let places: Vec<f64> = (0..n).map(|i| permutation.at(i) as f64 / n as f64).collect();
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
        assert!((12.0 * moment).abs() < five_errors(1.0, n as usize), "{seed}: {moment}");
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
