//! A trace as a workload.

use super::{Format, Reader, Record};
use crate::error::{Error, Result};
use crate::keys::{Keys, Range};
use crate::request::Request;
use crate::units::Nanos;
use crate::workloads::{Closed, ClosedSpec, Source};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The keys of a replayed trace.
#[derive(Clone, Debug)]
pub struct TraceSpec {
    path: PathBuf,
    format: Format,
    /// `None`: not said; `Some(None)`: all of them.
    device: Option<Option<u32>>,
    address: Address,
    time_scale: f64,
    requests: Option<u64>,
    closed: Option<ClosedSpec>,
}

/// What to do with addresses that are not the device's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Address {
    Error,
    Wrap,
    Scale,
}

const ADDRESSES: [(&str, Address); 3] = [
    ("error", Address::Error),
    ("wrap", Address::Wrap),
    ("scale", Address::Scale),
];

impl TraceSpec {
    /// Reads the keys for the trace at `path`; whoever owns `keys` finishes
    /// them.
    ///
    /// # Errors
    /// A key that is out of range, or `time_scale` for a closed replay.
    pub fn read(path: &Path, keys: &mut Keys) -> Result<Self> {
        let time_scale = keys.opt_f64("time_scale", Range::at_least(1e-6).at_most(1e12))?;
        let closed = ClosedSpec::read(keys)?;
        if time_scale.is_some() && closed.is_some() {
            let problem = "must not be given with queue_depth or think_ms: a closed replay \
                           ignores the times of the trace";
            return Err(keys.refuse("time_scale", problem));
        }
        Ok(Self {
            path: path.to_owned(),
            format: (keys.opt_choice("trace_format", &Format::choices())?).unwrap_or_default(),
            device: keys.opt_u32_or("trace_device", 0..=u32::MAX, "all")?,
            address: keys
                .opt_choice("address", &ADDRESSES)?
                .unwrap_or(Address::Error),
            time_scale: time_scale.unwrap_or(1.0),
            requests: keys.opt_u64("requests", 1..=i64::MAX as u64)?,
            closed,
        })
    }

    /// The trace as a workload for a device of `device_blocks` blocks.
    ///
    /// # Errors
    /// The file cannot be read, its first record is bad, or it has no
    /// requests for the chosen device. With `address = "scale"` the whole
    /// file is read here once, so that any bad record shows now.
    pub fn source(&self, device_blocks: u64) -> Result<TraceSource> {
        let mut span = None;
        let mut known = None;
        if self.address == Address::Scale {
            let mut records = Records::open(self)?;
            let (mut end, mut count) = (0, 0);
            while let Some(record) = records.next()? {
                end = end.max(record.lbn + u64::from(record.blocks));
                count += 1;
            }
            span = Some(end);
            known = Some(self.requests.map_or(count, |limit| count.min(limit)));
        }
        let mut source = TraceSource {
            records: Records::open(self)?,
            spec: self.clone(),
            closed: self.closed.map(|closed| closed.start()),
            device_blocks,
            span,
            known,
            next: None,
            taken: 0,
            counts: Counts::default(),
            first: Nanos::ZERO,
        };
        source.pull()?;
        match &source.next {
            Some(request) => source.first = request.arrival,
            None => return Err(source.records.empty(&self.path)),
        }
        Ok(source)
    }
}

/// A trace being replayed, one record read ahead.
///
/// Arrivals keep the time origin of the file (divided by `time_scale`): a
/// trace that starts at 5 s starts at 5 s here. The stream of a request is its
/// device in the trace.
pub struct TraceSource {
    spec: TraceSpec,
    records: Records,
    closed: Option<Closed>,
    device_blocks: u64,
    /// One past the highest block in the trace, for `scale`.
    span: Option<u64>,
    known: Option<u64>,
    next: Option<Request>,
    taken: u64,
    counts: Counts,
    /// Arrival of the first request on the clock of the file.
    first: Nanos,
}

/// How many addresses were changed.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    wrapped: u64,
    scaled: u64,
    moved: u64,
}

impl TraceSource {
    /// What was replayed and what was done to it, so far.
    #[must_use]
    pub fn facts(&self) -> Value {
        let spec = &self.spec;
        let address = ADDRESSES
            .iter()
            .find(|(_, address)| *address == spec.address);
        let mut facts = json!({
            "workload": "trace",
            "path": spec.path.display().to_string(),
            "format": spec.format.name,
            "compression": self.records.reader.compression(),
            "requests": self.taken,
            "trace_device": match (spec.device, self.records.devices.as_slice()) {
                (Some(Some(device)), _) | (None, &[device]) => json!(device),
                _ => json!("all"),
            },
            "devices_seen": self.records.devices,
            "other_devices_requests": self.records.skipped,
            "address": address.map(|(name, _)| *name),
            "span_blocks": self.span,
            "wrapped": self.counts.wrapped,
            "scaled": self.counts.scaled,
            "moved": self.counts.moved,
            "time_scale": spec.time_scale,
            "time_origin": "file",
            "first_time_s": self.first.s(),
        });
        if let Some(closed) = spec.closed {
            facts["queue_depth"] = json!(closed.queue_depth);
            facts["think_ms"] = json!(closed.think_ms);
        }
        facts
    }

