//! Statistics of a trace, in one pass and bounded memory.
//!
//! In reading order:
//! - [`by_op`]: facts by operation.
//! - [`times`]: the distribution of times.
//! - [`sizes`]: request sizes.
//! - [`arrivals`]: gaps and rates.
//! - [`scales`]: burstiness by time scale.
//! - [`devices`]: requests by device.
//! - [`reuse`]: footprint and LRU stack distances.
//! - `ranks`: order statistics for stack distances.
//! - [`picture`]: data for plots.

pub mod by_op;

pub mod times;

pub mod sizes;

pub mod arrivals;

pub mod scales;

pub mod devices;

pub mod reuse;

mod ranks;

pub mod picture;

pub(crate) use reuse::{UNIT_BYTES, mix};

use super::detect::{ResolvedFormat, TraceFile};
use super::records::Skipped;
use super::sorted::SortedRecords;
use crate::format::{Format, Options};
use crate::progress::Reading;
use crate::record::Record;
use crate::supply::Supply;
use crate::unit_doubts::UnitDoubt;
use arrivals::{ArrivalSummary, Arrivals};
use by_op::ByOp;
use devices::{DeviceStats, DeviceSummary};
use picture::{Map, MapPicture, Timeline, TimelinePicture};
use reuse::{Footprint, Reuse, ReuseSummary};
use serde::Serialize;
use sizes::{SizeBin, SizeSummary, Sizes};
use sledsim_base::distribution::Distribution;
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use std::path::{Path, PathBuf};
use times::TimesMs;

/// Statistics of a trace.
#[derive(Clone, Debug, Serialize)]
pub struct TraceInfo {
    /// The file and its format.
    #[serde(flatten)]
    pub file: TraceFile,
    /// Units that make more sense of its first bytes.
    pub unit_doubts: Vec<UnitDoubt>,
    /// Statistics of its requests.
    #[serde(flatten)]
    pub statistics: Statistics,
    /// The records that are no requests, or were changed.
    #[serde(flatten)]
    pub skipped: Skipped,
    /// The position of the first record that looks like a glitch.
    pub glitch_suspected: Option<String>,
    /// Its devices, ascending.
    pub devices: Vec<DeviceSummary>,
    /// Requests to devices that are not listed.
    pub other_devices_requests: u64,
    /// The data of plots, if asked for.
    #[serde(flatten)]
    pub picture: Option<Picture>,
}

/// Statistics of requests without a file.
#[derive(Clone, Debug, Serialize)]
pub struct StreamInfo {
    /// Statistics of the requests.
    #[serde(flatten)]
    pub statistics: Statistics,
    /// Their streams, ascending.
    pub streams: Vec<DeviceSummary>,
    /// The data of plots, if asked for.
    #[serde(flatten)]
    pub picture: Option<Picture>,
}

/// Statistics of requests. Shares of nothing are none.
#[derive(Clone, Debug, Serialize)]
pub struct Statistics {
    /// The number of requests.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Trims.
    pub trims: u64,
    /// The share of reads.
    pub read_fraction: Option<f64>,
    /// The share of sequential requests.
    pub sequential_fraction: Option<f64>,
    /// Sequential requests.
    pub sequential: Sequential,
    /// The mean size over all requests, in blocks.
    pub mean_size_blocks: f64,
    /// The greatest size, in blocks.
    pub max_size_blocks: u64,
    /// Blocks of all requests.
    pub total_blocks: u64,
    /// Requests that do not begin and end on blocks.
    pub unaligned_requests: u64,
    /// Sizes by operation; flushes have none.
    pub sizes: ByOp<SizeSummary>,
    /// Requests by size.
    pub size_histogram: Vec<SizeBin>,
    /// One past the highest block.
    pub end_block: u64,
    /// The first arrival on the clock of the file, in s.
    pub first_time_s: f64,
    /// The latest arrival, in s.
    pub last_time_s: f64,
    /// From the first to the latest arrival, in s.
    pub duration_s: f64,
    /// Arrivals per s after the first; none if all are at one time.
    pub mean_rate_per_s: Option<f64>,
    /// Rates and gaps.
    pub arrivals: ArrivalSummary,
    /// Measured response times, if the trace has them.
    pub response_time_ms: Option<ByOp<ResponseTimes>>,
    /// The data accessed; none if quick.
    pub footprint: Option<Footprint>,
    /// Reuse of the data; none if quick.
    pub reuse: Option<ReuseSummary>,
}

/// Sequential requests. Shares of nothing are none.
#[derive(Clone, Debug, Serialize)]
pub struct Sequential {
    /// What counts as sequential.
    pub definition: &'static str,
    /// Whose definition it is.
    pub source: &'static str,
    /// [`InfoSpec::interleave_blocks`].
    pub interleave_blocks: Option<u64>,
    /// Their share of all reads.
    pub read_fraction: Option<f64>,
    /// Their share of all writes.
    pub write_fraction: Option<f64>,
    /// The number of requests to a device that are recent.
    pub recent_requests: usize,
    /// The share of requests that start where a recent one of their device ended.
    pub recent_fraction: Option<f64>,
}

