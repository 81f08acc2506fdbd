//! Remapped sectors: grown defects whose blocks moved to a spare area.
//!
//! The spare area of a zone is taken to be its last sectors, the last one first, under every
//! scheme of sparing, also where blocks lie there. Only the way there is modelled: blocks
//! keep their number, and [`Geometry`] still tells their old place.

use crate::devices::disk::geometry::Geometry;
use sledsim_base::random::{Permutation, Stream};

/// A remapped sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remapped {
    /// Its block.
    pub lbn: u64,
    /// The block at whose place the spare sector is.
    pub spare: u64,
}

/// Draws `count` different sectors, in the order of LBNs.
pub fn draw(geometry: &Geometry, count: u32, seed: u64) -> Vec<Remapped> {
    let mut stream = Stream::new(seed, "remapped sectors of a disk");
    let order = Permutation::new(geometry.blocks(), &mut stream);
    let mut lbns: Vec<u64> = (0..u64::from(count)).map(|index| order.at(index)).collect();
    lbns.sort_unstable();
    let (mut zone, mut free) = (usize::MAX, 0);
    let place = |lbn| {
        let own = geometry.find(lbn).0.zone() as usize;
        if own != zone {
            (zone, free) = (own, geometry.start_of_zone(own + 1));
        }
        free = free.saturating_sub(1).max(geometry.start_of_zone(own));
        Remapped { lbn, spare: free }
    };
    lbns.into_iter().map(place).collect()
}
