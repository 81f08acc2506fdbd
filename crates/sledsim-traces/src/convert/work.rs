//! The work of a conversion: selects, changes and writes record by record.

use super::devices::DeviceMap;
use super::merge::{Merge, MergeInput};
use super::select::Select;
use super::{ConvertSpec, output};
use crate::format::Clock;
use crate::progress::Reading;
use crate::record::Record;
use crate::records::Skipped;
use crate::writers::{Lost, Writer};
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::{BLOCK_BYTES, Nanos};

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
    to: &str,
    mut writer: Box<dyn Writer>,
    check: &mut dyn FnMut(Reading) -> Result<()>,
) -> Result<Value> {
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
    let lost = writer.finish()?;
    Ok(work.to_json(to, &merge, &lost))
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
            self.select.outside_times += 1;
            self.ended = "until";
            return Ok(false);
        }
        let reader = &*input.records.reader;
        if !self.select.wants_device(index, record.device, reader) {
            return Ok(true);
        }
        if record.time < spec.from {
            self.select.outside_times += 1;
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
        record.device = (self.devices).renumber(index, record.device, reader, writer)?;
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
                let why = self.select.to_json();
                format!("not written: none of {read} requests are left; {why}")
            }
            taken => {
                let lost = Value::Object(output::lost_fields(&writer.lost()));
                format!("not written: {to} cannot hold any of {taken} requests; {lost}")
            }
        };
        Err(Error::output(&self.spec.output, problem))
    }

    /// The report.
    fn to_json(&self, to: &str, merge: &Merge, lost: &Lost) -> Value {
        json!({
            "inputs": merge.inputs.iter().map(input).collect::<Vec<_>>(),
            "output": {
                "path": self.spec.output.display().to_string(),
                "format": to,
                "requests": self.written.requests,
                "reads": self.written.reads,
                "total_bytes": self.written.bytes,
                "first_time_s": self.written.first.map(Nanos::s),
                "last_time_s": self.written.last.s(),
            },
            "ended_by": self.ended,
            "left_out": self.select.to_json(),
            "widened": self.written.widened,
            "time_scale": self.spec.time_scale,
            "subtracted_s": self.base.s(),
            "lost_fields": output::lost_fields(lost),
            "devices": self.devices.to_json(&merge.inputs),
        })
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

fn input(input: &MergeInput) -> Value {
    let clock = match input.found.format.clock {
        Clock::Start => "start of the recording, kept",
        Clock::Calendar => "calendar, from the earliest request of all such traces",
        Clock::Closed => "rebuilt from response and think times",
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
    Skipped::of(&*input.records.reader).add_to(&mut facts);
    input.found.add_doubts(&mut facts);
    facts
}
