//! Poisson arrivals: exponential gaps.

use sledsim_base::random::Stream;

/// Gaps drawn at once: they do not wait for each other.
const DRAWN_AT_ONCE: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Poisson {
    stream: Stream,
    mean_ns: f64,
    /// The next gaps, the last one first.
    drawn: Vec<f64>,
}

impl Poisson {
    pub(super) fn new(stream: Stream, mean_ns: f64) -> Self {
        Self { stream, mean_ns, drawn: Vec::with_capacity(DRAWN_AT_ONCE) }
    }

    /// The gap to the next arrival.
    #[inline]
    pub(super) fn gap_ns(&mut self) -> f64 {
        if self.drawn.is_empty() {
            let gaps = [(); DRAWN_AT_ONCE].map(|()| self.stream.exponential(self.mean_ns));
            self.drawn.extend(gaps.iter().rev());
        }
        self.drawn.pop().unwrap_or_default()
    }
}
