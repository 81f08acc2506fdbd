//! One request of a trace.

use sledsim_base::request::Op;
use sledsim_base::units::{BLOCK_BYTES, Nanos};

/// One request of a trace, as the file has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The arrival on the clock of the file.
    pub time: Nanos,
    /// The device: its number in the file, or the number that the reader gave
    /// to its name ([`device_name`](crate::Reader::device_name)).
    pub device: u32,
    /// The operation.
    pub op: Op,
    /// First byte. `offset + bytes` is at most [`END_BYTES`].
    pub offset: u64,
    /// The number of bytes: at least one, except 0 for [`Op::Flush`].
    pub bytes: u64,
    /// From arrival to completion, as measured during the recording.
    pub response: Option<Nanos>,
    /// From this completion to the next arrival, in traces of closed loops.
    pub think: Option<Nanos>,
    /// From arrival to the start of its service, the first part of `response`,
    /// as measured.
    pub queue: Option<Nanos>,
    /// From completion to its delivery to the caller, in recordings.
    pub lateness: Option<Nanos>,
    /// Whether the next request of the device belongs to the same batch.
    pub linked: bool,
}

/// The latest time accepted: 285 years, half the range of [`Nanos`].
pub const LATEST_NS: u64 = 9_000_000_000_000_000_000;

/// One past the last byte that a trace may address.
pub const END_BYTES: u64 = 1 << 63;

impl Record {
    /// The first block it touches, and one past the last; partial blocks
    /// count.
    #[inline]
    pub fn blocks(&self) -> (u64, u64) {
        let end = (self.offset + self.bytes).div_ceil(BLOCK_BYTES);
        (self.offset / BLOCK_BYTES, end)
    }

    /// Whether it begins and ends on blocks of 512 bytes.
    #[inline]
    pub fn is_aligned(&self) -> bool {
        (self.offset | self.bytes).is_multiple_of(BLOCK_BYTES)
    }
}
