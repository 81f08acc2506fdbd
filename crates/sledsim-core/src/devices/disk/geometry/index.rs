//! An index of the stretches: finds that of a block in about one step.
//!
//! Contract: equals a binary search among the first blocks of the stretches.

use super::Geometry;

/// The fewest marks for each stretch; at most twice as many are set.
const MARKS: u64 = 8;

impl Geometry {
    /// Builds the index.
    pub(super) fn index_stretches(&mut self) {
        let marks = MARKS * self.stretches.len() as u64;
        self.every = (self.blocks / marks).checked_ilog2().unwrap_or(0);
        let mut stretch = 0;
        let last = (self.blocks - 1) >> self.every;
        self.index = (0..=last)
            .map(|mark| {
                while self.starts_by(stretch + 1, mark << self.every) {
                    stretch += 1;
                }
                stretch as u32
            })
            .collect();
    }

    /// Whether there is a stretch of this number and it begins with `lbn` or before.
    #[inline]
    fn starts_by(&self, stretch: usize, lbn: u64) -> bool {
        (self.stretches.get(stretch)).is_some_and(|stretch| stretch.lbn <= lbn)
    }

    /// The number of the stretch of block `lbn`.
    #[inline]
    pub(super) fn stretch_of(&self, lbn: u64) -> usize {
        let mark = (lbn >> self.every) as usize;
        let mut stretch = self.index[mark.min(self.index.len() - 1)] as usize;
        while self.starts_by(stretch + 1, lbn) {
            stretch += 1;
        }
        stretch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::disk::geometry::ZoneSpec;
    use crate::devices::disk::mapping::Mapping;
    use crate::devices::disk::sparing::Sparing;
    use proptest::prelude::*;

    fn zone() -> impl Strategy<Value = (u32, u32, Vec<u64>)> {
        let slips = prop::collection::btree_set(0..300_u64, 0..40);
        (1..9_u32, 1..40_u32, slips).prop_map(|(cylinders, sectors, slips)| {
            let places = u64::from(cylinders * sectors * 2);
            let slips = slips.into_iter().filter(|slip| *slip < places / 2);
            (cylinders, sectors, slips.collect())
        })
    }

    proptest! {
        #[test]
        fn finds_as_a_binary_search_does(zones in prop::collection::vec(zone(), 1..12)) {
            let mut first = 0;
            let zones: Vec<ZoneSpec> = (zones.into_iter())
                .map(|(cylinders, blocks_per_track, slips)| {
                    first += cylinders;
                    ZoneSpec {
                        first_cylinder: first - cylinders,
                        last_cylinder: first - 1,
                        blocks_per_track,
                        slips,
                        ..ZoneSpec::default()
                    }
                })
                .collect();
            let sparing = Sparing::NAMED[0].1;
            let geometry = Geometry::new(2, Mapping::Ascending, sparing, &zones, 0).unwrap();
            for lbn in 0..geometry.blocks() + 3 {
                let after = geometry.stretches.partition_point(|stretch| stretch.lbn <= lbn);
                prop_assert_eq!(geometry.stretch_of(lbn), after - 1);
            }
        }
    }
}
