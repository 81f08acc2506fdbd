//! Devices: mechanisms and the models around them.
//!
//! In reading order:
//!
//! * [`kind`]: the interface of a kind of device.
//! * [`memory`]: fixed latency and transfer rate.
//! * [`flash`]: parallel units behind one link.
//! * [`disk`]: disk drives.
//! * [`mems`]: MEMS-based storage, one sled under many tips.

pub mod disk;
pub mod flash;
pub mod kind;
pub mod memory;
pub mod mems;
