//! Poisson arrivals: exponential gaps.

use sledsim_base::random::Stream;

#[derive(Clone, Debug)]
pub(super) struct Poisson {
    pub(super) stream: Stream,
    pub(super) mean_ns: f64,
}

impl Poisson {
    /// The gap to the next arrival.
    #[inline]
    pub(super) fn gap_ns(&mut self) -> f64 {
        self.stream.exponential(self.mean_ns)
    }
}
