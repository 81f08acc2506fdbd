//! Energy by cause.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Sub};

/// Energy spent so far by cause, in joules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Moving to where a transfer starts.
    pub seek_j: f64,
    /// Moving under active tips or heads.
    pub transfer_j: f64,
    /// Ready but without work.
    pub idle_j: f64,
    /// Parked.
    pub inactive_j: f64,
    /// Waking from the parked state.
    pub startup_j: f64,
    /// Reading ahead: seeks, transfers and startups alike; not counted above.
    pub read_ahead_j: f64,
    /// Destaging a write-back buffer: seeks, transfers and startups alike; not
    /// counted above.
    pub destage_j: f64,
    /// Tips that accessed blocks for background tasks.
    pub background_j: f64,
    /// Passes repeated after errors or made to verify writes: seeks and transfers
    /// alike; not counted above.
    pub retry_j: f64,
}

impl Energy {
    /// The causes with their names, in the order of the result schema.
    pub fn by_cause(&self) -> [(&'static str, f64); 9] {
        [
            ("seek_j", self.seek_j),
            ("transfer_j", self.transfer_j),
            ("idle_j", self.idle_j),
            ("inactive_j", self.inactive_j),
            ("startup_j", self.startup_j),
            ("read_ahead_j", self.read_ahead_j),
            ("destage_j", self.destage_j),
            ("background_j", self.background_j),
            ("retry_j", self.retry_j),
        ]
    }

    /// The sum over all causes.
    pub fn total_j(&self) -> f64 {
        self.by_cause().iter().map(|(_, joules)| joules).sum()
    }
}

impl Energy {
    /// Applies `operation` to each cause.
    fn with(self, other: Self, operation: fn(f64, f64) -> f64) -> Self {
        Self {
            seek_j: operation(self.seek_j, other.seek_j),
            transfer_j: operation(self.transfer_j, other.transfer_j),
            idle_j: operation(self.idle_j, other.idle_j),
            inactive_j: operation(self.inactive_j, other.inactive_j),
            startup_j: operation(self.startup_j, other.startup_j),
            read_ahead_j: operation(self.read_ahead_j, other.read_ahead_j),
            destage_j: operation(self.destage_j, other.destage_j),
            background_j: operation(self.background_j, other.background_j),
            retry_j: operation(self.retry_j, other.retry_j),
        }
    }
}

impl Add for Energy {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.with(other, f64::add)
    }
}

impl Sub for Energy {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.with(other, f64::sub)
    }
}
