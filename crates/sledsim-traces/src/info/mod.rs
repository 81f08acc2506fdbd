//! Statistics of a trace, in one pass and bounded memory.
//!
//! In reading order:
//! - `sizes`: request sizes.
//! - `arrivals`: gaps and rates.
//! - `scales`: burstiness by time scale.
//! - `devices`: requests by device.
//! - `reuse`: footprint and LRU stack distances.
//! - `ranks`: order statistics for stack distances.
//! - `picture`: data for plots.

mod sizes;

mod arrivals;

mod scales;

mod devices;

mod reuse;

mod ranks;

mod picture;

pub(crate) use reuse::{UNIT_BYTES, mix};

use super::detect::ResolvedFormat;
use super::records::Skipped;
use super::sorted::SortedRecords;
use crate::format::{Format, Options};
use crate::progress::Reading;
use crate::record::Record;
use crate::supply::Supply;
use arrivals::Arrivals;
use devices::DeviceStats;
use picture::{Map, Timeline};
use reuse::Reuse;
use serde_json::{Value, json};
use sizes::Sizes;
use sledsim_base::distribution::Distribution;
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use std::path::{Path, PathBuf};

/// The trace to describe, and the extent of the description.
#[derive(Clone, Debug)]
pub struct InfoSpec {
    /// The trace.
    pub path: PathBuf,
    /// Its format; recognised by its content if not given.
    pub format: Option<Format>,
    /// The options of its reader.
    pub options: Options,
    /// Sorts records that are late by up to this.
    pub sort: Nanos,
    /// Omits footprint and reuse, which take most of the time.
    pub quick: bool,
    /// Also counts a request as sequential if it begins exactly this many
    /// blocks after the end of the one before: the interleave factor of a file
    /// system.
    pub interleave_blocks: Option<u64>,
    /// The most distinct units of 4 KiB for which footprint and reuse are
    /// exact; beyond it they are sampled.
    pub max_units: usize,
    /// Adds the data of plots: the keys `timeline`, `map`, `lru_curve`.
    pub picture: bool,
}

impl InfoSpec {
    /// The least [`max_units`](Self::max_units).
    pub const MIN_UNITS: usize = 64;
    /// The greatest [`max_units`](Self::max_units) (7 GB of memory).
    pub const MAX_UNITS: usize = 1 << 26;

    /// The full description of the trace at `path`, without data for plots.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            format: None,
            options: Options::default(),
            sort: Nanos::ZERO,
            quick: false,
            interleave_blocks: None,
            max_units: 1 << 18,
            picture: false,
        }
    }

    /// Reads the whole trace and returns its statistics (keys: the page on
    /// traces). `check` is called now and then; its error ends the reading.
    pub fn read(&self, check: &mut dyn FnMut(Reading) -> Result<()>) -> Result<Value> {
        self.checked()?;
        let supply = Supply::new(&self.path);
        let beginning = &mut || check(Reading { bytes: 0, of: None });
        let (found, input) = ResolvedFormat::open(&supply, self.format, &self.options, beginning)?;
        let (compression, of) = (input.compression(), input.bytes());
        let reader = found.format.open(input, &self.options)?;
        let mut records = SortedRecords::new(reader, self.sort, false);
        let mut contents = Contents::new(self);
        let mut left = Reading::EVERY;
        while let Some(record) = records.next().map_err(|error| found.explain(error))? {
            contents.record(&record, record.device);
            left -= 1;
            if left == 0 {
                left = Reading::EVERY;
                let bytes = records.reader.bytes_read();
                check(Reading { bytes, of })?;
            }
        }
        let requests = contents.requests();
        if requests == 0 {
            let why = records.reader.no_requests_reason();
            let why = why.unwrap_or_else(|| "no requests".to_owned());
            return Err(Error::trace(supply.name(), why));
        }
        let mut facts = json!({
            "path": self.path.display().to_string(),
            "format": found.format.name,
            "format_from": found.chosen_by.name(),
            "format_others": found.others,
            "compression": compression.name(),
        });
        found.add_doubts(&mut facts);
        contents.add_to(&mut facts);
        Skipped::of(&*records.reader).add_to(&mut facts);
        // The window that sorts all records, also if a smaller one was given.
        if facts["arrivals"]["late_requests"] != json!(0) {
            facts["arrivals"]["late_by_up_to_ms"] = json!(records.order.most_late.ms());
        }
        facts["glitch_suspected"] = json!(records.order.suspect);
        facts["devices"] = contents
            .devices
            .to_json(&|id| records.reader.device_name(id).map(str::to_owned))
            .into();
        facts["other_devices_requests"] = contents.devices.others().into();
        if self.picture {
            contents.picture(&mut facts);
        }
        Ok(facts)
    }
}

