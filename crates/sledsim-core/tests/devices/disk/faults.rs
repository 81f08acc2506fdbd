//! Errors of disks cost what the rotation and the arm ask for. The reference is the same
//! drive without errors, and the times of the drive of round numbers, worked out by hand.

use super::small::{Keys, R, W, build, requests, rows_of};
use crate::common::{device, reports, run_open};
use sledsim_base::random::Stream;
use sledsim_base::request::{Op, Request};
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::devices::disk::calculator::Calculator;
use sledsim_core::model::{Episode, Report};

const REVOLUTION: u64 = 10_000_000;

/// Keeps nothing, so that every request meets the media.
const PLAIN: (&str, &str) = ("buffer.keep", "'nothing'");

/// Requests of one block `gap_ms` apart, so far that none waits for another.
fn apart(op: Op, count: u64, gap_ms: u64) -> Vec<Request> {
    let mut random = Stream::new(5, "load");
    let request = |id: u64| {
        let at = Nanos(1_000_000 * gap_ms * id + random.below(1_000_000));
        Request::new(id, at, op, random.below(2000), 1)
    };
    (0..count).map(request).collect()
}

fn with_report(keys: Keys<'_>, requests: &[Request]) -> (Vec<Row>, Report) {
    let mut model = build(keys);
    let mut rows = run_open(&mut *model, requests).done;
    rows.sort_by_key(|row| row.id);
    let end = rows.iter().map(|row| row.completion).max().expect("rows");
    (rows, reports(&*model, end).remove(0))
}

fn count(report: &Report, name: &str) -> u64 {
    report.counts.iter().find(|(other, _)| *other == name).expect(name).1
}

/// Whether `hits` of `trials` with probability `chance` are within five standard deviations.
fn assert_binomial(hits: usize, trials: usize, chance: f64) {
    let (hits, trials) = (hits as f64, trials as f64);
    let deviation = (trials * chance * (1.0 - chance)).sqrt();
    assert!((hits - trials * chance).abs() < 5.0 * deviation, "{hits} of {trials}: {chance}");
}

#[test]
fn a_retried_read_takes_whole_revolutions_more_and_as_many_as_stated() {
    let load = apart(R, 4000, 200);
    for (rpm, thirds_of_ns) in [("6000", 30_000_000), ("7200", 25_000_000)] {
        let faults = [
            PLAIN,
            ("rpm", rpm),
            ("faults.retry_rate", "0.1"),
            ("faults.retry_revolutions", "[2, 5]"),
        ];
        let (with, report) = with_report(&faults, &load);
        let without = rows_of(&faults[..2], &load);
        let mut numbers = [0; 6];
        for (row, before) in with.iter().zip(&without) {
            numbers[row.retries as usize] += 1;
            let more = Nanos(u64::from(row.retries) * thirds_of_ns / 3);
            assert_eq!((row.response(), row.parts.retry), (before.response() + more, more));
            assert_eq!(row.parts.total(), row.response());
            assert_eq!(row.passes, before.passes + row.retries);
            assert_eq!((row.status, row.path), (Status::Ok, before.path));
        }
        assert_eq!(numbers[1], 0);
        let retried = load.len() - numbers[0];
        assert_binomial(retried, load.len(), 0.1);
        for number in &numbers[2..] {
            assert_binomial(*number, retried, 0.25);
        }
        assert_eq!(count(&report, "passes_retried"), retried as u64);
        assert_eq!(count(&report, "passes_unrecovered"), 0);
        let retries: u32 = with.iter().map(|row| row.retries).sum();
        assert_eq!(count(&report, "retries"), u64::from(retries));
        assert_eq!(with, with_report(&faults, &load).0);
        let other = [&faults[..], &[("faults.seed", "2")]].concat();
        assert_ne!(with, with_report(&other, &load).0);
    }
}

#[test]
fn each_track_of_a_read_is_retried_by_itself_and_writes_are_not() {
    let keys = [PLAIN, ("faults.retry_rate", "1")];
    let arrivals = [(0, R, 150, 300), (500_000, W, 20, 300)];
    let load = requests(&arrivals);
    let (with, without) = (rows_of(&keys, &load), rows_of(&keys[..1], &load));
    // Tracks 1 to 4: after whole revolutions the next begins to pass as it did.
    assert_eq!(with[0].response(), without[0].response() + Nanos(4 * REVOLUTION));
    assert_eq!((with[0].retries, with[0].parts.rotation), (4, without[0].parts.rotation));
    assert_eq!(with[1], without[1]);
}

