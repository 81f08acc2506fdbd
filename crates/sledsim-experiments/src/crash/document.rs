//! The report of a crash test as one document, with units in the names.

use super::report::{Block, Report, UnderWay, Version, Violation, ViolationKind};
use serde::Serialize;
use sledsim_base::units::Nanos;

/// Device, plan and report of a crash test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrashDocument {
    /// The version that made it.
    pub sledsim: &'static str,
    /// The name of the device.
    pub device: String,
    /// The scheduler and its keys.
    pub scheduler: String,
    /// The promise that was tested.
    pub promise: &'static str,
    /// The promise of the device.
    pub device_promise: &'static str,
    /// The share of the load's writes that the test marked `fua`.
    pub fua: f64,
    /// The share of requests after which the test submitted a flush.
    pub flush: f64,
    /// The share of recoveries in which power failed again.
    pub in_recovery_share: f64,
    /// Whether there was no violation.
    pub passed: bool,
    /// The report.
    #[serde(flatten)]
    pub report: ReportFacts,
}

/// A [`Report`] as a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportFacts {
    seed: u64,
    points: u64,
    in_recovery: u64,
    rounds: u64,
    requests: u64,
    reads: u64,
    writes: u64,
    blocks_checked: u64,
    read_blocks_checked: u64,
    under_way: UnderWayFacts,
    recovery_ms: RecoveryMs,
    violations: u64,
    shown: Vec<ViolationFacts>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct UnderWayFacts {
    writes: u64,
    lost: u64,
    torn: u64,
    kept: u64,
}

/// Times of completed recoveries.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct RecoveryMs {
    mean: Option<f64>,
    p50: Option<f64>,
    p90: Option<f64>,
    p99: Option<f64>,
    max: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ViolationFacts {
    what: &'static str,
    seed: u64,
    round: u64,
    point: u64,
    failed_ms: Option<f64>,
    at_ms: f64,
    request: Option<u64>,
    block: Option<BlockFacts>,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct BlockFacts {
    lbn: u64,
    found: Option<u64>,
    origin: Option<OriginFacts>,
    allowed: Vec<u64>,
    history: Vec<VersionFacts>,
}

/// The write of a token, and the index of the block in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct OriginFacts {
    request: u64,
    block: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct VersionFacts {
    token: u64,
    request: Option<u64>,
    begun_ms: Option<f64>,
    acknowledged_ms: Option<f64>,
    promised_ms: Option<f64>,
    promised_by: Option<&'static str>,
}

impl From<&Report> for ReportFacts {
    fn from(report: &Report) -> Self {
        Self {
            seed: report.seed,
            points: report.points,
            in_recovery: report.in_recovery,
            rounds: report.rounds,
            requests: report.requests,
            reads: report.reads,
            writes: report.writes,
            blocks_checked: report.blocks_checked,
            read_blocks_checked: report.read_blocks_checked,
            under_way: report.under_way.into(),
            recovery_ms: RecoveryMs::of(&report.recoveries),
            violations: report.violations,
            shown: report.shown.iter().map(Into::into).collect(),
        }
    }
}

impl From<UnderWay> for UnderWayFacts {
    fn from(found: UnderWay) -> Self {
        let UnderWay { lost, torn, kept } = found;
        Self { writes: found.writes(), lost, torn, kept }
    }
}

impl RecoveryMs {
    /// Of ascending times.
    fn of(times: &[Nanos]) -> Self {
        let count = times.len() as f64;
        let sum: f64 = times.iter().map(|time| time.ms()).sum();
        // The time that a share `p` of them does not exceed.
        let percentile = |p: f64| {
            let rank = (p * count).ceil() as usize;
            Some(times.get(rank.max(1) - 1)?.ms())
        };
        Self {
            mean: (count > 0.0).then(|| sum / count),
            p50: percentile(0.5),
            p90: percentile(0.9),
            p99: percentile(0.99),
            max: percentile(1.0),
        }
    }
}

impl From<&Violation> for ViolationFacts {
    fn from(violation: &Violation) -> Self {
        let (what, request, block) = match &violation.wrong {
            ViolationKind::Found(block) => ("found", None, Some(block)),
            ViolationKind::Returned(id, block) => ("returned", Some(*id), Some(block)),
            ViolationKind::Unanswered(id) => ("unanswered", Some(*id), None),
        };
        Self {
            what,
            seed: violation.seed,
            round: violation.round,
            point: violation.point,
            failed_ms: violation.failed_at.map(Nanos::ms),
            at_ms: violation.at.ms(),
            request,
            block: block.map(Into::into),
            text: violation.to_string(),
        }
    }
}

impl From<&Block> for BlockFacts {
    fn from(block: &Block) -> Self {
        Self {
            lbn: block.lbn,
            found: block.found,
            origin: block.origin.map(|(request, block)| OriginFacts { request, block }),
            allowed: block.allowed.clone(),
            history: block.history.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Version> for VersionFacts {
    fn from(version: &Version) -> Self {
        let at = version.happened;
        let promised = at.and_then(|at| at.promised);
        Self {
            token: version.token,
            request: version.request,
            begun_ms: at.map(|at| at.begun.ms()),
            acknowledged_ms: at.and_then(|at| at.acknowledged).map(Nanos::ms),
            promised_ms: promised.map(|(at, _)| at.ms()),
            promised_by: promised.map(|(_, by)| by.name()),
        }
    }
}
