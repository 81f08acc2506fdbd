//! Are measured and simulated times set side by side rightly? Closed forms,
//! brute force over the definition of the figure, and devices whose own times
//! are fed back to them as measurements.

use crate::common;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, StringArray};
use proptest::prelude::*;
use serde_json::Value;
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::Keys;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::Choice;
use sledsim_run::load::Load;
use sledsim_run::run::{Plan, RowsTo, Run, run};
use sledsim_run::validation::{ClassWeighted, Comparison, Pair, Validation, validate, write_table};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn pairs(measured: &[u64], simulated: &[u64]) -> Vec<Pair> {
    let pair = |(&measured, &simulated)| Pair {
        measured: Nanos(measured),
        simulated: Nanos(simulated),
    };
    measured.iter().zip(simulated).map(pair).collect()
}

fn compared(measured: &[u64], simulated: &[u64]) -> Comparison {
    Comparison::new(pairs(measured, simulated))
}

fn demerit(measured: &[u64], simulated: &[u64]) -> f64 {
    compared(measured, simulated).demerit_ms().unwrap()
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs().max(1e-12)
}

/// Calls `each` with every order of `values` (Heap's algorithm).
fn orders(values: &mut [u64], count: usize, each: &mut dyn FnMut(&[u64])) {
    if count <= 1 {
        return each(values);
    }
    for index in 0..count {
        orders(values, count - 1, each);
        let other = if count.is_multiple_of(2) { index } else { 0 };
        values.swap(other, count - 1);
    }
}

#[test]
fn the_figure_of_a_shift_is_the_shift() {
    let measured: Vec<u64> = (0..1000_u64).map(|i| i * i * 977 % 20_000_000).collect();
    for shift in [0, 1, 250_000, 3_000_000_000] {
        let later: Vec<u64> = measured.iter().map(|&time| time + shift).collect();
        let ms = shift as f64 / 1e6;
        assert!(close(demerit(&measured, &later), ms), "{shift}");
        assert!(
            close(demerit(&later, &measured), ms),
            "{shift}, the other way"
        );
    }
}

/// What the reads are too slow the writes are too fast: together no error is left.
#[test]
fn errors_of_two_kinds_that_cancel_are_in_the_class_weighted_figure() {
    let (short, long) = (vec![1_000_000_u64; 30], vec![3_000_000_u64; 30]);
    let kinds = [compared(&short, &long), compared(&long, &short)];
    let both = |a: &[u64], b: &[u64]| [a, b].concat();
    let all = compared(&both(&short, &long), &both(&long, &short));
    assert_eq!(all.demerit_ms(), Some(0.0));
    let weighted = ClassWeighted::of(&kinds);
    assert_eq!(weighted.ms(), Some(2.0));
    assert!(weighted.disagrees(&all));

    // Weighted by requests: 10 are off by 4 ms, 30 by none.
    let far = vec![5_000_000; 10];
    let kinds = [compared(&short[..10], &far), compared(&long, &long)];
    let weighted = ClassWeighted::of(&kinds);
    assert!(close(weighted.ms().unwrap(), 2.0));
    assert!(close(all.percent(1.0).unwrap(), 50.0));

    // No error, no requests, and a third of three squares, which may cancel.
    let same = compared(&long, &long);
    assert!(!ClassWeighted::of(std::slice::from_ref(&same)).disagrees(&same));
    let none = ClassWeighted::of(&[Comparison::default(), Comparison::default()]);
    assert_eq!(none.ms(), None);
    assert!(!none.disagrees(&Comparison::default()));
    let squares = |count: u64| compared(&vec![0; count as usize], &vec![1; count as usize]);
    let three = ClassWeighted::of(&[squares(2), squares(1)]);
    assert!(!three.disagrees(&squares(2)), "a third");
    assert!(three.disagrees(&squares(1)), "two thirds");
}

