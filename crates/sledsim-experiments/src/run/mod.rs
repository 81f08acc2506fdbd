//! A run: one load on one device, and its results.
//!
//! In reading order:
//! - `plan`: how a load is run, and which results are kept.
//! - `recorder`: records statistics and rows during the run.
//! - `seeds`: runs with several seeds in parallel.
//! - `parts`: the parts of a trace, each on its own device, as one run.
//! - `part_facts`: what one of them is known by, for transport.
//! - `parts_table`: a row for each.
//! - `split`: what became of them.
//! - `document`: the results as one document.
//! - `combine`: sums of the facts of several runs.

mod combine;
mod document;
mod part_facts;
mod parts;
mod parts_table;
mod plan;
mod recorder;
mod seeds;
mod split;

pub use document::RunDocument;
pub use parts::{MergedParts, Parts, run_part};
pub use plan::{Plan, RowsTo, SeriesTo};
pub use split::Split;

use crate::load::Load;
use crate::load_facts::LoadFacts;
use crate::replay::Measured;
use crate::stats::{
    Caution, Demand, Precision, RunReport, Stats, TableFile, WarmUp, Window, series_batch,
};
use arrow_array::RecordBatch;
use recorder::{Recorder, Target};
use seeds::run_seeds;
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::row::Row;
use sledsim_core::catalog::Device;
use sledsim_core::engine::{Outcome, simulate};
use sledsim_core::model::Background;
use sledsim_core::queueing::schedulers::SchedulerSpec;

/// The most requests of a generated load without a number of requests, if its
/// precision is not reached before.
pub const MOST_REQUESTS: u64 = 100_000_000;

/// The results of a run.
#[derive(Debug)]
pub struct Run {
    /// All results but rows.
    pub document: RunDocument,
    /// The rows, if kept in memory: then at least one batch.
    pub batches: Vec<RecordBatch>,
    /// The rows of the load's counted requests, if listed, in the order in which
    /// their completions were announced.
    pub list: Vec<Row>,
    /// The measured times of a trace's requests, by id, if the load keeps them.
    pub measured: Vec<Measured>,
    /// The time series, if one was made.
    pub series: Option<Vec<Window>>,
    /// The statistics, for distribution functions.
    pub stats: Stats,
}

/// One run before its results are formatted.
struct Single {
    stats: Stats,
    facts: RunReport,
    workload: LoadFacts,
    batches: Vec<RecordBatch>,
    list: Vec<Row>,
    measured: Vec<Measured>,
    series: Option<Vec<Window>>,
}

/// Runs `load` on `device` as planned; where only the place of the rows is of
/// interest, that will do as a plan. `check` is called now and then with the
/// progress; its error ends the run, and leaves nothing behind.
pub fn run(
    device: &Device,
    load: &Load,
    scheduler: SchedulerSpec,
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
    let Single { workload, stats, facts, .. } = single;
    Ok(Run {
        document: RunDocument::new(device, &scheduler, workload, &stats, &facts),
        batches: single.batches,
        list: single.list,
        measured: single.measured,
        series: single.series,
        stats,
    })
}

