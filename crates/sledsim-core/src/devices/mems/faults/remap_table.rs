//! Blocks moved to spare cylinders, as disks remap sectors.
//!
//! The last cylinders hold no blocks of their own. When a tip fails, the blocks of its
//! square move there: the blocks of one sled position, over all tracks, lie together,
//! in the order of cylinder and row. A block with a defect moves there alone. A spare
//! position is used once; a moved block may move again.

use crate::devices::mems::geometry::{Geometry, Location};
use sledsim_base::request::{Extents, Request, append};
use sledsim_base::units::Nanos;

/// The new location of the blocks of a square.
#[derive(Clone, Debug)]
struct Region {
    /// Applies to requests that arrived later; to all, if zero.
    since: Nanos,
    first_cylinder: u32,
    /// Squares without a failed tip at that time.
    good: Vec<u32>,
}

/// Maps blocks to their physical addresses.
#[derive(Clone, Debug)]
pub struct RemapTable {
    geometry: Geometry,
    /// The first spare cylinder, and the first that is free.
    first_cylinder: u32,
    free_cylinder: u32,
    /// Moved squares, by square.
    regions: Vec<Option<Region>>,
    moved: u64,
    /// Blocks with a defect and their new addresses, in order.
    single: Vec<(u64, u64)>,
}

impl RemapTable {
    /// Creates an empty map with the last `spare_cylinders` of `geometry` free.
    pub fn new(geometry: Geometry, spare_cylinders: u32) -> Self {
        let first_cylinder = geometry.cylinders - spare_cylinders;
        Self {
            geometry,
            first_cylinder,
            free_cylinder: first_cylinder,
            regions: vec![None; geometry.squares() as usize],
            moved: 0,
            single: Vec::new(),
        }
    }

    /// Number of logical blocks.
    pub fn blocks(&self) -> u64 {
        u64::from(self.first_cylinder) * self.geometry.blocks_per_cylinder()
    }

    /// Whether nothing has moved.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.moved == 0 && self.single.is_empty()
    }

    /// Number of blocks that have moved.
    pub fn moved(&self) -> u64 {
        self.moved + self.single.len() as u64
    }

    /// Whether the blocks of a square have moved.
    pub fn has_moved(&self, square: u32) -> bool {
        self.regions[square as usize].is_some()
    }

    /// Squares whose blocks have not moved.
    fn good(&self) -> Vec<u32> {
        let squares = 0..self.geometry.squares();
        squares.filter(|square| !self.has_moved(*square)).collect()
    }

    /// Takes cylinders for `places` sled positions; returns the first of them.
    fn take(&mut self, places: u64) -> Option<u32> {
        let cylinders = places.div_ceil(u64::from(self.geometry.rows));
        let left = u64::from(self.geometry.cylinders - self.free_cylinder);
        if cylinders > left {
            return None;
        }
        let first = self.free_cylinder;
        self.free_cylinder += cylinders as u32;
        Some(first)
    }

    /// Moves the blocks of `square`, for requests that arrive after `since` (for all,
    /// if zero). Returns `false` if there is no room.
    pub fn move_square(&mut self, square: u32, since: Nanos) -> bool {
        if self.has_moved(square) {
            return true;
        }
        let mut good = self.good();
        good.retain(|other| *other != square);
        let blocks = u64::from(self.geometry.cylinders) * u64::from(self.geometry.rows);
        if good.is_empty() {
            return false;
        }
        let Some(first_cylinder) = self.take(blocks.div_ceil(good.len() as u64)) else {
            return false;
        };
        self.regions[square as usize] = Some(Region { since, first_cylinder, good });
        self.moved += blocks;
        true
    }

    /// Moves the blocks at `lbns`, in order, for all requests. Returns `false`, with
    /// nothing moved, if there is no room. Called at most once, before the first
    /// request.
    pub fn move_blocks(&mut self, lbns: &[u64]) -> bool {
        let good = self.good();
        let Some(first) = self.take((lbns.len() as u64).div_ceil(good.len().max(1) as u64)) else {
            return false;
        };
        let place = |index: usize| self.place(first, &good, index as u64);
        let moved =
            (lbns.iter().enumerate()).filter_map(|(index, lbn)| Some((*lbn, place(index)?)));
        self.single = moved.collect();
        true
    }

    /// The spare block number `index`, from a cylinder on, over the `good` squares.
    fn place(&self, first_cylinder: u32, good: &[u32], index: u64) -> Option<u64> {
        let (place, square) = (index / good.len() as u64, index % good.len() as u64);
        let square = good[square as usize];
        let rows = u64::from(self.geometry.rows);
        self.geometry.lbn(&Location {
            cylinder: first_cylinder + (place / rows) as u32,
            track: square / self.geometry.blocks_per_row,
            row: (place % rows) as u32,
            cell: square % self.geometry.blocks_per_row,
        })
    }

    /// The physical address of block `lbn` for a request that arrived at `arrival`.
    /// Calls `visit` with each square on the way, the final one last.
    pub fn find(&self, mut lbn: u64, arrival: Nanos, mut visit: impl FnMut(u32)) -> u64 {
        loop {
            let place = self.geometry.locate(lbn);
            let square = place.track * self.geometry.blocks_per_row + place.cell;
            visit(square);
            let region = self.regions[square as usize].as_ref();
            let region = region.filter(|r| r.since == Nanos::ZERO || arrival > r.since);
            let next = match region {
                Some(region) => {
                    let rows = u64::from(self.geometry.rows);
                    let index = u64::from(place.cylinder) * rows + u64::from(place.row);
                    self.place(region.first_cylinder, &region.good, index)
                }
                None => (self.single.binary_search_by_key(&lbn, |(from, _)| *from).ok())
                    .map(|index| self.single[index].1),
            };
            match next {
                Some(next) => lbn = next,
                None => return lbn,
            }
        }
    }

    /// Sets `physical` to `request` with physical addresses, moved blocks last, and
    /// `moved` to these as (physical, logical).
    pub fn translate(
        &self,
        request: &Request,
        physical: &mut Request,
        moved: &mut Vec<(u64, u64)>,
    ) {
        let mut extents = Extents::new();
        std::mem::swap(&mut extents, &mut physical.extents);
        extents.clear();
        moved.clear();
        for lbn in sledsim_base::request::lbns(&request.extents) {
            let place = self.find(lbn, request.arrival, |_| ());
            if place == lbn {
                append(&mut extents, place, 1);
            } else {
                moved.push((place, lbn));
            }
        }
        for (place, _) in &*moved {
            append(&mut extents, *place, 1);
        }
        moved.sort_unstable();
        *physical = Request {
            extents,
            ..Request {
                extents: Extents::new(),
                id: request.id,
                parent: request.parent,
                arrival: request.arrival,
                op: request.op,
                flags: request.flags,
                stream: request.stream,
            }
        };
    }
}
