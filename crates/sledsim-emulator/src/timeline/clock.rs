//! Converts between model time and real time.

use sledsim_base::units::Nanos;
use std::time::{Duration, Instant};

/// A clock of model time: real time since its start, times a speed.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    /// The same on the monotonic clock of the system, in ns.
    monotonic_ns: u64,
    speed: f64,
}

impl Clock {
    /// Starts at zero now. At a `speed` of 2, a second of model time takes half a
    /// second.
    pub fn start(speed: f64) -> Self {
        Self { start: Instant::now(), monotonic_ns: monotonic_ns(), speed }
    }

    /// Its start on the monotonic clock of the system, in ns.
    pub fn start_ns(&self) -> u64 {
        self.monotonic_ns
    }

    /// Model time now.
    #[inline]
    pub fn now(&self) -> Nanos {
        let real = self.start.elapsed().as_nanos() as u64;
        if self.speed == 1.0 { Nanos(real) } else { Nanos((real as f64 * self.speed) as u64) }
    }

    /// Real time left until `at`; zero if it has passed.
    pub fn left(&self, at: Nanos) -> Duration {
        Duration::from_nanos(self.real(at.since(self.now())).0)
    }

    /// Real time of a span of model time.
    pub fn real(&self, span: Nanos) -> Nanos {
        if self.speed == 1.0 { span } else { Nanos((span.0 as f64 / self.speed) as u64) }
    }
}

fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
