//! The catalogue: devices by name or file.
//!
//! Modules in reading order:
//! - `kinds`: the kinds of devices;
//! - `presets`: presets and files of devices, and their bases;
//! - `meanings`: what keys mean, with defaults and usual values;
//! - `missing`: the keys that a device file lacks, all at once;
//! - `all_keys`: the keys of a device with those of its parts;
//! - `device`: devices resolved from names or keys, with overrides;
//! - `values`: devices as text, to compare and to keep.

mod kinds;

mod presets;

mod meanings;

mod missing;

mod all_keys;

mod device;

mod values;

pub use device::Device;
pub use kinds::KINDS;
pub use meanings::{GROUPS, Group, Meaning, groups_of, meaning};
pub use missing::fill_missing;
pub use presets::{PRESETS, split_name};

/// An override of a key: name, value, and origin (`--set device.idle`,
/// `argument idle`).
pub type Override = (String, toml_edit::Value, String);
