//! Conversion between model time and real time.

use sledsim_base::units::Nanos;
use std::time::{Duration, Instant};

/// A clock of model time: real time since its start, times a speed.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    speed: f64,
}

impl Clock {
    /// Starts at zero now. At a `speed` of 2, a second of model time takes half a
    /// second.
    #[must_use]
    pub fn start(speed: f64) -> Self {
        Self {
            start: Instant::now(),
            speed,
        }
    }

    /// Model time now.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Nanos {
        let real = self.start.elapsed().as_nanos() as u64;
        if self.speed == 1.0 {
            Nanos(real)
        } else {
            Nanos((real as f64 * self.speed) as u64)
        }
    }

    /// Real time left until `at`; zero if it has passed.
    #[must_use]
    pub fn left(&self, at: Nanos) -> Duration {
        Duration::from_nanos(self.real(at.since(self.now())).0)
    }

    /// Real time of a span of model time.
    #[must_use]
    pub fn real(&self, span: Nanos) -> Nanos {
        if self.speed == 1.0 {
            span
        } else {
            Nanos((span.0 as f64 / self.speed) as u64)
        }
    }
}
