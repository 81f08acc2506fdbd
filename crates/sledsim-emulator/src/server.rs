//! A server: exports and the front ends that serve them.

use crate::export::{Export, ExportInfo};
use crate::front_end::{Exports, FrontEnd};
use crate::fuse::{self, FuseMount};
use crate::iscsi::{self, IscsiServer};
use crate::log::{Log, Recording, RecordingWriter};
use crate::nbd::NbdServer;
use crate::net::{self, Address};
use crate::power_failure::{Cut, CutSpec, CutWhen, Power, RecordingFolder};
use crate::store::{Sparse, Store, TipStore};
use crate::timeline::{CompletionObserver, Timeline};
use crate::tip_observer::TipObserver;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::catalog::Device;
use sledsim_core::model::torn_blocks::TornBlocks;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The parameters of an export.
pub struct ExportSpec {
    /// Name of the export.
    pub name: String,
    /// The device.
    pub device: Device,
    /// The scheduler of each of its mechanisms.
    pub scheduler: SchedulerSpec,
    /// The backing file; `None` for memory.
    pub file: Option<PathBuf>,
    /// Whether writes are refused.
    pub read_only: bool,
    /// Seconds of model time per second of real time.
    pub speed: f64,
    /// File to record all requests in, if any.
    pub record: Option<PathBuf>,
    /// Power cuts, if power may fail.
    pub power_cut: Option<CutSpec>,
    /// New folder to record all requests with their data in, if any.
    pub record_data: Option<PathBuf>,
}

impl ExportSpec {
    /// A device with its data in memory, first come, first served, in real time.
    pub fn of(name: &str, device: Device) -> Self {
        Self {
            name: name.to_owned(),
            device,
            scheduler: SchedulerSpec::default(),
            file: None,
            read_only: false,
            speed: 1.0,
            record: None,
            power_cut: None,
            record_data: None,
        }
    }
}

/// Running exports and their front ends.
pub struct Server {
    fronts: Vec<Box<dyn FrontEnd>>,
    fuse: Option<FuseMount>,
    exports: Arc<Exports>,
    _writers: Vec<RecordingWriter>,
    started: Instant,
}

/// The least and the greatest speed.
const SPEEDS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

impl Server {
    /// Starts the clocks of all devices.
    ///
    /// # Errors
    /// Two exports of the same name, a speed out of range, or a backing file or
    /// recording that cannot be opened.
    pub fn start(specs: Vec<ExportSpec>) -> Result<Self> {
        let mut exports: Vec<Arc<Export>> = Vec::new();
        let mut writers = Vec::new();
        for spec in specs {
            if exports.iter().any(|export| export.name() == spec.name) {
                let name = &spec.name;
                return Err(Error::Key(format!(
                    "export '{name}': there is one of that name already"
                )));
            }
            let (export, writer) = open(spec)?;
            exports.push(Arc::new(export));
            writers.push(writer);
        }
        Ok(Self {
            fronts: Vec::new(),
            fuse: None,
            exports: Arc::new(Exports::new(exports)),
            _writers: writers,
            started: Instant::now(),
        })
    }

    /// Serves a device after a power cut: it is powered on now.
    pub fn start_after(cut: Cut, name: &str, speed: f64) -> Result<Self> {
        let no_thread = |error| Error::System(format!("export '{name}': no thread: {error}"));
        let store = Box::new(cut.store()?);
        let (log, writer) = Log::start(speed, None)?;
        let about = ExportInfo {
            name: name.to_owned(),
            file: None,
            read_only: false,
            device: cut.device,
            scheduler: cut.scheduler,
            speed,
        };
        let outcome = cut.failed.outcome;
        let timeline = Timeline::start(cut.failed.model, speed, log.clone()).map_err(no_thread)?;
        let _ = timeline.power_on(outcome.startup + outcome.recovery);
        let export = Export::new(about, timeline, store, log).map_err(no_thread)?;
        Ok(Self {
            fronts: Vec::new(),
            fuse: None,
            exports: Arc::new(Exports::new(vec![Arc::new(export)])),
            _writers: vec![writer],
            started: Instant::now(),
        })
    }

    /// The power of an export; the first one has the empty name, too.
    ///
    /// # Errors
    /// An export that is not there, or that was started without power cuts.
    pub fn power(&self, name: &str) -> Result<Arc<Power>> {
        let Some(export) = self.exports.named(name) else {
            let known: Vec<&str> = self.exports.iter().map(|export| export.name()).collect();
            return Err(Error::argument(
                "export",
                format!("export '{name}': must be one of {}", known.join(", ")),
            ));
        };
        export.power().cloned().ok_or_else(|| {
            Error::Key(format!(
                "export '{}': keeps no record of what power cuts leave; it must be started with a \
                 power cut, such as manual",
                export.name()
            ))
        })
    }

    /// Adds an NBD server at `address`; returns its URI.
    pub fn serve_nbd(&mut self, address: &Address, settings: &net::Settings) -> Result<String> {
        let server = NbdServer::start(address, Arc::clone(&self.exports), settings)?;
        let uri = server.uri();
        self.add(Box::new(server));
        Ok(uri)
    }

    /// Adds an iSCSI target at `place`; returns its URI.
    pub fn serve_iscsi(
        &mut self,
        place: &iscsi::Place,
        settings: &iscsi::Settings,
    ) -> Result<String> {
        let server = IscsiServer::start(place, Arc::clone(&self.exports), settings)?;
        let uri = server.uri();
        self.add(Box::new(server));
        Ok(uri)
    }

    /// Adds a front end.
    pub fn add(&mut self, front: Box<dyn FrontEnd>) {
        self.fronts.push(front);
    }