/// Two uniform distributions from zero: the distance of rank i of n is
/// i/n |a - b|, and the mean of squares of 1..n is (n + 1)(2n + 1)/6.
#[test]
fn the_figure_of_two_uniform_distributions_has_a_closed_form() {
    let n = 400_u64;
    let uniform = |most: u64| (1..=n).map(|i| most / n * i).collect::<Vec<_>>();
    let figure = compared(&uniform(8_000_000), &uniform(20_000_000));
    let (n, apart_ms) = (n as f64, 12.0);
    let expected = apart_ms * ((n + 1.0) * (2.0 * n + 1.0) / (6.0 * n * n)).sqrt();
    assert!(close(figure.demerit_ms().unwrap(), expected));
    let mean_ms = 8.0 * (n + 1.0) / (2.0 * n);
    let percent = figure.demerit_percent().unwrap();
    assert!(close(percent, 100.0 * expected / mean_ms), "{percent}");
}

#[test]
fn what_is_not_there_has_no_figure() {
    let none = compared(&[], &[]);
    assert_eq!((none.demerit_ms(), none.paired_rms_ms()), (None, None));
    assert_eq!(none.demerit_percent(), None);
    assert_eq!(none.largest(), Value::Null);
    assert!(
        none.measured()
            .as_object()
            .unwrap()
            .values()
            .all(Value::is_null)
    );
    // Times of zero have a figure, and no mean to compare it with.
    let zeros = compared(&[0, 0], &[0, 2_000_000]);
    assert!(close(zeros.demerit_ms().unwrap(), 2_f64.sqrt()));
    assert_eq!(zeros.demerit_percent(), None);
}

/// Nearest rank, counted out by hand.
#[test]
fn statistics_are_those_of_the_list() {
    let ms: Vec<u64> = (1..=40).rev().map(|i| i * 1_000_000).collect();
    let told = compared(&ms, &[7_000_000; 40]);
    let measured = told.measured();
    for (key, expected) in [
        ("mean", 20.5),
        ("p50", 20.0),
        ("p90", 36.0),
        ("p95", 38.0),
        ("p99", 40.0),
        ("max", 40.0),
        ("sd", ((40.0 * 40.0 - 1.0) / 12.0_f64).sqrt()),
    ] {
        let found = measured[key].as_f64().unwrap();
        assert!(close(found, expected), "{key}: {found} is not {expected}");
    }
    assert_eq!(told.simulated()["sd"], 0.0);
    // The distances are |i - 7|: most at the 40th, 33² of the sum of squares.
    let sum: i64 = (1..=40).map(|i: i64| (i - 7) * (i - 7)).sum();
    let largest = told.largest();
    assert_eq!(largest["share_of_requests"], 1.0);
    assert_eq!(largest["measured_ms"], 40.0);
    let share = largest["share_of_squares"].as_f64().unwrap();
    assert!(close(share, 33.0 * 33.0 / sum as f64));
    assert_eq!(largest["slowest_hundredth_share_of_squares"], share);
}

