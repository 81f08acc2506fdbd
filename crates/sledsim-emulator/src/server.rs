//! A server: exports and the front ends that serve them.

use crate::export::{About, Export};
use crate::front_end::{Exports, FrontEnd};
use crate::fuse::{self, FuseMount};
use crate::listen::Address;
use crate::log::{Log, Recording, RecordingWriter};
use crate::nbd::{self, NbdServer};
use crate::store::{Sparse, Store};
use crate::timeline::Timeline;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A device to be served.
pub struct ExportSpec {
    /// What clients call it.
    pub name: String,
    /// The device.
    pub device: Device,
    /// The scheduler of every mechanism of it.
    pub scheduler: SchedulerSpec,
    /// The backing file; in memory without one.
    pub file: Option<PathBuf>,
    /// Whether writes are refused.
    pub read_only: bool,
    /// Seconds of the model in a real second.
    pub speed: f64,
    /// Where every request is recorded, if anywhere.
    pub record: Option<PathBuf>,
}

/// Exports at work, and what serves them.
pub struct Server {
    fronts: Vec<Box<dyn FrontEnd>>,
    fuse: Option<FuseMount>,
    exports: Arc<Exports>,
    _scribes: Vec<RecordingWriter>,
    started: Instant,
}

/// The least and the greatest speed.
const SPEEDS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

impl Server {
    /// Starts the clocks of all devices.
    ///
    /// # Errors
    /// Two exports of one name, a speed out of range, a backing file or a
    /// recording that cannot be had.
    pub fn start(specs: Vec<ExportSpec>) -> Result<Self> {
        let mut exports: Vec<Arc<Export>> = Vec::new();
        let mut scribes = Vec::new();
        for spec in specs {
            if exports.iter().any(|export| export.name() == spec.name) {
                let name = &spec.name;
                return Err(Error::Key(format!(
                    "export '{name}': there is one of that name already"
                )));
            }
            let (export, scribe) = open(spec)?;
            exports.push(Arc::new(export));
            scribes.push(scribe);
        }
        Ok(Self {
            fronts: Vec::new(),
            fuse: None,
            exports: Arc::new(Exports::new(exports)),
            _scribes: scribes,
            started: Instant::now(),
        })
    }

    /// Serves them to NBD clients at `address`, too; returns the URI.
    ///
    /// # Errors
    /// As [`NbdServer::start`].
    pub fn serve_nbd(&mut self, address: &Address, settings: &nbd::Settings) -> Result<String> {
        let server = NbdServer::start(address, Arc::clone(&self.exports), settings)?;
        let uri = server.uri();
        self.add(Box::new(server));
        Ok(uri)
    }

    /// Has `front` serve them, too.
    pub fn add(&mut self, front: Box<dyn FrontEnd>) {
        self.fronts.push(front);
    }

    /// Shows them as files at `point`, too.
    ///
    /// # Errors
    /// As [`FuseMount::start`], or a mount point given before.
    pub fn serve_fuse(&mut self, point: &Path, settings: &fuse::Settings) -> Result<()> {
        if self.fuse.is_some() {
            return Err(Error::file(point, "a server has one mount point"));
        }
        self.fuse = Some(FuseMount::start(point, &self.exports, settings)?);
        Ok(())
    }

