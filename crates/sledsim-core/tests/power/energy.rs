//! Is energy power times time, and do policies and savings do what physics says?

use crate::common::sleds::sled;
use crate::common::{DISK_POWER, csv, device, reference, run_open};
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::model::{Energy, Model};
use sledsim_core::power::{Choice, Policy};
use sledsim_core::queueing::schedulers::Fcfs;

type Keys<'a> = [(&'a str, &'a str)];

fn disk_keys<'a>(more: &Keys<'a>) -> Vec<(&'a str, &'a str)> {
    DISK_POWER.iter().chain(more).copied().collect()
}

/// Without overhead, bus and buffer, so that rows tell all.
fn bare_disk<'a>(more: &Keys<'a>) -> Vec<(&'a str, &'a str)> {
    let bare = [
        ("buffer.keep", "'nothing'"),
        ("buffer.read_ahead", "'none'"),
        ("buffer.read_free_blocks", "false"),
        ("buffer.whole_track", "false"),
        ("buffer.write_back", "'none'"),
        ("overheads.write_miss_after_read_ms", "0"),
        ("overheads.write_miss_after_write_ms", "0"),
        ("bus_ms_per_block", "0"),
    ];
    disk_keys(&[&bare[..], more].concat())
}

fn bare_sled<'a>(more: &Keys<'a>) -> Vec<(&'a str, &'a str)> {
    let bare = [("command_overhead_ms", "0"), ("bus_ms_per_block", "0")];
    [&bare[..], more].concat()
}

fn model(name: &str, keys: &Keys<'_>) -> Box<dyn Model> {
    device(name, keys).build(&|| Box::<Fcfs>::default()).0
}

fn energy(model: &dyn Model, until: Nanos) -> Energy {
    let mut reports = Vec::new();
    model.report(until, &mut reports);
    reports[0].energy
}

/// Requests of up to `most` blocks after exponential pauses.
fn poisson(blocks: u64, requests: u64, mean_s: f64, most: u64, seed: u64) -> Vec<Request> {
    let mut random = Stream::new(seed, "power");
    let mut at = 0.0;
    (0..requests)
        .map(|id| {
            at += random.exponential(mean_s);
            let size = 1 + random.below(most);
            let op = if random.chance(0.67) {
                Op::Read
            } else {
                Op::Write
            };
            let lbn = random.below(blocks - size);
            Request::new(id, Nanos::from_s(at), op, lbn, size as u32)
        })
        .collect()
}

fn run(name: &str, keys: &Keys<'_>, requests: &[Request]) -> (Vec<Row>, Energy, Nanos) {
    let mut model = model(name, keys);
    let rows = run_open(&mut *model, requests).done;
    let end = rows.iter().map(|row| row.completion).max().expect("rows");
    let energy = energy(&*model, end);
    (rows, energy, end)
}

fn close(ours: f64, theirs: f64, tolerance: f64) {
    assert!((ours / theirs - 1.0).abs() < tolerance, "{ours} {theirs}");
}

/// Pauses of the mechanism before each row, in ns; rows in the order of service.
fn pauses(rows: &[Row], ready: Nanos) -> Vec<u64> {
    let mut free = ready;
    rows.iter()
        .map(|row| {
            let pause = row.start.since(free);
            free = free.max(row.completion - row.parts.bus);
            pause.0
        })
        .collect()
}

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
            assert!(
                (ms - row[16].parse::<f64>().unwrap()).abs() < 3e-6,
                "{row:?}"
            );
            at += service.parts.total();
            sum_nj += service.energy_nj;
        }
        let mean_uj = 1e-3 * sum_nj as f64 / rows.len() as f64;
        println!("{name} {mean_uj}");
        assert!((mean_uj - expected_uj).abs() < 0.01, "{name}: {mean_uj}");
        close(sled.energy(at).total_j(), 1e-9 * sum_nj as f64, 1e-6);
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
    for (policy, after_ms) in [
        ("'never'", f64::INFINITY),
        ("'immediate'", 0.0),
        ("'timeout'", after_ms),
    ] {
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
        close(
            waiting_j,
            0.1 * idle_s + 0.05 * inactive_s + 0.1 * 0.0005 * wakes,
            1e-9,
        );
        assert_eq!(energy.inactive_j > 0.0, policy != "'never'");
    }
}

