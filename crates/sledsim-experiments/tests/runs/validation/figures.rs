//! The figures themselves: closed forms, and brute force over the definition.

use super::close;
use proptest::prelude::*;
use serde_json::{Value, json};
use sledsim_base::units::Nanos;
use sledsim_experiments::validation::{ClassWeighted, Comparison, Pair};

fn pairs(measured: &[u64], simulated: &[u64]) -> Vec<Pair> {
    let pair =
        |(&measured, &simulated)| Pair { measured: Nanos(measured), simulated: Nanos(simulated) };
    measured.iter().zip(simulated).map(pair).collect()
}

fn compared(measured: &[u64], simulated: &[u64]) -> Comparison {
    Comparison::new(pairs(measured, simulated))
}

fn demerit(measured: &[u64], simulated: &[u64]) -> f64 {
    compared(measured, simulated).demerit_ms().unwrap()
}

/// Calls `each` with every order of `values` (Heap's algorithm).
fn orders(values: &mut [u64], count: usize, each: &mut dyn FnMut(&[u64])) {
    if count <= 1 {
        return each(values);
    }
    for index in 0..count {
        orders(values, count - 1, each);
        let other = if count.is_multiple_of(2) { index } else { 0 };
        values.swap(other, count - 1);
    }
}

#[test]
fn the_figure_of_a_shift_is_the_shift() {
    let measured: Vec<u64> = (0..1000_u64).map(|i| i * i * 977 % 20_000_000).collect();
    for shift in [0, 1, 250_000, 3_000_000_000] {
        let later: Vec<u64> = measured.iter().map(|&time| time + shift).collect();
        let ms = shift as f64 / 1e6;
        assert!(close(demerit(&measured, &later), ms), "{shift}");
        assert!(close(demerit(&later, &measured), ms), "{shift}, the other way");
    }
}

/// What the reads are too slow the writes are too fast: together no error is left.
#[test]
fn errors_of_two_kinds_that_cancel_are_in_the_class_weighted_figure() {
    let (short, long) = (vec![1_000_000_u64; 30], vec![3_000_000_u64; 30]);
    let kinds = [compared(&short, &long), compared(&long, &short)];
    let both = |a: &[u64], b: &[u64]| [a, b].concat();
    let all = compared(&both(&short, &long), &both(&long, &short));
    assert_eq!(all.demerit_ms(), Some(0.0));
    let weighted = ClassWeighted::of(&kinds);
    assert_eq!(weighted.ms(), Some(2.0));
    assert!(weighted.disagrees(&all));

    // Weighted by requests: 10 are off by 4 ms, 30 by none.
    let far = vec![5_000_000; 10];
    let kinds = [compared(&short[..10], &far), compared(&long, &long)];
    let weighted = ClassWeighted::of(&kinds);
    assert!(close(weighted.ms().unwrap(), 2.0));
    assert!(close(all.percent(1.0).unwrap(), 50.0));

    // No error, no requests, and a third of three squares, which may cancel.
    let same = compared(&long, &long);
    assert!(!ClassWeighted::of(std::slice::from_ref(&same)).disagrees(&same));
    let none = ClassWeighted::of(&[Comparison::default(), Comparison::default()]);
    assert_eq!(none.ms(), None);
    assert!(!none.disagrees(&Comparison::default()));
    let squares = |count: u64| compared(&vec![0; count as usize], &vec![1; count as usize]);
    let three = ClassWeighted::of(&[squares(2), squares(1)]);
    assert!(!three.disagrees(&squares(2)), "a third");
    assert!(three.disagrees(&squares(1)), "two thirds");
}

/// Two uniform distributions from zero: the distance of rank i of n is
/// i/n |a - b|, and the mean of squares of 1..n is (n + 1)(2n + 1)/6.
#[test]
fn the_figure_of_two_uniform_distributions_has_a_closed_form() {
    let n = 400_u64;
    let uniform = |most: u64| (1..=n).map(|i| most / n * i).collect::<Vec<_>>();
    let figure = compared(&uniform(8_000_000), &uniform(20_000_000));
    let (n, apart_ms) = (n as f64, 12.0);
    let expected = apart_ms * ((n + 1.0) * (2.0 * n + 1.0) / (6.0 * n * n)).sqrt();
    assert!(close(figure.demerit_ms().unwrap(), expected));
    let mean_ms = 8.0 * (n + 1.0) / (2.0 * n);
    let percent = figure.demerit_percent().unwrap();
    assert!(close(percent, 100.0 * expected / mean_ms), "{percent}");
}