impl InfoSpec {
    /// As [`InfoSpec::read`], for requests without a file: `feed` passes on each
    /// request with its stream. The key `streams` replaces `devices`.
    ///
    /// # Errors
    /// `max_units` is out of its range, or `feed` fails.
    pub fn describe(
        &self,
        facts: &mut Value,
        feed: impl FnOnce(&mut dyn FnMut(&Record, u32)) -> Result<()>,
    ) -> Result<()> {
        self.checked()?;
        let mut contents = Contents::new(self);
        feed(&mut |record, stream| contents.record(record, stream))?;
        contents.add_to(facts);
        facts["streams"] = contents.devices.to_json(&|_| None).into();
        if self.picture {
            contents.picture(facts);
        }
        Ok(())
    }

    fn checked(&self) -> Result<()> {
        let (min, max) = (Self::MIN_UNITS, Self::MAX_UNITS);
        if !(min..=max).contains(&self.max_units) {
            let found = self.max_units;
            return Err(Error::argument(
                "max_units",
                format!("max_units = {found}: must be from {min} to {max}"),
            ));
        }
        Ok(())
    }
}

/// Statistics of the trace at `path`, as [`InfoSpec::read`].
pub fn trace_info(path: &Path, format: Option<Format>) -> Result<Value> {
    let spec = InfoSpec { format, ..InfoSpec::new(path) };
    spec.read(&mut |_| Ok(()))
}

/// The most devices with a map.
const MAPS: usize = 16;

/// The statistics so far.
struct Contents {
    interleave: Option<u64>,
    devices: DeviceStats,
    sizes: Sizes,
    arrivals: Arrivals,
    /// By operation, in the order of [`Op::ALL`].
    responses: [Option<Distribution>; Op::ALL.len()],
    responded: [u64; Op::ALL.len()],
    reuse: Option<Reuse>,
    timeline: Option<Timeline>,
    /// Maps of the devices seen first.
    maps: Vec<(u32, Map)>,
}

impl Contents {
    fn new(spec: &InfoSpec) -> Self {
        Self {
            interleave: spec.interleave_blocks,
            devices: DeviceStats::new(spec.interleave_blocks),
            sizes: Sizes::new(),
            arrivals: Arrivals::new(),
            responses: Default::default(),
            responded: [0; Op::ALL.len()],
            reuse: (!spec.quick).then(|| Reuse::new(spec.max_units)),
            timeline: spec.picture.then(Timeline::new),
            maps: Vec::new(),
        }
    }

    #[inline]
    /// Records a request of a stream, which in a trace is its device.
    fn record(&mut self, record: &Record, stream: u32) {
        let Record { time, device, op, offset, bytes, response, .. } = *record;
        let (start, end) = record.blocks();
        self.sizes.record(op, bytes, end - start, record.is_aligned());
        self.devices.record(stream, record);
        let at = self.arrivals.record(time);
        if let Some(response) = response {
            self.responded[op as usize] += 1;
            (self.responses[op as usize].get_or_insert_with(Distribution::new)).record(response.0);
        }
        let is_read = op == Op::Read;
        if let Some(reuse) = &mut self.reuse
            && op.moves_data()
        {
            reuse.record(device, is_read, offset, bytes);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.record(at, is_read);
            if op != Op::Flush {
                self.map(device, at, start);
            }
        }
    }

