//! The device kind `disk`.

use super::spec::DiskSpec;
use crate::devices::kind::{DeviceKind, KindEntry};
use crate::idle_policy::PowerOn;
use crate::model::Model;
use crate::model::contents::Promise;
use crate::queueing::schedulers::Scheduler;
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// Registers the device kind `disk`.
pub const KIND: KindEntry =
    KindEntry { name: "disk", read: |keys, _| Ok(Arc::new(DiskSpec::read(keys)?)) };

impl DeviceKind for DiskSpec {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn blocks(&self) -> u64 {
        self.drive.geometry.blocks()
    }

    fn derived(&self) -> Box<dyn erased_serde::Serialize> {
        Box::new(self.derived())
    }

    fn has_positions(&self) -> bool {
        true
    }

    fn start(&self) -> PowerOn {
        self.power.map_or_else(PowerOn::default, |power| power.start)
    }

    fn startup(&self) -> Nanos {
        let power = self.power.filter(|power| power.start == PowerOn::default());
        power.map_or(Nanos::ZERO, |power| power.spin_up)
    }

    fn promise(&self, _children: &[Promise]) -> Promise {
        Promise::early(self.reports_early())
    }

    fn build(
        &self,
        name: &str,
        device: u16,
        scheduler: &dyn Fn() -> Box<dyn Scheduler>,
        _children: Vec<Box<dyn Model>>,
    ) -> Box<dyn Model> {
        self.build(name, device, scheduler())
    }
}
