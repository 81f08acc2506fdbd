//! The catalogue: devices by name or file.

mod device;
mod kinds;
mod presets;

pub use device::{Device, Override};
pub use kinds::KINDS;
pub use presets::PRESETS;