#[test]
fn a_weak_head_has_its_own_rate_and_the_others_are_as_before() {
    let load = apart(R, 3000, 200);
    let keys = [
        PLAIN,
        ("faults.retry_rate", "0.05"),
        ("faults.weak_head", "1"),
        ("faults.weak_head_retry_rate", "0.4"),
    ];
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/devices/disk/small.toml");
    let disk = device(path, &[]);
    let calculator = Calculator::new(disk.disk().expect("a disk"));
    let weak = |row: &&Row| calculator.locate(row.lbn).expect("a place").0.head == 1;
    let (with, even) = (rows_of(&keys, &load), rows_of(&keys[..2], &load));
    for (row, before) in with.iter().zip(&even) {
        // More are retried with a higher rate, never others.
        assert!(row.retries == before.retries || (weak(&row) && row.retries == 1));
    }
    let (own, others): (Vec<&Row>, Vec<&Row>) = with.iter().partition(weak);
    let retried = |rows: &[&Row]| rows.iter().filter(|row| row.retries > 0).count();
    assert_binomial(retried(&own), own.len(), 0.4);
    assert_binomial(retried(&others), others.len(), 0.05);
}

#[test]
fn what_cannot_be_read_is_an_error_and_is_not_kept() {
    let load = apart(R, 4000, 200);
    let faults = [
        ("faults.retry_rate", "0.5"),
        ("faults.retry_revolutions", "[1, 7]"),
        ("faults.unrecovered_rate", "0.2"),
    ];
    let (rows, report) = with_report(&[&[PLAIN], &faults[..]].concat(), &load);
    let lost = rows.iter().filter(|row| row.status == Status::Error).count();
    assert!(rows.iter().all(|row| row.status == Status::Ok || row.retries == 7));
    assert_binomial(lost, load.len(), 0.1);
    assert_eq!(count(&report, "passes_unrecovered"), lost as u64);
    // Again and again, nothing is found in the buffer.
    let all = [("faults.retry_rate", "1"), ("faults.unrecovered_rate", "1")];
    let again: Vec<_> = (0..5).map(|turn| (200_000 * turn, R, 77, 3)).collect();
    let rows = rows_of(&all, &requests(&again));
    assert!(rows.iter().all(|row| row.status == Status::Error && row.retries == 1));
    assert!(rows_of(&[], &requests(&again))[1..].iter().all(|row| row.passes == 0));
}

/// When sector `lbn` of the drive of round numbers begins to pass after `at_us`.
fn passes_at(at_us: u64, lbn: u64) -> u64 {
    let track = lbn / 100;
    let angle_us = 3000 * (track / 2) + 1000 * (track % 2) + 100 * (lbn % 100);
    at_us + (angle_us + 1_000_000_000 - at_us % 10_000) % 10_000
}

/// Seek or head switch between two tracks, whichever takes longer, in us.
fn move_us(from: u64, to: u64) -> u64 {
    match (from / 2).abs_diff(to / 2) {
        0 if from == to => 0,
        0 => 600,
        distance => 900 + 100 * distance,
    }
}

