//! The catalogue: devices by name or file.

mod device;

pub use device::{Device, Override, PRESETS};
