//! Scans: a working set read from front to back, again and again.

use super::extents::{ExtentSpec, Extents};
use super::{PlaceEntry, PlaceKind, Places, Region, Slots};
use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: PlaceEntry = PlaceEntry {
    name: "scan",
    read: |keys, _| Ok(Arc::new(ScanSpec::read(keys)?)),
};

/// `set_mib`, `extent_kib` and `scans`.
///
/// A scan reads extent after extent; a request that would cross the end of an
/// extent ends there, and the next one begins the next extent. Scan i of n
/// begins i/n into the set. Each in turn reads an extent, in an order that is
/// drawn anew each round.
#[derive(Clone, Copy, Debug)]
struct ScanSpec {
    extents: ExtentSpec,
    scans: u32,
}

impl ScanSpec {
    fn read(keys: &mut Keys) -> Result<Self> {
        Ok(Self {
            extents: ExtentSpec::read(keys, 128.0)?,
            scans: keys.opt_u32("scans", 1..=100_000)?.unwrap_or(1),
        })
    }
}

impl PlaceKind for ScanSpec {
    fn to_json(&self, facts: &mut Value) {
        self.extents.to_json(facts);
        facts["scans"] = json!(self.scans);
    }

    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>> {
        let Region {
            slots,
            blocking,
            stream,
            keys,
        } = *region;
        let extents = self.extents.start(slots, blocking, keys)?;
        let n = u64::from(self.scans);
        if n > extents.count {
            let problem = format!("must be at most the {} extents of the set", extents.count);
            return Err(keys.refuse("scans", problem));
        }
        let start = |i: u64| extents.count * i / n;
        Ok(Box::new(Scan {
            extents,
            at: (0..n).map(|i| (start(i), i as u32)).collect(),
            turn: 0,
            done: 0,
            turns: stream("turn"),
        }))
    }
}

#[derive(Clone, Debug)]
struct Scan {
    extents: Extents,
    /// The extents the scans are at, in the order of this round, with the
    /// numbers of the scans.
    at: Vec<(u64, u32)>,
    turn: usize,
    /// Slots of the extent that are read.
    done: u64,
    turns: Stream,
}

impl Places for Scan {
    /// The slot, how many slots there are, and the scan.
    #[inline]
    fn next(&mut self, units: u64) -> Slots {
        let (extent, scan) = self.at[self.turn];
        let slot = self.extents.first(extent) + self.done;
        let units = units.min(self.extents.length - self.done);
        self.done += units;
        if self.done == self.extents.length {
            self.done = 0;
            self.at[self.turn].0 = (extent + 1) % self.extents.count;
            self.turn += 1;
            if self.turn == self.at.len() {
                self.turn = 0;
                self.shuffle();
            }
        }
        Slots {
            slot,
            units,
            stream: scan,
        }
    }
}

impl Scan {
    /// Fisher and Yates.
    fn shuffle(&mut self) {
        for last in (1..self.at.len()).rev() {
            let other = self.turns.below(last as u64 + 1) as usize;
            self.at.swap(last, other);
        }
    }
}
