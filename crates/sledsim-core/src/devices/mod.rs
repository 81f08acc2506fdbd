//! Devices: mechanisms and the models around them.

pub mod disk;
pub mod flash;
pub mod kind;
pub mod memory;
pub mod mems;
