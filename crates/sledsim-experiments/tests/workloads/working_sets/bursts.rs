//! Bursts at many scales: their counts and gaps against closed forms.

use super::{assert_share, open};
use sledsim_base::request::Request;
use std::collections::BTreeMap;

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
        let finest =
            counts(&requests, (S / 2) >> (levels + 1), (cascades << (levels + 1)) as usize);
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
    let fast = open("random", 40_000, &format!("rate = 500\ntime_scale = 4\n{keys}"));
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
        assert_eq!((plain.lbn(), plain.blocks(), plain.op), (even.lbn(), even.blocks(), even.op));
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
        by_cascade.entry(request.arrival.0 / S).or_default().push(request.arrival.0 % S);
    }
    let pairs: Vec<_> = by_cascade.values().filter(|times| times.len() == 2).collect();
    let together = pairs.iter().filter(|times| (times[0] < S / 2) == (times[1] < S / 2));
    assert_share(together.count() as f64, pairs.len() as f64, 0.68, "pairs");
}