    /// Whether clients can come: not if all it had was a mount point, and
    /// somebody unmounted that.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.fronts.iter().any(|front| front.is_alive())
            || self.fuse.as_ref().is_some_and(FuseMount::is_alive)
    }

    /// What is served.
    #[must_use]
    pub fn exports(&self) -> &Arc<Exports> {
        &self.exports
    }

    /// What happened so far.
    #[must_use]
    pub fn status(&self) -> Value {
        let exports: Vec<_> = self.exports.iter().map(|export| status(export)).collect();
        let mut fronts: Vec<_> = self.fronts.iter().map(|front| front.to_json()).collect();
        let point = |mount: &FuseMount| json!({ "kind": "fuse", "mount_point": mount.point() });
        fronts.extend(self.fuse.as_ref().map(point));
        json!({
            "sledsim": env!("CARGO_PKG_VERSION"),
            "up_s": self.started.elapsed().as_secs_f64(),
            "exports": exports,
            "front_ends": fronts,
        })
    }

    /// Takes no more requests, waits for those under way, at most `grace`,
    /// makes the stores durable and completes the recordings.
    ///
    /// # Errors
    /// Every store and recording that could not be completed; the others are.
    /// [`Server::status`] names them, too.
    pub fn stop(&mut self, grace: Duration) -> Result<()> {
        let end = Instant::now() + grace;
        let left = || end.saturating_duration_since(Instant::now());
        for front in &mut self.fronts {
            front.stop(left());
        }
        if let Some(mount) = &mut self.fuse {
            mount.stop();
        }
        let mut problems = Vec::new();
        for export in self.exports.iter() {
            let _ = export.timeline().drain(left());
            let _ = export.flushes().flush();
            if let Some(failed) = store_failed(export) {
                problems.push(format!("export '{}': {failed}", export.name()));
            }
            if let Err(error) = export.log().finish() {
                problems.push(format!(
                    "export '{}': the recording: {error}",
                    export.name()
                ));
            }
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(Error::Key(problems.join("; "))),
        }
    }
}

fn open(spec: ExportSpec) -> Result<(Export, RecordingWriter)> {
    let name = spec.name.clone();
    if !SPEEDS.contains(&spec.speed) {
        let speed = spec.speed;
        return Err(Error::Key(format!(
            "export '{name}': speed = {speed}: must be from {} to {}",
            SPEEDS.start(),
            SPEEDS.end()
        )));
    }
    let (model, devices) = spec.device.build_with(&spec.scheduler)?;
    let bytes = model.blocks() * BLOCK_BYTES;
    let store: Box<dyn Store> = Box::new(match &spec.file {
        Some(path) => Sparse::at(path, bytes, spec.read_only)?,
        None => Sparse::in_memory(bytes)?,
    });
    let recording = spec.record.map(|path| Recording {
        path,
        devices,
        about: vec![
            ("device".to_owned(), spec.device.name().to_owned()),
            ("spec".to_owned(), spec.device.show().to_string()),
            ("scheduler".to_owned(), spec.scheduler.label().to_owned()),
            ("speed".to_owned(), spec.speed.to_string()),
        ],
    });
    let (log, scribe) = Log::start(spec.speed, recording)?;
    let no_thread = |error| Error::Key(format!("export '{name}': no thread: {error}"));
    let timeline = Timeline::start(model, spec.speed, log.clone()).map_err(no_thread)?;
    let about = About {
        name: name.clone(),
        file: spec.file,
        read_only: spec.read_only,
        device: spec.device,
        scheduler: spec.scheduler,
        speed: spec.speed,
    };
    let export = Export::new(about, timeline, store, log);
    Ok((export.map_err(no_thread)?, scribe))
}

/// What a failed flush means for what an export holds.
fn store_failed(export: &Export) -> Option<String> {
    let said = export.flushes().failed()?;
    let file = match &export.about().file {
        Some(path) => path.display().to_string(),
        None => "memory".to_owned(),
    };
    Some(format!(
        "{file}: a flush failed ({said}): what was written since the last one that succeeded may \
         be lost; all flushes and FUA writes fail until it is opened anew"
    ))
}

fn status(export: &Export) -> Value {
    let timeline = export.timeline();
    let mut facts =
        (export.log()).to_json(timeline.now(), timeline.reports(), timeline.background());
    facts["name"] = json!(export.name());
    facts["bytes"] = json!(export.bytes());
    facts["allocated_bytes"] = json!(export.store().allocated());
    facts["outstanding"] = json!(timeline.outstanding());
    facts["read_only"] = json!(export.is_read_only());
    if let Some(failed) = store_failed(export) {
        facts["store_failed"] = json!(failed);
    }
    facts
}
