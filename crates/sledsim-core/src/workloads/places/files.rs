//! Files: blocks of a working set by their popularity, with sequential runs.

use super::extents::{ExtentSpec, Extents, PartSpec};
use super::reuse::{Reuse, ReuseSpec};
use super::{PlaceEntry, PlaceKind, Places, Region, Slots};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::random::{Permutation, Stream, Zipf};
use sledsim_base::units::BLOCK_BYTES;
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: PlaceEntry =
    PlaceEntry { name: "files", read: |keys, _| Ok(Arc::new(FilesSpec::read(keys)?)) };

/// `set_mib`, `extent_kib`, `unit_kib`, `popularity`, `zipf_exponent`,
/// `clustered`, `part_from`, `part_to`, `sequential_fraction`,
/// `interleave_kib`, and the keys of reuse.
///
/// Extents consist of units, the blocks of a file system. Ranks are assigned
/// extent by extent with the extents in random order (`clustered`), or to units
/// in random order. With static popularity the unit of rank k is chosen with a
/// probability proportional to k^-exponent; with moving popularity units are
/// used for the first time in the order of ranks, and again at measured
/// distances. A request of a unit or more begins at the unit and is cut
/// at the end of the extent; a shorter one is anywhere inside the unit. With
/// probability `sequential_fraction` a request continues `interleave_kib` after
/// the end of the last one, if it fits in the extent.
///
/// `part_from` and `part_to` restrict the requests to a part of the set. The
/// extents of a part are spread over the whole set.
#[derive(Clone, Debug, Serialize)]
struct FilesSpec {
    #[serde(flatten)]
    extents: ExtentSpec,
    unit_kib: f64,
    #[serde(flatten)]
    popularity: Popularity,
    clustered: bool,
    #[serde(flatten)]
    part: PartSpec,
    sequential_fraction: f64,
    interleave_kib: f64,
}

/// Which units are popular.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "popularity", rename_all = "snake_case")]
enum Popularity {
    /// The same at all times.
    Static { zipf_exponent: f64 },
    /// Those that have been used lately.
    Moving(ReuseSpec),
}

impl FilesSpec {
    fn read(keys: &mut Keys) -> Result<Self> {
        let share = Range::at_least(0.0).at_most(1.0);
        let block_kib = BLOCK_BYTES as f64 / 1024.0;
        let unit_kib = keys.opt_f64("unit_kib", Range::at_least(block_kib).at_most(1e9))?;
        let exponent = keys.opt_f64("zipf_exponent", Range::at_least(0.0).at_most(10.0))?;
        let is_moving = keys.opt_choice("popularity", &[("static", false), ("moving", true)])?;
        let popularity = match (is_moving, ReuseSpec::read(keys)?) {
            (Some(true), Some(reuse)) => Popularity::Moving(reuse),
            (Some(true), None) => {
                let problem = "needs reuse_set, reuse_distances, reuse_counts and new_fraction";
                return Err(keys.refuse("popularity", problem));
            }
            _ => Popularity::Static { zipf_exponent: exponent.unwrap_or(1.0) },
        };
        let interleave_kib = keys.opt_f64("interleave_kib", Range::at_least(0.0).at_most(1e9))?;
        Ok(Self {
            extents: ExtentSpec::read(keys, 64.0)?,
            unit_kib: unit_kib.unwrap_or(8.0),
            popularity,
            interleave_kib: interleave_kib.unwrap_or(0.0),
            clustered: keys.opt_bool("clustered")?.unwrap_or(true),
            part: PartSpec::read(keys)?,
            sequential_fraction: keys.opt_f64("sequential_fraction", share)?.unwrap_or(0.0),
        })
    }
}

