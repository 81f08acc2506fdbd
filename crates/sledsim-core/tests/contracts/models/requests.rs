//! Requests complete once, repeatably, and only inside the device.

use super::list::{MODELS, is_plain, sled};
use super::{Load, Rows, requests, run};
use crate::common::reports;
use sledsim_base::request::{NO_REQUEST, OWN_WORK, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::engine::{Limits, simulate};
use std::collections::{BTreeMap, BTreeSet};

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
                assert_eq!((outcome.submitted, outcome.completed), (3000, 3000), "{name}");
                let mut ids: Vec<u64> = rows.done.iter().map(|row| row.id).collect();
                ids.sort_unstable();
                assert!(ids.into_iter().eq(0..3000), "{name}: each id once");
                for row in rows.done.iter().chain(&rows.notes) {
                    let response = row.completion - row.arrival;
                    assert_eq!(row.parts.total(), response, "{name}: {row:?}");
                    assert!(row.arrival <= row.start && row.start <= row.completion, "{name}");
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

/// The rows of each device: those of the outermost, and of those inside it.
fn by_device(rows: &Rows) -> BTreeMap<u16, Vec<&Row>> {
    let mut by_device: BTreeMap<u16, Vec<&Row>> = BTreeMap::new();
    for row in rows.done.iter().chain(&rows.notes) {
        by_device.entry(row.device).or_default().push(row);
    }
    by_device
}

#[test]
fn mechanisms_are_busy_as_long_as_rows_say() {
    for (name, make) in MODELS.into_iter().filter(|(name, _)| *name != "flash") {
        let mut model = make();
        let all = requests(2000, 1100.0, 3, model.blocks());
        let (rows, outcome) = run(&mut *model, &mut Load::new(all, None));
        let by_device = by_device(&rows);
        let reports = reports(&*model, outcome.idle);
        for (device, report) in (0..).zip(&reports) {
            let part = format!("{name}, {}", report.name);
            for (_, busy) in &report.mechanisms {
                assert!(busy.total() <= outcome.idle, "{part}: {busy:?}");
            }
            // A composite has none, but perhaps a bus.
            let own = report.mechanisms.first().filter(|(ending, _)| *ending != ".bus");
            let Some((_, busy)) = own else {
                continue;
            };
            let rows = by_device.get(&device).map_or(&[][..], Vec::as_slice);
            let (mut spans, mut host, mut other) = (Vec::new(), Nanos::ZERO, Nanos::ZERO);
            for row in rows {
                let service = row.service().unwrap_or_default();
                spans.push((row.start, row.start + service));
                match row.id < OWN_WORK {
                    true => host += service,
                    false => other += service,
                }
            }
            assert_eq!(busy.host, host, "{part}");
            // A buffer has work of its own, which is in no row.
            if is_plain(name) {
                assert_eq!(busy.other, other, "{part}");
                spans.retain(|(from, to)| from < to);
                spans.sort_unstable();
                let apart = |pair: &[(Nanos, Nanos)]| pair[0].1 <= pair[1].0;
                assert!(spans.windows(2).all(apart), "{part}: overlap");
            } else {
                assert!(busy.other >= other, "{part}");
            }
        }
    }
}

#[test]
fn rows_of_inner_devices_say_for_what_they_are() {
    for (name, make) in MODELS {
        let mut model = make();
        let all = requests(2000, 1100.0, 3, model.blocks());
        let (rows, _) = run(&mut *model, &mut Load::new(all, None));
        let by_device = by_device(&rows);
        let ids: BTreeSet<(u16, u64)> = (by_device.iter())
            .flat_map(|(device, rows)| rows.iter().map(|row| (*device, row.id)))
            .collect();
        let (mut own, mut deep) = (0, 0);
        for row in &rows.notes {
            let parent = row.parent.expect("a parent");
            // What serves own work is own work, and nothing else is.
            assert_eq!(row.id >= OWN_WORK, parent >= OWN_WORK, "{name}: {row:?}");
            if parent == NO_REQUEST {
                own += 1;
            } else {
                let is_there = (0..row.device).any(|device| ids.contains(&(device, parent)));
                assert!(is_there, "{name}: {row:?}");
                deep += u64::from(parent >= OWN_WORK);
            }
        }
        for row in &rows.done {
            assert!(row.parent.is_none() && row.id < OWN_WORK, "{name}: {row:?}");
        }
        if name.contains("tier") || name.contains("write buffer") {
            assert!(own > 0, "{name}: own work");
        }
        if name == "tier behind a cache" || name == "plain tier" {
            assert!(deep > 0, "{name}: own work two levels down");
        }
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
        assert_eq!((first.done, first.notes), (second.done, second.notes), "{name}");
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
    let future = rows.done.iter().filter(|row| row.completion > saturated.at).count() as u64;
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
        let result =
            simulate(&mut load, &mut *sled(), &mut Rows::default(), Limits::default(), &mut |_| {
                Ok(())
            });
        let message = result.expect_err("an error").to_string();
        assert!(message.contains(says) && message.contains("0 to 6749999"), "{message}");
    }
}
