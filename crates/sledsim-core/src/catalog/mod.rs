//! The catalogue: devices by name or file.
//!
//! Modules in reading order:
//! - `kinds`: the kinds of devices;
//! - `presets`: presets and files of devices, and their bases;
//! - `device`: devices resolved from names or keys, with overrides;
//! - `values`: devices as text, to compare and to keep.

mod kinds;

mod presets;

mod device;

mod values;

pub use device::{Device, Override};
pub use kinds::KINDS;
pub use presets::{PRESETS, split_name};
