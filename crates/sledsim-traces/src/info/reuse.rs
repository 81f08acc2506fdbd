//! Reuse of data: footprint, LRU stack distances, hit ratios.
//!
//! The distance of a reference is the number of other units used since the
//! same one was used last; an LRU cache of C units hits iff it is below C
//! (Mattson et al. 1970). Up to a bounded number of distinct units, all are
//! tracked and the results are exact. Beyond it, the units with the lowest
//! hashes are tracked: a random sample whose rate R falls as the footprint
//! grows. Distances are divided by R, and each reference counts 1/R. The
//! difference to the exact number of references is added to the shortest
//! distance (fixed-size SHARDS with adjustment: Waldspurger, Park, Garthwaite,
//! Ahmad, FAST 2015).

use super::ranks::RankedSlots;
use serde::Serialize;
use sledsim_base::units::BLOCK_BYTES;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// The unit of data that reuse is counted in.
pub(crate) const UNIT_BYTES: u64 = 4096;

/// Blocks of a unit.
const UNIT_BLOCKS: u64 = UNIT_BYTES / BLOCK_BYTES;

/// The longest request counted (256 MiB), so that no record takes long.
const LONGEST_UNITS: u64 = 1 << 16;

/// The data that was read or written.
#[derive(Clone, Debug, Serialize)]
pub struct Footprint {
    /// The unit, in bytes.
    pub unit_bytes: u64,
    /// Distinct units.
    pub units: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes of the blocks accessed in them.
    pub accessed_bytes: u64,
    /// The bytes of the units that were read.
    pub read_bytes: u64,
    /// The bytes of the units that were written.
    pub written_bytes: u64,
    /// The share of the units that is tracked.
    pub sampling_rate: f64,
}

/// LRU stack distances of references to units.
#[derive(Clone, Debug, Serialize)]
pub struct ReuseSummary {
    /// Whether all units are tracked.
    pub exact: bool,
    /// The share of the units that is tracked.
    pub sampling_rate: f64,
    /// References to units.
    pub references: u64,
    /// References to units not used before.
    pub first_references: u64,
    /// Percentiles of the distances; none if no unit is used again.
    pub distance_units: Option<DistancePercentiles>,
    /// References by distance.
    pub histogram: Vec<DistanceBin>,
    /// Hit ratios of LRU caches.
    pub lru_hit_ratio: Vec<CacheHits>,
    /// Requests too long to be counted.
    pub requests_left_out: u64,
}

/// Percentiles of distances, in units.
#[derive(Clone, Debug, Serialize)]
pub struct DistancePercentiles {
    /// The median.
    pub p50: u64,
    /// The 90th percentile.
    pub p90: u64,
    /// The 99th percentile.
    pub p99: u64,
}

/// The number of references with distances from one power of two to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DistanceBin {
    /// The least distance.
    pub from_units: u64,
    /// The greatest distance.
    pub to_units: u64,
    /// References.
    pub references: u64,
}

/// The hits of an LRU cache.
#[derive(Clone, Debug, Serialize)]
pub struct CacheHits {
    /// Its size, in MiB.
    pub cache_mib: u64,
    /// The share of references that hit; none without references.
    pub hit_ratio: Option<f64>,
}

/// A unit of a device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct UnitKey {
    device: u32,
    unit: u64,
}

impl UnitKey {
    /// 64 random bits: SplitMix64's finaliser over unit and device.
    #[inline]
    fn hash(self) -> u64 {
        mix(self.unit ^ mix(u64::from(self.device).wrapping_add(GAMMA)))
    }
}

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
#[inline]
pub(crate) fn mix(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Hash for UnitKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64((*self).hash());
    }
}

/// Rotates the hash of a [`UnitKey`]: the table must not use its upper bits,
/// which are equal for all sampled units.
#[derive(Default)]
struct Pass(u64);

impl Hasher for Pass {
    fn write(&mut self, _bytes: &[u8]) {}

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash.rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The state of a tracked unit.
struct Unit {
    /// The slot of its latest reference.
    slot: u32,
    read: bool,
    written: bool,
    /// A bit for each of its blocks that was accessed.
    blocks: u8,
}

/// Distances and footprint of all references so far.
pub(super) struct Reuse {
    max_units: usize,
    units: HashMap<UnitKey, Unit, BuildHasherDefault<Pass>>,
    /// The same by hash, the highest first.
    highest: BinaryHeap<(u64, UnitKey)>,
    order: RankedSlots,
    /// Units with a higher hash are not tracked.
    limit: u64,
    /// The weight of a sampled reference or unit: 1/R.
    weight: f64,
    distances: Distances,
    /// Weighted first references.
    first: f64,
    /// References to units, counted.
    references: u64,
    /// The number of tracked units that were read, and written.
    read: u64,
    written: u64,
    /// The number of their blocks that were accessed.
    blocks: u64,
    left_out: u64,
}

impl Reuse {
    pub fn new(max_units: usize) -> Self {
        Self {
            max_units,
            units: HashMap::default(),
            highest: BinaryHeap::new(),
            order: RankedSlots::new(4 * max_units),
            limit: u64::MAX,
            weight: 1.0,
            distances: Distances::new(),
            first: 0.0,
            references: 0,
            read: 0,
            written: 0,
            blocks: 0,
            left_out: 0,
        }
    }