/// Measured response times, in ms.
#[derive(Clone, Debug, Serialize)]
pub struct ResponseTimes {
    /// The number of requests with a response time.
    pub requests: u64,
    /// Their distribution.
    #[serde(flatten)]
    pub times: TimesMs,
}

/// The data of plots.
#[derive(Clone, Debug, Serialize)]
pub struct Picture {
    /// Arrivals per time.
    pub timeline: TimelinePicture,
    /// Requests by time and place, of the busiest device that has a map.
    pub map: Option<MapPicture>,
    /// Sizes of LRU caches in bytes, and their hit ratios; none if quick.
    pub lru_curve: Option<Vec<(u64, f64)>>,
}

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

    /// Reads the whole trace and returns its statistics. `check` is called now
    /// and then; its error ends the reading.
    pub fn read(&self, check: &mut dyn FnMut(Reading) -> Result<()>) -> Result<TraceInfo> {
        self.checked()?;
        let supply = Supply::new(&self.path);
        let beginning = &mut || check(Reading { bytes: 0, of: None });
        let (found, input) = ResolvedFormat::open(&supply, self.format, &self.options, beginning)?;
        let (compression, of) = (input.compression(), input.bytes());
        let reader = found.format.open(input, &self.options)?;
        let mut records = SortedRecords::new(reader, self.sort, false);
        let mut contents = Contents::new(self);
        let mut left = Reading::EVERY;
        let mut record = Record::default();
        while records.next_into(&mut record).map_err(|error| found.explain(error))? {
            contents.record(&record, record.device);
            left -= 1;
            if left == 0 {
                left = Reading::EVERY;
                let bytes = records.reader.bytes_read();
                check(Reading { bytes, of })?;
            }
        }
        if contents.requests() == 0 {
            let why = records.reader.no_requests_reason();
            let why = why.unwrap_or_else(|| "no requests".to_owned());
            return Err(Error::trace(supply.name(), why));
        }
        let mut statistics = contents.statistics();
        // The window that sorts all records, also if a smaller one was given.
        if statistics.arrivals.late_requests != 0 {
            statistics.arrivals.late_by_up_to_ms = records.order.most_late.ms();
        }
        let reader = &*records.reader;
        Ok(TraceInfo {
            file: found.file(&self.path, compression),
            unit_doubts: found.doubts,
            statistics,
            skipped: Skipped::of(reader),
            glitch_suspected: records.order.suspect,
            devices: contents.devices.summaries(&|id| reader.device_name(id).map(str::to_owned)),
            other_devices_requests: contents.devices.others(),
            picture: contents.picture(),
        })
    }
}