#[test]
fn a_remapped_sector_costs_the_way_to_the_end_of_its_zone_and_back() {
    let each = |seed: &'static str| {
        let keys = [PLAIN, ("faults.remapped", "30"), ("faults.seed", seed)];
        let arrivals: Vec<_> = (0..2000).map(|lbn| (100_000 * lbn, R, lbn, 1)).collect();
        let load = requests(&arrivals);
        let ((with, report), without) = (with_report(&keys, &load), rows_of(&keys[..1], &load));
        assert_eq!(count(&report, "remapped_accesses"), 30);
        let mut moved = Vec::new();
        for (row, before) in with.iter().zip(&without) {
            if row == before {
                continue;
            }
            // The last sectors of the drive are the spare ones, the last one first.
            let spare = 1999 - moved.len() as u64;
            moved.push(row.lbn);
            let end_us = (before.completion.0 - 10_000) / 1000;
            let way = move_us(row.lbn / 100, spare / 100);
            let there = passes_at(end_us + way, spare) + 100;
            assert_eq!(row.completion, Nanos(1000 * (there + way + 10)), "{row:?}");
            assert_eq!(row.parts.total(), row.response());
            assert_eq!((row.passes, row.retries), (2, 0));
        }
        moved
    };
    let places = each("1");
    assert_eq!(places.len(), 30);
    assert_eq!(places, each("1"));
    assert_ne!(places, each("2"));
    // Writes go there, too; and the other faults move no place.
    let keys = [PLAIN, ("faults.remapped", "30"), ("faults.retry_rate", "1")];
    let all: Vec<_> = (0..2000).map(|lbn| (100_000 * lbn, W, lbn, 1)).collect();
    let rows = rows_of(&keys, &requests(&all));
    let detours = rows.iter().filter(|row| row.passes == 2).map(|row| row.lbn);
    assert_eq!(detours.collect::<Vec<_>>(), places);
    // A read over all of the drive meets each once.
    let (rows, _) = with_report(&keys[..2], &requests(&[(0, R, 0, 2000)]));
    assert_eq!(rows[0].passes, 20 + 30);
}

const EPISODES: [(&str, &str); 3] =
    [PLAIN, ("faults.episodes_per_hour", "60"), ("faults.episode_ms", "2000")];

/// The index of the episode in which `at` lies.
fn episode_at(episodes: &[Episode], at: Nanos) -> Option<usize> {
    episodes.iter().position(|one| one.begin <= at && at < one.end)
}

/// Checks that the episodes are as many and as long as stated, and name those requests that
/// they delayed, and no others.
fn check_ledger(report: &Report, rows: &[Row]) {
    let end = rows.last().expect("a row").completion;
    let episodes = &report.episodes;
    assert!(episodes.windows(2).all(|two| two[0].end < two[1].begin));
    assert!(episodes.iter().all(|one| one.end - one.begin == Nanos(2_000_000_000)));
    let expected = end.s() / 60.0;
    assert!((episodes.len() as f64 - expected).abs() < 5.0 * expected.sqrt(), "{expected}");
    let mut wanted = Vec::new();
    for row in rows.iter().filter(|row| episode_at(episodes, row.start).is_some()) {
        wanted.push((episode_at(episodes, row.start), Some(row.id), row.start, row.parts.other));
    }
    let listed = episodes.iter().enumerate().flat_map(|(index, one)| {
        let entry =
            move |of: &sledsim_core::model::DelayedAccess| (Some(index), of.request, of.at, of.by);
        one.delayed.iter().map(entry)
    });
    assert_eq!(listed.collect::<Vec<_>>(), wanted);
    assert!(wanted.len() > 30);
    assert_eq!(count(report, "passes_delayed"), wanted.len() as u64);
}

#[test]
fn a_request_in_an_episode_is_served_as_if_it_came_at_its_end() {
    let load = apart(R, 1500, 3000);
    let (rows, report) = with_report(&EPISODES, &load);
    check_ledger(&report, &rows);
    let mut later = load.clone();
    for request in &mut later {
        if let Some(index) = episode_at(&report.episodes, request.arrival) {
            request.arrival = report.episodes[index].end;
        }
    }
    for ((row, of), moved) in rows.iter().zip(&load).zip(rows_of(&[PLAIN], &later)) {
        assert_eq!((row.completion, row.path), (moved.completion, moved.path));
        assert_eq!(row.parts.other, moved.arrival - of.arrival);
        assert_eq!(row.parts.total(), row.response());
    }
}

#[test]
fn with_a_factor_a_pass_in_an_episode_takes_so_many_times_as_long() {
    let load = apart(W, 1500, 3000);
    let keys = [&EPISODES[..], &[("faults.episode_factor", "3.5")]].concat();
    let ((rows, report), before) = (with_report(&keys, &load), rows_of(&[PLAIN], &load));
    check_ledger(&report, &rows);
    for (row, before) in rows.iter().zip(&before) {
        let is_slow = episode_at(&report.episodes, row.start).is_some();
        let service = before.service().expect("a pass").0;
        let more = if is_slow { Nanos((service * 5).div_ceil(2)) } else { Nanos::ZERO };
        assert_eq!((row.response(), row.parts.other), (before.response() + more, more));
    }
    // The same episodes as without a factor.
    let bounds = |report: &Report| {
        report.episodes.iter().map(|one| (one.begin, one.end)).collect::<Vec<_>>()
    };
    assert_eq!(bounds(&report), bounds(&with_report(&EPISODES, &load).1));
}

