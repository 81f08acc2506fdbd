//! Writers of traces: one file per format.
//!
//! Adding a format means adding one file with a [`Writer`] and one line to
//! [`WRITERS`].
//!
//! In reading order:
//! - `text`: a text file, optionally compressed.
//! - `csv`: sledsim's CSV.
//! - `disksim_ascii`: DiskSim's ASCII format.
//! - `fio_iolog`: fio's I/O log.

mod text;

mod csv;

mod disksim_ascii;

mod fio_iolog;

pub use csv::{COLUMNS, HEADER, UNLINKED_COLUMNS, UNLINKED_HEADER};

use crate::record::Record;
use serde::{Serialize, Serializer};
use sledsim_base::error::{Error, Result};
use sledsim_base::registry::{Named, Registry};
use std::fmt;
use std::path::Path;

/// Writes one format, record by record: memory does not grow with the file.
///
/// The file appears under its name when [`Writer::finish`] returns, not before
/// and not after an error.
pub trait Writer: Send {
    /// Names a device, before its first record; devices without a name have
    /// only their number.
    fn name_device(&mut self, device: u32, name: &str) -> Result<()>;

    /// Writes a record and returns the bytes of the request in the file, or
    /// `None` if the format cannot hold the request and it was left out.
    fn write(&mut self, record: &Record) -> Result<Option<u64>>;

    /// The fields that the format could not hold so far.
    fn lost(&self) -> Lost;

    /// Completes the file.
    fn finish(self: Box<Self>) -> Result<Lost>;
}

/// The number of records with each field that a format could not hold, for
/// results without the fields that it held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Records written.
    pub written: u64,
    /// Flushes left out.
    pub flushes: u64,
    /// Trims left out.
    pub trims: u64,
    /// Records widened to whole blocks.
    pub widened: u64,
    /// Times rounded.
    pub rounded_times: u64,
    /// Response times left out.
    pub responses: u64,
    /// Think times left out.
    pub think_times: u64,
    /// Queue times left out.
    pub queue_times: u64,
    /// Latenesses left out.
    pub latenesses: u64,
    /// Names of devices left out or changed.
    pub device_names: u64,
    /// Links of batches left out.
    pub links: u64,
}

impl Lost {
    /// The fields that the format could not hold, by name.
    fn fields(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let fields = [
            ("flushes", self.flushes),
            ("trims", self.trims),
            ("widened", self.widened),
            ("rounded_times", self.rounded_times),
            ("responses", self.responses),
            ("think_times", self.think_times),
            ("queue_times", self.queue_times),
            ("latenesses", self.latenesses),
            ("device_names", self.device_names),
            ("links", self.links),
        ];
        fields.into_iter().filter(|(_, count)| *count > 0)
    }

    /// Whether the format held everything.
    pub fn nothing(&self) -> bool {
        self.fields().next().is_none()
    }
}

impl Serialize for Lost {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.fields())
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields().map(|(name, count)| format!("\"{name}\":{count}"));
        write!(f, "{{{}}}", fields.collect::<Vec<_>>().join(","))
    }
}

/// A format that can be written.
#[derive(Clone, Copy, Debug)]
pub struct WriteFormat {
    /// Its name, that of the format that reads it.
    pub name: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// Endings of file names (without a dot) that choose it.
    pub endings: &'static [&'static str],
    /// Starts a file.
    pub create: fn(&Path) -> Result<Box<dyn Writer>>,
}

/// All formats that can be written, in the order in which they are listed.
pub const WRITERS: Registry<WriteFormat> =
    Registry::new(&[disksim_ascii::ENTRY, fio_iolog::ENTRY, csv::ENTRY]);

impl Named for WriteFormat {
    fn name(&self) -> &'static str {
        self.name
    }
}

impl WriteFormat {
    /// The format of `writers` for the ending of a path, ignoring `.gz`.
    ///
    /// # Errors
    /// No format has this ending; the message lists the known ones.
    pub fn of(path: &Path, writers: Registry<Self>) -> Result<&'static Self> {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
        let ending = Path::new(stem).extension().unwrap_or_default();
        let found =
            writers.iter().find(|format| format.endings.iter().any(|known| ending == *known));
        found.ok_or_else(|| {
            let known = writers.iter().map(|format| {
                let endings = format.endings.join(", .");
                format!("{} (.{endings})", format.name)
            });
            let known = known.collect::<Vec<_>>().join(", ");
            Error::output(path, format!("its ending names no format: give one of {known}"))
        })
    }

    /// Starts the file at `path`: compressed if the name ends in `.gz`.
    pub fn create(&self, path: &Path) -> Result<Box<dyn Writer>> {
        (self.create)(path)
    }
}

/// The device names given to a writer.
#[derive(Default)]
pub struct DeviceNames(Vec<(u32, String)>);

impl DeviceNames {
    /// Adds a name; false if the device has one.
    pub fn add(&mut self, device: u32, name: &str) -> bool {
        match self.0.binary_search_by_key(&device, |(device, _)| *device) {
            Ok(_) => false,
            Err(place) => {
                self.0.insert(place, (device, name.to_owned()));
                true
            }
        }
    }

    /// The name of a device.
    pub fn get(&self, device: u32) -> Option<&str> {
        let place = self.0.binary_search_by_key(&device, |(device, _)| *device);
        place.ok().map(|place| self.0[place].1.as_str())
    }
}