impl InfoSpec {
    /// As [`InfoSpec::read`], for requests without a file: `feed` passes on each
    /// request with its stream.
    ///
    /// # Errors
    /// `max_units` is out of its range, or `feed` fails.
    pub fn describe(
        &self,
        feed: impl FnOnce(&mut dyn FnMut(&Record, u32)) -> Result<()>,
    ) -> Result<StreamInfo> {
        self.checked()?;
        let mut contents = Contents::new(self);
        feed(&mut |record, stream| contents.record(record, stream))?;
        Ok(StreamInfo {
            statistics: contents.statistics(),
            streams: contents.devices.summaries(&|_| None),
            picture: contents.picture(),
        })
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
pub fn trace_info(path: &Path, format: Option<Format>) -> Result<TraceInfo> {
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

    fn statistics(&self) -> Statistics {
        let requests = self.requests();
        let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        let sequential = self.devices.sequential();
        let of = |op: Op| share(sequential[op as usize], self.sizes.requests[op as usize]);
        let arrivals = &self.arrivals;
        let [reads, writes, flushes, trims] = self.sizes.requests;
        Statistics {
            requests,
            reads,
            writes,
            flushes,
            trims,
            read_fraction: share(reads, requests),
            sequential_fraction: share(sequential.iter().sum(), requests),
            sequential: Sequential {
                definition: "starts where the request before on its device ended",
                source: "logical sequentiality of msst2005 table 2 and of Ruemmler and \
                         Wilkes 1993; shares of all reads, and of all writes",
                interleave_blocks: self.interleave,
                read_fraction: of(Op::Read),
                write_fraction: of(Op::Write),
                recent_requests: devices::RECENT,
                recent_fraction: share(self.devices.recent(), requests),
            },
            mean_size_blocks: self.sizes.mean_blocks(),
            max_size_blocks: self.sizes.most_blocks,
            total_blocks: self.sizes.blocks,
            unaligned_requests: self.sizes.unaligned,
            sizes: self.sizes.summary(),
            size_histogram: self.sizes.histogram(),
            end_block: self.devices.end(),
            first_time_s: arrivals.first.s(),
            last_time_s: arrivals.last.s(),
            duration_s: arrivals.duration().s(),
            mean_rate_per_s: arrivals.mean_rate(),
            arrivals: arrivals.summary(),
            response_time_ms: self.responses(),
            footprint: self.reuse.as_ref().map(Reuse::footprint),
            reuse: self.reuse.as_ref().map(Reuse::summary),
        }
    }

    /// Measured response times, if the trace has them.
    fn responses(&self) -> Option<ByOp<ResponseTimes>> {
        let summary = |times: &Distribution, requests| ResponseTimes {
            requests,
            times: TimesMs::new(times, requests),
        };
        let mut all = Distribution::new();
        let by_op = Op::ALL.map(|op| {
            let times = self.responses[op as usize].as_ref()?;
            all.merge(times);
            Some(summary(times, self.responded[op as usize]))
        });
        let count = self.responded.iter().sum();
        (count > 0).then(|| ByOp::new(by_op, Some(summary(&all, count))))
    }

    fn picture(&self) -> Option<Picture> {
        let ids: Vec<u32> = self.maps.iter().map(|(id, _)| *id).collect();
        let busiest = self.devices.busiest(&ids);
        let map = self.maps.iter().find(|(id, _)| Some(*id) == busiest);
        let bytes = |(units, ratio)| (units * UNIT_BYTES, ratio);
        let curve = |reuse: &Reuse| reuse.curve().into_iter().map(bytes).collect();
        Some(Picture {
            timeline: self.timeline.as_ref()?.picture(),
            map: map.map(|(id, map)| map.picture(*id)),
            lru_curve: self.reuse.as_ref().map(curve),
        })
    }
}

#[cfg(test)]
mod tests {
    //! Statistics of hand-made records.

    use super::*;
    use crate::record::END_BYTES;

    fn statistics(records: &[Record]) -> Statistics {
        let mut contents = Contents::new(&InfoSpec::new(Path::new("")));
        for record in records {
            contents.record(record, record.device);
        }
        contents.statistics()
    }

    fn one(op: Op, offset: u64, bytes: u64) -> Record {
        Record { op, offset, bytes, ..Record::default() }
    }

    #[test]
    fn flushes_have_no_address_and_trims_use_no_data() {
        let found = statistics(&[
            one(Op::Write, 4096, 4096),
            one(Op::Flush, 0, 0),
            one(Op::Write, 8192, 4096),
            one(Op::Trim, 12_288, 1 << 40),
            one(Op::Read, 0, 4096),
        ]);
        assert_eq!([found.reads, found.writes, found.flushes, found.trims], [1, 2, 1, 1]);
        // The second write follows the first, and the trim the second write.
        assert_eq!(found.sequential_fraction, Some(0.4));
        assert_eq!(found.sequential.write_fraction, Some(0.5));
        assert_eq!(found.reuse.unwrap().references, 3);
        assert_eq!(found.footprint.unwrap().units, 3);
        assert_eq!(found.sizes.all.unwrap().requests, 4);
        assert_eq!(found.sizes.trim.unwrap().max_bytes, 1 << 40);
        assert!(found.sizes.flush.is_none());
    }

    #[test]
    fn response_times_are_reported_if_measured() {
        let measured =
            |op, ms: u64| Record { response: Some(Nanos(ms * 1_000_000)), ..one(op, 0, 512) };
        assert!(statistics(&[one(Op::Read, 0, 512)]).response_time_ms.is_none());
        let found = statistics(&[
            measured(Op::Read, 1),
            measured(Op::Read, 3),
            measured(Op::Write, 8),
            one(Op::Write, 0, 512),
        ]);
        let by_op = found.response_time_ms.unwrap();
        let (read, write, all) = (by_op.read.unwrap(), by_op.write.unwrap(), by_op.all.unwrap());
        assert_eq!((read.times.mean, read.times.max), (2.0, 3.0));
        assert_eq!((write.requests, all.times.mean), (1, 4.0));
    }

    #[test]
    fn odd_and_extreme_records_are_counted_without_overflow() {
        let whole = one(Op::Read, 0, END_BYTES);
        let mut records = vec![one(Op::Read, 1, 512), one(Op::Read, END_BYTES - 1, 1)];
        records.extend([whole; 5]);
        records.push(Record { time: Nanos::MAX, ..one(Op::Write, 511, 1) });
        let found = statistics(&records);
        assert_eq!(found.unaligned_requests, 3);
        assert_eq!(found.sizes.all.unwrap().total_bytes, u64::MAX);
        assert_eq!(found.end_block, END_BYTES / 512);
        assert_eq!(found.reuse.unwrap().requests_left_out, 5);
        assert_eq!(found.arrivals.windows[0].peak_requests, 7);
    }
}
