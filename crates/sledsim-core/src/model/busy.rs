//! How long a mechanism was busy.

use serde::{Deserialize, Serialize};
use sledsim_base::request::OWN_WORK;
use sledsim_base::units::Nanos;
use std::ops::{Add, Div, Sub};

/// How long a mechanism (an arm, a sled, a bus) was busy, by what it worked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Busy {
    /// For requests of the host.
    pub host: Nanos,
    /// For work of the device's own: destaging, reading ahead, filling a cache,
    /// rebuilding, background tasks.
    pub other: Nanos,
}

impl Busy {
    /// Adds the time of request `id`.
    #[inline]
    pub fn add(&mut self, id: u64, time: Nanos) {
        match id < OWN_WORK {
            true => self.host += time,
            false => self.other += time,
        }
    }

    /// The whole time.
    pub fn total(self) -> Nanos {
        self.host + self.other
    }
}

impl Add for Busy {
    type Output = Self;
    fn add(self, more: Self) -> Self {
        Self { host: self.host + more.host, other: self.other + more.other }
    }
}

impl Sub for Busy {
    type Output = Self;
    fn sub(self, before: Self) -> Self {
        Self { host: self.host.since(before.host), other: self.other.since(before.other) }
    }
}

/// The mean over so many servers.
impl Div<u64> for Busy {
    type Output = Self;
    fn div(self, servers: u64) -> Self {
        Self { host: Nanos(self.host.0 / servers), other: Nanos(self.other.0 / servers) }
    }
}
