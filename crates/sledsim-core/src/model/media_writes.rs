//! Writes as they reach the media: which blocks, and during which time.

use super::mechanism::{BlockOrder, Mechanism, PassKind, Step};
use sledsim_base::request::{Extent, Request};
use sledsim_base::units::Nanos;
use std::sync::{Arc, Mutex, PoisonError};

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
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(write);
    }

    /// Appends the passes of the service of `request` that began at `at`, those that
    /// write.
    pub(crate) fn push_passes<M: Mechanism>(
        &self,
        at: Nanos,
        source: Option<u64>,
        request: &Request,
        steps: &[Step],
        mechanism: &M,
    ) {
        for (pass, whole) in passes(at, source, steps, mechanism.media().block_order()) {
            match mechanism.media().blocks_of(pass) {
                [] if steps.len() == 1 && whole.extent.blocks == request.blocks() => {
                    self.push_in_turn(&whole, &request.extents);
                }
                [] => self.push(whole),
                lbns => {
                    for run in lbns.chunk_by(|a, b| a + 1 == *b) {
                        let extent = run_of(run);
                        self.push(MediaWrite { extent, ..whole });
                    }
                }
            }
        }
    }

    /// Appends the passes of a planned batch that began at `at`, without the blocks that are
    /// read: `write_of` returns the write that has a block.
    pub(crate) fn push_batch<M: Mechanism>(
        &self,
        at: Nanos,
        steps: &[Step],
        mechanism: &M,
        write_of: impl Fn(u64) -> Option<u64>,
    ) {
        for (pass, whole) in passes(at, None, steps, mechanism.media().block_order()) {
            let lbns = mechanism.media().blocks_of(pass);
            for run in lbns.chunk_by(|a, b| a + 1 == *b && write_of(*a) == write_of(*b)) {
                let source = write_of(run[0]);
                if source.is_some() {
                    let extent = run_of(run);
                    self.push(MediaWrite { source, extent, ..whole });
                }
            }
        }
    }

    /// Appends a pass over several extents.
    fn push_in_turn(&self, whole: &MediaWrite, extents: &[Extent]) {
        let all = u64::from(whole.extent.blocks);
        let time = |blocks: u64| Nanos((whole.end - whole.start).0 * blocks / all);
        let mut before = 0;
        for &extent in extents {
            let (first, last) = match whole.order {
                BlockOrder::Together => (0, all),
                BlockOrder::InTurn => (before, before + u64::from(extent.blocks)),
            };
            self.push(MediaWrite {
                extent,
                start: whole.start + time(first),
                end: whole.start + time(last),
                ..*whole
            });
            before += u64::from(extent.blocks);
        }
    }

    /// Takes all writes.
    pub(crate) fn take(&self, into: &mut Vec<MediaWrite>) {
        into.clear();
        std::mem::swap(into, &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Consecutive blocks as an extent.
fn run_of(lbns: &[u64]) -> Extent {
    Extent { lbn: lbns[0], blocks: lbns.len() as u32 }
}

/// The passes of a service that began at `at` and transfer blocks, each with its number.
fn passes(
    at: Nanos,
    source: Option<u64>,
    steps: &[Step],
    order: BlockOrder,
) -> impl Iterator<Item = (usize, MediaWrite)> {
    let transfers = (steps.iter().enumerate())
        .filter(|(_, step)| step.kind != PassKind::Verify && step.blocks > 0);
    transfers.map(move |(pass, step)| {
        let end = at + step.end;
        let whole = MediaWrite {
            source,
            extent: Extent { lbn: step.lbn, blocks: step.blocks },
            start: end - Nanos::from_s(step.transfer_s).min(step.end),
            end,
            order,
        };
        (pass, whole)
    })
}
