//! Traces into another format: merged, cut, sampled, scaled.

mod devices;
mod merge;
pub mod output;
mod select;

use super::detect::Found;
use super::records::PassedOver;
use super::sorted::Sorted;
use super::writers::Writer;
use super::{Format, Options, Reading, Supply};
use devices::Devices;
use merge::{Input, Merge};
use select::Select;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::files::refuse_overwriting;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::path::{Path, PathBuf};

/// What to make of which traces. What it says is done in the order of the
/// fields, from `sort` on.
#[derive(Clone, Debug)]
pub struct ConvertSpec {
    /// The traces; several are merged by time.
    pub inputs: Vec<PathBuf>,
    /// The file to write.
    pub output: PathBuf,
    /// The name of its format; that of its ending if not given.
    pub to: Option<String>,
    /// The format of all inputs; recognised by their content if not given.
    pub format: Option<Format>,
    /// What their readers must be told.
    pub options: Options,
    /// Puts records in order that are late by up to this.
    pub sort: Nanos,
    /// Takes these devices only, by number or name; empty for all.
    pub devices: Vec<String>,
    /// Takes requests from this time on, on the common clock.
    pub from: Nanos,
    /// Takes requests before this time.
    pub until: Option<Nanos>,
    /// Takes a part of them.
    pub sample: Sample,
    /// Takes the first so many.
    pub requests: Option<u64>,
    /// Makes the first request taken time zero.
    pub rebase: bool,
    /// Divides the times.
    pub time_scale: f64,
    /// Takes in the whole of every block of 512 bytes that is touched.
    pub widen: bool,
    /// Keeps the device numbers of several traces, even if they collide.
    pub keep_devices: bool,
}

/// Which part of the requests to take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sample {
    /// All.
    #[default]
    All,
    /// The first, and every so manieth after it.
    Every(u64),
    /// A share of the 4 KiB units in which requests begin, chosen by hash:
    /// what is used again stays so.
    Places {
        /// The share, above 0 and at most 1.
        share: f64,
        /// For another choice.
        seed: u64,
    },
}

/// What was written so far.
#[derive(Default)]
struct Written {
    /// Requests handed to the writer, which may leave some out.
    taken: u64,
    requests: u64,
    reads: u64,
    bytes: u64,
    widened: u64,
    first: Option<Nanos>,
    last: Nanos,
}

impl ConvertSpec {
    /// All of some traces into a file.
    #[must_use]
    pub fn new(inputs: &[PathBuf], output: &Path) -> Self {
        Self {
            inputs: inputs.to_vec(),
            output: output.to_owned(),
            to: None,
            format: None,
            options: Options::default(),
            sort: Nanos::ZERO,
            devices: Vec::new(),
            from: Nanos::ZERO,
            until: None,
            sample: Sample::All,
            requests: None,
            rebase: false,
            time_scale: 1.0,
            widen: false,
            keep_devices: false,
        }
    }

    /// Writes the file, which appears when it is complete, and says what was
    /// done; the page on traces describes the keys. `check` is called now and
    /// then; its error ends the work and leaves nothing behind.
    ///
    /// Times are on one clock: traces that count from the start of their
    /// recording start together and keep their times; those that have the
    /// calendar keep their distances, and the earliest request of them is at
    /// zero; one without times gets those that its response and think times
    /// make.
    ///
    /// # Errors
    /// A file cannot be read or written, a record is bad or cannot be held by
    /// the format, nothing is left to write, a value out of its range, or
    /// `check`'s.
    pub fn convert(&self, check: &mut dyn FnMut(Reading) -> Result<()>) -> Result<Value> {
        self.validate()?;
        refuse_overwriting(&self.output, self.inputs.iter().map(PathBuf::as_path))?;
        let merge = Merge::new(self.open(check)?, &self.inputs)?;
        let (to, writer) = output::create(
            &self.output,
            self.to.as_deref(),
            self.options.formats.writers,
        )?;
        self.write(merge, to, writer, check)
    }

