//! The warm-up: the beginning of a run, which is simulated but not counted.

use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::Nanos;

/// Counting begins with the arrival of the first request after `requests` others
/// and not before `until`. Earlier arrivals are not counted, whenever they
/// complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarmUp {
    /// The number of requests before the first that counts.
    pub requests: u64,
    /// The instant before which nothing counts.
    pub until: Nanos,
}

impl WarmUp {
    /// Reads `warm_up_requests` and `warm_up_s`, both 0 if not given.
    ///
    /// # Errors
    /// A key out of its range.
    pub fn read(keys: &mut Keys) -> Result<Self> {
        let requests = keys.opt_u64("warm_up_requests", 0..=i64::MAX as u64)?;
        let until_s = keys.opt_f64("warm_up_s", Range::at_least(0.0).at_most(9e9))?;
        Ok(Self {
            requests: requests.unwrap_or(0),
            until: until_s.map_or(Nanos::ZERO, Nanos::from_s),
        })
    }

    /// Whether there is any.
    pub fn is_some(self) -> bool {
        self != Self::default()
    }

    /// Whether request number `count`, arriving at `at`, ends it.
    pub fn ends(self, at: Nanos, count: u64) -> bool {
        count >= self.requests && at >= self.until
    }
}
