//! Runs one load with several seeds in parallel.
//!
//! The runs are independent, and their results are combined in the order of the
//! seeds: no result depends on the number of threads.

use super::combine::add_facts;
use super::{Plan, Single, merged, run_one};
use crate::load::Load;
use crate::load_facts::LoadFacts;
use crate::panics::{catch_panic, internal_error};
use crate::stats::Demand;
use crate::stats::{Caution, Interval, Precision, RunReport, SeedRun, Stats};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::array;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// The interval at which the calling thread polls the others.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The state shared by the threads.
struct SeedPool<'a> {
    device: &'a Device,
    load: &'a Load,
    scheduler: &'a SchedulerSpec,
    plan: &'a Plan,
    first_seed: u64,
    /// The next run to start.
    next: AtomicUsize,
    /// Runs from this index on are abandoned: an earlier one failed, or all
    /// stop.
    give_up_from: AtomicUsize,
    /// Requests completed by each run so far, and to be completed (`u64::MAX`
    /// if that is not known).
    completed: Vec<AtomicU64>,
    requests: AtomicU64,
    done: Mutex<SeedResults>,
}

/// The results of the completed runs.
struct SeedResults {
    stats: Stats,
    runs: Vec<Option<Result<(SeedRun, RunReport, LoadFacts)>>>,
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
        next: AtomicUsize::new(0),
        give_up_from: AtomicUsize::new(usize::MAX),
        completed: (0..runs).map(|_| AtomicU64::new(0)).collect(),
        requests: AtomicU64::new(u64::MAX),
        done: Mutex::new(SeedResults {
            stats: Stats::new(),
            runs: (0..runs).map(|_| None).collect(),
        }),
    };
    let threads = match plan.threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let stopped = thread::scope(|scope| {
        let workers: Vec<_> =
            (0..threads.min(runs)).map(|_| scope.spawn(|| shared.work())).collect();
        let mut stopped = Ok(());
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::park_timeout(POLL_INTERVAL);
            if stopped.is_ok() {
                stopped = check(shared.progress());
                if stopped.is_err() {
                    shared.give_up_from.store(0, Relaxed);
                }
            }
        }
        stopped
    });
    stopped?;
    let done = shared.done.into_inner();
    let done = done.unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut results = Vec::with_capacity(runs);
    for run in done.runs {
        results.push(run.unwrap_or(Err(Error::Interrupted))?);
    }
    let (facts, workload) = combine(results, plan);
    Ok(merged(done.stats, facts, workload))
}

impl SeedPool<'_> {
    /// The work of a thread: one run after the other.
    fn work(&self) {
        loop {
            let index = self.next.fetch_add(1, Relaxed);
            if index >= self.completed.len() || index >= self.give_up_from.load(Relaxed) {
                return;
            }
            let result = catch_panic(|| self.run(index));
            let result = result.unwrap_or_else(|said| Err(Error::System(internal_error(&said))));
            if result.is_err() {
                // Abandon later runs; an earlier one may also fail, and then its
                // error is reported.
                self.give_up_from.fetch_min(index + 1, Relaxed);
            }
            let mut done = self.done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            done.runs[index] = Some(result.map(|(single, run)| {
                done.stats.merge(&single.stats); // integers: any order
                (run, single.facts, single.workload)
            }));
        }
    }

    fn run(&self, index: usize) -> Result<(Single, SeedRun)> {
        let seed = self.first_seed + index as u64;
        let load = self.load.clone().with_seed_offset(index as u64);
        let mut report = |progress: Progress| {
            self.completed[index].store(progress.completed, Relaxed);
            let requests = progress.requests.unwrap_or(u64::MAX);
            self.requests.store(requests, Relaxed);
            if index >= self.give_up_from.load(Relaxed) {
                return Err(Error::Interrupted);
            }
            Ok(())
        };
        let single = run_one(self.device, &load, self.scheduler, self.plan, &mut report)?;
        let run = SeedRun::new(seed, &single.stats, &single.facts);
        self.completed[index].store(run.figures.requests, Relaxed);
        Ok((single, run))
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
