//! Devices that start, and spindles that stop.

use super::{bare_disk, bare_sled, close, disk_keys, energy, model, run};
use crate::common::run_open;
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::model::Model;

#[test]
fn a_device_that_starts_off_makes_the_first_requests_wait_until_it_is_ready() {
    let requests: Vec<Request> =
        (0..3).map(|id| Request::new(id, Nanos(100_000 * id), Op::Read, 5000 * id, 8)).collect();
    let off = [("power.starts", "'off'")];
    let (rows, energy, _) = run("g2", &bare_sled(&off), &requests);
    let (ready, plain, _) = run("g2", &bare_sled(&[]), &requests);
    // 0.5 ms until ready; then as if all had come by then.
    assert_eq!(rows[0].parts.other, Nanos(500_000));
    assert_eq!(rows[0].completion, ready[0].completion + Nanos(500_000));
    close(energy.startup_j, 0.1 * 0.0005, 1e-9);
    assert_eq!(plain.startup_j, 0.0);
    // It draws nothing before power comes on.
    let later = [("power.starts", "'off'"), ("power.on_at_ms", "7"), ("power.initialise_ms", "2")];
    let mut model = model("g2", &bare_sled(&later));
    assert_eq!(energy_at(&*model, 6.9), 0.0);
    close(energy_at(&*model, 8.0), 0.1 * 0.001, 1e-9);
    close(energy_at(&*model, 10.0), 0.1 * 0.003, 1e-9);
    let rows = run_open(&mut *model, &requests).done;
    assert_eq!(rows[0].parts.other, Nanos(9_000_000));
    // A disk takes 25 s (CMU-CS-00-136 section 6.3).
    let slow = [off[0], ("power.initialise_ms", "25_000")];
    let (rows, energy, _) = run("atlas10k", &bare_disk(&slow), &requests);
    assert!(rows[0].completion > Nanos::from_s(25.0) && rows[0].completion < Nanos::from_s(25.03));
    close(energy.startup_j, 20.0 * 25.0, 1e-9);
    let requests_j: f64 = rows.iter().map(|row| row.energy_nj as f64 * 1e-9).sum();
    assert!(requests_j < 1.0, "no request pays for the first start: {requests_j}");
}

fn energy_at(model: &dyn Model, ms: f64) -> f64 {
    energy(model, Nanos::from_ms(ms)).total_j()
}

#[test]
fn after_a_pause_a_disk_has_the_angle_and_the_arm_it_would_have_had() {
    // One request, a pause, and one that the turning disk serves at once: the
    // stopped one serves it as one that comes 40 ms later.
    let at = Nanos(800_000_000);
    let first = Request::new(0, Nanos::ZERO, Op::Read, 3_000_000, 8);
    let second = |at| Request::new(1, at, Op::Read, 9_000_000, 8);
    let never = bare_disk(&[("power.policy", "'never'")]);
    let stops = bare_disk(&[("power.policy", "'timeout'"), ("power.timeout_ms", "100")]);
    let up = at + Nanos(40_000_000);
    let (turning, ..) = run("atlas10k", &never, &[first.clone(), second(up)]);
    let (stopped, ..) = run("atlas10k", &stops, &[first, second(at)]);
    assert_eq!(turning[1].completion, stopped[1].completion);
    assert_eq!(turning[1].parts.rotation, stopped[1].parts.rotation);
    assert_eq!(stopped[1].parts.other, Nanos(40_000_000));
}

#[test]
fn a_read_from_the_buffer_starts_no_spindle() {
    let keys = disk_keys(&[("power.policy", "'timeout'"), ("power.timeout_ms", "200")]);
    let read = |id, at_ms: u64, lbn| Request::new(id, Nanos(at_ms * 1_000_000), Op::Read, lbn, 8);
    let requests = [read(0, 0, 4000), read(1, 1000, 4000), read(2, 2000, 9_000_000)];
    let (rows, energy, _) = run("atlas10k", &keys, &requests);
    // It stands still until the third, but for 200 ms and what it reads first.
    assert!((1.76..1.79).contains(&energy.inactive_j), "{energy:?}");
    assert_eq!(rows[1].parts.other, Nanos::ZERO);
    assert!(rows[1].response() < Nanos(2_000_000));
    assert_eq!(rows[2].parts.other, Nanos(40_000_000));
    // A write is taken by the buffer at once, and then starts it.
    let write = Request::new(0, Nanos(1_000_000_000), Op::Write, 4000, 8);
    let (rows, energy, _) = run("atlas10k", &keys, &[write]);
    assert!(rows[0].response() < Nanos(2_000_000));
    close(energy.startup_j, 20.0 * 0.040, 1e-9);
    assert!(energy.destage_j > 0.0);
}

#[test]
fn the_states_of_a_disk_with_a_buffer_fill_the_time() {
    // Hits and buffered writes among others, in bursts with pauses.
    for (policy, seed) in [("'immediate'", 20), ("'timeout'", 21), ("'adaptive'", 22)] {
        let mut keys = disk_keys(&[("power.policy", policy)]);
        if policy == "'timeout'" {
            keys.push(("power.timeout_ms", "300"));
        }
        // So that each state has one power.
        keys.retain(|(key, _)| *key != "power.seek_w" && *key != "power.transfer_w");
        keys.extend([("power.seek_w", "7.5"), ("power.transfer_w", "7.5")]);
        let mut random = Stream::new(seed, "bursts");
        let mut at = 0;
        let requests: Vec<Request> = (0..600)
            .map(|id| {
                let most = if random.chance(0.3) { 3_000_000_000 } else { 10_000_000 };
                at += random.below(most);
                let op = if random.chance(0.6) { Op::Read } else { Op::Write };
                let lbn = if random.chance(0.6) { 4000 } else { random.below(17_000_000) };
                Request::new(id, Nanos(at), op, lbn, 8)
            })
            .collect();
        let mut model = model("atlas10k", &keys);
        run_open(&mut *model, &requests);
        let end = Nanos(at + 10_000_000_000);
        let energy = energy(&*model, end);
        let turning_j = energy.total_j() - energy.inactive_j - energy.startup_j;
        let all_s = turning_j / 7.5 + energy.inactive_j / 1.0 + energy.startup_j / 20.0;
        close(all_s, end.s(), 1e-6);
        let standing = energy.inactive_j / end.s();
        assert!(standing > if policy == "'immediate'" { 0.8 } else { 0.3 }, "{policy} {standing}");
    }
}
