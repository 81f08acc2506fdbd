//! Validation of devices against their own times and the week of hplajw; the
//! table, and refused comparisons.

use super::close;
use crate::common::{self, refusals::refuse};
use crate::runs::planned::planned;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, StringArray};
use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::row::Row;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::load::Load;
use sledsim_experiments::run::{Plan, RowsTo, Run};
use sledsim_experiments::validation::{Validation, validate, write_table};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A trace file in a folder that goes with it.
struct Trace {
    _folder: TempDir,
    path: PathBuf,
}

fn trace(name: &str, text: &str) -> Trace {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    Trace { _folder: folder, path }
}

fn load(path: &Path, keys: &str) -> Load {
    Load::trace(path, Keys::parse(keys, "my.toml").unwrap()).unwrap()
}

fn tried(device: &Device, path: &Path, keys: &str) -> Result<Validation> {
    let load = load(path, keys);
    validate(device, &load, SchedulerSpec::default(), &mut |_| Ok(()))
}

fn validated(device: &Device, path: &Path, keys: &str) -> Validation {
    tried(device, path, keys).unwrap()
}

fn listed(device: &Device, load: &Load) -> Run {
    planned(device, load, &Plan::from(&RowsTo::List))
}

fn figure(validation: &Validation, key: &str, kind: &str) -> Option<f64> {
    json!(validation.document)[key][kind].as_f64()
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
    assert_eq!(json!(same.document)["replay"], "closed");
    assert_eq!(json!(same.document)["parts"], Value::Null);
    for (kind, count) in [("all", 300), ("read", 200), ("write", 100)] {
        assert_eq!(json!(same.document)["requests"][kind], count);
        for key in ["demerit_ms", "demerit_percent", "paired_rms_ms"] {
            assert_eq!(figure(&same, key, kind), Some(0.0), "{key} of {kind}");
        }
        let (measured, simulated) =
            (&json!(same.document)["measured_ms"], &json!(same.document)["simulated_ms"]);
        assert_eq!(measured[kind], simulated[kind]);
        assert!(measured[kind]["sd"].as_f64().unwrap() > 0.5, "times differ");
    }

    // Writes measured 2 ms longer: the reads do not mind.
    let longer = |i: usize| own[i] + if i % 3 == 1 { 2000.0 } else { 0.0 };
    let slower = trace("m.validate", &requests(longer));
    let slower = validated(&device, &slower.path, "");
    assert_eq!(figure(&slower, "demerit_ms", "read"), Some(0.0));
    assert!(close(figure(&slower, "demerit_ms", "write").unwrap(), 2.0));
    let weighted = json!(slower.document)["class_weighted_ms"].as_f64().unwrap();
    assert!(close(weighted, 2.0 * (1.0 / 3.0_f64).sqrt()));
    let paired = figure(&slower, "paired_rms_ms", "all").unwrap();
    assert!(close(paired, 2.0 * (1.0 / 3.0_f64).sqrt()));
    assert!(figure(&slower, "demerit_ms", "all").unwrap() <= paired);
    let worst = &json!(slower.document)["worst_request"];
    assert_eq!((&worst["id"], &worst["op"]), (&Value::from(1), &Value::from("write")));

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
    assert_eq!(json!(reads.document)["demerit_ms"]["write"], Value::Null);
    assert_eq!(figure(&reads, "demerit_ms", "all"), figure(&reads, "demerit_ms", "read"));
    let all = figure(&reads, "demerit_ms", "all");
    assert_eq!(json!(reads.document)["class_weighted_ms"].as_f64(), all);
    assert_eq!(json!(reads.document)["demerits_disagree"], false);
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
    assert_eq!(json!(same.document)["replay"], "open");
    assert_eq!(figure(&same, "paired_rms_ms", "all"), Some(0.0));
    let ids = same.rows.column_by_name("id").unwrap();
    let ids = ids.as_primitive::<UInt64Type>().values();
    assert!(ids.iter().copied().eq(0..2000), "in the order of the trace");
    for part in ["queue", "service"] {
        assert_eq!(json!(same.document)["parts"][part]["paired_rms_ms"]["all"], 0.0, "{part}");
        let mean = &json!(same.document)["parts"][part]["measured_ms"]["all"]["mean"];
        assert!(mean.as_f64().unwrap() > 0.01, "{part} has something to compare");
    }
}

