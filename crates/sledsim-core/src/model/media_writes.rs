//! Writes as they reach the media: which blocks, and during which time.

use super::mechanism::{Mechanism, PassKind, Step};
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;
use std::sync::{Arc, Mutex, PoisonError};

/// The order in which the blocks of a pass are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockOrder {
    /// All at the same time, as by the tips of a sled.
    Together,
    /// One after the other, evenly spaced, as under the head of a disk.
    InTurn,
}

/// A run of blocks that a device writes to its media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaWrite {
    /// The request whose data are written. `None`: the data that the device holds for
    /// these blocks, or that of the waiting request with these blocks.
    pub source: Option<u64>,
    /// The blocks.
    pub extent: Extent,
    /// When the media begin to change.
    pub start: Nanos,
    /// When the last block is written.
    pub end: Nanos,
    /// The order of the blocks.
    pub order: BlockOrder,
}

/// The media writes that a device has announced and its observer has not taken yet.
///
/// A device that was given one appends each write to its media when it decides on it,
/// for each block in the order in which they happen, and before it announces the
/// completion of the request.
#[derive(Clone, Debug, Default)]
pub struct MediaWrites(Arc<Mutex<Vec<MediaWrite>>>);

impl MediaWrites {
    /// Appends a write.
    pub fn push(&self, write: MediaWrite) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(write);
    }

    /// Appends the passes of a service that began at `at`, those that write.
    pub(crate) fn push_passes<M: Mechanism>(
        &self,
        at: Nanos,
        source: Option<u64>,
        steps: &[Step],
        mechanism: &M,
        order: BlockOrder,
    ) {
        for (pass, step) in steps.iter().enumerate() {
            if step.kind == PassKind::Verify || step.blocks == 0 {
                continue;
            }
            let end = at + step.end;
            let start = end - Nanos::from_s(step.transfer_s).min(step.end);
            let push = |lbn, blocks| {
                let extent = Extent { lbn, blocks };
                self.push(MediaWrite {
                    source,
                    extent,
                    start,
                    end,
                    order,
                });
            };
            match mechanism.blocks_of(pass) {
                [] => push(step.lbn, step.blocks),
                lbns => {
                    for run in lbns.chunk_by(|a, b| a + 1 == *b) {
                        push(run[0], run.len() as u32);
                    }
                }
            }
        }
    }

    /// Takes all writes.
    pub(crate) fn take(&self, into: &mut Vec<MediaWrite>) {
        into.clear();
        std::mem::swap(
            into,
            &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner),
        );
    }
}