/// Runs it once.
fn run_one(
    device: &Device,
    load: &Load,
    scheduler: &SchedulerSpec,
    plan: &Plan,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Single> {
    let (mut model, devices) = device.build_with(scheduler)?;
    let (load, is_unlimited) = match plan.precision {
        Some(_) => load.clone().with_default_requests(MOST_REQUESTS),
        None => (load.clone(), false),
    };
    let mut source = load.source(model.blocks(), check)?;
    check_warm_up(load.warm_up, source.requests())?;
    let series_file = match &plan.series {
        SeriesTo::File(path) => Some(TableFile::create(path)?),
        _ => None,
    };
    let mut recorder = Recorder::new(plan, load.warm_up, &devices)?;
    let mut report =
        |at: Progress| check(Progress { requests: at.requests.filter(|_| !is_unlimited), ..at });
    let limits = load.limits;
    let outcome = simulate(&mut *source, &mut *model, &mut recorder, limits, &mut report)?;
    // What went wrong since it was called last is known before anything is written.
    let completed = recorder.stats.requests();
    report(Progress { completed, requests: source.requests(), share: source.share() })?;
    recorder.complete();
    recorder.stats.occupied(&outcome.occupancy);
    recorder.counted.check(&outcome)?;
    let mut facts = RunReport {
        simulated_end: outcome.idle,
        saturated: outcome.saturated,
        demand: (outcome.backlog.as_ref().filter(|_| source.is_open())).and_then(Demand::of),
        reports: recorder.counted.reports(outcome.idle, &*model),
        warm_up: recorder.counted.cut(&outcome),
        outstanding: recorder.counted.outstanding(),
        background: (model.background()).map_or_else(Vec::new, Background::tasks),
        ..RunReport::default()
    };
    judge(&mut facts, plan, &recorder.target, &outcome, is_unlimited);
    let windows = match recorder.series {
        Some(series) => Some(series.finish(outcome.idle, &*model)?),
        None => None,
    };
    if let Some(perfetto) = recorder.rows.perfetto.take() {
        let windows = windows.iter().flatten();
        perfetto.finish(windows.filter_map(|window| Some((window.start, window.power_w()?))))?;
    }
    let (batches, list) = recorder.rows.finish()?;
    if let (Some(file), Some(windows)) = (series_file, &windows) {
        file.write(&series_batch(windows), None)?;
    }
    let mut workload = load.facts(&*source);
    if recorder.target.is_reached() {
        workload.set_requests(outcome.submitted);
    }
    Ok(Single {
        stats: recorder.stats,
        facts,
        workload,
        batches,
        list,
        measured: source.take_measured(),
        series: windows.filter(|_| plan.series != SeriesTo::Nowhere),
    })
}

/// Refuses a warm-up as long as the load.
fn check_warm_up(warm_up: WarmUp, requests: Option<u64>) -> Result<()> {
    match requests {
        Some(requests) if warm_up.requests >= requests => Err(Error::argument(
            "warm_up_requests",
            format!(
                "warm_up_requests = {}: must be below the {requests} requests of the load",
                warm_up.requests
            ),
        )),
        _ => Ok(()),
    }
}

/// Adds to `facts` the cautions about the means, and whether the precision was
/// reached.
fn judge(
    facts: &mut RunReport,
    plan: &Plan,
    target: &Target,
    outcome: &Outcome,
    is_unlimited: bool,
) {
    let overloaded = facts.overload().is_some();
    let unsteady = match outcome.saturated {
        Some(_) => Some(Caution::Saturated),
        None => overloaded.then_some(Caution::Overloaded),
    };
    facts.intervals = target.pieces.intervals();
    for interval in facts.intervals.iter_mut().flatten() {
        interval.caution = unsteady.or(interval.caution);
    }
    let response = facts.intervals[0];
    facts.precision = plan.precision.map(|share| {
        let is_missed = overloaded || !(target.is_reached() || target.pieces.is_within(share));
        Precision {
            target: share,
            reached: response.map(|interval| interval.share()),
            missed: is_missed.then(|| {
                let reason = missed_reason(outcome, is_unlimited);
                match response.and_then(|interval| interval.caution) {
                    Some(caution) => format!("{reason} ({})", caution.text()),
                    None => reason,
                }
            }),
        }
    });
}

/// The reason why a run ended before its precision was reached.
fn missed_reason(outcome: &Outcome, is_unlimited: bool) -> String {
    let submitted = outcome.submitted;
    match (outcome.saturated, is_unlimited) {
        (Some(_), _) => "the load outran the device".to_owned(),
        (None, true) => format!("the limit of {submitted} requests came first"),
        (None, false) => format!("the load ended after {submitted} requests"),
    }
}

/// The results of runs that differ only in their seeds, as one.
fn merged(stats: Stats, facts: RunReport, workload: LoadFacts) -> Single {
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
