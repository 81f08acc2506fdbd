//! Scans: a working set read from start to end repeatedly.

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
/// extent is cut there, and the next one begins the next extent. Scan i of n
/// begins at i/n of the set. The scans take turns to read an extent, in a new
/// random order each round.
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
    fn add_to(&self, facts: &mut Value) {
        self.extents.add_to(facts);
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
    /// The current extent and number of each scan, in the order of this round.
    at: Vec<(u64, u32)>,
    turn: usize,
    /// Slots of the extent already read.
    done: u64,
    turns: Stream,
}

impl Places for Scan {
    /// Returns the slot, how many slots fit, and the scan.
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
    /// Shuffles the scans (Fisher and Yates).
    fn shuffle(&mut self) {
        for last in (1..self.at.len()).rev() {
            let other = self.turns.below(last as u64 + 1) as usize;
            self.at.swap(last, other);
        }
    }
}
