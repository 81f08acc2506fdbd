//! Errors of a disk: reads that need further revolutions, a weak head, remapped sectors and
//! episodes in which the drive is slow.
//!
//! *Model.* A pass over a track meets them in this order. If it begins within an episode it
//! waits for its end, or takes so many times as long. If it reads, it may need further
//! revolutions, as the recovery procedure of a drive reads the track again with other settings
//! until its code corrects the data; the head stays on the track, so that each costs a
//! revolution exactly. Then the arm goes to the spare area at the end of the zone and back for
//! each remapped sector. The blocks of the pass are there when all of that is done.
//!
//! Read-ahead stops where it would meet any of this. Schedulers do not foresee it.
//!
//! All random numbers come from the seed of the faults, so that the load draws none of them.
//! Retries, their number and their failure are drawn from streams of their own: with a higher
//! rate more passes are retried, and the others are as before.
//!
//! In reading order:
//!
//! * `spec`: [`DiskFaults`] is the table `[faults]`.
//! * `remapped`: the remapped sectors.
//! * `episodes`: when the drive is slow, and what that delayed.
//! * `passes`: [`FaultyPasses`] applies all of that to passes.

mod episodes;
mod passes;
mod remapped;
mod spec;

pub use episodes::EpisodeSpec;
pub use passes::{FaultsMet, FaultyPasses};
pub use spec::DiskFaults;
