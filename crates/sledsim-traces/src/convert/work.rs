//! The work of a conversion: selects, changes and writes record by record.

use super::ConvertSpec;
use super::devices::{DeviceMap, DeviceSummary};
use super::merge::{Merge, MergeInput};
use super::select::{LeftOut, Select};
use crate::detect::TraceFile;
use crate::format::Clock;
use crate::progress::Reading;
use crate::record::Record;
use crate::records::Skipped;
use crate::unit_doubts::UnitDoubt;
use crate::writers::{Lost, Writer};
use serde::Serialize;
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::{BLOCK_BYTES, Nanos};

/// The report of a conversion.
#[derive(Clone, Debug, Serialize)]
pub struct Conversion {
    /// The traces read.
    pub inputs: Vec<InputSummary>,
    /// The file written.
    pub output: OutputSummary,
    /// What ended it: the `inputs`, or the limit `until` or `requests`.
    pub ended_by: &'static str,
    /// The records left out.
    pub left_out: LeftOut,
    /// Requests widened to whole blocks.
    pub widened: u64,
    /// [`ConvertSpec::time_scale`].
    pub time_scale: f64,
    /// The time subtracted from all times, in s.
    pub subtracted_s: f64,
    /// The fields that the format could not hold.
    pub lost_fields: Lost,
    /// The devices, in the order of their first requests.
    pub devices: Vec<DeviceSummary>,
}

/// A trace read by a conversion.
#[derive(Clone, Debug, Serialize)]
pub struct InputSummary {
    /// The file and its format.
    #[serde(flatten)]
    pub file: TraceFile,
    /// The number of requests read.
    pub requests: u64,
    /// The time of the first on the clock of the file, in s.
    pub first_time_s: f64,
    /// The clock, in words.
    pub clock: &'static str,
    /// The time subtracted from its times, in s.
    pub origin_s: f64,
    /// The records that are no requests, or were changed.
    #[serde(flatten)]
    pub skipped: Skipped,
    /// Units that make more sense of its first bytes.
    pub unit_doubts: Vec<UnitDoubt>,
}

/// The file written by a conversion.
#[derive(Clone, Debug, Serialize)]
pub struct OutputSummary {
    /// Its path.
    pub path: String,
    /// The name of its format.
    pub format: &'static str,
    /// The number of requests.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Bytes of all requests.
    pub total_bytes: u64,
    /// The first time, in s.
    pub first_time_s: Option<f64>,
    /// The last time, in s.
    pub last_time_s: f64,
}

/// The state of a conversion.
struct Work<'a> {
    spec: &'a ConvertSpec,
    select: Select,
    devices: DeviceMap,
    written: Written,
    /// The time subtracted from all times.
    base: Nanos,
    /// The limit that ended the conversion.
    ended: &'static str,
}

/// The totals of the records written so far.
#[derive(Default)]
struct Written {
    /// Requests passed to the writer, which may leave some out.
    taken: u64,
    requests: u64,
    reads: u64,
    bytes: u64,
    widened: u64,
    first: Option<Nanos>,
    last: Nanos,
}

/// Writes the records of `merge` that `spec` selects, in the format `to`, and
/// returns the report.
pub(super) fn write(
    spec: &ConvertSpec,
    mut merge: Merge,
    to: &'static str,
    mut writer: Box<dyn Writer>,
    check: &mut dyn FnMut(Reading) -> Result<()>,
) -> Result<Conversion> {
    let mut work = Work {
        spec,
        select: Select::new(spec),
        devices: DeviceMap::new(spec.inputs.len() > 1 && !spec.keep_devices),
        written: Written::default(),
        base: Nanos::ZERO,
        ended: "inputs",
    };
    let mut left = Reading::EVERY;
    while let Some((index, record)) = merge.next()? {
        left -= 1;
        if left == 0 {
            left = Reading::EVERY;
            check(Reading { bytes: merge.bytes_read(), of: merge.of })?;
        }
        if !work.take(index, record, &merge.inputs[index], &mut *writer)? {
            break;
        }
    }
    work.refuse_empty_output(to, &merge, &*writer)?;
    let written = work.written;
    Ok(Conversion {
        output: OutputSummary {
            path: spec.output.display().to_string(),
            format: to,
            requests: written.requests,
            reads: written.reads,
            total_bytes: written.bytes,
            first_time_s: written.first.map(Nanos::s),
            last_time_s: written.last.s(),
        },
        ended_by: work.ended,
        left_out: work.select.left_out,
        widened: written.widened,
        time_scale: spec.time_scale,
        subtracted_s: work.base.s(),
        lost_fields: writer.finish()?,
        devices: work.devices.into_summaries(),
        inputs: merge.inputs.into_iter().map(input).collect(),
    })
}

