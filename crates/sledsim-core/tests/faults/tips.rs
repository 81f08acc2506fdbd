//! Losses when many tips fail: the Monte Carlo estimate compared with closed forms, and
//! with every order of failures of small devices.

use sledsim_core::devices::mems::faults::{
    Code, OutOfSpares, TipFailureEstimate, TipFailures, Tips, tip_failures,
};

fn code(data: u32, ecc: u32) -> Code {
    Code { data, ecc, vertical: true }
}

fn study(plan: &TipFailures) -> TipFailureEstimate {
    tip_failures(plan, &mut |_| Ok(())).expect("a study")
}

/// ln of the binomial coefficient.
fn ln_choose(n: u32, k: u32) -> f64 {
    let ln = |n: u32| libm::lgamma(f64::from(n) + 1.0);
    ln(n) - ln(k) - ln(n - k)
}

/// P(a square of `n` tips has more than `ecc` of `failed` among `all`).
fn hypergeometric_tail(all: u32, n: u32, failed: u32, ecc: u32) -> f64 {
    let few: f64 = (0..=ecc.min(failed))
        .filter(|dead| failed - dead <= all - n && *dead <= n)
        .map(|dead| {
            let ways = ln_choose(n, dead) + ln_choose(all - n, failed - dead);
            libm::exp(ways - ln_choose(all, failed))
        })
        .sum();
    1.0 - few
}

/// P(no square has more than `ecc`): the coefficient of x^failed in the product of the
/// polynomials of the squares, over all choices.
fn no_loss(squares: u32, n: u32, failed: u32, ecc: u32) -> f64 {
    let mut ways = vec![0.0; failed as usize + 1];
    ways[0] = 1.0;
    for _ in 0..squares {
        let mut next = vec![0.0; ways.len()];
        for (so_far, way) in ways.iter().enumerate() {
            for dead in 0..=(ecc as usize).min(ways.len() - 1 - so_far) {
                next[so_far + dead] += way * libm::exp(ln_choose(n, dead as u32));
            }
        }
        ways = next;
    }
    ways[failed as usize] / libm::exp(ln_choose(squares * n, failed))
}

#[test]
fn losses_after_the_spares_are_hypergeometric() {
    // Each failure uses up one spare tip, whichever tip failed; failures after the last
    // spare hit the tips in use at random.
    let (squares, k, ecc, spares) = (40, 12, 2, 20);
    let n = k + ecc;
    let plan = TipFailures {
        tips: squares * n + spares,
        spares,
        code: code(k, ecc),
        out_of_spares: OutOfSpares::Tolerance,
        failed: 70,
        trials: 20_000,
        seed: 5,
    };
    let study = study(&plan);
    assert_eq!(study.squares, squares);
    for failed in 0..=plan.failed {
        let unreplaced = failed.saturating_sub(spares);
        let index = failed as usize;
        let lost_share = hypergeometric_tail(squares * n, n, unreplaced, ecc);
        let loss = 1.0 - no_loss(squares, n, unreplaced, ecc);
        // Five standard errors; for the share, as if all squares were correlated.
        let within = |p: f64| 5.0 * (p * (1.0 - p) / 20_000.0).max(0.0).sqrt() + 1e-9;
        let found = study.loss_probability[index];
        assert!((found - loss).abs() <= within(loss), "{failed}: {found} {loss}");
        let found = study.lost_share[index];
        assert!((found - lost_share).abs() <= within(lost_share), "{failed}: {found} {lost_share}");
        assert_eq!(study.capacity_share[index], 1.0);
        assert_eq!(study.spares_left[index], f64::from(spares.saturating_sub(failed)));
    }
    assert!(study.loss_probability[70] > 0.5 && study.loss_probability[20] == 0.0);
}

#[test]
fn giving_up_a_square_frees_its_other_tips() {
    // Out of spares, the square of the failed tip is given up: its n - 1 other tips
    // serve later failures.
    let (squares, k, ecc, spares) = (10, 6, 1, 3);
    let plan = TipFailures {
        tips: squares * (k + ecc) + spares,
        spares,
        code: code(k, ecc),
        out_of_spares: OutOfSpares::Capacity,
        failed: 40,
        trials: 300,
        seed: 6,
    };
    let study = study(&plan);
    let (mut pool, mut given_up) = (spares, 0);
    for failed in 0..=40_usize {
        if failed > 0 {
            (pool, given_up) = match pool {
                0 => (k + ecc - 1, given_up + 1),
                _ => (pool - 1, given_up),
            };
        }
        assert_eq!(study.loss_probability[failed], 0.0);
        let share = 1.0 - f64::from(given_up) / f64::from(squares);
        assert!((study.capacity_share[failed] - share).abs() < 1e-12, "{failed}");
        assert_eq!(study.spares_left[failed], f64::from(pool));
    }
    assert!(given_up >= 5);
}

/// Exact means over every order in which `failed` tips fail, with an independent model
/// of the device: (any loss, squares lost, squares given up).
fn every_order(plan: &TipFailures, squares: u32, failed: usize) -> [f64; 3] {
    let tips: Vec<u32> = (0..plan.tips).collect();
    let mut sums = [0.0; 3];
    let mut orders = 0.0;
    walk(&mut tips.clone(), failed, &mut Vec::new(), &mut |order| {
        let result = by_hand(plan, squares, order);
        orders += 1.0;
        for (sum, value) in sums.iter_mut().zip(result) {
            *sum += value;
        }
    });
    sums.map(|sum| sum / orders)
}