impl PlaceKind for FilesSpec {
    fn interleave_kib(&self) -> f64 {
        self.interleave_kib
    }

    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>> {
        let Region { slots, blocking, stream, keys } = *region;
        let extents = self.extents.start(slots, blocking, keys)?;
        let slot_kib = (blocking * BLOCK_BYTES) as f64 / 1024.0;
        let unit = self.unit_kib / slot_kib;
        if libm::floor(unit) != unit || !extents.length.is_multiple_of((unit as u64).max(1)) {
            let problem = "must be a multiple of blocking, and divide extent_kib";
            return Err(keys.refuse("unit_kib", problem));
        }
        let unit = unit as u64;
        if extents.count > MOST_EXTENTS {
            let problem = format!("must be at most {MOST_EXTENTS} extents");
            return Err(keys.refuse("set_mib", problem));
        }
        let (from, to) = extents.part(self.part, keys)?;
        let interleave = self.interleave_kib / slot_kib;
        if libm::floor(interleave) != interleave {
            return Err(keys.refuse("interleave_kib", "must be a multiple of blocking"));
        }
        let in_extent = extents.length / unit;
        let units = (to - from) * in_extent;
        let scattered = if self.clustered { to - from } else { units };
        let choice = match &self.popularity {
            Popularity::Moving(reuse) => match u32::try_from(units) {
                Ok(units) if units <= MOST_MOVING => {
                    Choice::Moving(Box::new(reuse.start(units, stream)))
                }
                _ => {
                    let problem =
                        format!("must be at most {MOST_MOVING} units of moving popularity");
                    return Err(keys.refuse("set_mib", problem));
                }
            },
            Popularity::Static { zipf_exponent } => {
                Choice::Static(Zipf::new(units, *zipf_exponent), stream("place"))
            }
        };
        Ok(Box::new(Files {
            extents,
            unit,
            in_extent,
            from,
            stride: stride(extents.count),
            choice,
            clustered: self.clustered,
            scatter: Permutation::new(scattered, &mut stream("scatter")),
            sequential: self.sequential_fraction,
            interleave: interleave as u64,
            coins: stream("run"),
            within: stream("place in unit"),
            extent: 0,
            next: 0,
            end: 0,
        }))
    }
}

/// The most extents, so that products of their numbers do not overflow.
const MOST_EXTENTS: u64 = u32::MAX as u64;

/// The most units whose recency is kept: some GB of memory.
const MOST_MOVING: u32 = 1 << 28;

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
    choice: Choice,
    clustered: bool,
    scatter: Permutation,
    sequential: f64,
    /// In slots.
    interleave: u64,
    coins: Stream,
    within: Stream,
    /// The extent of the last request, in the numbering by parts.
    extent: u64,
    /// Where a sequential request begins, and the end of the extent.
    next: u64,
    end: u64,
}

/// Chooses units, which are numbered extent by extent.
#[derive(Clone, Debug)]
enum Choice {
    Static(Zipf, Stream),
    Moving(Box<Reuse>),
}

impl Places for Files {
    /// Returns the slot and how many slots fit.
    #[inline]
    fn next(&mut self, units: u64) -> Slots {
        let goes_on = self.coins.chance(self.sequential);
        let (slot, units) = if goes_on && self.next + units <= self.end {
            (self.next, units)
        } else {
            self.jump(units)
        };
        self.next = slot + units + self.interleave;
        if let Choice::Moving(reuse) = &mut self.choice {
            let inside = slot + self.extents.length - self.end;
            let first = self.extent * self.in_extent;
            for unit in inside / self.unit..=(inside + units - 1) / self.unit {
                reuse.used(first + unit);
            }
        }
        Slots::whole(slot, units)
    }
}

impl Files {
    /// The slot of a request that does not continue the last one, and its length.
    #[inline]
    fn jump(&mut self, units: u64) -> (u64, u64) {
        let (in_extent, clustered, scatter) = (self.in_extent, self.clustered, &self.scatter);
        let place = |rank: u64| {
            if clustered {
                scatter.at(rank / in_extent) * in_extent + rank % in_extent
            } else {
                scatter.at(rank)
            }
        };
        let place = match &mut self.choice {
            Choice::Static(zipf, ranks) => place(zipf.draw(ranks) - 1),
            Choice::Moving(reuse) => reuse.draw(place),
        };
        let unit = place % in_extent;
        self.extent = place / in_extent;
        let extent = (self.from + self.extent) * self.stride % self.extents.count;
        let first = self.extents.first(extent);
        self.end = first + self.extents.length;
        let mut slot = first + unit * self.unit;
        let units = units.min(self.extents.length);
        if units < self.unit {
            slot += self.within.below(self.unit - units + 1);
        }
        (slot.min(self.end - units), units)
    }
}
