//! Constant arrivals: the same gap each time.

#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub(super) gap_ns: f64,
}

impl Constant {
    /// The gap to the next arrival.
    #[inline]
    pub(super) fn gap_ns(&self) -> f64 {
        self.gap_ns
    }
}
