//! Validation: replays the requests of a measured device and compares times.
//!
//! A trace with measured times is replayed on a device. A trace without times of
//! arrival, recorded with one outstanding request, is replayed in the same way:
//! each request arrives its recorded think time after the completion of the one
//! before. Other traces are replayed at their times, or with `queue_depth`.
//!
//! An open replay compares response times, and also queue and service times if
//! the trace has queue times. A closed replay has different queues, so it
//! compares the measured service time (the response time less the queue) with
//! the simulated response time.

mod classes;
mod demerit;
mod document;
mod table;

pub use classes::{NEAR_BLOCKS, Placement};
pub use demerit::{ClassWeighted, Comparison, Pair};
pub use document::ValidationDocument;

use crate::load::Load;
use crate::replay::{ArrivalFacts, Measured};
use crate::run::{Plan, RowsTo, run};
use arrow_array::RecordBatch;
use classes::Class;
use serde::Serialize;
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::request::Op;
use sledsim_base::row::{Row, Status};
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_traces::TraceFile;

pub use table::write as write_table;

/// The part of the time to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// From arrival to completion (in a closed replay: the measured service).
    Response,
    /// Waiting.
    Queue,
    /// The response time less the queue.
    Service,
}

impl Part {
    /// All.
    pub const ALL: [Self; 3] = [Self::Response, Self::Queue, Self::Service];

    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Queue => "queue",
            Self::Service => "service",
        }
    }
}

/// The requests to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Reads and writes.
    All,
    /// Reads.
    Read,
    /// Writes.
    Write,
}

impl Direction {
    /// All.
    pub const ALL: [Self; 3] = [Self::All, Self::Read, Self::Write];

    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    fn has(self, op: Op) -> bool {
        match self {
            Self::All => true,
            Self::Read => op == Op::Read,
            Self::Write => op == Op::Write,
        }
    }
}

/// A request that is compared.
#[derive(Clone, Copy, Debug)]
struct Compared {
    row: Row,
    class: Class,
    response: Pair,
    /// `None` if the trace lacks it, or the replay is closed.
    queue: Option<Pair>,
    service: Option<Pair>,
}

impl Compared {
    fn part(&self, part: Part) -> Option<Pair> {
        match part {
            Part::Response => Some(self.response),
            Part::Queue => self.queue,
            Part::Service => self.service,
        }
    }
}

/// The results of a validation.
#[derive(Debug)]
pub struct Validation {
    /// The results but the rows.
    pub document: ValidationDocument,
    /// The comparison of each part and kind, in the order of [`Part::ALL`] and
    /// [`Direction::ALL`]; parts that the trace lacks have no requests.
    pub comparisons: [[Comparison; 3]; 3],
    /// A row per request compared, in the order of the trace.
    pub rows: RecordBatch,
}

/// Replays the trace `load` on `device` and compares measured with simulated
/// times. `check` is called now and then with the progress; its error ends it.
///
/// # Errors
/// A load that is no trace, or has no measured times; one that outruns the
/// device; whatever [`run`] refuses.
pub fn validate(
    device: &Device,
    load: &Load,
    scheduler: SchedulerSpec,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Validation> {
    if load.seed().is_some() {
        let problem = "a workload has no measured times to compare with: give a trace";
        return Err(Error::Key(problem.to_owned()));
    }
    let plan = Plan::from(&RowsTo::List);
    let mut run = run(device, &load.clone().with_measured_times(), scheduler, plan, check)?;
    run.list.sort_unstable_by_key(|row| row.id);
    let trace = run.document.workload.trace().expect("a load without a seed is a trace");
    let TraceFile { path, format, .. } = &trace.about.file;
    if let Some(saturated) = &run.document.summary.saturated {
        let (at, queue) = (saturated.at_s, saturated.queue);
        return Err(Error::Request(format!(
            "{path}: its requests outran the device, at {at:?} s with {queue} waiting: nothing to \
             compare; time_scale below 1 slows the trace down, queue_depth = 1 waits for the device",
        )));
    }
    let closed = matches!(trace.replay.arrivals, Some(ArrivalFacts::Depth { .. }));
    let (compared, left_out) = join(&run.list, &run.measured, closed);
    if compared.is_empty() {
        return Err(Error::Request(format!(
            "{path}: has no measured times to compare with (read as {format}): disksim_validate, \
             hp_srt, msr, systor and vscsi traces have them, csv and parquet with \
             response=COLUMN:UNIT in columns"
        )));
    }
    let comparisons = Part::ALL.map(|part| {
        Direction::ALL.map(|kind| {
            let requests = compared.iter().filter(|request| kind.has(request.row.op));
            Comparison::new(requests.filter_map(|request| request.part(part)))
        })
    });
    let document = ValidationDocument::new(run.document, closed, &compared, left_out, &comparisons);
    Ok(Validation { rows: table::batch(device.name(), &compared), document, comparisons })
}

/// The number of requests not compared, by reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LeftOut {
    /// Of the warm-up.
    pub warm_up: u64,
    /// Without a measured time.
    pub not_measured: u64,
    /// That the device could not serve.
    pub errors: u64,
    /// That move no data.
    pub flushes_and_trims: u64,
}

/// Measured and simulated times of the rows, which are in the order of ids.
fn join(rows: &[Row], measured: &[Measured], closed: bool) -> (Vec<Compared>, LeftOut) {
    let mut left_out = LeftOut::default();
    let mut compared = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &rows[before]);
        let times = measured.get(row.id as usize).copied().unwrap_or_default();
        match times.response {
            _ if !row.op.moves_data() => left_out.flushes_and_trims += 1,
            _ if row.status != Status::Ok => left_out.errors += 1,
            None => left_out.not_measured += 1,
            Some(response) => compared.push(pairs(row, before, response, times.queue, closed)),
        }
    }
    (compared, left_out)
}

fn pairs(
    row: &Row,
    before: Option<&Row>,
    response: Nanos,
    queue: Option<Nanos>,
    closed: bool,
) -> Compared {
    let pair = |measured, simulated| Pair { measured, simulated };
    let waited = row.parts.queue;
    let service = queue.map(|queue| response.since(queue));
    Compared {
        row: *row,
        class: (
            row.op as u8,
            before.map(|before| before.op as u8),
            before.map_or(Placement::First, |before| Placement::after(before, row)),
        ),
        response: match (closed, service) {
            (true, Some(service)) => pair(service, row.response()),
            _ => pair(response, row.response()),
        },
        queue: queue.filter(|_| !closed).map(|queue| pair(queue, waited)),
        service: (service.filter(|_| !closed))
            .map(|service| pair(service, row.response() - waited)),
    }
}
