//! Disks: the mechanical part of a drive. An arm carries one head per surface
//! over media that turn at constant speed.
//!
//! [`geometry`] says where blocks are, [`rotation`] which angle is under the
//! heads, [`seek`] how long the arm moves, [`drive`] what one pass over a track
//! takes, [`arm`] makes a [`crate::model::mechanism::Mechanism`] of it, and
//! [`controller`] a [`crate::model::Model`]: queue, bus, overheads and buffer.

pub mod arm;
pub mod calculator;
pub mod controller;
pub mod drive;
pub mod geometry;
pub mod kind;
pub mod mapping;
pub mod power;
pub mod rotation;
pub mod seek;
pub mod sparing;
pub mod spec;

pub use arm::Disk;
pub use drive::{Arm, Drive, How, Pass};
