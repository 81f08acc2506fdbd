//! The kind `actuators` of devices: a disk with several arms.

use super::Stripe;
use crate::devices::disk::controller::BusTimes;
use crate::devices::disk::power::DiskPower;
use crate::devices::disk::spec::DiskSpec;
use crate::devices::kind::{Children, DeviceKind, KindEntry, table};
use crate::idle_policy::PowerPolicySpec;
use crate::model::Model;
use crate::model::contents::Promise;
use crate::queueing::schedulers::Scheduler;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// The registration of disks with several arms.
pub const KIND: KindEntry = KindEntry { name: "actuators", read };

/// Disks on one spindle and one bus, whose LBNs follow one another: a stripe whose unit is
/// all of a disk.
#[derive(Clone, Copy, Debug)]
struct Actuators {
    actuators: u32,
    blocks_each: u64,
    bus: BusTimes,
}

fn read(keys: &mut Keys, all: &mut dyn Children) -> Result<Arc<dyn DeviceKind>> {
    let actuators = keys.u32("actuators", 2..=16)?;
    let mut child = table(keys, "child")?;
    let first = all.add("actuator0", child.clone())?;
    let kind: &dyn Any = &*first.kind;
    let Some(disk) = kind.downcast_ref::<DiskSpec>() else {
        let must = "must be a disk (kind \"disk\") without [child.controller_cache]";
        return Err(keys.refuse("child", must));
    };
    if let Some(power) = &disk.power {
        share_spindle(power, &mut child)?;
    }
    for index in 1..actuators {
        all.add(&format!("actuator{index}"), child.clone())?;
    }
    Ok(Arc::new(Actuators { actuators, blocks_each: first.blocks, bus: disk.settings.bus }))
}

/// Takes from the power of an arm what its spindle draws, which is counted with the first.
fn share_spindle(power: &DiskPower, child: &mut Keys) -> Result<()> {
    if power.policy != PowerPolicySpec::Never {
        let must = "must be \"never\": the arms share a spindle, which none of them can stop";
        return Err(child.refuse("power.policy", must));
    }
    let works = [("seek_w", power.seek_w), ("transfer_w", power.transfer_w)];
    for (key, watts) in works {
        if watts < power.idle_w {
            let must = format!("must be at least idle_w, the {} W of the spindle", power.idle_w);
            return Err(child.refuse(&format!("power.{key}"), must));
        }
    }
    let rest = works.map(|(key, watts)| (key, watts - power.idle_w));
    let none = ["idle_w", "standby_w", "spin_up_w"].map(|key| (key, 0.0));
    for (key, watts) in rest.into_iter().chain(none) {
        child.set(&format!("power.{key}"), watts.into(), "shared spindle")?;
    }
    Ok(())
}

impl DeviceKind for Actuators {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn blocks(&self) -> u64 {
        self.blocks_each * u64::from(self.actuators)
    }

    fn ranges(&self) -> Vec<Range<u64>> {
        let firsts = (0..u64::from(self.actuators)).map(|index| index * self.blocks_each);
        firsts.map(|first| first..first + self.blocks_each).collect()
    }

    fn promise(&self, children: &[Promise]) -> Promise {
        Promise::of_all(children)
    }

    fn build(
        &self,
        name: &str,
        device: u16,
        _scheduler: &dyn Fn() -> Box<dyn Scheduler>,
        children: Vec<Box<dyn Model>>,
    ) -> Box<dyn Model> {
        Box::new(Stripe::new(name, device, children, self.blocks_each).on_bus(self.bus))
    }
}
