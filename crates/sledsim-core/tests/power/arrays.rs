//! Requests that are merged, and devices that start one after the other.

use crate::common::{device, energy, run_open};
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::model::{Energy, Model};
use sledsim_core::queueing::schedulers::SchedulerSpec;

fn model(name: &str, keys: &[(&str, &str)], scheduler: &str) -> Box<dyn Model> {
    let choice = SchedulerSpec::named(scheduler).expect("a scheduler");
    device(name, keys).build_with(&choice).expect("a model").0
}

/// Rows by id and the energy until the last is complete.
fn run(keys: &[(&str, &str)], scheduler: &str, requests: &[Request]) -> (Vec<Row>, Energy) {
    let mut model = model("g2", keys, scheduler);
    let mut rows = run_open(&mut *model, requests).done;
    rows.sort_by_key(|row| row.id);
    let end = rows.iter().map(|row| row.completion).max().expect("rows");
    let energy = energy(&*model, end);
    (rows, energy)
}

const MERGED: (&str, &str) = ("batching.kind", "'adjacent'");
const BARE: [(&str, &str); 2] = [("command_overhead_ms", "0"), ("bus_ms_per_block", "0")];

fn merged() -> Vec<(&'static str, &'static str)> {
    [&BARE[..], &[MERGED]].concat()
}

#[test]
fn adjoining_waiting_requests_share_a_pass_and_have_separate_rows() {
    // While the first is served, the parts of the row 0..20 of cylinder 0 come
    // in any order, and one block that is not beside them.
    let at = Nanos(1000);
    let mut requests = vec![Request::new(0, Nanos::ZERO, Op::Write, 3_000_000, 1)];
    for (id, lbn, blocks) in [(1, 10, 5), (2, 0, 5), (3, 15, 5), (4, 5, 5), (5, 30, 1)] {
        requests.push(Request::new(id, at, Op::Write, lbn, blocks));
    }
    requests.push(Request::new(6, at, Op::Read, 20, 3));
    let (rows, energy) = run(&merged(), "fcfs", &requests);
    let (alone, spent) = run(&BARE, "fcfs", &requests);
    assert_eq!(rows.len(), 7);
    for row in &rows[1..5] {
        assert_eq!((row.passes, row.start, row.completion), (1, rows[1].start, rows[1].completion));
    }
    assert!(rows[5].start >= rows[1].completion, "not adjacent");
    assert!(rows[6].start >= rows[1].completion, "a read is not merged with writes");
    // Four passes over one row become one: 3 rows of 90 bits at 700 kbit/s less.
    let transfer_s = |rows: &[Row]| rows.iter().map(|row| row.parts.transfer.s()).sum::<f64>();
    let saved_s = transfer_s(&alone[1..5]) - rows[1].parts.transfer.s();
    assert!((saved_s - 3.0 * 90.0 / 700e3).abs() < 1e-8, "{saved_s}");
    assert!(energy.total_j() < spent.total_j());
    // Each pays for its blocks.
    assert!(rows[1..5].iter().all(|row| row.energy_nj.abs_diff(rows[1].energy_nj) <= 1));
    let sum_nj: u64 = rows.iter().map(|row| row.energy_nj).sum();
    assert!((1e-9 * sum_nj as f64 - (energy.seek_j + energy.transfer_j)).abs() < 1e-8);
}

#[test]
fn requests_that_do_not_adjoin_are_not_merged() {
    let mut random = Stream::new(1, "apart");
    let requests: Vec<Request> = (0..600)
        .map(|id| {
            let lbn = 11_000 * id + random.below(5000);
            Request::new(id, Nanos(600_000 * id), Op::Read, lbn, 1 + random.below(40) as u32)
        })
        .collect();
    for scheduler in ["fcfs", "sptf", "c_look"] {
        assert_eq!(run(&merged(), scheduler, &requests), run(&BARE, scheduler, &requests));
    }
}