/// Three requests of known times, one without a measurement.
#[test]
fn queue_and_service_are_separated() {
    let memory = common::device("memory", &[]);
    let text = "t,lba,n,op,r,q\n0,0,8,r,5,1\n1000,8,8,w,9,2\n2000,64,8,r,,\n3000,0,8,r,4,4\n";
    let columns = "columns = \"time=t:ms, offset=lba:512B, bytes=n:512B, op=op, response=r:ms, \
                   queue=q:ms, origin=zero\"\n";
    let file = trace("own.csv", text);
    let open = validated(&memory, &file.path, columns);
    let parts = &json!(open.document)["parts"];
    assert_eq!(json!(open.document)["left_out"]["not_measured"], 1);
    assert_eq!(json!(open.document)["requests"]["all"], 3);
    assert_eq!(json!(open.document)["measured_ms"]["all"]["mean"], 6.0);
    assert_eq!(parts["queue"]["measured_ms"]["read"]["mean"], 2.5);
    assert_eq!(parts["service"]["measured_ms"]["read"]["max"], 4.0);
    assert_eq!(parts["service"]["measured_ms"]["write"]["p50"], 7.0);
    // Nothing waits in memory at this rate: the figure is the queue measured.
    assert_eq!(parts["queue"]["simulated_ms"]["all"]["max"], 0.0);
    let queue = parts["queue"]["demerit_ms"]["all"].as_f64().unwrap();
    assert!(close(queue, (21.0_f64 / 3.0).sqrt()));

    // One at a time: the queue measured is not the device's doing.
    let closed = validated(&memory, &file.path, &format!("{columns}queue_depth = 1"));
    assert_eq!(json!(closed.document)["replay"], "closed");
    assert_eq!(json!(closed.document)["parts"], Value::Null);
    assert_eq!(json!(closed.document)["measured_ms"]["all"]["mean"], 11.0 / 3.0);
    assert_eq!(json!(closed.document)["measured_ms"]["read"]["max"], 4.0);

    // The first request warms up, and is still the one before the second.
    let warm = validated(&memory, &file.path, &format!("{columns}warm_up_requests = 1"));
    assert_eq!(json!(warm.document)["left_out"]["warm_up"], 1);
    assert_eq!(json!(warm.document)["requests"]["all"], 2);
    assert_eq!(json!(warm.document)["measured_ms"]["write"]["mean"], 9.0);
    assert_eq!(json!(warm.document)["measured_ms"]["read"]["mean"], 4.0);
}

#[test]
fn requests_are_classified_by_the_request_before() {
    // After (100, 8): behind it, on its last block, 255 and 256 blocks behind
    // its end, 255 and 256 before its start.
    let second =
        [("108 4", "sequential"), ("107 4", "overlapping"), ("363 4", "near"), ("364 4", "far")];
    let memory = common::device("memory", &[]);
    for (place, expected) in second {
        let text = format!("R Hit 100 8 1 1\nW Hit {place} 1 1\n");
        let found = validated(&memory, &trace("m.validate", &text).path, "");
        let class = &json!(found.document)["classes"][1];
        assert_eq!(class["place"], expected, "{place}");
        assert_eq!((&class["op"], &class["after"]), (&"write".into(), &"read".into()));
        let column = found.rows.column_by_name("place").unwrap();
        let column = column.as_dictionary::<Int32Type>();
        let names = column.values().as_string::<i32>();
        assert_eq!(names.value(column.keys().value(1) as usize), expected);
    }
    for (first, expected) in [(1000 - 255 - 4, "near"), (1000 - 256 - 4, "far"), (996, "near")] {
        let text = format!("W Hit 1000 8 1 1\nW Hit {first} 4 1 1\n");
        let found = validated(&memory, &trace("m.validate", &text).path, "");
        assert_eq!(json!(found.document)["classes"][1]["place"], expected, "{first}");
    }
}