proptest! {
    /// The definition: the horizontal distance of the distribution functions,
    /// squared, over all shares. Each function is inverted by counting.
    #[test]
    fn the_figure_is_the_distance_of_the_curves(
        both in prop::collection::vec((0..50_000_000_u64, 0..50_000_000_u64), 1..40),
    ) {
        let (measured, simulated): (Vec<_>, Vec<_>) = both.into_iter().unzip();
        let n = measured.len();
        let inverse = |times: &[u64], share: f64| {
            let reaches = |&&time: &&u64| {
                let not_above = times.iter().filter(|&&other| other <= time).count();
                not_above as f64 >= share * n as f64
            };
            *times.iter().filter(reaches).min().unwrap() as f64 / 1e6
        };
        let steps = 8 * n;
        let area: f64 = (0..steps)
            .map(|step| {
                let share = (step as f64 + 0.5) / steps as f64;
                (inverse(&measured, share) - inverse(&simulated, share)).powi(2)
            })
            .sum();
        let expected = (area / steps as f64).sqrt();
        let found = demerit(&measured, &simulated);
        prop_assert!((found - expected).abs() <= 1e-9 * expected.max(1.0), "{found} {expected}");
    }

    /// What is paired within each kind is one way to pair all.
    #[test]
    fn the_class_weighted_figure_is_never_below_that_of_all(
        both in prop::collection::vec((0..1000_u64, 0..1000_u64), 1..60), reads in 0..60_usize,
    ) {
        let (measured, simulated): (Vec<_>, Vec<_>) = both.into_iter().unzip();
        let reads = reads.min(measured.len());
        let kinds = [
            compared(&measured[..reads], &simulated[..reads]),
            compared(&measured[reads..], &simulated[reads..]),
        ];
        let weighted = ClassWeighted::of(&kinds);
        let squares = |kind: &Comparison| {
            kind.requests() as f64 * kind.demerit_ms().unwrap_or(0.0).powi(2)
        };
        let mean = kinds.iter().map(squares).sum::<f64>() / measured.len() as f64;
        prop_assert!((weighted.ms().unwrap() - mean.sqrt()).abs() <= 1e-12 * mean.sqrt());
        let all = compared(&measured, &simulated).demerit_ms().unwrap();
        prop_assert!(weighted.ms().unwrap() >= all);
        prop_assert_eq!(weighted.disagrees(&compared(&measured, &simulated)), mean > 1.5 * all * all);
    }

    /// Of all ways to pair the two sides, none has a lower root mean square.
    #[test]
    fn no_pairing_is_closer(
        both in prop::collection::vec((0..1000_u64, 0..1000_u64), 1..7),
    ) {
        let (measured, mut simulated): (Vec<_>, Vec<_>) = both.into_iter().unzip();
        let figure = demerit(&measured, &simulated);
        let mut least = f64::INFINITY;
        let n = simulated.len();
        orders(&mut simulated, n, &mut |order| {
            let paired = compared(&measured, order);
            assert_eq!(paired.demerit_ms(), Some(figure), "an order changes the figure");
            least = least.min(paired.paired_rms_ms().unwrap());
        });
        prop_assert_eq!(least, figure);
    }
}

/// A trace file in a folder that goes with it.
struct Trace {
    _folder: TempDir,
    path: PathBuf,
}

fn trace(name: &str, text: &str) -> Trace {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    Trace {
        _folder: folder,
        path,
    }
}

fn load(path: &Path, keys: &str) -> Load {
    Load::trace(path, Keys::parse(keys, "my.toml").unwrap()).unwrap()
}

fn tried(device: &Device, path: &Path, keys: &str) -> Result<Validation> {
    let load = load(path, keys);
    validate(device, &load, Choice::default(), &mut |_| Ok(()))
}

fn validated(device: &Device, path: &Path, keys: &str) -> Validation {
    tried(device, path, keys).unwrap()
}

fn listed(device: &Device, load: &Load) -> Run {
    let plan = Plan::from(&RowsTo::List);
    run(device, load, Choice::default(), plan, &mut |_| Ok(())).unwrap()
}

fn figure(validation: &Validation, key: &str, kind: &str) -> Option<f64> {
    validation.document[key][kind].as_f64()
}

/// A drive that has a different time for nearly every request.
fn disk() -> Device {
    common::device("atlas10k", &[])
}

/// Requests of all sorts, with these measured times (µs) and think times.
fn requests(times: impl Fn(usize) -> f64) -> String {
    let mut text = String::new();
    for i in 0..300_usize {
        let op = if i % 3 == 1 { "W" } else { "R" };
        let (lbn, blocks) = (i * i * 7919 % 17_000_000, 1 + i % 40);
        let think = 1000 + i * 37 % 900;
        writeln!(text, "{op} Hit {lbn} {blocks} {:.3} {think}", times(i)).unwrap();
    }
    text
}

