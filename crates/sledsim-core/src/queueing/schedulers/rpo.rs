//! Rotational position ordering: the order inside a drive.

use super::Waiting;
use super::ages::{Age, Ages};
use super::cylinders::Cylinders;
use super::sptf::soonest;
use crate::model::mechanism::Positions;
use sledsim_base::units::Nanos;

/// As [`Sptf`](super::Sptf), by estimates that keep a margin: a drive does not know its
/// positioning times exactly, and takes a sector as missed that it would reach with less time
/// to spare. The oldest request comes first when it has waited for the limit.
///
/// Drives of today have such an order (Serial ATA revision 3.5, native command queuing; their
/// makers do not publish it). The margin and the limit are those of the drive.
#[derive(Debug)]
pub(crate) struct Rpo {
    waiting: Cylinders,
    ages: Ages,
    margin: Nanos,
    age_limit: Nanos,
}

impl Rpo {
    /// Without requests.
    pub fn new(margin: Nanos, age_limit: Nanos) -> Self {
        Self { waiting: Cylinders::default(), ages: Ages::default(), margin, age_limit }
    }

    /// Adds a request that the drive has since `arrival`.
    pub fn push(&mut self, waiting: Waiting, arrival: Nanos, positions: &dyn Positions) {
        let slot = self.waiting.push(waiting, positions);
        let cylinder = self.waiting.cylinder(slot);
        self.ages.push(Age { arrival, slot, cylinder });
    }

    /// Removes and returns the request to serve at `at`.
    pub fn pop(&mut self, at: Nanos, positions: &dyn Positions) -> Option<Waiting> {
        let oldest = *self.ages.oldest_first().first()?;
        let slot = match at.since(oldest.arrival) >= self.age_limit {
            true => oldest.slot,
            false => soonest(&self.waiting, at + self.margin, positions)?,
        };
        self.ages.take(slot);
        Some(self.waiting.take(slot))
    }
}
