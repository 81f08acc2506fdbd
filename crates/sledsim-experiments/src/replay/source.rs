//! A trace as a workload.

use super::ahead::Ahead;
use super::arrivals::{Arrivals, Closed, Dependent, OneByOne, OpenReplay};
use super::dependency_inference::DependencyInference;
use super::feed::{CHECK_EVERY, Feed, Placed};
use super::footprint::Footprint;
use super::mapping::{Address, MappedRequest, Mapping, Spans};
use super::spec::{BLK_ACTIONS, DependsOn, NOT_BEGUN, ORIGINS, TraceSpec};
use serde::Serialize;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::request::{Extent, Request};
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;
use sledsim_traces::records::{DeviceSelection, Records, Skipped, Step};
use sledsim_traces::{Clock, Record, TraceFile, UnitDoubt};
use std::collections::BTreeMap;

impl TraceSpec {
    /// The trace as a workload for a device of `device_blocks` blocks. `check`
    /// is called now and then with the progress; its error ends the reading.
    ///
    /// With `address = "scale"` or `"compact"`, `trace_device = "separate"` or `think =
    /// "recorded"` the whole file is read here once, so that any bad record
    /// shows now; a stream is kept for that (see [`TraceSpec::keep`]), and else
    /// read as the replay goes.
    pub fn source(
        &self,
        device_blocks: u64,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<TraceSource> {
        if self.address_offset >= device_blocks {
            let offset = self.address_offset;
            return Err(Error::argument(
                "address_offset",
                format!(
                    "address_offset = {offset}: must be below the {device_blocks} blocks of the device"
                ),
            ));
        }
        let separate = self.devices == DeviceSelection::Separate;
        let reads_ahead = matches!(self.address, Address::Scale | Address::Compact);
        let spans = match reads_ahead || separate {
            true => Some(self.spans(check)?),
            false => None,
        };
        let mapping = Mapping::new(
            self.address,
            self.address_offset,
            device_blocks,
            separate,
            spans.as_ref(),
        );
        if let Some(problem) = mapping.too_large() {
            return Err(Error::file(self.supply.name(), problem));
        }
        let (causes, count) = match self.paced {
            Some(depends_on) => {
                let (causes, count) = self.causes(depends_on, check)?;
                (Some((depends_on, causes)), Some(count))
            }
            None => (None, spans.map(|spans| spans.requests)),
        };
        let records = self.open(check)?;
        let closed = records.found.format.clock == Clock::Closed;
        if let (true, Some(key)) = (closed, self.about_times()) {
            let format = records.found.format.name;
            return Err(Error::Key(format!(
                "{key}: has no effect with trace_format = \"{format}\", which has no times of arrival"
            )));
        }
        let mut ahead = Ahead::new(Feed::new(self.clone(), records, mapping, check)?);
        let mut arrivals: Box<dyn Arrivals> = match (self.closed, causes) {
            (Some(spec), _) => Box::new(Closed::new(spec, &mut ahead)?),
            (_, Some((depends_on, causes))) => Box::new(Dependent::new(depends_on, causes)),
            _ if closed => Box::new(OneByOne::new(&mut ahead)?),
            _ => Box::new(OpenReplay::new(&mut ahead)?),
        };
        if arrivals.due(&mut ahead)?.is_none() {
            return Err(ahead.feed.records.empty(self.supply.name()));
        }
        Ok(TraceSource {
            ahead,
            arrivals,
            known: count.map(|count| count.min(self.requests.unwrap_or(u64::MAX))),
            taken: 0,
            due: None,
            failed: None,
            counts: Counts::default(),
            measured: Vec::new(),
        })
    }

    fn open(&self, check: &mut dyn FnMut(Progress) -> Result<()>) -> Result<Records> {
        Records::open(
            &self.supply,
            self.format,
            &self.options,
            self.devices.clone(),
            self.sort_ms.map(Nanos::from_ms),
            &mut || check(NOT_BEGUN),
        )
    }

    fn spans(&self, check: &mut dyn FnMut(Progress) -> Result<()>) -> Result<Spans> {
        let mut spans = Spans {
            footprint: (self.address == Address::Compact).then(Footprint::default),
            ..Spans::default()
        };
        self.scan(check, &mut |record| spans.add(record))?;
        Ok(spans)
    }

    /// The inference of dependencies, and the number of requests.
    fn causes(
        &self,
        depends_on: DependsOn,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<(DependencyInference, u64)> {
        let mut streams = BTreeMap::new();
        let count = self.scan(check, &mut |record| {
            *streams.entry(depends_on.stream(record)).or_default() += 1;
            Ok(())
        })?;
        Ok((DependencyInference::new(streams), count))
    }

    /// Reads the whole file, and counts the requests.
    fn scan(
        &self,
        check: &mut dyn FnMut(Progress) -> Result<()>,
        each: &mut dyn FnMut(&Record) -> std::result::Result<(), String>,
    ) -> Result<u64> {
        self.keep(check)?;
        let mut records = self.open(check)?;
        let mut requests = 0;
        for step in 1_u64.. {
            match records.step()? {
                Step::Record(record) => {
                    requests += 1;
                    each(&record).map_err(|problem| records.refuse(problem))?;
                }
                Step::Other => {}
                Step::End => break,
            }
            if step.is_multiple_of(CHECK_EVERY) {
                check(records.progress(requests))?;
            }
        }
        if requests == 0 {
            return Err(records.empty(self.supply.name()));
        }
        Ok(requests)
    }
}

/// A trace being replayed.
///
/// The stream of a request is its device in the trace.
pub struct TraceSource {
    ahead: Ahead,
    arrivals: Box<dyn Arrivals>,
    known: Option<u64>,
    taken: u64,
    /// The arrival of the next request, once asked for.
    due: Option<Nanos>,
    /// The defect found while the last request was taken.
    failed: Option<Error>,
    counts: Counts,
    /// The measured times of the requests taken, in order, if kept.
    measured: Vec<Measured>,
}

/// The keys in effect and the counts of a replay.
#[derive(Serialize)]
struct Facts<'a> {
    workload: &'static str,
    #[serde(flatten)]
    file: TraceFile,
    #[serde(flatten)]
    replay: Value,
    #[serde(flatten)]
    skipped: Skipped,
    unit_doubts: &'a [UnitDoubt],
}

/// The measured times of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// [`Record::response`].
    pub response: Option<Nanos>,
    /// [`Record::queue`].
    pub queue: Option<Nanos>,
}

