//! A sled whose unused tips serve background tasks.

use super::{BackgroundTasks, Used};
use crate::model::Background;
use crate::model::Energy;
use crate::model::mechanism::{Bounds, Mechanism, PassKind, Passes, Service, Span, Start, Step};
use crate::model::media_writes::BlockOrder;
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
        for square in self.inner.struck() {
            self.background.struck(square);
        }
        if !request.flags.contains(Flags::BACKGROUND) {
            self.background.request_begins();
        }
        for (pass, step) in steps[from..].iter().enumerate() {
            // Blocks of a repeated pass count once.
            if step.kind != PassKind::First || self.inner.has_failed(at) {
                continue;
            }
            let used = Used {
                cylinder: step.cylinder,
                lbn: step.lbn,
                lbns: self.inner.blocks_of(pass),
                blocks: step.blocks,
                op: request.op,
                for_task: request.flags.contains(Flags::FOR_TASK),
            };
            self.background.pass(at + step.end, &used);
            self.inner.mend(self.background.read());
        }
        service
    }
}

impl<M: Mechanism> Mechanism for FreeTips<M> {
    fn blocks(&self) -> u64 {
        self.inner.blocks()
    }

    fn estimate(&self, at: Nanos, request: &Request) -> Nanos {
        self.inner.estimate(at, request)
    }

    fn start_of(&self, request: &Request) -> Start {
        self.inner.start_of(request)
    }

    fn estimate_within(&self, at: Nanos, request: &Request, start: &Start, limit: Nanos) -> Nanos {
        self.inner.estimate_within(at, request, start, limit)
    }

    fn access(&mut self, at: Nanos, request: &Request, passes: &mut Passes, row: &mut Row) {
        passes.add_from(|steps| self.serve_in_full(at, request, steps)).set(row);
    }

    fn target_cylinder(&self, request: &Request) -> i64 {
        self.inner.target_cylinder(request)
    }

    fn cylinder(&self, at: Nanos) -> i64 {
        self.inner.cylinder(at)
    }

    fn seek_lower_bound(&self, at: Nanos, cylinder: i64) -> Nanos {
        self.inner.seek_lower_bound(at, cylinder)
    }

    fn bounds(&self, at: Nanos) -> Option<Bounds<'_>> {
        self.inner.bounds(at)
    }

    fn end_of(&self, lbn: u64, span: Span) -> u64 {
        self.inner.end_of(lbn, span)
    }

    fn blocks_of(&self, pass: usize) -> &[u64] {
        self.inner.blocks_of(pass)
    }

    fn block_order(&self) -> BlockOrder {
        self.inner.block_order()
    }

    fn background(&self) -> Option<&dyn Background> {
        Some(&self.background)
    }

    fn mend(&mut self, lbns: &[u64]) {
        self.inner.mend(lbns);
    }

    fn struck(&mut self) -> Vec<u32> {
        self.inner.struck()
    }

    fn reseek(&mut self, step: &Step) -> (Nanos, f64) {
        self.inner.reseek(step)
    }

    fn lost_blocks(&self) -> &[u64] {
        self.inner.lost_blocks()
    }

    fn has_failed(&self, at: Nanos) -> bool {
        self.inner.has_failed(at)
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
