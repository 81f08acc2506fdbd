//! Devices: mechanisms and the models around them.

mod catalog;
pub mod disk;
pub mod flash;
pub mod memory;
pub mod mems;

pub(crate) use catalog::to_json;
pub use catalog::{Device, Override, PRESETS};
