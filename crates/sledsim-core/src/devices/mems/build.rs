//! Builds the model of a MEMS device: the sled, with faults and tasks, in a station.

use super::power::TipsPowered;
use super::sled::Sled;
use super::spec::Mems;
use crate::devices::mems::background_drain::BackgroundDrain;
use crate::devices::mems::faults::{Faulty, TipFeed};
use crate::devices::mems::parallel::free_bandwidth::{BackgroundTasks, FreeTips};
use crate::model::Model;
use crate::model::mechanism::Mechanism;
use crate::queueing::controllers::{Buffered, Station};
use crate::queueing::schedulers::Scheduler;
use std::sync::Arc;

impl Mems {
    /// Builds the device as a model whose unused tips serve background tasks.
    pub fn build(
        &self,
        name: &str,
        device: u16,
        scheduler: Box<dyn Scheduler>,
        background: Option<BackgroundTasks>,
    ) -> Box<dyn Model> {
        self.build_telling(name, device, scheduler, background, None)
    }

    /// As [`Mems::build`]; if the device has faults, its model reports what happens to the
    /// tips to `feed`.
    pub fn build_telling(
        &self,
        name: &str,
        device: u16,
        scheduler: Box<dyn Scheduler>,
        background: Option<BackgroundTasks>,
        feed: Option<Arc<TipFeed>>,
    ) -> Box<dyn Model> {
        let motion = self.motion();
        let row_s = motion.row_s();
        let sled = Sled::new(motion, self.behaviour).with_parallel(self.parallel.clone());
        let power = &self.behaviour.power;
        let tips_j = |tips: u32| match power.tips_powered {
            TipsPowered::Used => 1e-3 * power.tip_mw * f64::from(tips) * row_s,
            TipsPowered::All => 0.0, // all tips are powered anyway
        };
        let block_j = tips_j(self.geometry.tips_per_lbn);
        let build = Build { spec: self, name, device, scheduler, background };
        match &self.faults {
            None => build.with_tasks(sled, block_j),
            Some(faults) => {
                let ecc_j = tips_j(faults.ecc_tips);
                let sled = Faulty::telling(sled, self.geometry, faults, ecc_j, feed);
                build.with_tasks(sled, block_j)
            }
        }
    }
}

struct Build<'a> {
    spec: &'a Mems,
    name: &'a str,
    device: u16,
    scheduler: Box<dyn Scheduler>,
    background: Option<BackgroundTasks>,
}

impl Build<'_> {
    /// Puts the mechanism with its background tasks into a station. A block that a task
    /// accesses takes `block_j`.
    fn with_tasks<M: Mechanism + 'static>(mut self, mechanism: M, block_j: f64) -> Box<dyn Model> {
        let Some(background) = self.background.take() else {
            return self.around(mechanism);
        };
        let has_tail = background.has_tail();
        let model = self.around(FreeTips::new(mechanism, background, block_j));
        if has_tail { Box::new(BackgroundDrain::new(model)) } else { model }
    }

    /// Puts a mechanism into a station.
    fn around<M: Mechanism + 'static>(self, mechanism: M) -> Box<dyn Model> {
        let (name, device, interface) = (self.name, self.device, self.spec.interface);
        let scheduler = self.scheduler;
        match self.spec.buffer {
            None => Box::new(
                Station::new(name, device, mechanism, scheduler, interface)
                    .with_batching(self.spec.batching),
            ),
            Some(buffer) => {
                Box::new(Buffered::new(name, device, mechanism, scheduler, interface, buffer))
            }
        }
    }
}
