//! The parts of a trace, each on a device of its own, as one run.
//!
//! A part is run anywhere, in any order, and added under its number. Integers are
//! summed as they come, the rest in the order of the parts, so the result is that of
//! one process that takes one part after the other.

use super::combine::{add_counts, add_facts};
use super::part_facts::PartFacts;
use super::parts_table::{PartRow, parts_batch};
use super::{Plan, document, run_one};
use crate::load::Load;
use crate::stats::{RunReport, Stats, TableFile, interval_of_parts, summary};
use arrow_array::RecordBatch;
use serde_json::{Map, Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::model::Report;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::array;
use std::path::Path;

/// Counts of the load that are summed.
const COUNTS: [&str; 11] = [
    "requests",
    "widened",
    "wrapped",
    "scaled",
    "compacted",
    "moved",
    "touched_blocks",
    "touched_extents",
    "gap_bytes",
    "sorted",
    "waited",
];
/// Facts of the load of one part that say nothing of the others.
const OF_ONE: [&str; 7] = [
    "devices",
    "span_blocks",
    "first_time_s",
    "subtracted_s",
    "mean_think_ms",
    "mean_lateness_ms",
    "recorded_duration_s",
];

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
    let facts = PartFacts::new(&single.stats, &single.facts, &single.workload);
    Ok((single.stats, facts.to_bytes()))
}

/// The results of the parts that are complete.
#[derive(Debug)]
pub struct Parts {
    /// The document of the run, without its load and its summary.
    document: Value,
    /// The reports of a device before its first request.
    template: Vec<Report>,
    /// The list of the parts, as [`Load::partition`] returns it.
    list: Value,
    stats: Stats,
    parts: Vec<PartRow>,
    facts: Vec<Option<PartFacts>>,
}

/// The results of all parts.
#[derive(Debug)]
pub struct MergedParts {
    /// `{sledsim, device, scheduler, layout, workload, split, summary}`; see the
    /// results page of the guide.
    pub document: Value,
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
            document: document(device, scheduler),
            template,
            list: Value::Null,
            stats: Stats::new(),
            parts: Vec::new(),
            facts: Vec::new(),
        })
    }

    /// Expects the parts of a `list`, as [`Load::partition`] returns it.
    pub fn expect(&mut self, list: Value) -> Result<()> {
        let parts = list["parts"].as_array().map_or(&[][..], Vec::as_slice);
        let parts: Option<Vec<PartRow>> = parts.iter().map(PartRow::new).collect();
        let parts = parts.ok_or_else(|| Error::Key("the list of parts is damaged".to_owned()))?;
        self.facts = vec![None; parts.len()];
        self.parts = parts;
        self.list = list;
        Ok(())
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
    pub fn finish(mut self, table: Option<&Path>) -> Result<MergedParts> {
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
        let mut facts = RunReport::default();
        let mut workload = Value::Null;
        for one in self.facts.iter().flatten() {
            add_facts(&mut facts, &one.report(&self.template));
            let of_one = one.workload();
            if workload.is_null() {
                workload = of_one;
            } else {
                add_counts(&mut workload, &of_one, &COUNTS);
                let most = |facts: &Value| facts["sorted_most_ms"].as_f64().unwrap_or_default();
                let most_ms = most(&workload).max(most(&of_one));
                workload["sorted_most_ms"] = json!(most_ms);
            }
            facts.parts.push(one.figures.clone());
        }
        facts.intervals = array::from_fn(|kind| interval_of_parts(&facts.parts, kind));
        self.document["workload"] = self.workload(workload);
        self.document["split"] = self.about(&facts);
        self.document["summary"] = summary(&self.stats, &facts);
        let rows = parts_batch(&self.parts, self.list["by"] == "window");
        if let Some(path) = table {
            TableFile::create(path)?.write(&rows, None)?;
        }
        Ok(MergedParts { document: self.document, table: rows, stats: self.stats })
    }

    /// The load of all, from the sums of those of the parts.
    fn workload(&self, sums: Value) -> Value {
        let Value::Object(mut workload) = sums else {
            return Value::Null;
        };
        workload.retain(|key, _| !OF_ONE.contains(&key.as_str()));
        workload.insert("trace_device".into(), json!("each"));
        let trace = self.list["trace"].as_object();
        for (key, value) in trace.into_iter().flatten() {
            workload.insert(key.clone(), value.clone());
        }
        Value::Object(workload)
    }

    /// How many parts and requests there are, and what became of them.
    fn about(&self, facts: &RunReport) -> Value {
        let rows = || self.parts.iter();
        let sum = |of: &dyn Fn(&PartRow) -> u64| rows().map(of).sum::<u64>();
        let requests = sum(&|row| row.requests);
        let failed = sum(&|row| if row.error.is_some() { row.requests } else { 0 });
        let overlap = sum(&|row| row.warm_up());
        let left_out = facts.warm_up.map_or(0, |cut| cut.requests);
        let own_warm_up = match self.list["by"] == "window" {
            true => 0,
            false => left_out,
        };
        let counted = self.stats.requests();
        let slowest = self.stats.longest_wait_key();
        let slowest =
            (slowest.is_some()).then(|| rows().find(|row| row.longest_wait == slowest)).flatten();
        let mut about = json!({
            "by": self.list["by"],
            "window_s": self.list["window_s"],
            "warm_up_s": self.list["warm_up_s"],
            "count": self.parts.len(),
            "failed": rows().filter(|row| row.error.is_some()).count(),
            "saturated": facts.parts.iter().filter(|part| part.saturated).count(),
            "overloaded": facts.parts.iter().filter(|part| part.overloaded).count(),
            "first_failure": rows().find_map(PartRow::failure),
            "first_caution": rows().find_map(PartRow::grave),
            "requests": requests,
            "requests_counted": counted,
            "requests_of_warm_up": own_warm_up,
            "requests_of_failed": failed,
            "requests_not_served": requests.saturating_sub(counted + own_warm_up + failed),
            "longest_wait": slowest.map(|row| &row.name),
        });
        if self.list["by"] == "window" {
            let cut = Map::from_iter([
                ("overlap_requests".to_owned(), json!(overlap)),
                ("outstanding".to_owned(), self.outstanding()),
            ]);
            for (key, value) in cut {
                about[key] = value;
            }
        }
        about
    }

    /// How many requests were outstanding where windows were cut: at the end of one,
    /// and, after the warm-up, at the start of the next. With a warm-up that is long
    /// enough the two agree.
    fn outstanding(&self) -> Value {
        let (mut cuts, mut before, mut after, mut apart) = (0_u64, 0_u64, 0_u64, 0_u64);
        for pair in self.parts.windows(2) {
            let [one, next] = pair else { continue };
            // Windows without requests have no part: only neighbours are compared.
            if let (Some([_, end]), Some([start, _])) = (one.outstanding, next.outstanding)
                && one.is_before(next)
            {
                cuts += 1;
                before += end;
                after += start;
                apart += end.abs_diff(start);
            }
        }
        json!({ "cuts": cuts, "before": before, "after": after, "apart": apart })
    }
}
