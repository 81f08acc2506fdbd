//! The records of the selected devices.

use super::detect::ResolvedFormat;
use super::input::ReadCounter;
use super::order::Order;
use crate::format::{Format, Options};
use crate::input::Compression;
use crate::reader::Reader;
use crate::record::Record;
use crate::supply::Supply;
use serde::{Deserialize, Serialize};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;
use std::path::Path;

/// The most devices of a trace.
const MOST_DEVICES: usize = 1 << 20;

/// The devices of a trace to replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceSelection {
    /// The only device: a second one is an error.
    #[default]
    Only,
    /// The device of this name or number.
    One(String),
    /// All, in one shared address space.
    All,
    /// All, their address spaces laid end to end.
    Separate,
}

impl DeviceSelection {
    /// The selection that the key `trace_device` names.
    pub fn named(name: String) -> Self {
        match name.as_str() {
            "all" => Self::All,
            "separate" => Self::Separate,
            _ => Self::One(name),
        }
    }
}

/// The records of the selected devices, their times checked.
pub struct Records {
    /// The format, and how it was determined.
    pub found: ResolvedFormat,
    /// The compression of the file.
    pub compression: Compression,
    /// The counter of the bytes read.
    pub read_counter: ReadCounter,
    /// The order of times so far.
    pub order: Order,
    reader: Box<dyn Reader>,
    /// The selected devices; all streams of a recording unless one is given.
    pub wanted: DeviceSelection,
    seen: BTreeMap<u32, DeviceCount>,
    /// The device of the record before, and whether it is selected.
    last: Option<(u32, bool)>,
    /// The number of its records not yet added to `seen`.
    of_last: u64,
}

/// The requests read of a device, and whether it is selected.
#[derive(Clone, Copy, Debug)]
struct DeviceCount {
    requests: u64,
    wanted: bool,
}

/// The result of one step.
pub enum Step {
    /// A record of a selected device.
    Record(Record),
    /// A record of another device.
    Other,
    /// The end of the file.
    End,
}

impl Records {
    /// The progress of the reading.
    pub fn progress(&self, completed: u64) -> Progress {
        Progress { completed, requests: None, share: self.read_counter.share() }
    }

