//! What a table lies on.
//!
//! Contract of every [`Medium`]:
//! - Requests reach the device in the order in which they were handed over. One
//!   may be handed over before the one before is complete, if
//!   [`Medium::wait`] was not called in between.
//! - [`Medium::pages`] are what the host knows of the device: blocks that were
//!   read are there after [`Medium::wait`], until [`Medium::took`]. A write
//!   brings what is there when it is handed over; so a host that keeps a part of
//!   a block has read it before.
//! - When a request failed, [`Medium::submit`] or [`Medium::wait`] says so, and
//!   nothing is under way after `wait`. Of a write that failed each block holds
//!   what it held or what was to be written. What follows may succeed.

use super::store::Store;
use sledsim_base::error::Result;
use sledsim_base::request::{Extent, Op};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::catalog::Device;

/// What a call took.
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
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.blocks * BLOCK_BYTES
    }
}

/// What a table lies on: a device, and the host's way to it. See the contract at
/// the head of this file.
pub trait Medium: Send {
    /// The device: where its blocks lie under the tips.
    fn device(&self) -> &Device;

    /// What is known of its blocks.
    fn pages(&self) -> &Store;

    /// The same, for what is to be written.
    fn pages_mut(&mut self) -> &mut Store;

    /// Whether the pages are the device's own bytes: what is put there is there,
    /// and stays, without a request.
    fn is_simulated(&self) -> bool;

    /// Hands a read or write over, a batch if it has several extents.
    ///
    /// # Errors
    /// A request that failed, this one or one before.
    fn submit(&mut self, op: Op, extents: &[Extent]) -> Result<()>;

    /// Waits until all that was handed over is complete.
    ///
    /// # Errors
    /// A request that failed.
    fn wait(&mut self) -> Result<()>;

    /// What it took since this was asked last. Pages may be forgotten.
    fn took(&mut self) -> Cost;

    /// Time of the device from the making of the medium, or its last
    /// [`Medium::restart`], to the end of the last request, or until when it
    /// idled.
    fn clock(&self) -> Nanos;

    /// Its clock begins anew.
    fn restart(&mut self);

    /// Lets time of the device pass.
    fn idle(&mut self, time: Nanos);
}
