//! A trace as a workload.

use super::ahead::Ahead;
use super::arrivals::{Arrivals, Closed, Dependent, OneByOne, OpenReplay};
use super::dependency_inference::DependencyInference;
use super::facts::{
    CompactFacts, DeviceFacts, Places, ReplayFacts, TraceAbout, TraceFacts, chosen,
};
use super::feed::{CHECK_EVERY, Feed, Placed};
use super::footprint::Footprint;
use super::mapping::{Address, Changes, Mapping, Spans};
use super::spec::{BLK_ACTIONS, DependsOn, NOT_BEGUN, TraceSpec, name_of};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::request::{Extent, Request};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::model::source::Source;
use sledsim_traces::records::{DeviceSelection, Records, Step};
use sledsim_traces::{Clock, Record};
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
            changes: Changes::default(),
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
    changes: Changes,
    /// The measured times of the requests taken, in order, if kept.
    measured: Vec<Measured>,
}

/// The measured times of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// [`Record::response`].
    pub response: Option<Nanos>,
    /// [`Record::queue`].
    pub queue: Option<Nanos>,
}

impl TraceSource {
    /// The keys in effect and the counts so far.
    pub fn facts(&self) -> TraceFacts {
        let (ahead, feed) = (&self.ahead, &self.ahead.feed);
        let (spec, records) = (&feed.spec, &feed.records);
        let devices: Vec<_> = ahead.devices().collect();
        let (sorted, most_late) = ahead.sorted();
        let wanted = devices.iter().filter(|(.., wanted)| *wanted);
        let trace_device = chosen(&records.wanted, wanted.map(|(_, label, ..)| label.clone()));
        let devices = (devices.into_iter())
            .map(|(number, device, requests, wanted)| {
                let first_block = wanted.then(|| feed.mapping.base(number)).flatten();
                DeviceFacts { device, requests, first_block }
            })
            .collect();
        let replay = ReplayFacts {
            requests: self.taken,
            trace_device,
            places: Some(Places { devices, span_blocks: feed.mapping.span() }),
            other_devices_requests: records.others(),
            address: spec.address,
            address_offset: spec.address_offset,
            changes: self.changes,
            time_scale: spec.time_scale,
            clock: feed.clock(sorted, most_late),
            compact: feed.mapping.compact().map(|compact| CompactFacts {
                touched_blocks: compact.blocks,
                touched_extents: compact.extents(),
                gap_bytes: compact.gap_blocks.saturating_mul(BLOCK_BYTES),
            }),
            blk_action: spec.options.blk_action.and_then(|action| name_of(&BLK_ACTIONS, action)),
            arrivals: self.arrivals.facts(),
        };
        let about = TraceAbout::new(records, spec.supply.path(), ahead.skipped());
        TraceFacts { about, replay }
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
        self.changes.count(place);
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
