//! A trace as a workload.

use super::causes::Causes;
use super::mapping::{Address, Mapping, Place, Spans};
use super::paced::{Paced, Recorded};
use crate::formats;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::{Keys, Range};
use sledsim_base::progress::Progress;
use sledsim_base::request::{Extent, Extents, Flags, Request};
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;
use sledsim_core::workloads::{Closed, ClosedSpec};
use sledsim_traces::order::{LONGEST_SORT_MS, Sorter};
use sledsim_traces::records::{Devices, Records, Step};
use sledsim_traces::{BlkAction, Clock, Format, Options, Record, Supply};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The keys of a replayed trace.
#[derive(Clone, Debug)]
pub struct TraceSpec {
    supply: Supply,
    format: Option<Format>,
    options: Options,
    devices: Devices,
    address: Address,
    address_offset: u64,
    time_scale: f64,
    origin: Option<Origin>,
    sort_ms: Option<f64>,
    requests: Option<u64>,
    closed: Option<ClosedSpec>,
    /// Replay closed, with the think times of the trace.
    paced: Option<DependsOn>,
    /// Whether measured times are kept.
    pub(crate) keep_measured: bool,
}

/// Nothing is done yet.
const NOT_BEGUN: Progress = Progress {
    completed: 0,
    requests: None,
    share: None,
};

/// What the times of a replay count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// What the file's count from.
    File,
    /// The first request.
    First,
}

const ORIGINS: [(&str, Origin); 2] = [("file", Origin::File), ("first", Origin::First)];

/// Among which requests the one is that a request waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DependsOn {
    /// Those of its stream: its device in the trace.
    Stream,
    /// All.
    All,
}

const DEPENDS_ON: [(&str, DependsOn); 2] = [("stream", DependsOn::Stream), ("all", DependsOn::All)];

/// The only value of `think` that a trace has.
const RECORDED: [(&str, ()); 1] = [("recorded", ())];

/// The names of the events that are the requests of a `blkparse` trace.
pub const BLK_ACTIONS: [(&str, BlkAction); 3] = [
    ("Q", BlkAction::Queue),
    ("D", BlkAction::Issue),
    ("C", BlkAction::Complete),
];

/// What is done with requests whose clock jumped: they are errors as other
/// times that fall, or dropped.
const GLITCHES: [(&str, bool); 2] = [("error", false), ("drop", true)];

/// How many records pass between two calls of `check`.
const CHECK_EVERY: u64 = 1024;

impl TraceSpec {
    /// The file.
    pub(crate) fn path(&self) -> &Path {
        self.supply.path()
    }

    /// Reads the keys for the trace at `path`; whoever owns `keys` finishes
    /// them.
    ///
    /// # Errors
    /// A key that is out of range, or one about times for a closed replay.
    pub fn read(path: &Path, keys: &mut Keys) -> Result<Self> {
        let time_scale = keys.opt_f64("time_scale", Range::at_least(1e-6).at_most(1e12))?;
        let origin = keys.opt_choice("time_origin", &ORIGINS)?;
        let closed = ClosedSpec::read(keys)?;
        let given = [
            ("time_scale", time_scale.is_some()),
            ("time_origin", origin.is_some()),
        ];
        if let (Some((key, _)), Some(_)) = (given.iter().find(|(_, given)| *given), closed) {
            let problem = "must not be given with queue_depth or think_ms: a closed replay \
                           ignores the times of the trace";
            return Err(keys.refuse(key, problem));
        }
        let think = keys.opt_choice("think", &RECORDED)?;
        if think.is_some() && closed.is_some() {
            let problem = "must not be given with queue_depth or think_ms: what is outstanding and \
                           the think times are those of the trace";
            return Err(keys.refuse("think", problem));
        }
        let depends_on = keys.opt_choice("depends_on", &DEPENDS_ON)?;
        if depends_on.is_some() && think.is_none() {
            return Err(keys.refuse("depends_on", "needs think = \"recorded\""));
        }
        Ok(Self {
            supply: Supply::new(path),
            format: keys.opt_choice("trace_format", &formats::all().readers.choices())?,
            options: Options {
                formats: formats::all(),
                columns: keys.opt_text("columns")?,
                blk_action: keys.opt_choice("blk_action", &BLK_ACTIONS)?,
                drop_glitches: keys.opt_choice("glitches", &GLITCHES)?.unwrap_or_default(),
            },
            devices: (keys.opt_name("trace_device")?).map_or(Devices::Only, Devices::named),
            address: (keys.opt_choice("address", &Address::CHOICES)?).unwrap_or_default(),
            address_offset: (keys.opt_u64("address_offset", 0..=i64::MAX as u64)?)
                .unwrap_or_default(),
            time_scale: time_scale.unwrap_or(1.0),
            origin,
            sort_ms: keys.opt_f64("sort_ms", Range::at_least(0.0).at_most(LONGEST_SORT_MS))?,
            requests: keys.opt_u64("requests", 1..=i64::MAX as u64)?,
            closed,
            paced: think.map(|()| depends_on.unwrap_or(DependsOn::Stream)),
            keep_measured: false,
        })
    }

