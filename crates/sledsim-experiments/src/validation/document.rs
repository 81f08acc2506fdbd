//! The results of a validation as one document; see the validation page of the guide.

use super::classes::{ClassFigures, NEAR_BLOCKS};
use super::demerit::{ClassWeighted, Comparison, Largest, TimeStatistics};
use super::{Compared, LeftOut};
use crate::load_facts::LoadFacts;
use crate::run::RunDocument;
use crate::stats::Summary;
use serde::Serialize;

/// The results of a validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidationDocument {
    /// The version that made it.
    pub sledsim: &'static str,
    /// The name of the device.
    pub device: String,
    /// The scheduler and its keys.
    pub scheduler: String,
    /// The load and its counts.
    pub workload: LoadFacts,
    /// `open` or `closed`.
    pub replay: &'static str,
    /// Requests that are not compared.
    pub left_out: LeftOut,
    /// The figures of the response time.
    #[serde(flatten)]
    pub response: Figures,
    /// Those of its parts, if they were measured.
    pub parts: Option<PartFigures>,
    /// The request with the largest difference.
    pub worst_request: Option<WorstRequest>,
    /// Requests closer than this are near.
    pub near_blocks: u64,
    /// The figures of each class of requests.
    pub classes: Vec<ClassFigures>,
    /// The statistics.
    pub summary: Summary,
}

/// The figures of the parts of the response time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartFigures {
    pub queue: Figures,
    pub service: Figures,
}

/// Of all requests, of reads and of writes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ByDirection<T> {
    pub all: T,
    pub read: T,
    pub write: T,
}

/// The figures of one kind of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    pub requests: ByDirection<usize>,
    pub demerit_ms: ByDirection<Option<f64>>,
    pub demerit_percent: ByDirection<Option<f64>>,
    pub class_weighted_ms: Option<f64>,
    pub class_weighted_percent: Option<f64>,
    /// Whether errors of reads and of writes cancel in the demerit figure.
    pub demerits_disagree: bool,
    pub paired_rms_ms: ByDirection<Option<f64>>,
    pub measured_ms: ByDirection<TimeStatistics>,
    pub simulated_ms: ByDirection<TimeStatistics>,
    pub largest: ByDirection<Option<Largest>>,
}

/// A request, and its response times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorstRequest {
    pub id: u64,
    pub op: &'static str,
    pub lbn: u64,
    pub blocks: u32,
    pub measured_ms: f64,
    pub simulated_ms: f64,
}

impl ValidationDocument {
    pub(super) fn new(
        run: RunDocument,
        is_closed: bool,
        compared: &[Compared],
        left_out: LeftOut,
        [response, queue, service]: &[[Comparison; 3]; 3],
    ) -> Self {
        let has_queue = compared.iter().any(|request| request.queue.is_some());
        let warm_up = run.summary.warm_up.as_ref().map_or(0, |cut| cut.requests);
        Self {
            sledsim: run.sledsim,
            device: run.device,
            scheduler: run.scheduler,
            workload: run.workload,
            replay: if is_closed { "closed" } else { "open" },
            left_out: LeftOut { warm_up, ..left_out },
            response: Figures::new(response),
            parts: has_queue.then(|| PartFigures {
                queue: Figures::new(queue),
                service: Figures::new(service),
            }),
            worst_request: WorstRequest::of(compared),
            near_blocks: NEAR_BLOCKS,
            classes: ClassFigures::of(compared),
            summary: run.summary,
        }
    }
}

impl Figures {
    fn new(of: &[Comparison; 3]) -> Self {
        let weighted = ClassWeighted::of(&of[1..]);
        Self {
            requests: ByDirection::of(of, Comparison::requests),
            demerit_ms: ByDirection::of(of, Comparison::demerit_ms),
            demerit_percent: ByDirection::of(of, Comparison::demerit_percent),
            class_weighted_ms: weighted.ms(),
            class_weighted_percent: weighted.ms().and_then(|ms| of[0].percent(ms)),
            demerits_disagree: weighted.disagrees(&of[0]),
            paired_rms_ms: ByDirection::of(of, Comparison::paired_rms_ms),
            measured_ms: ByDirection::of(of, Comparison::measured),
            simulated_ms: ByDirection::of(of, Comparison::simulated),
            largest: ByDirection::of(of, Comparison::largest),
        }
    }
}

impl<T> ByDirection<T> {
    /// Of all, reads and writes.
    fn of([all, read, write]: &[Comparison; 3], figure: fn(&Comparison) -> T) -> Self {
        Self { all: figure(all), read: figure(read), write: figure(write) }
    }
}

impl WorstRequest {
    /// The request with the largest difference, the first of several.
    fn of(compared: &[Compared]) -> Option<Self> {
        let distance = |request: &&Compared| {
            (request.response.measured.0).abs_diff(request.response.simulated.0)
        };
        let worst = compared.iter().rev().max_by_key(distance)?;
        Some(Self {
            id: worst.row.id,
            op: worst.row.op.name(),
            lbn: worst.row.lbn,
            blocks: worst.row.blocks,
            measured_ms: worst.response.measured.ms(),
            simulated_ms: worst.response.simulated.ms(),
        })
    }
}
