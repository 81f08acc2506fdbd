//! A run: a load on a device, with its results.

use crate::devices::Device;
use crate::engine::{Limits, Observer, Progress, simulate};
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::request::Request;
use crate::row::Row;
use crate::schedulers::Choice as SchedulerChoice;
use crate::stats::{ParquetRows, RowBuffer, RunFacts, Stats, summary};
use crate::traces::{TraceSource, TraceSpec};
use crate::units::Nanos;
use crate::workloads::{RandomSource, RandomSpec, Source};
use arrow_array::RecordBatch;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A load: checked, not yet laid on a device.
#[derive(Clone, Debug)]
pub struct Load {
    kind: LoadKind,
    limits: Limits,
}

#[derive(Clone, Debug)]
enum LoadKind {
    Random(Box<RandomSpec>),
    Trace(Box<TraceSpec>),
}

/// The workloads by name, traces apart.
pub const WORKLOADS: [&str; 1] = ["random"];

impl Load {
    /// Reads the workload called `name` from `keys` and finishes them.
    ///
    /// # Errors
    /// An unknown name, or whatever is wrong with a key.
    pub fn workload(name: &str, mut keys: Keys) -> Result<Self> {
        if !WORKLOADS.contains(&name) {
            let known = WORKLOADS.join(", ");
            return Err(Error::Key(format!(
                "unknown workload '{name}': must be one of {known}"
            )));
        }
        let limits = limits(&mut keys)?;
        let kind = LoadKind::Random(Box::new(RandomSpec::read(&mut keys)?));
        keys.finish()?;
        Ok(Self { kind, limits })
    }

    /// Reads how to replay the trace at `path` from `keys` and finishes them.
    ///
    /// # Errors
    /// Whatever is wrong with a key; the file is opened by [`run`].
    pub fn trace(path: &Path, mut keys: Keys) -> Result<Self> {
        let limits = limits(&mut keys)?;
        let kind = LoadKind::Trace(Box::new(TraceSpec::read(path, &mut keys)?));
        keys.finish()?;
        Ok(Self { kind, limits })
    }

    fn source(&self, device_blocks: u64) -> Result<Running> {
        Ok(match &self.kind {
            LoadKind::Random(spec) => Running::Random(spec.source(device_blocks)?, spec.facts()),
            LoadKind::Trace(spec) => Running::Trace(spec.source(device_blocks)?),
        })
    }
}

fn limits(keys: &mut Keys) -> Result<Limits> {
    let max_queue = keys.opt_u64("max_queue", 1..=u64::from(u32::MAX))?;
    Ok(max_queue.map_or_else(Limits::default, |max_queue| Limits { max_queue }))
}

/// A load under way.
enum Running {
    Random(RandomSource, Value),
    Trace(TraceSource),
}

impl Running {
    fn facts(&self) -> Value {
        match self {
            Self::Random(source, facts) => {
                let mut facts = facts.clone();
                facts["shortened"] = json!(source.shortened());
                facts
            }
            Self::Trace(source) => source.facts(),
        }
    }
}

impl Source for Running {
    fn next_arrival(&mut self) -> Result<Option<Nanos>> {
        match self {
            Self::Random(source, _) => source.next_arrival(),
            Self::Trace(source) => source.next_arrival(),
        }
    }

    fn take(&mut self) -> Result<Request> {
        match self {
            Self::Random(source, _) => source.take(),
            Self::Trace(source) => source.take(),
        }
    }

    fn completed(&mut self, id: u64, at: Nanos) {
        match self {
            Self::Random(source, _) => source.completed(id, at),
            Self::Trace(source) => source.completed(id, at),
        }
    }

    fn requests(&self) -> Option<u64> {
        match self {
            Self::Random(source, _) => source.requests(),
            Self::Trace(source) => source.requests(),
        }
    }
}

/// Where the rows go. The statistics are kept in any case.
#[derive(Clone, Debug, Default)]
pub enum RowsTo {
    /// Nowhere.
    #[default]
    Nowhere,
    /// Into memory, as record batches.
    Memory,
    /// Into a Parquet file, written beside its place and moved there when
    /// complete.
    Parquet(PathBuf),
}

/// Rows in one batch in memory.
const BATCH_ROWS: usize = 65_536;

/// Statistics of the requests, and rows wherever they go.
struct Recorder {
    stats: Stats,
    memory: Option<RowBuffer>,
    batches: Vec<RecordBatch>,
    file: Option<ParquetRows>,
}

impl Recorder {
    fn new(rows: &RowsTo, devices: &[String]) -> Result<Self> {
        let file = match rows {
            RowsTo::Parquet(path) => Some(ParquetRows::create(path, devices)?),
            _ => None,
        };
        let memory = matches!(rows, RowsTo::Memory).then(|| RowBuffer::new(devices, BATCH_ROWS));
        Ok(Self {
            stats: Stats::new(),
            memory,
            batches: Vec::new(),
            file,
        })
    }

    fn finish(mut self) -> Result<(Stats, Vec<RecordBatch>)> {
        if let Some(file) = self.file {
            file.finish()?;
        }
        if let Some(buffer) = &mut self.memory {
            self.batches.push(buffer.finish());
        }
        Ok((self.stats, self.batches))
    }
}

impl Observer for Recorder {
    fn done(&mut self, row: &Row) -> Result<()> {
        self.stats.record(row);
        self.note(row)
    }

    fn note(&mut self, row: &Row) -> Result<()> {
        if let Some(file) = &mut self.file {
            return file.push(row);
        }
        if let Some(buffer) = &mut self.memory {
            buffer.push(row);
            if buffer.is_full() {
                self.batches.push(buffer.finish());
            }
        }
        Ok(())
    }
}

/// What came of a run.
#[derive(Debug)]
pub struct Run {
    /// `{sledsim, device, scheduler, workload, summary}`; see the results
    /// page of the guide.
    pub document: Value,
    /// The rows, if they were kept in memory: at least one batch, then.
    pub batches: Vec<RecordBatch>,
}

/// Runs `load` on `device`. `check` is called now and then with the progress;
/// its error ends the run, and leaves nothing behind.
///
/// # Errors
/// Whatever is wrong with the load, its file or the output.
pub fn run(
    device: &Device,
    load: &Load,
    scheduler: SchedulerChoice,
    rows: &RowsTo,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Run> {
    let (mut model, devices) = device.build(&|| scheduler.make());
    let mut source = load.source(model.blocks())?;
    let mut recorder = Recorder::new(rows, &devices)?;
    let outcome = simulate(&mut source, &mut *model, &mut recorder, load.limits, check)?;
    let mut reports = Vec::new();
    model.report(outcome.end, &mut reports);
    let facts = RunFacts {
        simulated_end: outcome.end,
        saturated: outcome.saturated,
        reports,
        ..RunFacts::default()
    };
    let (stats, batches) = recorder.finish()?;
    let document = json!({
        "sledsim": env!("CARGO_PKG_VERSION"),
        "device": device.name(),
        "scheduler": scheduler.name,
        "workload": source.facts(),
        "summary": summary(&stats, &facts),
    });
    Ok(Run { document, batches })
}