    /// Starts reading the inputs.
    fn open(&self, check: &mut dyn FnMut(Reading) -> Result<()>) -> Result<Vec<Input>> {
        // One that can be read once only must be named once: all are held.
        let supplies: Vec<_> = (self.inputs.iter()).map(|path| Supply::new(path)).collect();
        let mut open = |supply: &Supply| {
            let beginning = &mut || check(Reading { bytes: 0, of: None });
            let (found, input) = Found::of(supply, self.format, &self.options, beginning)?;
            let (compression, bytes) = (input.compression(), input.bytes());
            let reader = found.format.open(input, &self.options)?;
            let records = Sorted::new(reader, self.sort, true);
            Ok(Input::new(supply, found, compression, bytes, records))
        };
        supplies.iter().map(&mut open).collect()
    }

    fn write(
        &self,
        mut merge: Merge,
        to: &str,
        mut writer: Box<dyn Writer>,
        check: &mut dyn FnMut(Reading) -> Result<()>,
    ) -> Result<Value> {
        let mut select = Select::new(self);
        let mut devices = Devices::new(self.inputs.len() > 1 && !self.keep_devices);
        let mut written = Written::default();
        let mut base = Nanos::ZERO;
        let mut left = Reading::EVERY;
        let mut ended = "inputs";
        while let Some((index, mut record)) = merge.next()? {
            left -= 1;
            if left == 0 {
                left = Reading::EVERY;
                check(Reading {
                    bytes: merge.bytes_read(),
                    of: merge.of,
                })?;
            }
            if self.until.is_some_and(|until| record.time >= until) {
                select.outside_times += 1;
                ended = "until";
                break;
            }
            let reader = &*merge.inputs[index].records.reader;
            if !select.wants_device(index, record.device, reader) {
                continue;
            }
            if record.time < self.from {
                select.outside_times += 1;
                continue;
            }
            if !select.samples(index, &record) {
                continue;
            }
            if written.taken == 0 && self.rebase {
                base = record.time;
            }
            record.time = scaled(record.time - base, self.time_scale)
                .ok_or_else(|| reader.refuse("time: more than 292 years after scaling".into()))?;
            if self.widen && !record.is_aligned() {
                let (start, end) = record.blocks();
                record.offset = start * BLOCK_BYTES;
                record.bytes = (end - start) * BLOCK_BYTES;
                written.widened += 1;
            }
            record.device = devices.renumber(index, record.device, reader, &mut *writer)?;
            written.taken += 1;
            if let Some(bytes) = writer.write(&record)? {
                written.take(record.time, record.op, bytes);
                devices.count();
            }
            if self.requests == Some(written.taken) {
                ended = "requests";
                break;
            }
        }
        if written.requests == 0 && written.taken > 0 {
            let (taken, lost) = (
                written.taken,
                Value::Object(output::lost_fields(&writer.lost())),
            );
            return Err(Error::file(
                &self.output,
                format!("not written: {to} has no place for any of {taken} requests; {lost}"),
            ));
        }
        if written.requests == 0 {
            let read: u64 = merge.inputs.iter().map(|input| input.read).sum();
            return Err(Error::file(
                &self.output,
                format!(
                    "not written: none of {read} requests are left; {}",
                    select.facts()
                ),
            ));
        }
        let lost = writer.finish()?;
        Ok(json!({
            "inputs": merge.inputs.iter().map(input).collect::<Vec<_>>(),
            "output": {
                "path": self.output.display().to_string(),
                "format": to,
                "requests": written.requests,
                "reads": written.reads,
                "total_bytes": written.bytes,
                "first_time_s": written.first.map(Nanos::s),
                "last_time_s": written.last.s(),
            },
            "ended_by": ended,
            "left_out": select.facts(),
            "widened": written.widened,
            "time_scale": self.time_scale,
            "subtracted_s": base.s(),
            "lost_fields": output::lost_fields(&lost),
            "devices": devices.facts(&merge.inputs),
        }))
    }

