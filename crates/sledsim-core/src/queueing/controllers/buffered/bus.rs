//! Transfers over the bus: blocks held by the buffer and blocks read.

use super::Buffered;
use crate::model::CompletionSink;
use crate::model::mechanism::{Mechanism, Step};
use crate::queueing::controllers::SpeedMatching;
use crate::queueing::schedulers::Waiting;
use sledsim_base::units::Nanos;

impl<M: Mechanism> Buffered<M> {
    /// Completes a read whose blocks are all held.
    pub(super) fn complete_hit(
        &mut self,
        waiting: &Waiting,
        at: Nanos,
        sink: &mut dyn CompletionSink,
    ) {
        let mut row = self.row_at(waiting, at);
        row.completion = self.take_bus(row.id, row.blocks, at);
        row.parts.bus = row.completion - at;
        self.read_hits += 1;
        sink.done(&row);
        self.follow_read(&waiting.request);
    }

    /// Completes a write whose data are in the buffer.
    pub(super) fn complete_write_back(
        &self,
        waiting: &Waiting,
        at: Nanos,
        sink: &mut dyn CompletionSink,
    ) {
        let mut row = self.row_at(waiting, at);
        if at == waiting.data_in {
            row.start = at - row.parts.bus;
        }
        sink.done(&row);
    }

    /// Transfers data of read `id` from `at` on; returns when the last block has crossed
    /// the bus.
    pub(super) fn take_bus(&mut self, id: u64, blocks: u32, at: Nanos) -> Nanos {
        if self.interface.bus_ns_per_block == 0.0 {
            return at;
        }
        let bus = self.interface.bus(blocks);
        self.bus_busy.add(id, bus);
        self.bus_free = at.max(self.bus_free) + bus;
        self.bus_free
    }

    /// How many blocks of a pass the host requested.
    fn requested_blocks(&self, step: &Step) -> u32 {
        if step.again {
            return 0;
        }
        let Some(end) = self.requested_end else {
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
    pub(super) fn transfer_pass(&mut self, pass: usize, at: Nanos, sink: &mut dyn CompletionSink) {
        match self.buffer.speed_matching {
            SpeedMatching::None => {
                let blocks = self.steps.iter().map(|step| self.requested_blocks(step)).sum();
                self.take_bus(self.row.id, blocks, at);
            }
            SpeedMatching::Pass => {
                self.take_bus(self.row.id, self.requested_blocks(&self.steps[pass]), at);
            }
            SpeedMatching::Block if self.steps[pass].again => {}
            SpeedMatching::Block => {
                // The last block cannot cross before it has been read.
                let step = &self.steps[pass];
                let last = self.row.start + step.end + self.interface.bus(1);
                self.bus_free =
                    self.take_bus(self.row.id, self.requested_blocks(step), at).max(last);
            }
        }
        if pass + 1 < self.steps.len() {
            self.reading = Some(pass + 1);
        } else {
            self.reading = None;
            self.complete(self.bus_free.max(self.mechanism_free), sink);
        }
    }

    /// Announces the completion of the request in service; the time from the end of
    /// the media transfer to `completion` is bus time.
    pub(super) fn complete(&mut self, completion: Nanos, sink: &mut dyn CompletionSink) {
        self.row.completion = completion;
        self.row.parts.bus += completion - self.mechanism_free;
        sink.done(&self.row);
    }
}
