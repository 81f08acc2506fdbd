//! Disks: an arm carries one head per surface over media that turn at constant
//! speed.
//!
//! In reading order:
//!
//! * [`sparing`]: schemes of spare sectors.
//! * [`mapping`]: the order of blocks over the heads of a cylinder.
//! * [`geometry`]: the sector of each block.
//! * [`rotation`]: the angle under the heads.
//! * [`seek`]: times of arm moves.
//! * [`drive`]: the times of one pass over a track.
//! * `start`: estimates for requests that wait.
//! * [`power`]: states and energy of the spindle.
//! * [`faults`]: retries, remapped sectors and slow episodes.
//! * [`arm`]: the disk as a [`crate::model::mechanism::Mechanism`].
//! * [`controller`]: queue, bus, overheads and buffer, as a [`crate::model::Model`].
//! * [`spec`]: the parameters of a disk, read and checked.
//! * [`kind`]: the device kind `disk`.
//! * [`calculator`]: addresses of blocks and times of single moves.

pub mod arm;
pub mod calculator;
pub mod controller;
pub mod drive;
pub mod faults;
pub mod geometry;
pub mod kind;
pub mod mapping;
pub mod power;
pub mod rotation;
pub mod seek;
pub mod sparing;
pub mod spec;

mod start;

pub use arm::Disk;
pub use drive::{Arm, Drive, Pass, PassMode};
