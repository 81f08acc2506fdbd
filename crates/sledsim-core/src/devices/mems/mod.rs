//! MEMS-based storage devices.

pub mod access;
pub mod background_drain;
mod build;
pub mod calculator;
pub mod faults;
pub mod geometry;
pub mod kind;
pub mod kinematics;
pub mod maps;
pub mod motion;
pub mod parallel;
pub mod passes;
pub mod power;
pub mod sled;
pub mod spec;