    fn map(&mut self, device: u32, at: u64, block: u64) {
        let known = self.maps.iter().position(|(id, _)| *id == device);
        let index = known.unwrap_or(self.maps.len());
        if index == self.maps.len() {
            if index == MAPS {
                return;
            }
            self.maps.push((device, Map::new()));
        }
        self.maps[index].1.record(at, block);
    }

    fn requests(&self) -> u64 {
        self.sizes.requests.iter().sum()
    }

    fn add_to(&self, facts: &mut Value) {
        let requests = self.requests();
        let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        let sequential = self.devices.sequential();
        let of = |op: Op| share(sequential[op as usize], self.sizes.requests[op as usize]);
        let arrivals = &self.arrivals;
        let rest = json!({
            "requests": requests,
            "reads": self.sizes.requests[Op::Read as usize],
            "writes": self.sizes.requests[Op::Write as usize],
            "flushes": self.sizes.requests[Op::Flush as usize],
            "trims": self.sizes.requests[Op::Trim as usize],
            "read_fraction": share(self.sizes.requests[Op::Read as usize], requests),
            "sequential_fraction": share(sequential.iter().sum(), requests),
            "sequential": {
                "definition": "starts where the request before on its device ended",
                "source": "logical sequentiality of msst2005 table 2 and of Ruemmler and \
                           Wilkes 1993; shares of all reads, and of all writes",
                "interleave_blocks": self.interleave,
                "read_fraction": of(Op::Read),
                "write_fraction": of(Op::Write),
                "recent_requests": devices::RECENT,
                "recent_fraction": share(self.devices.recent(), requests),
            },
            "mean_size_blocks": self.sizes.mean_blocks(),
            "max_size_blocks": self.sizes.most_blocks,
            "total_blocks": self.sizes.blocks,
            "unaligned_requests": self.sizes.unaligned,
            "sizes": self.sizes.to_json(),
            "size_histogram": self.sizes.histogram(),
            "end_block": self.devices.end(),
            "first_time_s": arrivals.first.s(),
            "last_time_s": arrivals.last.s(),
            "duration_s": arrivals.duration().s(),
            "mean_rate_per_s": arrivals.mean_rate(),
            "arrivals": arrivals.to_json(),
            "response_time_ms": self.responses(),
            "footprint": self.reuse.as_ref().map(Reuse::footprint),
            "reuse": self.reuse.as_ref().map(Reuse::to_json),
        });
        if let (Value::Object(facts), Value::Object(rest)) = (facts, rest) {
            facts.extend(rest);
        }
    }

    /// Measured response times, if the trace has them.
    fn responses(&self) -> Value {
        let mut facts = serde_json::Map::new();
        let mut all = Distribution::new();
        for op in Op::ALL {
            if let Some(times) = &self.responses[op as usize] {
                all.merge(times);
                let count = self.responded[op as usize];
                facts.insert(op.name().to_owned(), times_ms(times, count));
            }
        }
        let count = self.responded.iter().sum();
        if count == 0 {
            return Value::Null;
        }
        facts.insert("all".to_owned(), times_ms(&all, count));
        Value::Object(facts)
    }

    fn picture(&self, facts: &mut Value) {
        facts["timeline"] = self.timeline.as_ref().map(Timeline::to_json).into();
        let ids: Vec<u32> = self.maps.iter().map(|(id, _)| *id).collect();
        let busiest = self.devices.busiest(&ids);
        let map = self.maps.iter().find(|(id, _)| Some(*id) == busiest);
        facts["map"] = map.map_or(Value::Null, |(id, map)| {
            let mut facts = map.to_json();
            facts["device"] = (*id).into();
            facts
        });
        facts["lru_curve"] = self.reuse.as_ref().map_or(Value::Null, |reuse| {
            let points = reuse.curve().into_iter();
            let points = points.map(|(units, ratio)| json!([units * UNIT_BYTES, ratio]));
            points.collect::<Vec<_>>().into()
        });
    }
}

