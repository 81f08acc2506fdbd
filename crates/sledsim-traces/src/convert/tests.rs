//! Conversion of hand-made records: clocks, names, unaligned requests.

use super::*;
use crate::detect::ChosenBy;
use crate::format::Clock;
use crate::input::Compression;
use crate::reader::Reader;
use crate::record::Record;
use crate::writers::{Lost, Writer};
use sledsim_base::request::Op;
use std::sync::{Arc, Mutex};

/// A reader of given records.
struct FixedRecords(std::vec::IntoIter<Record>);

impl Reader for FixedRecords {
    fn next(&mut self) -> Result<Option<Record>> {
        Ok(self.0.next())
    }

    fn refuse(&self, problem: String) -> Error {
        Error::Request(problem)
    }

    fn device_name(&self, device: u32) -> Option<&str> {
        ["usr", "web"].get(device as usize).copied()
    }

    fn bytes_read(&self) -> u64 {
        0
    }
}

/// A writer that stores the records.
struct RecordingWriter(Arc<Mutex<Vec<Record>>>);

impl Writer for RecordingWriter {
    fn write(&mut self, record: &Record) -> Result<Option<u64>> {
        self.0.lock().unwrap().push(*record);
        Ok(Some(record.bytes))
    }

    fn name_device(&mut self, _: u32, _: &str) -> Result<()> {
        Ok(())
    }

    fn lost(&self) -> Lost {
        Lost { think_times: 2, ..Lost::default() }
    }

    fn finish(self: Box<Self>) -> Result<Lost> {
        Ok(self.lost())
    }
}

fn at(time: u64, offset: u64) -> Record {
    Record { time: Nanos(time), op: Op::Read, offset, bytes: 1000, ..Record::default() }
}

fn convert(
    traces: Vec<(Clock, Vec<Record>)>,
    change: impl FnOnce(&mut ConvertSpec),
) -> Result<(Vec<Record>, Conversion)> {
    let paths: Vec<PathBuf> = (0..traces.len()).map(|at| at.to_string().into()).collect();
    let mut spec = ConvertSpec::new(&paths, Path::new("out"));
    change(&mut spec);
    spec.validate()?;
    let inputs = paths.iter().zip(traces).map(|(path, (clock, records))| {
        let format = Format { clock, ..*crate::FORMATS.iter().next().expect("there are formats") };
        let records =
            SortedRecords::new(Box::new(FixedRecords(records.into_iter())), spec.sort, true);
        let found = ResolvedFormat {
            format,
            chosen_by: ChosenBy::Key,
            others: Vec::new(),
            doubts: Vec::new(),
        };
        MergeInput::new(&Supply::new(path), found, Compression::None, None, records)
    });
    let merge = Merge::new(inputs.collect(), &paths)?;
    let kept = Arc::new(Mutex::new(Vec::new()));
    let writer = Box::new(RecordingWriter(kept.clone()));
    let report = work::write(&spec, merge, "kept", writer, &mut |_| Ok(()))?;
    let records = kept.lock().unwrap().clone();
    Ok((records, report))
}

fn times(records: &[Record]) -> Vec<(u64, u64, u32)> {
    let facts = |record: &Record| (record.time.0, record.offset, record.device);
    records.iter().map(facts).collect()
}

#[test]
fn calendars_keep_their_distance_and_recordings_start_together() {
    let traces = || {
        vec![
            (Clock::Calendar, vec![at(1_000_050, 1), at(1_000_090, 2)]),
            (Clock::Start, vec![at(7, 3), at(60, 4)]),
            (Clock::Calendar, vec![at(1_000_000, 5), at(1_000_060, 6)]),
        ]
    };
    let (records, report) = convert(traces(), |_| {}).unwrap();
    // Two inputs have a request at 60: the input named first precedes.
    let expected = [(0, 5, 0), (7, 3, 1), (50, 1, 2), (60, 4, 1), (60, 6, 0), (90, 2, 2)];
    assert_eq!(times(&records), expected);
    assert_eq!([0, 1].map(|at: usize| report.inputs[at].origin_s), [0.001, 0.0]);
    assert_eq!(report.lost_fields.to_string(), "{\"think_times\":2}");
    assert_eq!(report.devices[0].name.as_deref(), Some("usr"));
    assert_eq!(report.devices[1].input, "1");

    let (records, _) = convert(traces(), |spec| spec.keep_devices = true).unwrap();
    assert!(records.iter().all(|record| record.device == 0));
    // A single calendar trace starts at zero; a single recording keeps its times.
    let (records, _) = convert(vec![traces().remove(0)], |_| {}).unwrap();
    assert_eq!(times(&records), [(0, 1, 0), (40, 2, 0)]);
    let (records, _) = convert(vec![traces().remove(1)], |_| {}).unwrap();
    assert_eq!(times(&records), [(7, 3, 0), (60, 4, 0)]);
}

#[test]
fn a_trace_without_times_gets_them_from_response_and_think_times() {
    let measured = |response, think| Record {
        response: Some(Nanos(response)),
        think: Some(Nanos(think)),
        ..at(0, 0)
    };
    let closed = || (Clock::Closed, vec![measured(5, 10), measured(7, 0), measured(1, 1)]);
    let (records, _) = convert(vec![closed()], |_| {}).unwrap();
    assert!(times(&records).iter().map(|(time, ..)| *time).eq([0, 15, 22]));
    let other = (Clock::Start, vec![at(0, 0)]);
    let error = convert(vec![other, closed()], |_| {}).unwrap_err().to_string();
    assert!(error.starts_with("1: ") && error.contains("no times to merge by"), "{error}");
    let unmeasured = (Clock::Closed, vec![at(0, 0)]);
    let error = convert(vec![unmeasured], |_| {}).unwrap_err().to_string();
    assert!(error.contains("no response and think time"), "{error}");
}

#[test]
fn widening_extends_to_whole_blocks_and_is_counted() {
    let one = |offset, bytes| Record { bytes, ..at(0, offset) };
    let odd = vec![one(1, 1), one(511, 2), one(512, 512), one(1024, 513), one(1535, 1025)];
    let (records, report) = convert(vec![(Clock::Start, odd)], |spec| spec.widen = true).unwrap();
    let places: Vec<_> = records.iter().map(|r| (r.offset, r.bytes)).collect();
    assert_eq!(places, [(0, 512), (0, 1024), (512, 512), (1024, 1024), (1024, 1536)]);
    assert_eq!(report.widened, 4);
}

#[test]
fn devices_are_chosen_by_number_or_name() {
    let on = |device| Record { device, ..at(0, 0) };
    let trace = || vec![(Clock::Start, vec![on(0), on(1), on(2), on(1)])];
    for (chosen, left) in [("web", 2), ("1", 2), ("usr", 1), ("2", 1_u64)] {
        let (records, report) =
            convert(trace(), |spec| spec.devices = vec![chosen.into()]).unwrap();
        assert_eq!(records.len() as u64, left, "{chosen}");
        assert_eq!(report.left_out.other_devices, 4 - left);
    }
    let error = convert(trace(), |spec| spec.devices = vec!["srv".into()]).unwrap_err();
    assert!(error.to_string().contains("none of 4 requests"), "{error}");
}
