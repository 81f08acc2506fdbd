//! The facts of one part of a trace after its run, as JSON: for another process.
//!
//! Numbers come back exactly: whole ones as they are, others as the shortest text
//! that gives them back.

use crate::stats::{Caution, Interval, RunFigures, RunReport, Stats, WarmUpCut};
use serde_json::{Value, json};
use sledsim_base::error::{Error, Result};
use sledsim_base::units::Nanos;
use sledsim_core::engine::Saturated;
use sledsim_core::model::{Busy, Energy, Report};
use std::array;

/// The facts of a part.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PartFacts {
    pub figures: RunFigures,
    /// Of these, only what [`add_facts`](super::combine::add_facts) adds, and
    /// `outstanding`.
    pub facts: RunReport,
    pub workload: Value,
}

/// All cautions of intervals.
const CAUTIONS: [Caution; 4] =
    [Caution::TooFew, Caution::Correlated, Caution::Overloaded, Caution::Saturated];

impl PartFacts {
    /// Those of a run.
    pub fn new(stats: &Stats, facts: RunReport, workload: Value) -> Self {
        Self { figures: RunFigures::new(stats, &facts), facts, workload }
    }

    pub fn to_json(&self) -> Value {
        let (figures, facts) = (&self.figures, &self.facts);
        let reports = facts.reports.iter().map(|report| {
            let energy = (report.energy).map(|energy| energy.by_cause().map(|(_, joules)| joules));
            let busy: Vec<_> =
                (report.mechanisms.iter()).map(|(_, busy)| [busy.host.0, busy.other.0]).collect();
            let counts: Vec<u64> = report.counts.iter().map(|(_, count)| *count).collect();
            json!({ "busy": busy, "energy": energy, "counts": counts })
        });
        json!({
            "requests": figures.requests,
            "served": figures.served,
            "duration": figures.duration.0,
            "active": figures.active.0,
            "simulated": figures.simulated.0,
            "means": figures.means_ns,
            "intervals": figures.intervals.map(|interval| interval.map(interval_json)),
            "longest_wait": figures.longest_wait.map(|(queue, at, id)| [queue.0, at.0, id]),
            "overloaded": figures.overloaded,
            "end": facts.simulated_end.0,
            "saturated": facts.saturated.map(|at| [at.at.0, at.queue]),
            "warm_up": facts.warm_up.map(|cut| [cut.requests, cut.until.0]),
            "outstanding": facts.outstanding,
            "reports": reports.collect::<Vec<_>>(),
            "workload": self.workload,
        })
    }

    /// Reads [`PartFacts::to_json`] of a run on a device with the reports
    /// `template`, whose names it takes over.
    ///
    /// # Errors
    /// It is not of such a run.
    pub fn from_json(mut json: Value, template: &[Report]) -> Result<Self> {
        let workload = json["workload"].take();
        let read = || {
            let saturated = optional(&json["saturated"], numbers)?;
            let warm_up = optional(&json["warm_up"], numbers)?;
            let longest = optional(&json["longest_wait"], numbers)?;
            let intervals = [0, 1, 2].map(|kind| optional(&json["intervals"][kind], interval));
            let [response, service, queue] = intervals;
            let facts = RunReport {
                simulated_end: nanos(&json["end"])?,
                saturated: saturated.map(|[at, queue]| Saturated { at: Nanos(at), queue }),
                warm_up: warm_up
                    .map(|[requests, until]| WarmUpCut { requests, until: Nanos(until) }),
                outstanding: optional(&json["outstanding"], numbers)?,
                reports: reports(&json["reports"], template)?,
                ..RunReport::default()
            };
            let figures = RunFigures {
                requests: json["requests"].as_u64()?,
                served: json["served"].as_u64()?,
                duration: nanos(&json["duration"])?,
                active: nanos(&json["active"])?,
                simulated: nanos(&json["simulated"])?,
                means_ns: array::from_fn(|kind| real(&json["means"][kind])),
                intervals: [response?, service?, queue?],
                longest_wait: longest.map(|[queue, at, id]| (Nanos(queue), Nanos(at), id)),
                saturated: facts.saturated.is_some(),
                overloaded: json["overloaded"].as_bool()?,
            };
            Some((figures, facts))
        };
        let (figures, facts) = read().ok_or_else(|| {
            Error::Key("the outcome of a part is of another version, or damaged".to_owned())
        })?;
        Ok(Self { figures, facts, workload })
    }
}

/// A number, `null` being not a number.
fn real(json: &Value) -> f64 {
    json.as_f64().unwrap_or(f64::NAN)
}

fn nanos(json: &Value) -> Option<Nanos> {
    json.as_u64().map(Nanos)
}

/// What `read` makes of it, or nothing of `null`; `None` if it cannot be read.
#[allow(clippy::option_option, reason = "null is not an error")]
fn optional<T>(json: &Value, read: fn(&Value) -> Option<T>) -> Option<Option<T>> {
    match json {
        Value::Null => Some(None),
        json => read(json).map(Some),
    }
}

fn numbers<const N: usize>(json: &Value) -> Option<[u64; N]> {
    let numbers: Option<Vec<u64>> = json.as_array()?.iter().map(Value::as_u64).collect();
    numbers?.try_into().ok()
}

fn interval_json(interval: Interval) -> Value {
    let caution =
        (interval.caution).and_then(|caution| CAUTIONS.iter().position(|known| *known == caution));
    json!({
        "mean": interval.mean,
        "half_width": interval.half_width,
        "batches": interval.batches,
        "batch_requests": interval.batch_requests,
        "lag1": interval.lag1,
        "caution": caution,
    })
}

fn interval(json: &Value) -> Option<Interval> {
    let caution = optional(&json["caution"], Value::as_u64)?;
    Some(Interval {
        mean: real(&json["mean"]),
        half_width: real(&json["half_width"]),
        batches: usize::try_from(json["batches"].as_u64()?).ok()?,
        batch_requests: json["batch_requests"].as_u64()?,
        lag1: real(&json["lag1"]),
        caution: caution.and_then(|place| CAUTIONS.get(place as usize).copied()),
    })
}

fn reports(json: &Value, template: &[Report]) -> Option<Vec<Report>> {
    let json = json.as_array().filter(|json| json.len() == template.len())?;
    let report = |(json, template): (&Value, &Report)| {
        let energy = |json: &Value| Some(array::from_fn(|cause| real(&json[cause])));
        let busy = json["busy"].as_array()?.iter().map(numbers);
        let busy = busy.collect::<Option<Vec<[u64; 2]>>>()?;
        let counts = json["counts"].as_array()?.iter().map(Value::as_u64);
        let counts = counts.collect::<Option<Vec<u64>>>()?;
        Some(Report {
            name: template.name.clone(),
            mechanisms: (busy.len() == template.mechanisms.len()).then(|| {
                let busy = busy
                    .iter()
                    .map(|&[host, other]| Busy { host: Nanos(host), other: Nanos(other) });
                (template.mechanisms.iter().map(|(part, _)| *part).zip(busy)).collect()
            })?,
            energy: optional(&json["energy"], energy)?.map(Energy::of_causes),
            counts: (counts.len() == template.counts.len()).then(|| {
                let names = template.counts.iter().map(|(name, _)| *name);
                names.zip(counts).collect()
            })?,
        })
    };
    json.iter().zip(template).map(report).collect()
}
