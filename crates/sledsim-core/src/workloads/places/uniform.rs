//! Uniform places: each slot at which the request fits is equally likely.

use sledsim_base::random::Stream;

/// One number per request; a place too close to the end for the size is drawn
/// again, from another stream.
#[derive(Clone, Debug)]
pub(crate) struct Uniform {
    slots: u64,
    places: Stream,
    second_places: Stream,
}

impl Uniform {
    pub(super) fn new(slots: u64, stream: &dyn Fn(&str) -> Stream) -> Self {
        Self {
            slots,
            places: stream("place"),
            second_places: stream("second place"),
        }
    }

    #[inline]
    pub(super) fn next(&mut self, units: u64) -> u64 {
        let fitting = self.slots - units + 1;
        let slot = self.places.below(self.slots);
        if slot < fitting {
            slot
        } else {
            self.second_places.below(fitting)
        }
    }
}
