//! Recorded requests with their data: a folder from which the image of the device at any
//! instant can be rebuilt.
//!
//! `about.json` describes the device and the recording, `requests.parquet` lists the
//! requests, `data.bin` has the blocks written, and `base.img` what the device held at
//! first. `about.json` is written last, with the digests of all.

use super::data::WrittenData;
use super::digest;
use super::image::ImageStore;
use crate::store::{Layered, Sparse, Store};
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::files::write_atomically;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::completed_keys::device_to_toml;
use sledsim_experiments::power_failure::{
    Content, Epoch, Failed, History, Outcome, read_requests, replay, write_requests,
};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names the format in `about.json`.
const FORMAT: &str = "sledsim data recording 2";
/// The format before, which had no digests.
const UNSEALED: &str = "sledsim data recording 1";

const ABOUT: &str = "about.json";
const REQUESTS: &str = "requests.parquet";
const DATA: &str = "data.bin";
const BASE: &str = "base.img";

/// The folder of a recording that is being made.
pub(crate) struct RecordingFolder {
    path: PathBuf,
    about: Value,
    base: Sparse,
    /// Why a write was not kept, if one was not.
    lacks: Option<String>,
}

impl RecordingFolder {
    /// Begins a recording in a new folder: copies what `store` holds.
    ///
    /// # Errors
    /// A folder that is there and not empty, or the error of the system.
    pub(crate) fn create(
        path: &Path,
        store: &dyn Store,
        device: &Device,
        scheduler: &SchedulerSpec,
        speed: f64,
    ) -> Result<Self> {
        let refuse = |error: io::Error| Error::output(path, error);
        match fs::create_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if fs::read_dir(path).map_err(refuse)?.next().is_some() {
                    let problem = "is there and not empty: a recording needs a new folder";
                    return Err(Error::output(path, problem));
                }
            }
            made => made.map_err(refuse)?,
        }
        let base = Sparse::at(&path.join(BASE), store.bytes(), false)?;
        copy_readable(store, &base).map_err(|error| Error::output(&path.join(BASE), error))?;
        let about = json!({
            "format": FORMAT,
            "sledsim": env!("CARGO_PKG_VERSION"),
            "device": device.name(),
            "device_toml": device_to_toml(device, None)?,
            "scheduler": scheduler.label(),
            "promise": device.promise().name(),
            "speed": speed,
            "bytes": store.bytes(),
        });
        Ok(Self { path: path.to_owned(), about, base, lacks: None })
    }

    /// Remembers that a write was not kept: the recording cannot be completed.
    pub(super) fn lacks(&mut self, error: &io::Error) {
        self.lacks.get_or_insert_with(|| error.to_string());
    }

    pub(super) fn create_data(&self) -> Result<WrittenData> {
        WrittenData::create(&self.path.join(DATA))
    }

    /// What the device held at first.
    pub(super) fn base(&self) -> &dyn Store {
        &self.base
    }

    /// Sets when the clock of the device started, in ns of the monotonic clock.
    pub(crate) fn started(&mut self, clock_start_ns: u64) {
        self.about["clock_start_ns"] = json!(clock_start_ns);
    }

    /// Completes the recording; `about.json` comes last.
    pub(super) fn finish(&self, history: &History, data: &WrittenData) -> Result<()> {
        let path = |name: &str| self.path.join(name);
        if let Some(lacks) = &self.lacks {
            let problem = format!("{lacks}: writes failed, and the recording is not complete");
            return Err(Error::output(&path(DATA), problem));
        }
        let synced = |name: &str, done: io::Result<()>| {
            done.map_err(|error| Error::output(&path(name), error))
        };
        synced(DATA, data.sync())?;
        synced(BASE, self.base.flush())?;
        write_requests(&path(REQUESTS), &history.epochs)?;
        let epochs = history.epochs.iter().map(|epoch| {
            json!({
                "zero_ns": epoch.zero.0,
                "cut_ns": epoch.cut.map(|cut| cut.0),
                "requests": epoch.requests.len(),
            })
        });
        let mut about = self.about.clone();
        about["epochs"] = epochs.collect();
        for name in [BASE, DATA, REQUESTS] {
            about["files"][name] = digest::entry(&path(name))?;
        }
        write_atomically(&path(ABOUT), &digest::sealed(&about))
    }
}

/// A complete recording.
pub struct DataRecording {
    about: Value,
    device: Device,
    scheduler: SchedulerSpec,
    history: History,
    base: Arc<Sparse>,
    data: Arc<WrittenData>,
}

