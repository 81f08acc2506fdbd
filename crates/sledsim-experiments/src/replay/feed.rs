//! The requests of a replayed trace: read, sorted, and mapped to the device.

use super::facts::{ClockFacts, StartFacts};
use super::mapping::{MappedRequest, Mapping};
use super::spec::{ORIGINS, Origin, TraceSpec, name_of};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::request::{Extent, Flags, Request};
use sledsim_base::units::Nanos;
use sledsim_traces::records::{Records, Step};
use sledsim_traces::sorter::Sorter;
use sledsim_traces::{Clock, Record};

/// The number of records between two calls of `check`.
pub const CHECK_EVERY: u64 = 1024;

/// A record and its place on the device.
#[derive(Clone, Copy, Default)]
pub struct Placed {
    pub record: Record,
    pub place: MappedRequest,
    /// Its time on the clock of the replay.
    pub arrival: Nanos,
}

impl Placed {
    /// Its extent on the device, if it moves data.
    #[inline]
    pub fn extent(&self) -> Option<Extent> {
        let MappedRequest { lbn, blocks, .. } = self.place;
        (blocks > 0).then_some(Extent { lbn, blocks })
    }

    /// The request, without id and arrival.
    #[inline]
    pub fn request(&self) -> Request {
        Request {
            op: self.record.op,
            stream: self.record.device,
            flags: Flags::LINKED.when(self.record.linked),
            extents: self.extent().into_iter().collect(),
            ..Request::default()
        }
    }
}

/// Returns requests in the order of the trace, reading only as far as needed:
/// with `sort_ms`, to the end of its window.
pub struct Feed {
    pub spec: TraceSpec,
    pub records: Records,
    pub mapping: Mapping,
    /// The origin of the replay's times.
    pub origin: Origin,
    /// Time of the first request on the clock of the file.
    pub first: Option<Nanos>,
    sorter: Option<Box<Sorter<Placed>>>,
    /// The first one, until it is read.
    begin: Option<Placed>,
    fetched: u64,
}

impl Feed {
    /// Skips records before the first request of the selected device. `check`
    /// is called now and then; its error ends the reading.
    pub fn new(
        spec: TraceSpec,
        records: Records,
        mapping: Mapping,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<Self> {
        let mut feed = Self {
            origin: match spec.origin {
                Some(origin) => origin,
                None if records.found.format.clock == Clock::Calendar => Origin::First,
                None => Origin::File,
            },
            sorter: spec.sort_ms.map(|ms| Box::new(Sorter::new(Nanos::from_ms(ms), usize::MAX))),
            spec,
            records,
            mapping,
            first: None,
            begin: None,
            fetched: 0,
        };
        for step in 1_u64.. {
            match feed.records.step()? {
                Step::Record(record) => {
                    let place = feed.place(&record)?;
                    let arrival = Nanos::ZERO;
                    feed.begin = Some(Placed { record, place, arrival });
                    break;
                }
                Step::Other => {}
                Step::End => break,
            }
            if step.is_multiple_of(CHECK_EVERY) {
                check(feed.records.progress(0))?;
            }
        }
        Ok(feed)
    }

    /// The next request, up to the number asked for.
    pub fn fetch(&mut self) -> Result<Option<Placed>> {
        let mut placed = Placed::default();
        Ok(self.fetch_into(&mut placed)?.then_some(placed))
    }

    /// As [`Feed::fetch`], into a request that may hold the one before; false at the end.
    pub fn fetch_into(&mut self, placed: &mut Placed) -> Result<bool> {
        if self.spec.requests == Some(self.fetched) {
            return Ok(false);
        }
        let found = self.next_into(placed)?;
        if found {
            placed.arrival = self.arrival(placed.record.time)?;
            self.fetched += 1;
        }
        Ok(found)
    }

    /// The number of requests fetched.
    pub fn fetched(&self) -> u64 {
        self.fetched
    }

    /// The next request in order; false at the end.
    #[inline]
    fn next_into(&mut self, placed: &mut Placed) -> Result<bool> {
        let Some(mut sorter) = self.sorter.take() else {
            return self.read_into(placed);
        };
        let due = sorter.next(|sorter| {
            if !self.read_into(placed)? {
                return Ok(None);
            }
            let held = sorter.push(placed.record.time, *placed);
            held.map_err(|problem| self.records.refuse(problem))?;
            Ok(Some(placed.record.time))
        });
        self.sorter = Some(sorter);
        Ok(due?.map(|due| *placed = due).is_some())
    }

    /// The next record of a selected device, mapped; false at the end.
    #[inline]
    fn read_into(&mut self, placed: &mut Placed) -> Result<bool> {
        if let Some(begin) = self.begin.take() {
            *placed = begin;
            return Ok(true);
        }
        loop {
            match self.records.step_into(&mut placed.record)? {
                Some(true) => break,
                Some(false) => {}
                None => return Ok(false),
            }
        }
        placed.place = self.place(&placed.record)?;
        Ok(true)
    }

    #[inline(always)] // hot: once a request
    fn place(&mut self, record: &Record) -> Result<MappedRequest> {
        let place = if record.bytes == 0 {
            MappedRequest::default() // a flush
        } else {
            let place = self.mapping.place(record);
            place.map_err(|problem| self.records.refuse(problem))?
        };
        if self.spec.paced.is_some() {
            self.check_paced(record)?;
        }
        Ok(place)
    }

    /// Checks that a record has the times needed for `think = "recorded"`.
    fn check_paced(&self, record: &Record) -> Result<()> {
        let problem = if record.response.is_none() {
            "no response time, and think = \"recorded\" needs the completion of every request"
        } else if record.linked {
            "a linked request: think = \"recorded\" takes no batches"
        } else {
            return Ok(());
        };
        Err(self.records.refuse(problem.to_owned()))
    }

    /// The time subtracted from the times of the file.
    pub fn subtracted(&self) -> Nanos {
        match self.origin {
            Origin::File => Nanos::ZERO,
            Origin::First => self.first.unwrap_or_default(),
        }
    }

    /// The times, of whose records `sorted` were late.
    pub fn clock(&self, sorted: u64, most_late: Nanos) -> ClockFacts {
        ClockFacts {
            time_origin: name_of(&ORIGINS, self.origin),
            start: Some(StartFacts {
                first_time_s: self.first.map(Nanos::s),
                subtracted_s: self.subtracted().s(),
            }),
            sort_ms: self.spec.sort_ms,
            sorted,
            sorted_most_ms: most_late.ms(),
        }
    }

    /// A time of the file on the clock of the replay.
    #[inline]
    pub fn on_clock(&self, time: Nanos) -> Nanos {
        let since = time.since(self.subtracted());
        match self.spec.time_scale {
            1.0 => since,
            _ => self.scaled(since),
        }
    }

    /// A span of time of the file in the replay.
    #[inline]
    pub fn scaled(&self, span: Nanos) -> Nanos {
        Nanos((span.0 as f64 / self.spec.time_scale + 0.5) as u64)
    }

    /// The arrival of a request with this time in the file.
    #[inline]
    fn arrival(&mut self, time: Nanos) -> Result<Nanos> {
        self.first.get_or_insert(time);
        let arrival = self.on_clock(time);
        if arrival.0 <= u64::MAX / 2 {
            return Ok(arrival);
        }
        let problem = format!(
            "arrives after {} s: must be within 292 years (time_origin = \"first\" counts from \
             the first request)",
            arrival.s()
        );
        Err(match &self.sorter {
            None => self.records.refuse(problem),
            Some(_) => Error::trace(self.spec.supply.name(), problem),
        })
    }
}
