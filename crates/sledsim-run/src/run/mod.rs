//! A run: a load on a device, with its results.

use crate::load::Load;
use crate::replay::Measured;
use crate::seeds::run_seeds;
use crate::stats::{
    Caution, Demand, Pieces, Precision, RowBuffer, RowsFile, RunFacts, Series, Stats, TableFile,
    WarmUp, WarmUpCut, Window, series_batch, summary,
};
use arrow_array::RecordBatch;
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::files::refuse_overwriting;
use sledsim_base::progress::Progress;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::engine::{Observer, simulate};
use sledsim_core::layouts::Laid;
use sledsim_core::model::{Background, Model, Report, Source};
use sledsim_core::queueing::schedulers::Choice as SchedulerChoice;
use std::path::{Path, PathBuf, absolute};

/// Where the rows go. The statistics are kept in any case.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RowsTo {
    /// Nowhere.
    #[default]
    Nowhere,
    /// Into memory, as record batches.
    Memory,
    /// Into memory, as [`Row`]s: those of the load's requests that count.
    List,
    /// Into a `.parquet` or `.csv` file, written beside its place and moved
    /// there when complete.
    File(PathBuf),
}

/// Where the time series goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SeriesTo {
    /// Nowhere: none is made.
    #[default]
    Nowhere,
    /// Into memory.
    Memory,
    /// Into a file, `.csv` or `.parquet`, and into memory.
    File(PathBuf),
}

impl RowsTo {
    fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            _ => None,
        }
    }
}

impl SeriesTo {
    fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            _ => None,
        }
    }
}

/// How a load is run, and what is kept of it beside the statistics.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Where the rows go.
    pub rows: RowsTo,
    /// Where the time series goes.
    pub series: SeriesTo,
    /// The length of its windows; by default 512 to 1,024 in the run.
    pub window: Option<Nanos>,
    /// Run until half the confidence interval of the mean response time is at
    /// most this share of it.
    pub precision: Option<f64>,
    /// Run so often, with the seed of the load and those that follow it; 0 is
    /// taken as 1.
    pub seeds: u64,
    /// Threads for several seeds; 0 for as many as there are processors. No
    /// result depends on it.
    pub threads: usize,
}

impl From<&RowsTo> for Plan {
    fn from(rows: &RowsTo) -> Self {
        Self {
            rows: rows.clone(),
            ..Self::default()
        }
    }
}

impl From<&Self> for Plan {
    fn from(plan: &Self) -> Self {
        plan.clone()
    }
}

/// The most seeds of one run.
const MOST_SEEDS: u64 = 10_000;
/// Where a generated load of no stated length ends if its precision does not
/// end it.
pub const MOST_REQUESTS: u64 = 100_000_000;

/// A precision must be found this many times running, each time after an
/// eighth more requests: one look may find a narrow interval by chance.
const LOOKS_IN_A_ROW: u32 = 2;