/// What a device does to a closed trace, in µs: three decimals are exact.
fn own_times(device: &Device, path: &Path) -> Vec<f64> {
    let mut rows = listed(device, &load(path, "")).list;
    rows.sort_by_key(|row| row.id);
    let us = |row: &Row| row.response().0 as f64 / 1e3;
    rows.iter().map(us).collect()
}

#[test]
fn a_device_agrees_with_itself() {
    let device = disk();
    let blank = trace("m.validate", &requests(|_| 0.0));
    let own = own_times(&device, &blank.path);
    let fed_back = trace("m.validate", &requests(|i| own[i]));
    let same = validated(&device, &fed_back.path, "");
    assert_eq!(same.document["replay"], "closed");
    assert_eq!(same.document["parts"], Value::Null);
    for (kind, count) in [("all", 300), ("read", 200), ("write", 100)] {
        assert_eq!(same.document["requests"][kind], count);
        for key in ["demerit_ms", "demerit_percent", "paired_rms_ms"] {
            assert_eq!(figure(&same, key, kind), Some(0.0), "{key} of {kind}");
        }
        let (measured, simulated) = (
            &same.document["measured_ms"],
            &same.document["simulated_ms"],
        );
        assert_eq!(measured[kind], simulated[kind]);
        assert!(measured[kind]["sd"].as_f64().unwrap() > 0.5, "times differ");
    }

    // Writes measured 2 ms longer: the reads do not mind.
    let longer = |i: usize| own[i] + if i % 3 == 1 { 2000.0 } else { 0.0 };
    let slower = trace("m.validate", &requests(longer));
    let slower = validated(&device, &slower.path, "");
    assert_eq!(figure(&slower, "demerit_ms", "read"), Some(0.0));
    assert!(close(figure(&slower, "demerit_ms", "write").unwrap(), 2.0));
    let weighted = slower.document["class_weighted_ms"].as_f64().unwrap();
    assert!(close(weighted, 2.0 * (1.0 / 3.0_f64).sqrt()));
    let paired = figure(&slower, "paired_rms_ms", "all").unwrap();
    assert!(close(paired, 2.0 * (1.0 / 3.0_f64).sqrt()));
    assert!(figure(&slower, "demerit_ms", "all").unwrap() <= paired);
    let worst = &slower.document["worst_request"];
    assert_eq!(
        (&worst["id"], &worst["op"]),
        (&Value::from(1), &Value::from("write"))
    );

    // The same distribution, but another request each: only the pairs differ.
    let turned = trace("m.validate", &requests(|i| own[(i + 3) % 300]));
    let turned = validated(&device, &turned.path, "");
    assert_eq!(figure(&turned, "demerit_ms", "all"), Some(0.0));
    assert_eq!(figure(&turned, "demerit_ms", "read"), Some(0.0));
    assert!(figure(&turned, "paired_rms_ms", "all").unwrap() > 1.0);

    // Reads alone.
    let text: String = (requests(|i| own[i]).lines())
        .filter(|line| line.starts_with('R'))
        .map(|line| format!("{line}\n"))
        .collect();
    let reads = validated(&device, &trace("m.validate", &text).path, "");
    assert_eq!(figure(&reads, "demerit_ms", "write"), None);
    assert_eq!(reads.document["demerit_ms"]["write"], Value::Null);
    assert_eq!(
        figure(&reads, "demerit_ms", "all"),
        figure(&reads, "demerit_ms", "read")
    );
    let all = figure(&reads, "demerit_ms", "all");
    assert_eq!(reads.document["class_weighted_ms"].as_f64(), all);
    assert_eq!(reads.document["demerits_disagree"], false);
}

