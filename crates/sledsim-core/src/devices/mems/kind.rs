//! The device kind `mems`.

use super::faults::TipFeed;
use super::parallel::free_bandwidth::{BackgroundTasks, TaskSpec};
use super::spec::Mems;
use crate::devices::kind::{DeviceKind, KindEntry};
use crate::idle_policy::PowerOn;
use crate::model::Model;
use crate::model::contents::Promise;
use crate::model::torn_blocks::Tearing;
use crate::queueing::controllers::Batching;
use crate::queueing::schedulers::Scheduler;
use sledsim_base::error::{Error, Result};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::sync::Arc;

/// A MEMS device with its background tasks.
#[derive(Clone, Debug)]
pub struct SledKind {
    /// The device.
    pub spec: Mems,
    /// Background tasks in their initial state.
    pub background: Option<BackgroundTasks>,
    /// Receives what happens to the tips of each model built.
    pub feed: Option<Arc<TipFeed>>,
}

/// Registers the device kind `mems`.
pub const KIND: KindEntry = KindEntry {
    name: "mems",
    read: |keys, _| {
        Ok(Arc::new(SledKind { spec: Mems::read(keys)?, background: None, feed: None }))
    },
};

impl SledKind {
    /// Returns the device, called `name`, with background tasks in order of precedence.
    ///
    /// # Errors
    /// A device whose other settings exclude background tasks, or a task larger than
    /// the device.
    pub fn with_background(&self, name: &str, tasks: &[TaskSpec]) -> Result<Self> {
        let spec = &self.spec;
        spec.whole(name, "background")?;
        let background = BackgroundTasks::new(spec.parallel.clone(), tasks)?;
        if background.has_tail() && spec.buffer.is_some() {
            return Err(Error::Key(format!(
                "background tail: reads blocks from the media, and '{name}' has a buffer that \
                 might serve them; a tail needs a device without [buffer]"
            )));
        }
        if matches!(spec.batching, Batching::Window(_) | Batching::Adjacent) {
            return Err(Error::Key(format!(
                "background: '{name}' groups commands ([batching] kind = \"window\" or \
                 \"adjacent\"), and tasks use the free tips of single requests only; they need kind = \
                 \"explicit\" or \"none\""
            )));
        }
        Ok(Self { spec: spec.clone(), background: Some(background), feed: self.feed.clone() })
    }
}

impl DeviceKind for SledKind {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn blocks(&self) -> u64 {
        self.spec.blocks()
    }

    fn derived(&self) -> Box<dyn erased_serde::Serialize> {
        Box::new(self.spec.derived())
    }

    fn has_positions(&self) -> bool {
        true
    }

    fn start(&self) -> PowerOn {
        self.spec.behaviour.start
    }

    /// The code of a tip sector, ten bits for a byte in the papers, detects a mixture,
    /// unless `[faults]` has none.
    fn tearing(&self) -> Tearing {
        let geometry = &self.spec.geometry;
        let data_bits = 8 * BLOCK_BYTES as u32 / geometry.tips_per_lbn;
        let sector_bits = geometry.row_bits - geometry.servo_bits;
        let faults = self.spec.faults.as_ref();
        Tearing::TipSectors {
            servo_bits: geometry.servo_bits,
            sector_bits,
            data_bits,
            detects: sector_bits > data_bits && faults.is_none_or(|faults| faults.vertical_check),
        }
    }

    fn hold_up(&self) -> Nanos {
        self.spec.hold_up
    }

    fn startup(&self) -> Nanos {
        match self.start() == PowerOn::default() {
            true => Nanos::from_s(self.spec.behaviour.startup_s),
            false => Nanos::ZERO,
        }
    }

    fn promise(&self, _children: &[Promise]) -> Promise {
        let writes_back = (self.spec.buffer).is_some_and(|buffer| buffer.write_back_segments > 0);
        Promise::early(writes_back)
    }

    fn build(
        &self,
        name: &str,
        device: u16,
        scheduler: &dyn Fn() -> Box<dyn Scheduler>,
        _children: Vec<Box<dyn Model>>,
    ) -> Box<dyn Model> {
        let (background, feed) = (self.background.clone(), self.feed.clone());
        (self.spec).build_telling(name, device, scheduler(), background, feed)
    }
}
