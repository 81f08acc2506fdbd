//! The kind `mwb` of devices.

use super::{Mwb, MwbSpec};
use crate::devices::kind::{Children, DeviceKind, KindEntry, pair, read_pair};
use crate::model::Model;
use crate::model::contents::Promise;
use crate::queueing::schedulers::Scheduler;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use std::sync::Arc;

/// Its registration.
pub const KIND: KindEntry = KindEntry { name: "mwb", read };

#[derive(Clone, Debug)]
struct MwbKind {
    spec: MwbSpec,
    blocks: u64,
}

fn read(keys: &mut Keys, children: &mut dyn Children) -> Result<Arc<dyn DeviceKind>> {
    let (front, back) = read_pair(keys, children)?;
    Ok(Arc::new(MwbKind {
        spec: MwbSpec::read(keys, front.blocks, back.blocks)?,
        blocks: back.blocks,
    }))
}

impl DeviceKind for MwbKind {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn derived(&self) -> Box<dyn erased_serde::Serialize> {
        Box::new(self.spec.derived(self.blocks))
    }

    fn promise(&self, _children: &[Promise]) -> Promise {
        Promise::Completion
    }

    fn build(
        &self,
        name: &str,
        device: u16,
        _scheduler: &dyn Fn() -> Box<dyn Scheduler>,
        children: Vec<Box<dyn Model>>,
    ) -> Box<dyn Model> {
        let (front, back) = pair(children);
        Box::new(Mwb::new(name, device, self.spec, front, back))
    }
}