#[test]
fn what_a_drive_writes_back_is_delayed_as_its_own_work() {
    let load = apart(W, 1500, 3000);
    let cache = [("cache.blocks", "50"), ("buffer.read_ahead", "'none'")];
    let (rows, report) = with_report(&[&EPISODES[1..], &cache].concat(), &load);
    assert!(rows.iter().all(|row| row.passes == 0 && row.parts.other == Nanos::ZERO));
    let delayed: Vec<_> = report.episodes.iter().flat_map(|one| &one.delayed).collect();
    assert!(delayed.len() > 30 && delayed.iter().all(|access| access.request.is_none()));
}

#[test]
fn read_ahead_stops_where_it_would_meet_an_error() {
    let reads: Vec<_> = (0..9).map(|index| (200_000 * index, R, 5 * index, 5)).collect();
    let keys = [("buffer.read_ahead", "'track'"), ("faults.retry_rate", "1")];
    assert!(rows_of(&keys, &requests(&reads)).iter().all(|row| row.retries == 1));
    assert!(rows_of(&keys[..1], &requests(&reads))[1..].iter().all(|row| row.passes == 0));
}

#[test]
fn parts_add_up_and_runs_repeat_with_all_at_once() {
    let mut random = Stream::new(9, "load");
    let mut load = Vec::new();
    let mut at = Nanos::ZERO;
    for id in 0..3000 {
        at += Nanos(random.below(60_000_000));
        let op = if random.chance(0.4) { W } else { R };
        let blocks = 1 + random.below(40) as u32;
        load.push(Request::new(id, at, op, random.below(1960), blocks));
    }
    let faults = [
        ("faults.retry_rate", "0.1"),
        ("faults.retry_revolutions", "[1, 3]"),
        ("faults.unrecovered_rate", "0.1"),
        ("faults.remapped", "20"),
        ("faults.episodes_per_hour", "3000"),
        ("faults.episode_ms", "300"),
        ("physical_sector_blocks", "8"),
    ];
    for more in [
        &[("cache.blocks", "60"), ("queue.entries", "8"), ("faults.episode_factor", "2")][..],
        &[("buffer.write_back", "'all'"), ("buffer.read_ahead", "'track'")],
        // Writes whose data come late are planned again.
        &[
            ("zero_latency_read", "true"),
            ("zero_latency_write", "true"),
            ("bus_write_ms_per_block", "0.3"),
            ("faults.episode_factor", "1.5"),
        ],
    ] {
        let keys = [&faults, more].concat();
        let (rows, report) = with_report(&keys, &load);
        assert_eq!(rows, rows_of(&keys, &load));
        assert!(report.counts.iter().all(|(_, count)| *count > 0), "{:?}", report.counts);
        let mut delays = vec![Nanos::ZERO; rows.len()];
        for episode in &report.episodes {
            for access in &episode.delayed {
                assert!(episode.begin <= access.at && access.at < episode.end);
                if let Some(id) = access.request {
                    let row = &rows[id as usize];
                    assert!(row.start <= access.at && access.at + access.by <= row.completion);
                    delays[id as usize] += access.by;
                }
            }
        }
        for (row, delay) in rows.iter().zip(delays) {
            assert_eq!(row.parts.other, delay, "{row:?}");
        }
    }
}

#[test]
fn a_table_without_effect_changes_nothing() {
    let load = apart(R, 300, 1);
    let zero = [
        ("faults.seed", "7"),
        ("faults.retry_rate", "0"),
        ("faults.retry_revolutions", "[3, 9]"),
        ("faults.episodes_per_hour", "0"),
        ("faults.episode_ms", "5"),
    ];
    let (rows, report) = with_report(&zero, &load);
    assert_eq!(rows, rows_of(&[], &load));
    assert!(report.counts.is_empty() && report.episodes.is_empty());
}