impl Plan {
    fn check(&self, device: &Device, load: &Load) -> Result<()> {
        if let Some(precision) = self.precision
            && !(precision > 0.0 && precision < 1.0)
        {
            return Err(Error::Key(format!(
                "precision = {precision}: must be above 0 and below 1 (100 %)"
            )));
        }
        if self.window == Some(Nanos::ZERO) {
            let problem = "series_ms: must be at least 0.000001 (a nanosecond)";
            return Err(Error::Key(problem.to_owned()));
        }
        if self.window.is_some() && self.series == SeriesTo::Nowhere {
            let problem = "series_ms: is the length of windows, and no series is asked for";
            return Err(Error::Key(problem.to_owned()));
        }
        if let (Some(rows), Some(series)) = (self.rows.file(), self.series.file())
            && (rows == series || absolute(rows).ok() == absolute(series).ok())
        {
            return Err(Error::file(rows, "is to hold the requests and the series"));
        }
        for output in [self.rows.file(), self.series.file()].into_iter().flatten() {
            refuse_overwriting(output, load.file())?;
        }
        if self.seeds > MOST_SEEDS {
            let seeds = self.seeds;
            return Err(Error::Key(format!(
                "seeds = {seeds}: must be an integer from 1 to {MOST_SEEDS}"
            )));
        }
        if self.seeds > 1 {
            let seeds = self.seeds;
            if self.rows != RowsTo::Nowhere {
                return Err(Error::Key(format!(
                    "seeds = {seeds}: requests are kept of a single run only; run one seed for them"
                )));
            }
            if self.series != SeriesTo::Nowhere {
                return Err(Error::Key(format!(
                    "seeds = {seeds}: a series is of a single run only; run one seed for it"
                )));
            }
            if device.has_background() {
                return Err(Error::Key(format!(
                    "seeds = {seeds}: background tasks are told of for a single run only; run one \
                     seed for them"
                )));
            }
            let Some(seed) = load.seed() else {
                return Err(Error::Key(format!(
                    "seeds = {seeds}: a trace has no seed; every run of it is the same"
                )));
            };
            if seed > i64::MAX as u64 - seeds {
                return Err(Error::Key(format!(
                    "seeds = {seeds}: seeds from {seed} on must not exceed 2^63 - 1"
                )));
            }
        }
        Ok(())
    }
}

/// Rows in one batch in memory.
const BATCH_ROWS: usize = 65_536;

/// Statistics of the requests, and rows wherever they go.
struct Recorder {
    stats: Stats,
    pieces: Pieces,
    /// The precision at which the run may end, and how many requests there
    /// must be when it is looked at next.
    target: Option<f64>,
    look_at: u64,
    /// How many times running it was found good enough.
    in_a_row: u32,
    reached: bool,
    warm_up: WarmUp,
    /// Requests that arrived earlier are not counted.
    since: Nanos,
    not_counted: u64,
    /// What the devices had done by then.
    before: Vec<Report>,
    series: Option<Series>,
    memory: Option<RowBuffer>,
    batches: Vec<RecordBatch>,
    /// The rows that count.
    list: Option<Vec<Row>>,
    file: Option<RowsFile>,
}

impl Recorder {
    fn new(plan: &Plan, warm_up: WarmUp, devices: &[String]) -> Result<Self> {
        let file = match &plan.rows {
            RowsTo::File(path) => Some(RowsFile::create(path, devices)?),
            _ => None,
        };
        let in_memory = plan.rows == RowsTo::Memory;
        let has_series = plan.series != SeriesTo::Nowhere;
        Ok(Self {
            stats: Stats::new(),
            pieces: Pieces::default(),
            target: plan.precision,
            look_at: 0,
            in_a_row: 0,
            reached: false,
            warm_up,
            since: if warm_up.is_some() {
                Nanos::MAX
            } else {
                Nanos::ZERO
            },
            not_counted: 0,
            before: Vec::new(),
            series: has_series.then(|| Series::new(plan.window)),
            memory: in_memory.then(|| RowBuffer::new(devices, BATCH_ROWS)),
            batches: Vec::new(),
            list: (plan.rows == RowsTo::List).then(Vec::new),
            file,
        })
    }
}

