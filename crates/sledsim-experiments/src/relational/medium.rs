//! The medium of a table: a device, and the host's access to it.
//!
//! Contract of every [`Medium`]:
//! - Requests reach the device in the order in which they were handed over. One
//!   may be handed over before the one before is complete, if
//!   [`Medium::wait`] was not called in between.
//! - [`Medium::pages`] is the host's copy of the device: blocks that were read
//!   are in it from [`Medium::wait`] until [`Medium::took`]. A write stores the
//!   pages as they are at submission; so a host that changes part of a block
//!   must have read it before.
//! - [`Medium::submit`] or [`Medium::wait`] returns the error of a request that
//!   failed, and no request is outstanding after `wait`. After a failed write
//!   each block holds the old or the new data. Later requests may succeed.

use super::store::Store;
use sledsim_base::error::Result;
use sledsim_base::request::{Extent, Op};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::catalog::Device;

/// The cost of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Time of the device from the arrival of the first request to the end of
    /// the last.
    pub time: Nanos,
    /// Blocks of 512 bytes that were read and written.
    pub blocks: u64,
    /// Requests.
    pub requests: u64,
}

impl Cost {
    /// Bytes that were read and written.
    pub fn bytes(&self) -> u64 {
        self.blocks * BLOCK_BYTES
    }
}

/// The medium of a table: a device, and the host's access to it. See the
/// contract at the head of this file.
pub trait Medium: Send {
    /// The device, which determines where blocks lie under the tips.
    fn device(&self) -> &Device;

    /// The host's copy of its blocks.
    fn pages(&self) -> &Store;

    /// The same, to be changed before writes.
    fn pages_mut(&mut self) -> &mut Store;

    /// Whether the pages are the device's own bytes, so that changes need no
    /// request.
    fn is_simulated(&self) -> bool;

    /// Submits a read or write, a batch if it has several extents.
    ///
    /// # Errors
    /// A request that failed, this one or one before.
    fn submit(&mut self, op: Op, extents: &[Extent]) -> Result<()>;

    /// Waits for all submitted requests.
    ///
    /// # Errors
    /// A request that failed.
    fn wait(&mut self) -> Result<()>;

    /// The cost since the last call. Pages may be dropped.
    fn took(&mut self) -> Cost;

    /// Time of the device from the making of the medium, or its last
    /// [`Medium::restart`], to the end of the last request, or until when it
    /// idled.
    fn clock(&self) -> Nanos;

    /// Restarts its clock at zero.
    fn restart(&mut self);

    /// Lets time of the device pass.
    fn idle(&mut self, time: Nanos);
}
