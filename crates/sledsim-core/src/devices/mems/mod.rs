//! MEMS-based storage devices.

pub mod access;
pub mod calculator;
pub mod geometry;
pub mod kinematics;
pub mod maps;
pub mod motion;
pub mod passes;
pub mod sled;
pub mod spec;
