//! Classes of requests: by operation, the operation before, and distance.

use super::Compared;
use super::demerit::{Comparison, Pair};
use serde::Serialize;
use sledsim_base::request::Op;
use sledsim_base::row::Row;
use std::collections::BTreeMap;

/// Fewer blocks than this (128 KiB, about a track) from the request before are
/// near.
pub const NEAR_BLOCKS: u64 = 256;

/// The position of a request relative to the one that arrived before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// The first request.
    First,
    /// It starts where the other ended.
    Sequential,
    /// It shares blocks with the other.
    Overlapping,
    /// Less than [`NEAR_BLOCKS`] lie between them.
    Near,
    /// More.
    Far,
}

impl Placement {
    /// All, in their order in tables.
    pub const ALL: [Self; 5] =
        [Self::First, Self::Sequential, Self::Overlapping, Self::Near, Self::Far];

    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Sequential => "sequential",
            Self::Overlapping => "overlapping",
            Self::Near => "near",
            Self::Far => "far",
        }
    }

    /// The position of `row` relative to `before`.
    pub fn after(before: &Row, row: &Row) -> Self {
        let end = |row: &Row| row.lbn + u64::from(row.blocks);
        if row.lbn == end(before) {
            Self::Sequential
        } else if row.lbn < end(before) && before.lbn < end(row) {
            Self::Overlapping
        } else if row.lbn.max(before.lbn) - end(row).min(end(before)) < NEAR_BLOCKS {
            Self::Near
        } else {
            Self::Far
        }
    }
}

/// The class of a request: its operation, that of the one before, its place.
pub type Class = (u8, Option<u8>, Placement);

/// The figures of the requests of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFigures {
    pub op: &'static str,
    /// The operation before.
    pub after: Option<&'static str>,
    pub place: &'static str,
    pub requests: usize,
    pub measured_mean_ms: Option<f64>,
    pub simulated_mean_ms: Option<f64>,
    pub demerit_ms: Option<f64>,
    pub paired_rms_ms: Option<f64>,
}

impl ClassFigures {
    /// All classes that occur: reads first, and after reads first.
    pub(super) fn of(compared: &[Compared]) -> Vec<Self> {
        let mut classes = BTreeMap::<Class, Vec<Pair>>::new();
        for request in compared {
            classes.entry(request.class).or_default().push(request.response);
        }
        let name = |op: u8| Op::ALL[usize::from(op)].name();
        let figures = classes.into_iter().map(|((op, before, place), pairs)| {
            let comparison = Comparison::new(pairs);
            Self {
                op: name(op),
                after: before.map(name),
                place: place.name(),
                requests: comparison.requests(),
                measured_mean_ms: comparison.measured().mean,
                simulated_mean_ms: comparison.simulated().mean,
                demerit_ms: comparison.demerit_ms(),
                paired_rms_ms: comparison.paired_rms_ms(),
            }
        });
        figures.collect()
    }
}
