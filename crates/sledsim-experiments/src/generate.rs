//! Writes the requests of a load as a trace.

use crate::formats;
use crate::load::{Load, LoadSource};
use crate::load_facts::LoadFacts;
use serde::Serialize;
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::request::{Flags, Request};
use sledsim_base::row::Row;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::catalog::Device;
use sledsim_core::engine::{Observer, simulate};
use sledsim_core::model::source::Source;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_traces::Record;
use sledsim_traces::convert::output;
use sledsim_traces::writers::{Lost, Writer};
use std::path::Path;

/// The address space of a load.
#[derive(Clone, Debug)]
pub enum Target<'a> {
    /// A number of blocks, without a device to complete requests.
    Blocks(u64),
    /// A device: an open load needs only its number of blocks; a closed load is
    /// simulated on it.
    Device(&'a Device, SchedulerSpec),
}

/// A trace that was written.
#[derive(Clone, Debug, Serialize)]
pub struct GeneratedTrace {
    /// The file.
    pub output: GeneratedFile,
    /// The size of the address space.
    pub blocks: u64,
    /// `open`, or `closed, as simulated`.
    pub arrivals: &'static str,
    /// The device it is for.
    pub device: Option<String>,
    /// The scheduler of that device, of a closed load.
    pub scheduler: Option<String>,
    /// The load and its counts.
    pub workload: LoadFacts,
    /// What the format does not hold.
    pub lost_fields: Lost,
}

/// The file of a trace that was written.
#[derive(Clone, Debug, Serialize)]
pub struct GeneratedFile {
    /// Its path as given.
    pub path: String,
    /// The name of its format.
    pub format: &'static str,
    /// Its requests.
    pub requests: u64,
    /// The arrival of the first.
    pub first_time_s: Option<f64>,
    /// The arrival of the last.
    pub last_time_s: f64,
}

/// The number of requests between two calls of `check`.
const CHECK_EVERY: u64 = 4096;

/// Writes the requests of `load` as a trace to `path`, in the format called
/// `to` or that of its ending. An open load is written as it is drawn. The
/// requests of a closed one wait for completions: it is simulated, and
/// written with the arrivals that happened. `check` is called now and then;
/// its error ends the work and leaves nothing behind.
pub fn generate(
    load: &Load,
    place: Target<'_>,
    path: &Path,
    to: Option<&str>,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<GeneratedTrace> {
    let blocks = match place {
        Target::Blocks(blocks) => blocks,
        Target::Device(device, _) => device.blocks(),
    };
    if blocks == 0 {
        return Err(Error::argument("blocks", "blocks = 0: must be at least 1".to_owned()));
    }
    let (mut format, writer) = output::create(path, to, formats::all().writers)?;
    load.keep(check)?;
    let mut recorder = Recorder::new(load.source(blocks, check)?, writer);
    let open = draw(&mut recorder, check)?;
    if !open {
        let Target::Device(device, scheduler) = &place else {
            let name = load.kind();
            return Err(Error::Key(format!(
                "workload {name}: is closed, its requests wait for completions: give a device \
                 to simulate it on (--device), or make it open (rate)"
            )));
        };
        // Dropping the writer deletes the incomplete file.
        let writer;
        drop(recorder);
        (format, writer) = output::create(path, to, formats::all().writers)?;
        recorder = Recorder::new(load.source(blocks, check)?, writer);
        let (mut model, _) = device.build_with(scheduler)?;
        let outcome = simulate(&mut recorder, &mut *model, &mut Ignore, load.limits, check)?;
        if let Some(saturated) = outcome.saturated {
            let (name, queue, at) = (device.name(), saturated.queue, saturated.at.s());
            return Err(Error::Request(format!(
                "{name} cannot keep up: {queue} requests wait after {at} s; give a lower rate"
            )));
        }
    }
    if recorder.records == 0 {
        let problem = format!("not written: the workload has no requests that {format} holds");
        return Err(Error::output(path, problem));
    }
    let (device, scheduler) = match &place {
        Target::Device(device, scheduler) => (Some(device.name()), Some(scheduler.label())),
        Target::Blocks(_) => (None, None),
    };
    Ok(GeneratedTrace {
        output: GeneratedFile {
            path: path.display().to_string(),
            format,
            requests: recorder.records,
            first_time_s: recorder.first.map(Nanos::s),
            last_time_s: recorder.last.s(),
        },
        blocks,
        arrivals: if open { "open" } else { "closed, as simulated" },
        device: device.map(str::to_owned),
        scheduler: scheduler.filter(|_| !open).map(str::to_owned),
        workload: load.facts(&*recorder.source),
        lost_fields: recorder.writer.finish()?,
    })
}

/// Draws the requests that wait for no completion; returns whether that is all.
fn draw(source: &mut Recorder, check: &mut dyn FnMut(Progress) -> Result<()>) -> Result<bool> {
    let requests = source.requests();
    let mut completed = 0;
    while source.next_arrival()?.is_some() {
        source.take();
        completed += 1;
        if completed % CHECK_EVERY == 0 {
            check(Progress { completed, requests, share: None })?;
        }
    }
    // A source of unknown length may be waiting for completions.
    Ok(requests == Some(completed))
}

/// A source that writes every request taken from it.
struct Recorder {
    source: Box<dyn LoadSource>,
    writer: Box<dyn Writer>,
    records: u64,
    first: Option<Nanos>,
    last: Nanos,
    /// The error of writing the last request.
    failed: Option<Error>,
}

impl Recorder {
    fn new(source: Box<dyn LoadSource>, writer: Box<dyn Writer>) -> Self {
        Self { source, writer, records: 0, first: None, last: Nanos::ZERO, failed: None }
    }

    fn write(&mut self, request: &Request) -> Result<()> {
        let mut record = Record {
            linked: request.flags.contains(Flags::LINKED),
            time: request.arrival,
            op: request.op,
            ..Record::default()
        };
        if request.extents.is_empty() {
            return self.put(&record);
        }
        // The extents of a batch become requests of the same time.
        for extent in &request.extents {
            record.offset = extent.lbn * BLOCK_BYTES;
            record.bytes = u64::from(extent.blocks) * BLOCK_BYTES;
            self.put(&record)?;
        }
        Ok(())
    }

    fn put(&mut self, record: &Record) -> Result<()> {
        if self.writer.write(record)?.is_some() {
            self.records += 1;
            self.first.get_or_insert(record.time);
            self.last = record.time;
        }
        Ok(())
    }
}

impl Source for Recorder {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.source.next_arrival(),
        }
    }

    fn take(&mut self) -> Request {
        let request = self.source.take();
        self.failed = self.write(&request).err();
        request
    }

    fn completed(&mut self, id: u64, at: Nanos) {
        self.source.completed(id, at);
    }

    fn requests(&self) -> Option<u64> {
        self.source.requests()
    }
}

/// Discards all rows.
struct Ignore;

impl Observer for Ignore {
    fn done(&mut self, _row: &Row) -> Result<()> {
        Ok(())
    }

    fn note(&mut self, _row: &Row) -> Result<()> {
        Ok(())
    }
}