fn times_ms(times: &Distribution, count: u64) -> Value {
    let percentiles = times.percentiles_ns(count, [5_000, 9_000, 9_900]);
    let [p50, p90, p99] = percentiles.map(|ns| Nanos(ns).ms());
    json!({
        "requests": count,
        "mean": times.mean_ns(count) * 1e-6,
        "p50": p50,
        "p90": p90,
        "p99": p99,
        "max": Nanos(times.max_ns()).ms(),
    })
}

#[cfg(test)]
mod tests {
    //! Statistics of hand-made records.

    use super::*;
    use crate::record::END_BYTES;

    fn facts(records: &[Record]) -> Value {
        let mut contents = Contents::new(&InfoSpec::new(Path::new("")));
        for record in records {
            contents.record(record, record.device);
        }
        let mut facts = json!({});
        contents.add_to(&mut facts);
        facts
    }

    fn one(op: Op, offset: u64, bytes: u64) -> Record {
        Record { op, offset, bytes, ..Record::default() }
    }

    #[test]
    fn flushes_have_no_address_and_trims_use_no_data() {
        let facts = facts(&[
            one(Op::Write, 4096, 4096),
            one(Op::Flush, 0, 0),
            one(Op::Write, 8192, 4096),
            one(Op::Trim, 12_288, 1 << 40),
            one(Op::Read, 0, 4096),
        ]);
        let counts = ["reads", "writes", "flushes", "trims"].map(|key| facts[key].clone());
        assert_eq!(counts, [1, 2, 1, 1]);
        // The second write follows the first, and the trim the second write.
        assert_eq!(facts["sequential_fraction"], 0.4);
        assert_eq!(facts["sequential"]["write_fraction"], 0.5);
        assert_eq!(facts["reuse"]["references"], 3);
        assert_eq!(facts["footprint"]["units"], 3);
        assert_eq!(facts["sizes"]["all"]["requests"], 4);
        assert_eq!(facts["sizes"]["trim"]["max_bytes"], 1_u64 << 40);
        assert!(facts["sizes"]["flush"].is_null());
    }

    #[test]
    fn response_times_are_reported_if_measured() {
        let measured =
            |op, ms: u64| Record { response: Some(Nanos(ms * 1_000_000)), ..one(op, 0, 512) };
        assert!(facts(&[one(Op::Read, 0, 512)])["response_time_ms"].is_null());
        let facts = facts(&[
            measured(Op::Read, 1),
            measured(Op::Read, 3),
            measured(Op::Write, 8),
            one(Op::Write, 0, 512),
        ]);
        let times = &facts["response_time_ms"];
        assert_eq!((&times["read"]["mean"], &times["read"]["max"]), (&json!(2.0), &json!(3.0)));
        assert_eq!((&times["write"]["requests"], &times["all"]["mean"]), (&json!(1), &json!(4.0)));
    }

    #[test]
    fn odd_and_extreme_records_are_counted_without_overflow() {
        let whole = one(Op::Read, 0, END_BYTES);
        let mut records = vec![one(Op::Read, 1, 512), one(Op::Read, END_BYTES - 1, 1)];
        records.extend([whole; 5]);
        records.push(Record { time: Nanos::MAX, ..one(Op::Write, 511, 1) });
        let facts = facts(&records);
        assert_eq!(facts["unaligned_requests"], 3);
        assert_eq!(facts["sizes"]["all"]["total_bytes"], u64::MAX);
        assert_eq!(facts["end_block"], END_BYTES / 512);
        assert_eq!(facts["reuse"]["requests_left_out"], 5);
        assert_eq!(facts["arrivals"]["windows"][0]["peak_requests"], 7);
    }
}
