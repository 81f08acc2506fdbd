//! Arrays: devices that stand in for each other, so that the loss of one of
//! them loses nothing.
//!
//! `array.rs` takes the requests, holds what is under way together, notices that
//! children fail, and rebuilds them onto spares. What goes where is a `Level`, one
//! file each:
//!
//! - every block has a place, a slot and an address there; a slot is a child, or
//!   the spare that has taken its place;
//! - a read is found where it is, or in what the other slots hold of it;
//! - a write names what has to be read before it, and what is written then;
//! - with more slots missing than the level can spare, a request that needs
//!   what is gone is lost, and nothing else is.
//!
//! RAID 0 is a [`crate::compose::Stripe`], which has nothing to spare.

mod array;
mod contents;
pub mod kind;
mod locks;
mod members;
mod plan;
mod raid1;
mod raid5;
mod spec;

pub use spec::ArraySpec;

use crate::compose::Children;
use contents::TokenMap;
use members::Members;
use plan::Plan;
use sledsim_base::request::{Extent, Request};
use sledsim_base::units::Nanos;

/// Too many slots are missing for this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost;

/// What a level may look at when a read comes.
pub(crate) struct View<'a> {
    pub(crate) members: &'a Members,
    pub(crate) children: &'a Children,
    pub(crate) at: Nanos,
    pub(crate) request: &'a Request,
}

/// How the parity of the stripes of a write comes about, each stripe counted
/// once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParityWriteCounts {
    /// From the old parity and the old data.
    pub(crate) rmw: u64,
    /// From the data that stay.
    pub(crate) reconstruct: u64,
    /// From the new data alone.
    pub(crate) full: u64,
}

/// What goes where in an array.
pub(crate) trait Level: Send {
    /// Logical blocks of the whole.
    fn blocks(&self) -> u64;

    /// Blocks used of every child.
    fn child_blocks(&self) -> u64;

    /// What a request of these blocks shares with others: from, to.
    fn held(&self, extent: Extent) -> (u64, u64);

    /// The same for addresses of the children.
    fn held_at(&self, from: u64, to: u64) -> (u64, u64);

    /// Whether a write has to keep a parity right. Then children hear of no trims,
    /// as nobody says what a trimmed block holds.
    fn has_parity(&self) -> bool;

    /// Where the blocks of a read are; tells how many of them have to be made of
    /// others.
    fn read(&mut self, view: &View<'_>, plan: &mut Plan) -> Result<u64, Lost>;

    /// What has to be read before these blocks are written.
    fn before_write(
        &mut self,
        extents: &[Extent],
        members: &Members,
        plan: &mut Plan,
    ) -> Result<ParityWriteCounts, Lost>;

    /// What is written for these blocks.
    fn write(&mut self, extents: &[Extent], members: &Members, plan: &mut Plan)
    -> Result<(), Lost>;

    /// What has to be read to write `slot` anew, from an address to another.
    fn rebuild(
        &mut self,
        slot: usize,
        from: u64,
        to: u64,
        members: &Members,
        plan: &mut Plan,
    ) -> Result<(), Lost>;

    /// How many logical blocks are gone from one address to another, with these
    /// slots missing.
    fn lost(&self, from: u64, to: u64, missing: u64) -> u64;

    /// The slot and the address of a logical block.
    fn place(&self, lbn: u64) -> (usize, u64);

    /// The token at a place by what is known of it and others.
    fn recover(&self, slot: usize, address: u64, known: &TokenMap) -> Option<u64>;

    /// The token to be written to a place, of a write of `new` over `old`.
    fn written(&self, slot: usize, address: u64, new: &TokenMap, old: &TokenMap) -> Option<u64>;
}