    /// Opens a trace. `check` is called while a stream is copied.
    pub fn open(
        supply: &Supply,
        format: Option<Format>,
        options: &Options,
        wanted: DeviceSelection,
        window: Option<Nanos>,
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Self> {
        let (found, input) = ResolvedFormat::open(supply, format, options, check)?;
        let (compression, read_counter) = (input.compression(), input.read_counter());
        let reader = found.format.open(input, options)?;
        let wanted = match wanted {
            DeviceSelection::Only if reader.devices_are_streams() => DeviceSelection::All,
            wanted => wanted,
        };
        Ok(Self {
            found,
            compression,
            read_counter,
            order: Order::new(window),
            reader,
            wanted,
            seen: BTreeMap::new(),
            last: None,
            of_last: 0,
        })
    }

    /// Reads one record.
    #[inline]
    pub fn step(&mut self) -> Result<Step> {
        let mut record = Record::default();
        Ok(match self.step_into(&mut record)? {
            Some(true) => Step::Record(record),
            Some(false) => Step::Other,
            None => Step::End,
        })
    }

    /// As [`Records::step`], into a record that may hold the one before: whether it is of a
    /// selected device; `None` at the end.
    #[inline]
    pub fn step_into(&mut self, record: &mut Record) -> Result<Option<bool>> {
        let next = self.reader.next_into(record);
        if !next.map_err(|error| self.found.explain(error))? {
            return Ok(None);
        }
        let wanted = match self.last {
            Some((device, wanted)) if device == record.device => wanted,
            _ => self.switch_device(record.device)?,
        };
        if wanted && !self.order.admit(record.time, &*self.reader) {
            return Err(self.too_late(record.time));
        }
        self.of_last += 1;
        Ok(Some(wanted))
    }

    /// Checks the record read last against the order of its device alone.
    ///
    /// # Errors
    /// It is too late, as in [`Records::step`].
    #[inline]
    pub fn check_order(&mut self, order: &mut Order, record: &Record) -> Result<()> {
        if order.admit(record.time, &*self.reader) {
            return Ok(());
        }
        let mut wanted = |other: &Record, _: &dyn Reader| other.device == record.device;
        let error = order.too_late(record.time, &mut *self.reader, &mut wanted);
        Err(self.explained(error))
    }

    #[cold]
    fn too_late(&mut self, time: Nanos) -> Error {
        let chosen = &self.wanted;
        let mut wanted = |record: &Record, reader: &dyn Reader| match chosen {
            DeviceSelection::One(name) => is_called(reader, record.device, name),
            _ => true,
        };
        let error = (self.order).too_late(time, &mut *self.reader, &mut wanted);
        self.explained(error)
    }

    #[cold]
    fn explained(&self, error: Error) -> Error {
        match self.found.others.is_empty() {
            true => error,
            false => self.found.explain(error),
        }
    }

    /// An error about the record read last.
    pub fn refuse(&self, problem: String) -> Error {
        self.reader.refuse(problem)
    }

    /// Makes `device` the current one; returns whether it is selected.
    fn switch_device(&mut self, device: u32) -> Result<bool> {
        self.count();
        if !self.seen.contains_key(&device) {
            if self.seen.len() == MOST_DEVICES {
                return Err(self.refuse(format!("more than {MOST_DEVICES} devices")));
            }
            if let (DeviceSelection::Only, Some(first)) = (&self.wanted, self.seen.keys().next()) {
                let (first, second) = (self.label(*first), self.label(device));
                return Err(self.refuse(format!(
                    "device {second}, after requests of device {first}: give trace_device = \
                     {} (or another), \"all\" for one shared address space, or \"separate\" to \
                     lay the devices one after the other",
                    quoted(&first)
                )));
            }
            let wanted = match &self.wanted {
                DeviceSelection::One(name) => is_called(&*self.reader, device, name),
                _ => true,
            };
            let requests = 0;
            self.seen.insert(device, DeviceCount { requests, wanted });
        }
        let wanted = self.seen.get(&device).is_some_and(|seen| seen.wanted);
        self.last = Some((device, wanted));
        Ok(wanted)
    }

    /// Adds the count of the device of the record before.
    fn count(&mut self) {
        if let Some((device, _)) = self.last
            && let Some(seen) = self.seen.get_mut(&device)
        {
            seen.requests += self.of_last;
        }
        self.of_last = 0;
    }

    /// The name or number of a device.
    fn label(&self, device: u32) -> String {
        label(&*self.reader, device)
    }

    /// The devices seen so far: number, label, requests read, and whether they
    /// are selected.
    pub fn devices(&self) -> impl Iterator<Item = (u32, DeviceLabel, u64, bool)> {
        self.seen.iter().map(|(device, seen)| {
            let label = match self.reader.device_name(*device) {
                Some(name) => DeviceLabel::Name(name.to_owned()),
                None => DeviceLabel::Number(*device),
            };
            let more = match self.last {
                Some((last, _)) if last == *device => self.of_last,
                _ => 0,
            };
            (*device, label, seen.requests + more, seen.wanted)
        })
    }

    /// The number of records of all devices.
    pub fn requests(&self) -> u64 {
        let counted: u64 = self.seen.values().map(|seen| seen.requests).sum();
        counted + self.of_last
    }

    /// The number of records of devices that are not selected.
    pub fn others(&self) -> u64 {
        self.devices().filter(|(.., wanted)| !wanted).map(|(_, _, requests, _)| requests).sum()
    }

    /// [`Reader::passed_over`].
    #[inline]
    pub fn passed_over(&self) -> [u64; 3] {
        self.reader.passed_over()
    }

    /// The counts of skipped records.
    pub fn skipped(&self) -> Skipped {
        Skipped::of(&*self.reader)
    }

    /// The error that there is nothing to replay.
    pub fn empty(&self, path: &Path) -> Error {
        let mut seen: Vec<String> =
            (self.seen.keys().take(20)).map(|device| quoted(&self.label(*device))).collect();
        if self.seen.len() > seen.len() {
            seen.push("...".to_owned());
        }
        let problem = match &self.wanted {
            DeviceSelection::One(name) if !seen.is_empty() => {
                let (name, seen) = (quoted(name), seen.join(", "));
                format!("no requests of trace_device = {name}; the trace has {seen}")
            }
            _ => (self.reader.no_requests_reason()).unwrap_or_else(|| "no requests".to_owned()),
        };
        Error::trace(path, problem)
    }
}

/// The name of a device, or its number if the file has numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DeviceLabel {
    /// Its name.
    Name(String),
    /// Its number.
    Number(u32),
}

/// The counts of records that are not replayed, for results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// [`Reader::not_requests`].
    pub not_requests: u64,
    /// [`Reader::empty`].
    pub empty_requests: u64,
    /// [`Reader::rounded`].
    pub times_rounded: u64,
    /// [`Reader::glitches`].
    pub glitches_dropped: u64,
    /// The position of the first glitch.
    pub first_glitch: Option<String>,
}

impl Skipped {
    /// The counts of a reader so far.
    pub fn of(reader: &dyn Reader) -> Self {
        let (glitches_dropped, first) = reader.glitches();
        Self {
            not_requests: reader.not_requests(),
            empty_requests: reader.empty(),
            times_rounded: reader.rounded(),
            glitches_dropped,
            first_glitch: first.map(str::to_owned),
        }
    }
}

/// The name or number of a device.
fn label(reader: &dyn Reader, device: u32) -> String {
    let name = reader.device_name(device);
    name.map_or_else(|| device.to_string(), str::to_owned)
}

/// Whether `name` is a device's name, or its number (unless the device has a
/// name that is a number).
fn is_called(reader: &dyn Reader, device: u32, name: &str) -> bool {
    let label = label(reader, device);
    label == name || (label.parse::<u32>().is_err() && name.parse() == Ok(device))
}

/// A label as it is written in a key.
fn quoted(label: &str) -> String {
    match label.parse::<u32>() {
        Ok(_) => label.to_owned(),
        Err(_) => format!("\"{label}\""),
    }
}
