//! The division of the front: logs, summaries, addresses.

use crate::compose::hybrids::placement::Placement;

/// Extents that one block can list after its 32 bytes of numbers and checksum:
/// 8 bytes each, of which 6 for the LBN and 15 bits for the blocks.
const EXTENTS_PER_BLOCK: u64 = (512 - 32) / 8;
/// Blocks of a log for each block of its summary.
const BLOCKS_PER_SUMMARY_BLOCK: u64 = 256;

/// The logs on the front.
///
/// Logs are numbered from 0 in the order in which they are begun, without
/// bound; log n occupies place n modulo the number of places. The *address* of
/// a block is n times the blocks of a log plus its offset in the log: it
/// identifies the place, and the larger of two addresses was written later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    placement: Placement,
    log_blocks: u64,
}

impl Shape {
    /// `log_blocks` is [`Shape::least_log_blocks`] or more.
    pub(super) fn new(placement: Placement, log_blocks: u64) -> Self {
        Self { placement, log_blocks }
    }

    /// The least blocks of a log of about this size: its summary, and a header with
    /// a block of data.
    pub(super) fn least_log_blocks(log_blocks: u64) -> u64 {
        summary_blocks(log_blocks) + 2
    }

    /// Places for logs.
    pub(super) fn logs(&self) -> u64 {
        self.placement.units
    }

    /// Blocks of a log.
    pub(super) fn log_blocks(&self) -> u64 {
        self.log_blocks
    }

    /// Blocks of the summary, which come first.
    pub(super) fn summary_blocks(&self) -> u64 {
        summary_blocks(self.log_blocks)
    }

    /// The most extents in a summary.
    pub(super) fn extents(&self) -> u64 {
        EXTENTS_PER_BLOCK * self.summary_blocks()
    }

    /// The most extents in the header of a record.
    pub(super) fn record_extents(&self) -> u64 {
        EXTENTS_PER_BLOCK
    }

    /// The address of the first block of `log`.
    pub(super) fn start(&self, log: u64) -> u64 {
        log * self.log_blocks
    }

    /// The log that `address` lies in.
    pub(super) fn log(&self, address: u64) -> u64 {
        address / self.log_blocks
    }

    /// The LBN on the front of `address`.
    pub(super) fn front(&self, address: u64) -> u64 {
        let place = self.log(address) % self.logs();
        self.placement.lbn(place) + address % self.log_blocks
    }
}

fn summary_blocks(log_blocks: u64) -> u64 {
    log_blocks.div_ceil(BLOCKS_PER_SUMMARY_BLOCK)
}
