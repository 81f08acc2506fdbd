//! Policies for going inactive.

use super::{Keys, bare_disk, bare_sled, close, pauses, poisson, run};
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::idle_policy::{Policy, PowerPolicySpec};
use sledsim_core::model::Energy;

/// A queue whose server must be set up for `setup_s` when work comes to it
/// while it is empty: it is empty for (1 - rho)/(1 + lambda D) of the time
/// (Welch 1964).
#[test]
fn mean_power_under_immediate_is_that_of_a_queue_with_setup() {
    let lambda = 400.0;
    let requests = poisson(6_000_000, 60_000, 1.0 / lambda, 8, 6);
    let keys = bare_sled(&[("power.policy", "'immediate'")]);
    let (rows, energy, end) = run("g2", &keys, &requests);
    let work_s: f64 = rows.iter().map(|row| (row.parts.seek + row.parts.transfer).s()).sum();
    let rho = lambda * work_s / rows.len() as f64;
    let setup_s = 0.0005;
    let empty = (1.0 - rho) / (1.0 + lambda * setup_s);
    close(energy.inactive_j / end.s(), 0.05 * empty, 0.01);
    close(energy.startup_j / end.s(), 0.1 * lambda * empty * setup_s, 0.01);
    assert_eq!(energy.idle_j, 0.0);
    // The mean response of M/G/1 with setup: that of M/G/1, and the residual
    // of a setup that began with an arrival.
    let service_s: Vec<f64> =
        (rows.iter()).map(|row| (row.parts.seek + row.parts.transfer).s()).collect();
    let mean = work_s / rows.len() as f64;
    let square = service_s.iter().map(|s| s * s).sum::<f64>() / rows.len() as f64;
    let wait = lambda * square / (2.0 * (1.0 - rho));
    let setup = (2.0 * setup_s + lambda * setup_s * setup_s) / (2.0 * (1.0 + lambda * setup_s));
    let response_s = rows.iter().map(|row| row.response().s()).sum::<f64>() / rows.len() as f64;
    close(response_s, mean + wait + setup, 0.02);
}

#[test]
fn never_and_immediate_are_the_limits_of_timeouts() {
    let requests = poisson(6_000_000, 2000, 0.005, 30, 7);
    let of = |keys: &Keys<'_>| run("g2", &bare_sled(keys), &requests);
    let timeout = |ms: &str| of(&[("power.policy", "'timeout'"), ("power.timeout_ms", ms)]);
    assert_eq!(timeout("0"), of(&[("power.policy", "'immediate'")]));
    assert_eq!(timeout("1e9"), of(&[("power.policy", "'never'")]));
    // Between them response rises and falls one way only: fewer wakes.
    let wakes = |(rows, ..): &(Vec<Row>, Energy, Nanos)| {
        rows.iter().filter(|row| row.parts.other > Nanos::ZERO).count()
    };
    let counts: Vec<usize> = ["0", "1", "3", "10", "30"].map(|ms| wakes(&timeout(ms))).to_vec();
    assert!(counts.windows(2).all(|pair| pair[1] < pair[0]), "{counts:?}");
}

#[test]
fn the_old_key_and_the_table_are_equivalent() {
    let requests = poisson(6_000_000, 1000, 0.005, 30, 8);
    let old = run("g2", &[("inactive_after_ms", "4")], &requests);
    let table = [("power.policy", "'timeout'"), ("power.timeout_ms", "4")];
    assert_eq!(old, run("g2", &table, &requests));
    let both = [("inactive_after_ms", "4"), ("power.policy", "'timeout'")];
    assert_eq!(old, run("g2", &both, &requests));
}

/// Idle and inactive energy and wakes of pauses in s, by a timeout.
fn spent_j(pauses: &[f64], after_s: f64, [idle_w, inactive_w, startup_j]: [f64; 3]) -> f64 {
    let of = |&pause: &f64| {
        let ready = pause.min(after_s);
        let wakes = if pause > 0.0 && pause >= after_s { startup_j } else { 0.0 };
        idle_w * ready + inactive_w * (pause - ready) + wakes
    };
    pauses.iter().map(of).sum()
}