    fn validate(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Key(problem));
        if self.inputs.is_empty() {
            return refuse("inputs: must be at least one trace".to_owned());
        }
        if let Some(until) = self.until
            && until <= self.from
        {
            let (from, until) = (self.from.s(), until.s());
            return refuse(format!("until = {until} s: must be after from = {from} s"));
        }
        match self.sample {
            Sample::Every(0) => return refuse("every = 0: must be at least 1".to_owned()),
            Sample::Places { share, .. } if !(share > 0.0 && share <= 1.0) => {
                return refuse(format!("sample = {share}: must be above 0 and at most 1"));
            }
            _ => {}
        }
        if self.requests == Some(0) {
            return refuse("requests = 0: must be at least 1".to_owned());
        }
        if !(self.time_scale >= 1e-6 && self.time_scale <= 1e12) {
            let scale = self.time_scale;
            return refuse(format!("time_scale = {scale}: must be from 1e-6 to 1e12"));
        }
        Ok(())
    }
}

impl Written {
    fn take(&mut self, time: Nanos, op: sledsim_base::request::Op, bytes: u64) {
        self.requests += 1;
        self.reads += u64::from(op == sledsim_base::request::Op::Read);
        self.bytes = self.bytes.saturating_add(bytes);
        self.first.get_or_insert(time);
        self.last = time;
    }
}

/// A time divided by `scale`, if it is within reach.
fn scaled(time: Nanos, scale: f64) -> Option<Nanos> {
    if scale == 1.0 {
        return Some(time);
    }
    let scaled = time.0 as f64 / scale + 0.5;
    (scaled < (u64::MAX / 2) as f64).then_some(Nanos(scaled as u64))
}

fn input(input: &Input) -> Value {
    let clock = match input.found.format.clock {
        super::Clock::Start => "start of the recording, kept",
        super::Clock::Calendar => "calendar, from the earliest request of all such traces",
        super::Clock::Closed => "rebuilt from response and think times",
    };
    let mut facts = json!({
        "path": input.path,
        "format": input.found.format.name,
        "format_from": input.found.chosen_by.name(),
        "format_others": input.found.others,
        "compression": input.compression.name(),
        "requests": input.read,
        "first_time_s": input.first.s(),
        "clock": clock,
        "origin_s": input.origin.s(),
    });
    PassedOver::of(&*input.records.reader).state(&mut facts);
    facts
}

#[cfg(test)]
mod tests {
    //! What the formats at hand cannot show: clocks, names, odd bytes.

    use super::*;
    use crate::writers::Lost;
    use crate::{ChosenBy, Clock, Compression, Reader, Record};
    use sledsim_base::request::Op;
    use std::sync::{Arc, Mutex};

    /// Records that were made by hand.
    struct Given(std::vec::IntoIter<Record>);

    impl Reader for Given {
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

    /// Keeps what is written.
    struct Kept(Arc<Mutex<Vec<Record>>>);

    impl Writer for Kept {
        fn write(&mut self, record: &Record) -> Result<Option<u64>> {
            self.0.lock().unwrap().push(*record);
            Ok(Some(record.bytes))
        }

        fn name_device(&mut self, _: u32, _: &str) -> Result<()> {
            Ok(())
        }

        fn lost(&self) -> Lost {
            Lost {
                think_times: 2,
                ..Lost::default()
            }
        }

        fn finish(self: Box<Self>) -> Result<Lost> {
            Ok(self.lost())
        }
    }

    fn at(time: u64, offset: u64) -> Record {
        Record {
            time: Nanos(time),
            op: Op::Read,
            offset,
            bytes: 1000,
            ..Record::default()
        }
    }

