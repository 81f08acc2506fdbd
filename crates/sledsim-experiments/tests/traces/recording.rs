//! Recordings: written, and replayed as they are.

use crate::common;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::request::Op;
use sledsim_base::row::{Parts, Row};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::load::Load;
use sledsim_experiments::run::{Plan, RowsTo, run};
use sledsim_experiments::stats::{RowsFile, recording_schema, row_schema};
use std::fs::File;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn keys(text: &str) -> Keys {
    Keys::parse(text, "my.toml").unwrap()
}

fn scheduler(name: &str) -> SchedulerSpec {
    SchedulerSpec::named(name).unwrap()
}

/// Runs a load and leaves its rows in `rows`, with those inside the device.
fn rows_of(load: &Load, device: &Device, policy: &str, rows: &Path) -> Result<Value> {
    let plan = Plan { rows: RowsTo::File(rows.to_owned()), parts: true, ..Plan::default() };
    let run = run(device, load, scheduler(policy), plan, &mut |_| Ok(()))?;
    Ok(json!(run.document))
}

/// A trace of every operation, many requests to an instant, in any order of
/// blocks. What may take no time is `apart`, or among the others.
fn instants(folder: &Path, apart: bool) -> PathBuf {
    let mut text = "time_ns,device,op,offset_bytes,bytes\n".to_owned();
    for i in 0_u64..600 {
        let at = (i / 7) * 1_300_001;
        let op = match i % 7 {
            4 if !apart => "flush",
            5 if !apart => "trim",
            6 if apart => ["flush", "trim"][(i / 7 % 2) as usize],
            i => ["read", "write", "read"][(i % 3) as usize],
        };
        let lbn = i * 2_654_435_761 % 6_000_000;
        let (device, blocks) = (i * i % 3, 1 + i % 40);
        let (offset, bytes) = (lbn * 512, blocks * 512);
        text += &format!("{at},{device},{op},{offset},{bytes}\n");
    }
    let path = folder.join("instants.csv");
    std::fs::write(&path, text).unwrap();
    path
}

fn loads(folder: &Path, how: How) -> Vec<(&'static str, Load)> {
    let workload = |name: &str, text: &str| Load::workload(name, keys(text)).unwrap();
    let columns = "columns = \"time=time_ns:ns, device=device, op=op, offset=offset_bytes:B, \
                   bytes=bytes:B\"\ntrace_device = \"all\"";
    vec![
        ("open", workload("random", "rate = 150\nrequests = 2000\nmean_size_kib = 8")),
        ("closed", workload("random", "queue_depth = 8\nrequests = 2000")),
        (
            "thinking",
            workload(
                "zipf",
                "queue_depth = 8\nthink_ms = 6\nthink = \"exponential\"\nrequests = 2000",
            ),
        ),
        (
            "streams",
            workload(
                "sequential",
                &format!(
                    "{}\nstreams = 3\ninterleave = \"random\"\nrequests = 2000",
                    // Streams of a closed load answer each other.
                    ["queue_depth = 3", "rate = 150"][usize::from(how == How::Stream)]
                ),
            ),
        ),
        ("instants", Load::trace(&instants(folder, how != How::Open), keys(columns)).unwrap()),
    ]
}

const DEVICES: [(&str, &str); 5] =
    [("g2", "sptf"), ("g2", "fcfs"), ("atlas10k", "sptf"), ("mcd", "sptf"), ("mwb", "c_look")];

/// How runs are replayed.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Open,
    /// Each request after one of its stream.
    Stream,
    /// Each request after any.
    All,
}

/// Replayed as `how` says, every run gives the file of its rows again, byte for
/// byte.
fn replays_are_identical(how: How) {
    let folder = TempDir::new().unwrap();
    let [first, second] = ["first.parquet", "second.parquet"].map(|name| folder.path().join(name));
    let text = match how {
        How::Open => "",
        How::Stream => "think = \"recorded\"",
        How::All => "think = \"recorded\"\ndepends_on = \"all\"",
    };
    let mut children = 0;
    for (device, policy) in DEVICES {
        let device = common::device(device, &[]);
        for (name, load) in loads(folder.path(), how) {
            let one = rows_of(&load, &device, policy, &first).unwrap();
            let replay = Load::trace(&first, keys(text)).unwrap();
            let two = rows_of(&replay, &device, policy, &second).unwrap();
            let about = format!("{name} on {} by {policy}", device.name());
            let count = |document: &Value| document["summary"]["requests"].as_u64().unwrap();
            assert_eq!(count(&two), count(&one), "{about}");
            let rows: usize = batches(&first).iter().map(RecordBatch::num_rows).sum();
            let inner = rows as u64 - count(&one);
            children += inner;
            assert_eq!(two["workload"]["sorted"], 0, "{about}");
            if how == How::Open && inner > 0 && one["workload"]["queue_depth"].is_u64() {
                // A request that answered a completion came after what its
                // instant held for the devices inside. By its time alone, it
                // comes before that: see docs/reference/replay.md.
                continue;
            }
            let [one, two] = [one, two].map(|document| without_overload(document, how));
            assert!(two == one, "{about}: another summary");
            let same = std::fs::read(&first).unwrap() == std::fs::read(&second).unwrap();
            assert!(same, "{about}: other rows");
        }
    }
    assert!(children > 10_000, "composites have rows of their children");
}