/// The energy of the clairvoyant policy: the cheaper choice in each pause.
fn clairvoyant_j(pauses: &[f64], [idle_w, inactive_w, startup_j]: [f64; 3]) -> f64 {
    let of = |pause: &f64| (idle_w * pause).min(inactive_w * pause + startup_j);
    pauses.iter().map(of).sum()
}

#[test]
fn the_break_even_timeout_spends_at_most_twice_what_the_clairvoyant_spends() {
    // 50 uJ for a wake, 50 mW saved: 1 ms. Pauses from far below to far above.
    let powers = [0.1, 0.05, 0.0001 * 0.5];
    let mut random = Stream::new(9, "pauses");
    for scale_ms in [0.3, 1.0, 1.001, 3.0, 30.0] {
        let mut at = 0.0;
        let requests: Vec<Request> = (0..400)
            .map(|id| {
                at +=
                    0.003 + 1e-3 * scale_ms * if random.chance(0.5) { 1.0 } else { random.unit() };
                Request::new(id, Nanos::from_s(at), Op::Read, random.below(6_000_000), 1)
            })
            .collect();
        let waiting = |keys: &Keys<'_>| {
            let (rows, energy, _) = run("g2", &bare_sled(keys), &requests);
            let pauses: Vec<f64> =
                pauses(&rows, Nanos::ZERO).iter().map(|&ns| ns as f64 * 1e-9).collect();
            (energy.idle_j + energy.inactive_j + energy.startup_j, pauses)
        };
        let (ours, seen) = waiting(&[("power.policy", "'timeout'"), ("power.timeout_ms", "1")]);
        close(ours, spent_j(&seen, 0.001, powers), 1e-9);
        let least = clairvoyant_j(&seen, powers);
        assert!(ours <= 2.0 * least && ours >= least, "{scale_ms}: {ours} {least}");
        for policy in ["'never'", "'immediate'", "'adaptive'"] {
            let (theirs, seen) = waiting(&[("power.policy", policy)]);
            assert!(theirs >= clairvoyant_j(&seen, powers) * (1.0 - 1e-9), "{policy}");
        }
    }
}

#[test]
fn an_adaptive_timeout_follows_the_value_of_inactive_periods() {
    let ms = |ms: u64| Nanos(1_000_000 * ms);
    let make = || {
        let choice = PowerPolicySpec::Adaptive {
            first: ms(8),
            least: ms(2),
            most: ms(20),
            break_even: ms(10),
        };
        choice.make()
    };
    let after = |pauses: &[u64]| {
        let mut policy: Box<dyn Policy> = make();
        pauses.iter().for_each(|&pause| policy.ended(ms(pause)));
        policy.inactive_after().expect("it is adaptive")
    };
    assert_eq!(after(&[]), ms(8));
    assert_eq!(after(&[18]), ms(4), "10 ms inactive: worth it");
    assert_eq!(after(&[17]), ms(16), "9 ms inactive: not worth it");
    assert_eq!(after(&[7]), ms(8), "short: nothing learnt");
    assert_eq!(after(&[17, 17]), ms(20), "1 ms inactive; no longer than the longest");
    assert_eq!(after(&[17, 12]), ms(8), "12 ms without a spell were worth one");
    assert_eq!(after(&[100, 100, 100]), ms(2), "no shorter than the shortest");
}

/// CMU-CS-00-136: "switching from active to idle as soon as the I/O queue is empty"
/// (section 7), with a restart of 0.5 ms (section 6.3).
#[test]
fn the_sled_of_osdi2000_stops_when_its_queue_is_empty() {
    let requests = poisson(6_000_000, 2000, 0.002, 30, 9);
    let (rows, energy, _) = run("osdi2000", &bare_sled(&[]), &requests);
    let pauses = pauses(&rows, Nanos::ZERO);
    for (row, pause) in rows.iter().zip(&pauses) {
        let restart = if *pause > 0 { 500_000 } else { 0 };
        assert_eq!(row.parts.other.0, restart, "{row:?}");
    }
    let stops = pauses.iter().filter(|pause| **pause > 0).count();
    assert!((500..1900).contains(&stops), "{stops}");
    assert_eq!(energy.idle_j, 0.0);
    close(energy.startup_j, stops as f64 * 0.1 * 0.0005, 1e-9);
    // The key of g2 and the table say the same.
    let zero = run("g2", &[("inactive_after_ms", "0")], &requests);
    assert_eq!(zero, run("g2", &[("power.policy", "'immediate'")], &requests));
}