    fn convert(
        traces: Vec<(Clock, Vec<Record>)>,
        change: impl FnOnce(&mut ConvertSpec),
    ) -> Result<(Vec<Record>, Value)> {
        let paths: Vec<PathBuf> = (0..traces.len()).map(|at| at.to_string().into()).collect();
        let mut spec = ConvertSpec::new(&paths, Path::new("out"));
        change(&mut spec);
        spec.validate()?;
        let inputs = paths.iter().zip(traces).map(|(path, (clock, records))| {
            let format = Format {
                clock,
                ..*super::super::FORMATS
                    .iter()
                    .next()
                    .expect("there are formats")
            };
            let records = Sorted::new(Box::new(Given(records.into_iter())), spec.sort, true);
            let found = Found {
                format,
                chosen_by: ChosenBy::Key,
                others: Vec::new(),
            };
            Input::new(&Supply::new(path), found, Compression::None, None, records)
        });
        let merge = Merge::new(inputs.collect(), &paths)?;
        let kept = Arc::new(Mutex::new(Vec::new()));
        let writer = Box::new(Kept(kept.clone()));
        let report = spec.write(merge, "kept", writer, &mut |_| Ok(()))?;
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
        // At 60 the recording and the third calendar meet: the one named first goes first.
        let expected = [
            (0, 5, 0),
            (7, 3, 1),
            (50, 1, 2),
            (60, 4, 1),
            (60, 6, 0),
            (90, 2, 2),
        ];
        assert_eq!(times(&records), expected);
        assert_eq!(report["inputs"][0]["origin_s"], 0.001);
        assert_eq!(report["inputs"][1]["origin_s"], 0.0);
        assert_eq!(report["lost_fields"], json!({ "think_times": 2 }));
        assert_eq!(report["devices"][0]["name"], "usr");
        assert_eq!(report["devices"][1]["input"], "1");

        let (records, _) = convert(traces(), |spec| spec.keep_devices = true).unwrap();
        assert!(records.iter().all(|record| record.device == 0));
        // On its own, too, the calendar starts at zero, and a recording where it does.
        let (records, _) = convert(vec![traces().remove(0)], |_| {}).unwrap();
        assert_eq!(times(&records), [(0, 1, 0), (40, 2, 0)]);
        let (records, _) = convert(vec![traces().remove(1)], |_| {}).unwrap();
        assert_eq!(times(&records), [(7, 3, 0), (60, 4, 0)]);
    }

    #[test]
    fn traces_without_times_get_those_that_were_measured() {
        let measured = |response, think| Record {
            response: Some(Nanos(response)),
            think: Some(Nanos(think)),
            ..at(0, 0)
        };
        let closed = || {
            (
                Clock::Closed,
                vec![measured(5, 10), measured(7, 0), measured(1, 1)],
            )
        };
        let (records, _) = convert(vec![closed()], |_| {}).unwrap();
        assert!(
            times(&records)
                .iter()
                .map(|(time, ..)| *time)
                .eq([0, 15, 22])
        );
        let other = (Clock::Start, vec![at(0, 0)]);
        let error = convert(vec![other, closed()], |_| {})
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("1: ") && error.contains("no times to merge by"),
            "{error}"
        );
        let unmeasured = (Clock::Closed, vec![at(0, 0)]);
        let error = convert(vec![unmeasured], |_| {}).unwrap_err().to_string();
        assert!(error.contains("no response and think time"), "{error}");
    }

    #[test]
    fn widening_takes_in_whole_blocks_and_counts() {
        let one = |offset, bytes| Record {
            bytes,
            ..at(0, offset)
        };
        let odd = vec![
            one(1, 1),
            one(511, 2),
            one(512, 512),
            one(1024, 513),
            one(1535, 1025),
        ];
        let (records, report) =
            convert(vec![(Clock::Start, odd)], |spec| spec.widen = true).unwrap();
        let places: Vec<_> = records.iter().map(|r| (r.offset, r.bytes)).collect();
        assert_eq!(
            places,
            [(0, 512), (0, 1024), (512, 512), (1024, 1024), (1024, 1536)]
        );
        assert_eq!(report["widened"], 4);
    }

    #[test]
    fn devices_are_chosen_by_number_or_name() {
        let on = |device| Record { device, ..at(0, 0) };
        let trace = || vec![(Clock::Start, vec![on(0), on(1), on(2), on(1)])];
        for (chosen, left) in [("web", 2), ("1", 2), ("usr", 1), ("2", 1)] {
            let (records, report) =
                convert(trace(), |spec| spec.devices = vec![chosen.into()]).unwrap();
            assert_eq!(records.len(), left, "{chosen}");
            assert_eq!(report["left_out"]["other_devices"], 4 - left);
        }
        let error = convert(trace(), |spec| spec.devices = vec!["srv".into()]).unwrap_err();
        assert!(error.to_string().contains("none of 4 requests"), "{error}");
    }
}