impl Observer for Recorder {
    fn done(&mut self, row: &Row) -> Result<()> {
        if row.arrival >= self.since {
            self.stats.record(row);
            self.pieces.count(&self.stats);
            if let Some(list) = &mut self.list {
                list.push(*row);
            }
        } else {
            self.not_counted += 1;
        }
        if let Some(series) = &mut self.series {
            series.record(row)?;
        }
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

    fn arriving(&mut self, at: Nanos, count: u64, model: &dyn Model) -> u64 {
        if !self.warm_up.is_some() {
            return u64::MAX;
        }
        if self.warm_up.ends(at, count) {
            self.since = at;
            model.report(at, &mut self.before);
            return u64::MAX;
        }
        self.warm_up.requests.max(count + 1)
    }

    fn tick(&mut self, now: Nanos, model: &dyn Model) -> Result<Nanos> {
        match &mut self.series {
            Some(series) => series.tick(now, model),
            None => Ok(Nanos::MAX),
        }
    }

    fn enough(&mut self) -> bool {
        let Some(target) = self.target else {
            return false;
        };
        let requests = self.pieces.requests();
        if requests < self.look_at {
            return false;
        }
        // Every look is a chance to stop too early: not too many of them.
        self.look_at = requests + requests.div_ceil(8);
        if !self.pieces.is_within(target) {
            self.in_a_row = 0;
            return false;
        }
        self.in_a_row += 1;
        self.reached = self.in_a_row == LOOKS_IN_A_ROW;
        if self.reached {
            self.pieces.close();
        }
        self.reached
    }
}

/// What came of a run.
#[derive(Debug)]
pub struct Run {
    /// `{sledsim, device, scheduler, layout, workload, summary}`; see the results
    /// page of the guide.
    pub document: Value,
    /// The rows, if they were kept in memory: at least one batch, then.
    pub batches: Vec<RecordBatch>,
    /// The rows of the load's requests that count, if they were to be listed, in
    /// the order in which their completions were announced.
    pub list: Vec<Row>,
    /// What a trace says of how long its requests took, by their ids, if the
    /// load keeps it.
    pub measured: Vec<Measured>,
    /// The time series, if one was made.
    pub series: Option<Vec<Window>>,
    /// The statistics, for distribution functions.
    pub stats: Stats,
}

/// One run before it is written up.
pub(crate) struct Single {
    pub(crate) stats: Stats,
    pub(crate) facts: RunFacts,
    pub(crate) workload: Value,
    batches: Vec<RecordBatch>,
    list: Vec<Row>,
    measured: Vec<Measured>,
    series: Option<Vec<Window>>,
}

/// Runs `load` on `device` as planned; where only the place of the rows is of
/// interest, that will do as a plan. `check` is called now and then with the
/// progress; its error ends the run, and leaves nothing behind.
///
/// # Errors
/// Whatever is wrong with the plan, the load, its file or the output.
pub fn run(
    device: &Device,
    load: &Load,
    scheduler: SchedulerChoice,
    plan: impl Into<Plan>,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Run> {
    let plan = plan.into();
    plan.check(device, load)?;
    let single = if plan.seeds > 1 {
        run_seeds(device, load, &scheduler, &plan, check)?
    } else {
        run_one(device, load, &scheduler, &plan, check)?
    };
    let document = json!({
        "sledsim": env!("CARGO_PKG_VERSION"),
        "device": device.name(),
        "scheduler": scheduler.label(),
        "layout": device.layout().map_or_else(|| json!({ "name": "simple" }), Laid::facts),
        "workload": single.workload,
        "summary": summary(&single.stats, &single.facts),
    });
    Ok(Run {
        document,
        batches: single.batches,
        list: single.list,
        measured: single.measured,
        series: single.series,
        stats: single.stats,
    })
}

/// Runs it once.
pub(crate) fn run_one(
    device: &Device,
    load: &Load,
    scheduler: &SchedulerChoice,
    plan: &Plan,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Single> {
    let (mut model, devices) = device.build_with(scheduler)?;
    let (load, goes_on) = match plan.precision {
        Some(_) => load.clone().going_on(MOST_REQUESTS),
        None => (load.clone(), false),
    };
    let warm_up = load.warm_up;
    let mut source = load.source(model.blocks(), check)?;
    if let Some(requests) = Source::requests(&source)
        && warm_up.requests >= requests
    {
        return Err(Error::Key(format!(
            "warm_up_requests = {}: must be below the {requests} requests of the load",
            warm_up.requests
        )));
    }
    let series_file = match &plan.series {
        SeriesTo::File(path) => Some(TableFile::create(path)?),
        _ => None,
    };
    let mut recorder = Recorder::new(plan, warm_up, &devices)?;
    let mut told = |at: Progress| {
        check(Progress {
            requests: at.requests.filter(|_| !goes_on),
            ..at
        })
    };
    let limits = load.limits;
    let outcome = simulate(&mut source, &mut *model, &mut recorder, limits, &mut told)?;
    if recorder.since == Nanos::MAX && outcome.saturated.is_none() {
        let (wanted, end) = (warm_up.until, outcome.end.s());
        let wanted = match wanted {
            Nanos::ZERO => format!("warm_up_requests = {}", warm_up.requests),
            until => format!("warm_up_s = {}", until.0 as f64 / 1e9),
        };
        let all = outcome.submitted;
        return Err(Error::Key(format!(
            "{wanted}: the load ended at {end} s after {all} requests, before any was counted"
        )));
    }
    let mut reports = Vec::new();
    model.report(outcome.idle, &mut reports);
    for (report, before) in reports.iter_mut().zip(&recorder.before) {
        *report = difference(report, before);
    }
    let demand = (outcome.backlog.as_ref().filter(|_| source.is_open())).and_then(Demand::of);
    let overloaded = demand.is_some_and(|demand| demand.is_overload());
    let mut intervals = recorder.pieces.intervals();
    let unsteady = match outcome.saturated {
        Some(_) => Some(Caution::Saturated),
        None => overloaded.then_some(Caution::Overloaded),
    };
    for interval in intervals.iter_mut().flatten() {
        interval.caution = unsteady.or(interval.caution);
    }
    let precision = plan.precision.map(|target| Precision {
        target,
        reached: intervals[0].map(|interval| interval.share()),
        missed: (overloaded || !(recorder.reached || recorder.pieces.is_within(target))).then(
            || {
                let reason = match (outcome.saturated, goes_on) {
                    (Some(_), _) => "the load outran the device".to_owned(),
                    (None, true) => {
                        format!("the limit of {} requests came first", outcome.submitted)
                    }
                    (None, false) => format!("the load ended after {} requests", outcome.submitted),
                };
                match intervals[0].and_then(|interval| interval.caution) {
                    Some(caution) => format!("{reason} ({})", caution.text()),
                    None => reason,
                }
            },
        ),
    });
    let facts = RunFacts {
        simulated_end: outcome.idle,
        saturated: outcome.saturated,
        demand,
        interrupted: false,
        reports,
        warm_up: warm_up.is_some().then(|| WarmUpCut {
            requests: recorder.not_counted,
            until: recorder.since.min(outcome.end),
        }),
        intervals,
        precision,
        background: (model.background()).map_or_else(Vec::new, Background::facts),
        runs: Vec::new(),
    };
    let windows = match recorder.series.take() {
        Some(series) => Some(series.finish(outcome.idle, &*model)?),
        None => None,
    };
    if let Some(file) = recorder.file.take() {
        file.finish()?;
    }
    if let (Some(file), Some(windows)) = (series_file, &windows) {
        file.write(&series_batch(windows), None)?;
    }
    if let Some(buffer) = &mut recorder.memory {
        recorder.batches.push(buffer.finish());
    }
    let mut workload = load.facts(&source);
    if recorder.reached {
        workload["requests"] = json!(outcome.submitted); // the same run again, then
    }
    Ok(Single {
        stats: recorder.stats,
        facts,
        workload,
        batches: recorder.batches,
        list: recorder.list.unwrap_or_default(),
        measured: source.take_measured(),
        series: windows,
    })
}

/// What a device did since `before`.
fn difference(now: &Report, before: &Report) -> Report {
    Report {
        name: now.name.clone(),
        busy: now.busy.since(before.busy),
        energy: now.energy - before.energy,
        counts: (now.counts.iter().zip(&before.counts))
            .map(|(&(name, now), &(_, before))| (name, now - before))
            .collect(),
    }
}

/// Runs that differ in nothing but their seeds, as one.
pub(crate) fn merged(stats: Stats, facts: RunFacts, workload: Value) -> Single {
    Single {
        stats,
        facts,
        workload,
        batches: Vec::new(),
        list: Vec::new(),
        measured: Vec::new(),
        series: None,
    }
}
