//! Failures: tips and media that fail, the code over tips that recovers blocks, and the
//! cost (CMU-CS-00-136, section 6).
//!
//! A block is striped over the data tips of its square.
//!
//! In reading order:
//!
//! * `code`: [`Code`] decides which failures of data and ECC tips a block survives.
//! * `tips`: [`Tips`] tracks failed tips and the spare tips that replace them.
//! * `remap_table`: [`RemapTable`] maps blocks to spare cylinders, as in disks.
//! * `spec`: [`Faults`] is the table `[faults]`.
//! * `bernoulli`: rare events among many trials.
//! * `feed`: what happens to the tips, for a store of tip sectors.
//! * `unmended`: blocks that still miss the tip sectors of replaced tips.
//! * `media`: the state of tips and media, with failures over time.
//! * `faulty`: [`Faulty`] adds all of that to a mechanism.
//! * `monte_carlo`: [`tip_failures`] estimates the losses when many tips fail,
//!   without motion.

mod bernoulli;
mod code;
mod faulty;
mod feed;
mod media;
mod monte_carlo;
mod remap_table;
mod spec;
mod tips;
mod unmended;

pub use code::{Code, TipSector};
pub use faulty::Faulty;
pub use feed::{TipEvent, TipFailure, TipFeed};
pub use monte_carlo::{TipFailureEstimate, TipFailures, tip_failures};
pub use remap_table::RemapTable;
pub use spec::{Failed, Faults, Remap};
pub use tips::{OutOfSpares, Tips};