#[test]
fn the_energy_of_a_disk_is_the_integral_of_power_over_its_states() {
    let requests = poisson(17_000_000, 2000, 0.1, 30, 3);
    for (policy, after_s) in [
        ("'never'", f64::INFINITY),
        ("'immediate'", 0.0),
        ("'timeout'", 0.08),
    ] {
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
    let (bare, none, _) = run("atlas10k", &[], &requests);
    let (kept, some, _) = run("atlas10k", &disk_keys(&[]), &requests);
    let without = |row: &Row| Row {
        energy_nj: 0,
        ..*row
    };
    assert_eq!(bare, kept.iter().map(without).collect::<Vec<_>>());
    assert_eq!(none, Energy::default());
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

/// A queue whose server must be set up for `setup_s` when work comes to it
/// while it is empty: it is empty for (1 - rho)/(1 + lambda D) of the time
/// (Welch 1964).
#[test]
fn mean_power_under_immediate_is_that_of_a_queue_with_setup() {
    let lambda = 400.0;
    let requests = poisson(6_000_000, 60_000, 1.0 / lambda, 8, 6);
    let keys = bare_sled(&[("power.policy", "'immediate'")]);
    let (rows, energy, end) = run("g2", &keys, &requests);
    let work_s: f64 = rows
        .iter()
        .map(|row| (row.parts.seek + row.parts.transfer).s())
        .sum();
    let rho = lambda * work_s / rows.len() as f64;
    let setup_s = 0.0005;
    let empty = (1.0 - rho) / (1.0 + lambda * setup_s);
    close(energy.inactive_j / end.s(), 0.05 * empty, 0.01);
    close(
        energy.startup_j / end.s(),
        0.1 * lambda * empty * setup_s,
        0.01,
    );
    assert_eq!(energy.idle_j, 0.0);
    // The mean response of M/G/1 with setup: that of M/G/1, and the residual
    // of a setup that began with an arrival.
    let service_s: Vec<f64> = (rows.iter())
        .map(|row| (row.parts.seek + row.parts.transfer).s())
        .collect();
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
        rows.iter()
            .filter(|row| row.parts.other > Nanos::ZERO)
            .count()
    };
    let counts: Vec<usize> = ["0", "1", "3", "10", "30"]
        .map(|ms| wakes(&timeout(ms)))
        .to_vec();
    assert!(
        counts.windows(2).all(|pair| pair[1] < pair[0]),
        "{counts:?}"
    );
}

#[test]
fn the_old_key_and_the_table_say_the_same() {
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
        let wakes = if pause > 0.0 && pause >= after_s {
            startup_j
        } else {
            0.0
        };
        idle_w * ready + inactive_w * (pause - ready) + wakes
    };
    pauses.iter().map(of).sum()
}

/// What the clairvoyant spends: of each pause the cheaper way.
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
                at += 0.003
                    + 1e-3
                        * scale_ms
                        * if random.chance(0.5) {
                            1.0
                        } else {
                            random.unit()
                        };
                Request::new(id, Nanos::from_s(at), Op::Read, random.below(6_000_000), 1)
            })
            .collect();
        let waiting = |keys: &Keys<'_>| {
            let (rows, energy, _) = run("g2", &bare_sled(keys), &requests);
            let pauses: Vec<f64> = pauses(&rows, Nanos::ZERO)
                .iter()
                .map(|&ns| ns as f64 * 1e-9)
                .collect();
            (energy.idle_j + energy.inactive_j + energy.startup_j, pauses)
        };
        let (ours, seen) = waiting(&[("power.policy", "'timeout'"), ("power.timeout_ms", "1")]);
        close(ours, spent_j(&seen, 0.001, powers), 1e-9);
        let least = clairvoyant_j(&seen, powers);
        assert!(
            ours <= 2.0 * least && ours >= least,
            "{scale_ms}: {ours} {least}"
        );
        for policy in ["'never'", "'immediate'", "'adaptive'"] {
            let (theirs, seen) = waiting(&[("power.policy", policy)]);
            assert!(
                theirs >= clairvoyant_j(&seen, powers) * (1.0 - 1e-9),
                "{policy}"
            );
        }
    }
}