#[test]
fn an_adaptive_sled_learns_from_its_pauses() {
    // Pauses of some 99 ms, worth it each time: 8, 4, 2, 1 and 0.5 ms idle.
    let requests: Vec<Request> = (1..=5)
        .map(|id| Request::new(id, Nanos(id * 100_000_000), Op::Read, 1000 * id, 1))
        .collect();
    let keys = [("power.policy", "'adaptive'"), ("power.timeout_ms", "8")];
    let (_, energy, _) = run("g2", &bare_sled(&keys), &requests);
    close(energy.idle_j, 0.1 * 0.0155, 1e-9);
}

#[test]
fn a_pause_as_long_as_the_timeout_makes_inactive() {
    let keys = bare_sled(&[("power.policy", "'timeout'"), ("power.timeout_ms", "5")]);
    let first = Request::new(0, Nanos::ZERO, Op::Read, 1000, 1);
    let (rows, ..) = run("g2", &keys, std::slice::from_ref(&first));
    for (pause, other) in [(4_999_999, 0), (5_000_000, 500_000)] {
        let at = Nanos(rows[0].completion.0 + pause);
        let second = Request::new(1, at, Op::Read, 5000, 1);
        let (rows, ..) = run("g2", &keys, &[first.clone(), second]);
        assert_eq!(rows[1].parts.other, Nanos(other));
    }
}

#[test]
fn an_adaptive_sled_comes_near_the_better_of_both_worlds() {
    let power_of = |mean_s: f64, keys: &Keys<'_>| {
        let requests = poisson(6_000_000, 4000, mean_s, 8, 10);
        let (_, energy, end) = run("g2", &bare_sled(keys), &requests);
        energy.total_j() / end.s()
    };
    for mean_s in [0.0012, 0.2] {
        let never = power_of(mean_s, &[("power.policy", "'never'")]);
        let immediate = power_of(mean_s, &[("power.policy", "'immediate'")]);
        let adaptive = power_of(mean_s, &[("power.policy", "'adaptive'")]);
        println!("{mean_s}: {never} {immediate} {adaptive}");
        assert!(adaptive < never.min(immediate) * 1.06);
    }
}

#[test]
fn a_longer_pause_costs_the_power_of_its_state() {
    let stretched = |ms: u64, keys: &Keys<'_>, name: &str| {
        let requests: Vec<Request> = (0..20)
            .map(|id| Request::new(id, Nanos(id * ms * 1_000_000), Op::Read, id * 70_000, 8))
            .collect();
        let (rows, energy, end) = run(name, keys, &requests);
        assert!(rows.iter().all(|row| row.parts.queue == Nanos::ZERO));
        (energy.total_j(), end.s())
    };
    let sled = bare_sled(&[("power.policy", "'immediate'")]);
    let ready = bare_sled(&[("power.policy", "'never'")]);
    for (keys, watts) in [(sled, 0.05), (ready, 0.1)] {
        let ((short, from), (long, to)) = (stretched(20, &keys, "g2"), stretched(70, &keys, "g2"));
        close((long - short) / (to - from), watts, 1e-6);
    }
    let stopped = bare_disk(&[("power.policy", "'immediate'")]);
    // Pauses of whole revolutions (5.985 ms) find the same angles.
    let revolutions = |n: u64| {
        let requests: Vec<Request> = (0..20)
            .map(|id| Request::new(id, Nanos(id * n * 5_985_037), Op::Read, id * 70_000, 8))
            .collect();
        let (_, energy, end) = run("atlas10k", &stopped, &requests);
        (energy.total_j(), end.s())
    };
    let ((short, from), (long, to)) = (revolutions(20), revolutions(100));
    close((long - short) / (to - from), 1.0, 1e-3);
}
