//! Stations: one mechanism with its queue, scheduler, command overhead and bus,
//! as a [`crate::model::Model`].
//!
//! A request first takes the bus for the command overhead; write data follow at
//! once. [`Station`] is the device without a buffer; [`Buffered`] is the one
//! with read-ahead, write-back and speed matching, for any mechanism. Both give
//! the same times when the buffer holds nothing of use.
//!
//! Modules in reading order:
//! - `unbuffered`: the station without a buffer;
//! - `buffer`: the keys of a buffer;
//! - `segments`: the contents of a buffer;
//! - `buffered`: the station with a buffer.

mod unbuffered;

mod buffer;

mod segments;

mod buffered;

pub use buffer::{Buffer, ReadAhead, SpeedMatching};
pub use buffered::Buffered;
pub use segments::Segments;
pub use unbuffered::{Batching, Station};

use crate::model::Busy;
use sledsim_base::units::Nanos;

/// Command overhead and bus of a station.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interface {
    /// Command processing time per request; holds the bus.
    pub overhead: Nanos,
    /// Bus time per 512-byte block, in nanoseconds.
    pub bus_ns_per_block: f64,
}

impl Interface {
    fn bus(&self, blocks: u32) -> Nanos {
        // Through a signed number: converting to an unsigned one takes several instructions.
        Nanos((f64::from(blocks) * self.bus_ns_per_block + 0.5) as i64 as u64)
    }

    /// The mechanisms of a station, for its report: its own, and the bus if it has one.
    fn mechanisms(&self, own: Busy, bus: Busy) -> Vec<(&'static str, Busy)> {
        let has_bus = *self != Self::default();
        [("", own), (".bus", bus)][..1 + usize::from(has_bus)].to_vec()
    }
}
