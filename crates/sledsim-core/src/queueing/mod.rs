//! What stands before a mechanism: schedulers, and the station with its queue,
//! overheads, bus and buffer.

pub mod schedulers;
pub mod station;
