//! Where the bytes of an emulated device are.

mod flushes;
mod sparse;

pub use flushes::Flushes;
pub use sparse::Sparse;

use std::io;

/// The bytes of a device: what a read returns.
///
/// A store knows nothing of time. Bytes that were never written are zero.
/// Ranges lie within [`Store::bytes`]; whoever calls has seen to that.
/// Operations that overlap and are under way at once may mix; those that
/// follow each other may not.
pub trait Store: Send + Sync {
    /// How many bytes it holds.
    fn bytes(&self) -> u64;

    /// Fills `buffer` from `offset` on.
    ///
    /// # Errors
    /// What the system says.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Writes `data` from `offset` on.
    ///
    /// # Errors
    /// What the system says, such as that no space is left.
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()>;

    /// Makes bytes zero; gives their space back if `unmap`, keeps or takes it
    /// otherwise.
    ///
    /// # Errors
    /// What the system says, such as that no space is left.
    fn zero(&self, offset: u64, bytes: u64, unmap: bool) -> io::Result<()>;

    /// Makes what was written survive a crash of the machine, if the store can.
    ///
    /// # Errors
    /// What the system says.
    fn flush(&self) -> io::Result<()>;

    /// Whether [`Store::flush`] has anything to do.
    fn is_durable(&self) -> bool;

    /// From `offset` on, how many of at most `bytes` bytes are alike, one at
    /// least, and whether they are a hole: never written, or given back.
    ///
    /// # Errors
    /// What the system says.
    fn extent(&self, offset: u64, bytes: u64) -> io::Result<(u64, bool)>;

    /// How many bytes of space it takes.
    fn allocated(&self) -> u64;
}