#[test]
fn an_adaptive_timeout_follows_what_spells_are_worth() {
    let ms = |ms: u64| Nanos(1_000_000 * ms);
    let make = || {
        let choice = Choice::Adaptive {
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
    assert_eq!(
        after(&[17, 17]),
        ms(20),
        "1 ms inactive; no longer than the longest"
    );
    assert_eq!(
        after(&[17, 12]),
        ms(8),
        "12 ms without a spell were worth one"
    );
    assert_eq!(
        after(&[100, 100, 100]),
        ms(2),
        "no shorter than the shortest"
    );
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

#[test]
fn fewer_active_tips_take_longer_and_draw_less_at_once() {
    // A row of 20 blocks: with 5 at once four passes over the same row.
    let read = |id, blocks| Request::new(id, Nanos(id * 20_000_000), Op::Read, 5_400, blocks);
    let requests = [read(0, 20), read(1, 5), read(2, 20), read(3, 1)];
    let of = |tips: &str| {
        run(
            "g2",
            &bare_sled(&[("power.max_active_tips", tips)]),
            &requests,
        )
    };
    let (all, all_j, _) = of("1280");
    let (few, few_j, _) = of("320");
    let bare = run("g2", &bare_sled(&[]), &requests);
    assert_eq!(
        (all.clone(), all_j),
        (bare.0, bare.1),
        "1280 is what g2 has"
    );
    assert_eq!(
        all.iter().map(|row| row.passes).collect::<Vec<_>>(),
        [1, 1, 1, 1]
    );
    assert_eq!(
        few.iter().map(|row| row.passes).collect::<Vec<_>>(),
        [4, 1, 4, 1]
    );
    // Going back over the same row costs a turnaround; .0398 to .279 ms.
    let again = few[0].parts.seek - all[0].parts.seek;
    assert!(again.0 > 3 * 39_800 && again.0 < 3 * 279_000, "{again}");
    // The tips that are asked for draw as much, four times a quarter.
    let tips_j = |energy: &Energy, rows: &[Row]| {
        let transfer_s: f64 = rows.iter().map(|row| row.parts.transfer.s()).sum();
        energy.transfer_j - 0.1 * transfer_s
    };
    close(tips_j(&all_j, &all), tips_j(&few_j, &few), 1e-5);
    // Where the data are does not depend on it.
    let places = |tips: &str| {
        let keys = [("power.max_active_tips", tips)];
        let device = device("g2", &keys);
        let geometry = device.mems().expect("a sled").geometry;
        (0..5000)
            .map(|n| geometry.locate(n * 1337))
            .collect::<Vec<_>>()
    };
    assert_eq!(places("64"), places("1280"));
}

/// Energy of the tips in a run: of the transfer, all but the sled.
fn tips_j(keys: &Keys<'_>, requests: &[Request]) -> (f64, Vec<Row>) {
    let (mut rows, energy, _) = run("g2", &bare_sled(keys), requests);
    let transfer_s: f64 = rows.iter().map(|row| row.parts.transfer.s()).sum();
    rows.iter_mut().for_each(|row| row.energy_nj = 0);
    (energy.transfer_j - 0.1 * transfer_s, rows)
}

#[test]
fn compression_saves_its_share_of_the_tips_and_no_time() {
    let requests = poisson(6_000_000, 500, 0.01, 40, 11);
    let (all, rows) = tips_j(&[], &requests);
    for (share, value) in [("0.5", 0.5), ("0.25", 0.25)] {
        let (compressed, same) = tips_j(&[("power.compressed_to", share)], &requests);
        close(compressed, value * all, 1e-5);
        assert_eq!(rows, same);
    }
}

#[test]
fn a_read_of_a_part_of_a_block_powers_the_tips_that_hold_it() {
    let keys = [("power.small_read_bytes", "100")];
    let at = |id: u64| Nanos(id * 20_000_000);
    let ratio = |op, blocks| {
        let requests: Vec<Request> = (0..50)
            .map(|id| Request::new(id, at(id), op, id * 1000, blocks))
            .collect();
        let ((all, rows), (some, same)) = (tips_j(&[], &requests), tips_j(&keys, &requests));
        assert_eq!(rows, same);
        some / all
    };
    // 100 bytes lie in 13 tip sectors of 8 bytes, of 64.
    close(ratio(Op::Read, 1), 13.0 / 64.0, 1e-5);
    close(ratio(Op::Read, 2), 1.0, 1e-9);
    close(ratio(Op::Write, 1), 1.0, 1e-9);
    // Of several extents those of one block count.
    let extents: [Extent; 2] = [(0, 1), (100, 3)].map(|(lbn, blocks)| Extent { lbn, blocks });
    let mut request = Request::new(0, Nanos::ZERO, Op::Read, 0, 1);
    request.extents = extents.into_iter().collect();
    let ((all, _), (some, _)) = (tips_j(&[], &[request.clone()]), tips_j(&keys, &[request]));
    close(some / all, (13.0 / 64.0 + 3.0) / 4.0, 1e-4);
    // Compressed, as much less.
    let both = [keys[0], ("power.compressed_to", "0.5")];
    let (less, _) = tips_j(&both, &[Request::new(0, Nanos::ZERO, Op::Read, 0, 1)]);
    let (block, _) = tips_j(&[], &[Request::new(0, Nanos::ZERO, Op::Read, 0, 1)]);
    close(less / block, 0.5 * 13.0 / 64.0, 1e-4);
}

#[test]
fn a_device_that_starts_off_makes_the_first_requests_wait_until_it_is_ready() {
    let requests: Vec<Request> = (0..3)
        .map(|id| Request::new(id, Nanos(100_000 * id), Op::Read, 5000 * id, 8))
        .collect();
    let off = [("power.starts", "'off'")];
    let (rows, energy, _) = run("g2", &bare_sled(&off), &requests);
    let (ready, plain, _) = run("g2", &bare_sled(&[]), &requests);
    // 0.5 ms until ready; then as if all had come by then.
    assert_eq!(rows[0].parts.other, Nanos(500_000));
    assert_eq!(rows[0].completion, ready[0].completion + Nanos(500_000));
    close(energy.startup_j, 0.1 * 0.0005, 1e-9);
    assert_eq!(plain.startup_j, 0.0);
    // It draws nothing before power comes on.
    let later = [
        ("power.starts", "'off'"),
        ("power.on_at_ms", "7"),
        ("power.initialise_ms", "2"),
    ];
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
    assert!(
        requests_j < 1.0,
        "the first start is nobody's: {requests_j}"
    );
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
    let requests = [
        read(0, 0, 4000),
        read(1, 1000, 4000),
        read(2, 2000, 9_000_000),
    ];
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
                let most = if random.chance(0.3) {
                    3_000_000_000
                } else {
                    10_000_000
                };
                at += random.below(most);
                let op = if random.chance(0.6) {
                    Op::Read
                } else {
                    Op::Write
                };
                let lbn = if random.chance(0.6) {
                    4000
                } else {
                    random.below(17_000_000)
                };
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
        assert!(
            standing > if policy == "'immediate'" { 0.8 } else { 0.3 },
            "{policy} {standing}"
        );
    }
}

#[test]
fn writing_one_block_again_and_again_takes_a_revolution_or_a_turnaround() {
    let again = |name: &str, keys: &Keys<'_>, lbn: u64| {
        let mut model = model(name, keys);
        let mut at = Nanos(1_000_000);
        let mut periods = Vec::new();
        for id in 0..12 {
            let request = Request::new(id, at, Op::Write, lbn, 1);
            let rows = run_open(&mut *model, &[request]).done;
            periods.push(rows[0].completion - at);
            at = rows[0].completion;
        }
        periods.split_off(2)
    };
    let revolution = 60.0 / 10_025.0;
    for period in again("atlas10k", &bare_disk(&[]), 5_000_000) {
        close(period.s(), revolution, 1e-6);
    }
    // A row of 90 bits at 700 kbit/s, on over the 10 servo bits of the other
    // direction (14.3 us at the speed of access, less with a push), and a turnaround:
    // .0697 ms at the centre, here 2 um outward of it less by 3 %.
    let centre = device("g2", &[]).mems().expect("a sled").geometry;
    let lbn = (0..centre.blocks())
        .step_by(20)
        .find(|&lbn| centre.locate(lbn).row == 13);
    for period in again("g2", &bare_sled(&[]), lbn.expect("a row")) {
        let turn_ms = period.ms() - 90.0 / 700.0;
        assert!((0.0677..0.0677 + 0.0144).contains(&turn_ms), "{turn_ms}");
    }
}

#[test]
fn mistakes_are_named() {
    let error = |name: &str, keys: &Keys<'_>| {
        let keys: Vec<_> = keys
            .iter()
            .map(|(key, value)| {
                (
                    (*key).to_owned(),
                    value.parse().expect("TOML"),
                    format!("--set {key}"),
                )
            })
            .collect();
        let error = sledsim_core::catalog::Device::resolve(name, &keys);
        error.expect_err("a mistake").to_string()
    };
    let timeout = ("power.policy", "'timeout'");
    let cases: [(&str, &Keys<'_>, &[&str]); 9] = [
        (
            "g2",
            &[timeout, ("power.timeout_ms", "-1")],
            &["power.timeout_ms", "-1", "0"],
        ),
        (
            "g2",
            &[("power.policy", "'always'")],
            &["power.policy", "always", "immediate"],
        ),
        (
            "g2",
            &[("power.timeout_ms", "5")],
            &["power.timeout_ms", "policy"],
        ),
        (
            "g2",
            &[timeout, ("power.break_even_ms", "5")],
            &["break_even_ms", "adaptive"],
        ),
        (
            "g2",
            &[("power.max_active_tips", "100")],
            &["max_active_tips", "multiple", "64"],
        ),
        (
            "g2",
            &[("power.max_active_tips", "1344")],
            &["max_active_tips", "1280"],
        ),
        (
            "g2",
            &[("power.compressed_to", "1.5")],
            &["compressed_to", "1.5"],
        ),
        ("g2", &[("power.on_at_ms", "5")], &["on_at_ms", "starts"]),
        ("atlas10k", &[timeout], &["power.seek_w", "missing"]),
    ];
    for (name, keys, words) in cases {
        let message = error(name, keys);
        for word in words {
            assert!(message.contains(word), "{message} lacks {word}");
        }
        assert!(!message.contains('\n'));
    }
}
