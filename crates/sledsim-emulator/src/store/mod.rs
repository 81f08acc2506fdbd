//! The bytes of an emulated device.
//!
//! * `sparse`: a sparse file, in memory or on disk.
//! * `layered`: changes over a base, with blocks that cannot be read.
//! * `tips`: the tip sectors of a sled whose tips fail.
//! * `flushes`: flushes of a store, with the memory of failures.

mod flushes;
mod layered;
mod sparse;
mod tips;

pub use flushes::Flushes;
pub use layered::Layered;
pub use sparse::Sparse;
pub use tips::TipStore;

use serde_json::Value;
use sledsim_base::units::BLOCK_BYTES;
use std::io;
use std::ops::Range;

/// The blocks that `bytes` bytes from `offset` on touch.
pub(crate) fn blocks_of(offset: u64, bytes: u64) -> Range<u64> {
    offset / BLOCK_BYTES..(offset + bytes).div_ceil(BLOCK_BYTES)
}

/// The bytes of a device: what a read returns.
///
/// A store has no times. Bytes that were never written are zero. Ranges lie within
/// [`Store::bytes`]; the caller checks that. Concurrent operations on overlapping
/// ranges may mix; consecutive ones may not.
pub trait Store: Send + Sync {
    /// Number of bytes.
    fn bytes(&self) -> u64;

    /// Fills `buffer` from `offset` on.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Writes `data` from `offset` on.
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()>;

    /// Zeroes bytes; deallocates their space if `unmap`, otherwise keeps or allocates
    /// it.
    fn zero(&self, offset: u64, bytes: u64, unmap: bool) -> io::Result<()>;

    /// Makes written data survive a crash of the machine, if the store can.
    fn flush(&self) -> io::Result<()>;

    /// Whether [`Store::flush`] has any effect.
    fn is_durable(&self) -> bool;

    /// The number of bytes, at most `bytes` and at least one, from `offset` on in the
    /// same state, and whether they are a hole: never written, or deallocated.
    fn extent(&self, offset: u64, bytes: u64) -> io::Result<(u64, bool)>;

    /// Allocated space in bytes.
    fn allocated(&self) -> u64;

    /// Completes what stays, after the last request and before the last flush.
    fn close(&self) -> io::Result<()> {
        Ok(())
    }

    /// What has failed of the medium, if it can fail.
    fn faults(&self) -> Option<Value> {
        None
    }
}
