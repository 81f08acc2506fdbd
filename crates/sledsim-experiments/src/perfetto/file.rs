//! A trace file.

use super::packets::Packets;
use sledsim_base::error::{Error, Result};
use sledsim_base::files::PendingFile;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::path::{Path, PathBuf};

/// Endings of the name of a trace for Perfetto.
const ENDINGS: [&str; 2] = ["pftrace", "perfetto-trace"];

/// Refuses a file whose name does not end in `.pftrace` or `.perfetto-trace`, also
/// through a link. Other than a regular file may have any name.
///
/// # Errors
/// [`Error::File`] for any other ending, or a folder.
pub fn check_ending(path: &Path) -> Result<()> {
    let fits = |path: &Path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ENDINGS.contains(&&*ending.to_ascii_lowercase()))
    };
    let about = path.metadata().ok();
    if about.as_ref().is_some_and(std::fs::Metadata::is_dir) {
        return Err(Error::output(path, "is a folder; a file name is needed"));
    }
    let is_special = about.is_some_and(|about| !about.is_file());
    if fits(path) || is_special || path.canonicalize().is_ok_and(|behind| fits(&behind)) {
        return Ok(());
    }
    let problem = "must end in .pftrace or .perfetto-trace";
    Err(Error::output(path, problem))
}

/// Writes requests to a trace file in constant memory, but for 16 bytes for each
/// that is under way at once.
///
/// The file appears under its name when [`PerfettoFile::finish`] returns, not before
/// and not after an error. The same rows give the same bytes.
pub struct PerfettoFile {
    path: PathBuf,
    packets: Packets<PendingFile>,
    devices: Vec<String>,
    rows: u64,
}

impl PerfettoFile {
    /// Starts the file; `device_names[row.device]` is the name of a row's device.
    ///
    /// # Errors
    /// [`Error::File`] for another ending, or if a file of that name could not be
    /// written.
    pub fn create(path: &Path, device_names: &[String]) -> Result<Self> {
        check_ending(path)?;
        let file = PendingFile::create(path)?;
        let is_special = path.metadata().is_ok_and(|about| !about.is_file());
        let folder = match path.parent() {
            _ if is_special => std::env::temp_dir(),
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let packets = Packets::new(file, &folder).map_err(|error| Error::output(path, error))?;
        let mut file = Self { path: path.to_owned(), packets, devices: Vec::new(), rows: 0 };
        device_names.iter().for_each(|name| file.add_device(name));
        Ok(file)
    }

    fn add_device(&mut self, name: &str) {
        self.packets.add_device(name);
        self.devices.push(name.to_owned());
    }

    /// The number of a device, which is added if it is new.
    ///
    /// # Errors
    /// [`Error::Key`] if there are too many.
    pub(super) fn device(&mut self, name: &str) -> Result<u16> {
        let place = self.devices.iter().position(|known| known == name);
        let place = place.unwrap_or_else(|| {
            self.add_device(name);
            self.devices.len() - 1
        });
        u16::try_from(place)
            .map_err(|_| Error::Key("rows: are of more than 65,536 devices".to_owned()))
    }

    /// Adds a row, and how late its reply was, if that is known.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be written.
    pub fn push(&mut self, row: &Row, lateness: Option<Nanos>) -> Result<()> {
        self.rows += 1;
        let written = self.packets.push(row, lateness);
        written.map_err(|error| Error::output(&self.path, error))
    }

    /// The number of rows so far.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Completes the file, with the power from each of these times on in watts, and
    /// returns its number of rows.
    ///
    /// # Errors
    /// [`Error::File`] with what went wrong; there is no file then.
    pub fn finish(mut self, power: impl IntoIterator<Item = (Nanos, f64)>) -> Result<u64> {
        let written = self.packets.power(power).and_then(|()| self.packets.finish());
        written.map_err(|error| Error::output(&self.path, error))?.commit()?;
        Ok(self.rows)
    }
}
