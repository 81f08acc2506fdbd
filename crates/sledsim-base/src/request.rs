//! Requests: reads, writes, flushes and trims of logical blocks.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// The operation of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Op {
    /// Media to host.
    #[default]
    Read,
    /// Host to media.
    Write,
    /// Make completed writes durable; carries no extents.
    Flush,
    /// Discard: the content of the blocks is no longer needed.
    Trim,
}

impl Op {
    /// All operations, in the order of their Arrow dictionary.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Flush, Self::Trim];

    /// The name used in rows and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Trim => "trim",
        }
    }

    /// Whether the operation moves data to or from the media.
    #[inline]
    pub fn moves_data(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

/// The first id of work of a device's own: destaging, filling a cache, rebuilding. The
/// requests that this work needs inside the device have such ids, too, at every level.
pub const OWN_WORK: u64 = 1 << 63;

/// The parent of requests of a device's own work.
pub const NO_REQUEST: u64 = u64::MAX;

/// Id and parent of the inner request `number` of a device: for its request `of`, or for
/// work of its own. `number` is below [`OWN_WORK`].
#[inline]
pub fn inner_id(number: u64, of: Option<u64>) -> (u64, Option<u64>) {
    let parent = of.unwrap_or(NO_REQUEST);
    (number | (parent & OWN_WORK), Some(parent))
}

bitflags::bitflags! {
    /// Marks on a request.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Flags: u8 {
        /// Force unit access: complete only when durable.
        const FUA = 1;
        /// Background work, served only where it delays no foreground request.
        const BACKGROUND = 1 << 1;
        /// More requests of the same batch follow on this stream; the one without
        /// the mark ends it (CMU-CS-03-125, section 3.4: the Link bit of SCSI).
        const LINKED = 1 << 2;
        /// The extents are one batch: a single command with a scatter-gather list,
        /// which a sled with batch support serves in the fewest passes.
        const GATHERED = 1 << 3;
        /// Issued by a background task on unused tips.
        const FOR_TASK = 1 << 4;
    }
}

impl Flags {
    /// These marks if `is`, else none.
    #[inline]
    pub fn when(self, is: bool) -> Self {
        if is { self } else { Self::empty() }
    }
}

/// A contiguous range of logical blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// First logical block number.
    pub lbn: u64,
    /// The number of 512-byte blocks; at least one.
    pub blocks: u32,
}

impl Extent {
    /// One past the last block.
    #[inline]
    pub fn end(self) -> u64 {
        self.lbn + u64::from(self.blocks)
    }
}

/// The extents of a request: one inline, several (a batch) on the heap.
pub type Extents = SmallVec<[Extent; 1]>;

/// Every block of `extents`, in their order.
#[inline]
pub fn lbns(extents: &[Extent]) -> impl Iterator<Item = u64> + '_ {
    extents.iter().flat_map(|extent| extent.lbn..extent.end())
}

/// The number of blocks in all `extents` together.
#[inline]
pub fn blocks_in(extents: &[Extent]) -> u32 {
    extents.iter().map(|extent| extent.blocks).sum()
}

/// Appends blocks to `extents`, extending the last one if it ends at `lbn`.
#[inline]
pub fn append(extents: &mut Extents, lbn: u64, blocks: u32) {
    match extents.last_mut() {
        Some(last) if last.end() == lbn => last.blocks += blocks,
        _ => extents.push(Extent { lbn, blocks }),
    }
}

/// One request, as it arrives at a device model (`sledsim_core::model::Model`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Unique among the requests submitted to one model.
    pub id: u64,
    /// The request of the enclosing composite that this one serves, if any.
    pub parent: Option<u64>,
    /// The time of arrival.
    pub arrival: Nanos,
    /// The operation.
    pub op: Op,
    /// Marks.
    pub flags: Flags,
    /// The stream (thread, process, trace device) it came from.
    pub stream: u32,
    /// The blocks. Empty only for [`Op::Flush`].
    pub extents: Extents,
}

/// Requests are copied from queue to queue.
const _: () = assert!(size_of::<Request>() <= 64);

impl Request {
    /// A request of one extent with no marks, from stream 0.
    pub fn new(id: u64, arrival: Nanos, op: Op, lbn: u64, blocks: u32) -> Self {
        Self::of_extent(id, arrival, op, 0, Extent { lbn, blocks })
    }

    /// A request of one extent with no marks.
    #[inline(always)] // built where it stays: a copy of fields just written waits for them
    pub fn of_extent(id: u64, arrival: Nanos, op: Op, stream: u32, extent: Extent) -> Self {
        Self {
            id,
            parent: None,
            arrival,
            op,
            flags: Flags::empty(),
            stream,
            extents: SmallVec::from_buf([extent]),
        }
    }

    /// The first logical block (0 if there is no extent).
    #[inline]
    pub fn lbn(&self) -> u64 {
        self.extents.first().map_or(0, |e| e.lbn)
    }

    /// Blocks in all extents together.
    #[inline]
    pub fn blocks(&self) -> u32 {
        match &self.extents[..] {
            [extent] => extent.blocks,
            extents => blocks_in(extents),
        }
    }
}