    /// Records a read or write: references each unit that it touches once, in
    /// ascending order.
    #[inline]
    pub fn record(&mut self, device: u32, is_read: bool, offset: u64, bytes: u64) {
        let units = offset / UNIT_BYTES..(offset + bytes).div_ceil(UNIT_BYTES);
        let count = units.end - units.start;
        if count > LONGEST_UNITS {
            self.left_out += 1;
            return;
        }
        self.references += count;
        let (start, end) = (offset / BLOCK_BYTES, (offset + bytes).div_ceil(BLOCK_BYTES));
        for unit in units {
            let place = UnitKey { device, unit };
            let hash = place.hash();
            if hash <= self.limit {
                let first = unit * UNIT_BLOCKS;
                let from = start.max(first) - first;
                let to = end.min(first + UNIT_BLOCKS) - first;
                let blocks = ((1_u16 << to) - (1 << from)) as u8;
                self.reference(place, hash, is_read, blocks);
            }
        }
    }

    fn reference(&mut self, place: UnitKey, hash: u64, is_read: bool, blocks: u8) {
        if self.order.is_full() {
            let order = &self.order;
            (self.units.values_mut()).for_each(|unit| unit.slot = order.before(unit.slot));
            self.order.compact();
        }
        if let Some(unit) = self.units.get_mut(&place) {
            let distance = self.order.after(unit.slot);
            let scaled = (f64::from(distance) * self.weight) as u64;
            self.distances.record(scaled, self.weight);
            self.order.remove(unit.slot);
            unit.slot = self.order.add();
            self.read += u64::from(is_read && !unit.read);
            self.written += u64::from(!is_read && !unit.written);
            self.blocks += u64::from((blocks & !unit.blocks).count_ones());
            unit.blocks |= blocks;
            unit.read |= is_read;
            unit.written |= !is_read;
            return;
        }
        self.first += self.weight;
        let unit = Unit { slot: self.order.add(), read: is_read, written: !is_read, blocks };
        self.blocks += u64::from(blocks.count_ones());
        self.read += u64::from(unit.read);
        self.written += u64::from(unit.written);
        self.units.insert(place, unit);
        self.highest.push((hash, place));
        if self.units.len() > self.max_units {
            self.shrink();
        }
    }

    /// Lowers the rate until one unit fewer is tracked.
    #[cold]
    fn shrink(&mut self) {
        let highest = self.highest.peek().map_or(0, |(hash, _)| *hash);
        self.limit = highest.saturating_sub(1);
        self.weight = TWO_64 / (self.limit as f64 + 1.0);
        while let Some(&(hash, place)) = self.highest.peek()
            && hash > self.limit
        {
            self.highest.pop();
            if let Some(unit) = self.units.remove(&place) {
                self.order.remove(unit.slot);
                self.read -= u64::from(unit.read);
                self.written -= u64::from(unit.written);
                self.blocks -= u64::from(unit.blocks.count_ones());
            }
        }
    }

    /// Distinct units, and those read and written.
    fn distinct(&self) -> [u64; 3] {
        [self.units.len() as u64, self.read, self.written]
            .map(|count| (count as f64 * self.weight + 0.5) as u64)
    }

    /// The `footprint` of the document.
    pub fn footprint(&self) -> Footprint {
        let [units, read, written] = self.distinct();
        Footprint {
            unit_bytes: UNIT_BYTES,
            units,
            bytes: units.saturating_mul(UNIT_BYTES),
            accessed_bytes: ((self.blocks * BLOCK_BYTES) as f64 * self.weight + 0.5) as u64,
            read_bytes: read.saturating_mul(UNIT_BYTES),
            written_bytes: written.saturating_mul(UNIT_BYTES),
            sampling_rate: 1.0 / self.weight,
        }
    }

    /// The `reuse` of the document.
    pub fn summary(&self) -> ReuseSummary {
        let percentiles = match self.distances.percentiles([0.5, 0.9, 0.99]) {
            [Some(p50), Some(p90), Some(p99)] => Some(DistancePercentiles { p50, p90, p99 }),
            _ => None,
        };
        let footprint = self.distinct()[0];
        let sizes = (0..).map(|power| (1_u64 << 20) << (2 * power));
        let mut enough = false;
        let sizes = sizes.take(18).take_while(|bytes| {
            let more = *bytes <= 256 << 20 || !enough;
            enough |= bytes / UNIT_BYTES >= footprint;
            more
        });
        let hits = |bytes: u64| CacheHits {
            cache_mib: bytes >> 20,
            hit_ratio: self.hit_ratio(bytes / UNIT_BYTES),
        };
        ReuseSummary {
            exact: self.weight == 1.0,
            sampling_rate: 1.0 / self.weight,
            references: self.references,
            first_references: (self.first + 0.5) as u64,
            distance_units: percentiles,
            histogram: self.distances.octaves(),
            lru_hit_ratio: sizes.map(hits).collect(),
            requests_left_out: self.left_out,
        }
    }

