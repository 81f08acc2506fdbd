//! The bus: what is held and what was read crosses it.

use super::Buffered;
use crate::model::CompletionSink;
use crate::model::mechanism::{Mechanism, Step};
use crate::queueing::schedulers::Waiting;
use crate::queueing::station::SpeedMatching;
use sledsim_base::units::Nanos;

impl<M: Mechanism> Buffered<M> {
    /// All blocks of a read are held.
    pub(super) fn hit(&mut self, waiting: &Waiting, at: Nanos, sink: &mut dyn CompletionSink) {
        let mut row = self.row(waiting, at);
        row.completion = self.take_bus(row.blocks, at);
        row.parts.bus = row.completion - at;
        sink.done(&row);
        self.follow(&waiting.request);
    }

    /// The data of a write are in the buffer.
    pub(super) fn accept(&self, waiting: &Waiting, at: Nanos, sink: &mut dyn CompletionSink) {
        let mut row = self.row(waiting, at);
        if at == waiting.data_in {
            row.start = at - row.parts.bus;
        }
        sink.done(&row);
    }

    /// Read data take the bus at `at`; when the last block has crossed.
    pub(super) fn take_bus(&mut self, blocks: u32, at: Nanos) -> Nanos {
        if self.interface.bus_ns_per_block == 0.0 {
            return at;
        }
        self.bus_free = at.max(self.bus_free) + self.interface.bus(blocks);
        self.bus_free
    }

    /// The blocks of a pass that the host wants.
    fn wanted(&self, step: &Step) -> u32 {
        if step.again {
            return 0;
        }
        let Some(end) = self.wanted_end else {
            return step.blocks;
        };
        let past = (step.lbn + u64::from(step.blocks)).saturating_sub(end);
        step.blocks - past.min(u64::from(step.blocks)) as u32
    }

    /// When the blocks of a pass take the bus.
    pub(super) fn bus_at(&self, pass: usize) -> Nanos {
        let step = &self.steps[pass];
        let end = self.row.start + step.end;
        match self.buffer.speed_matching {
            SpeedMatching::None | SpeedMatching::Pass => end,
            SpeedMatching::Block => {
                let blocks = f64::from(step.blocks);
                let rest = Nanos::from_s(step.transfer_s * (blocks - 1.0) / blocks);
                Nanos(end.0 - rest.0.min(step.end.0))
            }
        }
    }

    /// The blocks of a pass of the read in service take the bus.
    pub(super) fn cross(&mut self, pass: usize, at: Nanos, sink: &mut dyn CompletionSink) {
        match self.buffer.speed_matching {
            SpeedMatching::None => {
                let blocks = self.steps.iter().map(|step| self.wanted(step)).sum();
                self.take_bus(blocks, at);
            }
            SpeedMatching::Pass => {
                self.take_bus(self.wanted(&self.steps[pass]), at);
            }
            SpeedMatching::Block if self.steps[pass].again => {}
            SpeedMatching::Block => {
                // The last block cannot cross before it has come.
                let step = &self.steps[pass];
                let last = self.row.start + step.end + self.interface.bus(1);
                self.bus_free = self.take_bus(self.wanted(step), at).max(last);
            }
        }
        if pass + 1 < self.steps.len() {
            self.reading = Some(pass + 1);
        } else {
            self.reading = None;
            self.complete(self.bus_free.max(self.mechanism_free), sink);
        }
    }

    /// Announces the completion of the request in service; what lies between
    /// the end of the media transfer and `completion` was the bus.
    pub(super) fn complete(&mut self, completion: Nanos, sink: &mut dyn CompletionSink) {
        self.row.completion = completion;
        self.row.parts.bus += completion - self.mechanism_free;
        sink.done(&self.row);
    }
}
