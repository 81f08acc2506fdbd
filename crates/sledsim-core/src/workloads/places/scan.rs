//! Scans: a working set read in long runs, by one reader or several.

use super::extents::{ExtentSpec, Extents};
use super::{PlaceEntry, PlaceKind, Places, Region, Slots};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::Stream;
use sledsim_base::units::BLOCK_BYTES;
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: PlaceEntry =
    PlaceEntry { name: "scan", read: |keys, _| Ok(Arc::new(ScanSpec::read(keys)?)) };

/// `set_mib`, `extent_kib`, `scans`, `turn_kib` and `order`.
///
/// A scan reads extent after extent; a request that would cross the end of an
/// extent is cut there, and the next one begins the next extent, or one chosen
/// uniformly. Scan i of n begins at i/n of the set. The scans take turns: after
/// `turn_kib`, where the request is cut, too, or at the end of an extent, another
/// of them, chosen uniformly, goes on where it was.
///
/// All requests are one stream: a disk is not told which scan asks.
#[derive(Clone, Copy, Debug, Serialize)]
struct ScanSpec {
    #[serde(flatten)]
    extents: ExtentSpec,
    scans: u32,
    turn_kib: f64,
    order: Order,
}

/// Which extent follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// The next one of the set.
    InOrder,
    /// Any.
    Random,
}

const ORDERS: [(&str, Order); 2] = [("in_order", Order::InOrder), ("random", Order::Random)];

impl ScanSpec {
    fn read(keys: &mut Keys) -> Result<Self> {
        let extents = ExtentSpec::read(keys, 128.0)?;
        let turn_kib = keys.opt_f64("turn_kib", Range::above(0.0).at_most(extents.extent_kib))?;
        Ok(Self {
            extents,
            scans: keys.opt_u32("scans", 1..=100_000)?.unwrap_or(1),
            turn_kib: turn_kib.unwrap_or(extents.extent_kib),
            order: (keys.opt_choice("order", &ORDERS)?).unwrap_or(Order::InOrder),
        })
    }
}

impl PlaceKind for ScanSpec {
    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>> {
        let Region { slots, blocking, stream, keys } = *region;
        let extents = self.extents.start(slots, blocking, keys)?;
        let n = u64::from(self.scans);
        if n > extents.count {
            let problem = format!("must be at most the {} extents of the set", extents.count);
            return Err(keys.refuse("scans", problem));
        }
        let turn = self.turn_kib * 1024.0 / (blocking * BLOCK_BYTES) as f64;
        if libm::floor(turn) != turn {
            return Err(keys.refuse("turn_kib", "must be a multiple of blocking"));
        }
        Ok(Box::new(Scan {
            extents,
            at: (0..n).map(|i| (extents.count * i / n, 0)).collect(),
            turn: 0,
            longest: turn as u64,
            left: turn as u64,
            turns: stream("turn"),
            jumps: (self.order == Order::Random).then(|| stream("extent")),
        }))
    }
}

#[derive(Clone, Debug)]
struct Scan {
    extents: Extents,
    /// The extent of each scan, and how many slots of it are read.
    at: Vec<(u64, u64)>,
    turn: usize,
    /// Slots of a turn, and those left of this one.
    longest: u64,
    left: u64,
    turns: Stream,
    /// Draws extents; without it they come in order.
    jumps: Option<Stream>,
}

impl Places for Scan {
    /// Returns the slot, and how many slots fit.
    #[inline]
    fn next(&mut self, units: u64) -> Slots {
        let (extent, done) = self.at[self.turn];
        let slot = self.extents.first(extent) + done;
        let units = units.min(self.left).min(self.extents.length - done);
        self.left -= units;
        self.at[self.turn].1 += units;
        let ended = done + units == self.extents.length;
        if ended {
            let next = match &mut self.jumps {
                Some(jumps) => jumps.below(self.extents.count),
                None => (extent + 1) % self.extents.count,
            };
            self.at[self.turn] = (next, 0);
        }
        if ended || self.left == 0 {
            self.left = self.longest;
            let others = self.at.len() - 1;
            if others > 0 {
                let step = 1 + self.turns.below(others as u64) as usize;
                self.turn = (self.turn + step) % self.at.len();
            }
        }
        Slots::whole(slot, units)
    }
}