/// The summary. A closed replay offers no rate, and so is never overloaded, as
/// what it replays may have been: nothing is said of that then.
fn without_overload(mut document: Value, how: How) -> Value {
    let mut summary = document["summary"].take();
    if how != How::Open {
        summary["overloaded"].take();
        for interval in summary["confidence"].as_object_mut().unwrap().values_mut() {
            if let Some(caution) = interval.get_mut("caution") {
                caution.take();
            }
        }
    }
    summary
}

#[test]
fn an_open_replay_on_the_same_device_is_identical() {
    replays_are_identical(How::Open);
}

#[test]
fn a_closed_replay_on_the_same_device_is_identical() {
    replays_are_identical(How::Stream);
}

#[test]
fn a_closed_replay_that_waits_for_any_is_identical_on_the_same_device() {
    replays_are_identical(How::All);
}

fn batches(path: &Path) -> Vec<RecordBatch> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    builder.build().unwrap().map(|batch| batch.unwrap()).collect()
}

fn row(id: u64, stream: u32, arrival: u64, completion: u64) -> Row {
    Row {
        id,
        stream,
        op: Op::Read,
        lbn: 8 * id,
        blocks: 8,
        arrival: Nanos(arrival),
        start: Nanos(arrival),
        completion: Nanos(completion),
        parts: Parts { transfer: Nanos(completion - arrival), ..Parts::default() },
        ..Row::default()
    }
}

#[test]
fn a_recording_holds_rows_latenesses_and_what_was_recorded() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rec.parquet");
    let about = [("recorded_device", "g2"), ("spec", "[mems]\nx = \"1\""), ("speed", "0.5")];
    let about: Vec<(String, String)> =
        (about.iter()).map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let mut rows = RowsFile::create_recording(&path, &["outer", "inner"], about.clone()).unwrap();
    let child = Row { parent: Some(0), device: 1, ..row(0, 0, 5, 10) };
    rows.push(&child).unwrap();
    rows.push_late(&row(0, 0, 5, 11), Some(Nanos(0))).unwrap();
    rows.push_late(&row(1, 3, 6, 12), Some(Nanos(77))).unwrap();
    rows.push_late(&row(2, 3, 6, 12), None).unwrap();
    assert!(!path.exists(), "not before it is complete");
    assert_eq!(rows.finish().unwrap(), 4);

    let found = batches(&path);
    assert_eq!(found.len(), 1);
    let late = found[0].column_by_name("lateness_ns").unwrap();
    let late = late.as_primitive::<Int64Type>();
    let late: Vec<Option<i64>> = late.iter().collect();
    assert_eq!(late, [None, Some(0), Some(77), None]);
    let [schema, rows] = [recording_schema(), row_schema()];
    let (last, others) = schema.fields().split_last().unwrap();
    assert_eq!(others, &rows.fields()[..], "the columns of rows, and one more");
    assert!(last.is_nullable());
    assert_eq!(last.metadata()["unit"], "ns");
    assert!(last.metadata()["description"].contains("reply was sent"));
    assert_eq!(found[0].schema().fields(), schema.fields());

    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
    let file = builder.metadata().file_metadata();
    let told = file.key_value_metadata().unwrap();
    let told: Vec<(String, String)> = (told.iter())
        .filter(|pair| pair.key != "ARROW:schema")
        .map(|pair| (pair.key.clone(), pair.value.clone().unwrap()))
        .collect();
    assert_eq!(told[0].0, "sledsim");
    assert!(told[1..].starts_with(&about), "in their order: {told:?}");

    // What is no recording has neither.
    let plain = folder.path().join("plain.parquet");
    let mut rows = RowsFile::create(&plain, &["outer"]).unwrap();
    rows.push_late(&row(0, 0, 5, 11), Some(Nanos(9))).unwrap();
    rows.finish().unwrap();
    let columns = batches(&plain)[0].schema();
    assert_eq!(columns.fields(), row_schema().fields());
    assert_eq!(columns.fields().len() + 1, schema.fields().len());
}
