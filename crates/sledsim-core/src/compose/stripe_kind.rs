//! The kinds `stripe` and `raid0` of devices.

use super::Stripe;
use crate::devices::kind::{Children, DeviceKind, KindEntry, table};
use crate::idle_policy::PowerOn;
use crate::model::Model;
use crate::model::contents::Promise;
use crate::queueing::schedulers::Scheduler;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use std::sync::Arc;

/// The registration of a stripe.
pub const STRIPE: KindEntry = KindEntry { name: "stripe", read };

/// Its other name.
pub const RAID0: KindEntry = KindEntry { name: "raid0", read };

#[derive(Clone, Copy, Debug)]
struct StripeKind {
    unit_blocks: u64,
    blocks: u64,
}

fn read(keys: &mut Keys, all: &mut dyn Children) -> Result<Arc<dyn DeviceKind>> {
    let children = keys.u32("children", 1..=1000)?;
    let unit_blocks = keys.u64("unit_blocks", 1..=1 << 30)?;
    let child = table(keys, "child")?;
    let first = all.add("child0", child.clone())?;
    let in_turn =
        keys.opt_choice("start", &[("together", None), ("in_turn", Some(first.start))])?;
    if in_turn.flatten().is_some_and(|start| start == PowerOn::default()) {
        let must = "\"in_turn\" must come with [child.power] starts = \"off\"";
        return Err(keys.refuse("start", must));
    }
    for index in 1..children {
        let mut child = child.clone();
        if let Some(start) = in_turn.flatten() {
            let on_at_ms = start.in_turn(index).ms();
            child.set("power.on_at_ms", on_at_ms.into(), "start = \"in_turn\"")?;
        }
        all.add(&format!("child{index}"), child)?;
    }
    if first.blocks < unit_blocks {
        let must = format!("must be at most the {} blocks of the child", first.blocks);
        return Err(keys.refuse("unit_blocks", must));
    }
    Ok(Arc::new(StripeKind {
        unit_blocks,
        blocks: Stripe::blocks_over(first.blocks, unit_blocks, children as usize),
    }))
}

impl DeviceKind for StripeKind {
    fn kind(&self) -> &'static str {
        STRIPE.name
    }

    fn blocks(&self) -> u64 {
        self.blocks
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
        Box::new(Stripe::new(name, device, children, self.unit_blocks))
    }
}