/// Flash completes requests in another order than that of their arrival.
#[test]
fn requests_meet_their_own_measurements_whatever_the_order_of_completion() {
    let flash = common::device("flash", &[]);
    let keys = "rate = 40000\nrequests = 2000\nread_fraction = 0.5\nmean_size_kib = 16";
    let random = Load::workload("random", Keys::parse(keys, "load.toml").unwrap()).unwrap();
    let run = listed(&flash, &random);
    let mut done: Vec<Row> = run.list;
    done.sort_by_key(|row| (row.completion, row.id));
    assert!(!done.is_sorted_by_key(|row| row.id), "some overtake others");
    done.sort_by_key(|row| row.id);
    let columns = "columns = \"time=t:ns, offset=lba:512B, bytes=n:512B, op=op, response=r:ns, \
                   queue=q:ns, origin=zero\"";
    let mut text = "t,lba,n,op,r,q\n".to_owned();
    for row in &done {
        let (at, took, waited) = (row.arrival.0, row.response().0, row.parts.queue.0);
        let (op, lbn, blocks) = (row.op.name(), row.lbn, row.blocks);
        writeln!(text, "{at},{lbn},{blocks},{op},{took},{waited}").unwrap();
    }
    let own = trace("own.csv", &text);
    let same = validated(&flash, &own.path, columns);
    assert_eq!(same.document["replay"], "open");
    assert_eq!(figure(&same, "paired_rms_ms", "all"), Some(0.0));
    let ids = same.requests.column_by_name("id").unwrap();
    let ids = ids.as_primitive::<UInt64Type>().values();
    assert!(ids.iter().copied().eq(0..2000), "in the order of the trace");
    for part in ["queue", "service"] {
        assert_eq!(
            same.document["parts"][part]["paired_rms_ms"]["all"], 0.0,
            "{part}"
        );
        let mean = &same.document["parts"][part]["measured_ms"]["all"]["mean"];
        assert!(
            mean.as_f64().unwrap() > 0.01,
            "{part} has something to compare"
        );
    }
}

/// Three requests of known times, one without a measurement.
#[test]
fn queue_and_service_are_told_apart() {
    let memory = common::device("memory", &[]);
    let text = "t,lba,n,op,r,q\n0,0,8,r,5,1\n1000,8,8,w,9,2\n2000,64,8,r,,\n3000,0,8,r,4,4\n";
    let columns = "columns = \"time=t:ms, offset=lba:512B, bytes=n:512B, op=op, response=r:ms, \
                   queue=q:ms, origin=zero\"\n";
    let file = trace("own.csv", text);
    let open = validated(&memory, &file.path, columns);
    let parts = &open.document["parts"];
    assert_eq!(open.document["left_out"]["not_measured"], 1);
    assert_eq!(open.document["requests"]["all"], 3);
    assert_eq!(open.document["measured_ms"]["all"]["mean"], 6.0);
    assert_eq!(parts["queue"]["measured_ms"]["read"]["mean"], 2.5);
    assert_eq!(parts["service"]["measured_ms"]["read"]["max"], 4.0);
    assert_eq!(parts["service"]["measured_ms"]["write"]["p50"], 7.0);
    // Nothing waits in memory at this rate: the figure is the queue measured.
    assert_eq!(parts["queue"]["simulated_ms"]["all"]["max"], 0.0);
    let queue = parts["queue"]["demerit_ms"]["all"].as_f64().unwrap();
    assert!(close(queue, (21.0_f64 / 3.0).sqrt()));

    // One at a time: the queue measured is not the device's doing.
    let closed = validated(&memory, &file.path, &format!("{columns}queue_depth = 1"));
    assert_eq!(closed.document["replay"], "closed");
    assert_eq!(closed.document["parts"], Value::Null);
    assert_eq!(closed.document["measured_ms"]["all"]["mean"], 11.0 / 3.0);
    assert_eq!(closed.document["measured_ms"]["read"]["max"], 4.0);

    // The first request warms up, and is still the one before the second.
    let warm = validated(
        &memory,
        &file.path,
        &format!("{columns}warm_up_requests = 1"),
    );
    assert_eq!(warm.document["left_out"]["warm_up"], 1);
    assert_eq!(warm.document["requests"]["all"], 2);
    assert_eq!(warm.document["measured_ms"]["write"]["mean"], 9.0);
    assert_eq!(warm.document["measured_ms"]["read"]["mean"], 4.0);
}