impl DataRecording {
    /// Opens the recording in a folder, and compares all of its files with their digests.
    ///
    /// # Errors
    /// A folder without a complete recording, or one of its files, with what is wrong.
    pub fn load(folder: &Path) -> Result<Self> {
        let path = folder.join(ABOUT);
        let refuse = |problem: String| Error::file(&path, problem);
        let text = fs::read(&path).map_err(|error| {
            refuse(format!("{error}; a recording has it once its server has stopped in good order"))
        })?;
        let about = read_about(&text).map_err(refuse)?;
        let text = |key: &str| {
            let found = about[key].as_str();
            found.ok_or_else(|| refuse(format!("{key}: must be text")))
        };
        let number = |value: &Value, key: &str| {
            let found = value[key].as_u64();
            found.ok_or_else(|| refuse(format!("{key}: must be an integer")))
        };
        let device = Device::from_toml(text("device")?, text("device_toml")?)?;
        let scheduler = SchedulerSpec::named(text("scheduler")?)?;
        let bytes = number(&about, "bytes")?;
        if bytes != device.blocks() * BLOCK_BYTES {
            let has = device.blocks() * BLOCK_BYTES;
            return Err(refuse(format!("bytes = {bytes}: the device has {has}")));
        }
        let open = |name: &str| {
            let path = folder.join(name);
            let file = digest::open(&path, &about["files"][name])?;
            Ok::<_, Error>((path, file))
        };
        let (base_path, base) = open(BASE)?;
        let base = Sparse::shared(base).map_err(|error| Error::file(&base_path, error))?;
        if base.bytes() != bytes {
            let problem = format!("has {} bytes: must have {bytes}", base.bytes());
            return Err(Error::file(&base_path, problem));
        }
        let (requests_path, requests) = open(REQUESTS)?;
        let listed = about["epochs"].as_array();
        let listed = listed.ok_or_else(|| refuse("epochs: must be a list".to_owned()))?;
        let requests = read_requests(&requests_path, requests, listed.len())?;
        let mut epochs = Vec::new();
        for (epoch, requests) in listed.iter().zip(requests) {
            let wanted = number(epoch, "requests")?;
            if requests.len() as u64 != wanted {
                let has = requests.len();
                let problem = format!("has {has} requests of an epoch that has {wanted}");
                return Err(Error::file(&requests_path, problem));
            }
            epochs.push(Epoch {
                zero: Nanos(number(epoch, "zero_ns")?),
                cut: epoch["cut_ns"].as_u64().map(Nanos),
                requests,
            });
        }
        let (_, data) = open(DATA)?;
        let data_bytes = number(&about["files"][DATA], "bytes")?;
        let all = epochs.iter().flat_map(|epoch| &epoch.requests);
        for one in all {
            let end = one.first_token.saturating_add(u64::from(one.blocks)).saturating_sub(1);
            if one.extent().end() > device.blocks()
                || (one.first_token > 0 && end > data_bytes / BLOCK_BYTES)
            {
                let problem = format!("request {}: beyond the device or the data", one.id);
                return Err(Error::file(&requests_path, problem));
            }
        }
        Ok(Self {
            device,
            scheduler,
            history: History { epochs },
            base: Arc::new(base),
            data: Arc::new(WrittenData::of(data, data_bytes)),
            about,
        })
    }

    /// Its description: `device`, `scheduler`, `promise`, `speed`, `bytes`,
    /// `clock_start_ns` and more.
    pub fn about(&self) -> &Value {
        &self.about
    }

    /// The recorded requests.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Lets power fail at this instant on the clock of the recording.
    ///
    /// # Errors
    /// An instant at which the device was off; a device that keeps no contents.
    pub fn cut(&self, at: Nanos) -> Result<Cut> {
        let failed = replay(&self.device, &self.scheduler, &self.history, at)?;
        let epochs = &self.history.epochs;
        let zero = epochs.iter().rev().find(|epoch| epoch.zero <= at);
        Ok(Cut {
            facts: document(&failed.outcome, zero.map_or(Nanos::ZERO, |epoch| epoch.zero)),
            failed,
            base: Arc::clone(&self.base),
            device: self.device.clone(),
            scheduler: self.scheduler.clone(),
            data: Arc::clone(&self.data),
        })
    }
}

/// The most lost writes that a ledger lists.
const LISTED: usize = 1000;

/// What became of a cut, as JSON. Times are those of the timeline.
pub(super) fn document(outcome: &Outcome, zero: Nanos) -> Value {
    let mut document = json!(outcome.ledger.document(LISTED));
    document["at_ns"] = json!(outcome.at.0);
    document["powered_since_ns"] = json!(zero.0);
    document["startup_ns"] = json!(outcome.startup.0);
    document["recovery_ns"] = json!(outcome.recovery.0);
    document
}