    /// Mounts the exports as files at `point`.
    pub fn serve_fuse(&mut self, point: &Path, settings: &fuse::Settings) -> Result<()> {
        if self.fuse.is_some() {
            return Err(Error::file(point, "a server has one mount point"));
        }
        self.fuse = Some(FuseMount::start(point, &self.exports, settings)?);
        Ok(())
    }

    /// Whether clients can connect: false if its only front end was a mount that
    /// another process has unmounted, or if a device has failed.
    pub fn is_alive(&self) -> bool {
        let has_front = self.fronts.iter().any(|front| front.is_alive())
            || self.fuse.as_ref().is_some_and(FuseMount::is_alive);
        has_front && self.exports.iter().all(|export| export.timeline().failed().is_none())
    }

    /// The exports.
    pub fn exports(&self) -> &Arc<Exports> {
        &self.exports
    }

    /// Statistics and state of all exports and front ends.
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

    /// Accepts no more requests, waits at most `grace` for those in flight, makes the
    /// stores durable and completes the recordings.
    ///
    /// # Errors
    /// All devices that have failed, and stores and recordings that could not be completed;
    /// the others are. [`Server::status`] lists them, too.
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
            if let Some(failed) = export.timeline().failed() {
                problems.push(format!("export '{}': {failed}", export.name()));
            }
            let closed = export.store().close();
            let _ = export.flushes().flush();
            if let Err(error) = closed {
                problems.push(format!("export '{}': {error}", export.name()));
            }
            if let Some(failed) = store_failed(export) {
                problems.push(format!("export '{}': {failed}", export.name()));
            }
            if let Some(Err(error)) = export.power().map(|power| power.finish()) {
                problems
                    .push(format!("export '{}': the recording of data: {error}", export.name()));
            }
            if let Err(error) = export.log().finish() {
                problems.push(format!("export '{}': the recording: {error}", export.name()));
            }
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(Error::System(problems.join("; "))),
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
    let torn = TornBlocks::default();
    let may_fail = spec.power_cut.is_some() || spec.record_data.is_some();
    let telling = spec.device.telling().filter(|_| !may_fail);
    let device = telling.as_ref().map_or(&spec.device, |(device, _)| device);
    let (model, devices) = match may_fail {
        true => sledsim_experiments::power_failure::build(device, &spec.scheduler, &torn)?,
        false => device.build_with(&spec.scheduler)?,
    };
    let bytes = model.blocks() * BLOCK_BYTES;
    let data = match &spec.file {
        Some(path) => Sparse::at(path, bytes, spec.read_only)?,
        None => Sparse::in_memory(bytes)?,
    };
    let feed = telling.as_ref().map(|(_, feed)| Arc::clone(feed));
    let store: Box<dyn Store> = match feed.clone() {
        Some(feed) => Box::new(TipStore::new(&spec.device, data, spec.read_only, feed)?),
        None => Box::new(data),
    };
    let recording = spec.record.map(|path| Recording {
        path,
        devices,
        about: vec![
            ("device".to_owned(), spec.device.name().to_owned()),
            ("spec".to_owned(), json!(spec.device.show()).to_string()),
            ("scheduler".to_owned(), spec.scheduler.label().to_owned()),
            ("speed".to_owned(), spec.speed.to_string()),
        ],
    });
    let (log, writer) = Log::start(spec.speed, recording)?;
    let no_thread = |error| Error::System(format!("export '{name}': no thread: {error}"));
    let observer: Arc<dyn CompletionObserver> = match feed {
        Some(feed) => {
            let log = Arc::clone(&log);
            Arc::new(TipObserver { log, feed })
        }
        None => log.clone(),
    };
    let about = ExportInfo {
        name: name.clone(),
        file: spec.file,
        read_only: spec.read_only,
        device: spec.device,
        scheduler: spec.scheduler,
        speed: spec.speed,
    };
    let folder = spec.record_data.as_deref().map(|path| {
        let (device, scheduler) = (&about.device, &about.scheduler);
        RecordingFolder::create(path, &*store, device, scheduler, spec.speed)
    });
    let folder = folder.transpose()?;
    let timeline = Timeline::start(model, spec.speed, observer).map_err(no_thread)?;
    let device = about.device.clone();
    let export = Export::new(about, timeline, store, log).map_err(no_thread)?;
    if !may_fail {
        return Ok((export, writer));
    }
    let cuts = spec.power_cut.unwrap_or(CutSpec { when: CutWhen::Commanded, back_after: None });
    let export = export
        .with_power(|timeline, store| Power::start(device, timeline, store, torn, cuts, folder))?;
    Ok((export, writer))
}

/// Describes the consequences of a failed flush.
fn store_failed(export: &Export) -> Option<String> {
    let error = export.flushes().failed()?;
    let file = match &export.about().file {
        Some(path) => path.display().to_string(),
        None => "memory".to_owned(),
    };
    Some(format!(
        "{file}: a flush failed ({error}): data written since the last successful flush may \
         be lost; all flushes and FUA writes fail until it is reopened"
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
    facts["model_time_ns"] = json!(timeline.now().0);
    facts["clock_start_ns"] = json!(timeline.clock_start_ns());
    if let Some(power) = export.power() {
        facts["power"] = power.to_json();
    }
    if let Some(faults) = export.store().faults() {
        facts["faults"] = faults;
    }
    if let Some(failed) = store_failed(export) {
        facts["store_failed"] = json!(failed);
    }
    if let Some(failed) = timeline.failed() {
        facts["device_failed"] = json!(failed);
    }
    facts
}