    /// Whether addresses depend on how many blocks the device has.
    pub(crate) fn needs_blocks(&self) -> bool {
        self.address != Address::Error
    }

    /// Sees to it that [`TraceSpec::source`] may be called any number of times,
    /// here and on clones: what can be read once only is copied to a temporary
    /// file, of up to [`sledsim_traces::MOST_KEPT_BYTES`].
    ///
    /// # Errors
    /// It cannot be read or copied, was read before, or `check`'s.
    pub fn keep(&self, check: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()> {
        self.supply.keep(&mut || check(NOT_BEGUN))
    }

    /// The trace as a workload for a device of `device_blocks` blocks. `check`
    /// is called now and then with how far the reading is; its error ends it.
    ///
    /// With `address = "scale"`, `trace_device = "separate"` or `think =
    /// "recorded"` the whole file is read here once, so that any bad record
    /// shows now; a stream is kept for that (see [`TraceSpec::keep`]), and else
    /// read as the replay goes.
    ///
    /// # Errors
    /// The file cannot be read, its first record is bad, or it has no requests
    /// of the chosen device; or `check`'s.
    pub fn source(
        &self,
        device_blocks: u64,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<TraceSource> {
        if self.address_offset >= device_blocks {
            let offset = self.address_offset;
            return Err(Error::Key(format!(
                "address_offset = {offset}: must be below the {device_blocks} blocks of the device"
            )));
        }
        let separate = self.devices == Devices::Separate;
        let spans = match self.address == Address::Scale || separate {
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
        let (causes, count) = match self.paced {
            Some(depends_on) => self.causes(depends_on, check)?,
            None => (None, spans.as_ref().map(|spans| spans.requests)),
        };
        let records = self.open(check)?;
        let closed = records.found.format.clock == Clock::Closed;
        if let (true, Some(key)) = (closed, self.about_times()) {
            let format = records.found.format.name;
            return Err(Error::Key(format!(
                "{key}: has no effect with trace_format = \"{format}\", which has no times of arrival"
            )));
        }
        let mut source = TraceSource {
            arrivals: match (self.closed, causes) {
                (Some(spec), _) => Arrivals::Closed(spec.start()),
                (_, Some(causes)) => Arrivals::Paced(Box::new(Paced::new(causes))),
                _ if closed => Arrivals::recorded(),
                _ => Arrivals::Open,
            },
            origin: match self.origin {
                Some(origin) => origin,
                None if records.found.format.clock == Clock::Calendar => Origin::First,
                None => Origin::File,
            },
            sorter: self.sort_ms.map(|_| Sorter::new()),
            spec: self.clone(),
            known: count.map(|count| count.min(self.requests.unwrap_or(u64::MAX))),
            records,
            mapping,
            next: None,
            ended: false,
            taken: 0,
            counts: Counts::default(),
            first: None,
            measured: Vec::new(),
            batches: Batches::default(),
        };
        source.find_first(check)?;
        source.pull()?;
        match source.next_arrival()? {
            Some(_) => Ok(source),
            None => Err(source.records.empty(self.supply.name())),
        }
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

    /// A key that is given and only matters where there are times.
    fn about_times(&self) -> Option<&'static str> {
        let given = [
            ("time_origin", self.origin.is_some()),
            ("sort_ms", self.sort_ms.is_some()),
            ("glitches", self.options.drop_glitches),
            ("think", self.paced.is_some()),
        ];
        (given.into_iter()).find_map(|(key, given)| given.then_some(key))
    }

    fn spans(&self, check: &mut dyn FnMut(Progress) -> Result<()>) -> Result<Spans> {
        let mut spans = Spans::default();
        self.scan(check, &mut |record| spans.add(record))?;
        Ok(spans)
    }

    /// What tells causes, and how many requests there are.
    fn causes(
        &self,
        depends_on: DependsOn,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<(Option<Causes>, Option<u64>)> {
        let mut streams = BTreeMap::new();
        let count = self.scan(check, &mut |record| {
            *streams.entry(depends_on.stream(record)).or_default() += 1;
        })?;
        Ok((Some(Causes::new(streams)), Some(count)))
    }

    /// Reads the whole file, and counts the requests.
    fn scan(
        &self,
        check: &mut dyn FnMut(Progress) -> Result<()>,
        each: &mut dyn FnMut(&Record),
    ) -> Result<u64> {
        self.keep(check)?;
        let mut records = self.open(check)?;
        let mut requests = 0;
        for step in 1_u64.. {
            match records.step()? {
                Step::Record(record) => {
                    requests += 1;
                    each(&record);
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

impl DependsOn {
    /// What counts as the stream of a record.
    fn stream(self, record: &Record) -> u32 {
        match self {
            Self::Stream => record.device,
            Self::All => 0,
        }
    }
}

/// A trace being replayed, a record read ahead (with `sort_ms`, those within
/// its window; with `think = "recorded"`, those that `Paced` says).
///
/// The stream of a request is its device in the trace.
pub struct TraceSource {
    spec: TraceSpec,
    records: Records,
    arrivals: Arrivals,
    origin: Origin,
    mapping: Mapping,
    sorter: Option<Sorter<Placed>>,
    known: Option<u64>,
    next: Option<Placed>,
    /// Whether all of the file was read.
    ended: bool,
    taken: u64,
    counts: Counts,
    /// Time of the first request on the clock of the file.
    first: Option<Nanos>,
    /// Of the requests taken, in their order, if they are kept.
    measured: Vec<Measured>,
    batches: Batches,
}

/// Batches in a closed replay, which count as one request: the host sends their
/// commands at once, and what comes between them, and goes on when all are
/// complete.
#[derive(Debug, Default)]
struct Batches {
    /// Devices with a batch that is not complete.
    open: BTreeSet<u32>,
    /// When the commands since then were sent.
    arrival: Nanos,
    /// The group that each outstanding command is of, by id, and how many of
    /// each group are outstanding.
    group_of: BTreeMap<u64, u64>,
    left: BTreeMap<u64, u64>,
    group: u64,
}

impl Batches {
    /// Takes a command that was sent at `arrival`, if it is part of a group.
    fn take(&mut self, id: u64, record: &Record, arrival: Nanos) {
        if self.open.is_empty() {
            if !record.linked {
                return;
            }
            self.group = id;
            self.arrival = arrival;
        }
        if record.linked {
            self.open.insert(record.device);
        } else {
            self.open.remove(&record.device);
        }
        self.group_of.insert(id, self.group);
        *self.left.entry(self.group).or_default() += 1;
    }

    /// When the next command is sent if it belongs to those before.
    fn due(&self) -> Option<Nanos> {
        (!self.open.is_empty()).then_some(self.arrival)
    }

    /// Whether the completion of `id` is one that the host goes on after.
    fn goes_on(&mut self, id: u64) -> bool {
        let Some(group) = self.group_of.remove(&id) else {
            return true;
        };
        let left = self.left.entry(group).or_default();
        *left -= 1;
        let more_follow = self.group == group && !self.open.is_empty();
        let last = *left == 0 && !more_follow;
        if last {
            self.left.remove(&group);
        }
        last
    }
}

/// What a trace says of how long a request took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// [`Record::response`].
    pub response: Option<Nanos>,
    /// [`Record::queue`].
    pub queue: Option<Nanos>,
}

/// When requests arrive.
enum Arrivals {
    /// At the times of the trace.
    Open,
    /// So many outstanding, with one think time.
    Closed(Closed),
    /// One outstanding, with the think times of the trace.
    Recorded {
        /// When the next one arrives, if the one before is complete.
        due: Option<Nanos>,
        /// From the completion of the one under way to the next arrival.
        think: Nanos,
    },
    /// As long after the completion of another one as in the trace.
    Paced(Box<Paced<Placed>>),
}

impl Arrivals {
    fn recorded() -> Self {
        Self::Recorded {
            due: Some(Nanos::ZERO),
            think: Nanos::ZERO,
        }
    }
}

/// A record and where it goes.
#[derive(Clone, Copy)]
struct Placed {
    record: Record,
    place: Place,
    arrival: Nanos,
}

/// What was done to the requests taken.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    widened: u64,
    wrapped: u64,
    scaled: u64,
    moved: u64,
}

impl TraceSource {
    /// What was replayed and what was done to it, so far.
    #[must_use]
    pub fn facts(&self) -> Value {
        let (spec, records, order) = (&self.spec, &self.records, &self.records.order);
        let devices: Vec<_> = records.devices().collect();
        let chosen = match (&records.wanted, devices.as_slice()) {
            (Devices::All, _) => json!("all"),
            (Devices::Separate, _) => json!("separate"),
            _ => (devices.iter().find(|(.., wanted)| *wanted))
                .map_or(Value::Null, |(_, label, ..)| label.clone()),
        };
        let devices: Vec<Value> = (devices.into_iter())
            .map(|(device, label, requests, wanted)| {
                let first_block = wanted.then(|| self.mapping.base(device)).flatten();
                json!({ "device": label, "requests": requests, "first_block": first_block })
            })
            .collect();
        let subtracted = self.subtracted();
        let mut facts = json!({
            "workload": "trace",
            "path": spec.supply.path().display().to_string(),
            "format": records.found.format.name,
            "format_from": records.found.chosen_by.name(),
            "format_others": records.found.others,
            "compression": records.compression.name(),
            "requests": self.taken,
            "trace_device": chosen,
            "devices": devices,
            "other_devices_requests": records.others(),
            "address": spec.address.name(),
            "address_offset": spec.address_offset,
            "span_blocks": self.mapping.span(),
            "widened": self.counts.widened,
            "wrapped": self.counts.wrapped,
            "scaled": self.counts.scaled,
            "moved": self.counts.moved,
            "time_scale": spec.time_scale,
            "time_origin": ORIGINS.iter().find(|(_, origin)| *origin == self.origin).map(|o| o.0),
            "first_time_s": self.first.map(Nanos::s),
            "subtracted_s": subtracted.s(),
            "sort_ms": spec.sort_ms,
            "sorted": order.late,
            "sorted_most_ms": order.latest_by.ms(),
        });
        records.passed_over().state(&mut facts);
        if let Some(action) = spec.options.blk_action {
            let name = BLK_ACTIONS.iter().find(|(_, known)| *known == action);
            facts["blk_action"] = json!(name.map(|(name, _)| *name));
        }
        match (&self.arrivals, spec.closed) {
            (Arrivals::Paced(paced), _) => paced_facts(paced, spec.paced, &mut facts),
            (Arrivals::Recorded { .. }, _) => {
                facts["queue_depth"] = json!(1);
                facts["think_ms"] = Value::Null; // as recorded, each its own
            }
            (_, Some(closed)) => {
                facts["queue_depth"] = json!(closed.queue_depth);
                facts["think_ms"] = json!(closed.think_ms);
            }
            _ => {}
        }
        facts
    }

    /// Whether requests arrive at the times of the trace.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.arrivals, Arrivals::Open)
    }

    /// What the trace says of how long its requests took, by their ids; taken
    /// out, and empty unless kept.
    pub fn take_measured(&mut self) -> Vec<Measured> {
        std::mem::take(&mut self.measured)
    }

    /// What is subtracted from the times of the file.
    fn subtracted(&self) -> Nanos {
        match self.origin {
            Origin::File => Nanos::ZERO,
            Origin::First => self.first.unwrap_or_default(),
        }
    }

    /// Passes over what comes before the first request of the chosen device.
    fn find_first(&mut self, check: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()> {
        for step in 1_u64.. {
            match self.records.step()? {
                Step::Record(record) => {
                    self.next = Some(self.placed(record)?);
                    break;
                }
                Step::Other => {}
                Step::End => break,
            }
            if step.is_multiple_of(CHECK_EVERY) {
                check(self.records.progress(0))?;
            }
        }
        Ok(())
    }

    /// Makes the next request ready, if there is one to come and it is not
    /// [`Paced`] that has it ready.
    fn pull(&mut self) -> Result<()> {
        let ahead = matches!(self.arrivals, Arrivals::Paced(_));
        if ahead || self.spec.requests == Some(self.taken) {
            return Ok(());
        }
        self.next = self.fetch()?;
        Ok(())
    }

    /// The next request in the order of arrival.
    fn fetch(&mut self) -> Result<Option<Placed>> {
        // Before the first one is taken, it may have been read already.
        let mut found = self.next.take();
        if self.sorter.is_some() {
            if let Some(placed) = found.take() {
                self.hold(placed)?;
            }
            loop {
                found = self.due();
                if found.is_some() || self.ended {
                    break;
                }
                match self.read()? {
                    Some(placed) => self.hold(placed)?,
                    None => self.ended = true,
                }
            }
        } else if found.is_none() {
            found = self.read()?;
        }
        if let Some(placed) = &mut found {
            placed.arrival = self.arrival(placed.record.time)?;
        }
        Ok(found)
    }

    /// Reads what may arrive before all that was read.
    fn read_ahead(&mut self) -> Result<()> {
        while let Arrivals::Paced(paced) = &mut self.arrivals {
            if !paced.wants_more() {
                break;
            }
            if self.spec.requests == Some(paced.read()) {
                paced.end();
                break;
            }
            let fetched = self.fetch()?;
            let recorded = fetched.as_ref().map(|placed| self.recorded(placed));
            let Arrivals::Paced(paced) = &mut self.arrivals else {
                break;
            };
            match fetched.zip(recorded) {
                Some((placed, recorded)) => paced.push(recorded, placed),
                None => paced.end(),
            }
        }
        Ok(())
    }

    /// What a closed replay must know of a request.
    fn recorded(&self, placed: &Placed) -> Recorded {
        let Placed {
            record, arrival, ..
        } = *placed;
        let lateness = record.lateness.unwrap_or_default();
        let took = record.response.unwrap_or_default();
        let seen = (record.time.0.saturating_add(took.0)).saturating_add(lateness.0);
        Recorded {
            stream: (self.spec.paced).map_or(0, |depends_on| depends_on.stream(&record)),
            arrival: record.time,
            seen: Nanos(seen),
            arrival_at: arrival,
            seen_at: self.on_clock(Nanos(seen)),
            lateness,
        }
    }

    /// The next record of a chosen device and where it goes.
    #[inline]
    fn read(&mut self) -> Result<Option<Placed>> {
        loop {
            match self.records.step()? {
                Step::Record(record) => return self.placed(record).map(Some),
                Step::Other => {}
                Step::End => return Ok(None),
            }
        }
    }

    #[inline]
    fn placed(&mut self, record: Record) -> Result<Placed> {
        let place = if record.bytes == 0 {
            Place::default() // a flush
        } else {
            let place = self.mapping.place(&record);
            place.map_err(|problem| self.records.refuse(problem))?
        };
        if self.spec.paced.is_some() {
            self.check_paced(&record)?;
        }
        Ok(Placed {
            record,
            place,
            arrival: Nanos::ZERO,
        })
    }

    /// Whether it is known what waited for a request.
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

    fn hold(&mut self, placed: Placed) -> Result<()> {
        let Some(sorter) = &mut self.sorter else {
            return Ok(());
        };
        let held = sorter.push(placed.record.time, placed);
        held.map_err(|problem| self.records.refuse(problem))
    }

    /// The earliest request held, if none that is to come can be earlier.
    fn due(&mut self) -> Option<Placed> {
        let window = self.spec.sort_ms.map_or(Nanos::ZERO, Nanos::from_ms);
        let latest = self.records.order.latest;
        let until = match self.ended {
            true => Some(Nanos::MAX),
            false => latest.0.checked_sub(window.0).map(Nanos),
        };
        self.sorter.as_mut()?.pop(until?)
    }

    /// A time of the file on the clock of the replay.
    #[inline]
    fn on_clock(&self, time: Nanos) -> Nanos {
        let since = time.since(self.subtracted());
        match self.spec.time_scale {
            1.0 => since,
            scale => Nanos((since.0 as f64 / scale + 0.5) as u64),
        }
    }

    /// When a request arrives that has this time in the file.
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
            Some(_) => Error::file(self.spec.supply.name(), problem),
        })
    }
}

impl Source for TraceSource {
    #[inline]
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        if let Arrivals::Paced(_) = self.arrivals {
            self.read_ahead()?;
        }
        Ok(match (&self.next, &self.arrivals) {
            (_, Arrivals::Paced(paced)) => paced.due(),
            (None, _) => None,
            (Some(placed), Arrivals::Open) => Some(placed.arrival),
            (Some(_), Arrivals::Closed(closed)) => self.batches.due().or_else(|| closed.next()),
            (Some(_), Arrivals::Recorded { due, .. }) => self.batches.due().or(*due),
        })
    }

    fn take(&mut self) -> Result<Request> {
        let due = self.next_arrival()?;
        let next = match &mut self.arrivals {
            Arrivals::Paced(paced) => paced.take(self.taken),
            _ => self.next.take(),
        };
        let (Some(arrival), Some(placed)) = (due, next) else {
            return Err(Error::Request("the trace has no request due".to_owned()));
        };
        let Placed { record, place, .. } = placed;
        let within = self.batches.due().is_some();
        if !matches!(self.arrivals, Arrivals::Open | Arrivals::Paced(_)) {
            self.batches.take(self.taken, &record, arrival);
        }
        match &mut self.arrivals {
            Arrivals::Open | Arrivals::Paced(_) => {}
            _ if within => {}
            Arrivals::Closed(closed) => {
                closed.take();
            }
            Arrivals::Recorded { due, think } => {
                *due = None;
                let recorded = record.think.unwrap_or_default();
                *think = Nanos((recorded.0 as f64 / self.spec.time_scale + 0.5) as u64);
            }
        }
        let mut extents = Extents::new();
        if place.blocks > 0 {
            let (lbn, blocks) = (place.lbn, place.blocks);
            extents.push(Extent { lbn, blocks });
        }
        let request = Request {
            id: self.taken,
            arrival,
            op: record.op,
            stream: record.device,
            flags: Flags {
                linked: record.linked,
                ..Flags::default()
            },
            extents,
            ..Request::default()
        };
        if self.spec.keep_measured {
            self.measured.push(Measured {
                response: record.response,
                queue: record.queue,
            });
        }
        self.taken += 1;
        self.counts.add(&place);
        self.pull()?;
        Ok(request)
    }

    #[inline]
    fn completed(&mut self, id: u64, at: Nanos) {
        if !self.batches.goes_on(id) {
            return;
        }
        match &mut self.arrivals {
            Arrivals::Open => {}
            Arrivals::Closed(closed) => closed.completed(at),
            Arrivals::Paced(paced) => paced.completed(id, at),
            Arrivals::Recorded { due, think } => *due = Some(Nanos(at.0.saturating_add(think.0))),
        }
    }

    fn requests(&self) -> Option<u64> {
        self.known
    }

    fn share(&self) -> Option<f64> {
        self.records.so_far.share()
    }
}

/// How a recording was replayed, and what it says itself.
fn paced_facts(paced: &Paced<Placed>, depends_on: Option<DependsOn>, facts: &mut Value) {
    let name = DEPENDS_ON
        .iter()
        .find(|(_, known)| Some(*known) == depends_on);
    let waited = paced.read() - paced.free_requests;
    let mean_ms = |sum: u128, of: u64| (of > 0).then(|| sum as f64 / of as f64 * 1e-6);
    facts["think"] = json!("recorded");
    facts["depends_on"] = json!(name.map(|(name, _)| *name));
    facts["waited"] = json!(waited);
    facts["mean_think_ms"] = json!(mean_ms(paced.think_ns, waited));
    facts["mean_lateness_ms"] = json!(mean_ms(paced.lateness_ns, paced.read()));
    facts["recorded_duration_s"] = json!(paced.recorded.map(|(start, end)| end.since(start).s()));
}

impl Counts {
    #[inline]
    fn add(&mut self, place: &Place) {
        self.widened += u64::from(place.widened);
        self.wrapped += u64::from(place.wrapped);
        self.scaled += u64::from(place.scaled);
        self.moved += u64::from(place.moved);
    }
}
