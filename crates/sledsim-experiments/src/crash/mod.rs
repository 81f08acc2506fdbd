//! Crash tests: whether acknowledged writes survive power failures.
//!
//! A load runs on a device that keeps contents. Power fails repeatedly, at
//! events and between them, also while the device recovers. After each failure
//! every block that was ever written must hold an allowed version, and the load
//! continues. The completions seen by the host determine the allowed versions:
//!
//! - a version of a block is superseded once a write that began after that
//!   version was acknowledged is promised to survive itself;
//! - a write is promised to survive when it is acknowledged, or, on a device that
//!   reports writes from a volatile buffer, when it had the mark `fua`, or a flush that
//!   began later is complete ([`Promise`]);
//! - a read may return any version that was not superseded when it began, or
//!   that was written since;
//! - after a power failure, the version found is the only one allowed.
//!
//! [`sledsim_core::compose::content_tracker::ContentTracker`] gives a leaf its contents;
//! [`sledsim_core::catalog::Device::build_keeping`] puts one around every leaf
//! of a device.

mod document;
mod driver;
mod oracle;
mod report;

pub use document::CrashDocument;
pub use driver::test_model;
pub use report::{
    Block, Happened, PromisedBy, Report, UnderWay, Version, Violation, ViolationKind,
};

use crate::load::Load;
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_core::catalog::Device;
use sledsim_core::model::Model;
use sledsim_core::model::contents::Promise;
use sledsim_core::queueing::schedulers::SchedulerSpec;

/// The plan of a crash test.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How often power fails; the load is begun anew, on a new device and with
    /// its next seed, until that is reached.
    pub points: u64,
    /// The seed of the instants and of what is left of writes under way.
    pub seed: u64,
    /// Requests from one power failure to the next in the mean; by default so
    /// many that the points are spread over the load, and at least 16.
    pub requests_between: Option<u64>,
    /// What the device promises; by default what [`Device::promise`] says.
    pub promise: Option<Promise>,
    /// The share of the load's writes that the test marks `fua`.
    pub fua: f64,
    /// The share of requests after which the test submits a flush.
    pub flush: f64,
    /// The share of recoveries, of those that take time, in which power fails
    /// again.
    pub in_recovery: f64,
    /// The most violations listed; all are counted.
    pub shown: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            points: 1000,
            seed: 1,
            requests_between: None,
            promise: None,
            fua: 0.2,
            flush: 0.05,
            in_recovery: 0.2,
            shown: 10,
        }
    }
}

impl Plan {
    fn check(&self) -> Result<()> {
        if self.points == 0 {
            return Err(Error::argument("points", "points = 0: must be at least 1".to_owned()));
        }
        if self.requests_between == Some(0) {
            let problem = "requests_between = 0: must be at least 1";
            return Err(Error::argument("requests_between", problem.to_owned()));
        }
        for (name, share) in [("fua", self.fua), ("flush", self.flush)] {
            if !(0.0..=1.0).contains(&share) {
                let problem = format!("{name} = {share}: must be from 0 to 1");
                return Err(Error::argument(name, problem));
            }
        }
        // With a higher share, recoveries might never complete.
        if !(0.0..=0.9).contains(&self.in_recovery) {
            let share = self.in_recovery;
            let problem = format!("in_recovery = {share}: must be from 0 to 0.9");
            return Err(Error::argument("in_recovery", problem));
        }
        Ok(())
    }
}

/// Crashes `device` under `load` as planned. `check` is called with the number
/// of power failures so far, and of all; when it errs, so does the test.
pub fn test(
    device: &Device,
    load: &Load,
    scheduler: &SchedulerSpec,
    plan: &Plan,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Report> {
    if let Some((name, kind)) = device.write_hole() {
        return Err(Error::Key(format!(
            "the array '{name}' is of kind '{kind}' and keeps no log of the writes under way: when \
             power fails, its copies or its parity may be at odds with its data (the write hole), \
             so that it promises nothing that a crash test could hold it to"
        )));
    }
    let build = || -> Result<Box<dyn Model>> {
        let (mut model, _) = device.build_keeping(scheduler)?;
        if model.contents().is_none() {
            return Err(Error::Key(format!(
                "the device '{}' keeps no contents, as it is of kind '{}': there is nothing that \
                 a crash could show",
                device.name(),
                device.kind()
            )));
        }
        Ok(model)
    };
    let promise = plan.promise.unwrap_or_else(|| device.promise());
    test_model(&build, promise, load, plan, check)
}

/// Device, plan and report of a crash test as one document.
pub fn document(
    device: &Device,
    scheduler: &SchedulerSpec,
    plan: &Plan,
    report: &Report,
) -> CrashDocument {
    CrashDocument {
        sledsim: env!("CARGO_PKG_VERSION"),
        device: device.name().to_owned(),
        scheduler: scheduler.label().to_owned(),
        promise: plan.promise.unwrap_or_else(|| device.promise()).name(),
        device_promise: device.promise().name(),
        fua: plan.fua,
        flush: plan.flush,
        in_recovery_share: plan.in_recovery,
        passed: report.passed(),
        report: report.into(),
    }
}
