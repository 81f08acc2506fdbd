//! What waits for what: for slots, for room in the buffer, for the back.

use super::jobs::{Piece, Placed};
use sledsim_base::units::Nanos;
use std::collections::VecDeque;

/// Operations that want slots, first come, first served.
#[derive(Default)]
pub(super) struct SlotQueue {
    pub(super) ops: VecDeque<u32>,
    /// The segments for which they lack a slot.
    pub(super) lacking: VecDeque<u64>,
    /// How many slots are on their way.
    pub(super) coming: usize,
}

/// Room in the segment buffer.
pub(super) struct Buffer {
    /// Operations that want some.
    pub(super) ops: VecDeque<u32>,
    pub(super) free_blocks: u64,
}

/// Operations whose data may stay in the buffer for a while.
#[derive(Default)]
pub(super) struct LateWrites {
    /// The oldest first.
    pub(super) ops: VecDeque<u32>,
    /// How many are on their way to the back.
    pub(super) busy: u32,
    /// How many pieces wait for any.
    pub(super) awaited: u32,
}

/// Requests to the back that are no cleaning.
#[derive(Default)]
pub(super) struct BackLoad {
    pub(super) busy: u32,
    /// When the last was done.
    pub(super) free_at: Nanos,
}

impl BackLoad {
    /// A request is complete at `at`.
    pub(super) fn done(&mut self, at: Nanos) {
        self.busy -= 1;
        self.free_at = at;
    }
}

/// A host request while it is taken apart.
#[derive(Default)]
pub(super) struct Arriving {
    /// Pieces that go to the front.
    pub(super) ready: Vec<Placed>,
    /// Pieces that are passed on to the back.
    pub(super) passed: Vec<Piece>,
    /// The operation that it began last.
    pub(super) newest: Option<u32>,
}

/// What may go on.
#[derive(Default)]
pub(super) struct Resumed {
    pub(super) pieces: VecDeque<Piece>,
    /// Host requests of which a piece was served by the buffer.
    pub(super) served: VecDeque<u32>,
}