/// A device in which power has failed, and which has recovered.
pub struct Cut {
    facts: Value,
    pub(crate) failed: Failed,
    base: Arc<Sparse>,
    pub(crate) device: Device,
    pub(crate) scheduler: SchedulerSpec,
    data: Arc<WrittenData>,
}

impl Cut {
    /// What became of the writes, and how long the device took to come back.
    pub fn facts(&self) -> &Value {
        &self.facts
    }

    /// The image, byte for byte the same for equal images: what each run of blocks holds.
    pub fn runs(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for run in self.failed.outcome.image.runs() {
            bytes.extend(run.lbn.to_le_bytes());
            bytes.extend(run.blocks.to_le_bytes());
            match run.content {
                Content::Initial => bytes.push(0),
                Content::Written(token) => bytes.extend(token.to_le_bytes()),
                Content::Torn(token) => bytes.extend(self.torn(token).as_bytes()),
            }
        }
        bytes
    }

    /// Number of bytes of blocks that were ever written.
    pub fn changed_bytes(&self) -> u64 {
        let runs = self.failed.outcome.image.runs();
        runs.iter().map(|run| run.blocks * BLOCK_BYTES).sum()
    }

    /// A torn block by its history, which does not depend on the order of tokens.
    fn torn(&self, token: u64) -> String {
        match self.failed.torn.get(token) {
            None => token.to_string(),
            Some(torn) => format!(
                "({}+{}:{},{})",
                self.torn(torn.old),
                self.torn(torn.new),
                torn.new_bits,
                torn.detected
            ),
        }
    }

    /// The blocks that the device holds, over those that it held at first.
    pub fn store(&self) -> Result<Layered> {
        let image = &self.failed.outcome.image;
        let store = Layered::over(Box::new(ImageStore {
            base: Arc::clone(&self.base),
            data: Arc::clone(&self.data),
            image: image.clone(),
            torn: self.failed.torn.clone(),
        }))?;
        for lbn in image.unreadable(&self.failed.torn) {
            store.spoil(lbn);
        }
        Ok(store)
    }

    /// Writes the image to a new file; blocks that cannot be read are zero. Returns the
    /// digest of the file.
    ///
    /// # Errors
    /// A file that is there, or the error of the system; there is no file then.
    pub fn save(&self, path: &Path) -> Result<String> {
        if path.exists() {
            return Err(Error::output(path, "is there already"));
        }
        let store = self.store()?;
        let written = Sparse::at(path, self.base.bytes(), false).and_then(|to| {
            let copied = copy_readable(&store, &to).and_then(|()| digest::digest(to.file()));
            copied.map_err(|error| Error::output(path, error))
        });
        if written.is_err() {
            let _ = fs::remove_file(path);
        }
        written
    }
}

/// The description of a recording, which must have the digest that it gives.
fn read_about(text: &[u8]) -> std::result::Result<Value, String> {
    let read = |text: &[u8]| serde_json::from_slice::<Value>(text);
    let Some(others) = digest::unsealed(text) else {
        return Err(match read(text) {
            Ok(about) if about["format"] == UNSEALED => format!(
                "\"{UNSEALED}\" has no digests: record anew, with sledsim serve --record-data"
            ),
            _ => "is damaged: the digest in its second line is not that of its other lines"
                .to_owned(),
        });
    };
    let about = read(&others).map_err(|error| format!("no JSON: {error}"))?;
    match about["format"] == FORMAT {
        true => Ok(about),
        false => Err(format!("format {}: must be \"{FORMAT}\"", about["format"])),
    }
}

/// Copies what can be read to a new store; holes and zeroes stay holes.
fn copy_readable(from: &dyn Store, to: &dyn Store) -> io::Result<()> {
    let (mut at, bytes) = (0, from.bytes());
    let mut buffer = Vec::new();
    while at < bytes {
        let (mut some, hole) = from.extent(at, bytes - at)?;
        if !hole {
            some = some.min(1 << 16);
            buffer.resize(some as usize, 0);
            match from.read(at, &mut buffer) {
                Ok(()) if buffer.iter().all(|byte| *byte == 0) => {}
                Ok(()) => to.write(at, &buffer)?,
                Err(_) => {
                    for block in 0..some / BLOCK_BYTES {
                        let offset = at + block * BLOCK_BYTES;
                        let one = &mut buffer[..BLOCK_BYTES as usize];
                        if from.read(offset, one).is_ok() {
                            to.write(offset, one)?;
                        }
                    }
                }
            }
        }
        at += some;
    }
    Ok(())
}
