//! Energy is power times time, over all states.

use super::{bare_disk, bare_sled, close, disk_keys, energy, model, pauses, poisson, run};
use crate::common::sleds::sled;
use crate::common::{csv, reference, reports, run_open};
use sledsim_base::request::{Op, Request};
use sledsim_base::row::{Row, UNKNOWN_ENERGY};
use sledsim_base::units::Nanos;

#[test]
fn requests_of_the_reference_take_the_energy_published_for_disksim() {
    for (name, expected_uj) in [("g2", 143.20), ("g1", 246.26), ("g3", 103.89)] {
        let file = format!("reference/disksim/{name}_closed_s1.csv.gz");
        let Some(path) = reference(&file) else { return };
        let mut sled = sled(name, &[("kinematics", "'disksim'")]);
        let (mut at, mut sum_nj) = (Nanos::ZERO, 0);
        let rows = csv(&path);
        for (id, row) in rows.iter().enumerate() {
            let (lbn, blocks) = (row[1].parse().unwrap(), row[2].parse().unwrap());
            let op = if row[3] == "R" { Op::Read } else { Op::Write };
            let request = Request::new(id as u64, at, op, lbn, blocks);
            let service = sled.serve(at, &request, &mut Vec::new());
            let ms = service.parts.total().ms();
            assert!((ms - row[16].parse::<f64>().unwrap()).abs() < 3e-6, "{row:?}");
            at += service.parts.total();
            sum_nj += service.energy_nj;
        }
        let mean_uj = 1e-3 * sum_nj as f64 / rows.len() as f64;
        println!("{name} {mean_uj}");
        assert!((mean_uj - expected_uj).abs() < 0.01, "{name}: {mean_uj}");
        close(sled.energy(at).expect("energy").total_j(), 1e-9 * sum_nj as f64, 1e-6);
    }
}

#[test]
fn causes_add_up_to_the_total_to_the_last_bit() {
    let requests = poisson(6_000_000, 500, 0.02, 30, 1);
    for policy in ["'never'", "'immediate'", "'adaptive'"] {
        for (name, keys) in [
            ("g2", bare_sled(&[("power.policy", policy)])),
            ("atlas10k", disk_keys(&[("power.policy", policy)])),
        ] {
            let (_, energy, _) = run(name, &keys, &requests);
            let mut sum = 0.0;
            for (_, joules) in energy.by_cause() {
                assert!(joules >= 0.0);
                sum += joules;
            }
            assert_eq!(sum.to_bits(), energy.total_j().to_bits());
        }
    }
}

#[test]
fn the_energy_of_a_sled_is_the_integral_of_power_over_its_states() {
    let requests = poisson(6_000_000, 3000, 0.008, 60, 2);
    let after_ms = 6.0;
    for (policy, after_ms) in
        [("'never'", f64::INFINITY), ("'immediate'", 0.0), ("'timeout'", after_ms)]
    {
        let mut keys = bare_sled(&[("power.policy", policy)]);
        if policy == "'timeout'" {
            keys.push(("power.timeout_ms", "6"));
        }
        let (rows, energy, _) = run("g2", &keys, &requests);
        let (mut idle_s, mut inactive_s, mut wakes) = (0.0, 0.0, 0.0);
        let (mut seek_s, mut tips_s, mut transfer_s) = (0.0, 0.0, 0.0);
        for (row, pause) in rows.iter().zip(pauses(&rows, Nanos::ZERO)) {
            let pause_s = pause as f64 * 1e-9;
            let ready_s = pause_s.min(1e-3 * after_ms);
            idle_s += ready_s;
            inactive_s += pause_s - ready_s;
            let wakes_now = pause > 0 && pause_s >= 1e-3 * after_ms;
            assert_eq!(row.parts.other, Nanos(500_000 * u64::from(wakes_now)));
            wakes += f64::from(u8::from(wakes_now));
            seek_s += row.parts.seek.s();
            transfer_s += row.parts.transfer.s();
            // Every pass takes as long; 64 tips for each block.
            let pass_s = row.parts.transfer.s() / f64::from(row.passes);
            tips_s += 64.0 * f64::from(row.blocks) * pass_s;
        }
        close(energy.seek_j, 0.1 * seek_s, 1e-6);
        close(energy.transfer_j, 0.1 * transfer_s + 0.001 * tips_s, 1e-5);
        let waiting_j = energy.idle_j + energy.inactive_j + energy.startup_j;
        close(waiting_j, 0.1 * idle_s + 0.05 * inactive_s + 0.1 * 0.0005 * wakes, 1e-9);
        assert_eq!(energy.inactive_j > 0.0, policy != "'never'");
    }
}

