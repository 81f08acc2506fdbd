//! A run: a load on a device, with its results.

use crate::devices::Device;
use crate::engine::{Observer, Progress, simulate};
use crate::error::Result;
use crate::load::Load;
use crate::row::Row;
use crate::schedulers::Choice as SchedulerChoice;
use crate::stats::{ParquetRows, RowBuffer, RunFacts, Stats, summary};
use arrow_array::RecordBatch;
use serde_json::{Value, json};
use std::path::PathBuf;

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