/// The number of requests changed by the mapping.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    widened: u64,
    wrapped: u64,
    scaled: u64,
    compacted: u64,
    moved: u64,
}

impl TraceSource {
    /// The keys in effect and the counts so far.
    pub fn to_json(&self) -> Value {
        let (ahead, feed) = (&self.ahead, &self.ahead.feed);
        let (spec, records) = (&feed.spec, &feed.records);
        let devices: Vec<_> = ahead.devices().collect();
        let (sorted, most_late) = ahead.sorted();
        let chosen = match (&records.wanted, devices.as_slice()) {
            (DeviceSelection::All, _) => json!("all"),
            (DeviceSelection::Separate, _) => json!("separate"),
            _ => (devices.iter().find(|(.., wanted)| *wanted))
                .map_or(Value::Null, |(_, label, ..)| json!(label)),
        };
        let devices: Vec<Value> = (devices.into_iter())
            .map(|(device, label, requests, wanted)| {
                let first_block = wanted.then(|| feed.mapping.base(device)).flatten();
                json!({ "device": label, "requests": requests, "first_block": first_block })
            })
            .collect();
        let replay = json!({
            "requests": self.taken,
            "trace_device": chosen,
            "devices": devices,
            "other_devices_requests": records.others(),
            "address": spec.address.name(),
            "address_offset": spec.address_offset,
            "span_blocks": feed.mapping.span(),
            "widened": self.counts.widened,
            "wrapped": self.counts.wrapped,
            "scaled": self.counts.scaled,
            "compacted": self.counts.compacted,
            "moved": self.counts.moved,
            "time_scale": spec.time_scale,
            "time_origin": ORIGINS.iter().find(|(_, origin)| *origin == feed.origin).map(|o| o.0),
            "first_time_s": feed.first.map(Nanos::s),
            "subtracted_s": feed.subtracted().s(),
            "sort_ms": spec.sort_ms,
            "sorted": sorted,
            "sorted_most_ms": most_late.ms(),
        });
        let mut facts = json!(Facts {
            workload: "trace",
            file: records.found.file(spec.supply.path(), records.compression),
            replay,
            skipped: ahead.skipped(),
            unit_doubts: &records.found.doubts,
        });
        if let Some(compact) = feed.mapping.compact() {
            facts["touched_blocks"] = json!(compact.blocks);
            facts["touched_extents"] = json!(compact.extents());
            facts["gap_bytes"] = json!(compact.gap_blocks.saturating_mul(512));
        }
        if let Some(action) = spec.options.blk_action {
            let name = BLK_ACTIONS.iter().find(|(_, known)| *known == action);
            facts["blk_action"] = json!(name.map(|(name, _)| *name));
        }
        self.arrivals.state(&mut facts);
        facts
    }

    /// Whether requests arrive at the times of the trace.
    pub fn is_open(&self) -> bool {
        self.arrivals.is_open()
    }

    /// Takes the measured times of the requests, by id; empty unless kept.
    pub fn take_measured(&mut self) -> Vec<Measured> {
        std::mem::take(&mut self.measured)
    }
}

impl Source for TraceSource {
    #[inline]
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.due = self.arrivals.due(&mut self.ahead)?;
        Ok(self.due)
    }

    fn take(&mut self) -> Request {
        let (arrival, placed) = (self.due.take().zip(self.arrivals.next(&self.ahead)))
            .expect("a host takes requests whose arrival it was told");
        let id = self.taken;
        let request = Request { id, arrival, ..placed.request() };
        let Placed { record, place, .. } = placed;
        if self.ahead.feed.spec.keep_measured {
            self.measured.push(Measured { response: record.response, queue: record.queue });
        }
        self.counts.add(place);
        self.taken += 1;
        if let Err(error) = self.arrivals.sent(id, arrival, &mut self.ahead) {
            self.failed = Some(error);
        }
        request
    }

    #[inline]
    fn completed(&mut self, id: u64, at: Nanos) {
        self.arrivals.completed(id, at);
    }

    fn upcoming(&mut self) -> &[Extent] {
        self.arrivals.upcoming(&mut self.ahead)
    }

    fn requests(&self) -> Option<u64> {
        self.known
    }

    fn share(&self) -> Option<f64> {
        self.ahead.feed.records.read_counter.share()
    }
}

impl Counts {
    #[inline]
    fn add(&mut self, place: &MappedRequest) {
        self.widened += u64::from(place.widened);
        self.wrapped += u64::from(place.wrapped);
        self.scaled += u64::from(place.scaled);
        self.compacted += u64::from(place.compacted);
        self.moved += u64::from(place.moved);
    }
}
