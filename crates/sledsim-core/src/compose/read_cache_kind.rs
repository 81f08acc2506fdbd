//! The kind `read_cache` of devices.

use super::ReadCache;
use crate::devices::kind::{Children, DeviceKind, KindEntry, pair, read_pair};
use crate::model::Model;
use crate::model::contents::Promise;
use crate::queueing::schedulers::Scheduler;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use std::sync::Arc;

/// The largest front: its directory takes 1.6 GB.
const MAX_FRONT_BLOCKS: u64 = 1 << 26;

/// Its registration.
pub const KIND: KindEntry = KindEntry { name: "read_cache", read };

#[derive(Clone, Copy, Debug)]
struct ReadCacheKind {
    blocks: u64,
}

fn read(keys: &mut Keys, children: &mut dyn Children) -> Result<Arc<dyn DeviceKind>> {
    let (front, back) = read_pair(keys, children)?;
    if front.blocks > MAX_FRONT_BLOCKS {
        let must = format!("must offer at most {MAX_FRONT_BLOCKS} blocks");
        return Err(keys.refuse("front", must));
    }
    Ok(Arc::new(ReadCacheKind { blocks: back.blocks }))
}

impl DeviceKind for ReadCacheKind {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn promise(&self, children: &[Promise]) -> Promise {
        // The contents of the back survive.
        children[1]
    }

    fn build(
        &self,
        name: &str,
        device: u16,
        _scheduler: &dyn Fn() -> Box<dyn Scheduler>,
        children: Vec<Box<dyn Model>>,
    ) -> Box<dyn Model> {
        let (front, back) = pair(children);
        Box::new(ReadCache::new(name, device, front, back))
    }
}