    /// Reads the next request, if there is one to come.
    fn pull(&mut self) -> Result<()> {
        self.next = None;
        if self.spec.requests == Some(self.taken) {
            return Ok(());
        }
        let Some(record) = self.records.next()? else {
            return Ok(());
        };
        let lbn = self.place(&record)?;
        let time = if self.spec.time_scale == 1.0 {
            record.time
        } else {
            Nanos((record.time.0 as f64 / self.spec.time_scale + 0.5) as u64)
        };
        if time.0 > u64::MAX / 2 {
            let problem = format!("arrives after {} s: must be within 292 years", time.s());
            return Err(self.records.reader.refuse(problem));
        }
        let mut request = Request::new(self.taken, time, record.op, lbn, record.blocks);
        request.stream = record.device;
        self.next = Some(request);
        Ok(())
    }

    /// Where the request of a record goes on the device.
    #[inline]
    fn place(&mut self, record: &Record) -> Result<u64> {
        let (lbn, blocks) = (record.lbn, u64::from(record.blocks));
        let size = self.device_blocks;
        let refuse = |problem| Err(self.records.reader.refuse(problem));
        if blocks > size {
            return refuse(format!("{blocks} blocks: the device has {size}"));
        }
        let last = size - blocks;
        let place = match (self.spec.address, self.span) {
            (Address::Scale, Some(span)) => {
                let place = (u128::from(lbn) * u128::from(size) / u128::from(span)) as u64;
                self.counts.scaled += u64::from(place != lbn);
                place
            }
            (Address::Wrap, _) if lbn >= size => {
                self.counts.wrapped += 1;
                lbn % size
            }
            (Address::Error, _) if lbn > last => {
                return refuse(format!(
                    "blocks {lbn} to {}: the device has {size}; give address = \"wrap\" or \
                     address = \"scale\" to fit the trace to the device",
                    lbn + blocks - 1
                ));
            }
            _ => lbn,
        };
        if place > last {
            self.counts.moved += 1;
        }
        Ok(place.min(last))
    }
}

impl Source for TraceSource {
    #[inline]
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        Ok(match (&self.next, &self.closed) {
            (None, _) => None,
            (Some(request), None) => Some(request.arrival),
            (Some(_), Some(closed)) => closed.next(),
        })
    }

    fn take(&mut self) -> Result<Request> {
        let due = match &mut self.closed {
            Some(closed) => closed.take(),
            None => self.next.as_ref().map(|request| request.arrival),
        };
        let (Some(arrival), Some(mut request)) = (due, self.next.take()) else {
            return Err(Error::Request("the trace has no request due".to_owned()));
        };
        request.arrival = arrival;
        self.taken += 1;
        self.pull()?;
        Ok(request)
    }

    #[inline]
    fn completed(&mut self, _id: u64, at: Nanos) {
        if let Some(closed) = &mut self.closed {
            closed.completed(at);
        }
    }

    fn requests(&self) -> Option<u64> {
        self.known
    }
}

/// The records of the chosen device.
struct Records {
    reader: Box<dyn Reader>,
    device: Option<Option<u32>>,
    /// Every device seen so far, ascending.
    devices: Vec<u32>,
    last_seen: Option<u32>,
    skipped: u64,
}

impl Records {
    fn open(spec: &TraceSpec) -> Result<Self> {
        Ok(Self {
            reader: (spec.format.open)(&spec.path)?,
            device: spec.device,
            devices: Vec::new(),
            last_seen: None,
            skipped: 0,
        })
    }

    fn next(&mut self) -> Result<Option<Record>> {
        while let Some(record) = self.reader.next()? {
            let device = record.device;
            if self.last_seen != Some(device) {
                self.see(device)?;
            }
            match self.device {
                Some(Some(chosen)) if chosen != device => self.skipped += 1,
                _ => return Ok(Some(record)),
            }
        }
        Ok(None)
    }

    fn see(&mut self, device: u32) -> Result<()> {
        if let (None, Some(&first)) = (self.device, self.devices.first())
            && first != device
        {
            return Err(self.reader.refuse(format!(
                "device {device}, after requests of device {first}: give trace_device = \
                 {first} (or another), or trace_device = \"all\" for one shared address space"
            )));
        }
        if let Err(place) = self.devices.binary_search(&device) {
            self.devices.insert(place, device);
        }
        self.last_seen = Some(device);
        Ok(())
    }

    /// Why there is nothing to replay.
    fn empty(&self, path: &Path) -> Error {
        let seen: Vec<String> = self.devices.iter().map(u32::to_string).collect();
        Error::file(
            path,
            match self.device {
                Some(Some(device)) if !seen.is_empty() => {
                    let seen = seen.join(", ");
                    format!("no requests of trace_device = {device}; the trace has {seen}")
                }
                _ => "no requests".to_owned(),
            },
        )
    }
}
