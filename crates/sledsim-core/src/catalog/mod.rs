//! The catalogue: devices by name or file.
//!
//! Modules in reading order:
//! - `kinds`: the kinds of devices;
//! - `presets`: presets and files of devices, and their bases;
//! - `device`: devices resolved from names or keys, with overrides.

mod kinds;

mod presets;

mod device;

pub use device::{Device, Override};
pub use kinds::KINDS;
pub use presets::PRESETS;
