//! A sled whose unused tips serve background tasks.

use super::{BackgroundTasks, Used};
use crate::model::mechanism::{Mechanism, Media, PassKind, Passes, Positions, Service, Step, Tips};
use crate::model::{Background, BatchPlanner, Energy};
use sledsim_base::request::{Flags, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// A mechanism that serves requests as the inner one does and gives the unused tips of
/// its passes to background tasks. It serves no batches, in one pass of which some
/// blocks may be read and others written.
#[derive(Clone, Debug)]
pub struct FreeTips<M> {
    inner: M,
    background: BackgroundTasks,
    /// Energy of a block that a task reads or writes, in J.
    block_j: f64,
}

impl<M> FreeTips<M> {
    /// Adds tasks to a mechanism; a block that they access takes `block_j`.
    pub fn new(inner: M, background: BackgroundTasks, block_j: f64) -> Self {
        Self { inner, background, block_j }
    }
}

impl<M: Mechanism> FreeTips<M> {
    /// As [`Mechanism::serve`].
    fn serve_in_full(&mut self, at: Nanos, request: &Request, steps: &mut Vec<Step>) -> Service {
        let from = steps.len();
        let service = self.inner.serve(at, request, steps);
        if let Some(tips) = self.inner.tips() {
            tips.struck().into_iter().for_each(|square| self.background.struck(square));
        }
        if !request.flags.contains(Flags::BACKGROUND) {
            self.background.request_begins();
        }
        for (pass, step) in steps[from..].iter().enumerate() {
            // Blocks of a repeated pass count once.
            if step.kind != PassKind::First || self.inner.media().has_failed(at) {
                continue;
            }
            let used = Used {
                cylinder: step.cylinder,
                lbn: step.lbn,
                lbns: self.inner.media().blocks_of(pass),
                blocks: step.blocks,
                op: request.op,
                for_task: request.flags.contains(Flags::FOR_TASK),
            };
            self.background.pass(at + step.end, &used);
            if let Some(tips) = self.inner.tips() {
                tips.mend(self.background.read());
            }
        }
        service
    }
}

impl<M: Mechanism> Mechanism for FreeTips<M> {
    fn positions(&self) -> &dyn Positions {
        self.inner.positions()
    }

    fn media(&self) -> &dyn Media {
        self.inner.media()
    }

    fn tips(&mut self) -> Option<&mut dyn Tips> {
        self.inner.tips()
    }

    fn batches(&self) -> Option<&dyn BatchPlanner> {
        None
    }

    fn pass_by(&mut self, lbn: u64) {
        self.inner.pass_by(lbn);
    }

    fn access(&mut self, at: Nanos, request: &Request, passes: &mut Passes, row: &mut Row) {
        passes.add_from(|steps| self.serve_in_full(at, request, steps)).set(row);
    }

    fn background(&self) -> Option<&dyn Background> {
        Some(&self.background)
    }

    fn rest(&mut self, at: Nanos) -> bool {
        self.inner.rest(at)
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        self.inner.counts()
    }

    fn energy(&self, until: Nanos) -> Option<Energy> {
        Some(Energy {
            background_j: self.block_j * self.background.accessed() as f64,
            ..self.inner.energy(until)?
        })
    }
}
