//! Random numbers: independent, uniform, geometric.

use super::{chi_square, correlation, five_errors, mean};
use sledsim_base::random::{Geometric, Stream};

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
        let differing = base.iter().zip(&other).map(|(a, b)| f64::from((a ^ b).count_ones()));
        assert!((mean(differing) - 32.0).abs() < five_errors(4.0, n));
        let pairs: Vec<_> = base.iter().zip(&other).map(|(&a, &b)| (a as f64, b as f64)).collect();
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
        assert!((found - mean_size).abs() <= five_errors(sd, n), "{mean_size}: {found}");
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