#[test]
fn every_request_is_served_once_under_every_scheduler() {
    // Many lie side by side, some on the same blocks; bursts and pauses.
    for scheduler in ["fcfs", "sptf", "c_look", "sstf_lbn", "aged_sptf"] {
        let mut random = Stream::new(2, scheduler);
        let mut at = 0;
        let requests: Vec<Request> = (0..3000)
            .map(|id| {
                at += if random.chance(0.05) { 8_000_000 } else { random.below(300_000) };
                let op = if random.chance(0.7) { Op::Read } else { Op::Write };
                let lbn = 4 * random.below(60);
                Request::new(id, Nanos(at), op, lbn, 4 * (1 + random.below(2)) as u32)
            })
            .collect();
        let (rows, energy) = run(&merged(), scheduler, &requests);
        let (alone, spent) = run(&BARE, scheduler, &requests);
        let ids: Vec<u64> = rows.iter().map(|row| row.id).collect();
        assert_eq!(ids, (0..3000).collect::<Vec<_>>());
        for row in &rows {
            assert_eq!(row.parts.total(), row.response());
        }
        let sum_j: f64 = rows.iter().map(|row| 1e-9 * row.energy_nj as f64).sum();
        let of_requests = energy.seek_j + energy.transfer_j + energy.startup_j;
        assert!((sum_j / of_requests - 1.0).abs() < 1e-6, "{sum_j} {of_requests}");
        let serving = |energy: &Energy| energy.seek_j + energy.transfer_j;
        assert!(serving(&energy) < serving(&spent), "{scheduler}");
        let mean = |rows: &[Row]| rows.iter().map(|row| row.response().s()).sum::<f64>();
        assert!(mean(&rows) < mean(&alone), "{scheduler}");
    }
}

/// Eight Atlas 10K that are up 25 s after power comes on.
fn disks(start: &str) -> [(&str, &str); 9] {
    [
        ("children", "8"),
        ("child.power.seek_w", "12.5"),
        ("child.power.transfer_w", "12"),
        ("child.power.idle_w", "7.5"),
        ("child.power.standby_w", "1"),
        ("child.power.spin_up_w", "33.6"),
        ("child.power.spin_up_ms", "25_000"),
        ("child.power.starts", "'off'"),
        ("start", start),
    ]
}

const STRIPE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/power/disks.toml");

/// What a stripe sets in its children is not among the keys that its children were given.
#[test]
fn the_text_of_a_stripe_has_the_keys_of_its_first_child() {
    let text = |start: &str| device(STRIPE, &disks(start)).canonical();
    let (together, in_turn) = (text("'together'"), text("'in_turn'"));
    assert!(together.contains("child.power.starts") && !together.contains("on_at_ms"));
    assert_eq!(together.replace("together", "in_turn"), in_turn);
}

#[test]
fn spindles_that_start_in_turn_draw_less_at_once_and_take_longer() {
    // Mean power of second `s`, over all disks.
    let power_w = |start: &str| -> Vec<f64> {
        let model = model(STRIPE, &disks(start), "fcfs");
        let until = |s: u64| energy(&*model, Nanos::from_s(s as f64)).total_j();
        (0..205).map(|s| until(s + 1) - until(s)).collect()
    };
    let (together, in_turn) = (power_w("'together'"), power_w("'in_turn'"));
    let peak = |watts: &[f64]| watts.iter().copied().fold(0.0, f64::max);
    let close = |ours: f64, theirs: f64| assert!((ours - theirs).abs() < 1e-6, "{ours} {theirs}");
    close(peak(&together), 8.0 * 33.6);
    // The last starts while seven turn.
    close(peak(&in_turn), 33.6 + 7.0 * 7.5);
    close(together[24], 8.0 * 33.6);
    close(together[25], 8.0 * 7.5);
    close(in_turn[199], 33.6 + 7.0 * 7.5);
    close(in_turn[200], 8.0 * 7.5);
    // Both spend as much on starting.
    close(together[..200].iter().sum::<f64>() - 175.0 * 60.0, 8.0 * 33.6 * 25.0);
    let turning: f64 = (0..8).map(|disk| 7.5 * 25.0 * f64::from(disk)).sum();
    close(in_turn[..200].iter().sum::<f64>() - turning, 8.0 * 33.6 * 25.0);
}

#[test]
fn a_request_over_all_disks_waits_for_the_last() {
    for (start, ready_s) in [("'together'", 25.0), ("'in_turn'", 200.0)] {
        let request = Request::new(0, Nanos::ZERO, Op::Read, 0, 64);
        let rows = run_open(&mut *model(STRIPE, &disks(start), "fcfs"), &[request]).done;
        let response_s = rows[0].response().s();
        assert!((ready_s..ready_s + 0.03).contains(&response_s), "{response_s}");
    }
}