#[test]
fn requests_are_told_apart_by_what_came_before() {
    // After (100, 8): behind it, on its last block, 255 and 256 blocks behind
    // its end, 255 and 256 before its start.
    let second = [
        ("108 4", "sequential"),
        ("107 4", "overlapping"),
        ("363 4", "near"),
        ("364 4", "far"),
    ];
    let memory = common::device("memory", &[]);
    for (place, expected) in second {
        let text = format!("R Hit 100 8 1 1\nW Hit {place} 1 1\n");
        let found = validated(&memory, &trace("m.validate", &text).path, "");
        let class = &found.document["classes"][1];
        assert_eq!(class["place"], expected, "{place}");
        assert_eq!(
            (&class["op"], &class["after"]),
            (&"write".into(), &"read".into())
        );
        let column = found.requests.column_by_name("place").unwrap();
        let column = column.as_dictionary::<Int32Type>();
        let names = column.values().as_string::<i32>();
        assert_eq!(names.value(column.keys().value(1) as usize), expected);
    }
    for (first, expected) in [
        (1000 - 255 - 4, "near"),
        (1000 - 256 - 4, "far"),
        (996, "near"),
    ] {
        let text = format!("W Hit 1000 8 1 1\nW Hit {first} 4 1 1\n");
        let found = validated(&memory, &trace("m.validate", &text).path, "");
        assert_eq!(found.document["classes"][1]["place"], expected, "{first}");
    }
}

#[test]
fn the_table_holds_what_the_figures_are_from() {
    let device = disk();
    let file = trace("m.validate", &requests(|i| 100.0 + i as f64));
    let validation = validated(&device, &file.path, "");
    let table = &validation.requests;
    let int64 = |name: &str| {
        let column = table.column_by_name(name).unwrap();
        column.as_primitive::<Int64Type>().values().to_vec()
    };
    let ids = table.column_by_name("id").unwrap();
    let ids = ids.as_primitive::<UInt64Type>().values();
    assert!(ids.iter().copied().eq(0..300));
    let measured = int64("measured_ns");
    assert_eq!(measured[17], 117_000);
    assert_eq!(
        table
            .column_by_name("measured_queue_ns")
            .unwrap()
            .null_count(),
        300
    );
    let mut longer: Vec<(i64, i64)> = (measured.iter())
        .zip(int64("completion_ns").iter().zip(int64("arrival_ns")))
        .map(|(&measured, (end, start))| (measured, end - start))
        .collect();
    let paired: f64 = longer.iter().map(|(m, s)| ((m - s) as f64).powi(2)).sum();
    let found = figure(&validation, "paired_rms_ms", "all").unwrap();
    assert!((found - (paired / 300.0).sqrt() / 1e6).abs() < 1e-9);
    let mut simulated: Vec<i64> = longer.iter().map(|pair| pair.1).collect();
    simulated.sort_unstable();
    longer.sort_unstable();
    let ranks = longer.iter().zip(&simulated);
    let squares: f64 = ranks.map(|((m, _), s)| ((m - s) as f64).powi(2)).sum();
    let found = figure(&validation, "demerit_ms", "all").unwrap();
    assert!((found - (squares / 300.0).sqrt() / 1e6).abs() < 1e-9);

    let folder = TempDir::new().unwrap();
    let path = folder.path().join("requests.parquet");
    write_table(table, &path).unwrap();
    let written = std::fs::File::open(&path).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(written);
    let batches: Vec<_> = (reader.unwrap().build().unwrap())
        .map(std::result::Result::unwrap)
        .collect();
    assert_eq!(batches.len(), 1);
    assert_eq!(batches[0].schema().fields(), table.schema().fields());
    for (index, field) in table.schema().fields().iter().enumerate() {
        let (written, column) = (batches[0].column(index), table.column(index));
        match written.as_dictionary_opt::<Int32Type>() {
            // The file has its own order of the names.
            Some(written) => {
                let column = column.as_dictionary::<Int32Type>();
                let written = written.downcast_dict::<StringArray>().unwrap();
                let column = column.downcast_dict::<StringArray>().unwrap();
                assert!(written.into_iter().eq(column), "{}", field.name());
            }
            None => assert_eq!(written, column, "{}", field.name()),
        }
    }
    assert!(write_table(table, &folder.path().join("no/where.parquet")).is_err());
}

