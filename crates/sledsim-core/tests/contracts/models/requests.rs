//! Requests complete once, repeatably, and only inside the device.

use super::list::{MODELS, is_plain, sled};
use super::{Load, Rows, requests, run};
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::engine::{Limits, simulate};
use std::collections::BTreeMap;

/// Rates below, near and above the limits of the models.
const RATES: [f64; 3] = [200.0, 1100.0, 5000.0];

#[test]
fn every_request_completes_once_and_its_parts_add_up() {
    for (name, make) in MODELS {
        for (seed, rate) in RATES.into_iter().enumerate() {
            for depth in [None, Some(1), Some(7)] {
                let mut model = make();
                let all = requests(3000, rate, seed as u64, model.blocks());
                let (rows, outcome) = run(&mut *model, &mut Load::new(all.clone(), depth));
                assert_eq!(
                    (outcome.submitted, outcome.completed),
                    (3000, 3000),
                    "{name}"
                );
                let mut ids: Vec<u64> = rows.done.iter().map(|row| row.id).collect();
                ids.sort_unstable();
                assert!(ids.into_iter().eq(0..3000), "{name}: each id once");
                for row in rows.done.iter().chain(&rows.notes) {
                    let response = row.completion - row.arrival;
                    assert_eq!(row.parts.total(), response, "{name}: {row:?}");
                    assert!(
                        row.arrival <= row.start && row.start <= row.completion,
                        "{name}"
                    );
                }
                for row in &rows.done {
                    let request = &all[row.id as usize];
                    assert_eq!(
                        (row.op, row.lbn, row.blocks),
                        (request.op, request.lbn(), request.blocks())
                    );
                    assert!(depth.is_some() || row.arrival == request.arrival);
                }
            }
        }
    }
}

#[test]
fn mechanisms_serve_one_request_at_a_time_and_are_busy_that_long() {
    for (name, make) in MODELS.into_iter().filter(|(name, _)| is_plain(name)) {
        let mut model = make();
        let all = requests(2000, 1100.0, 3, model.blocks());
        let (rows, outcome) = run(&mut *model, &mut Load::new(all, None));
        let mut by_device: BTreeMap<u16, Vec<(Nanos, Nanos)>> = BTreeMap::new();
        let leaves = if rows.notes.is_empty() {
            &rows.done
        } else {
            &rows.notes
        };
        for row in leaves.iter().filter(|row| row.op.moves_data()) {
            let parts = &row.parts;
            let arm = parts.seek + parts.head_switch + parts.rotation;
            let media = arm + parts.transfer + parts.other;
            by_device
                .entry(row.device)
                .or_default()
                .push((row.start, row.start + media));
        }
        let mut busy = 0;
        for times in by_device.values_mut() {
            times.sort_unstable();
            assert!(
                times.windows(2).all(|pair| pair[0].1 <= pair[1].0),
                "{name}: overlap"
            );
            busy += times.iter().map(|(from, to)| (*to - *from).0).sum::<u64>();
        }
        let mut reports = Vec::new();
        model.report(outcome.end, &mut reports);
        let own: u64 = match reports.len() {
            1 => reports[0].busy.0,
            _ => reports[1..].iter().map(|report| report.busy.0).sum(),
        };
        assert_eq!(own, busy, "{name}: busy time");
    }
}

#[test]
fn same_requests_same_rows() {
    for (name, make) in MODELS {
        let once = || {
            let mut model = make();
            let all = requests(1500, 1100.0, 5, model.blocks());
            run(&mut *model, &mut Load::new(all, None)).0
        };
        let (first, second) = (once(), once());
        assert_eq!(
            (first.done, first.notes),
            (second.done, second.notes),
            "{name}"
        );
    }
}

#[test]
fn an_open_load_that_saturates_the_device_stops() {
    let mut model = sled();
    let all = requests(50_000, 10_000.0, 1, model.blocks());
    let mut rows = Rows::default();
    let limits = Limits { max_queue: 1000 };
    let outcome = simulate(
        &mut Load::new(all.clone(), None),
        &mut *model,
        &mut rows,
        limits,
        &mut |_| Ok(()),
    )
    .expect("a run without errors");
    let saturated = outcome.saturated.expect("saturation");
    assert_eq!(outcome.submitted, outcome.completed + saturated.queue);
    assert_eq!(rows.done.len() as u64, outcome.completed);
    assert_eq!(saturated.at, all[outcome.submitted as usize - 1].arrival);
    // Requests outstanding at that instant: the bound, just passed.
    let future = rows
        .done
        .iter()
        .filter(|row| row.completion > saturated.at)
        .count() as u64;
    assert_eq!(saturated.queue + future, 1001);
}

#[test]
fn requests_outside_the_device_are_refused() {
    let blocks = sled().blocks();
    let bad = [
        (blocks, 1, "LBN 6750000"),
        (blocks - 1, 2, "2 blocks"),
        (0, 0, "0 blocks"),
        (u64::MAX, 1, "LBN"),
    ];
    for (lbn, length, says) in bad {
        let request = Request::new(0, Nanos::ZERO, Op::Read, lbn, length);
        let mut load = Load::new(vec![request], None);
        let result = simulate(
            &mut load,
            &mut *sled(),
            &mut Rows::default(),
            Limits::default(),
            &mut |_| Ok(()),
        );
        let message = result.expect_err("an error").to_string();
        assert!(
            message.contains(says) && message.contains("0 to 6749999"),
            "{message}"
        );
    }
}
