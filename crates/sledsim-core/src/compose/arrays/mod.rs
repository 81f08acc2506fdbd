//! Arrays: devices with redundancy, so that no data are lost when one of them
//! fails.
//!
//! `array` serves the requests, locks conflicting ones, detects failed children
//! and rebuilds them on spares. A `Level`, one file each, defines the data
//! layout:
//!
//! - Every block has a slot and an address there; a slot is a child, or the
//!   spare that has replaced it.
//! - A read goes to the block's slot, or reconstructs the block from the other
//!   slots.
//! - A write names the blocks to read before it, and the blocks to write.
//! - With more slots missing than the level tolerates, only requests that need
//!   lost blocks fail.
//!
//! RAID 0 is a [`crate::compose::Stripe`], which has no redundancy.
//!
//! Modules in reading order:
//! - `spec`: the keys of an array;
//! - `repair`: the keys of failures and rebuilds;
//! - `kind`: the kinds `raid1`, `raid5`, `raid6` and `raid10` of devices;
//! - `members`: the child in each slot, and the addresses valid there;
//! - `plan`: the planned accesses of a step, merged slot by slot;
//! - `reads`: which copy a read goes to;
//! - `raid1`: mirrors;
//! - `raid10`: stripes over pairs of mirrors;
//! - `stripes`: where the data and the parity of stripes are;
//! - `gf256`: the arithmetic of Q on tokens;
//! - `parity`: rotated parity, of RAID 5 and RAID 6;
//! - `locks`: range locks of jobs;
//! - `array`: requests, failures, rebuilds, and contents for tests of power failures.

mod spec;

mod repair;

pub mod kind;

mod members;

mod plan;

mod reads;

mod raid1;

mod raid10;

mod stripes;

mod gf256;

mod parity;

mod locks;

mod array;

pub use spec::ArraySpec;

use crate::compose::Children;
use members::Members;
use plan::Plan;
use sledsim_base::request::{Extent, Request};
use sledsim_base::units::Nanos;
use std::collections::BTreeMap;

/// Tokens by slot and address.
pub(crate) type TokenMap = BTreeMap<(usize, u64), u64>;

/// Looks tokens up in a map.
pub(crate) fn tokens_of(map: &TokenMap) -> impl FnMut(usize, u64) -> Option<u64> + '_ {
    |slot, address| map.get(&(slot, address)).copied()
}

/// The token of a lost block; no write uses it.
pub(crate) const LOST: u64 = u64::MAX;

/// The error when too many slots are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost;

/// The state that a level may use to plan a read.
pub(crate) struct View<'a> {
    pub(crate) members: &'a Members,
    pub(crate) children: &'a Children,
    pub(crate) at: Nanos,
    pub(crate) request: &'a Request,
}

/// How the parity of the stripes of a write is computed, each stripe counted
/// once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParityWriteCounts {
    /// From the old parity and the old data.
    pub(crate) rmw: u64,
    /// From the unchanged data.
    pub(crate) reconstruct: u64,
    /// From the new data alone.
    pub(crate) full: u64,
}

/// The data layout of an array.
pub(crate) trait Level: Send {
    /// Logical blocks of the array.
    fn blocks(&self) -> u64;

    /// Blocks used of every child.
    fn child_blocks(&self) -> u64;

    /// The lock range of a request for these blocks: start, end.
    fn lock_range(&self, extent: Extent) -> (u64, u64);

    /// The lock range for addresses of a slot.
    fn lock_range_at(&self, slot: usize, from: u64, to: u64) -> (u64, u64);

    /// Whether writes maintain parity. If so, trims are not sent to children, as
    /// the contents of a trimmed block are undefined.
    fn has_parity(&self) -> bool;

    /// Plans a read; returns how many of its blocks must be reconstructed from
    /// other slots.
    fn read(&mut self, view: &View<'_>, plan: &mut Plan) -> Result<u64, Lost>;

    /// Plans the reads that must precede a write of these blocks: none without parity.
    fn before_write(
        &mut self,
        extents: &[Extent],
        members: &Members,
        plan: &mut Plan,
    ) -> Result<ParityWriteCounts, Lost> {
        let _ = (extents, members, plan);
        Ok(ParityWriteCounts::default())
    }

    /// Plans the writes for these blocks.
    fn write(&mut self, extents: &[Extent], members: &Members, plan: &mut Plan)
    -> Result<(), Lost>;

    /// Plans the reads to rebuild `slot` between two addresses.
    fn rebuild(
        &mut self,
        slot: usize,
        from: u64,
        to: u64,
        members: &Members,
        plan: &mut Plan,
    ) -> Result<(), Lost>;

    /// How many logical blocks are lost.
    fn lost(&self, members: &Members) -> u64;

    /// The slot and the address of a logical block; of several copies the first.
    fn place(&self, lbn: u64) -> (usize, u64);

    /// The token at a slot and address, or the token reconstructed from others:
    /// `known` returns the tokens that can be read.
    fn recover(
        &self,
        slot: usize,
        address: u64,
        known: &mut dyn FnMut(usize, u64) -> Option<u64>,
    ) -> Option<u64>;

    /// The token to write to a slot and address when `new` overwrites `old`.
    fn written(&self, slot: usize, address: u64, new: &TokenMap, old: &TokenMap) -> Option<u64>;
}
