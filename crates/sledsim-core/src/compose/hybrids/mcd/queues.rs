//! Queues for slots, for room in the buffer, and for the back.

use super::jobs::{Piece, Placed};
use sledsim_base::units::Nanos;
use std::collections::VecDeque;

/// Operations that wait for slots, first come, first served.
#[derive(Default)]
pub(super) struct SlotQueue {
    pub(super) ops: VecDeque<usize>,
    /// The segments that still need a slot.
    pub(super) need_slot: VecDeque<u64>,
    /// How many slots are being freed.
    pub(super) being_freed: usize,
}

/// Room in the segment buffer.
pub(super) struct Buffer {
    /// Operations that wait for room.
    pub(super) ops: VecDeque<usize>,
    pub(super) free_blocks: u64,
}

/// Operations whose writes to the back are deferred.
#[derive(Default)]
pub(super) struct DeferredWrites {
    /// The oldest first.
    pub(super) ops: VecDeque<usize>,
    /// How many deferred writes are under way.
    pub(super) busy: u32,
    /// How many pieces wait for a deferred write.
    pub(super) waiting_pieces: u32,
}

/// Requests to the back other than cleaning.
#[derive(Default)]
pub(super) struct BackLoad {
    pub(super) busy: u32,
    /// When the last was done.
    pub(super) free_at: Nanos,
}

impl BackLoad {
    /// Counts a request that completed at `at`.
    pub(super) fn done(&mut self, at: Nanos) {
        self.busy -= 1;
        self.free_at = at;
    }
}

/// A host request while it is divided into pieces.
#[derive(Default)]
pub(super) struct Arriving {
    /// Pieces that go to the front.
    pub(super) ready: Vec<Placed>,
    /// Pieces that bypass the front.
    pub(super) bypassing: Vec<Piece>,
    /// The operation started last for it.
    pub(super) newest: Option<usize>,
}

/// Pieces and requests that can proceed.
#[derive(Default)]
pub(super) struct Resumed {
    pub(super) pieces: Vec<Piece>,
    /// Host requests of which a piece was served by the buffer.
    pub(super) served_requests: Vec<usize>,
}