#[test]
fn missing_times_have_no_figure() {
    let none = compared(&[], &[]);
    assert_eq!((none.demerit_ms(), none.paired_rms_ms()), (None, None));
    assert_eq!(none.demerit_percent(), None);
    assert_eq!(none.largest(), None);
    let measured = json!(none.measured());
    assert!(measured.as_object().unwrap().values().all(Value::is_null));
    // Times of zero have a figure, and no mean to compare it with.
    let zeros = compared(&[0, 0], &[0, 2_000_000]);
    assert!(close(zeros.demerit_ms().unwrap(), 2_f64.sqrt()));
    assert_eq!(zeros.demerit_percent(), None);
}

/// Nearest rank, counted out by hand.
#[test]
fn statistics_match_the_list() {
    let ms: Vec<u64> = (1..=40).rev().map(|i| i * 1_000_000).collect();
    let told = compared(&ms, &[7_000_000; 40]);
    let measured = json!(told.measured());
    for (key, expected) in [
        ("mean", 20.5),
        ("p50", 20.0),
        ("p90", 36.0),
        ("p95", 38.0),
        ("p99", 40.0),
        ("max", 40.0),
        ("sd", ((40.0 * 40.0 - 1.0) / 12.0_f64).sqrt()),
    ] {
        let found = measured[key].as_f64().unwrap();
        assert!(close(found, expected), "{key}: {found} is not {expected}");
    }
    assert_eq!(told.simulated().sd, Some(0.0));
    // The distances are |i - 7|: most at the 40th, 33² of the sum of squares.
    let sum: i64 = (1..=40).map(|i: i64| (i - 7) * (i - 7)).sum();
    let largest = told.largest().unwrap();
    assert_eq!(largest.share_of_requests, 1.0);
    assert_eq!(largest.measured_ms, 40.0);
    let share = largest.share_of_squares.unwrap();
    assert!(close(share, 33.0 * 33.0 / sum as f64));
    assert_eq!(largest.slowest_hundredth_share_of_squares, Some(share));
}

proptest! {
    /// The definition: the horizontal distance of the distribution functions,
    /// squared, over all shares. Each function is inverted by counting.
    #[test]
    fn the_figure_is_the_distance_of_the_curves(
        both in prop::collection::vec((0..50_000_000_u64, 0..50_000_000_u64), 1..40),
    ) {
        let (measured, simulated): (Vec<_>, Vec<_>) = both.into_iter().unzip();
        let n = measured.len();
        let inverse = |times: &[u64], share: f64| {
            let reaches = |&&time: &&u64| {
                let not_above = times.iter().filter(|&&other| other <= time).count();
                not_above as f64 >= share * n as f64
            };
            *times.iter().filter(reaches).min().unwrap() as f64 / 1e6
        };
        let steps = 8 * n;
        let area: f64 = (0..steps)
            .map(|step| {
                let share = (step as f64 + 0.5) / steps as f64;
                (inverse(&measured, share) - inverse(&simulated, share)).powi(2)
            })
            .sum();
        let expected = (area / steps as f64).sqrt();
        let found = demerit(&measured, &simulated);
        prop_assert!((found - expected).abs() <= 1e-9 * expected.max(1.0), "{found} {expected}");
    }

    /// What is paired within each kind is one way to pair all.
    #[test]
    fn the_class_weighted_figure_is_never_below_that_of_all(
        both in prop::collection::vec((0..1000_u64, 0..1000_u64), 1..60), reads in 0..60_usize,
    ) {
        let (measured, simulated): (Vec<_>, Vec<_>) = both.into_iter().unzip();
        let reads = reads.min(measured.len());
        let kinds = [
            compared(&measured[..reads], &simulated[..reads]),
            compared(&measured[reads..], &simulated[reads..]),
        ];
        let weighted = ClassWeighted::of(&kinds);
        let squares = |kind: &Comparison| {
            kind.requests() as f64 * kind.demerit_ms().unwrap_or(0.0).powi(2)
        };
        let mean = kinds.iter().map(squares).sum::<f64>() / measured.len() as f64;
        prop_assert!((weighted.ms().unwrap() - mean.sqrt()).abs() <= 1e-12 * mean.sqrt());
        let all = compared(&measured, &simulated).demerit_ms().unwrap();
        prop_assert!(weighted.ms().unwrap() >= all);
        prop_assert_eq!(weighted.disagrees(&compared(&measured, &simulated)), mean > 1.5 * all * all);
    }

    /// Of all ways to pair the two sides, none has a lower root mean square.
    #[test]
    fn no_pairing_is_closer(
        both in prop::collection::vec((0..1000_u64, 0..1000_u64), 1..7),
    ) {
        let (measured, mut simulated): (Vec<_>, Vec<_>) = both.into_iter().unzip();
        let figure = demerit(&measured, &simulated);
        let mut least = f64::INFINITY;
        let n = simulated.len();
        orders(&mut simulated, n, &mut |order| {
            let paired = compared(&measured, order);
            assert_eq!(paired.demerit_ms(), Some(figure), "an order changes the figure");
            least = least.min(paired.paired_rms_ms().unwrap());
        });
        prop_assert_eq!(least, figure);
    }
}
