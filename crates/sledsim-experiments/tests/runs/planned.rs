//! Runs by the default scheduler.

use sledsim_base::error::Result;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_experiments::load::Load;
use sledsim_experiments::run::{Plan, Run, run};

pub fn tried(device: &Device, load: &Load, plan: &Plan) -> Result<Run> {
    let scheduler = SchedulerSpec::default();
    run(device, load, scheduler, plan, &mut |_| Ok(()))
}

pub fn planned(device: &Device, load: &Load, plan: &Plan) -> Run {
    tried(device, load, plan).unwrap()
}
