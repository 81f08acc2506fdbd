//! The tier of MCD with memory for its front, as the cache of a controller.

use super::{Controller, ControllerEntry};
use crate::compose::hybrids::mcd::McdSpec;
use crate::compose::hybrids::mcd::kind::McdKind;
use crate::devices::memory::Memory;
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: ControllerEntry = ControllerEntry {
    name: "tier",
    read: |keys, blocks| {
        let (spec, front_blocks) = McdSpec::read_controller(keys, blocks)?;
        let memory = Memory {
            blocks: front_blocks,
            latency: spec.buffer_latency,
            block_time: spec.buffer_block_time,
            battery: keys.opt_bool("battery")?.unwrap_or(true),
        };
        Ok(Controller { kind: Arc::new(McdKind { spec, blocks }), memory: Some(memory) })
    },
};
