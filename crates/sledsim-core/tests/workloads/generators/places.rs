//! Hot and cold places, and sequential streams.

use super::{DEVICE, assert_share, chi_square, end, open};
use std::collections::BTreeMap;

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
        if (4..7).contains(&place) { 0.8 / 3.0 } else { 0.2 / 7.0 }
    };
    assert!(chi_square(&counts, share) < 5.0, "{counts:?}");
    // The smallest region there may be has one place of each.
    let pair = open("hot_cold", 1000, "last_lbn = 1\nmean_size_kib = 0.5", DEVICE);
    assert_share(pair.iter().filter(|r| r.lbn() == 0).count(), 1000, 0.8);
}

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
    let same = open("sequential", 3000, &format!("{text}\nsequential_fraction = 0"), DEVICE);
    assert_eq!(same, open("random", 3000, text, DEVICE));
}