#[test]
fn the_table_holds_the_data_of_the_figures() {
    let device = disk();
    let file = trace("m.validate", &requests(|i| 100.0 + i as f64));
    let validation = validated(&device, &file.path, "");
    let table = &validation.rows;
    let int64 = |name: &str| {
        let column = table.column_by_name(name).unwrap();
        column.as_primitive::<Int64Type>().values().to_vec()
    };
    let ids = table.column_by_name("id").unwrap();
    let ids = ids.as_primitive::<UInt64Type>().values();
    assert!(ids.iter().copied().eq(0..300));
    let measured = int64("measured_ns");
    assert_eq!(measured[17], 117_000);
    assert_eq!(table.column_by_name("measured_queue_ns").unwrap().null_count(), 300);
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
    let batches: Vec<_> =
        (reader.unwrap().build().unwrap()).map(std::result::Result::unwrap).collect();
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
fn refused_comparisons_have_a_message() {
    let device = common::device("g2", &[]);
    let random = Load::workload("random", Keys::empty("load")).unwrap();
    refuse("random => no measured times | give a trace", |_| {
        validate(&device, &random, SchedulerSpec::default(), &mut |_| Ok(())).map(drop)
    });
    // A file, then its lines.
    let table = r#"
    a.trace ; 0 0 100 8 1 ; 1 0 108 8 0 =>
        a.trace: has no measured times | disksim_ascii | response=COLUMN:UNIT
    m.validate ; R Hit 1 1 1 1 ; R Hit 99999999999 1 1 1 => m.validate:2: | address = "wrap"
    m.validate ; R Hit 1 1 1 1 ; R Hit 1 1 soon 1 => m.validate:2: | service | soon
    "#;
    refuse(table, |given| {
        let (name, lines) = given.split_once('\n').unwrap();
        tried(&device, &trace(name, &format!("{lines}\n")).path, "").map(drop)
    });
    let beyond = trace("m.validate", "R Hit 1 1 1 1\nR Hit 99999999999 1 1 1\n");
    assert!(tried(&device, &beyond.path, "address = \"wrap\"").is_ok());

    let mut text = "t,lba,n,op,r\n".to_owned();
    (0..500).for_each(|i| writeln!(text, "{i},{},8,r,1", i * 5000).unwrap());
    let fast = trace("fast.csv", &text);
    let table = r#"
    columns = "time=t:ns, offset=lba:512B, bytes=n:512B, op=op, response=r:ns" ; max_queue = 100 =>
        fast.csv: its requests outran the device | time_scale | queue_depth = 1
    "#;
    refuse(table, |keys| tried(&device, &fast.path, keys).map(drop));
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
        assert_eq!(json!(found.document)["requests"]["read"], reads);
        assert_eq!(json!(found.document)["requests"]["write"], writes);
        let parts = &json!(found.document)["parts"];
        let mean = |part: &str| parts[part]["measured_ms"]["all"]["mean"].as_f64().unwrap();
        assert!((mean("queue") - queue_ms).abs() < 0.01, "{}", mean("queue"));
        let response = json!(found.document)["measured_ms"]["all"]["mean"].as_f64().unwrap();
        assert!((mean("queue") + mean("service") - response).abs() < 1e-9);
        // The model of its header alone is within a third of the mean service.
        let share = parts["service"]["demerit_percent"]["all"].as_f64().unwrap();
        assert!(share < 33.0, "{share}");
    }
}