#[test]
fn what_cannot_be_compared_is_told() {
    let device = common::device("g2", &[]);
    let says = |error: Error, words: &[&str]| {
        let said = error.to_string();
        for word in words {
            assert!(said.contains(word), "'{word}' is not in: {said}");
        }
    };
    let random = Load::workload("random", Keys::empty("load")).unwrap();
    let refused = validate(&device, &random, Choice::default(), &mut |_| Ok(()));
    says(refused.unwrap_err(), &["no measured times", "give a trace"]);

    let plain = trace("a.trace", "0 0 100 8 1\n1 0 108 8 0\n");
    let refused = tried(&device, &plain.path, "").unwrap_err();
    says(
        refused,
        &[
            "a.trace: has no measured times",
            "disksim_ascii",
            "response=COLUMN:UNIT",
        ],
    );

    let columns = "columns = \"time=t:ns, offset=lba:512B, bytes=n:512B, op=op, response=r:ns\"";
    let mut text = "t,lba,n,op,r\n".to_owned();
    (0..500).for_each(|i| writeln!(text, "{i},{},8,r,1", i * 5000).unwrap());
    let fast = trace("fast.csv", &text);
    let keys = format!("{columns}\nmax_queue = 100");
    says(
        tried(&device, &fast.path, &keys).unwrap_err(),
        &[
            "fast.csv: its requests outran the device",
            "time_scale",
            "queue_depth = 1",
        ],
    );

    let beyond = trace("m.validate", "R Hit 1 1 1 1\nR Hit 99999999999 1 1 1\n");
    let refused = tried(&device, &beyond.path, "").unwrap_err();
    says(refused, &["m.validate:2: ", "address = \"wrap\""]);
    assert!(tried(&device, &beyond.path, "address = \"wrap\"").is_ok());
    let bad = trace("m.validate", "R Hit 1 1 1 1\nR Hit 1 1 soon 1\n");
    says(
        tried(&device, &bad.path, "").unwrap_err(),
        &["m.validate:2: ", "service", "soon"],
    );
}

/// The week of an HP workstation: what it says itself of its queues.
#[test]
fn the_week_of_hplajw_is_compared_part_by_part() {
    let Some(week) = common::reference("traces/hplajw-1992-week.srt") else {
        return;
    };
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let spec = root.join("examples/hplajw/hp335h.toml");
    let device = Device::resolve(spec.to_str().unwrap(), &[]).unwrap();
    for (disk, reads, writes, queue_ms) in [
        // Counted, and the means taken, by a few lines of Python.
        (0, 10_887, 31_365, 96.467),
        (1, 2_153, 114, 1.014),
    ] {
        let found = validated(&device, &week, &format!("trace_device = {disk}"));
        assert_eq!(found.document["requests"]["read"], reads);
        assert_eq!(found.document["requests"]["write"], writes);
        let parts = &found.document["parts"];
        let mean = |part: &str| parts[part]["measured_ms"]["all"]["mean"].as_f64().unwrap();
        assert!((mean("queue") - queue_ms).abs() < 0.01, "{}", mean("queue"));
        let response = found.document["measured_ms"]["all"]["mean"]
            .as_f64()
            .unwrap();
        assert!((mean("queue") + mean("service") - response).abs() < 1e-9);
        // The model of its header alone is within a third of the mean service.
        let share = parts["service"]["demerit_percent"]["all"].as_f64().unwrap();
        assert!(share < 33.0, "{share}");
    }
}
