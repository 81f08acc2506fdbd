//! Files: blocks of a working set by Zipf popularity, with sequential runs.

use super::extents::{ExtentSpec, Extents};
use super::{PlaceEntry, PlaceKind, Places, Region, Slots};
use serde_json::{Value, json};
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::{Permutation, Stream, Zipf};
use sledsim_base::units::BLOCK_BYTES;
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: PlaceEntry = PlaceEntry {
    name: "files",
    read: |keys, _| Ok(Arc::new(FilesSpec::read(keys)?)),
};

/// `set_mib`, `extent_kib`, `unit_kib`, `zipf_exponent`, `clustered`,
/// `part_from`, `part_to` and `sequential_fraction`.
///
/// Extents consist of units, the blocks of a file system. The unit of rank k is
/// chosen with a probability proportional to k^-exponent; ranks are assigned
/// extent by extent with the extents in random order (`clustered`), or to units
/// in random order. A request of a unit or more begins at the unit and is cut
/// at the end of the extent; a shorter one is anywhere inside the unit. With
/// probability `sequential_fraction` a request continues where the last one
/// ended, if it fits in the extent.
///
/// `part_from` and `part_to` restrict the requests to a part of the set. The
/// extents of a part are spread over the whole set.
#[derive(Clone, Copy, Debug)]
struct FilesSpec {
    extents: ExtentSpec,
    unit_kib: f64,
    exponent: f64,
    clustered: bool,
    part: (f64, f64),
    sequential: f64,
}

impl FilesSpec {
    fn read(keys: &mut Keys) -> Result<Self> {
        let share = Range::at_least(0.0).at_most(1.0);
        let from = keys.opt_f64("part_from", share)?.unwrap_or(0.0);
        let to = keys.opt_f64("part_to", Range::above(from).at_most(1.0))?;
        let block_kib = BLOCK_BYTES as f64 / 1024.0;
        let unit_kib = keys.opt_f64("unit_kib", Range::at_least(block_kib).at_most(1e9))?;
        let exponent = keys.opt_f64("zipf_exponent", Range::at_least(0.0).at_most(10.0))?;
        Ok(Self {
            extents: ExtentSpec::read(keys, 64.0)?,
            unit_kib: unit_kib.unwrap_or(8.0),
            exponent: exponent.unwrap_or(1.0),
            clustered: keys.opt_bool("clustered")?.unwrap_or(true),
            part: (from, to.unwrap_or(1.0)),
            sequential: keys.opt_f64("sequential_fraction", share)?.unwrap_or(0.0),
        })
    }
}

impl PlaceKind for FilesSpec {
    fn add_to(&self, facts: &mut Value) {
        self.extents.add_to(facts);
        facts["unit_kib"] = json!(self.unit_kib);
        facts["zipf_exponent"] = json!(self.exponent);
        facts["clustered"] = json!(self.clustered);
        facts["part_from"] = json!(self.part.0);
        facts["part_to"] = json!(self.part.1);
        facts["sequential_fraction"] = json!(self.sequential);
    }

    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>> {
        let Region {
            slots,
            blocking,
            stream,
            keys,
        } = *region;
        let extents = self.extents.start(slots, blocking, keys)?;
        let unit = self.unit_kib / ((blocking * BLOCK_BYTES) as f64 / 1024.0);
        if libm::floor(unit) != unit || !extents.length.is_multiple_of((unit as u64).max(1)) {
            let problem = "must be a multiple of blocking, and divide extent_kib";
            return Err(keys.refuse("unit_kib", problem));
        }
        let unit = unit as u64;
        if extents.count > MOST_EXTENTS {
            let problem = format!("must be at most {MOST_EXTENTS} extents");
            return Err(keys.refuse("set_mib", problem));
        }
        let place = |share: f64| libm::round(share * extents.count as f64) as u64;
        let (from, to) = (place(self.part.0), place(self.part.1));
        if from >= to {
            let problem = "must leave an extent of the set between part_from and part_to";
            return Err(keys.refuse("part_from", problem));
        }
        let in_extent = extents.length / unit;
        let units = (to - from) * in_extent;
        let scattered = if self.clustered { to - from } else { units };
        Ok(Box::new(Files {
            extents,
            unit,
            in_extent,
            from,
            stride: stride(extents.count),
            zipf: Zipf::new(units, self.exponent),
            clustered: self.clustered,
            scatter: Permutation::new(scattered, &mut stream("scatter")),
            sequential: self.sequential,
            coins: stream("run"),
            ranks: stream("place"),
            within: stream("place in unit"),
            next: 0,
            end: 0,
        }))
    }
}

/// The most extents, so that products of their numbers do not overflow.
const MOST_EXTENTS: u64 = u32::MAX as u64;

/// The number coprime to n nearest to n divided by the golden ratio: its
/// multiples modulo n are evenly spread and take every value.
fn stride(n: u64) -> u64 {
    let mut stride = (libm::round(n as f64 * 0.618_033_988_749_894_9) as u64).max(1);
    while gcd(stride, n) != 1 {
        stride += 1;
    }
    stride
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[derive(Clone, Debug)]
struct Files {
    extents: Extents,
    /// In slots.
    unit: u64,
    /// Units in an extent.
    in_extent: u64,
    /// The first extent of the part, in the numbering by parts.
    from: u64,
    /// The step from one extent of a part to the next.
    stride: u64,
    zipf: Zipf,
    clustered: bool,
    scatter: Permutation,
    sequential: f64,
    coins: Stream,
    ranks: Stream,
    within: Stream,
    /// The end of the last request, and its extent.
    next: u64,
    end: u64,
}

impl Places for Files {
    /// Returns the slot and how many slots fit.
    #[inline]
    fn next(&mut self, units: u64) -> Slots {
        let goes_on = self.coins.chance(self.sequential);
        if goes_on && units <= self.end - self.next {
            let slot = self.next;
            self.next += units;
            return Slots::whole(slot, units);
        }
        let rank = self.zipf.draw(&mut self.ranks) - 1;
        let (extent, unit) = if self.clustered {
            let extent = self.scatter.at(rank / self.in_extent);
            (extent, rank % self.in_extent)
        } else {
            let place = self.scatter.at(rank);
            (place / self.in_extent, place % self.in_extent)
        };
        let extent = (self.from + extent) * self.stride % self.extents.count;
        let first = self.extents.first(extent);
        self.end = first + self.extents.length;
        let mut slot = first + unit * self.unit;
        let units = units.min(self.extents.length);
        if units < self.unit {
            slot += self.within.below(self.unit - units + 1);
        }
        slot = slot.min(self.end - units);
        self.next = slot + units;
        Slots::whole(slot, units)
    }
}