#[test]
fn the_energy_of_a_disk_is_the_integral_of_power_over_its_states() {
    let requests = poisson(17_000_000, 2000, 0.1, 30, 3);
    for (policy, after_s) in [("'never'", f64::INFINITY), ("'immediate'", 0.0), ("'timeout'", 0.08)]
    {
        let mut keys = bare_disk(&[("power.policy", policy)]);
        if policy == "'timeout'" {
            keys.push(("power.timeout_ms", "80"));
        }
        let (rows, energy, end) = run("atlas10k", &keys, &requests);
        let mut total = 0.0;
        let mut wakes = 0;
        for (row, pause) in rows.iter().zip(pauses(&rows, Nanos::ZERO)) {
            let pause_s = pause as f64 * 1e-9;
            let ready_s = pause_s.min(after_s);
            let wakes_now = pause > 0 && pause_s >= after_s;
            let waited = Nanos(40_000_000 * u64::from(wakes_now));
            assert_eq!(row.parts.other, waited);
            wakes += u64::from(wakes_now);
            let parts = row.parts;
            let request_j = 20.0 * parts.other.s()
                + 12.5 * parts.seek.s()
                + 12.0 * parts.transfer.s()
                + 7.5 * (parts.rotation + parts.head_switch).s();
            assert!((1e9 * request_j - row.energy_nj as f64).abs() <= 1.0);
            total += 7.5 * ready_s + 1.0 * (pause_s - ready_s) + request_j;
        }
        close(energy.total_j(), total, 1e-9);
        assert!(wakes == 0 || policy != "'never'");
        println!("{policy} {wakes} wakes, {} W", total / end.s());
    }
}

#[test]
fn without_power_keys_a_disk_is_as_with_a_spindle_that_never_stops() {
    let requests = poisson(17_000_000, 3000, 0.012, 60, 4);
    let mut unknown = model("atlas10k", &[]);
    let bare = run_open(&mut *unknown, &requests).done;
    let reports = reports(&*unknown, bare[2999].completion);
    let (kept, some, _) = run("atlas10k", &disk_keys(&[]), &requests);
    let without = |row: &Row| Row { energy_nj: UNKNOWN_ENERGY, ..*row };
    assert_eq!(bare, kept.iter().map(without).collect::<Vec<_>>());
    assert_eq!(reports[0].energy, None);
    assert!(some.read_ahead_j > 0.0 && some.destage_j > 0.0 && some.seek_j > 0.0);
}

#[test]
fn energy_never_falls_and_lies_between_the_powers_there_are() {
    let requests = poisson(17_000_000, 400, 0.05, 60, 5);
    for policy in ["'never'", "'immediate'", "'adaptive'"] {
        let mut model = model("atlas10k", &disk_keys(&[("power.policy", policy)]));
        let (mut before, mut since) = (0.0, Nanos::ZERO);
        for request in &requests {
            run_open(&mut *model, std::slice::from_ref(request));
            let at = Nanos(request.arrival.0 + 200_000_000);
            let total = energy(&*model, at).total_j();
            assert!(total >= before);
            (before, since) = (total, since.max(at));
        }
        let mean_w = before / since.s();
        assert!((1.0..20.0).contains(&mean_w), "{mean_w}");
    }
}