fn walk(left: &mut Vec<u32>, depth: usize, order: &mut Vec<u32>, visit: &mut impl FnMut(&[u32])) {
    if depth == 0 {
        return visit(order);
    }
    for index in 0..left.len() {
        let tip = left.remove(index);
        order.push(tip);
        walk(left, depth - 1, order, visit);
        order.pop();
        left.insert(index, tip);
    }
}

/// Squares as lists of tips, failed ones included.
fn by_hand(plan: &TipFailures, squares: u32, order: &[u32]) -> [f64; 3] {
    let n = plan.code.tips();
    let mut members: Vec<Vec<(u32, bool)>> = (0..squares)
        .map(|square| (square * n..(square + 1) * n).map(|tip| (tip, true)).collect())
        .collect();
    let mut pool: Vec<u32> = (squares * n..plan.tips).collect();
    let (mut lost, mut given_up) = (vec![false; squares as usize], 0.0);
    for tip in order {
        if let Some(place) = pool.iter().position(|spare| spare == tip) {
            pool.remove(place);
            continue;
        }
        for square in 0..members.len() {
            let of = &mut members[square];
            let Some(place) = of.iter().position(|(member, _)| member == tip) else {
                continue;
            };
            of[place].1 = false;
            if of.iter().filter(|(_, good)| !good).count() > plan.code.ecc as usize {
                lost[square] = true;
            }
            if !pool.is_empty() {
                of[place] = (pool.remove(0), true);
            } else if plan.out_of_spares == OutOfSpares::Capacity {
                let good = of.drain(..).filter(|(_, good)| *good);
                pool.extend(good.map(|(tip, _)| tip));
                given_up += 1.0;
            }
        }
    }
    let count = lost.iter().filter(|lost| **lost).count() as f64;
    [f64::from(u32::from(count > 0.0)), count, given_up]
}

#[test]
fn small_devices_match_every_order_of_failures() {
    for (k, ecc, spares, policy) in [
        (2, 0, 1, OutOfSpares::Tolerance),
        (2, 1, 1, OutOfSpares::Tolerance),
        (2, 0, 2, OutOfSpares::Capacity),
        (1, 1, 1, OutOfSpares::Capacity),
        (1, 1, 0, OutOfSpares::Tolerance),
    ] {
        let squares = 3;
        let plan = TipFailures {
            tips: squares * (k + ecc) + spares,
            spares,
            code: code(k, ecc),
            out_of_spares: policy,
            failed: 5,
            trials: 40_000,
            seed: 9,
        };
        let study = study(&plan);
        for failed in 0..=5 {
            let [any, lost, given_up] = every_order(&plan, squares, failed);
            let share = [any, lost / 3.0, 1.0 - given_up / 3.0];
            let found = [
                study.loss_probability[failed],
                study.lost_share[failed],
                study.capacity_share[failed],
            ];
            for (found, share) in found.iter().zip(share) {
                // Five standard errors, at most 0.5 each.
                assert!(
                    (found - share).abs() < 5.0 * 0.5 / 200.0,
                    "{plan:?} {failed}: {found} {share}"
                );
                assert!(share != 0.0 || *found == 0.0);
            }
        }
    }
}

#[test]
fn without_ecc_spare_tips_do_not_preserve_data() {
    // 4 tips in use and 4 spare: the first failure hits data half of the time.
    let plan = TipFailures {
        tips: 8,
        spares: 4,
        code: code(4, 0),
        out_of_spares: OutOfSpares::Tolerance,
        failed: 1,
        trials: 10_000,
        seed: 2,
    };
    let found = study(&plan).loss_probability[1];
    assert!((found - 0.5).abs() < 0.025, "{found}");
    // A new device holds no data.
    let mut tips = Tips::new(plan.code, 1, 4, OutOfSpares::Tolerance);
    assert_eq!(tips.fail(0, false), None);
    assert_eq!((tips.lost(), tips.replaced(), tips.spares()), (0, 1, 3));
}

#[test]
fn results_depend_on_the_seed_only() {
    let plan = TipFailures {
        tips: 6400,
        spares: 20,
        code: code(64, 2),
        out_of_spares: OutOfSpares::Tolerance,
        failed: 100,
        trials: 50,
        seed: 1,
    };
    assert_eq!(study(&plan), study(&plan));
    assert_ne!(study(&plan), study(&TipFailures { seed: 2, ..plan }));
    // 6380 tips are 96 squares of 66 with 44 over, which are spare as well.
    let study = study(&plan);
    assert_eq!((study.squares, study.spares), (96, 64));
    assert!((study.data_share - 96.0 * 64.0 / 6400.0).abs() < 1e-15);
}

#[test]
fn invalid_parameters_are_refused_by_name() {
    let good = TipFailures {
        tips: 100,
        spares: 10,
        code: code(8, 1),
        out_of_spares: OutOfSpares::Tolerance,
        failed: 10,
        trials: 10,
        seed: 1,
    };
    for (plan, name) in [
        (TipFailures { spares: 100, ..good }, "spare_tips = 100"),
        (TipFailures { code: code(101, 0), ..good }, "data_tips = 101"),
        (TipFailures { code: code(0, 1), ..good }, "data_tips = 0"),
        (TipFailures { code: code(50, 41), ..good }, "ecc_tips = 41"),
        (TipFailures { failed: 101, ..good }, "failed_tips = 101"),
        (TipFailures { trials: 0, ..good }, "trials = 0"),
        (TipFailures { tips: 0, spares: 0, ..good }, "tips = 0"),
    ] {
        let error = tip_failures(&plan, &mut |_| Ok(())).expect_err(name);
        let text = error.to_string();
        assert!(text.starts_with(name) && text.contains("must"), "{text}");
    }
}