impl Work<'_> {
    /// Writes a record if it is selected; returns whether to continue.
    #[inline]
    fn take(
        &mut self,
        index: usize,
        mut record: Record,
        input: &MergeInput,
        writer: &mut dyn Writer,
    ) -> Result<bool> {
        let (spec, written) = (self.spec, &mut self.written);
        if spec.until.is_some_and(|until| record.time >= until) {
            self.select.left_out.outside_times += 1;
            self.ended = "until";
            return Ok(false);
        }
        let reader = &*input.records.reader;
        if !self.select.wants_device(index, record.device, reader) {
            return Ok(true);
        }
        if record.time < spec.from {
            self.select.left_out.outside_times += 1;
            return Ok(true);
        }
        if !self.select.samples(index, &record) {
            return Ok(true);
        }
        if written.taken == 0 && spec.rebase {
            self.base = record.time;
        }
        record.time = scaled(record.time - self.base, spec.time_scale)
            .ok_or_else(|| reader.refuse("time: more than 292 years after scaling".into()))?;
        if spec.widen && !record.is_aligned() {
            let (start, end) = record.blocks();
            record.offset = start * BLOCK_BYTES;
            record.bytes = (end - start) * BLOCK_BYTES;
            written.widened += 1;
        }
        record.device = (self.devices).renumber(index, record.device, input, writer)?;
        written.taken += 1;
        if let Some(bytes) = writer.write(&record)? {
            written.take(record.time, record.op, bytes);
            self.devices.count();
        }
        if spec.requests == Some(written.taken) {
            self.ended = "requests";
            return Ok(false);
        }
        Ok(true)
    }

    /// Refuses an output without requests.
    fn refuse_empty_output(&self, to: &str, merge: &Merge, writer: &dyn Writer) -> Result<()> {
        if self.written.requests > 0 {
            return Ok(());
        }
        let problem = match self.written.taken {
            0 => {
                let read: u64 = merge.inputs.iter().map(|input| input.read).sum();
                let LeftOut { other_devices, outside_times, not_sampled } = self.select.left_out;
                format!(
                    "not written: none of {read} requests are left; \
                     {{\"other_devices\":{other_devices},\"outside_times\":{outside_times},\
                     \"not_sampled\":{not_sampled}}}"
                )
            }
            taken => {
                let lost = writer.lost();
                format!("not written: {to} cannot hold any of {taken} requests; {lost}")
            }
        };
        Err(Error::output(&self.spec.output, problem))
    }
}

impl Written {
    fn take(&mut self, time: Nanos, op: Op, bytes: u64) {
        self.requests += 1;
        self.reads += u64::from(op == Op::Read);
        self.bytes = self.bytes.saturating_add(bytes);
        self.first.get_or_insert(time);
        self.last = time;
    }
}

/// A time divided by `scale`, unless it is out of range.
fn scaled(time: Nanos, scale: f64) -> Option<Nanos> {
    if scale == 1.0 {
        return Some(time);
    }
    let scaled = time.0 as f64 / scale + 0.5;
    (scaled < (u64::MAX / 2) as f64).then_some(Nanos(scaled as u64))
}

fn input(input: MergeInput) -> InputSummary {
    let clock = match input.found.format.clock {
        Clock::Start => "start of the recording, kept",
        Clock::Calendar => "calendar, from the earliest request of all such traces",
        Clock::Closed => "rebuilt from response and think times",
    };
    InputSummary {
        file: input.found.file(&input.path, input.compression),
        requests: input.read,
        first_time_s: input.first.s(),
        clock,
        origin_s: input.origin.s(),
        skipped: Skipped::of(&*input.records.reader),
        unit_doubts: input.found.doubts,
    }
}
