//! The progress of a run.

/// The progress of a run, passed to the `check` that long work calls now and
/// then.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Requests completed; while a trace is read before it is replayed,
    /// requests read.
    pub completed: u64,
    /// The total number of requests, if known.
    pub requests: Option<u64>,
    /// The share of a trace's bytes read so far, if known.
    pub share: Option<f64>,
}

impl Progress {
    /// The total number of requests: known, or estimated from the share of the
    /// trace that was read.
    pub fn expected(&self) -> Option<u64> {
        let share = self.share.filter(|share| *share > 0.0);
        let estimate = || share.map(|share| (self.completed as f64 / share).ceil() as u64);
        self.requests.or_else(estimate)
    }
}
