//! The parts of a trace, each on a device of its own, as one run.
//!
//! A part is run anywhere, in any order, and added under its number. Integers are
//! summed as they come, the rest in the order of the parts, so the result is that of
//! one process that takes one part after the other.

use super::combine::add_facts;
use super::document::RunDocument;
use super::part_facts::PartFacts;
use super::parts_table::{PartRow, parts_batch};
use super::split::Split;
use super::{Plan, run_one};
use crate::load::Load;
use crate::load_facts::LoadFacts;
use crate::replay::{PartBy, PartList, ReplayFacts, TraceFacts, TraceOfParts};
use crate::stats::{RunReport, Stats, TableFile, interval_of_parts};
use arrow_array::RecordBatch;
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::model::Report;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::array;
use std::path::Path;

/// Runs a part; `bounds` are those of a window. The facts are for [`Parts::add`].
pub fn run_part(
    device: &Device,
    load: &Load,
    scheduler: &SchedulerSpec,
    bounds: Option<(Nanos, Nanos)>,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<(Stats, Vec<u8>)> {
    let plan = Plan { bounds, ..Plan::default() };
    plan.check(device, load)?;
    let single = run_one(device, load, scheduler, &plan, check)?;
    let trace = single.workload.trace();
    let trace = trace.ok_or_else(|| Error::Key("a part must be one of a trace".to_owned()))?;
    let facts = PartFacts::new(&single.stats, &single.facts, &trace.replay);
    Ok((single.stats, facts.to_bytes()))
}

/// The results of the parts that are complete.
#[derive(Debug)]
pub struct Parts {
    device: Device,
    scheduler: SchedulerSpec,
    /// The reports of a device before its first request.
    template: Vec<Report>,
    /// The list of the parts, as [`Load::partition`] returns it.
    list: Option<PartList>,
    stats: Stats,
    parts: Vec<PartRow>,
    facts: Vec<Option<PartFacts>>,
}

/// The results of all parts.
#[derive(Debug)]
pub struct MergedParts {
    /// All results but the rows of parts.
    pub document: RunDocument,
    /// A row for each part.
    pub table: RecordBatch,
    /// The statistics of all, for distribution functions.
    pub stats: Stats,
}

impl Parts {
    /// No parts yet.
    ///
    /// # Errors
    /// A device that cannot be built with this scheduler, or runs background tasks.
    pub fn new(device: &Device, scheduler: &SchedulerSpec) -> Result<Self> {
        if !device.background().is_empty() {
            let problem = "background: tasks are told of for a single run only; run a part \
                           alone for them";
            return Err(Error::Key(problem.to_owned()));
        }
        let (model, _) = device.build_with(scheduler)?;
        let mut template = Vec::new();
        model.report(Nanos::ZERO, &mut template);
        Ok(Self {
            device: device.clone(),
            scheduler: scheduler.clone(),
            template,
            list: None,
            stats: Stats::new(),
            parts: Vec::new(),
            facts: Vec::new(),
        })
    }

    /// Expects the parts of a `list`, as [`Load::partition`] returns it.
    pub fn expect(&mut self, mut list: PartList) {
        self.parts = std::mem::take(&mut list.parts).into_iter().map(PartRow::new).collect();
        self.facts = vec![None; self.parts.len()];
        self.list = Some(list);
    }

    /// Adds the results of part number `index` from [`run_part`].
    pub fn add(&mut self, index: usize, stats: &Stats, facts: &[u8]) -> Result<()> {
        let found = PartFacts::from_bytes(facts, &self.template)?;
        let report = found.report(&self.template);
        let row = self.row(index)?;
        let left_out = report.warm_up.map_or(0, |cut| cut.requests);
        let (completed, all) = (stats.requests() + left_out, row.requests + row.warm_up());
        if completed != all && report.saturated.is_none() {
            return Err(Error::Key(format!(
                "part {}: {completed} requests completed of {all}: please report this",
                row.name
            )));
        }
        row.take(stats, &found.figures, &report);
        self.stats.merge(stats);
        self.facts[index] = Some(found);
        Ok(())
    }

    /// Notes that part number `index` failed, and why.
    pub fn fail(&mut self, index: usize, problem: String) -> Result<()> {
        self.row(index)?.error = Some(problem);
        Ok(())
    }

    fn row(&mut self, index: usize) -> Result<&mut PartRow> {
        let count = self.parts.len();
        let row = self.parts.get_mut(index);
        row.ok_or_else(|| Error::Key(format!("part {index}: must be below {count}")))
    }

    /// The results of all, whose rows are also written to the file `table`.
    ///
    /// # Errors
    /// A part is missing, all failed, or the file cannot be written.
    pub fn finish(self, table: Option<&Path>) -> Result<MergedParts> {
        let results = self.parts.iter().zip(&self.facts);
        for (row, facts) in results {
            if facts.is_none() && row.error.is_none() {
                return Err(Error::Key(format!("part {}: has no result", row.name)));
            }
        }
        let failed = self.parts.iter().filter(|row| row.error.is_some()).count();
        if failed == self.parts.len() {
            let first = self.parts.iter().find_map(PartRow::failure);
            return Err(Error::Key(format!(
                "all {failed} parts failed; {}",
                first.unwrap_or_default()
            )));
        }
        let list = self.list.ok_or_else(none_expected)?;
        let mut facts = RunReport::default();
        let mut replay: Option<ReplayFacts> = None;
        for one in self.facts.iter().flatten() {
            add_facts(&mut facts, &one.report(&self.template));
            match &mut replay {
                Some(sum) => sum.add(&one.replay),
                none => *none = Some(one.replay.clone()),
            }
            facts.parts.push(one.figures.clone());
        }
        facts.intervals = array::from_fn(|kind| interval_of_parts(&facts.parts, kind));
        let split = Split::new(&list, &self.parts, &self.stats, &facts);
        let rows = parts_batch(&self.parts, list.by == PartBy::Window);
        let workload = workload(list.trace, replay.ok_or_else(none_expected)?);
        let (device, scheduler) = (&self.device, &self.scheduler);
        let document = RunDocument::new(device, scheduler, workload, &self.stats, &facts);
        if let Some(path) = table {
            TableFile::create(path)?.write(&rows, None)?;
        }
        let document = RunDocument { split: Some(split), ..document };
        Ok(MergedParts { document, table: rows, stats: self.stats })
    }
}

fn none_expected() -> Error {
    Error::Key("no parts are expected".to_owned())
}

/// The load of all, from the sums of those of the parts.
fn workload(trace: TraceOfParts, sums: ReplayFacts) -> LoadFacts {
    let mut replay = sums.of_all_parts();
    if let Some(window) = trace.window {
        replay.trace_device = window.trace_device;
        replay.other_devices_requests = window.other_devices_requests;
        replay.clock = window.clock;
    }
    LoadFacts::Trace(Box::new(TraceFacts { about: trace.about, replay }))
}
