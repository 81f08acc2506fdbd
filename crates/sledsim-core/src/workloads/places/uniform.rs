//! Uniform places: each slot at which the request fits is equally likely.

use super::{PlaceEntry, PlaceKind, Places, Region, Slots};
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::random::Stream;
use std::sync::Arc;

/// Its registration.
pub(super) const ENTRY: PlaceEntry =
    PlaceEntry { name: "random", read: |_, _| Ok(Arc::new(UniformSpec {})) };

#[derive(Debug, Serialize)]
struct UniformSpec {}

impl PlaceKind for UniformSpec {
    fn start(&self, region: &Region<'_>) -> Result<Box<dyn Places>> {
        Ok(Box::new(Uniform::new(region.slots, region.stream)))
    }
}

/// Draws one number per request; a place too close to the end for the size is
/// drawn again, from another stream.
#[derive(Clone, Debug)]
pub(super) struct Uniform {
    slots: u64,
    places: Stream,
    second_places: Stream,
}

impl Uniform {
    pub(super) fn new(slots: u64, stream: &dyn Fn(&str) -> Stream) -> Self {
        Self { slots, places: stream("place"), second_places: stream("second place") }
    }

    /// The slot of a request of `units` slots.
    #[inline]
    pub(super) fn slot(&mut self, units: u64) -> u64 {
        let fitting = self.slots - units + 1;
        let slot = self.places.below(self.slots);
        if slot < fitting { slot } else { self.second_places.below(fitting) }
    }
}

impl Places for Uniform {
    #[inline]
    fn next(&mut self, units: u64) -> Slots {
        Slots::whole(self.slot(units), units)
    }
}
