//! Failures: what breaks in a sled, what a code over tips recovers, and what it
//! costs (CMU-CS-00-136, section 6).
//!
//! A block is striped over the data tips of its square; [`Code`] says which
//! failures among these and the ECC tips beside them its bytes survive.
//! [`Tips`] keeps account of tips that fail and of the spare ones that replace
//! them, [`RemapTable`] of blocks that live at spare places instead, as in
//! disks. [`Faulty`] is a mechanism with all of it around any mechanism, with
//! the table `[faults]` ([`Faults`]); [`tip_failures`] counts what is lost
//! when many tips fail, without any motion.

mod bernoulli;
mod code;
mod faulty;
mod media;
mod monte_carlo;
mod remap_table;
mod spec;
mod tips;

pub use code::{Code, TipSector};
pub use faulty::Faulty;
pub use monte_carlo::{Study, TipFailures, tip_failures};
pub use remap_table::RemapTable;
pub use spec::{Failed, Faults, Remap};
pub use tips::{OutOfSpares, Tips};