    /// The hit ratio of an LRU cache of this many units. Exact for powers of
    /// two (unless sampled); other sizes are off by up to 1/64.
    fn hit_ratio(&self, units: u64) -> Option<f64> {
        if self.references == 0 {
            return None;
        }
        let all = self.references as f64;
        let missed = all - (self.first + self.distances.total());
        Some(((self.distances.below(units) + missed) / all).clamp(0.0, 1.0))
    }

    /// Points (units, hit ratio) of the whole curve, eight per octave.
    pub fn curve(&self) -> Vec<(u64, f64)> {
        let footprint = self.distinct()[0];
        let mut points = Vec::new();
        for octave in 0..40 {
            for eighth in 0..8 {
                let units = (8 + eighth) << octave >> 3;
                if points.last().is_some_and(|(last, _)| *last == units) {
                    continue;
                }
                let Some(ratio) = self.hit_ratio(units) else {
                    return points;
                };
                points.push((units, ratio));
                if units >= footprint {
                    return points;
                }
            }
        }
        points
    }
}

const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// Cells of an octave: 1/64 wide.
const FINE: u32 = 6;

/// Weighted distances in cells that are exact below 128 and 1/64 wide above.
struct Distances(Vec<f64>);

impl Distances {
    fn new() -> Self {
        Self(vec![0.0; Self::cell(u64::MAX) + 1])
    }

    #[inline]
    fn cell(value: u64) -> usize {
        let octave = (u64::BITS - FINE - 1).saturating_sub(value.leading_zeros());
        ((octave as usize) << FINE) + (value >> octave) as usize
    }

    /// The least value of a cell.
    fn low(cell: usize) -> u64 {
        let octave = (cell >> FINE).saturating_sub(1);
        ((cell - (octave << FINE)) as u64) << octave
    }

    #[inline]
    fn record(&mut self, value: u64, weight: f64) {
        self.0[Self::cell(value)] += weight;
    }

    fn total(&self) -> f64 {
        self.0.iter().sum()
    }

    fn below(&self, value: u64) -> f64 {
        self.0[..Self::cell(value)].iter().sum()
    }

    /// For each share, the largest value of the cell that it falls into.
    fn percentiles<const N: usize>(&self, shares: [f64; N]) -> [Option<u64>; N] {
        let total = self.total();
        shares.map(|share| {
            let mut seen = 0.0;
            let reached = |weight: &f64| {
                seen += weight;
                seen > 0.0 && seen >= share * total
            };
            let cell = self.0.iter().position(reached)?;
            Some(Self::low(cell + 1).wrapping_sub(1))
        })
    }

    /// The weighted number of references from each power of two to the next.
    fn octaves(&self) -> Vec<DistanceBin> {
        let edge = |power: u32| Self::cell(1 << power);
        let mut octaves = vec![(0_u64, 0_u64, self.0[0])];
        for power in 0..u64::BITS - 1 {
            let count = self.0[edge(power)..edge(power + 1)].iter().sum();
            octaves.push((1_u64 << power, (1 << (power + 1)) - 1, count));
        }
        let last = octaves.iter().rposition(|(.., count)| *count > 0.0);
        octaves.truncate(last.map_or(0, |last| last + 1));
        octaves
            .into_iter()
            .map(|(from_units, to_units, count)| DistanceBin {
                from_units,
                to_units,
                references: (count + 0.5) as u64,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_contiguous_and_begin_at_their_low_value() {
        for cell in 0..Distances::cell(u64::MAX) {
            let (low, next) = (Distances::low(cell), Distances::low(cell + 1));
            assert!(next > low);
            assert_eq!((Distances::cell(low), Distances::cell(next - 1)), (cell, cell));
            assert!(next - low <= 1 + low / 64, "at most 1/64 wide");
        }
        // Powers of two begin a cell: there the curve is exact.
        for power in 0..64 {
            assert_eq!(Distances::low(Distances::cell(1 << power)), 1 << power);
        }
    }

    #[test]
    fn octaves_of_the_largest_distances_are_distinct() {
        let mut distances = Distances::new();
        for value in [0, 1, 1 << 40, (1 << 41) - 1, 1 << 62] {
            distances.record(value, 1.0);
        }
        let mut counted = distances.octaves();
        counted.retain(|bin| bin.references != 0);
        let (far, farthest) = (1_u64 << 40, 1_u64 << 62);
        let line =
            |from_units, to_units, references| DistanceBin { from_units, to_units, references };
        let expected = [
            line(0, 0, 1),
            line(1, 1, 1),
            line(far, 2 * far - 1, 2),
            line(farthest, 2 * farthest - 1, 1),
        ];
        assert_eq!(counted, expected);
    }
}
