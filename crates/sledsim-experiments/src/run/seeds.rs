//! Runs one load with several seeds in parallel.
//!
//! The runs are independent, and their results are combined in the order of the
//! seeds: no result depends on the number of threads.

use super::combine::add_facts;
use super::{Plan, Single, merged, run_one};
use crate::load::Load;
use crate::load_facts::LoadFacts;
use crate::stats::Demand;
use crate::stats::{Caution, Interval, Precision, RunReport, SeedRun, Stats};
use crate::tasks::{Task, run_tasks};
use sledsim_base::error::Result;
use sledsim_base::progress::Progress;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::array;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The state shared by the threads.
struct SeedPool<'a> {
    device: &'a Device,
    load: &'a Load,
    scheduler: &'a SchedulerSpec,
    plan: &'a Plan,
    first_seed: u64,
    /// Requests completed by each run so far, and to be completed (`u64::MAX`
    /// if that is not known).
    completed: Vec<AtomicU64>,
    requests: AtomicU64,
    /// The statistics of the completed runs.
    stats: Mutex<Stats>,
}

/// Runs `load` with `plan.seeds` consecutive seeds, beginning with its own.
pub(crate) fn run_seeds(
    device: &Device,
    load: &Load,
    scheduler: &SchedulerSpec,
    plan: &Plan,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Single> {
    let runs = plan.seeds as usize;
    let shared = SeedPool {
        device,
        load,
        scheduler,
        plan,
        first_seed: load.seed().unwrap_or(0),
        completed: (0..runs).map(|_| AtomicU64::new(0)).collect(),
        requests: AtomicU64::new(u64::MAX),
        stats: Mutex::new(Stats::new()),
    };
    let check = &mut || check(shared.progress());
    let results = run_tasks(runs, plan.threads, &|task| shared.run(task), check)?;
    let (facts, workload) = combine(results, plan);
    let stats = shared.stats.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(merged(stats, facts, workload))
}

impl SeedPool<'_> {
    fn run(&self, task: &Task<'_>) -> Result<(SeedRun, RunReport, LoadFacts)> {
        let completed = &self.completed[task.index];
        let seed = self.first_seed + task.index as u64;
        let load = self.load.clone().with_seed_offset(task.index as u64);
        let mut report = |progress: Progress| {
            completed.store(progress.completed, Relaxed);
            self.requests.store(progress.requests.unwrap_or(u64::MAX), Relaxed);
            task.check()
        };
        let single = run_one(self.device, &load, self.scheduler, self.plan, &mut report)?;
        let run = SeedRun::new(seed, &single.stats, &single.facts);
        completed.store(run.figures.requests, Relaxed);
        let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        stats.merge(&single.stats); // integers: any order
        Ok((run, single.facts, single.workload))
    }

    /// The progress of all runs.
    fn progress(&self) -> Progress {
        let runs = self.completed.len() as u64;
        let of_each = self.requests.load(Relaxed);
        Progress {
            completed: self.completed.iter().map(|run| run.load(Relaxed)).sum(),
            requests: (of_each < u64::MAX).then(|| of_each.saturating_mul(runs)),
            share: None, // only traces have one
        }
    }
}

/// The facts of all runs as those of one, and the workload of all.
fn combine(results: Vec<(SeedRun, RunReport, LoadFacts)>, plan: &Plan) -> (RunReport, LoadFacts) {
    let mut facts = RunReport::default();
    let mut workload: Option<LoadFacts> = None;
    let mut worst: Option<Precision> = None;
    let mut demands = Vec::with_capacity(results.len());
    for (run, one, one_workload) in results {
        add_facts(&mut facts, &one);
        match &mut workload {
            Some(workload) => workload.add_seed(&one_workload),
            none => *none = Some(one_workload),
        }
        demands.push(one.demand);
        if let Some(mut precision) = one.precision {
            if let Some(missed) = &mut precision.missed {
                *missed = format!("seed {}: {missed}", run.seed);
            }
            // Missed before met, none before some, wide before narrow.
            let key = |p: &Precision| (p.missed.is_some(), p.reached.unwrap_or(f64::INFINITY));
            if worst.as_ref().is_none_or(|worst| key(&precision) > key(worst)) {
                worst = Some(precision);
            }
        }
        facts.runs.push(run);
    }
    facts.demand = Demand::of_runs(&demands);
    let unsteady = match (facts.saturated, facts.overload()) {
        (Some(_), _) => Some(Caution::Saturated),
        (None, overload) => overload.map(|_| Caution::Overloaded),
    };
    let requests = (facts.runs.iter()).map(|run| run.figures.requests).sum();
    facts.intervals = array::from_fn(|kind| {
        let figures = facts.runs.iter().map(|run| &run.figures);
        let means: Vec<f64> = figures.map(|run| run.means_ns[kind]).collect();
        let mut interval = Interval::of_runs(&means, requests)?;
        interval.caution = unsteady.or(interval.caution);
        Some(interval)
    });
    facts.precision = worst.filter(|_| plan.precision.is_some());
    (facts, workload.expect("there is a run"))
}
