//! One request of a trace.

use sledsim_base::request::Op;
use sledsim_base::units::{BLOCK_BYTES, Nanos};

/// One request of a trace, as the file has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Arrival on the clock of the file.
    pub time: Nanos,
    /// The device it went to: its number in the file, or a number of the
    /// reader's where the file has names ([`device_name`](crate::Reader::device_name)).
    pub device: u32,
    /// What it did.
    pub op: Op,
    /// First byte. `offset + bytes` is at most [`END_BYTES`].
    pub offset: u64,
    /// How many bytes: at least one, but for [`Op::Flush`], which has none.
    pub bytes: u64,
    /// From arrival to completion, as measured by whoever recorded it.
    pub response: Option<Nanos>,
    /// From this completion to the next arrival, in traces of closed loops.
    pub think: Option<Nanos>,
    /// From arrival to the start of its service, the first part of `response`,
    /// as measured.
    pub queue: Option<Nanos>,
    /// From its completion to when whoever asked saw it, in recordings.
    pub lateness: Option<Nanos>,
    /// Whether the next one of its device is of the same batch.
    pub linked: bool,
}

/// The latest time read, 285 years: what follows needs room.
pub const LATEST_NS: u64 = 9_000_000_000_000_000_000;

/// One past the last byte a trace may name.
pub const END_BYTES: u64 = 1 << 63;

impl Record {
    /// The blocks it touches, widened outward where it does not begin or end
    /// on a block: first block, and one past the last.
    #[inline]
    #[must_use]
    pub fn blocks(&self) -> (u64, u64) {
        let end = (self.offset + self.bytes).div_ceil(BLOCK_BYTES);
        (self.offset / BLOCK_BYTES, end)
    }

    /// Whether it begins and ends on blocks of 512 bytes.
    #[inline]
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        (self.offset | self.bytes).is_multiple_of(BLOCK_BYTES)
    }
}
